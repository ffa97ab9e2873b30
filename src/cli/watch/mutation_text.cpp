// The result of `margay mutate` as a table and as JSON; see mutation.h.

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/watch/mutation.h"
#include "code_object/demangle.h"
#include "report/check/json.h"
#include "report/check/text.h"

namespace margay::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string place_text(const check::Site& site, std::string_view directory) {
  SourceFrame frame = site.frames.empty() ? SourceFrame{} : site.frames.front();
  // The kernel itself is named above its sites.
  const std::string kernel = check::short_function(demangled_kernel(site.kernel));
  if (check::short_function(frame.function) == kernel) frame.function.clear();
  const std::string place = check::place_of(frame, directory);
  return place.empty() ? fmt::format("at {:#x}", site.vaddr) : place;
}

/// Why an undetected mutant makes no difference.
std::string reason(const check::Site& site, const Mutant& mutant) {
  if (site.is_fence) return "no access of another workgroup depended on it alone";
  if (site.is_barrier) return "no data passed between waves over it alone";
  if (site.completed == 0) return "nothing that it waits for was in flight";
  if (mutant.counter < 0 || site.ordered == 0)
    return "what it waited for was not used, or another wait would have done";
  const std::size_t counter = mutant.counter == 0 ? 0 : 1;
  if (mutant.counter == 1 || site.loosest[counter] == check::kNeverNeeded)
    return "nothing depended on this counter";
  return fmt::format("a count of {} would have done", site.loosest[counter]);
}

std::string result_text(const check::Site& site, const Outcome& outcome) {
  const std::string by = fmt::format("{}", fmt::join(outcome.by, ", "));
  switch (outcome.fate) {
    case Fate::killed:
      return "killed by " + by;
    case Fate::hang:
      return "killed by hang";
    case Fate::own_result:
      return fmt::format("only the program's own result: {}",
                         outcome.end.signal != 0
                             ? signal_text(outcome.end.signal)
                             : fmt::format("exit code {}", outcome.end.exit_code));
    case Fate::equivalent:
      return "equivalent in this run: " + reason(site, outcome.mutant);
    case Fate::survived:
      return "SURVIVED, though something depended on it";
  }
  return {};
}

std::string percent(std::size_t part, std::size_t whole) {
  if (whole == 0) return "none";
  return fmt::format("{} of {} ({:.1f} %)", part, whole,
                     100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string score_text(const Score& score) {
  std::string text = fmt::format("kill rate: {} without equivalent mutants, {} of all\n",
                                 percent(score.killed, score.all - score.equivalent),
                                 percent(score.killed, score.all));
  if (score.own_result != 0) {
    text += fmt::format(
        "{} noticed only by the program itself: the checker should have said "
        "something\n",
        check::counted(score.own_result, "mutant was", "mutants were"));
  }
  if (score.survived != 0) {
    text += fmt::format("{} without an explanation\n",
                        check::counted(score.survived, "mutant survived", "mutants survived"));
  }
  return text;
}

Json rate(std::size_t part, std::size_t whole) {
  return whole == 0 ? Json(nullptr) : Json(static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

std::string demangled_kernel(const std::string& symbol) { return code_object::demangled(symbol); }

std::string mutation_text(std::span<const check::Site> sites, std::span<const Outcome> outcomes,
                          std::string_view directory) {
  std::size_t instruction_width = 0;
  std::size_t place_width = 0;
  std::size_t change_width = 0;
  for (const Outcome& outcome : outcomes) {
    const check::Site& site = sites[outcome.mutant.site];
    instruction_width = std::max(instruction_width, site.instruction.size());
    place_width = std::max(place_width, place_text(site, directory).size());
    change_width = std::max(change_width, outcome.mutant.change.size());
  }
  std::string text, block, last_block, last_kernel;
  std::size_t alike = 0;
  // Sites of one line with the same outcome are shown once: an unrolled loop has many.
  const auto flush = [&] {
    if (block.empty()) return;
    if (block == last_block) {
      ++alike;
    } else {
      if (alike != 0)
        text += fmt::format("  {:<{}}   and {} alike\n", "", instruction_width, alike);
      alike = 0;
      text += block;
    }
    last_block = std::exchange(block, {});
  };
  const check::Site* before = nullptr;
  for (const Outcome& outcome : outcomes) {
    const check::Site& site = sites[outcome.mutant.site];
    const bool same = before == &site;
    if (!same) flush();
    before = &site;
    if (last_kernel != site.kernel) {
      if (!last_kernel.empty()) text += "\n";
      text += check::short_function(demangled_kernel(site.kernel)) + "\n";
      last_kernel = site.kernel;
      last_block.clear();
    }
    block += fmt::format("  {:<{}}   {:<{}}   {:<{}}   {}\n", same ? "" : site.instruction,
                         instruction_width, same ? "" : place_text(site, directory), place_width,
                         outcome.mutant.change, change_width, result_text(site, outcome));
  }
  flush();
  if (alike != 0) text += fmt::format("  {:<{}}   and {} alike\n", "", instruction_width, alike);
  return text + "\n" + score_text(score_of(outcomes));
}

std::string mutation_json(std::span<const check::Site> sites, std::span<const Outcome> outcomes,
                          std::span<const std::string> command) {
  Json mutants = Json::array();
  for (const Outcome& outcome : outcomes) {
    const check::Site& site = sites[outcome.mutant.site];
    mutants.push_back(
        {{"kernel", site.kernel},
         {"vaddr", site.vaddr},
         {"instruction", site.instruction},
         {"frames", check::frames_json(site.frames)},
         {"executions", site.executions},
         {"ordered", site.ordered},
         {"word", outcome.mutant.word},
         {"change", outcome.mutant.change},
         {"result", fate_name(outcome.fate)},
         {"by", outcome.by},
         {"why", outcome.fate == Fate::equivalent ? reason(site, outcome.mutant) : std::string{}},
         {"exit_code", outcome.end.exit_code},
         {"signal", outcome.end.signal},
         {"seconds", outcome.end.seconds}});
  }
  const Score score = score_of(outcomes);
  const Json document = {{"version", 1},
                         {"command", std::vector<std::string>(command.begin(), command.end())},
                         {"mutants", std::move(mutants)},
                         {"summary",
                          {{"all", score.all},
                           {"killed", score.killed},
                           {"own_result", score.own_result},
                           {"equivalent", score.equivalent},
                           {"survived", score.survived},
                           {"kill_rate", rate(score.killed, score.all - score.equivalent)},
                           {"kill_rate_of_all", rate(score.killed, score.all)}}}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace margay::cli
