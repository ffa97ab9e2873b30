// Which loads wait for another wave. A release and an acquire within a workgroup are plain LDS
// instructions with waits around them, so that a flag looks like data; but whoever waits for a flag
// does so in a loop that does nothing else. A poll is a load in a loop
//   - whose address does not change in the loop,
//   - whose value, compared with something that does not change either, decides when the loop ends,
//   - which stores nothing, has no barrier and calls nothing.
// The idea is that of spinning read loops: Jannesari and Tichy, "Identifying ad-hoc synchronization
// for enhanced race detection", IPDPS 2010. Compilers take the first test out of the loop: a load
// that decides whether to go past such a loop is a poll as well.
#pragma once

#include "exec/program/program.h"
#include "exec/state/instruction.h"

namespace margay::check {

/// Of a load, as it stands in its program.
[[nodiscard]] bool is_poll(const Instruction& load);

/// By what a kernel's waves can learn of each other, other than by barriers: what it does not have
/// need not be followed.
struct SyncMeans {
  bool lds = false;        ///< LDS atomics that return a value, polls, scoped accesses.
  bool lds_polls = false;  ///< Of these, polls: any LDS store may be a flag's.
  bool global = false;     ///< Global atomics that return a value, scoped loads, polls.
  bool releases = false;   ///< Fences of agent scope or wider ...
  bool acquires = false;
  [[nodiscard]] bool any() const { return lds || global; }
};
[[nodiscard]] SyncMeans sync_means(const Program& program);

}  // namespace margay::check
