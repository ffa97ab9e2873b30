// How the workgroups of one launch wait for each other: at a grid-wide barrier, or for a flag in
// memory that another workgroup sets. As on the hardware, no more of them are resident at a time
// than fit on the compute units. device/resident_queue.h chooses the one that runs next.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "base/error.h"
#include "exec/workgroup/workgroup_source.h"

namespace margay {

/// How long all workgroups of a launch that runs alone may only repeat themselves.
inline constexpr std::chrono::seconds kStuckPatience{6};

/// The barrier of a cooperative launch (ds_gws_barrier, one work-item of each workgroup).
class GridBarrier {
 public:
  explicit GridBarrier(std::uint64_t workgroups) : workgroups_(workgroups) {}

  /// One of `count` has arrived; returns the phase that must end before it continues.
  [[nodiscard]] std::uint64_t arrive(std::uint64_t count);
  [[nodiscard]] bool open(std::uint64_t phase) const {
    return phase_.load(std::memory_order_acquire) != phase;
  }
  /// A workgroup has ended.
  void leave();
  /// The number of workgroups that ended without reaching the barrier at which all others wait, or
  /// 0.
  [[nodiscard]] std::uint64_t missing() const { return missing_.load(std::memory_order_relaxed); }

 private:
  void look_for_missing();

  const std::uint64_t workgroups_;
  std::mutex mutex_;
  std::uint64_t arrived_ = 0, ended_ = 0;
  std::atomic<std::uint64_t> phase_{0}, missing_{0};
};

class Residents {
 public:
  /// The properties of a launch that decide what it may wait for.
  struct Company {
    /// No other launch runs at the same time, and the host waits for it: it is observed. Then it
    /// times out, and new workgroups are begun only when the others wait.
    bool alone = false;
    /// The time limit for polling memory that might still change in that case.
    std::chrono::milliseconds patience = std::chrono::milliseconds::max();
    /// Chooses the workgroups that run here; null: all of them, in order.
    WorkgroupSource* source = nullptr;
  };
  /// A launch of `workgroups`, at most `limit` of which are resident at a time.
  Residents(std::uint64_t workgroups, std::uint64_t limit, Company company);
  Residents(const Residents&) = delete;
  Residents& operator=(const Residents&) = delete;

  /// Takes the number of the next workgroup to begin; workgroups() or more when all have begun.
  [[nodiscard]] std::uint64_t begin() {
    const std::uint64_t count = next_.fetch_add(1, std::memory_order_relaxed);
    if (company_.source == nullptr) [[likely]]
      return count;
    const std::uint64_t id = company_.source->next();
    if (id >= workgroups_) next_.store(workgroups_, std::memory_order_relaxed);
    return id;
  }
  /// Whether another one may begin in addition to the resident ones.
  [[nodiscard]] bool has_room() const {
    return begun() < workgroups_ && begun() - ended_.load() < limit_;
  }
  /// A workgroup has ended.
  void end();

  /// See Company::alone.
  [[nodiscard]] bool alone() const { return company_.alone; }
  [[nodiscard]] GridBarrier& barrier() { return barrier_; }
  /// Whether a wave was seen waiting for memory to change. From then on turns are short.
  [[nodiscard]] bool polling() const { return polling_.load(std::memory_order_relaxed); }
  void found_polling() { polling_.store(true, std::memory_order_relaxed); }
  /// Called when all of a workgroup's waves wait for memory to change; `stuck`: and nothing else
  /// changes meanwhile, not even a count of polls. True when all resident workgroups have been
  /// waiting for a long time and some have not begun. If all have begun, only_host_can_help()
  /// becomes true after a short time; a launch that runs alone is given up.
  [[nodiscard]] bool hopeless(bool stuck);
  /// After hopeless(): the memory waited for was never changed.
  [[nodiscard]] bool gave_up() const { return gave_up_.load(std::memory_order_relaxed); }
  /// Whether all remaining workgroups wait for memory that only the host, or another launch, can
  /// change.
  [[nodiscard]] bool only_host_can_help() const {
    return only_host_can_help_.load(std::memory_order_relaxed);
  }
  /// Called when a workgroup did something other than wait.
  void progress() {
    polls_.store(0, std::memory_order_relaxed);
    only_host_can_help_.store(false, std::memory_order_relaxed);
  }
  /// After hopeless(): how many workgroups had not begun; else 0.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_.load(); }
  [[nodiscard]] std::uint64_t missing_at_barrier() const { return barrier_.missing(); }
  [[nodiscard]] std::uint64_t begun() const { return std::min(next_.load(), workgroups_); }
  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  [[nodiscard]] std::uint64_t workgroups() const { return workgroups_; }

 private:
  using Clock = std::chrono::steady_clock;

  /// Every slot is occupied, and some workgroups have not begun.
  [[nodiscard]] bool crowded() const;

  const std::uint64_t workgroups_, limit_;
  const Company company_;
  GridBarrier barrier_;
  std::atomic<bool> polling_{false};
  std::atomic<std::uint64_t> next_{0};   // to begin
  std::atomic<std::uint64_t> polls_{0};  // since something else happened
  std::atomic<std::uint64_t> ended_{0};
  std::atomic<std::uint64_t> left_out_{0};
  std::atomic<bool> only_host_can_help_{false}, gave_up_{false};
  std::mutex mutex_;
  bool all_stuck_ = true;  // since first_poll_
  Clock::time_point first_poll_;
};

}  // namespace margay
