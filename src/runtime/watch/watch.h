// The watchers of launches: the checker, the profiler, both or none.
#pragma once

#include <atomic>
#include <memory>

#include "exec/device/device.h"
#include "runtime/base/errors.h"
#include "runtime/base/settings.h"
#include "runtime/watch/is_registered.h"

namespace margay::check {
struct Operation;
}

namespace margay::runtime {

// Most of the runtime hands watchers on without calling them, and does not need what these include.
class Checking;   // checking.h
class Profiling;  // profiling.h

struct Watch {
  std::shared_ptr<Checking> checking;
  std::shared_ptr<Profiling> profiling;

  /// The watchers that the environment requests.
  [[nodiscard]] static Answer<Watch> create(const Settings& settings,
                                            IsRegistered is_registered = {});
  [[nodiscard]] bool any() const { return checking != nullptr || profiling != nullptr; }
  /// `operation`: what the launch is in the order of streams, if that is followed. `beside`:
  /// another observer of the launch, or null.
  [[nodiscard]] Result<LaunchReport> launch(
      Device& device, const LaunchRequest& request,
      const std::shared_ptr<check::Operation>& operation = nullptr,
      LaunchObserver* beside = nullptr) const;
  /// The end of the process: writes the reports. `memory`, if given, is checked for leaks.
  void finish(Memory* memory) const;
};

/// The current watcher of this process's launches. Thread-safe.
class Watchers {
 public:
  [[nodiscard]] std::shared_ptr<Checking> checking() const { return checking_.load(); }
  /// The checker, if it tracks the order of streams.
  [[nodiscard]] std::shared_ptr<Checking> follower() const;
  [[nodiscard]] std::shared_ptr<Profiling> profiling() const { return profiling_.load(); }
  /// Those of the next launch.
  [[nodiscard]] Watch all() const {
    return {checking(), left_out_ == 0 ? profiling() : std::shared_ptr<Profiling>{}};
  }

  /// Leaves the launches between out of the profile; the checker sees them.
  void begin_to_leave_out() { ++left_out_; }
  void end_to_leave_out() { --left_out_; }

  /// Ends what the environment requested; a section that the program began itself continues.
  void set(const Watch& watch);
  /// An error while one is in progress.
  [[nodiscard]] Outcome begin(std::shared_ptr<Checking> checking);
  [[nodiscard]] Outcome begin(std::shared_ptr<Profiling> profiling);
  [[nodiscard]] std::shared_ptr<Checking> end_checking() { return checking_.exchange(nullptr); }
  [[nodiscard]] std::shared_ptr<Profiling> end_profiling() { return profiling_.exchange(nullptr); }
  [[nodiscard]] Watch end_all() { return {end_checking(), end_profiling()}; }

  /// In the child after fork(): previous findings are reported by the parent.
  void begin_again();

 private:
  std::atomic<std::shared_ptr<Checking>> checking_;
  std::atomic<std::shared_ptr<Profiling>> profiling_;
  std::atomic<int> left_out_ = 0;  // sections that leave launches out, of all threads
};

}  // namespace margay::runtime
