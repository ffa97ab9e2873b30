#include "ranks/wire.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <utility>

namespace margay::ranks {
namespace {

struct Header {
  std::uint32_t mark = 0x4b524d31;  // tells a stream that is out of step
  Message message = {};
  std::uint64_t bytes = 0;
};
static_assert(sizeof(Header) == 16);
/// More than any launch writes back; a larger size is a broken stream.
constexpr std::uint64_t kMostBytes = 1ull << 40;

std::unexpected<Error> system_error(const char* what) {
  return fail(ErrorCode::system, fmt::format("{}: {}", what, std::strerror(errno)));
}

Status receive_all(int descriptor, std::byte* at, std::size_t size) {
  while (size != 0) {
    const ssize_t got = recv(descriptor, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN)
      return fail(ErrorCode::system, "it stopped in the middle of a message");
    if (got < 0) return system_error("the connection broke");
    if (got == 0) return fail(ErrorCode::system, "the connection was closed");
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return {};
}

/// A host that is gone without a word is noticed after about half a minute.
void prepare(int descriptor) {
  const int on = 1, idle = 10, interval = 5, probes = 4;
  const unsigned unanswered_ms = 30'000;
  (void)setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  (void)setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof unanswered_ms);
}

/// `what`: SO_RCVTIMEO, or SO_SNDTIMEO, which holds for connect() as well. 0: no limit.
void set_limit(int descriptor, int what, int seconds) {
  const timeval limit{.tv_sec = seconds, .tv_usec = 0};
  (void)setsockopt(descriptor, SOL_SOCKET, what, &limit, sizeof limit);
}

struct PathAddress {
  sockaddr_un to{};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&to); }
};
/// With '@' in front: a name that is in no directory, and gone with the socket.
Result<PathAddress> path_address(const std::string& path) {
  PathAddress address;
  address.to.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.to.sun_path)
    return fail(ErrorCode::invalid_argument, "not the path of a socket: " + path);
  std::memcpy(address.to.sun_path, path.data(), path.size());
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (path[0] == '@') address.to.sun_path[0] = '\0';
  return address;
}

Result<Connection> connect_tcp(const std::string& host, const std::string& port) {
  const addrinfo wanted{.ai_flags = 0,
                        .ai_family = AF_UNSPEC,
                        .ai_socktype = SOCK_STREAM,
                        .ai_protocol = 0,
                        .ai_addrlen = 0,
                        .ai_addr = nullptr,
                        .ai_canonname = nullptr,
                        .ai_next = nullptr};
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(host.c_str(), port.c_str(), &wanted, &found); code != 0)
    return fail(ErrorCode::system, fmt::format("host {}: {}", host, gai_strerror(code)));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Connection connection(socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    // A host that does not answer must not stop the others.
    set_limit(connection.descriptor(), SO_SNDTIMEO, 5);
    if (connect(connection.descriptor(), one->ai_addr, one->ai_addrlen) != 0) continue;
    set_limit(connection.descriptor(), SO_SNDTIMEO, 0);
    return connection;
  }
  return system_error("connect");
}

}  // namespace

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}
Connection::~Connection() {
  if (descriptor_ >= 0) close(descriptor_);
}
int Connection::release() { return std::exchange(descriptor_, -1); }
bool Connection::is_readable(std::chrono::milliseconds within) const {
  pollfd watched = {descriptor_, POLLIN, 0};
  return poll(&watched, 1, static_cast<int>(within.count())) > 0;
}
void Connection::set_receive_limit(std::chrono::seconds limit) {
  set_limit(descriptor_, SO_RCVTIMEO, static_cast<int>(limit.count()));
}
void Connection::shut_down() { (void)shutdown(descriptor_, SHUT_RDWR); }

Status Connection::send(Message message, std::span<const std::byte> payload) {
  Header header{.message = message, .bytes = payload.size()};
  std::array<iovec, 2> parts = {iovec{&header, sizeof header},
                                iovec{const_cast<std::byte*>(payload.data()), payload.size()}};
  msghdr all{};
  all.msg_iov = parts.data();
  all.msg_iovlen = parts.size();
  std::size_t left = sizeof header + payload.size();
  while (left != 0) {
    const ssize_t sent = sendmsg(descriptor_, &all, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return system_error("the connection broke");
    left -= static_cast<std::size_t>(sent);
    for (auto rest = static_cast<std::size_t>(sent); rest != 0;) {
      iovec& part = *all.msg_iov;
      const std::size_t taken = std::min(rest, part.iov_len);
      part.iov_base = static_cast<std::byte*>(part.iov_base) + taken;
      part.iov_len -= taken;
      rest -= taken;
      if (part.iov_len == 0 && all.msg_iovlen > 1) ++all.msg_iov, --all.msg_iovlen;
    }
  }
  return {};
}

Result<Message> Connection::receive(Bytes& payload) {
  Header header;
  MARGAY_CHECK(receive_all(descriptor_, reinterpret_cast<std::byte*>(&header), sizeof header));
  if (header.mark != Header{}.mark || header.bytes > kMostBytes)
    return fail(ErrorCode::system, "the connection carries something else");
  payload.resize(header.bytes);
  MARGAY_CHECK(receive_all(descriptor_, payload.data(), payload.size()));
  return header.message;
}

Result<Connection> connect_to(const std::string& address) {
  if (address.starts_with("unix:")) {
    const PathAddress to = MARGAY_TRY(path_address(address.substr(5)));
    Connection connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(connection.descriptor(), to.get(), to.size) != 0) return system_error("connect");
    return connection;
  }
  const std::size_t colon = address.rfind(':');
  if (!address.starts_with("tcp:") || colon < 5)
    return fail(ErrorCode::invalid_argument, "not the address of a rank: " + address);
  Connection connection =
      MARGAY_TRY(connect_tcp(address.substr(4, colon - 4), address.substr(colon + 1)));
  prepare(connection.descriptor());
  return connection;
}

Result<Connection> connect_to(const std::string& address, Role role, std::string_view key) {
  Connection connection = MARGAY_TRY(connect_to(address));
  Writer words;
  words.put(role);
  words.put_text(key);
  MARGAY_CHECK(connection.send(Message::key, words.data()));
  return connection;
}

Result<Listener> listen_on_tcp(const std::string& host) {
  Listener made{Connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), {}};
  sockaddr_in at{};
  at.sin_family = AF_INET;
  socklen_t size = sizeof at;
  const int descriptor = made.socket.descriptor();
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&at), size) != 0 ||
      listen(descriptor, 64) != 0 ||
      getsockname(descriptor, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    return system_error("a socket for ranks");
  made.address = fmt::format("tcp:{}:{}", host, ntohs(at.sin_port));
  return made;
}

Result<Listener> listen_on_path(const std::string& path) {
  const PathAddress at = MARGAY_TRY(path_address(path));
  Listener made{Connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), "unix:" + path};
  if (bind(made.socket.descriptor(), at.get(), at.size) != 0 ||
      listen(made.socket.descriptor(), 64) != 0)
    return system_error("a socket for ranks");
  return made;
}

Result<std::pair<Connection, Role>> accept_from(const Connection& listener, std::string_view key) {
  Connection caller(accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
  if (caller.descriptor() < 0) return system_error("accept");
  prepare(caller.descriptor());
  // A caller that is silent must not stop the others.
  set_limit(caller.descriptor(), SO_RCVTIMEO, 10);
  std::array<std::byte, 256> first;
  Header header;
  MARGAY_CHECK(
      receive_all(caller.descriptor(), reinterpret_cast<std::byte*>(&header), sizeof header));
  if (header.mark != Header{}.mark || header.message != Message::key || header.bytes > first.size())
    return fail(ErrorCode::system, "a caller that is not a rank");
  MARGAY_CHECK(receive_all(caller.descriptor(), first.data(), header.bytes));
  Reader words({first.data(), header.bytes});
  const auto role = words.get<Role>();
  if (words.get_text() != key || !words.ok())
    return fail(ErrorCode::system, "a caller with another key");
  set_limit(caller.descriptor(), SO_RCVTIMEO, 0);
  return std::pair(std::move(caller), role);
}

Result<std::string> new_key() {
  std::array<std::uint64_t, 2> bits{};
  if (getrandom(bits.data(), sizeof bits, 0) != sizeof bits) return system_error("getrandom");
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

}  // namespace margay::ranks
