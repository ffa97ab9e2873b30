// The state behind the HIP calls: one virtual device, created at first use, and everything the
// program holds handles to. All members are safe to use from several threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "exec/device/device.h"
#include "runtime/base/errors.h"
#include "runtime/base/handle_table.h"
#include "runtime/base/settings.h"
#include "runtime/device/host_services.h"
#include "runtime/memory/memory_pool.h"
#include "runtime/module/module.h"
#include "runtime/module/registration.h"
#include "runtime/stream/in_flight.h"
#include "runtime/stream/stream.h"
#include "runtime/watch/checking.h"
#include "runtime/watch/profiling.h"

namespace margay::runtime {

struct Watch;

/// Which family of calls made an allocation; they differ in what a program may ask about it.
enum class MemoryKind : std::uint8_t { device, host, managed, registered };

struct AllocationRecord {
  MemoryKind kind = MemoryKind::device;
  unsigned device = 0;  ///< The current one when it was made.
  unsigned flags = 0;   ///< As passed to the allocating call.
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  std::shared_ptr<ihipMemPoolHandle_t> pool;  ///< That it came from, if from one.
};

/// The allocations that HIP calls made (the device's own map also holds code objects).
class AllocationTable {
 public:
  void add(const AllocationRecord& record);
  /// The record that starts at `address`, taken out of the table.
  std::optional<AllocationRecord> remove(std::uint64_t address);
  /// The record that holds `address`.
  [[nodiscard]] std::optional<AllocationRecord> find(std::uint64_t address) const;
  [[nodiscard]] std::vector<AllocationRecord> take_all(unsigned device);

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, AllocationRecord> records_;
};

/// Whether it has been reported where the waves of a launch of this kernel are that takes long.
[[nodiscard]] bool long_launch_was_named(const std::string& kernel);

class Runtime {
 public:
  /// Never destroyed: clang's generated destructors call in after all of ours have run.
  [[nodiscard]] static Runtime& instance();

  /// True when MARGAY_QUIET=1; settings that cannot be read do not silence their own error.
  [[nodiscard]] bool quiet() const { return settings_ && settings_->quiet; }
  /// What is wrong with the environment's settings, if anything is.
  [[nodiscard]] const Error* settings_error() const {
    return settings_ ? nullptr : &settings_.error();
  }
  /// What the device is, known without creating it.
  [[nodiscard]] const Gpu& gpu() const { return settings_ ? *settings_->gpu : default_gpu(); }
  /// The devices, as one object; the first call creates it with the environment's settings.
  [[nodiscard]] Answer<Device*> device();
  /// How many devices there are.
  [[nodiscard]] unsigned device_count() const { return settings_ ? settings_->devices : 1; }
  /// The device that the calling thread has chosen.
  [[nodiscard]] static unsigned current_device();
  static void set_current_device(unsigned device);
  /// A mask: the devices whose memory kernels on `device` may access besides its own.
  [[nodiscard]] std::atomic<std::uint64_t>& peers(unsigned device) { return peers_[device]; }
  /// Places a code object on a device, changed as MARGAY_MUTATE asks.
  [[nodiscard]] Answer<std::shared_ptr<LoadedModule>> load(CodeObject object, unsigned device);

  /// Runs a launch, with the progress and statistics lines the environment asks for. A failure of
  /// the kernel itself is kept until reset().
  [[nodiscard]] Outcome launch(const LaunchRequest& request);
  /// The same; where the kernel waits for what the host does next, gives what is left to do.
  [[nodiscard]] Answer<Work> start(const LaunchRequest& request);
  /// Makes `code` that of the first failure, unless there was one.
  void keep_failure(hipError_t code);
  /// The code of a launch that an interrupt stopped, or hipSuccess: it is said once, unless another
  /// launch has begun since.
  [[nodiscard]] hipError_t take_interrupted() { return interrupted_.exchange(hipSuccess); }
  /// The code of the first kernel that failed while it ran, or hipSuccess.
  [[nodiscard]] hipError_t launch_failure() const { return launch_failure_.load(); }

  /// The checker that launches run under, or null.
  [[nodiscard]] std::shared_ptr<Checking> checking() const { return checking_.load(); }
  /// Checks from now on; refused while something is checked already.
  [[nodiscard]] Outcome begin_checking(std::shared_ptr<Checking> checking);
  [[nodiscard]] std::shared_ptr<Checking> end_checking() { return checking_.exchange(nullptr); }

  /// The profiler that launches run under, or null.
  [[nodiscard]] std::shared_ptr<Profiling> profiling() const { return profiling_.load(); }
  [[nodiscard]] Outcome begin_profiling(std::shared_ptr<Profiling> profiling);
  [[nodiscard]] std::shared_ptr<Profiling> end_profiling() { return profiling_.exchange(nullptr); }

  /// Frees what HIP calls allocated on the current device, drops its streams, forgets a failed
  /// launch.
  [[nodiscard]] Outcome reset();

  [[nodiscard]] AllocationTable& allocations() { return allocations_; }
  [[nodiscard]] Registry& registry() { return registry_; }
  [[nodiscard]] HandleTable<ihipStream_t>& streams() { return streams_; }
  [[nodiscard]] HandleTable<ihipEvent_t>& events() { return events_; }
  [[nodiscard]] HandleTable<ihipModule_t>& modules() { return modules_; }
  [[nodiscard]] HandleTable<ihipModuleSymbol_t>& functions() { return functions_; }

 private:
  Runtime();
  static void finish_watching();     // at the end of the process
  static void finish_interrupted();  // the same when a signal ends it
  void watch_process(const Watch& watch);
  void begin_again();  // in the child of a fork()
  void begin(const LaunchRequest& request);
  /// One launch at a time.
  [[nodiscard]] Outcome launch_alone(const LaunchRequest& request);
  /// `interrupts_before`: their count when the launch began.
  [[nodiscard]] Outcome ended(const LaunchRequest& request, const Result<LaunchReport>& report,
                              std::uint64_t interrupts_before);

  const Result<Settings> settings_;
  std::mutex device_mutex_;
  std::unique_ptr<Device> device_;
  std::mutex launch_mutex_;  // launches run one after another; the progress line belongs to one
  std::mutex services_mutex_;
  HostServices services_;               // of the launches that run
  std::atomic<unsigned> in_flight_{0};  // launches
  std::atomic<hipError_t> launch_failure_ = hipSuccess;
  std::atomic<hipError_t> interrupted_ = hipSuccess;
  std::atomic<std::shared_ptr<Checking>> checking_;
  std::atomic<std::shared_ptr<Profiling>> profiling_;

  std::array<std::atomic<std::uint64_t>, kMaxDevices> peers_ = {};
  AllocationTable allocations_;
  Registry registry_;
  HandleTable<ihipStream_t> streams_;
  HandleTable<ihipEvent_t> events_;
  HandleTable<ihipModule_t> modules_;
  HandleTable<ihipModuleSymbol_t> functions_;
};

}  // namespace margay::runtime
