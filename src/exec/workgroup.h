// One workgroup on one host thread: its waves, registers, LDS and scratch, and the order in which
// the waves run. A host thread has one of these and reuses it for all its workgroups.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/aligned_buffer.h"
#include "exec/device.h"
#include "exec/hostcall.h"
#include "exec/launch_setup.h"
#include "exec/observer.h"
#include "exec/program.h"
#include "exec/residents.h"
#include "exec/wave.h"

namespace margay {

/// A word of memory that a wave looks at, as it was before it last looked.
struct WatchedWord {
  std::uint64_t address = 0;  ///< A multiple of 8.
  std::uint64_t value = 0;
};

class Workgroup {
 public:
  /// `stop` ends a run early; all references must outlive the workgroup. `hostcalls` is null for
  /// a kernel that makes no calls to the host, `residents` where a workgroup runs to its end; then
  /// it gives up after `patience` in which it only waited for memory to change.
  Workgroup(const LaunchRequest& request, Program& program, const Memory& memory,
            const LaunchAddresses& addresses, const std::atomic<bool>& stop,
            HostcallBuffer* hostcalls = nullptr, Residents* residents = nullptr,
            std::chrono::milliseconds patience = std::chrono::milliseconds::max());

  /// Sets everything to what workgroup `id` (x fastest) finds when it starts.
  void begin(std::uint64_t id);

  /// Runs the waves in turn, each until it stops: at a barrier, at its end, or when its quantum is
  /// used up. After WorkgroupEnd::waiting it may be called again.
  template <typename Observer>
  [[nodiscard]] WorkgroupEnd run(Observer& observer);

  /// After WorkgroupEnd::waiting: false while it would only wait again, because nothing that its
  /// waves look at has changed.
  [[nodiscard]] bool is_ready() const;

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
  /// After WorkgroupEnd::deadlock: whether its patience was at its end, and in words why.
  [[nodiscard]] bool gave_up() const { return gave_up_; }
  static constexpr std::string_view kGaveUp =
      "the workgroup waits for memory to change, and nothing changes it";
  static constexpr std::string_view kGaveUpHint =
      "under margay check and margay prof a workgroup runs to its end before the next one begins, "
      "and no host code runs beside it: what it waits for has to come from an earlier workgroup";
  /// After WorkgroupEnd::deadlock: who waits where, in words.
  [[nodiscard]] Error deadlock() const;
  /// The same where it may be other workgroups that are waited for.
  [[nodiscard]] Error deadlock(const Residents& residents) const;

 private:
  /// Runs `wave` for its turn; true when it used up a whole quantum.
  template <typename Observer>
  [[nodiscard]] bool take_turn(Wave& wave, Observer& observer);
  /// What the running waves do, when all of them used up their quantum.
  enum class Activity : std::uint8_t {
    work,
    polling,  ///< Each repeats a loop that reads the same places of memory.
    endless,  ///< And nothing it does can ever change.
  };
  /// Runs each running wave until it comes back to where it is, for `longest` instructions at
  /// most.
  template <typename Observer>
  [[nodiscard]] Activity activity(Observer& observer, std::uint32_t longest);
  template <typename Observer>
  [[nodiscard]] Activity activity_of(Wave& wave, Observer& observer, std::uint32_t longest);
  /// After a round in which every running wave used up its quantum: how the run ends, if it does.
  template <typename Observer>
  [[nodiscard]] std::optional<WorkgroupEnd> after_full_round(Observer& observer);
  /// The same for a workgroup that nobody takes turns with.
  [[nodiscard]] std::optional<WorkgroupEnd> after_lonely_round(Activity found);
  /// A wave that stopped at the grid's barrier, in a launch that has one.
  void arrive_at_grid_barrier(Wave& wave);
  /// Lets waves go on whose grid barrier has opened.
  void leave_grid_barrier();
  /// Answers waves that call the host, be they of this workgroup or not; `wave` ran last.
  void answer_calls(Wave& wave);

  const LaunchRequest& request_;
  Program& program_;
  const LaunchAddresses addresses_;
  const std::atomic<bool>& stop_;
  HostcallBuffer* const hostcalls_;
  Residents* const residents_;
  const std::chrono::milliseconds patience_;
  std::optional<std::chrono::steady_clock::time_point> waiting_since_;
  bool gave_up_ = false;
  std::uint64_t quantum_ = kQuantum;  ///< With residents; grows while the waves do other than wait.
  std::uint32_t long_turns_ = 0;      ///< How many of kQuantum this workgroup has had.
  std::uint64_t grid_phase_ = 0;      ///< What a wave at the grid's barrier waits for the end of.
  bool all_watched_ = false;
  std::vector<WatchedWord> watched_;  ///< Of the waves that wait for memory; empty: not known.
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
  std::uint32_t mode_;
  std::vector<std::uint32_t> scalars_, vectors_;
  std::vector<std::uint8_t> lds_;
};

/// The places of global memory that a wave touches in one pass through a loop.
class TouchedPlaces {
 public:
  /// What `i` is about to touch. Values are read where `earlier`, which ran without a fault,
  /// touched the same.
  void add(const Wave& wave, const Instruction& i, const TouchedPlaces& earlier);
  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] bool same(const TouchedPlaces& other) const {
    return any_ == other.any_ && hash_ == other.hash_;
  }
  /// Empty when there are too many.
  [[nodiscard]] const std::vector<WatchedWord>& words() const { return words_; }

 private:
  /// More than the lanes of a wave that look at a flag each, in a few instructions.
  static constexpr std::size_t kMostWords = 256;

  bool any_ = false, too_many_ = false;
  std::uint64_t hash_ = 0;
  std::vector<WatchedWord> words_;
};

/// Whether `i`, run by `wave` now, stays inside its workgroup: no global memory, no scratch (which
/// a snapshot does not hold), no clock.
[[nodiscard]] bool stays_in_workgroup(const Wave& wave, const Instruction& i);
/// The longest loop that is examined for being endless.
inline constexpr std::uint32_t kLongestSpin = 1 << 14;
/// The longest that is looked for early, in a workgroup that is not known to wait.
inline constexpr std::uint32_t kLongestPoll = 1 << 9;
/// A workgroup's first quantum where workgroups may wait for each other, and where they do.
inline constexpr std::uint64_t kFirstQuantum = 1 << 14, kShortQuantum = 1 << 10;
/// After so many turns of kQuantum a workgroup that was never seen to wait gives way as well: it
/// may wait in a way that is not recognised.
inline constexpr std::uint32_t kManyTurns = 64;

template <typename Observer>
Workgroup::Activity Workgroup::activity_of(Wave& wave, Observer& observer, std::uint32_t longest) {
  const WaveSnapshot before(wave);
  const Instruction* const start = wave.next;
  bool inside = true, changed = false;
  TouchedPlaces passes[2];
  for (TouchedPlaces& pass : passes) {
    std::uint32_t n = 0;
    do {
      if (++n > longest) return Activity::work;
      if (!stays_in_workgroup(wave, *wave.next)) {
        inside = false;
        pass.add(wave, *wave.next, passes[0]);
      }
      run_wave(wave, 1, observer);
      if (wave.stop == WaveStop::fault && request_.cooperative) arrive_at_grid_barrier(wave);
      if (wave.stop != WaveStop::running) return Activity::work;
    } while (wave.next != start);
    changed = !before.same(wave);
    if (inside) return changed ? Activity::work : Activity::endless;
  }
  // A loop that counts how often it looked changes its registers, but looks at the same places.
  const bool same_places = passes[0].same(passes[1]);
  if (changed && !(passes[0].any() && same_places)) return Activity::work;
  const std::vector<WatchedWord>& words = passes[1].words();
  all_watched_ = all_watched_ && same_places && !words.empty();
  watched_.insert(watched_.end(), words.begin(), words.end());
  return Activity::polling;
}

template <typename Observer>
Workgroup::Activity Workgroup::activity(Observer& observer, std::uint32_t longest) {
  Activity all = Activity::endless;
  watched_.clear();
  all_watched_ = true;
  for (Wave& wave : waves_) {
    if (wave.stop == WaveStop::grid_barrier) all = Activity::polling;
    if (wave.stop != WaveStop::running) continue;
    const Activity one = activity_of(wave, observer, longest);
    if (one == Activity::work) return one;
    if (one == Activity::polling) all = one;
  }
  return all;
}

template <typename Observer>
bool Workgroup::take_turn(Wave& wave, Observer& observer) {
  const std::uint64_t given = observer.quantum();
  const std::uint64_t quantum = std::min(given, quantum_);
  if (hostcalls_ == nullptr) {
    run_wave(wave, quantum, observer);
  } else {
    for (std::uint64_t done = 0; done < quantum && wave.stop == WaveStop::running;
         done += kHostcallQuantum) {
      run_wave(wave, std::min(kHostcallQuantum, quantum - done), observer);
      answer_calls(wave);
    }
  }
  if (wave.stop == WaveStop::fault && request_.cooperative) arrive_at_grid_barrier(wave);
  return wave.stop == WaveStop::running && given == kQuantum;
}

template <typename Observer>
std::optional<WorkgroupEnd> Workgroup::after_full_round(Observer& observer) {
  const Activity found = activity(observer, quantum_ < kQuantum ? kLongestPoll : kLongestSpin);
  for (const Wave& wave : waves_)
    if (wave.stop == WaveStop::fault) return WorkgroupEnd::fault;
  if (found == Activity::endless) return WorkgroupEnd::deadlock;
  if (residents_ == nullptr) return after_lonely_round(found);
  if (found == Activity::polling) {
    residents_->found_polling();
    if (!all_watched_) watched_.clear();
    quantum_ = kShortQuantum;
    return residents_->hopeless() ? WorkgroupEnd::deadlock : WorkgroupEnd::waiting;
  }
  residents_->progress();
  if (quantum_ < kQuantum) {
    quantum_ *= 2;
    return std::nullopt;
  }
  return residents_->polling() || ++long_turns_ >= kManyTurns ? std::optional(WorkgroupEnd::waiting)
                                                              : std::nullopt;
}

template <typename Observer>
WorkgroupEnd Workgroup::run(Observer& observer) {
  std::uint32_t ended = 0;
  watched_.clear();
  while (ended < wave_count_) {
    std::uint32_t waiting = 0, used_up = 0, running = 0, in_grid = 0;
    ended = 0;
    leave_grid_barrier();
    for (std::uint32_t turn = 0; turn < wave_count_; ++turn) {
      Wave& wave = waves_[observer.wave_in_turn(turn, wave_count_)];
      if (wave.stop == WaveStop::running) {
        ++running;
        used_up += take_turn(wave, observer);
      }
      if (wave.stop == WaveStop::fault) return WorkgroupEnd::fault;
      waiting += wave.stop == WaveStop::barrier;
      in_grid += wave.stop == WaveStop::grid_barrier;
      ended += wave.stop == WaveStop::ended;
    }
    // A barrier waits for every wave that has not ended.
    if (waiting != 0 && waiting + ended == wave_count_) {
      observer.barrier_opens(*this);
      for (Wave& wave : waves_)
        if (wave.stop == WaveStop::barrier) wave.stop = WaveStop::running;
    }
    if (stop_.load(std::memory_order_relaxed)) return WorkgroupEnd::cancelled;
    if (in_grid != 0 && running == 0) return WorkgroupEnd::waiting;
    if (running != 0 && used_up == running)
      if (const auto end = after_full_round(observer)) return *end;
  }
  return WorkgroupEnd::done;
}

}  // namespace margay
