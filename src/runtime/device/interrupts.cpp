// See interrupts.h.
#include "runtime/device/interrupts.h"

#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

#include "base/fork.h"

namespace margay::runtime {
namespace {

constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP};

/// Handlers may use no more than these.
sem_t wake;
std::atomic<std::uint64_t> interrupt_count = 0;
std::atomic<int> ending_signal = 0;
/// When it came, in milliseconds; another one so soon is the same request: `timeout` sends one to
/// the process that started this one, which passes it on, and one to the whole group.
std::atomic<std::int64_t> requested_at = 0;
constexpr std::int64_t kSameRequest = 500;
/// The program's own handling of SIGINT while ours replaces it. Written only while ours is not
/// installed.
struct sigaction program_action = {};

/// Everything else. Never destroyed: threads outlive main().
struct State {
  std::mutex mutex;
  std::function<void()> stop, finish;
  bool has_thread = false;
  unsigned launches = 0;  // StoppedByInterrupt objects
  bool in_front = false;  // of the program's handler
};
State& state() {
  static auto* const one = new State();
  return *one;
}

void stop_launches_too(int number, siginfo_t* info, void* context) {
  const int kept = errno;
  interrupt_count.fetch_add(1);
  sem_post(&wake);
  errno = kept;
  if ((program_action.sa_flags & SA_SIGINFO) != 0)
    program_action.sa_sigaction(number, info, context);
  else
    program_action.sa_handler(number);
}

std::int64_t milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // handlers may call it
  return now.tv_sec * std::int64_t{1000} + now.tv_nsec / 1'000'000;
}

void end_after_report(int number, siginfo_t*, void*) {
  const int kept = errno;
  interrupt_count.fetch_add(1);
  const std::int64_t now = milliseconds();
  std::int64_t first = 0;
  if (requested_at.compare_exchange_strong(first, now)) {
    ending_signal = number;
    sem_post(&wake);
  } else if (now - first > kSameRequest) {
    // Someone who asks a second time does not want to wait for the report.
    signal(number, SIG_DFL);
    raise(number);
  }
  errno = kept;
}

/// A thread waits for requests of the handlers: a handler must not lock a mutex.
void serve() {
  while (true) {
    while (sem_wait(&wake) != 0) {
    }
    std::function<void()> stop, finish;
    {
      const std::lock_guard lock(state().mutex);
      stop = state().stop;
      finish = state().finish;
    }
    if (stop) stop();
    const int number = ending_signal;
    if (number == 0) continue;
    if (finish) finish();
    signal(number, SIG_DFL);
    kill(getpid(), number);
  }
}

/// With the mutex held.
void need_thread() {
  if (std::exchange(state().has_thread, true)) return;
  sem_init(&wake, 0, 0);
  // Otherwise the system could run the program's handlers on it.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(serve).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool is_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

bool is_ours(const struct sigaction& action, void (*handler)(int, siginfo_t*, void*)) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == handler;
}

}  // namespace

void prepare_interrupts(std::function<void()> stop) {
  const std::lock_guard lock(state().mutex);
  if (!state().stop) state().stop = std::move(stop);
}

void end_watched_process_by_signals(std::function<void()> finish) {
  const std::lock_guard lock(state().mutex);
  if (state().finish) return;
  state().finish = std::move(finish);
  need_thread();
  for (const int number : kEnding) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0 || is_handler(action) ||
        action.sa_handler == SIG_IGN)
      continue;
    action.sa_sigaction = end_after_report;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(number, &action, nullptr);
  }
}

std::uint64_t interrupts() { return interrupt_count; }
bool is_ending() { return ending_signal != 0; }
void stay_if_ending() {
  while (is_ending()) pause();
}

StoppedByInterrupt::StoppedByInterrupt() {
  const std::lock_guard lock(state().mutex);
  if (state().launches++ != 0) return;
  struct sigaction action = {};
  if (sigaction(SIGINT, nullptr, &action) != 0 || !is_handler(action) ||
      is_ours(action, end_after_report) || is_ours(action, stop_launches_too))
    return;
  need_thread();
  program_action = action;
  action.sa_flags |= SA_SIGINFO;
  action.sa_sigaction = stop_launches_too;
  state().in_front = sigaction(SIGINT, &action, nullptr) == 0;
}

StoppedByInterrupt::~StoppedByInterrupt() {
  const std::lock_guard lock(state().mutex);
  // The child of a fork() from inside a launch has reset the count.
  if (state().launches == 0) return;
  if (--state().launches != 0) return;
  if (!std::exchange(state().in_front, false)) return;
  // Unless the program has chosen another one meanwhile.
  struct sigaction action = {};
  if (sigaction(SIGINT, nullptr, &action) == 0 && is_ours(action, stop_launches_too))
    sigaction(SIGINT, &program_action, nullptr);
}

void interrupts_after_fork() {
  State& one = state();
  begin_again_after_fork(one.mutex);
  if (std::exchange(one.in_front, false)) sigaction(SIGINT, &program_action, nullptr);
  one.launches = 0;
  ending_signal = 0;
  requested_at = 0;
  if (std::exchange(one.has_thread, false) && one.finish) {
    const std::lock_guard lock(one.mutex);
    need_thread();
  }
}

}  // namespace margay::runtime
