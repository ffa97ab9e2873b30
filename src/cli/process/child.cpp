// See child.h.
#include "cli/process/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "cli/process/start.h"

namespace margay::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Signals that are forwarded to the program that does the work.
constexpr std::array kPassedOn = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

std::atomic<pid_t> signal_target = 0;

/// The terminal's signals reach the child by themselves: they have a si_code above 0.
void pass_on(int number, siginfo_t* info, void*) {
  const pid_t target = signal_target;
  if (target > 0 && info->si_code <= 0) kill(target, number);
}

/// Forwards signals to the child while it lives.
class SignalsToChild {
 public:
  SignalsToChild() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : kPassedOn) sigaddset(&set, number);
    // Until there is a child, they wait.
    pthread_sigmask(SIG_BLOCK, &set, &mask_);
    struct sigaction action = {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (std::size_t i = 0; i < kPassedOn.size(); ++i) {
      sigaction(kPassedOn[i], &action, &before_[i]);
    }
  }
  SignalsToChild(const SignalsToChild&) = delete;
  SignalsToChild& operator=(const SignalsToChild&) = delete;
  ~SignalsToChild() {
    signal_target = 0;
    for (std::size_t i = 0; i < kPassedOn.size(); ++i) {
      sigaction(kPassedOn[i], &before_[i], nullptr);
    }
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  void begin(pid_t child) {
    signal_target = child;
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  [[nodiscard]] const sigset_t& mask() const { return mask_; }

 private:
  sigset_t mask_ = {};
  std::array<struct sigaction, kPassedOn.size()> before_ = {};
};

/// Our environment with the plan's variables in place of those of the same name.
std::vector<std::string> environment_of(const ChildPlan& plan) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced = std::ranges::any_of(
        plan.environment, [&](const auto& added) { return added.first == name; });
    if (!replaced) variables.emplace_back(text);
  }
  for (const auto& [name, value] : plan.environment) {
    variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

Result<pid_t> spawn(const ChildPlan& plan, const sigset_t* mask) {
  std::vector<std::string> words = plan.command;
  std::vector<std::string> variables = environment_of(plan);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  int flags = 0;
  if (plan.silent) {
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  if (plan.error_output >= 0)
    posix_spawn_file_actions_adddup2(&files, plan.error_output, STDERR_FILENO);
  if (plan.limit) {
    posix_spawnattr_setpgroup(&attributes, 0);
    flags |= POSIX_SPAWN_SETPGROUP;
  }
  if (mask != nullptr) {
    posix_spawnattr_setsigmask(&attributes, mask);
    flags |= POSIX_SPAWN_SETSIGMASK;
  }
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
  pid_t child = 0;
  const int number = posix_spawnp(&child, words[0].c_str(), &files, &attributes,
                                  pointers_to(words).data(), pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (number != 0) return std::unexpected(cannot_start(plan.command[0], number));
  return child;
}

ChildEnd end_of(int status, Clock::time_point begin) {
  ChildEnd end;
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  end.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return end;
}

/// Polls: sufficient for a limit in seconds.
ChildEnd wait_with_limit(pid_t child, const ChildPlan& plan, Clock::time_point begin) {
  constexpr std::chrono::milliseconds kInterval(5);
  bool killed = false;
  bool timed_out = false;
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) {
      // Its remaining child processes are killed too.
      kill(-child, SIGKILL);
      ChildEnd end = end_of(status, begin);
      end.timed_out = timed_out;
      return end;
    }
    const bool stop = plan.stop != nullptr && *plan.stop;
    const bool late = Clock::now() - begin > *plan.limit;
    if (!killed && (stop || late)) {
      timed_out = late;
      killed = true;
      kill(-child, SIGKILL);
    }
    std::this_thread::sleep_for(kInterval);
  }
}

}  // namespace

Result<ChildEnd> run_child(const ChildPlan& plan) {
  const Clock::time_point begin = Clock::now();
  if (plan.limit) {
    const pid_t child = MARGAY_TRY(spawn(plan, nullptr));
    return wait_with_limit(child, plan, begin);
  }
  SignalsToChild signals;
  const pid_t child = MARGAY_TRY(spawn(plan, &signals.mask()));
  signals.begin(child);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return fail(ErrorCode::system,
                  fmt::format("waiting for {} failed: {}", plan.command[0], std::strerror(errno)));
    }
  }
  return end_of(status, begin);
}

std::string signal_text(int signal) {
  const char* description = sigdescr_np(signal);
  return description == nullptr ? fmt::format("signal {}", signal)
                                : fmt::format("signal {} ({})", signal, description);
}

}  // namespace margay::cli
