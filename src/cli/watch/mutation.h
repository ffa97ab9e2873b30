// Mutation testing of waits and barriers, without running anything: the mutants for a run's sites,
// their outcomes, and the table.
//
// A mutant is the same program with one s_waitcnt, s_barrier or fence (buffer_wbl2, buffer_inv)
// removed, or one count of an s_waitcnt made weaker by one. A checker that models asynchrony must
// detect each one that matters.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/process/child.h"
#include "report/check/finding.h"

namespace margay::cli {

inline constexpr std::uint32_t kSNop0 = 0xbf800000;  // s_nop 0: SOPP, opcode 0

/// The counters that an s_waitcnt waits for.
struct Counter {
  std::string_view name;
  unsigned max;  ///< This value waits for nothing.
};
inline constexpr std::array<Counter, 3> kCounters = {
    {{"vmcnt", 63}, {"expcnt", 7}, {"lgkmcnt", 15}}};

/// The counts in an s_waitcnt's immediate, gfx9: vmcnt in bits 3:0 and 15:14, expcnt in 6:4,
/// lgkmcnt in 11:8 (LLVM AMDGPU, AMDGPUBaseInfo; CDNA3 ISA 4.4).
using WaitCounts = std::array<unsigned, 3>;
[[nodiscard]] WaitCounts wait_counts(std::uint32_t word);
/// `word` with other counts.
[[nodiscard]] std::uint32_t with_wait_counts(std::uint32_t word, const WaitCounts& counts);

struct Mutant {
  std::size_t site = 0;    ///< Index.
  std::uint32_t word = 0;  ///< The contents of the site's vaddr.
  unsigned words = 1;      ///< Of the instruction; those after the first become kSNop0.
  std::string change;      ///< "removed", "vmcnt(0) -> vmcnt(1)"
  int counter = -1;        ///< The counter made weaker; -1 when all is removed.
};
/// In the order of the sites; removal first. A wait for nothing has no mutants.
[[nodiscard]] std::vector<Mutant> mutants_of(std::span<const check::Site> sites);

/// The value of MARGAY_MUTATE.
[[nodiscard]] std::string mutation_setting(const check::Site& site, const Mutant& mutant);

/// The readable form of a kernel's mangled name.
[[nodiscard]] std::string demangled_kernel(const std::string& symbol);

enum class Fate : std::uint8_t {
  killed,      ///< The checker found an error that the unchanged program does not have.
  hang,        ///< It did not end in time.
  own_result,  ///< The checker was silent, but the program itself ended differently.
  equivalent,  ///< Not detected, and in the clean run nothing depended on the change.
  survived,    ///< Not detected, although something depended on it.
};
[[nodiscard]] std::string_view fate_name(Fate fate);

struct Outcome {
  Mutant mutant;
  Fate fate = Fate::survived;
  std::vector<std::string> by;  ///< "racecheck read-after-write", each once.
  ChildEnd end;
};

/// The findings of a run: "tool kind" of its errors, with their places, to distinguish a mutant's
/// errors from those of the unchanged program.
struct Errors {
  std::set<std::string> keys;
  std::set<std::string> kinds;
};
[[nodiscard]] Errors errors_of(const check::Report& report);

[[nodiscard]] Outcome judge(const check::Site& site, const Mutant& mutant,
                            const ChildEnd& clean_end, const Errors& clean, const ChildEnd& end,
                            const check::Report& report);

struct Score {
  std::size_t all = 0;
  std::size_t killed = 0;  ///< By the checker, or by a timeout.
  std::size_t own_result = 0;
  std::size_t equivalent = 0;
  std::size_t survived = 0;
};
[[nodiscard]] Score score_of(std::span<const Outcome> outcomes);

/// The table and the kill rate. `directory`: source files below it are shown relative to it.
[[nodiscard]] std::string mutation_text(std::span<const check::Site> sites,
                                        std::span<const Outcome> outcomes,
                                        std::string_view directory);
[[nodiscard]] std::string mutation_json(std::span<const check::Site> sites,
                                        std::span<const Outcome> outcomes,
                                        std::span<const std::string> command);

}  // namespace margay::cli
