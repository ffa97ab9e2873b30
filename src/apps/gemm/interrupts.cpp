// See interrupts.h.
#include "apps/gemm/interrupts.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace margay::gemm {

Interrupts::Interrupts(std::function<void(int number)> elsewhere)
    : elsewhere_(std::move(elsewhere)) {
  sigemptyset(&signals_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    // A blocked signal would be delivered to sigwait() though it is ignored.
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset(&signals_, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::thread([this] { serve(); });
}

Interrupts::~Interrupts() {
  over_ = true;
  thread_.join();
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

void Interrupts::serve() {
  constexpr timespec kLook{.tv_sec = 0, .tv_nsec = 20'000'000};
  while (!over_) {
    const int number = sigtimedwait(&signals_, nullptr, &kLook);
    const bool came = number > 0;
    // A second signal ends the process at once.
    if (came && number_ != 0) _exit(128 + number);
    if (!came && number_ == 0) continue;
    const std::lock_guard lock(mutex_);
    if (came && !stop_) {
      elsewhere_(number);
      _exit(128 + number);
    }
    if (came) number_ = number;
    if (stop_) stop_();
  }
}

Interrupts::DuringLaunch::DuringLaunch(Interrupts& interrupts, std::function<void()> stop)
    : interrupts_(interrupts) {
  const std::lock_guard lock(interrupts_.mutex_);
  interrupts_.stop_ = std::move(stop);
}

Interrupts::DuringLaunch::~DuringLaunch() {
  const std::lock_guard lock(interrupts_.mutex_);
  interrupts_.stop_ = nullptr;
}

}  // namespace margay::gemm
