// Mutants and their outcomes; see mutation.h. The table and the JSON are in mutation_text.cpp.
#include "cli/watch/mutation.h"

#include <algorithm>

#include <fmt/format.h>

namespace margay::cli {
namespace {

// SOPP encoding: 0xbf8 in the top bits, the opcode in bits 22:16, then the immediate.
constexpr std::uint32_t kSWaitcnt = 0xbf8c0000;  // opcode 12

bool is_s_waitcnt(std::uint32_t word) { return (word & 0xffff0000) == kSWaitcnt; }

std::string change_text(std::size_t counter, unsigned from) {
  const std::string_view name = kCounters[counter].name;
  return fmt::format("{}({}) -> {}({})", name, from, name, from + 1);
}

bool waits_for_nothing(const WaitCounts& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != kCounters[i].max) return false;
  }
  return true;
}

/// Whether in the clean run anything depended on what `mutant` changes.
bool mattered(const check::Site& site, const Mutant& mutant) {
  if (mutant.counter < 0) return site.ordered != 0;
  const WaitCounts weaker = wait_counts(mutant.word);
  switch (mutant.counter) {
    case 0:
      return weaker[0] > site.loosest[0];
    case 2:
      return weaker[2] > site.loosest[1];
    // Instructions that use expcnt (exports, ds_gws_*) are not implemented: docs/isa-coverage.md.
    default:
      return false;
  }
}

}  // namespace

WaitCounts wait_counts(std::uint32_t word) {
  return {(word & 0xf) | ((word >> 14 & 0x3) << 4), word >> 4 & 0x7, word >> 8 & 0xf};
}

std::uint32_t with_wait_counts(std::uint32_t word, const WaitCounts& counts) {
  constexpr std::uint32_t kFields = 0xcf7f;
  return (word & ~kFields) | (counts[0] & 0xf) | (counts[0] >> 4 << 14) | counts[1] << 4 |
         counts[2] << 8;
}

std::vector<Mutant> mutants_of(std::span<const check::Site> sites) {
  std::vector<Mutant> mutants;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const std::uint32_t word = sites[i].word;
    const WaitCounts counts = wait_counts(word);
    const bool is_wait = is_s_waitcnt(word);
    if (is_wait && waits_for_nothing(counts)) continue;
    mutants.push_back(
        {.site = i, .word = kSNop0, .words = sites[i].is_fence ? 2U : 1U, .change = "removed"});
    if (!is_wait) continue;
    for (std::size_t c = 0; c < counts.size(); ++c) {
      if (counts[c] == kCounters[c].max) continue;
      WaitCounts weaker = counts;
      ++weaker[c];
      if (waits_for_nothing(weaker)) continue;  // the same as removing it
      mutants.push_back({.site = i,
                         .word = with_wait_counts(word, weaker),
                         .change = change_text(c, counts[c]),
                         .counter = static_cast<int>(c)});
    }
  }
  return mutants;
}

std::string mutation_setting(const check::Site& site, const Mutant& mutant) {
  std::string setting = fmt::format("{}@{:x}={:08x}", site.kernel, site.vaddr, mutant.word);
  for (unsigned n = 1; n < mutant.words; ++n) setting += fmt::format(",{:08x}", kSNop0);
  return setting;
}

std::string_view fate_name(Fate fate) {
  constexpr std::array<std::string_view, 5> kNames = {"killed", "hang", "own_result", "equivalent",
                                                      "survived"};
  return kNames[static_cast<std::size_t>(fate)];
}

Errors errors_of(const check::Report& report) {
  Errors errors;
  for (const check::Finding& finding : report.findings) {
    if (finding.severity != check::Severity::error) continue;
    const std::string kind =
        fmt::format("{} {}", check::tool_name(finding.tool()), check::kind_name(finding.kind));
    std::string key = fmt::format("{} {}", kind, finding.kernel);
    for (const check::Access& access : finding.accesses) key += fmt::format(" {:x}", access.vaddr);
    errors.kinds.insert(kind);
    errors.keys.insert(std::move(key));
  }
  return errors;
}

Outcome judge(const check::Site& site, const Mutant& mutant, const ChildEnd& clean_end,
              const Errors& clean, const ChildEnd& end, const check::Report& report) {
  Outcome outcome{.mutant = mutant, .by = {}, .end = end};
  const Errors errors = errors_of(report);
  const bool found_more = std::ranges::any_of(
      errors.keys, [&](const std::string& key) { return !clean.keys.contains(key); });
  if (found_more) {
    outcome.fate = Fate::killed;
    for (const std::string& kind : errors.kinds) {
      if (!clean.kinds.contains(kind)) outcome.by.push_back(kind);
    }
    // The same kinds as before, but at other places.
    if (outcome.by.empty()) outcome.by.assign(errors.kinds.begin(), errors.kinds.end());
  } else if (end.timed_out) {
    outcome.fate = Fate::hang;
    outcome.by = {"hang"};
  } else if (end.shell_code() != clean_end.shell_code()) {
    outcome.fate = Fate::own_result;
  } else {
    outcome.fate = mattered(site, mutant) ? Fate::survived : Fate::equivalent;
  }
  return outcome;
}

Score score_of(std::span<const Outcome> outcomes) {
  Score score{.all = outcomes.size()};
  for (const Outcome& outcome : outcomes) {
    switch (outcome.fate) {
      case Fate::killed:
      case Fate::hang:
        ++score.killed;
        break;
      case Fate::own_result:
        ++score.own_result;
        break;
      case Fate::equivalent:
        ++score.equivalent;
        break;
      case Fate::survived:
        ++score.survived;
        break;
    }
  }
  return score;
}

}  // namespace margay::cli
