// The leader's side of one worker: a connection, and a thread that answers what the worker asks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "ranks/launch_words.h"
#include "ranks/spread.h"
#include "ranks/wire.h"

namespace margay::ranks {

class Session {
 public:
  /// Says a sentence to the user.
  using Say = std::function<void(const std::string& sentence)>;

  /// Connects and agrees on the device; an error if the worker cannot run it.
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(unsigned rank,
                                                             const std::string& address,
                                                             std::string_view key,
                                                             const Hello& hello, Say say);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The worker's number of threads.
  [[nodiscard]] unsigned threads() const { return threads_; }
  /// Asks the worker to take part, unless it is lost, or busy with a launch that was stopped.
  void begin(const std::shared_ptr<SpreadLaunch>& launch);
  /// Ends the connection, and with it a begin() that waits for the worker.
  void shut_down() { connection_.shut_down(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point kNever = Clock::time_point::max();
  Session(unsigned rank, std::string name, unsigned threads, Connection connection,
          std::chrono::seconds silence, Say say);
  void serve();
  /// False when the connection is of no use any more.
  [[nodiscard]] bool answer(Message message, std::span<const std::byte> payload);
  [[nodiscard]] bool send(Message message, const Writer& words);
  void lose(const Error& error);
  /// It takes part in a launch and has said nothing for too long.
  [[nodiscard]] bool is_silent() const;

  const unsigned rank_;
  const std::string name_;
  const unsigned threads_;
  const std::chrono::seconds silence_;
  const Say say_;
  Connection connection_;
  // When the worker last said something, or was asked to take part; none while it takes part in
  // nothing. Not guarded: begin() may wait for a worker that does not read.
  std::atomic<Clock::time_point> heard_ = kNever;
  std::mutex mutex_;  // guards the members below
  bool lost_ = false;
  std::shared_ptr<SpreadLaunch> launch_;  // that the worker takes part in
  std::set<std::uint64_t> modules_;       // that the worker has
  std::thread thread_;
};

}  // namespace margay::ranks
