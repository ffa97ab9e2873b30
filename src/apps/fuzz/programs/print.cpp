#include "apps/fuzz/programs/print.h"

#include <fmt/format.h>

#include <string_view>

#include "apps/fuzz/programs/rules.h"

namespace margay::fuzz {

namespace {

constexpr std::string_view kCommon =
#include "apps/fuzz/programs/prelude_common.inc"
    ;
constexpr std::string_view kDevice =
#include "apps/fuzz/programs/prelude_device.inc"
    ;
constexpr std::string_view kHost =
#include "apps/fuzz/programs/prelude_host.inc"
    ;

std::string_view name(Type type) { return info(type).name; }

std::string literal(const Expression& e) {
  const TypeInfo& t = info(info(e.type).element);
  std::string value;
  if (t.kind == TypeKind::boolean)
    value = e.bits != 0 ? "true" : "false";
  else if (t.kind == TypeKind::floating)
    value = fmt::format("__builtin_bit_cast({}, (u{})0x{:x}ul)", t.name, t.bits, e.bits);
  else
    value = fmt::format("({})0x{:x}u{}", t.name, e.bits, t.bits == 64 ? "l" : "");
  if (is_vector(e.type)) value = fmt::format("(({})({}))", name(e.type), value);
  return value;
}

class Printer {
 public:
  Printer(const Program& program, std::size_t number) : program_(program), number_(number) {}
  std::string print();

 private:
  using Kind = Expression::Kind;

  std::string expression(const Expression& e) const;
  std::string arguments(const Expression& e, std::size_t first) const;
  std::string place(std::uint32_t array, const std::string& subscript) const;
  void line(std::string_view text) {
    out_.append(2 * indent_, ' ');
    out_ += text;
    out_ += '\n';
  }
  void block(const std::vector<Statement>& statements);
  void statement(const Statement& s);
  void loop(const Statement& s);
  void choose(const Statement& s);
  void atomic(const Statement& s);
  void results();
  void locals(const std::vector<Variable>& variables, const std::vector<bool>& used);
  void helper(std::size_t n);
  void arrays();
  void initial_elements();

  const Program& program_;
  std::size_t number_;
  std::string out_;
  unsigned indent_ = 0;
};

std::string Printer::arguments(const Expression& e, std::size_t first) const {
  std::string out;
  for (std::size_t i = first; i < e.arguments.size(); ++i)
    out += (i == first ? "" : ", ") + expression(e.arguments[i]);
  return out;
}

std::string Printer::place(std::uint32_t array, const std::string& subscript) const {
  const Array& a = program_.arrays[array];
  const std::string at = fmt::format("({}) & {}", subscript, kElements - 1);
  std::string out;
  switch (a.place) {
    case Array::Place::registers:
      return fmt::format("a{}[{}]", array, at);
    case Array::Place::lds:
      out = fmt::format("LDS_AT(a{}_{}, {})", number_, array, at);
      break;
    case Array::Place::global: {
      unsigned before = 0;
      for (std::uint32_t i = 0; i < array; ++i)
        before += program_.arrays[i].place == Array::Place::global ? kGlobalArrayBytes : 0;
      out = fmt::format("((GLOBAL {}*)(mem + {}))[lane * {} + ({})]", name(a.type), before,
                        kElements, at);
      break;
    }
  }
  return a.flat ? fmt::format("FLAT({}, {})", name(a.type), out) : out;
}

std::string Printer::expression(const Expression& e) const {
  switch (e.kind) {
    case Kind::constant:
      return literal(e);
    case Kind::variable:
      return fmt::format("v{}", e.index);
    case Kind::uniform:
      return std::string(kUniformArguments[e.index].name);
    case Kind::input: {
      const std::string item = e.arguments.empty()
                                   ? std::string("lane")
                                   : fmt::format("({}) & 63", expression(e.arguments[0]));
      const unsigned offset = input_offset(static_cast<unsigned>(e.type));
      if (e.type == Type::b1)
        return fmt::format("((input<u8>(in, {}, {}, {}) & 1) != 0)", offset, e.index, item);
      return fmt::format("input<{}>(in, {}, {}, {})", name(e.type), offset, e.index, item);
    }
    case Kind::rule: {
      std::string out;
      const std::string& text = rules()[e.index].text;
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '{' && i + 2 < text.size() && text[i + 2] == '}' && text[i + 1] >= '0' &&
            text[i + 1] <= '9') {
          out += expression(e.arguments[static_cast<std::size_t>(text[i + 1] - '0')]);
          i += 2;
        } else {
          out += text[i];
        }
      }
      return out;
    }
    case Kind::element:
      return place(e.index, expression(e.arguments[0]));
    case Kind::call:
      return fmt::format("h{}_{}({})", number_, e.index, arguments(e, 0));
    case Kind::choice:
      return fmt::format("({} ? h{}_{} : h{}_{})({})", expression(e.arguments[0]), number_, e.index,
                         number_, e.bits, arguments(e, 1));
  }
  return {};
}

void Printer::results() {
  for (std::size_t slot = 0; slot < program_.results.size(); ++slot)
    line(fmt::format("result(out, lane, {}, v{});", slot, program_.results[slot]));
  line(fmt::format("result(out, lane, {}, before);", kAtomicSlot));
}

void Printer::loop(const Statement& s) {
  const std::string bound = expression(s.expressions[0]);
  if (s.detail == 0) {
    line(fmt::format("for (u32 v{0} = 0, n{0} = ({1}) & 7; v{0} < n{0}; ++v{0}) {{", s.target,
                     bound));
  } else if (s.detail == 1) {
    line(fmt::format("for (u32 v{0} = ({1}) & 7; v{0} != 0; --v{0}) {{", s.target, bound));
  } else {
    line(fmt::format("for (u32 v{0} = 0, n{0} = ({1}) & 7; ; ) {{", s.target, bound));
    line(fmt::format("  if (v{0}++ == n{0}) break;", s.target));
  }
  block(s.blocks[0]);
  line("}");
}

void Printer::choose(const Statement& s) {
  line(fmt::format("switch (({}) % {}) {{", expression(s.expressions[0]), s.blocks.size() + 1));
  for (std::size_t n = 0; n < s.blocks.size(); ++n) {
    line(n + 1 == s.blocks.size() ? std::string("default: {") : fmt::format("case {}: {{", n));
    block(s.blocks[n]);
    line((s.detail >> n & 1) != 0 ? "}" : "} break;");
  }
  line("}");
}

void Printer::atomic(const Statement& s) {
  constexpr std::string_view kOperations[] = {"fetch_add", "fetch_sub",  "fetch_and", "fetch_or",
                                              "fetch_xor", "exchange_n", "fetch_min", "fetch_max"};
  const std::string call =
      fmt::format("__scoped_atomic_{}(&{}, {}, __ATOMIC_RELAXED, __MEMORY_SCOPE_{});",
                  kOperations[s.detail & 7], place(s.target, expression(s.expressions[0])),
                  expression(s.expressions[1]),
                  program_.arrays[s.target].place == Array::Place::global ? "DEVICE" : "WRKGRP");
  line((s.detail & 8) != 0 ? "before = before * 5 + (u64)" + call : call);
}

void Printer::statement(const Statement& s) {
  switch (s.kind) {
    case Statement::Kind::assign:
      line(fmt::format("v{} = {};", s.target, expression(s.expressions[0])));
      break;
    case Statement::Kind::store:
      line(fmt::format("{} = canonical({});", place(s.target, expression(s.expressions[0])),
                       expression(s.expressions[1])));
      break;
    case Statement::Kind::atomic:
      atomic(s);
      break;
    case Statement::Kind::approximate: {
      const Approximation& a = kApproximations[s.detail];
      line(fmt::format("APPROXIMATE({}, {}, approximate_{}, {}, ({}))",
                       kFirstApproximateSlot + 2 * s.target, s.detail + 1, a.name, name(a.type),
                       expression(s.expressions[0])));
      break;
    }
    case Statement::Kind::branch:
      line(fmt::format("if ({}) {{", expression(s.expressions[0])));
      block(s.blocks[0]);
      if (!s.blocks[1].empty()) {
        line("} else {");
        block(s.blocks[1]);
      }
      line("}");
      break;
    case Statement::Kind::loop:
      loop(s);
      break;
    case Statement::Kind::choose:
      choose(s);
      break;
    case Statement::Kind::leave:
      line("break;");
      break;
    case Statement::Kind::skip:
      line("continue;");
      break;
    case Statement::Kind::finish:
      results();
      line("return;");
      break;
  }
}

void Printer::block(const std::vector<Statement>& statements) {
  ++indent_;
  for (const Statement& s : statements) statement(s);
  --indent_;
}

/// Which variables are read or written; the others are not declared.
std::vector<bool> used_variables(std::vector<Variable> variables, std::vector<Statement> body,
                                 Expression value, const std::vector<std::uint32_t>& results) {
  std::vector<bool> used(variables.size());
  const auto note = [&](const Expression& e) {
    if (e.kind == Expression::Kind::variable) used[e.index] = true;
  };
  const auto targets = [&](const auto& self, const std::vector<Statement>& block) -> void {
    for (const Statement& s : block) {
      if (s.kind == Statement::Kind::assign) used[s.target] = true;
      for (const auto& inner : s.blocks) self(self, inner);
    }
  };
  targets(targets, body);
  visit_block(body, note);
  visit_expression(value, note);
  for (const std::uint32_t v : results) used[v] = true;
  for (std::size_t v = variables.size(); v-- != 0;)  // initial values read earlier variables
    if (used[v]) visit_expression(variables[v].initial, note);
  return used;
}

void Printer::locals(const std::vector<Variable>& variables, const std::vector<bool>& used) {
  for (std::size_t v = 0; v < variables.size(); ++v)
    if (variables[v].role == Variable::Role::local && used[v])
      line(fmt::format("{} v{} = {};", name(variables[v].type), v,
                       expression(variables[v].initial)));
}

void Printer::helper(std::size_t n) {
  const Helper& h = program_.helpers[n];
  std::string parameters;
  std::string again;
  for (std::size_t v = 0; v < h.variables.size(); ++v) {
    if (h.variables[v].role != Variable::Role::parameter) continue;
    parameters += fmt::format("{}{} v{}", v == 0 ? "" : ", ", name(h.variables[v].type), v);
    if (v != 0) again += fmt::format(", v{}", v);
  }
  line(fmt::format("NOINLINE {} h{}_{}({}) {{", name(h.result), number_, n, parameters));
  ++indent_;
  if (h.recursive)
    line(fmt::format("if ((v0 & 3) != 0) v1 = h{}_{}((v0 & 3) - 1{});", number_, n, again));
  locals(h.variables, used_variables(h.variables, h.body, h.value, {}));
  --indent_;
  block(h.body);
  line(fmt::format("  return {};", expression(h.value)));
  line("}");
}

void Printer::arrays() {
  for (std::size_t a = 0; a < program_.arrays.size(); ++a) {
    const Array& array = program_.arrays[a];
    if (array.place == Array::Place::registers)
      line(fmt::format("{} a{}[{}];", name(array.type), a, kElements));
    if (array.place == Array::Place::lds)
      line(fmt::format("LDS_LOCAL({}, a{}_{})", name(array.type), number_, a));
  }
}

void Printer::initial_elements() {
  for (std::uint32_t a = 0; a < program_.arrays.size(); ++a) {
    const Type type = program_.arrays[a].type;
    line(fmt::format("for (u32 i = 0; i < {}; ++i) {} = ({})({})(i * 37u + 5u);", kElements,
                     place(a, "i"), name(type), name(info(type).element)));
  }
}

std::string Printer::print() {
  for (std::size_t a = 0; a < program_.arrays.size(); ++a)
    if (program_.arrays[a].place == Array::Place::lds)
      line(fmt::format("LDS_ARRAY({}, a{}_{})", name(program_.arrays[a].type), number_, a));
  for (std::size_t n = 0; n < program_.helpers.size(); ++n) helper(n);
  std::string parameters;
  for (const UniformArgument& u : kUniformArguments)
    parameters += fmt::format(", {} {}", name(u.type), u.name);
  line(fmt::format(
      "KERNEL {}k{}(LANE_PARAMETER GLOBAL const u8* in, GLOBAL u64* out, GLOBAL u8* mem{})"
      " {{",
      program_.registers != 0 ? fmt::format("REGISTERS({}) ", program_.registers) : "", number_,
      parameters));
  ++indent_;
  line("GET_LANE");
  line("u64 before = 0;");
  arrays();
  initial_elements();
  locals(program_.variables,
         used_variables(program_.variables, program_.body, {}, program_.results));
  --indent_;
  block(program_.body);
  ++indent_;
  results();
  --indent_;
  line("}");
  return std::move(out_);
}

std::size_t count(const std::vector<Statement>& block) {
  std::size_t n = block.size();
  for (const Statement& s : block)
    for (const auto& inner : s.blocks) n += count(inner);
  return n;
}

}  // namespace

std::string prelude() {
  return fmt::format(
      "#define ITEMS {}\n#define ELEMENTS {}\n#define SLOTS {}\n{}#ifdef __AMDGCN__{}"
      "#else{}#endif\n",
      kItems, kElements, kSlots, kCommon, kDevice, kHost);
}

std::string print(const Program& program, std::size_t number) {
  return Printer(program, number).print();
}

std::string print_all(std::span<const Program> programs) {
  std::string out = prelude();
  for (std::size_t n = 0; n < programs.size(); ++n) out += "\n" + print(programs[n], n);
  return out;
}

std::size_t count_statements(const Program& program) {
  std::size_t n = count(program.body);
  for (const Helper& h : program.helpers) n += 1 + count(h.body);
  return n;
}

}  // namespace margay::fuzz
