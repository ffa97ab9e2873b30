// See ranks.h.
#include "cli/process/ranks.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ranks/rendezvous.h"
#include "ranks/wire.h"

namespace margay::cli {
namespace {

void keep_over_exec(int descriptor) { (void)fcntl(descriptor, F_SETFD, 0); }

/// A process that is not this one's child, so that the program's wait() does not meet it, and not
/// of the terminal's group, so that Ctrl-C does not reach it.
Status start_apart(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return fail(ErrorCode::system, "a worker could not be started");
  if (child == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  waitpid(child, nullptr, 0);
  return {};
}

/// Where the worker's program is.
Result<std::filesystem::path> worker_program(const Install& install) {
  const std::filesystem::path program = install.prefix / "bin" / "margay-rank";
  std::error_code ignored;
  if (!std::filesystem::exists(program, ignored))
    return fail(ErrorCode::not_found, "the worker is not built", program.string(),
                install.repair());
  return program;
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "a host";
}

std::string listed(const std::vector<unsigned>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

/// Calls `work` in a process that is not the launcher's, and waits for it: if it is lost, the run
/// goes on, where launchers would end it.
Status in_own_process(const Launcher& launcher, const std::string& host,
                      const std::function<int()>& work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return fail(ErrorCode::system, "a worker could not be started");
  if (child == 0) {
    setsid();
    const int code = work();
    std::fflush(nullptr);
    _exit(code);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    fmt::print(stderr, "margay: rank {} ({}) was ended by signal {}; the run goes on without it\n",
               launcher.rank, host, WTERMSIG(status));
  return {};
}

}  // namespace

unsigned threads_of_rank(const Launcher& launcher) {
  cpu_set_t allowed;
  const unsigned all = std::max(1u, std::thread::hardware_concurrency());
  const unsigned bound = sched_getaffinity(0, sizeof allowed, &allowed) == 0
                             ? static_cast<unsigned>(CPU_COUNT(&allowed))
                             : all;
  const auto online = static_cast<unsigned>(std::max(1l, sysconf(_SC_NPROCESSORS_ONLN)));
  if (bound < online) return std::max(1u, bound);
  return std::max(1u, online / std::max(1u, launcher.on_this_host));
}

Result<std::vector<ranks::Joined>> gather_ranks(const Launcher& launcher, const std::string& key) {
  const ranks::Meeting meeting{MARGAY_TRY(launcher.meeting_file()),
                               MARGAY_TRY(Launcher::patience())};
  std::vector<ranks::Joined> others =
      MARGAY_TRY(ranks::gather(meeting, key, launcher.ranks, [](const std::string& sentence) {
        fmt::print(stderr, "margay: rank 0 {}\n", sentence);
      }));
  std::vector<unsigned> missing;
  for (unsigned rank = 1; rank < launcher.ranks; ++rank)
    if (std::ranges::find(others, rank, &ranks::Joined::rank) == others.end())
      missing.push_back(rank);
  if (!missing.empty())
    fmt::print(stderr, "margay: {} did not come within {} s; the run goes on without\n",
               listed(missing),
               std::chrono::duration_cast<std::chrono::seconds>(meeting.patience).count());
  return others;
}

Result<std::string> join_rank_0(const Launcher& launcher, const ranks::Listener& listener) {
  const ranks::Meeting meeting{MARGAY_TRY(launcher.meeting_file()),
                               MARGAY_TRY(Launcher::patience())};
  return ranks::join(meeting, launcher.rank, host_name(), listener);
}

Status serve_rank_0(const Launcher& launcher, std::atomic<bool>& stop, const Serve& serve) {
  const ranks::Listener listener = MARGAY_TRY(ranks::listen_on_tcp("here"));
  const std::string key = MARGAY_TRY(join_rank_0(launcher, listener));
  auto owner = MARGAY_TRY(ranks::accept_from(listener.socket, key));
  if (owner.second != ranks::Role::owner)
    return fail(ErrorCode::system, "rank 0 began with something else");
  return in_own_process(launcher, host_name(), [&] {
    std::vector<std::jthread> threads;
    // Owners say nothing: what can be read is the end.
    while (!owner.first.is_readable(std::chrono::milliseconds(0))) {
      if (!listener.socket.is_readable(std::chrono::milliseconds(200))) continue;
      if (auto caller = ranks::accept_from(listener.socket, key))
        threads.emplace_back([&serve, connection = std::move(caller->first)]() mutable {
          serve(std::move(connection));
        });
    }
    stop = true;
    threads.clear();
    return 0;
  });
}

Status lead(const Launcher& launcher, unsigned threads) {
  const std::string key = MARGAY_TRY(ranks::new_key());
  std::vector<ranks::Joined> others = MARGAY_TRY(gather_ranks(launcher, key));
  std::string addresses;
  for (ranks::Joined& joined : others) {
    addresses += (addresses.empty() ? "" : ",") + joined.address;
    keep_over_exec(joined.owner.release());
  }
  setenv("MARGAY_RANKS_KEY", key.c_str(), 1);
  setenv("MARGAY_RANKS", addresses.c_str(), 1);
  if (threads == 0) setenv("MARGAY_THREADS", std::to_string(threads_of_rank(launcher)).c_str(), 1);
  return {};
}

Result<int> work_for_rank_0(const Install& install, const Launcher& launcher, unsigned threads) {
  const std::filesystem::path program = MARGAY_TRY(worker_program(install));
  const ranks::Listener listener = MARGAY_TRY(ranks::listen_on_tcp("here"));
  keep_over_exec(listener.socket.descriptor());
  const std::string name = host_name();
  const std::string key = MARGAY_TRY(join_rank_0(launcher, listener));
  setenv("MARGAY_RANKS_KEY", key.c_str(), 1);
  MARGAY_CHECK(in_own_process(launcher, name, [&] {
    const std::string descriptor = std::to_string(listener.socket.descriptor());
    const std::string count = std::to_string(threads != 0 ? threads : threads_of_rank(launcher));
    execl(program.c_str(), program.c_str(), descriptor.c_str(), count.c_str(), name.c_str(),
          nullptr);
    return 127;
  }));
  return 0;
}

Result<std::optional<int>> share_launches(const Install& install, std::optional<unsigned> ranks,
                                          unsigned threads) {
  const auto launched = launcher();
  if (!launched || ranks == 1) {
    if (ranks.value_or(1) > 1) MARGAY_CHECK(start_workers(install, *ranks, threads));
    return std::nullopt;
  }
  if (ranks)
    return fail(ErrorCode::invalid_argument,
                fmt::format("--ranks {} where {} has started {} ranks already", *ranks,
                            launched->name, launched->ranks),
                {}, "leave out --ranks; --ranks 1 makes each rank a run of its own");
  if (launched->rank != 0) return MARGAY_TRY(work_for_rank_0(install, *launched, threads));
  MARGAY_CHECK(lead(*launched, threads));
  return std::nullopt;
}

Status start_workers(const Install& install, unsigned ranks, unsigned threads) {
  const std::filesystem::path program = MARGAY_TRY(worker_program(install));
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency() / ranks);
  const std::string key = MARGAY_TRY(ranks::new_key());
  setenv("MARGAY_RANKS_KEY", key.c_str(), 1);
  setenv("MARGAY_THREADS", std::to_string(threads).c_str(), 1);
  std::string addresses;
  for (unsigned rank = 1; rank < ranks; ++rank) {
    const ranks::Listener listener = MARGAY_TRY(ranks::listen_on_path(
        fmt::format("@margay-rank-{}-{}-{}", getpid(), rank, key.substr(0, 8))));
    keep_over_exec(listener.socket.descriptor());
    MARGAY_CHECK(start_apart({program.string(), std::to_string(listener.socket.descriptor()),
                              std::to_string(threads), "this machine"}));
    // As long as this is open the worker serves.
    ranks::Connection owner =
        MARGAY_TRY(ranks::connect_to(listener.address, ranks::Role::owner, key));
    keep_over_exec(owner.release());
    addresses += (addresses.empty() ? "" : ",") + listener.address;
  }
  setenv("MARGAY_RANKS", addresses.c_str(), 1);
  return {};
}

}  // namespace margay::cli
