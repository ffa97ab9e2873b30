// Races on global memory within a launch: between the waves of a workgroup, and between workgroups.
//
// Accesses are kept as runs of bytes. Within a workgroup a barrier orders them (its waves share one
// vector cache, which serves them in order); the runs of a phase are compared when it ends, if
// somebody wrote. Between workgroups nothing orders them but fences: a write that is followed by a
// cache write-back (buffer_wbl2, a release of agent scope) and a read that comes after an
// invalidation (buffer_inv, an acquire) are taken to be ordered; atomics and accesses of agent
// scope do not conflict with each other. Source: LLVM, AMDGPU backend, memory model GFX942. All
// runs of a launch are compared when it ends, so that what is found does not depend on which
// workgroup ran when.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "exec/lane_access.h"
#include "observe/check/facts.h"
#include "observe/check/reporter.h"

namespace margay::check {

/// Neighbouring bytes that one instruction (or several of the same place) touched.
struct Run {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t digest = 0;     ///< Writes: the sum of digest_of() over the bytes.
  std::uint32_t workgroup = 0;  ///< Linear index; 2^32 workgroups are nobody's launch.
  std::uint32_t vaddr = 0;
  std::uint32_t phase_step = 0;
  std::uint8_t wave = 0, lane = 0;
  bool is_write = false, is_atomic = false;
  bool mixed = false;     ///< Bytes were written more than once, not always with the same value.
  bool acquired = false;  ///< After its workgroup's first acquire.
  bool released = false;  ///< Before some release of its workgroup.
};

/// What stands in some bytes, as a number that sums up over neighbours: two writes of the same
/// bytes with the same sum wrote the same. What memory held before is not asked, because that
/// depends on which host thread was first.
[[nodiscard]] std::uint64_t digest_of(std::uint64_t address, const std::uint8_t* value,
                                      unsigned bytes);
using LaneDigests = std::array<std::uint64_t, kWaveLanes>;

class GlobalRaces {
 public:
  explicit GlobalRaces(Reporter& reporter) : reporter_(reporter) {}

  void begin_workgroup(std::uint64_t linear_id);
  /// One access of a wave; `digests` are of the lanes that write, other than by an atomic.
  void access(const LaneAccess& access, const InstructionFacts& facts, unsigned wave,
              std::uint32_t phase_step, const LaneDigests& digests);
  /// An atomic or an access of agent scope: within a workgroup it may be how waves pass a flag.
  void flag();
  /// A cache write-back (buffer_wbl2): what was done before it is seen by other workgroups.
  void release();
  /// A cache invalidation (buffer_inv): what follows sees what others have released.
  void acquire();
  /// The phase ends. Tells whether it, or an earlier one, wrote global memory.
  void end_phase();
  void end_workgroup();
  [[nodiscard]] bool wrote() const { return wrote_; }

  [[nodiscard]] std::vector<Run> take_runs() { return std::move(launch_); }

 private:
  void compare_waves();
  void file_phase();
  void file(const Run& run);
  void report(const Run& later, const Run& earlier);

  Reporter& reporter_;
  std::uint32_t workgroup_ = 0;
  bool acquired_ = false, wrote_ = false, phase_wrote_ = false, phase_synchronised_ = false;
  std::vector<Run> phase_, group_, launch_;
  /// Where in group_ the last run of a place is, so that a loop over a row of a matrix makes one.
  std::unordered_map<std::uint64_t, std::uint32_t> last_of_place_;
};

/// Merges runs that touch, of the same instruction, kind and workgroup; sorts them by address.
void compact(std::vector<Run>& runs);

/// The conflicts between workgroups of one launch, lowest addresses first: each pair of
/// instructions once, with a count.
struct Conflict {
  Run first, second;  ///< By workgroup.
  bool same_value = false;
  std::uint64_t begin = 0, end = 0;
  std::uint64_t count = 1;
};
[[nodiscard]] std::vector<Conflict> conflicts_between_workgroups(std::vector<Run> runs);

}  // namespace margay::check
