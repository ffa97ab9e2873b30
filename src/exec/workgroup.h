// One workgroup on one host thread: its waves, registers, LDS and scratch, and the order in which
// the waves run. A host thread has one of these and reuses it for all its workgroups.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "exec/aligned_buffer.h"
#include "exec/device.h"
#include "exec/hostcall.h"
#include "exec/launch_setup.h"
#include "exec/observer.h"
#include "exec/program.h"
#include "exec/wave.h"

namespace margay {

class Workgroup {
 public:
  /// `stop` ends a run early; all references must outlive the workgroup. `hostcalls` is null for
  /// a kernel that makes no calls to the host.
  Workgroup(const LaunchRequest& request, Program& program, const Memory& memory,
            const LaunchAddresses& addresses, const std::atomic<bool>& stop,
            HostcallBuffer* hostcalls = nullptr);

  /// Sets everything to what workgroup `id` (x fastest) finds when it starts.
  void begin(std::uint64_t id);

  /// Runs the waves in turn, each until it stops: at a barrier, at its end, or when its quantum is
  /// used up.
  template <typename Observer>
  [[nodiscard]] WorkgroupEnd run(Observer& observer);

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] std::span<Wave> waves() { return waves_; }
  [[nodiscard]] std::span<const Wave> waves() const { return waves_; }
  [[nodiscard]] const WorkgroupState& state() const { return state_; }
  [[nodiscard]] const LaunchRequest& request() const { return request_; }
  [[nodiscard]] Program& program() const { return program_; }
  /// Where the dispatch packet and the arguments lie.
  [[nodiscard]] const LaunchAddresses& addresses() const { return addresses_; }
  /// The wave that has stopped with a fault.
  [[nodiscard]] const Wave& faulty() const;
  /// After WorkgroupEnd::deadlock: who waits where, in words.
  [[nodiscard]] Error deadlock() const;

 private:
  /// Runs `wave` for its turn; true when it used up a whole quantum.
  template <typename Observer>
  [[nodiscard]] bool take_turn(Wave& wave, Observer& observer);
  /// True when nothing any wave does can ever change: each running wave comes back to the same
  /// instruction with the same registers and the same LDS, and touches nothing else.
  template <typename Observer>
  [[nodiscard]] bool stuck(Observer& observer);
  /// Answers waves that call the host, be they of this workgroup or not; `wave` ran last.
  void answer_calls(Wave& wave);

  const LaunchRequest& request_;
  Program& program_;
  const LaunchAddresses addresses_;
  const std::atomic<bool>& stop_;
  HostcallBuffer* const hostcalls_;
  std::uint64_t id_ = 0;
  std::uint32_t wave_count_;
  std::uint32_t rows_;
  AlignedBuffer vgprs_;
  std::uint32_t lds_bytes_;
  AlignedBuffer lds_;
  std::uint32_t scratch_per_lane_;
  AlignedBuffer scratch_;
  std::vector<Wave> waves_;
  WorkgroupState state_;
  RangeCache range_cache_;
};

/// In kernels that may call the host, how many instructions run before it is looked whether one
/// waits for an answer.
inline constexpr std::uint64_t kHostcallQuantum = 256;

/// What a wave can change without leaving its workgroup, to recognise a loop that never ends.
class WaveSnapshot {
 public:
  explicit WaveSnapshot(const Wave& wave);
  /// True when `wave` stands where it stood, with the same registers and the same LDS.
  [[nodiscard]] bool same(const Wave& wave) const;

 private:
  const Instruction* next_;
  bool scc_;
  std::vector<std::uint32_t> scalars_, vectors_;
  std::vector<std::uint8_t> lds_;
};

/// Whether `i`, run by `wave` now, stays inside its workgroup: no global memory, no scratch (which
/// a snapshot does not hold), no clock.
[[nodiscard]] bool stays_in_workgroup(const Wave& wave, const Instruction& i);
/// The longest loop that is examined for being endless.
inline constexpr std::uint32_t kLongestSpin = 1 << 14;

template <typename Observer>
bool Workgroup::stuck(Observer& observer) {
  for (Wave& wave : waves_) {
    if (wave.stop != WaveStop::running) continue;
    const WaveSnapshot before(wave);
    const Instruction* const start = wave.next;
    bool closed = false;
    for (std::uint32_t n = 0; n < kLongestSpin && !closed; ++n) {
      const bool inside = stays_in_workgroup(wave, *wave.next);
      run_wave(wave, 1, observer);
      if (!inside || wave.stop != WaveStop::running) return false;
      closed = wave.next == start;
    }
    if (!closed || !before.same(wave)) return false;
  }
  return true;
}

template <typename Observer>
bool Workgroup::take_turn(Wave& wave, Observer& observer) {
  const std::uint64_t quantum = observer.quantum();
  if (hostcalls_ == nullptr) {
    run_wave(wave, quantum, observer);
  } else {
    for (std::uint64_t done = 0; done < quantum && wave.stop == WaveStop::running;
         done += kHostcallQuantum) {
      run_wave(wave, std::min(kHostcallQuantum, quantum - done), observer);
      answer_calls(wave);
    }
  }
  return wave.stop == WaveStop::running && quantum == kQuantum;
}

template <typename Observer>
WorkgroupEnd Workgroup::run(Observer& observer) {
  std::uint32_t ended = 0;
  while (ended < wave_count_) {
    std::uint32_t waiting = 0, used_up = 0, running = 0;
    ended = 0;
    for (std::uint32_t turn = 0; turn < wave_count_; ++turn) {
      Wave& wave = waves_[observer.wave_in_turn(turn, wave_count_)];
      if (wave.stop == WaveStop::running) {
        ++running;
        used_up += take_turn(wave, observer);
      }
      if (wave.stop == WaveStop::fault) return WorkgroupEnd::fault;
      waiting += wave.stop == WaveStop::barrier;
      ended += wave.stop == WaveStop::ended;
    }
    // A barrier waits for every wave that has not ended.
    if (waiting != 0 && waiting + ended == wave_count_) {
      observer.barrier_opens(*this);
      for (Wave& wave : waves_)
        if (wave.stop == WaveStop::barrier) wave.stop = WaveStop::running;
    }
    if (stop_.load(std::memory_order_relaxed)) return WorkgroupEnd::cancelled;
    if (running != 0 && used_up == running) {
      if (stuck(observer)) return WorkgroupEnd::deadlock;
      for (const Wave& wave : waves_)
        if (wave.stop == WaveStop::fault) return WorkgroupEnd::fault;
    }
  }
  return WorkgroupEnd::done;
}

}  // namespace margay
