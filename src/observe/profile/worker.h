// The profiler of one workgroup at a time: counts its instructions and records its memory requests.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "exec/stream/watcher.h"
#include "exec/workgroup/workgroup.h"
#include "observe/profile/instruction_facts.h"
#include "observe/profile/lds/lds_patterns.h"
#include "observe/profile/memory/coalescer.h"
#include "observe/profile/memory/device_addresses.h"
#include "observe/profile/memory/footprint.h"
#include "observe/profile/memory/replay.h"
#include "observe/profile/memory/touched_lines.h"
#include "observe/profile/trace_recorder.h"
#include "observe/profile/wave_map.h"

namespace margay::profile {

/// The counts of one instruction. Of the figures, issue cycles and flops follow from the others
/// when a launch ends.
struct SiteCounts : SiteFigures {
  std::unique_ptr<LdsPatterns> lds;
  std::unique_ptr<MemoryTraffic> memory;
  std::unique_ptr<Coalescer> coalescer;
  std::size_t tensor = kNoTensor;  ///< The one it accesses.
  static constexpr std::size_t kNoTensor = ~std::size_t{0}, kSeveral = kNoTensor - 1;
};

/// The bytes that lanes requested of a tensor.
struct LaneTraffic {
  std::uint64_t read_bytes = 0, written_bytes = 0;
  /// Lines and their pieces of 32 bytes, each counted once for each workgroup that reads it.
  std::uint64_t workgroup_lines = 0, workgroup_pieces = 0;
};

/// How much a workgroup executed, watched or not.
struct WorkgroupLength {
  std::uint64_t workgroup = 0;
  std::uint64_t instructions = 0;  ///< Over its waves.
};

/// The results of a launch's workers.
struct WorkerResults {
  Counters counters;
  std::vector<SiteCounts> sites;  ///< By InstructionFacts::number.
  std::vector<LaneTraffic> tensors;
  std::vector<WaveMap> maps;
  std::vector<WaveTrace> traces;  ///< Slices name sites by slot.
  std::vector<Probe> probes;
  std::vector<WorkgroupLength> lengths;  ///< If time is asked for, and they are not too many.
};

class Worker final : public Watcher {
 public:
  struct Launch {
    const LaunchRequest& request;
    Program& program;
    const std::vector<AddressRange>& tensors;  ///< In host addresses.
    DeviceAddresses& addresses;
    const TensorLines& tensor_lines;  ///< In cache addresses.
    Replay& replay;
    std::uint32_t resident_workgroups = 1;  ///< On the whole device; each has its own scratch.
    std::uint32_t number = 0;
    const Selection& sample;  ///< Workgroups that are counted; the others only run.
    const std::vector<std::uint64_t>& probes;  ///< Of the others; in ascending order.
    bool map_first_workgroup = false;
    std::uint64_t traced_workgroups = 0;
    bool timed = false;  ///< Workgroups are recorded for the model of time.
    /// Receives a worker's results when it is done, on its own thread.
    std::function<void(WorkerResults&&)> collect;
  };
  explicit Worker(const Launch& launch);
  ~Worker() override;

  [[nodiscard]] bool begin(Workgroup& group) override;
  void end(Workgroup& group, WorkgroupEnd how) override;
  void pass(const Workgroup& group) override { note_length(group); }
  void issue(const Executed& event) override;
  void jump(const Wave& wave, const Instruction& next) override;
  void barrier_opens(Workgroup& group) override;

 private:
  struct PerWave {
    std::uint32_t step = 0;
    std::uint64_t fetched = 0;  ///< The last block of 32 bytes that was fetched.
    std::optional<WaveRecorder> trace;
  };

  [[nodiscard]] SiteCounts& site_of(const InstructionFacts& facts) {
    if (facts.number >= sites_.size()) sites_.resize(facts.number + 1);
    return sites_[facts.number];
  }
  [[nodiscard]] std::uint32_t slot_of(const InstructionFacts& facts) const {
    return static_cast<std::uint32_t>((facts.vaddr - first_vaddr_) / 4);
  }
  /// Per cycle.
  [[nodiscard]] std::uint64_t vector_cache_bytes() const {
    return static_cast<std::uint64_t>(launch_.program.gpu().arch().rates.vector_cache_bytes);
  }
  void note_length(const Workgroup& group);
  void end_probe(std::uint64_t instructions);
  /// The workgroup's, when it has run.
  void sort_events();
  /// What a probe counts is not that of the launch.
  void swap_counts();
  void count_lines_once();
  void count(PerWave& w, const InstructionFacts& facts, const Wave& wave);
  void lds(const PerWave& w, const InstructionFacts& facts, const Executed& event);
  void lds_access(const PerWave& w, const InstructionFacts& facts, const LaneAccess& access,
                  const LaneAccess* second, SiteCounts& site);
  void vector_memory(PerWave& w, const InstructionFacts& facts, const Executed& event);
  void global_access(PerWave& w, const InstructionFacts& facts, const LaneAccess& access,
                     SiteCounts& site);
  void scalar_memory(PerWave& w, const InstructionFacts& facts, const Executed& event);
  void add_event(PerWave& w, const InstructionFacts& facts, const Coalesced& coalesced,
                 MemoryEvent::Kind kind);
  /// As MemoryWork::argument_lines.
  [[nodiscard]] std::uint8_t argument_lines(std::uint64_t address, std::uint32_t bytes) const;
  /// Of the wave's current instruction; null if nothing is recorded.
  [[nodiscard]] timing::MemoryWork* work_of(const PerWave& w);
  void place_global(LaneAccess& access);
  void place_scratch(const Wave& wave, LaneAccess& access) const;

  Launch launch_;
  Facts& facts_;
  const std::uint64_t first_vaddr_;
  std::vector<SiteCounts> sites_;
  Counters counters_;
  std::vector<LaneTraffic> tensors_;
  std::vector<PerWave> waves_;
  std::uint64_t workgroup_ = 0;
  DeviceAddresses::Piece piece_;  ///< The one that was used last.
  std::vector<DeviceAddresses::Piece> pieces_;
  AddressRange arguments_;            ///< Of the launch, with the dispatch packet before them.
  std::uint64_t first_argument_ = 0;  ///< Its address.
  bool mapping_ = false;
  std::unique_ptr<MemoryStream> stream_;
  Coalesced scalar_;
  TensorLines::Finder tensor_;
  WaveMapRecorder map_;
  TouchedLines lines_;  ///< That the workgroup reads.
  std::vector<WaveMap> maps_;
  std::vector<WaveTrace> traces_;
  std::vector<WorkgroupLength> lengths_;
  bool probing_ = false;
  std::vector<Probe> probes_;
  std::vector<SiteCounts> sites_aside_;
  Counters counters_aside_;
  std::vector<LaneTraffic> tensors_aside_;
};

}  // namespace margay::profile
