// The checker of one workgroup at a time: receives every instruction of it and passes it to the
// checks.
//
//   registers   waits.h (in flight), values.h (never written), hazards.h (wait states)
//   memory      bounds.h, lds_shadow.h, lds_definedness.h, global_races.h, global_memory.h
//   barriers    barriers.h; what they are for: lds_shadow.h, global_phases.h
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "exec/stream/watcher.h"
#include "exec/workgroup/workgroup.h"
#include "observe/check/config.h"
#include "observe/check/global/bounds.h"
#include "observe/check/global/global_memory.h"
#include "observe/check/global/global_phases.h"
#include "observe/check/global/global_races.h"
#include "observe/check/instructions/facts.h"
#include "observe/check/instructions/hazards.h"
#include "observe/check/lds/lds_definedness.h"
#include "observe/check/lds/lds_shadow.h"
#include "observe/check/order/sync_graph.h"
#include "observe/check/sync/barriers.h"
#include "observe/check/sync/sync_points.h"
#include "observe/check/values/values.h"
#include "observe/check/waits/adversary.h"
#include "observe/check/waits/waits.h"

namespace margay::check {

/// The results of a launch's workers.
struct WorkerResults {
  struct SiteResult {
    std::uint64_t vaddr = 0;
    bool is_barrier = false, is_fence = false;
    SiteCounts counts;
  };
  FindingSet findings;
  std::vector<Run> runs;
  std::vector<SiteResult> sites;
  /// The credit of a wait for a release, if another wave has acquired it.
  struct ReleaseCredit {
    SyncGraph::Vertex release = 0;
    std::uint64_t vaddr = 0;  ///< The wait's.
    Credit credit;
  };
  std::vector<ReleaseCredit> release_credits;
  std::vector<UndefinedStore> undefined_stores;
  /// LDS instructions whose address moves from barrier to barrier.
  std::vector<std::uint64_t> moving;
  /// Allocations that the host has written through its pointer.
  std::vector<AddressRange> host_written;
  std::vector<HostArgument> host_arguments;
  /// The first workgroup that an instruction stopped, and its number.
  std::optional<Finding> failure;
  std::uint64_t failed_workgroup = 0;
};

/// The first byte of a lane that has undefined bits.
[[nodiscard]] unsigned first_byte(const LaneBits& bits, unsigned lane);

class WorkerChecker final : public Watcher {
 public:
  struct Launch {
    const CheckConfig& config;
    const LaunchRequest& request;
    Program& program;
    const Memory& memory;
    GlobalMemory& global;
    HostRule host_rule;
    std::uint64_t number = 0;
    SyncMeans means;             ///< The means by which the kernel's waves synchronise.
    SyncGraph* graph = nullptr;  ///< Of the launch; null: workgroups do not synchronise.
    /// Receives a worker's results when it is done, on its own thread.
    std::function<void(WorkerResults)> collect;
    /// Receives a worker's findings so far after each workgroup; may be empty.
    std::function<void(const FindingSet&)> show = {};
    const LaunchElsewhere* elsewhere = nullptr;  ///< In another process than the launch's.
    /// A program with variants comes from a just-in-time compiler of block programs, such as
    /// Triton: where a block has fewer elements than the workgroup has lanes, several lanes hold
    /// the same one.
    bool replicates = false;
  };
  explicit WorkerChecker(const Launch& launch);
  ~WorkerChecker() override;

  [[nodiscard]] bool begin(Workgroup& group) override;
  void end(Workgroup& group, WorkgroupEnd how) override;
  void reach(const Executed& event) override;
  void admit(const Executed& event) override;
  const Instruction* execute(const Executed& event) override;
  void barrier_opens(Workgroup& group) override;
  void time_passes() override;
  [[nodiscard]] bool executes() const override { return true; }
  [[nodiscard]] std::uint32_t wave_in_turn(std::uint32_t turn, std::uint32_t waves) override {
    return turns_ ? turns_->wave_in_turn(turn, waves) : turn;
  }
  [[nodiscard]] std::uint64_t quantum() override {
    return turns_ ? turns_->quantum() : sync_.active() ? kSyncTurn : kQuantum;
  }

 private:
  /// The turn of a wave that may wait for another one: it only polls until the turn ends.
  static constexpr std::uint64_t kSyncTurn = 1 << 10;

  struct PerWave {
    PerWave(WorkerChecker& owner, std::uint32_t scratch_bytes_per_lane);
    WaitTracker waits;
    ValueTracker values;
    HazardWindow hazards;
    FenceHistory write_backs, invalidations;
    std::uint64_t stores_written_back = 0;  ///< plain_stores_ when it last wrote back.
    std::uint32_t since_barrier = 0;        ///< Instructions.
    std::uint32_t missed_scratch = 0;       ///< Instructions that accessed scratch beyond its end.
    bool in_grid_barrier = false;           ///< Or has just left it.
    Wave* wave = nullptr;
  };

  [[nodiscard]] WorkerResults take_results();
  void report_hazard(const Hazard& hazard, const InstructionFacts& facts, const Wave& wave);
  const Instruction* memory(PerWave& w, const InstructionFacts& facts, const Executed& event);
  /// Runs it, or defers it.
  const Instruction* run(PerWave& w, const Executed& event, Outstanding& flight);
  /// Adversarial runs: the wave's deferred global stores.
  void perform_stores(PerWave& w);
  /// Runs a deferred instruction, unless it has run.
  void make(PerWave& w, Outstanding& flight);
  void learn_late(Outstanding& flight);
  /// The LDS access `number` of an instruction in flight.
  [[nodiscard]] static LaneAccess access_of(const Outstanding& flight, unsigned number);
  void zero_results(const InstructionFacts& facts, Wave& wave, std::uint64_t lanes) const;

  void lds_access(PerWave& w, const InstructionFacts& facts, Wave& wave, const LaneAccess& access,
                  Outstanding& flight, bool second);
  void note_lds_values(PerWave& w, const InstructionFacts& facts, const LaneAccess& access,
                       bool second);
  void global_access(PerWave& w, const InstructionFacts& facts, Wave& wave,
                     const LaneAccess& access, Outstanding& flight);
  void global_read_values(PerWave& w, const InstructionFacts& facts, const LaneAccess& access);
  void global_written_values(PerWave& w, const InstructionFacts& facts, const LaneAccess& access);
  void note_undefined_store(const InstructionFacts& facts, const LaneAccess& access,
                            std::uint64_t lanes, ValueTracker::Stored stored);
  /// Whether the host has written the allocation through its pointer: a finding at the workgroup's
  /// first read of it. For the rest of the workgroup, and in later launches, all of it counts as
  /// written; not at once in other workgroups, so that the report is the same for all threads.
  [[nodiscard]] bool written_by_host(WrittenMap& map, const InstructionFacts& facts,
                                     std::uint64_t address, unsigned lane);
  void scalar_read_values(PerWave& w, const InstructionFacts& facts, const LaneAccess& access);
  [[nodiscard]] WrittenMap* written_map(std::uint64_t address);
  /// Whether the access is part of a call to the host (printf, assert): the device library and the
  /// host exchange packets, and the host's part is not observed.
  [[nodiscard]] bool calls_host(const LaneAccess& access) const;
  void scalar_access(PerWave& w, const InstructionFacts& facts, const LaneAccess& access,
                     Outstanding& flight);
  /// The part of a global access that racecheck uses. Returns what it releases to other workgroups,
  /// or 0.
  SyncGraph::Vertex follow_global(PerWave& w, const InstructionFacts& facts, const Wave& wave,
                                  const LaneAccess& access, Outstanding& flight);
  void compare_lanes(const InstructionFacts& facts, const Wave& wave, const LaneAccess& access);
  /// Called at barriers and at the end: joins what the waves know of each other.
  void meet_waves(Workgroup& group);
  void settle_barrier();
  /// What the other workgroups of a cooperative launch acquire at its barrier.
  void reach_grid_barrier(PerWave& w, unsigned wave);
  void fence(PerWave& w, const InstructionFacts& facts, unsigned wave);
  /// lanes_that_change(), as far as known: a deferred access may see other values.
  [[nodiscard]] std::uint64_t changed_lanes(const InstructionFacts& facts, const LaneAccess& access,
                                            const Wave& wave) const {
    return turns_ ? access.active : lanes_that_change(facts, access, wave);
  }
  /// An instruction has stopped the workgroup: a trap, a failed assertion, an access that faults.
  void note_failure(const Workgroup& group);

  Launch launch_;
  Reporter reporter_;
  Facts& facts_;
  SiteTable sites_;
  Bounds bounds_;
  LdsShadow lds_;
  LdsDefinedness lds_values_;
  SyncPoints sync_;
  GlobalRaces races_;
  BarrierTracker barriers_;
  std::optional<RandomTurns> turns_;
  CheckedPaths checked_paths_;
  std::vector<std::unique_ptr<PerWave>> waves_;
  std::vector<std::uint32_t> barrier_sites_;  // of the last barrier
  std::vector<std::uint32_t> arriving_sites_;
  std::vector<StageMemo> stages_;      // by InstructionFacts::number
  std::vector<std::uint64_t> moving_;  // of the launch
  std::uint64_t outside_ = 0;          // lanes that the current instruction must not run for
  GlobalPhases global_phases_;
  std::uint64_t plain_stores_ = 0;  // of the workgroup, so far; below agent scope
  WrittenMap* recent_map_ = nullptr;
  AddressRange recent_unmapped_;          // no tracked allocation is here
  LaneBits direct_bits_;                  // of a load straight to LDS: its data
  std::vector<AddressRange> host_calls_;  // the buffers by which waves call the host
  std::vector<UndefinedStore> undefined_stores_;
  std::vector<WrittenMap*> host_written_;       // found so in this workgroup
  std::vector<AddressRange> host_written_all_;  // by this worker
  std::optional<Finding> failure_;
  std::uint64_t failed_workgroup_ = 0;
  std::vector<WorkerResults::ReleaseCredit> release_credits_;  // without addresses
  bool memcheck_, racecheck_, initcheck_, synccheck_, waitcheck_;
  bool lds_races_;  ///< Any check that LdsShadow makes: racecheck's, waitcheck's of direct loads.
};

}  // namespace margay::check
