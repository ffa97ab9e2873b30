// Ctrl-C during `margay gemm`: the launch is stopped, and the job reports its progress.
#pragma once

#include <signal.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

namespace margay::gemm {

/// Handles SIGINT, SIGTERM and SIGHUP from its construction on, in a separate thread that waits for
/// them: a launch cannot be stopped from a signal handler. Must be created before any other thread,
/// so that no other thread receives the signal. Signals that the process ignores stay ignored.
class Interrupts {
 public:
  /// `elsewhere` is called if a signal arrives while no launch runs; the process ends after it.
  explicit Interrupts(std::function<void(int number)> elsewhere);
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts();

  /// During its lifetime, a signal calls `stop` repeatedly until the launch has ended: one that is
  /// about to begin is not stopped by the first call.
  class DuringLaunch {
   public:
    DuringLaunch(Interrupts& interrupts, std::function<void()> stop);
    DuringLaunch(const DuringLaunch&) = delete;
    DuringLaunch& operator=(const DuringLaunch&) = delete;
    ~DuringLaunch();

   private:
    Interrupts& interrupts_;
  };

  /// The signal that stopped a launch; 0: none.
  [[nodiscard]] int number() const { return number_; }

 private:
  void serve();

  const std::function<void(int number)> elsewhere_;
  sigset_t signals_ = {};
  std::atomic<int> number_ = 0;
  std::atomic<bool> over_ = false;
  std::mutex mutex_;  // of the members below
  std::function<void()> stop_;
  std::thread thread_;
};

}  // namespace margay::gemm
