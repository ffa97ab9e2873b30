// Shadow state of every byte of a workgroup's LDS: the last writer and readers, and whether
// accesses are ordered. Finds races between waves. For bytes that were never written see
// lds_definedness.h.
//
// A phase is the time between two barriers. Two accesses of different waves in the same phase are
// unordered, unless one wave has learnt of the other's access through a flag (wave_order.h). An
// access that is still in flight when its wave reaches a barrier belongs to the next phase as well:
// the barrier does not order it. Atomics do not race with atomics. Words that a wave polls are
// flags (sync_points.h): accesses to them never race.
//
// For each eight bytes the last write and, by wave, the last read of a phase are kept. Everything
// else (atomics, waves that write different parts, reads of different parts at different times)
// goes to a list of the phase. This loses no information: if one of two accesses of one wave to the
// same bytes is unordered, so is the later one.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "exec/state/wave.h"
#include "observe/check/findings/reporter.h"
#include "observe/check/instructions/facts.h"
#include "observe/check/order/wave_order.h"

namespace margay::check {

/// One LDS instruction of one wave, at the moment it is issued.
struct LdsOperation {
  const InstructionFacts* facts = nullptr;
  const Wave* wave = nullptr;
  std::uint32_t step = 0;        ///< The wave's own count of LDS instructions.
  std::uint32_t phase_step = 0;  ///< Instructions since the last barrier.
  bool atomic = false;           ///< Or of workgroup scope.
  bool direct = false;           ///< A load straight to LDS.
  bool second = false;           ///< The second half of a read2 or write2.
  bool carried = false;          ///< Issued before the last barrier and still in flight.
};

class LdsShadow {
 public:
  /// `replicates`: as for GlobalRaces.
  LdsShadow(std::uint32_t bytes, std::uint32_t waves, Reporter& reporter, bool replicates = false);

  /// Writes reach LDS later than they are issued (--adversarial): keep what was issued, so that it
  /// is known whether two write the same.
  void keep_issued() { issued_.resize(granules_.size() * sizeof(std::uint64_t)); }

  /// `order`: null when the waves of the kernel synchronise by barriers only.
  void begin_workgroup(const WaveOrder* order);

  /// All lanes in `active` read (or write) `bytes` at their offsets, which are inside LDS.
  void read(const LdsOperation& operation, const std::uint64_t* at, std::uint64_t active,
            unsigned bytes);
  void write(const LdsOperation& operation, const std::uint64_t* at, std::uint64_t active,
             unsigned bytes);

  /// A wave polls these bytes of a dword: from now on they are a flag. Returns wave and step of the
  /// last non-atomic write in this phase, if any.
  struct LastWrite {
    bool exists = false;
    unsigned wave = 0;
    std::uint32_t step = 0;
  };
  [[nodiscard]] LastWrite make_flag(std::uint32_t dword, std::uint8_t mask);
  /// Calls `visit(wave, step)` for every possible result of make_flag(), some more than once.
  template <typename F>
  void for_each_last_write(F&& visit) const {
    for (const Granule& g : granules_) {
      if (g.write_phase == phase_ && g.write_mask != 0) visit(unsigned{g.writer}, g.write_step);
      if (g.list_phase != phase_) continue;
      for (const Record& r : lists_[g.list])
        if (r.kind == Kind::write) visit(unsigned{r.wave}, r.step);
    }
  }

  /// Whether some lane reads near bytes that a direct load of the wave was the last to write.
  [[nodiscard]] bool has_own_direct(unsigned wave, const LaneAccess& access) const;

  /// All waves have passed the barrier. Accesses in flight must be passed again, as carried.
  void open_barrier();
  /// Returns whether some access relied on the last barrier, and whether no earlier one would have
  /// sufficed; then resets this.
  struct Need {
    bool needed = false, sole = false;
  };
  [[nodiscard]] Need take_barrier_need() { return std::exchange(barrier_need_, {}); }
  /// The barrier before the current phase orders something else (global memory, say).
  void need_barrier(std::uint32_t since_phase) { note_order(since_phase); }
  /// Never 0; phases of different workgroups have different numbers.
  [[nodiscard]] std::uint32_t phase() const { return phase_; }

 private:
  /// Eight bytes of LDS. Masks have a bit per byte.
  struct Granule {
    // The fields that the usual read checks are adjacent.
    std::uint32_t write_phase, read_phase;  // 0: never
    std::uint32_t list_phase;               // in which it has a list
    std::uint16_t readers;                  // waves, in read_phase
    std::uint16_t carried_readers;          // those whose read is older than the phase
    std::uint8_t bits;
    std::uint8_t flag_mask;  // polled bytes
    std::uint8_t writer, write_mask;
    std::uint32_t old_write_phase, old_read_phase;  // the ones before
    std::uint32_t list;                             // of lists_
    std::uint32_t write_step;
    std::uint32_t write_lanes;  // of each two bytes; see lane_at()
    std::uint16_t writers;      // waves, in write_phase
    std::uint16_t old_writers, old_readers;
    std::uint8_t newest_mask;  // the bytes that the last write instruction has written so far
  };
  static constexpr std::uint8_t kDirect = 1,  // the last write is a direct load
      kCarriedWrite = 2,
                                kSettled = 4;  // reads have recorded their barrier

  struct LastRead {
    std::uint32_t step = 0, lanes = 0;
    std::uint8_t mask = 0;
  };
  enum class Kind : std::uint8_t { read, write, atomic, atomic_read };
  [[nodiscard]] static bool writes(Kind kind) {
    return kind == Kind::write || kind == Kind::atomic;
  }
  [[nodiscard]] static bool is_atomic(Kind kind) { return kind >= Kind::atomic; }
  struct Record {
    std::uint32_t step = 0, lanes = 0;
    std::uint8_t wave = 0, mask = 0;
    Kind kind = Kind::read;
    bool carried = false, direct = false;
  };
  /// The instruction of a step.
  struct Told {
    std::uint32_t step = 0, vaddr = 0, phase_step = 0;
  };

  /// The usual case of reads: of 8 or 16 bytes, and of others. Return the lanes for which it does
  /// not apply.
  [[nodiscard]] std::uint64_t read_whole(const LdsOperation& o, const std::uint64_t* at,
                                         std::uint64_t active, unsigned granules);
  [[nodiscard]] std::uint64_t read_parts(const LdsOperation& o, const std::uint64_t* at,
                                         std::uint64_t active, unsigned bytes);
  /// `lanes`: as LastRead has them.
  [[nodiscard]] bool note_read(Granule& g, LastRead& last, const LdsOperation& o, unsigned wave,
                               std::uint32_t lanes, std::uint8_t mask);
  void read_granule(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask);
  void write_granule(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask);
  void write_again(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask);
  void atomic_granule(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask,
                      Kind kind);
  void begin_reads(Granule& g, unsigned wave);
  /// Reports the accesses of other waves that `o` races with.
  void meet(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask, Kind kind);
  bool note_older(const Granule& g, unsigned wave, bool writes);
  void begin_writes(Granule& g);
  void add_to_list(Granule& g, const Record& record);
  void remember(const LdsOperation& o);
  [[nodiscard]] bool all_flags(const std::uint64_t* at, std::uint64_t active, unsigned bytes) const;
  [[nodiscard]] Told told(unsigned wave, std::uint32_t step) const;

  [[nodiscard]] bool ordered(const Record& earlier, unsigned to) const {
    if (earlier.wave == to) return true;
    if (order_ == nullptr) return false;
    return is_atomic(earlier.kind) ? order_->lds_atomic_ordered(earlier.wave, earlier.step, to)
                                   : order_->lds_ordered(earlier.wave, earlier.step, to);
  }
  [[nodiscard]] LastRead& last_read(const Granule& g, unsigned wave) {
    return reads_[wave * granules_.size() + static_cast<std::size_t>(&g - granules_.data())];
  }
  [[nodiscard]] std::uint32_t byte_of(const Granule& g) const {
    return static_cast<std::uint32_t>(&g - granules_.data()) * 8;
  }
  void note_order(std::uint32_t since_phase) {
    // A barrier in [since_phase, phase_ - 1] was needed; the last needed one may already suffice.
    if (since_phase + 1 == phase_) barrier_need_.sole = true;
    if (since_phase <= last_needed_) return;
    last_needed_ = phase_ - 1;
    barrier_need_.needed = true;
  }

  void report_race(const LdsOperation& o, unsigned lane, const Granule& g, Kind kind,
                   const Record& other);
  void note_issued(const LdsOperation& o, const std::uint64_t* at, std::uint64_t active,
                   unsigned bytes);
  void report_own_direct(const LdsOperation& o, unsigned lane, const Granule& g, std::uint8_t mask);
  void report_lanes(const LdsOperation& o, unsigned lane, const Granule& g, std::uint8_t mask);
  [[nodiscard]] bool writes_same_value(const LdsOperation& o, unsigned lane, const Granule& g,
                                       std::uint8_t mask) const;

  std::uint32_t waves_;
  Reporter& reporter_;
  const bool replicates_;
  const WaveOrder* order_ = nullptr;
  std::vector<Granule> granules_;
  std::vector<LastRead> reads_;  // by wave and granule
  std::vector<std::vector<Record>> lists_;
  std::uint32_t lists_used_ = 0;
  /// By wave: its LDS instructions of this phase, and those in flight from before.
  std::array<std::vector<Told>, kMaxWaves> told_;
  std::uint32_t phase_ = 0, first_phase_ = 0;
  std::uint32_t last_needed_ = 0;
  Need barrier_need_;
  std::vector<std::uint8_t> issued_;  ///< By byte of LDS; empty: LDS has it.
  bool has_flags_ = false;
  bool has_direct_ = false;  // a load went straight to LDS

 public:
  /// Direct loads complete when their wave waits; until then its own reads are too early.
  std::array<std::uint32_t, kMaxWaves> direct_completed{};
};

/// The bytes that lane `lane` of a store to LDS writes, from the wave's registers.
[[nodiscard]] std::array<std::uint8_t, 16> stored_bytes(const LdsOperation& operation,
                                                        unsigned lane);

}  // namespace margay::check
