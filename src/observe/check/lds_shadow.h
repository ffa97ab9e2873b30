// What is known of every byte of a workgroup's LDS: who wrote it and read it last, and whether
// anything stands between. Finds races between waves. Bytes that nobody wrote: lds_definedness.h.
//
// A phase is what lies between two barriers. Two accesses of different waves in the same phase are
// unordered, unless a flag (an atomic) was passed between them. An access that is still in flight
// when its wave reaches a barrier belongs to the next phase as well: the barrier does not order it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/wave.h"
#include "observe/check/facts.h"
#include "observe/check/reporter.h"

namespace margay::check {

inline constexpr unsigned kMaxWaves = 16;

/// One LDS instruction of one wave, at the moment it is issued.
struct LdsOperation {
  const InstructionFacts* facts = nullptr;
  const Wave* wave = nullptr;
  std::uint32_t step = 0;        ///< The wave's own count of LDS instructions.
  std::uint32_t phase_step = 0;  ///< The same since the last barrier.
  std::uint32_t completed = 0;   ///< Every step up to this one is known to be complete.
  bool atomic = false;
  bool direct = false;   ///< A load straight to LDS.
  bool second = false;   ///< The second half of a read2 or write2.
  bool carried = false;  ///< Issued before the last barrier and still in flight.
};

class LdsShadow {
 public:
  LdsShadow(std::uint32_t bytes, std::uint32_t waves, Reporter& reporter);

  void begin_workgroup();

  /// All lanes in `active` read (or write) `bytes` at their offsets, which lie inside LDS.
  void read(const LdsOperation& operation, const std::uint64_t* at, std::uint64_t active,
            unsigned bytes);
  void write(const LdsOperation& operation, const std::uint64_t* at, std::uint64_t active,
             unsigned bytes);
  /// A read is complete: what a flag told has been learnt by then.
  void read_completed(const LdsOperation& operation, const std::uint64_t* at, std::uint64_t active);
  [[nodiscard]] bool has_flags() const { return !sync_.empty(); }

  /// All waves have passed the barrier. Accesses in flight are to be told again, as carried.
  void open_barrier();
  /// Whether some access relied on the last barrier, and whether no earlier one would have done;
  /// then forgets it.
  struct Need {
    bool needed = false, sole = false;
  };
  [[nodiscard]] Need take_barrier_need() { return std::exchange(barrier_need_, {}); }
  /// The barrier before the current phase orders something else (global memory, say).
  void need_barrier(std::uint32_t since_phase) { note_order(since_phase); }
  [[nodiscard]] std::uint32_t phase() const { return phase_; }

 private:
  /// Eight bytes of LDS. Masks have a bit per byte.
  struct Granule {
    std::uint32_t write_vaddr, read_vaddr;
    std::uint32_t write_step, read_step;              // of the wave
    std::uint32_t write_phase_step, read_phase_step;  // since its last barrier
    std::uint16_t write_phase, read_phase;            // 0: never
    std::uint32_t write_lanes, read_lanes;            // of each two bytes; see lane_at()
    std::uint16_t readers;                            // waves, in read_phase
    std::uint8_t writer;
    std::uint8_t reader;  // one of the readers
    std::uint8_t write_mask, read_mask, flags;
    std::uint8_t newest_mask;  // what the last write instruction wrote so far
  };
  static constexpr std::uint8_t kSync = 1,  // an atomic was used here: a flag
      kDirect = 2,                          // the last write is a direct load
      kMixedReads = 4,                      // readers read different bytes: see details_
      kMixedWrites = 8,                     // waves wrote different bytes: see details_
      kCarriedWrite = 16, kCarriedRead = 32, kAtomicWrite = 64;

  struct Details {
    std::uint16_t read_phase = 0, write_phase = 0;
    std::array<std::uint8_t, kMaxWaves> reads{}, writes{};
    std::uint16_t plain_writers = 0;  // waves of which some write was no atomic
    std::array<std::uint32_t, kMaxWaves> read_vaddr{}, write_vaddr{}, read_step{}, write_step{};
  };
  struct SyncClock {
    std::array<std::uint32_t, kMaxWaves> step{};
  };

  [[nodiscard]] std::uint64_t read_whole_granules(const LdsOperation& o, const std::uint64_t* at,
                                                  std::uint64_t active, unsigned granules);
  void read_granule(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask);
  void write_granule(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask);
  void slow_read(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask);
  void slow_write(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask);
  void mix_reads(const LdsOperation& o, Granule& g, std::uint8_t mask);
  void mix_writes(const LdsOperation& o, Granule& g, std::uint8_t mask);
  void synchronise(const LdsOperation& o, Granule& g, bool acquire, bool release);
  [[nodiscard]] bool ordered_by_flag(unsigned from, std::uint32_t step, unsigned to) const {
    return clocks_[to].step[from] >= step && step != 0;
  }
  [[nodiscard]] Details& details(const Granule& g);
  [[nodiscard]] std::uint32_t byte_of(const Granule& g) const {
    return static_cast<std::uint32_t>(&g - granules_.data()) * 8;
  }
  void note_order(std::uint32_t since_phase) {
    // Somebody must have been stopped at a barrier in [since_phase, phase_ - 1]; the last one that
    // was needed may do already.
    if (since_phase + 1 == phase_) barrier_need_.sole = true;
    if (since_phase <= last_needed_) return;
    last_needed_ = phase_ - 1;
    barrier_need_.needed = true;
  }

  /// The other side of a conflict.
  struct Other {
    unsigned wave = 0;
    std::int32_t lane = kNoNumber;
    std::uint32_t vaddr = 0, phase_step = 0;
    bool is_write = false, carried = false, direct = false, atomic = false;
  };
  void report_race(const LdsOperation& o, unsigned lane, bool is_write, const Granule& g,
                   std::uint8_t mask, const Other& other, bool same_value);
  void report_own_direct(const LdsOperation& o, unsigned lane, const Granule& g, std::uint8_t mask);
  void report_lanes(const LdsOperation& o, unsigned lane, const Granule& g, std::uint8_t mask);
  [[nodiscard]] bool writes_same_value(const LdsOperation& o, unsigned lane, const Granule& g,
                                       std::uint8_t mask) const;

  std::uint32_t waves_;
  Reporter& reporter_;
  std::vector<Granule> granules_;
  std::unordered_map<std::uint32_t, Details> details_;
  std::unordered_map<std::uint32_t, SyncClock> sync_;
  std::array<SyncClock, kMaxWaves> clocks_{};
  std::uint16_t phase_ = 1;
  std::uint32_t last_needed_ = 0;
  Need barrier_need_;

 public:
  /// Direct loads complete when their wave waits; until then its own reads are too early.
  std::array<std::uint32_t, kMaxWaves> direct_completed{};
};

/// The bytes lane `lane` of a store to LDS writes, as they stand in the wave's registers.
[[nodiscard]] std::array<std::uint8_t, 16> stored_bytes(const LdsOperation& operation,
                                                        unsigned lane);

}  // namespace margay::check
