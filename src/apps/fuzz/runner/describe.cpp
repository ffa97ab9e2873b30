// The report on a failing case.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "apps/fuzz/programs/print.h"
#include "apps/fuzz/runner/campaign.h"

namespace margay::fuzz {

namespace {

/// The inputs a program reads for its own work-item.
struct Used {
  std::set<std::pair<Type, std::uint32_t>> inputs;
  std::set<std::uint32_t> uniforms;
};

Used used_inputs(Program program) {
  Used out;
  const auto note = [&](const Expression& e) {
    if (e.kind == Expression::Kind::input && e.arguments.empty())
      out.inputs.insert({e.type, e.index});
    if (e.kind == Expression::Kind::uniform) out.uniforms.insert(e.index);
  };
  for (Variable& v : program.variables) visit_expression(v.initial, note);
  visit_block(program.body, note);
  return out;
}

}  // namespace

std::string describe(const Failure& failure, std::uint64_t seed, const Compiler& compiler) {
  const Program& program = failure.shrunk.program;
  std::string out = fmt::format("case {} of seed {}: ", failure.number, seed);
  unsigned item = 0;
  if (failure.outcome.device_error) {
    out += "the virtual device stopped\n" + failure.outcome.device_error->text() + "\n";
  } else if (failure.outcome.difference) {
    const Difference& d = *failure.outcome.difference;
    item = d.item;
    out += fmt::format("{} differs in work-item {}\n  device 0x{:016x}\n  host   0x{:016x}\n",
                       d.what, d.item, d.device, d.host);
  } else {
    out += "fails only together with its batch\n";
  }
  out += fmt::format("shrunk from {} statements to {} in {} steps, {} programs tried\n\n",
                     count_statements(failure.original), count_statements(program),
                     failure.shrunk.steps, failure.shrunk.tried);
  out += print(program, 0);
  const Used used = used_inputs(program);
  const Inputs inputs(program.seed);
  out += fmt::format("\ninputs of work-item {}\n", item);
  for (const auto& [type, column] : used.inputs)
    out += fmt::format("  {} column {}: 0x{:x}\n", info(type).name, column,
                       inputs.value(type, column, item));
  for (const std::uint32_t n : used.uniforms)
    out += fmt::format("  {} {}: 0x{:x}\n", info(kUniformArguments[n].type).name,
                       kUniformArguments[n].name, inputs.uniforms[n]);
  out += fmt::format(
      "\ndevice: {}\nhost:   {}\nagain:  margay fuzz --seed {} --first {} --cases 1\n",
      fmt::join(compiler.device_command("FILE.cpp", "FILE.hsaco", failure.options), " "),
      fmt::join(compiler.host_command("FILE.cpp", "FILE.so", failure.options), " "), seed,
      failure.number);
  if (!failure.disassembly.empty()) out += "\n" + failure.disassembly;
  return out;
}

}  // namespace margay::fuzz
