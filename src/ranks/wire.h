// Frames over a stream socket: how ranks talk. A session is between a leader and one worker; after
// the greeting the worker asks and the leader answers, except that the leader begins a launch by
// itself when the worker is idle.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"

namespace margay::ranks {

enum class Message : std::uint32_t {
  key,     ///< Worker's server: who calls. Payload: a Role, the key.
  hello,   ///< Leader: the device. Answered by `hello`, with an empty sentence if all is well.
  launch,  ///< Leader: take part in a launch.
  check,   ///< Worker: are these pages what they were? Answer: a byte for each, 1 if so.
  fetch,   ///< Worker: a page. Answer: its fingerprint and contents.
  range,   ///< Worker: what may be accessed around an address? Answer: an AddressRange.
  more,    ///< Worker: the next workgroups. Answer: a Chunk.
  ask,     ///< Worker: a question of its observer. Answer: LaunchParts::answer().
  done,    ///< Worker: what its workgroups wrote, and what was observed. Not answered.
  refuse,  ///< Worker: its workgroups must run elsewhere; nothing was changed. Not answered.
  alive,   ///< Worker: it is still at the launch. Not answered.
  run,     ///< Rank 0 of a campaign: run the program (cli/watch/rank_runs.h). Answer: `ran`.
  ran,
};

/// Who connects to a worker's server, or to rank 0 (rendezvous.h).
enum class Role : std::uint32_t {
  owner,   ///< The server ends when all of them have gone.
  leader,  ///< A session.
  joiner,  ///< A rank that a launcher has started.
};

/// A connected socket. Not safe to use from several threads, but for one that sends and one that
/// receives.
class Connection {
 public:
  Connection() = default;
  explicit Connection(int descriptor) : descriptor_(descriptor) {}
  Connection(Connection&& other) noexcept : descriptor_(other.release()) {}
  Connection& operator=(Connection&& other) noexcept;
  ~Connection();

  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Gives the descriptor away.
  [[nodiscard]] int release();
  /// Whether something, the end included, can be received within a time.
  [[nodiscard]] bool is_readable(std::chrono::milliseconds within) const;
  /// receive() fails when the other end says nothing for so long.
  void set_receive_limit(std::chrono::seconds limit);
  /// Ends both directions: who waits in receive() gets an error.
  void shut_down();

  [[nodiscard]] Status send(Message message, std::span<const std::byte> payload);
  /// Replaces `payload`.
  [[nodiscard]] Result<Message> receive(Bytes& payload);

 private:
  int descriptor_ = -1;
};

/// "unix:PATH", "unix:@NAME" for a name that is in no directory, or "tcp:HOST:PORT".
[[nodiscard]] Result<Connection> connect_to(const std::string& address);
/// Connects and says who calls.
[[nodiscard]] Result<Connection> connect_to(const std::string& address, Role role,
                                            std::string_view key);

/// A socket that waits for connections.
struct Listener {
  Connection socket;
  std::string address;  ///< For connect_to(); of TCP with `host` as the name.
};
/// On a free port of all interfaces.
[[nodiscard]] Result<Listener> listen_on_tcp(const std::string& host);
[[nodiscard]] Result<Listener> listen_on_path(const std::string& path);
/// The next caller that knows the key, and its role; an error for any other.
[[nodiscard]] Result<std::pair<Connection, Role>> accept_from(const Connection& listener,
                                                              std::string_view key);
/// 128 random bits in hexadecimal.
[[nodiscard]] Result<std::string> new_key();

}  // namespace margay::ranks
