// Runs launches on the devices, one after another, under the active watchers. Safe to use from
// several threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "exec/device/device.h"
#include "runtime/base/work.h"
#include "runtime/device/devices.h"
#include "runtime/device/host_side.h"
#include "runtime/watch/modelled_times.h"
#include "runtime/watch/watch.h"

namespace margay::runtime {

class Launches {
 public:
  Launches(Devices& devices, Watchers& watchers, HostSide& host)
      : devices_(devices), watchers_(watchers), host_(host) {}

  /// Runs a launch, with the progress and statistics lines that the environment requests. A failure
  /// of the kernel itself is kept. `operation`: the launch's place in the order of streams, if that
  /// is tracked.
  [[nodiscard]] Outcome run(const LaunchRequest& request,
                            const std::shared_ptr<check::Operation>& operation);
  /// The same; if the kernel waits for the host, returns the continuation.
  [[nodiscard]] Answer<Work> start(const LaunchRequest& request,
                                   const std::shared_ptr<check::Operation>& operation);

  /// The modelled time of a launch that has run, if events are modelled.
  [[nodiscard]] std::optional<LaunchTime> time_of(const LaunchRequest& request) const {
    return modelled_.find(request, is_warm(devices_.event_time()));
  }
  [[nodiscard]] ModelledTimes& modelled() { return modelled_; }

  /// What launches are for.
  enum class Purpose : std::uint8_t {
    all,         ///< Their effect on memory, and their time.
    known_time,  ///< Their time, if it is known; else they are refused (hipErrorNotReady).
    time,        ///< Their time: a part of their workgroups runs if it is not known.
    memory,      ///< Their effect on memory: no clock advances.
  };
  /// Of launches from now on. With a watcher all launches are complete: false then.
  [[nodiscard]] bool set_purpose(Purpose purpose);
  [[nodiscard]] Purpose purpose() const { return purpose_.load(); }

  /// Sets `code` as that of the first failure, unless there was one.
  void keep_failure(hipError_t code);
  /// The code of the first kernel that failed while it ran, or hipSuccess.
  [[nodiscard]] hipError_t failure() const { return failure_.load(); }
  void forget_failure() { failure_.store(hipSuccess); }
  /// The code of a launch that an interrupt stopped, or hipSuccess: returned once, unless another
  /// launch has begun since.
  [[nodiscard]] hipError_t take_interrupted() { return interrupted_.exchange(hipSuccess); }

  /// Watches from now on; waits for a running launch, so that none is watched partially. An error
  /// while another watcher is active.
  template <typename Watcher>
  [[nodiscard]] Outcome begin_watching(std::shared_ptr<Watcher> watcher) {
    const std::lock_guard lock(mutex_);
    return watchers_.begin(std::move(watcher));
  }
  /// While it is held no launch begins; the findings of previous ones are complete.
  [[nodiscard]] std::unique_lock<std::mutex> paused() { return std::unique_lock(mutex_); }

  /// In the child of a fork().
  void begin_again();

 private:
  void begin(const LaunchRequest& request);
  [[nodiscard]] bool must_be_modelled(const LaunchRequest& request) const {
    return devices_.event_time() != EventTime::host && purpose_ != Purpose::memory &&
           !time_of(request);
  }
  /// One launch at a time.
  [[nodiscard]] Outcome run_alone(const LaunchRequest& request,
                                  const std::shared_ptr<check::Operation>& operation);
  /// For its time alone.
  [[nodiscard]] Outcome model_only(Device& device, const LaunchRequest& request, Purpose purpose);
  /// `interrupts_before`: their count when the launch began.
  [[nodiscard]] Outcome ended(const LaunchRequest& request, const Result<LaunchReport>& report,
                              std::uint64_t interrupts_before);

  Devices& devices_;
  Watchers& watchers_;
  HostSide& host_;
  ModelledTimes modelled_;
  std::mutex mutex_;  // launches run one after another; the progress line belongs to one
  std::atomic<unsigned> in_flight_ = 0;
  std::atomic<Purpose> purpose_ = Purpose::all;
  std::atomic<hipError_t> failure_ = hipSuccess;
  std::atomic<hipError_t> interrupted_ = hipSuccess;
};

}  // namespace margay::runtime
