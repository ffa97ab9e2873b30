// Races on global memory within a launch: between the waves of a workgroup, and between workgroups.
//
// Accesses are kept as runs of bytes. Within a workgroup they are ordered by barriers and by
// synchronisation between its waves (wave_order.h); the runs of a phase are compared when it ends,
// if any is a write. Between workgroups only releases that were acquired order them (sync_graph.h).
// Atomics, and accesses of a sufficient scope, do not race with each other. All runs of a launch
// are compared when it ends. Source: LLVM, AMDGPU backend, memory model GFX942.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <vector>

#include "exec/program/lane_access.h"
#include "exec/state/memory.h"
#include "observe/check/findings/reporter.h"
#include "observe/check/instructions/facts.h"
#include "observe/check/order/wave_order.h"

namespace margay::check {

/// The scope of an access as in LLVM, from the instruction: the waves that see it as atomic.
enum class Scope : std::uint8_t { none, workgroup, agent };

/// Neighbouring bytes that one instruction (or several of the same place) accessed.
struct Run {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t digest = 0;     ///< Writes: the sum of digest_of() over the bytes.
  std::uint32_t workgroup = 0;  ///< Linear index; no launch has 2^32 workgroups.
  std::uint32_t vaddr = 0;
  std::uint32_t phase_step = 0;
  std::uint32_t issued = 0, completed = 0;  ///< Segments of the wave (wave_order.h).
  std::uint32_t version = 0;                ///< What its wave knew of the workgroup's other waves.
  SyncGraph::Vertex known = 0;              ///< And of other workgroups.
  std::uint8_t wave = 0, lane = 0;
  Scope scope = Scope::none;
  bool is_write = false, is_atomic = false;
  bool compares = false;  ///< A compare-and-swap.
  bool mixed = false;     ///< Bytes were written more than once, not always with the same value.
};

/// The contents of some bytes, as a number that is additive over neighbours: two writes of the same
/// bytes with the same sum wrote the same values.
[[nodiscard]] std::uint64_t digest_of(std::uint64_t address, const std::uint8_t* value,
                                      unsigned bytes);
using LaneDigests = std::array<std::uint64_t, kWaveLanes>;

/// Whether the current contents of memory are those of a write. If this is true of two writes, they
/// wrote the same values where they overlap.
[[nodiscard]] bool stands_in_memory(const Run& run, const Memory& memory);
using StillStands = std::function<bool(const Run&)>;

/// Whether one of two runs is a plain read of what its wave then compares and swaps with the
/// instruction of the other: the first value of a loop around a compare-and-swap, which checks it.
/// LLVM makes such loops of atomics that the device does not have. `all`: runs of the launch.
[[nodiscard]] bool starts_a_swap(const Run& a, const Run& b, const std::vector<Run>& all);

class GlobalRaces {
 public:
  /// `replicates`: the compiler distributes one program over the lanes of a workgroup, and may let
  /// several lanes do the same.
  GlobalRaces(Reporter& reporter, const Memory& memory, bool replicates)
      : reporter_(reporter), memory_(memory), replicates_(replicates) {}

  /// `order`: null when the workgroup's waves synchronise by barriers only; `between`: the same for
  /// workgroups.
  void begin_workgroup(std::uint64_t linear_id, WaveOrder* order, bool between);
  /// One access of a wave; `digests` are of the lanes that write, other than by an atomic. `serial`
  /// counts the wave's memory instructions.
  void access(const LaneAccess& access, const InstructionFacts& facts, unsigned wave,
              std::uint32_t phase_step, const LaneDigests& digests, std::uint64_t serial);
  /// The wave is about to release, is at a barrier, or has many pending: all its instructions up to
  /// this one are complete.
  void settle(unsigned wave, std::uint64_t completed);
  [[nodiscard]] bool many_pending(unsigned wave) const { return pending_[wave].size() > 4096; }
  /// The phase ends: its runs are compared, then all waves are settled and the barrier joins their
  /// knowledge, then the runs are kept for the end of the launch.
  void compare_waves();
  void end_phase();
  void end_workgroup();
  [[nodiscard]] bool wrote() const { return wrote_; }

  [[nodiscard]] std::vector<Run> take_runs() { return std::move(launch_); }

 private:
  /// What an instruction did when a wave last ran it, to detect that it does the same again.
  struct Repeated {
    std::uint64_t epoch = 0, addresses = 0, active = 0;
    std::uint32_t issued = 0, version = 0, known = 0;
    std::uint32_t first = 0;  // of its runs in phase_
  };
  struct Pending {
    Run run;
    std::uint64_t serial = 0;
  };
  /// Whether the wave has run the instruction at the same addresses in this phase, with the same
  /// knowledge: then `run` adds nothing, except for values that differ.
  [[nodiscard]] bool is_repeated(const Run& run, const LaneAccess& access,
                                 const LaneDigests& digests);
  void file_phase();
  void file(const Run& run);
  void compact_phase();
  void report(const Run& later, const Run& earlier, const std::vector<Run>& all);
  [[nodiscard]] bool ordered(const Run& a, const Run& b) const;

  Reporter& reporter_;
  const Memory& memory_;
  const bool replicates_;
  WaveOrder* order_ = nullptr;
  bool between_ = false;
  std::uint32_t workgroup_ = 0;
  bool wrote_ = false, phase_wrote_ = false;
  std::vector<Run> phase_, group_, launch_;
  /// The sizes of the lists of runs at which it may pay to merge neighbours.
  std::size_t compact_at_ = 0, compact_settled_at_ = 0, compact_group_at_ = 0;
  std::unordered_map<std::uint64_t, Repeated> repeated_;  // by instruction and wave
  std::uint64_t epoch_ = 0;  // identifies the period in which indices into phase_ stay valid
  std::array<std::deque<Pending>, kMaxWaves> pending_;  // complete or not; see settle()
  std::vector<Run> settled_;
  /// Index in group_ of the last run of a place, so that a loop over a row of a matrix makes one
  /// run.
  std::unordered_map<std::uint64_t, std::uint32_t> last_of_place_;
};

/// Of the loads of agent scope (atomic, volatile) that a wave repeats at one place keeps the first
/// and the last: kernels that poll have millions, each with other knowledge. Only a plain store
/// that is ordered with these two, and not with one between them, is missed.
void drop_middle_polls(std::vector<Run>& runs);

/// Merges adjacent runs of the same instruction, kind and workgroup (and, with `by_wave`, wave);
/// sorts them. `memory`: whose contents say whether writes that overlap are of the same values;
/// without it they are `mixed`.
void compact(std::vector<Run>& runs, bool by_wave, const Memory* memory = nullptr);

/// The conflicts between workgroups of one launch, lowest addresses first: each pair of
/// instructions once, with a count.
struct Conflict {
  Run first, second;  ///< By workgroup.
  bool same_value = false;
  std::uint64_t begin = 0, end = 0;
  std::uint64_t count = 1;
};
[[nodiscard]] std::vector<Conflict> conflicts_between_workgroups(const std::vector<Run>& runs,
                                                                 SyncGraph& graph,
                                                                 const StillStands& still_stands);

}  // namespace margay::check
