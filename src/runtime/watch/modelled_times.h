// How long launches would take on the device, by the model of time (docs/time.md). A launch is
// watched only if none like it was: modelling costs several times the launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "exec/device/device.h"
#include "observe/described_tensors.h"

namespace margay::runtime {

struct LaunchTime {
  double us_boost = 0, us_sustained = 0;
  double error_percent = 0;  ///< Of both, about.
};

/// Safe to use from several threads.
class ModelledTimes {
 public:
  /// What launches of this thread depend on in addition to their arguments, as a number, while one
  /// lives.
  class OfData {
   public:
    explicit OfData(std::uint64_t digest) : before_(std::exchange(digest_, digest)) {}
    ~OfData() { digest_ = before_; }
    OfData(const OfData&) = delete;
    OfData& operator=(const OfData&) = delete;

   private:
    friend class ModelledTimes;
    std::uint64_t before_;
    static thread_local std::uint64_t digest_;
  };

  /// The time of an earlier launch of the same kernel with the same sizes and arguments. Pointers
  /// only have to be null alike and at the same place in a line of 128 bytes; of what they point at
  /// no more counts than OfData. `warm`: with caches that have what a launch like it left there.
  [[nodiscard]] std::optional<LaunchTime> find(const LaunchRequest& request, bool warm) const;

  /// Performs a launch with an observer, or with none (null).
  using Run = std::function<Result<LaunchReport>(LaunchObserver* observer)>;
  /// Has `run` perform the launch with the model's observer, and keeps its time if it succeeds.
  [[nodiscard]] Result<LaunchReport> launch(Device& device, const LaunchRequest& request, bool warm,
                                            const Run& run);

  /// The same for a launch of which only the time counts: runs the workgroups
  /// that tell it, so that memory has the results of a part. An error where that part waits for the
  /// rest.
  [[nodiscard]] Result<LaunchReport> model_part(Device& device, const LaunchRequest& request,
                                                bool warm);

  /// Of all that are kept, the largest.
  [[nodiscard]] double error_percent() const;

  /// A tensor that the program describes: launches that are modelled from now on know it.
  void describe(const Tensor& tensor);

  /// In the child of a fork().
  void begin_again();

 private:
  /// What determines the time of a launch.
  struct Key {
    std::weak_ptr<LoadedModule> module;  ///< Identifies it even after it was unloaded.
    const Kernel* kernel = nullptr;
    std::vector<std::uint32_t> sizes;
    std::vector<std::byte> arguments;
    std::uint64_t data = 0;  ///< See OfData.
    bool warm = false;
    [[nodiscard]] bool operator<(const Key& other) const {
      if (module.owner_before(other.module)) return true;
      if (other.module.owner_before(module)) return false;
      return std::tie(kernel, sizes, arguments, data, warm) <
             std::tie(other.kernel, other.sizes, other.arguments, other.data, other.warm);
    }
  };
  [[nodiscard]] static Key key_of(const LaunchRequest& request, bool warm);

  mutable std::mutex mutex_;
  std::map<Key, LaunchTime> times_;
  std::map<std::uint64_t, Tensor> tensors_;  // by first address
};

}  // namespace margay::runtime
