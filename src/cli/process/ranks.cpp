// See ranks.h.
#include "cli/process/ranks.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include <fmt/format.h>

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

}  // namespace

Status start_workers(const Install& install, unsigned ranks, unsigned threads) {
  const std::filesystem::path program = install.prefix / "bin" / "margay-rank";
  std::error_code ignored;
  if (!std::filesystem::exists(program, ignored))
    return fail(ErrorCode::not_found, "the worker is not built", program.string(),
                install.repair());
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
