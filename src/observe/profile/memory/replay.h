// Simulates the caches of the device for the memory streams of a launch's workgroups, in the order
// of the stated schedule (memory_stream.h). The result does not depend on host threads.
//
// Each XCD is replayed separately: its workgroups, CUs, vL1Ds, sL1Ds and L2 are independent of
// those of the others. A stream is kept only until it has been replayed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <vector>

#include "observe/profile/memory/arrival.h"
#include "observe/profile/memory/cache.h"
#include "observe/profile/memory/line_cache.h"
#include "observe/profile/memory/memory_stream.h"
#include "observe/profile/memory/tensor_lines.h"
#include "report/profile/counters.h"
#include "report/profile/machine.h"
#include "report/profile/profile.h"
#include "report/profile/selection.h"

namespace margay::profile {

struct ReplayPlan {
  std::uint64_t workgroups = 0;
  std::uint32_t workgroups_per_cu = 1;
  std::size_t sites = 0;  ///< Dwords of code.
  Selection sample = {};  ///< Of the workgroups; the others are ignored.
  const Gpu* gpu = &default_gpu();
  bool warm = false;  ///< L2 has what a launch like this one left there.
};

/// What a replay adds for one instruction or one tensor.
struct ServedBy {
  std::uint64_t l2_reads = 0, l2_writes = 0, l2_hits = 0, l2_misses = 0;
  std::uint64_t fabric_read_bytes = 0, fabric_written_bytes = 0;
  ServedBy& operator+=(const ServedBy& o) {
    l2_reads += o.l2_reads;
    l2_writes += o.l2_writes;
    l2_hits += o.l2_hits;
    l2_misses += o.l2_misses;
    fabric_read_bytes += o.fabric_read_bytes;
    fabric_written_bytes += o.fabric_written_bytes;
    return *this;
  }
};

/// ServedBy of instructions by their places in the code, in dwords. A launch runs little of a large
/// code object.
class ServedSites {
 public:
  explicit ServedSites(std::size_t count = 0)
      : count_(count), chunks_((count + kChunk - 1) / kChunk) {}
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] ServedBy& operator[](std::size_t place) {
    std::unique_ptr<Chunk>& chunk = chunks_[place / kChunk];
    if (chunk == nullptr) chunk = std::make_unique<Chunk>();
    return (*chunk)[place % kChunk];
  }
  [[nodiscard]] ServedBy operator[](std::size_t place) const {
    const std::unique_ptr<Chunk>& chunk = chunks_[place / kChunk];
    return chunk == nullptr ? ServedBy() : (*chunk)[place % kChunk];
  }
  /// visit(place, ServedBy) for those that were served.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t n = 0; n < chunks_.size(); ++n) {
      if (chunks_[n] == nullptr) continue;
      for (std::size_t k = 0; k < kChunk; ++k)
        if (const ServedBy& served = (*chunks_[n])[k]; served.l2_reads + served.l2_writes != 0)
          visit(n * kChunk + k, served);
    }
  }

 private:
  static constexpr std::size_t kChunk = 64;
  using Chunk = std::array<ServedBy, kChunk>;
  std::size_t count_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

/// A workgroup that was recorded, with the compute unit that it ran on.
struct RecordedWorkgroup {
  std::uint32_t cu = 0;
  std::shared_ptr<timing::WorkgroupRecording> workgroup;
};
/// What the replay of one XCD gives.
struct XcdResults {
  Counters counters;
  ServedSites sites;
  std::vector<ServedBy> tensors;
  std::vector<LineSet> lines_read, sectors_written;
  std::vector<RecordedWorkgroup> recorded;
  std::uint32_t sqcs_used = 0;
};

/// Instructions of waves that an XCD keeps for the model of time: 4 bytes each, and 10 for each
/// that accesses memory. Where there are more, it keeps some of the workgroups: see record().
inline constexpr std::uint64_t kMostRecorded = 8'000'000;

/// One accelerator complex die.
class Xcd {
 public:
  Xcd(std::uint32_t index, const ReplayPlan& plan, const TensorLines& tensors);

  /// Replays as far as the available streams allow; `take` returns the stream of a workgroup, or
  /// null if it has not run yet. Once the launch has ended, it returns that of the next workgroup
  /// that has run, and null means that none is left.
  template <typename Take>
  void advance(Take&& take, bool launch_has_ended);
  [[nodiscard]] bool done() const { return next_ >= plan_.workgroups && running_.empty(); }
  /// After the last workgroup: L2 writes back dirty lines.
  void end_launch();
  /// Forgets what it counted and is as at the begin of the launch, except for the lines in L2. The
  /// workgroups' streams, to be replayed again.
  [[nodiscard]] std::vector<std::unique_ptr<MemoryStream>> begin_again();
  /// The L1I of each active SQC fetches the kernel's code: `fills` times 256 bytes.
  void fetch_code(std::uint64_t fills);
  /// Whether it has run any workgroup.
  [[nodiscard]] bool any() const { return placed_ != 0; }
  /// For adopt() in another process, after the launch.
  [[nodiscard]] XcdResults take_results();
  /// All workgroups of this XCD have run, and were replayed, in another process.
  void adopt(XcdResults results);
  [[nodiscard]] bool is_adopted() const { return adopted_sqcs_.has_value(); }

  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] const ServedSites& sites() const { return sites_; }
  [[nodiscard]] const std::vector<ServedBy>& tensors() const { return by_tensor_; }
  /// By tensor, except memory that belongs to none: lines that were read, sectors (two for each
  /// line) that were written.
  [[nodiscard]] const std::vector<LineSet>& lines_read() const { return lines_read_; }
  [[nodiscard]] const std::vector<LineSet>& sectors_written() const { return sectors_written_; }
  [[nodiscard]] std::uint32_t sqcs_used() const;
  [[nodiscard]] std::vector<RecordedWorkgroup>& recorded() { return recorded_; }

 private:
  struct ComputeUnit {
    /// None until it has a workgroup. Sets are not published, and none are seen: latency steps up
    /// sharply at 32 KiB (RRZE gpu-latency), and 128 or 192 rows of as many floats do not drive
    /// each other out (MGPUSim's mi300a.csv, atax).
    std::optional<LineCache> vector_cache;
    std::uint32_t resident = 0;
  };
  struct Resident {
    std::unique_ptr<MemoryStream> stream;
    std::size_t next = 0;  // event
    std::uint64_t begin = 0;
    std::uint32_t cu = 0;
  };
  /// The time of a resident workgroup's next event, or of its end.
  struct Turn {
    std::uint64_t step = 0;
    std::uint64_t workgroup = 0;
    std::uint32_t slot = 0;
    friend bool operator>(const Turn& a, const Turn& b) {
      return a.step != b.step ? a.step > b.step : a.workgroup > b.workgroup;
    }
  };

  void skip_uncounted() {
    while (next_ < plan_.workgroups && !plan_.sample.contains(next_)) next_ += plan_.gpu->xcds;
  }
  /// Whether L2 still has at the end of the launch what was read at its begin.
  [[nodiscard]] bool fits_l2() const;
  /// For the next workgroup; null: all are full.
  [[nodiscard]] ComputeUnit* free_cu();
  void place(std::unique_ptr<MemoryStream> stream, ComputeUnit& cu);
  /// Makes the caches of a compute unit, unless it has them.
  void equip(ComputeUnit& cu);
  /// Keeps it for the model of time, or others.
  void record(std::uint32_t cu, std::shared_ptr<timing::WorkgroupRecording> workgroup);
  void next_event();
  void perform(const Resident& resident, const MemoryEvent& event);
  void note_read(std::size_t tensor, std::uint64_t line);
  void read_line(std::uint64_t line, const MemoryEvent& event, std::uint32_t cu);
  void write_line(std::uint64_t line, std::uint8_t quarters, const MemoryEvent& event,
                  std::uint32_t cu);
  void read_scalar(std::uint64_t line, std::uint8_t quarters, const MemoryEvent& event,
                   std::uint32_t cu);
  void write_scalar(std::uint64_t line, std::uint8_t quarters, const MemoryEvent& event,
                    std::uint32_t cu);
  /// At L2, the lower or upper 64 bytes of a line.
  void write_sector(std::uint64_t line, std::size_t tensor, unsigned half, std::uint8_t quarters,
                    const MemoryEvent& event);
  void read_uncached();
  /// Where it comes from.
  timing::Level l2_read(std::uint64_t line, std::uint32_t bytes, const MemoryEvent& event,
                        ServedBy& tensor);
  /// It hits a line that came so.
  void meet(const Arrival& arrival, const MemoryEvent& event);
  /// Whether the line was clean.
  bool l2_write(std::uint64_t line, std::uint8_t quarters, ServedBy& site, ServedBy& tensor);
  void write_back(const Cache::Slot& slot);

  const std::uint32_t index_;
  const ReplayPlan plan_;
  const TensorLines& tensor_lines_;
  bool keeps_streams_;
  std::vector<std::unique_ptr<MemoryStream>> kept_;
  std::uint64_t next_;  // workgroup
  std::uint64_t placed_ = 0;
  std::uint32_t next_engine_ = 0;
  std::uint64_t now_ = 0;
  std::vector<ComputeUnit> cus_;
  std::vector<std::optional<Cache>> scalar_caches_;
  Cache l2_;
  std::vector<Resident> residents_;
  std::vector<std::uint32_t> free_slots_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> running_;
  Counters counters_;
  ServedSites sites_;
  std::vector<ServedBy> by_tensor_;
  std::vector<LineSet> lines_read_, sectors_written_;
  std::vector<RecordedWorkgroup> recorded_;
  std::uint64_t recorded_instructions_ = 0;
  std::uint64_t recorded_below_ = ~std::uint64_t{0};  ///< See record().
  std::optional<std::uint32_t> adopted_sqcs_;
  // Of the current event:
  std::uint16_t l2_lines_ = 0, far_lines_ = 0;
  timing::Level awaited_ = timing::Level::vector_cache;
  std::uint64_t begin_ = 0;  ///< Of its workgroup.
};

/// The accesses of a launch to one tensor.
struct Touched {
  std::uint64_t lines_read = 0, sectors_written = 0;  ///< Each counted once.
  std::uint64_t lines_read_by_xcds = 0;               ///< Once for each XCD that reads it.
};

/// The whole device during one launch.
class Replay {
 public:
  Replay(const ReplayPlan& plan, const TensorLines& tensors);

  /// From any host thread, workgroups in any order.
  void deposit(std::unique_ptr<MemoryStream> stream);
  /// What a workgroup's memory instructions would ask for in an XCD with cold caches that has no
  /// other workgroup, in its recording. From any host thread; changes nothing here.
  [[nodiscard]] std::shared_ptr<timing::WorkgroupRecording> replay_alone(
      std::unique_ptr<MemoryStream> stream) const;
  /// All workgroups of an XCD have run in another process; before finish().
  void adopt(std::uint32_t xcd, XcdResults results);
  /// After the launch; one that failed or was interrupted is replayed as if it had only the
  /// workgroups that have run. `code_fills`: 256-byte pieces of executed code that were not in L1I.
  void finish(std::uint64_t code_fills);

  [[nodiscard]] const std::vector<std::unique_ptr<Xcd>>& xcds() const { return xcds_; }
  [[nodiscard]] Touched touched(std::size_t tensor) const;
  /// Of a tensor, which is not the unnamed one, by any XCD.
  [[nodiscard]] LineSet lines_read(std::size_t tensor) const;
  [[nodiscard]] LineSet sectors_written(std::size_t tensor) const;

 private:
  struct Inbox {
    std::mutex mutex;      // of `streams`
    std::mutex replaying;  // of the XCD
    std::map<std::uint64_t, std::unique_ptr<MemoryStream>> streams;
  };
  void advance(std::uint32_t xcd, bool launch_has_ended);

  const ReplayPlan plan_;
  const TensorLines& tensors_;
  std::vector<std::unique_ptr<Xcd>> xcds_;
  std::vector<Inbox> inboxes_;
};

}  // namespace margay::profile
