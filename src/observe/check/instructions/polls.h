// Finds loads that wait for another wave. A release and an acquire within a workgroup are plain LDS
// instructions with waits around them, so that a flag looks like data; but a wave waits for a flag
// in a loop that does nothing else. A poll is a load in a loop
//   - whose address does not change in the loop,
//   - whose value, compared with another invariant, decides when the loop ends,
//   - which stores nothing, has no barrier and calls nothing.
// The idea is that of spinning read loops: Jannesari and Tichy, "Identifying ad-hoc synchronization
// for enhanced race detection", IPDPS 2010. Compilers hoist the first test out of the loop: a load
// that decides whether to skip such a loop is a poll as well.
#pragma once

#include "exec/program/program.h"
#include "exec/state/instruction.h"

namespace margay::check {

/// For a load at its place in the program.
[[nodiscard]] bool is_poll(const Instruction& load);

/// The means by which a kernel's waves can synchronise, other than barriers: those it does not have
/// need not be tracked.
struct SyncMeans {
  bool lds = false;        ///< LDS atomics that return a value, polls, scoped accesses.
  bool lds_polls = false;  ///< Polls among these: any LDS store may be to a flag.
  bool global = false;     ///< Global atomics that return a value, scoped loads, polls.
  bool releases = false;   ///< Fences of agent scope or wider ...
  bool acquires = false;
  [[nodiscard]] bool any() const { return lds || global; }
};
[[nodiscard]] SyncMeans sync_means(const Program& program);

}  // namespace margay::check
