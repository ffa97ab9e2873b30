// The findings of the checker: data only. The checks create findings, report.h counts and sorts
// them, text.h and json.h print them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "code_object/code_object.h"
#include "report/check/fixes.h"
#include "report/check/kinds.h"
#include "report/check/roles.h"
#include "report/check/statements.h"

namespace margay::check {

/// An error makes `margay check` fail. A note reports code that is correct on the hardware but
/// worth knowing about. Advice is about speed: something that was never needed in this run.
enum class Severity : std::uint8_t { error, note, advice };
[[nodiscard]] constexpr std::string_view severity_name(Severity severity) {
  constexpr std::array<std::string_view, 3> names = {"error", "note", "advice"};
  return names[static_cast<std::size_t>(severity)];
}

inline constexpr std::uint64_t kNoVaddr = ~std::uint64_t{0};
inline constexpr std::int32_t kNoNumber = -1;
inline constexpr std::uint32_t kNeverNeeded = 255;

/// One instruction's part in a finding: its action, wave and location.
struct Access {
  Role role = Role::use;
  std::int32_t wave = kNoNumber;  ///< Index in the workgroup.
  std::int32_t lane = kNoNumber;
  std::array<std::uint32_t, 3> workgroup = {};
  std::uint64_t vaddr = kNoVaddr;  ///< In the code object's image; kNoVaddr: no instruction.
  // Filled in from vaddr when a launch ends (resolve.h).
  std::uint64_t pc = 0;     ///< Device address.
  std::string instruction;  ///< As the disassembler prints it.
  std::string function;     ///< Demangled name of the function the code belongs to.
  std::uint64_t function_offset = 0;
  std::vector<SourceFrame> frames;  ///< The user's line first, then the functions it called.
  /// How many frames after the first are functions it called; the rest are its callers. All
  /// inlined.
  std::uint32_t called = ~std::uint32_t{0};
  /// The compiler assigns no line to the instruction: the frames belong to one shortly before it.
  bool nearby = false;
};

/// Further instructions with the same cause as a finding.
struct Occurrence {
  FindingKind kind{};
  Statement message;
  std::vector<Access> accesses;
  std::uint64_t count = 1;
};

/// One finding, which represents all with the same key.
struct Finding {
  FindingKind kind{};
  Severity severity = Severity::error;
  // In words, a line each: statement_text.h.
  Statement message;              ///< The error, with bytes, registers, names.
  std::vector<Access> accesses;   ///< The instruction that revealed it last; usually one or two.
  std::vector<Statement> detail;  ///< Further ones: instructions in between, the allocation.
  Fix fix = Fix::other;           ///< In words: fix_text.h.
  std::vector<std::string> fix_arguments;  ///< What it names: streams, tiles.
  FixPlace fix_place;
  bool moves = false;  ///< A race in LDS whose addresses both move from barrier to barrier.
  /// Effects of the same cause at other instructions (group.h); `count` includes them.
  std::vector<Occurrence> others;
  std::string cause;   ///< Equal for findings of one cause; empty: not known. Not shown.
  std::string kernel;  ///< Demangled.
  std::vector<SourceFrame> computes;  ///< Kernel::computes
  std::uint64_t launch = 0;           ///< 1 for the process's first launch.
  std::uint64_t count = 1;            ///< How often it happened.

  [[nodiscard]] Tool tool() const { return info(kind).tool; }
};

/// An s_waitcnt, s_barrier or fence that ran, for advice and for `margay mutate`.
struct Site {
  std::string kernel;  ///< Mangled: the kernel whose code object holds it.
  std::uint64_t vaddr = 0;
  std::uint32_t word = 0;  ///< The instruction's first four bytes.
  bool is_barrier = false;
  bool is_fence = false;         ///< buffer_wbl2, buffer_inv: eight bytes.
  std::uint64_t executions = 0;  ///< Wave executions over all launches.
  /// How often something depended on it that nothing else ordered.
  std::uint64_t ordered = 0;
  std::uint64_t completed = 0;  ///< For a wait: memory instructions that it proved complete.
  /// For a wait: the highest vmcnt and lgkmcnt with which it would still have proved everything
  /// that something depended on; kNeverNeeded: nothing depended on that counter.
  std::array<std::uint32_t, 2> loosest = {kNeverNeeded, kNeverNeeded};
  std::string instruction;
  std::vector<SourceFrame> frames;
};

/// The report of one checked process, in output order.
struct Report {
  std::vector<std::string> tools;
  bool adversarial = false;
  std::uint64_t seed = 0;
  std::uint64_t launches = 0;
  std::vector<Finding> findings;  ///< Errors and notes, then advice.
  std::vector<Site> sites;
  std::uint64_t suppressed = 0;  ///< Findings removed by suppressions.
  /// Of the errors and notes, this many, the last ones, are of launches that were not over when the
  /// report was made; they have not been printed.
  std::uint64_t in_launch = 0;
};

}  // namespace margay::check
