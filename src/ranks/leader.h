// The workers of a process that launches kernels: connects to them at the first launch that may use
// them, and asks them to take part in launches that take long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exec/device/device_options.h"
#include "exec/state/memory.h"
#include "ranks/experience.h"
#include "ranks/launch_words.h"
#include "ranks/session.h"
#include "ranks/talk.h"

namespace margay::ranks {

struct LeaderOptions {
  std::vector<std::string> addresses;  ///< Of ranks 1, 2, ...
  std::string key;
  /// A kernel's first launch is shared after it has run this long; later ones from the start. An
  /// exchange with a worker takes some 50 us, and what changed since the last launch must be found.
  std::chrono::milliseconds patience{3};
  std::chrono::seconds silence{30};  ///< See Hello.
  Session::Say say;
};

class Leader {
 public:
  explicit Leader(LeaderOptions options);
  ~Leader();
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  /// DeviceOptions::spread for a device with the other options.
  [[nodiscard]] LaunchShare share(const SpreadableLaunch& launch, const DeviceOptions& device);

 private:
  using Clock = std::chrono::steady_clock;
  using KernelKey = std::pair<std::uint64_t, std::uint32_t>;  // module, index of the kernel

  void connect(const SpreadableLaunch& launch, const DeviceOptions& device);
  [[nodiscard]] std::uint64_t number_of(const std::shared_ptr<LoadedModule>& module);
  void invite();

  const LeaderOptions options_;
  const int process_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  bool connected_ = false, ending_ = false;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<unsigned> weights_;  // by rank
  std::uint64_t launches_ = 0;
  std::map<std::uint64_t, std::pair<std::weak_ptr<LoadedModule>, std::uint64_t>>
      modules_;  // their numbers, by address
  std::uint64_t last_module_ = 0;
  std::map<KernelKey, CodeTalk> talks_;
  std::map<KernelKey, std::shared_ptr<Experience>> experiences_;
  std::set<KernelKey> long_;
  std::weak_ptr<SpreadLaunch> next_;  // to be shared ...
  Clock::time_point next_at_;         // ... from then on
  bool has_next_ = false;
  std::thread inviter_;
};

}  // namespace margay::ranks
