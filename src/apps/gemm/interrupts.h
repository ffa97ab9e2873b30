// Ctrl-C during `margay gemm`: the launch is stopped, and the job says how far it got.
#pragma once

#include <signal.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

namespace margay::gemm {

/// Takes SIGINT, SIGTERM and SIGHUP from its construction on, in a thread of its own that waits for
/// them: a launch cannot be stopped from a signal handler. To be made before any other thread, so
/// that none of them takes the signal first. Signals that the process ignores stay ignored.
class Interrupts {
 public:
  /// `elsewhere` is called where a signal comes and no launch runs; the process ends after it.
  explicit Interrupts(std::function<void(int number)> elsewhere);
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts();

  /// While this lives, a signal calls `stop`, again and again until the launch has ended: one that
  /// is about to begin is not reached yet.
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
  std::mutex mutex_;  // of what follows
  std::function<void()> stop_;
  std::thread thread_;
};

}  // namespace margay::gemm
