#include "exec/workgroup/residents.h"

#include <algorithm>

namespace margay {

std::uint64_t GridBarrier::arrive(std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t phase = phase_.load(std::memory_order_relaxed);
  if (++arrived_ >= count) {
    arrived_ = 0;
    phase_.store(phase + 1, std::memory_order_release);
  }
  look_for_missing();
  return phase;
}

void GridBarrier::leave() {
  const std::lock_guard lock(mutex_);
  ++ended_;
  look_for_missing();
}

void GridBarrier::look_for_missing() {
  // Once set it stays set: the workgroups that give up because of it end as well.
  if (missing_ == 0 && arrived_ != 0 && arrived_ + ended_ >= workgroups_) missing_ = ended_;
}

Residents::Residents(std::uint64_t workgroups, std::uint64_t limit, Company company)
    : workgroups_(workgroups), limit_(limit), company_(company), barrier_(workgroups) {}

void Residents::end() {
  ++ended_;
  barrier_.leave();
  progress();
}

bool Residents::crowded() const {
  return begun() < workgroups_ && begun() - ended_.load() >= limit_;
}

bool Residents::hopeless(bool stuck) {
  constexpr std::chrono::milliseconds kPatience{2000}, kShortPatience{20};
  const bool all_begun = begun() == workgroups_;
  if (!all_begun && !crowded()) return false;
  const std::lock_guard lock(mutex_);
  if (polls_++ == 0) {
    first_poll_ = Clock::now();
    all_stuck_ = true;
  }
  all_stuck_ = all_stuck_ && stuck;
  const std::uint64_t waiting = all_begun ? workgroups_ - ended_.load() : limit_;
  const auto waited = Clock::now() - first_poll_;
  if (polls_ <= 4 * waiting || waited <= (all_begun ? kShortPatience : kPatience)) return false;
  if (!all_begun) {
    left_out_ = workgroups_ - begun();
    return true;
  }
  only_host_can_help_ = true;
  // Those that only count their polls may do something else eventually.
  if (company_.alone &&
      waited > (all_stuck_ ? std::min<Clock::duration>(kStuckPatience, company_.patience)
                           : Clock::duration(company_.patience)))
    gave_up_ = true;
  return gave_up();
}

}  // namespace margay
