// See runtime.h.
#include "runtime/process/runtime.h"

#include <fmt/format.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include "base/fork.h"
#include "runtime/device/interrupts.h"
#include "runtime/device/progress.h"
#include "runtime/stream/ordering.h"
#include "runtime/watch/watch.h"

namespace margay::runtime {
namespace {

ProgressLine& progress_line() {
  static ProgressLine line(stderr);
  return line;
}

/// Kernels of which it has been said that they take long. Never destroyed: threads outlive main().
struct LongLaunches {
  std::mutex mutex;
  std::set<std::string> said;
};
LongLaunches& long_launches() {
  static auto* const all = new LongLaunches();
  return *all;
}

// A person who waits wants to know what for. Of a kernel that is launched again and again it is
// said once.
void print_long_launch(const LongLaunch& launch) {
  {
    const std::lock_guard lock(long_launches().mutex);
    if (!long_launches().said.insert(launch.kernel).second) return;
  }
  const std::string text = fmt::format(
      "margay: {} has been running for {:.0f} s; {} of its {} workgroups are done.\n  at   {}\n",
      launch.kernel, launch.seconds, launch.workgroups_done, launch.workgroups, launch.where);
  std::fputs(text.c_str(), stderr);
}

// One line of key=value pairs, so that scripts can read it; the kernel comes last because its name
// may hold blanks.
void print_stats(const LaunchRequest& request, const LaunchReport& report) {
  const Dim3& grid = request.grid;
  const Dim3& block = request.block;
  const std::string line = fmt::format(
      "margay: launch grid={}x{}x{} block={}x{}x{} seconds={:.6f} wave_instructions={} mfma={} "
      "kernel={}\n",
      grid.x, grid.y, grid.z, block.x, block.y, block.z, report.seconds, report.wave_instructions,
      report.mfma_instructions, readable_name(request.kernel->name));
  std::fputs(line.c_str(), stderr);
}

}  // namespace

void AllocationTable::add(const AllocationRecord& record) {
  const std::lock_guard lock(mutex_);
  records_[record.address] = record;
}

std::optional<AllocationRecord> AllocationTable::remove(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto node = records_.extract(address);
  if (node.empty()) return std::nullopt;
  return node.mapped();
}

std::optional<AllocationRecord> AllocationTable::find(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  auto after = records_.upper_bound(address);
  if (after == records_.begin()) return std::nullopt;
  const AllocationRecord& record = std::prev(after)->second;
  if (address - record.address >= record.size_bytes) return std::nullopt;
  return record;
}

std::vector<AllocationRecord> AllocationTable::take_all(unsigned device) {
  const std::lock_guard lock(mutex_);
  std::vector<AllocationRecord> taken;
  std::erase_if(records_, [&](const auto& entry) {
    if (entry.second.device != device) return false;
    taken.push_back(entry.second);
    return true;
  });
  return taken;
}

namespace {
thread_local unsigned current = 0;
}  // namespace

unsigned Runtime::current_device() { return current; }
void Runtime::set_current_device(unsigned device) { current = device; }

Runtime::Runtime() : settings_(read_settings(process_environment())) {
  pthread_atfork(nullptr, nullptr, [] { instance().begin_again(); });
}

void Runtime::begin_again() {
  begin_again_after_fork(launch_mutex_);
  begin_again_after_fork(services_mutex_);
  begin_again_after_fork(services_);
  in_flight_ = 0;
  in_flight_after_fork();
  interrupts_after_fork();
  const auto say = [](const Status& status) {
    if (!status) std::fputs(("margay: " + status.error().text() + "\n").c_str(), stderr);
  };
  if (const auto checking = this->checking()) say(checking->begin_again());
  if (const auto profiling = this->profiling()) say(profiling->begin_again());
}

Runtime& Runtime::instance() {
  static Runtime* const runtime = new Runtime();
  return *runtime;
}

Answer<Device*> Runtime::device() {
  if (!settings_) return std::unexpected(Refusal(hipErrorNotInitialized, settings_.error()));
  const std::lock_guard lock(device_mutex_);
  if (device_ == nullptr) {
    DeviceOptions options;
    options.gpu = settings_->gpu;
    options.mfma = settings_->mfma;
    options.devices = settings_->devices;
    options.threads = settings_->threads;
    options.host_level = settings_->host_level;
    if (settings_->progress) {
      options.progress = [](std::uint64_t done, std::uint64_t total) {
        progress_line().update(done, total, ProgressLine::Clock::now());
      };
    }
    if (!settings_->quiet) options.on_long_launch = print_long_launch;
    options.host_service = [this](std::uint32_t service, std::span<std::uint64_t, 8> slots) {
      const std::lock_guard lock(services_mutex_);
      return services_.serve(device_->memory(), service, slots);
    };
    const Watch watch = MARGAY_TRY(Watch::create(*settings_));
    // A stretch that the program began itself goes on.
    device_ = MARGAY_TRY(Device::create(std::move(options)));
    prepare_interrupts([device = device_.get()] { device->interrupt(); });
    if (watch.checking != nullptr || watch.profiling != nullptr) watch_process(watch);
  }
  return device_.get();
}

bool long_launch_was_named(const std::string& kernel) {
  const std::lock_guard lock(long_launches().mutex);
  return long_launches().said.contains(kernel);
}

Answer<std::shared_ptr<LoadedModule>> Runtime::load(CodeObject object, unsigned ordinal) {
  Device* const device = MARGAY_TRY(this->device());
  std::shared_ptr<LoadedModule> module = MARGAY_TRY(device->load(std::move(object), ordinal));
  if (const auto& mutation = settings_->check.mutation) MARGAY_CHECK(mutate(*module, *mutation));
  return module;
}

Outcome Runtime::begin_checking(std::shared_ptr<Checking> checking) {
  // Waits for a launch that runs, so that none is checked by half.
  const std::lock_guard lock(launch_mutex_);
  std::shared_ptr<Checking> none;
  if (!checking_.compare_exchange_strong(none, std::move(checking)))
    return refuse(hipErrorAlreadyAcquired, "This process is being checked already.",
                  "End the other check first; under margay check there is no need for one.");
  return {};
}

Outcome Runtime::begin_profiling(std::shared_ptr<Profiling> profiling) {
  const std::lock_guard lock(launch_mutex_);
  std::shared_ptr<Profiling> none;
  if (!profiling_.compare_exchange_strong(none, std::move(profiling)))
    return refuse(hipErrorAlreadyAcquired, "This process is being profiled already.",
                  "End the other profile first; under margay prof there is no need for one.");
  return {};
}

void Runtime::watch_process(const Watch& watch) {
  if (watch.checking != nullptr) checking_ = watch.checking;
  if (watch.profiling != nullptr) profiling_ = watch.profiling;
  std::atexit(finish_watching);
  std::at_quick_exit(finish_watching);
  end_watched_process_by_signals(finish_interrupted);
}

void Runtime::finish_interrupted() {
  Runtime& runtime = instance();
  // What a launch found is known when it has ended.
  const std::lock_guard lock(runtime.launch_mutex_);
  // The program had no occasion to free its memory.
  Watch{runtime.end_checking(), runtime.end_profiling()}.finish(nullptr);
}

void Runtime::finish_watching() {
  // A signal's thread writes the report and ends the process with the signal's code.
  stay_if_ending();
  Runtime& runtime = instance();
  const Watch watch{runtime.end_checking(), runtime.end_profiling()};
  const std::lock_guard lock(runtime.device_mutex_);
  watch.finish(runtime.device_ == nullptr ? nullptr : &runtime.device_->memory());
}

Outcome Runtime::ended(const LaunchRequest& request, const Result<LaunchReport>& report,
                       std::uint64_t interrupts_before) {
  const std::lock_guard lock(services_mutex_);
  services_.end_launch();
  if (report) {
    if (settings_->stats) print_stats(request, *report);
    return {};
  }
  Refusal refusal(report.error());
  if (report.error().code == ErrorCode::device_trap && !services_.failed_assert().empty()) {
    refusal.code = hipErrorAssert;
    refusal.error.what = "an assert failed: " + services_.failed_assert();
  }
  // The device is none the worse for an interrupt: later launches and calls begin clean.
  const bool was_interrupted =
      report.error().code == ErrorCode::interrupted && interrupts() != interrupts_before;
  refusal.transient = was_interrupted;
  if (was_interrupted)
    interrupted_.store(refusal.code);
  else
    keep_failure(refusal.code);
  return std::unexpected(std::move(refusal));
}

namespace {

Outcome refuse_while_ending() {
  if (!is_ending()) return {};
  return refuse_silently(hipErrorDeinitialized, "The process is being ended by a signal.");
}

}  // namespace

void Runtime::keep_failure(hipError_t code) {
  hipError_t none = hipSuccess;
  launch_failure_.compare_exchange_strong(none, code);
}

Outcome Runtime::launch(const LaunchRequest& request) {
  Outcome outcome = launch_alone(request);
  // The program must not come to its own end before the report is written.
  stay_if_ending();
  return outcome;
}

Outcome Runtime::launch_alone(const LaunchRequest& request) {
  Device* const device = MARGAY_TRY(this->device());
  const std::lock_guard lock(launch_mutex_);
  const StoppedByInterrupt stopped_by_interrupt;
  const std::uint64_t before = interrupts();
  MARGAY_CHECK(refuse_while_ending());
  begin(request);
  const Result<LaunchReport> report = Watch{checking(), profiling()}.launch(*device, request);
  if (settings_->progress) progress_line().end();
  return ended(request, report, before);
}

Answer<Work> Runtime::start(const LaunchRequest& request) {
  Device* const device = MARGAY_TRY(this->device());
  if (checking() != nullptr || profiling() != nullptr) {
    MARGAY_CHECK(launch(request));
    return Work{};
  }
  const std::lock_guard lock(launch_mutex_);
  const StoppedByInterrupt stopped_by_interrupt;
  const std::uint64_t before = interrupts();
  begin(request);
  Result<StartedLaunch> started = device->start(request);
  if (settings_->progress) progress_line().end();
  if (!started) {
    MARGAY_CHECK(ended(request, std::unexpected(std::move(started).error()), before));
    return Work{};
  }
  if (const auto* const report = std::get_if<LaunchReport>(&*started)) {
    MARGAY_CHECK(ended(request, *report, before));
    return Work{};
  }
  ++in_flight_;
  std::shared_ptr<LaunchInFlight> left =
      std::get<std::unique_ptr<LaunchInFlight>>(*std::move(started));
  return [this, request, left, before]() -> Outcome {
    const Result<LaunchReport> report = left->finish();
    --in_flight_;
    return ended(request, report, before);
  };
}

void Runtime::begin(const LaunchRequest& request) {
  interrupted_.store(hipSuccess);
  if (settings_->progress) {
    progress_line().begin(readable_name(request.kernel->name), ProgressLine::Clock::now());
  }
  // What a launch in flight is printing goes on.
  const std::lock_guard lock(services_mutex_);
  if (in_flight_ == 0) services_.begin_launch();
}

Outcome Runtime::reset() {
  wait_for_device(current_device());
  order_host_waits_for_all();
  launch_failure_.store(hipSuccess);
  const unsigned ordinal = current_device();
  peers_[ordinal] = 0;
  streams_.remove_if([&](const ihipStream_t& stream) { return stream.device == ordinal; });
  // An event belongs to no device here.
  if (device_count() == 1) events_.clear();
  const std::lock_guard lock(device_mutex_);
  for (const AllocationRecord& record : allocations_.take_all(ordinal)) {
    if (record.kind == MemoryKind::registered) continue;
    if (record.pool != nullptr) record.pool->give_back(record.size_bytes);
    MARGAY_CHECK(device_->memory().free(reinterpret_cast<void*>(record.address)));
  }
  return {};
}

}  // namespace margay::runtime
