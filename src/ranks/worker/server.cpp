#include "ranks/worker/server.h"

#include <poll.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <utility>
#include <vector>

#include "ranks/worker/worker.h"

namespace margay::ranks {
namespace {

using Clock = std::chrono::steady_clock;

class Server {
 public:
  explicit Server(const ServerOptions& options)
      : options_(options), listener_(options.descriptor) {}
  ~Server() {
    for (const pid_t child : children_) kill(child, SIGKILL);
    // The descriptor belongs to the caller.
    (void)listener_.release();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] Status run() {
    constexpr std::chrono::seconds kPatience{60};
    const auto started = Clock::now();
    bool had_owner = false;
    while (had_owner ? !owners_.empty() : Clock::now() - started < kPatience) {
      std::vector<pollfd> watched = {{listener_.descriptor(), POLLIN, 0}};
      for (const Connection& owner : owners_) watched.push_back({owner.descriptor(), POLLIN, 0});
      if (poll(watched.data(), watched.size(), 1000) < 0) continue;
      bury_children();
      for (std::size_t n = owners_.size(); n > 0; --n)
        if (watched[n].revents != 0 && has_gone(owners_[n - 1]))
          owners_.erase(owners_.begin() + static_cast<std::ptrdiff_t>(n) - 1);
      if (watched[0].revents == 0) continue;
      // A caller without the key is ignored.
      auto caller = accept_from(listener_, options_.key);
      if (!caller) continue;
      if (caller->second == Role::owner) {
        owners_.push_back(std::move(caller->first));
        had_owner = true;
      } else {
        MARGAY_CHECK(begin_session(std::move(caller->first)));
      }
    }
    return {};
  }

 private:
  /// Owners say nothing: what can be read is the end.
  [[nodiscard]] static bool has_gone(const Connection& owner) {
    std::byte any{};
    return recv_now(owner.descriptor(), any) == 0;
  }
  [[nodiscard]] static ssize_t recv_now(int descriptor, std::byte& into) {
    return read(descriptor, &into, 1);
  }

  [[nodiscard]] Status begin_session(Connection connection) {
    const pid_t child = fork();
    if (child < 0) return fail(ErrorCode::system, "a worker's process could not be made");
    if (child > 0) {
      children_.push_back(child);
      return {};
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    owners_.clear();
    children_.clear();
    serve_leader(std::move(connection), options_.threads, options_.name, options_.make_observer);
    _exit(0);
  }

  void bury_children() {
    std::erase_if(children_, [](pid_t child) { return waitpid(child, nullptr, WNOHANG) != 0; });
  }

  const ServerOptions options_;
  Connection listener_;
  std::vector<Connection> owners_;
  std::vector<pid_t> children_;
};

}  // namespace

void move_out_of_the_way(char** arguments) {
  const int now = personality(0xffffffff);
  if (now == -1 || (now & ADDR_COMPAT_LAYOUT) != 0) return;
  // With this layout mappings grow upwards from a third of the address space.
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) return;
  program[length] = '\0';
  if (personality(static_cast<unsigned long>(now) | ADDR_COMPAT_LAYOUT) != -1)
    (void)execv(program, arguments);
}

Status serve(const ServerOptions& options) { return Server(options).run(); }

}  // namespace margay::ranks
