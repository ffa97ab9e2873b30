#include "ranks/rendezvous.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <system_error>
#include <thread>

namespace margay::ranks {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kFirstLine[] = "margay ranks 1";

/// Of this host, those that other hosts may reach first.
std::vector<std::string> own_addresses() {
  std::vector<std::string> out;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) == 0) {
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(all, freeifaddrs);
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
      if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
      char text[INET_ADDRSTRLEN];
      const auto* const address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
      if (inet_ntop(AF_INET, &address->sin_addr, text, sizeof text) != nullptr) out.push_back(text);
    }
  }
  out.push_back("127.0.0.1");
  return out;
}

/// As rank 0 sees the host of the other end.
Result<std::string> host_of(const Connection& connection) {
  sockaddr_in peer{};
  socklen_t size = sizeof peer;
  char text[INET_ADDRSTRLEN];
  if (getpeername(connection.descriptor(), reinterpret_cast<sockaddr*>(&peer), &size) != 0 ||
      peer.sin_family != AF_INET ||
      inet_ntop(AF_INET, &peer.sin_addr, text, sizeof text) == nullptr)
    return fail(ErrorCode::system, "a rank without an IPv4 address");
  return std::string(text);
}

std::string port_of(const std::string& address) { return address.substr(address.rfind(':') + 1); }

/// The file of rank 0 while it waits.
class Notice {
 public:
  explicit Notice(std::filesystem::path file) : file_(std::move(file)) {}
  ~Notice() {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;

  /// As a whole: who reads it reads all of it. It replaces one that a killed run has left.
  [[nodiscard]] Status write(const std::string& text) const {
    const std::string part = fmt::format("{}.{}", file_.string(), getpid());
    const int descriptor =
        open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0) return error(part);
    const bool written =
        ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const bool closed = close(descriptor) == 0;
    if (!written || !closed || rename(part.c_str(), file_.c_str()) != 0) {
      const Status failed = error(part);
      (void)unlink(part.c_str());
      return failed;
    }
    return {};
  }

 private:
  static Status error(const std::string& part) {
    return fail(ErrorCode::system,
                fmt::format("rank 0 cannot write {}: {}", part, std::strerror(errno)), {},
                "set MARGAY_RANKS_DIR to a folder that all hosts share");
  }
  const std::filesystem::path file_;
};

struct Place {
  std::string key;
  std::vector<std::string> addresses;  ///< For connect_to().
};

/// What rank 0 has written; without addresses if that is not the case yet.
Result<Place> read_notice(const std::filesystem::path& file) {
  struct stat facts{};
  Place out;
  if (lstat(file.c_str(), &facts) != 0) return out;
  if (!S_ISREG(facts.st_mode) || facts.st_uid != getuid() || (facts.st_mode & 077) != 0)
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} is not a file that only you can read", file.string()), {},
                "remove it, or set MARGAY_RANKS_DIR to another folder");
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line) || line != kFirstLine || !std::getline(in, out.key)) return out;
  while (std::getline(in, line)) out.addresses.push_back(line);
  return out;
}

}  // namespace

Result<std::vector<Joined>> gather(const Meeting& meeting, const std::string& key, unsigned ranks,
                                   const std::function<void(const std::string&)>& waits) {
  const Listener listener = MARGAY_TRY(listen_on_tcp("here"));
  std::string text = fmt::format("{}\n{}\n", kFirstLine, key);
  for (const std::string& address : own_addresses())
    text += fmt::format("tcp:{}:{}\n", address, port_of(listener.address));
  const Notice notice(meeting.file);
  MARGAY_CHECK(notice.write(text));
  std::vector<Joined> out;
  const auto start = Clock::now();
  bool said = false;
  while (out.size() + 1 < ranks && Clock::now() - start < meeting.patience) {
    pollfd watched = {listener.socket.descriptor(), POLLIN, 0};
    (void)poll(&watched, 1, 100);
    if (!said && Clock::now() - start > std::chrono::seconds(3)) {
      said = true;
      waits(
          fmt::format("waits for {} of {} ranks, for {} s at most", ranks - 1 - out.size(), ranks,
                      std::chrono::duration_cast<std::chrono::seconds>(meeting.patience).count()));
    }
    if (watched.revents == 0) continue;
    // Who does not know the key, or breaks off, is ignored.
    auto caller = accept_from(listener.socket, key);
    Bytes payload;
    if (!caller || caller->second != Role::joiner || !caller->first.receive(payload)) continue;
    Reader words(payload);
    Joined joined;
    joined.rank = words.get<std::uint32_t>();
    const auto port = words.get<std::uint32_t>();
    joined.name = words.get_text();
    const bool is_known = std::ranges::find(out, joined.rank, &Joined::rank) != out.end();
    const Result<std::string> host = host_of(caller->first);
    if (!words.ok() || joined.rank == 0 || joined.rank >= ranks || is_known || !host) continue;
    joined.address = fmt::format("tcp:{}:{}", *host, port);
    auto owner = connect_to(joined.address, Role::owner, key);
    if (!owner)
      return fail(ErrorCode::system,
                  fmt::format("rank {} ({}) cannot be reached at {}: {}", joined.rank, joined.name,
                              joined.address, owner.error().what),
                  {}, "hosts must be able to connect to each other's ports above 1024");
    joined.owner = *std::move(owner);
    if (!caller->first.send(Message::hello, {})) continue;
    out.push_back(std::move(joined));
  }
  std::ranges::sort(out, {}, &Joined::rank);
  return out;
}

Result<std::string> join(const Meeting& meeting, unsigned rank, const std::string& name,
                         const Listener& listener) {
  const auto start = Clock::now();
  std::string problem = "it has not written that file";
  do {
    const Place place = MARGAY_TRY(read_notice(meeting.file));
    for (const std::string& address : place.addresses) {
      auto leader = connect_to(address, Role::joiner, place.key);
      if (!leader) {
        problem = fmt::format("it does not answer at {}", fmt::join(place.addresses, ", "));
        continue;
      }
      Writer words;
      words.put(static_cast<std::uint32_t>(rank));
      words.put(static_cast<std::uint32_t>(std::stoul(port_of(listener.address))));
      words.put_text(name);
      if (!leader->send(Message::hello, words.data())) continue;
      // Rank 0 connects to the listener before it answers; nothing has to be accepted for that.
      Bytes payload;
      if (leader->receive(payload)) return place.key;
      problem = "it closed the connection";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } while (Clock::now() - start < meeting.patience);
  return fail(ErrorCode::system,
              fmt::format("rank {} ({}) does not find rank 0 by {}: {}", rank, name,
                          meeting.file.string(), problem),
              {}, "the folder must be one that all hosts share: set MARGAY_RANKS_DIR");
}

}  // namespace margay::ranks
