// The implementation of Workgroup::run, for its callers.
#pragma once

#include <algorithm>
#include <concepts>

#include "exec/workgroup/workgroup.h"

namespace margay {

template <typename Observer>
Workgroup::Activity Workgroup::activity_of(Wave& wave, Observer& observer, std::uint32_t longest) {
  const Snapshot before({&wave, 1});
  const Instruction* const start = wave.next;
  bool changed = false;
  TouchedPlaces passes[2];
  for (TouchedPlaces& pass : passes) {
    PlaceRecorder recorder(observer, pass, passes[0]);
    std::uint32_t n = 0;
    do {
      if (++n > longest) return Activity::work;
      run_wave(wave, 1, recorder);
      if (wave.stop == WaveStop::fault && request_.cooperative) arrive_at_grid_barrier(wave);
      if (wave.stop != WaveStop::running) return Activity::work;
    } while (wave.next != start);
    changed = !before.same({&wave, 1});
    if (!recorder.left()) return changed ? Activity::work : Activity::endless;
  }
  // A loop that counts its polls changes its registers, but polls the same addresses.
  const bool same_places = passes[0].same(passes[1]);
  if (changed && !(passes[0].any() && same_places)) return Activity::work;
  const std::vector<WatchedWord>& words = passes[1].words();
  all_watched_ = all_watched_ && same_places && !words.empty();
  watched_.insert(watched_.end(), words.begin(), words.end());
  return changed ? Activity::polling : Activity::stuck;
}

template <typename Observer>
Workgroup::Activity Workgroup::activity(Observer& observer, std::uint32_t longest) {
  Activity all = Activity::endless;
  watched_.clear();
  all_watched_ = true;
  for (Wave& wave : waves_) {
    if (wave.stop == WaveStop::grid_barrier) all = std::min(all, Activity::polling);
    if (wave.stop != WaveStop::running) continue;
    all = std::min(all, activity_of(wave, observer, longest));
    if (all == Activity::work) break;
  }
  return all;
}

template <typename Observer>
Workgroup::Activity Workgroup::activity_across_barriers(Observer& observer, std::uint32_t longest) {
  watched_.clear();
  all_watched_ = true;
  std::vector<const Instruction*> positions;
  for (const Wave& wave : waves_) positions.push_back(wave.next);
  std::optional<Snapshot> before;
  TouchedPlaces passes[2];
  for (TouchedPlaces& pass : passes) {
    // Most loops do not access the same addresses twice: that is checked without a snapshot.
    if (&pass == &passes[1]) before.emplace(waves_);
    PlaceRecorder recorder(observer, pass, passes[0]);
    std::uint64_t executed = 0;
    bool came_back = false;
    while (!came_back) {
      const Round round = take_round(recorder);
      executed += round.executed;
      if (round.fault || round.ended != 0 || round.in_grid != 0) return Activity::work;
      if (executed > std::uint64_t{longest} * wave_count_) return Activity::work;
      came_back = round.opened && std::ranges::equal(waves_, positions, {}, &Wave::next);
    }
    if (&pass == &passes[0]) continue;
    if (!passes[0].same(passes[1]) || !before->same(waves_)) return Activity::work;
    if (!recorder.left()) return Activity::endless;
  }
  const std::vector<WatchedWord>& words = passes[1].words();
  all_watched_ = !words.empty();
  watched_ = words;
  return Activity::stuck;
}

template <typename Observer>
void Workgroup::catch_up(std::span<const std::uint64_t> before, Observer& observer) {
  std::uint64_t most = 0;
  for (std::size_t n = 0; n < waves_.size(); ++n)
    most = std::max(most, waves_[n].instructions - before[n]);
  for (std::size_t n = 0; n < waves_.size(); ++n)
    if (const std::uint64_t done = waves_[n].instructions - before[n];
        waves_[n].stop == WaveStop::running && done < most)
      take_turn(waves_[n], most - done, observer);
}

template <typename Observer>
void Workgroup::take_turn(Wave& wave, std::uint64_t turn, Observer& observer) {
  // Observers have long turns and slow instructions.
  const std::uint64_t part = hostcalls_ == nullptr ? kTurnAlone : kHostcallQuantum;
  for (std::uint64_t done = 0;
       done < turn && wave.stop == WaveStop::running && !stop_.load(std::memory_order_relaxed);
       done += part) {
    const std::uint64_t before = wave.instructions;
    run_wave(wave, std::min(part, turn - done), observer);
    if (hostcalls_ != nullptr) answer_calls(wave);
    since_heartbeat_ += wave.instructions - before;
    if (since_heartbeat_ >= (Observer::kEnabled ? kTurnAlone : kHeartbeat)) {
      since_heartbeat_ = 0;
      if (company_.heartbeat) company_.heartbeat(*this);
    }
  }
  if (wave.stop == WaveStop::fault && request_.cooperative) arrive_at_grid_barrier(wave);
}

template <typename Observer>
Workgroup::Round Workgroup::take_round(Observer& observer) {
  Round round;
  std::uint32_t waiting = 0;
  leave_grid_barrier();
  for (std::uint32_t n = 0; n < wave_count_; ++n) {
    Wave& wave = waves_[observer.wave_in_turn(n, wave_count_)];
    if (wave.stop == WaveStop::running) {
      ++round.running;
      std::uint64_t turn = observer.quantum();
      if (wave_count_ == 1) turn = std::max(turn, kTurnAlone);
      const std::uint64_t before = wave.instructions;
      take_turn(wave, turn, observer);
      const std::uint64_t executed = wave.instructions - before;
      round.executed += executed;
      if (wave.stop == WaveStop::running)
        round.least = std::min(round.least, executed);
      else
        round.stopped = true;
    }
    if (wave.stop == WaveStop::fault) {
      round.fault = true;
      return round;
    }
    waiting += wave.stop == WaveStop::barrier;
    round.in_grid += wave.stop == WaveStop::grid_barrier;
    round.ended += wave.stop == WaveStop::ended;
  }
  // A barrier waits for every wave that has not ended.
  if (waiting != 0 && waiting + round.ended == wave_count_) {
    observer.barrier_opens(*this);
    for (Wave& wave : waves_)
      if (wave.stop == WaveStop::barrier) wave.stop = WaveStop::running;
    round.opened = true;
  }
  return round;
}

template <typename Observer>
std::optional<WorkgroupEnd> Workgroup::look_after(const Round& round, Observer& observer) {
  if (round.running == 0) return std::nullopt;
  across_barriers_ += round.executed / wave_count_;
  unstopped_ = round.stopped ? 0 : unstopped_ + round.least;

  const bool repeats = unstopped_ >= quantum_;
  if (!repeats && !(round.opened && round.ended == 0 && across_barriers_ >= barrier_quantum_))
    return std::nullopt;
  if (repeats) observer.time_passes();
  // Observed instructions, and single ones, are not deferred.
  state_.gives_way = false;
  Activity found;
  if (repeats) {
    unstopped_ = 0;
    std::vector<std::uint64_t> before;
    for (const Wave& wave : waves_) before.push_back(wave.instructions);
    found = activity(observer, quantum_ < kQuantum ? kLongestPoll : kLongestSpin);
    if (found == Activity::work) catch_up(before, observer);
  } else {
    across_barriers_ = 0;
    found = activity_across_barriers(observer, kLongestBarrierPoll);
    if (found == Activity::work) {
      barrier_quantum_ = std::min(2 * barrier_quantum_, kQuantum);
      if (residents_ != nullptr) residents_->progress();
    }
  }
  state_.gives_way = !Observer::kEnabled && wave_count_ > 1;
  state_.observed = Observer::kSeesEach;
  for (const Wave& wave : waves_)
    if (wave.stop == WaveStop::fault) return WorkgroupEnd::fault;
  if (repeats || found != Activity::work) return after(found);
  return std::nullopt;
}

template <typename Observer>
WorkgroupEnd Workgroup::run(Observer& observer) {
  watched_.clear();
  state_.gives_way = !Observer::kEnabled && wave_count_ > 1;
  state_.observed = Observer::kSeesEach;
  while (true) {
    const Round round = take_round(observer);
    if (round.fault) return WorkgroupEnd::fault;
    if (round.ended == wave_count_) return WorkgroupEnd::done;
    if (stop_.load(std::memory_order_relaxed)) return WorkgroupEnd::cancelled;
    if (round.in_grid != 0 && round.running == 0) return WorkgroupEnd::waiting;
    if (const auto end = look_after(round, observer)) return *end;
  }
}

}  // namespace margay
