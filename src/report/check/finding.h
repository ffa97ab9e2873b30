// What the checker reports: data only. The checks make findings, report.h counts and sorts them,
// text.h and json.h show them.
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

namespace margay::check {

/// An error makes `margay check` fail. A note is worth knowing but right on the hardware. Advice is
/// about speed: something that was never needed in this run.
enum class Severity : std::uint8_t { error, note, advice };
[[nodiscard]] constexpr std::string_view severity_name(Severity severity) {
  constexpr std::array<std::string_view, 3> names = {"error", "note", "advice"};
  return names[static_cast<std::size_t>(severity)];
}

inline constexpr std::uint64_t kNoVaddr = ~std::uint64_t{0};
inline constexpr std::int32_t kNoNumber = -1;
inline constexpr std::uint32_t kNeverNeeded = 255;

/// One instruction's part in a finding: what it did, who ran it, where it is.
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
  std::vector<SourceFrame> frames;  ///< The user's line first, then what it called.
  /// How many frames after the first are what it called; those behind are its callers. All inlined.
  std::uint32_t called = ~std::uint32_t{0};
  /// The compiler gives the instruction no line: the frames are those of one shortly before it.
  bool nearby = false;
};

/// Further instructions in which the cause of a finding showed.
struct Occurrence {
  FindingKind kind{};
  std::string message;
  std::vector<Access> accesses;
  std::uint64_t count = 1;
};

/// One finding, which represents all with the same key.
struct Finding {
  FindingKind kind{};
  Severity severity = Severity::error;
  std::string message;              ///< One line: what is wrong, with bytes, registers, names.
  std::vector<Access> accesses;     ///< The instruction that showed it last; one or two as a rule.
  std::vector<std::string> detail;  ///< Further lines: what is between them, which allocation.
  Fix fix = Fix::other;             ///< In words: fix_text.h.
  std::vector<std::string> fix_arguments;  ///< What it names: streams, tiles.
  FixPlace fix_place;
  bool moves = false;  ///< A race in LDS of which both places move from barrier to barrier.
  /// What the same cause did at other instructions (group.h); `count` includes them.
  std::vector<Occurrence> others;
  std::string cause;         ///< Equal for findings of one cause; empty: not known. Not shown.
  std::string kernel;        ///< Demangled.
  std::uint64_t launch = 0;  ///< 1 for the process's first launch.
  std::uint64_t count = 1;   ///< How often it happened.

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
  /// How often something depended on it that nothing else would have ordered.
  std::uint64_t ordered = 0;
  std::uint64_t completed = 0;  ///< Of a wait: memory instructions that it proved complete.
  /// Of a wait: the highest vmcnt and lgkmcnt with which it would still have done all that
  /// something depended on; kNeverNeeded: nothing depended on that counter.
  std::array<std::uint32_t, 2> loosest = {kNeverNeeded, kNeverNeeded};
  std::string instruction;
  std::vector<SourceFrame> frames;
};

/// All that one checked process has to say, in the order it is shown.
struct Report {
  std::vector<std::string> tools;
  bool adversarial = false;
  std::uint64_t seed = 0;
  std::uint64_t launches = 0;
  std::vector<Finding> findings;  ///< Errors and notes, then advice.
  std::vector<Site> sites;
  std::uint64_t suppressed = 0;  ///< Findings that the suppressions took out.
  /// Of the errors and notes, this many, the last ones, are of launches that were not over when the
  /// report was made; they have not been printed.
  std::uint64_t in_launch = 0;
};

}  // namespace margay::check
