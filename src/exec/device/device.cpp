#include "exec/device/device.h"

#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/fork.h"
#include "base/host_level.h"
#include "exec/device/dispatch.h"
#include "exec/instructions/all_rows.h"
#include "exec/program/program.h"
#include "exec/workgroup/hostcall.h"
#include "exec/workgroup/launch_limits.h"
#include "exec/workgroup/launch_setup.h"
#include "exec/workgroup/listed_workgroups.h"

namespace margay {
namespace {

class VirtualDevice;

/// State shared by the launches of all devices.
constexpr Placement kShared{.device = 0, .shared = true};

class Module final : public LoadedModule {
 public:
  Module(const Gpu& gpu, CodeObject object, Memory& memory, std::span<std::byte> image,
         const RowTable& rows)
      : gpu_(gpu), object_(std::move(object)), memory_(memory), image_(image), rows_(rows) {
    const std::lock_guard lock(all().mutex);
    all().modules.push_back(this);
  }
  ~Module() override {
    {
      const std::lock_guard lock(all().mutex);
      std::erase(all().modules, this);
    }
    (void)memory_.free(image_.data());
  }
  /// In the child of a fork(): a thread of the parent may have been decoding.
  static void begin_again() {
    for (Module* const module : all().modules) {
      begin_again_after_fork(module->mutex_);
      begin_again_after_fork(module->programs_);
    }
  }

  [[nodiscard]] const CodeObject& object() const override { return object_; }
  [[nodiscard]] std::uint64_t base_address() const override {
    return reinterpret_cast<std::uint64_t>(image_.data());
  }
  /// The decoded code of a kernel, created at its first launch.
  [[nodiscard]] Result<Program*> program(const Kernel& kernel, MfmaMode mfma) {
    const std::lock_guard lock(mutex_);
    auto& slot = programs_[{&kernel, mfma}];
    if (!slot)
      slot =
          MARGAY_TRY(Program::create(gpu_, object_, kernel, image_, base_address(), rows_, mfma));
    return slot.get();
  }

 private:
  struct All {
    All() { HeldOverFork::add(mutex); }
    std::mutex mutex;
    std::vector<Module*> modules;
  };
  static All& all() {
    static auto* const one = new All();  // modules may go after main()
    return *one;
  }

  const Gpu& gpu_;
  CodeObject object_;
  Memory& memory_;
  std::span<std::byte> image_;
  const RowTable& rows_;
  std::mutex mutex_;
  std::map<std::pair<const Kernel*, MfmaMode>, std::unique_ptr<Program>> programs_;
};

class VirtualDevice final : public Device {
 public:
  VirtualDevice(DeviceOptions options, std::unique_ptr<Memory> memory, const RowTable& rows)
      : options_(std::move(options)), memory_(std::move(memory)), rows_(rows) {
    const std::lock_guard lock(all().mutex);
    all().devices.push_back(this);
  }
  ~VirtualDevice() override {
    const std::lock_guard lock(all().mutex);
    std::erase(all().devices, this);
  }

  [[nodiscard]] const Gpu& gpu() const override { return *options_.gpu; }
  [[nodiscard]] const DeviceOptions& options() const override { return options_; }
  [[nodiscard]] Memory& memory() override { return *memory_; }

  [[nodiscard]] Result<std::shared_ptr<LoadedModule>> load(CodeObject object,
                                                           unsigned device) override {
    if (&object.architecture() != &gpu().arch())
      return fail(ErrorCode::wrong_architecture,
                  fmt::format("The code object is for {}; the {} runs code for {}.",
                              object.architecture().processor, gpu().name, gpu().arch().processor),
                  {}, fmt::format("Compile with --offload-arch={}.", gpu().arch().processor));
    const std::uint64_t bytes = object.image_bytes();
    void* const address = MARGAY_TRY(
        memory_->allocate(bytes, "code object", {.device = device, .whole_pages = true}));
    const std::span image(static_cast<std::byte*>(address), bytes);
    if (auto loaded = object.load(image, reinterpret_cast<std::uint64_t>(address)); !loaded) {
      (void)memory_->free(address);
      return std::unexpected(std::move(loaded).error());
    }
    return std::make_shared<Module>(gpu(), std::move(object), *memory_, image, rows_);
  }

  [[nodiscard]] Result<LaunchReport> launch(const LaunchRequest& request,
                                            LaunchObserver* observer) override {
    MARGAY_CHECK(check(request));
    const std::lock_guard lock(launch_mutex_);
    Dispatch running(MARGAY_TRY(job_of(request, observer)));
    const Running while_running(*this, running);
    (void)running.run(false);
    return report(running, hostcalls_.get());
  }

  [[nodiscard]] Result<StartedLaunch> start(const LaunchRequest& request) override {
    MARGAY_CHECK(check(request));
    const std::lock_guard lock(launch_mutex_);
    auto launch = std::make_unique<Flight>(*this, request);
    launch->running.emplace(MARGAY_TRY(job_of(launch->request, nullptr)));
    launch->registered.emplace(*this, *launch->running);
    if (launch->running->run(true)) return MARGAY_TRY(report(*launch->running, hostcalls_.get()));
    // This launch takes over what the next launch would reuse.
    launch->blocks = {arguments_.data(), grid_sync_};
    if (has_hidden_argument(*request.kernel, ArgumentKind::hidden_hostcall_buffer))
      launch->hostcalls = std::move(hostcalls_);
    arguments_ = {};
    grid_sync_ = nullptr;
    return launch;
  }

  void interrupt() override {
    const std::lock_guard lock(running_mutex_);
    for (Dispatch* const running : running_) running->interrupt();
  }

 private:
  /// Registers a launch for interrupt() during its lifetime.
  class Running {
   public:
    Running(VirtualDevice& device, Dispatch& launch) : device_(device), launch_(launch) {
      const std::lock_guard lock(device_.running_mutex_);
      device_.running_.push_back(&launch);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() {
      const std::lock_guard lock(device_.running_mutex_);
      std::erase(device_.running_, &launch_);
    }

   private:
    VirtualDevice& device_;
    Dispatch& launch_;
  };

  struct Flight final : LaunchInFlight {
    Flight(VirtualDevice& owner, const LaunchRequest& asked)
        : device(owner), arguments(asked.arguments.begin(), asked.arguments.end()), request(asked) {
      request.arguments = arguments;
    }
    ~Flight() override {
      registered.reset();
      running.reset();
      for (void* const block : blocks)
        if (block != nullptr) (void)device.memory_->free(block);
    }
    [[nodiscard]] Result<LaunchReport> finish() override {
      (void)running->run(false);
      return device.report(*running, hostcalls.get());
    }

    VirtualDevice& device;
    std::vector<std::byte> arguments;
    LaunchRequest request;
    std::array<void*, 2> blocks = {};  // in device memory, freed with the launch
    std::unique_ptr<HostcallBuffer> hostcalls;
    std::optional<Dispatch> running;
    std::optional<Running> registered;
  };

  [[nodiscard]] Status check(const LaunchRequest& request) const {
    if (!request.module || request.kernel == nullptr)
      return fail(ErrorCode::invalid_argument, "a launch without a kernel", "launch");
    MARGAY_CHECK(check_limits(request, gpu()));
    return {};
  }

  /// Places the kernel's inputs where the kernel expects them.
  [[nodiscard]] Result<DispatchJob> job_of(const LaunchRequest& request, LaunchObserver* observer) {
    Memory::set_view(request.device, request.visible_devices);
    HostcallBuffer* const hostcalls = MARGAY_TRY(hostcalls_for(*request.kernel));
    const HiddenAddresses hidden = MARGAY_TRY(hidden_for(request, hostcalls));
    const std::vector<std::byte> arguments = MARGAY_TRY(build_arguments(request, hidden));
    auto& module = static_cast<Module&>(*request.module);
    // Where only the time of the launch counts, so does that of the host.
    const MfmaMode mfma = request.workgroups == nullptr ? options_.mfma : MfmaMode::fast;
    Program* const program = MARGAY_TRY(module.program(*request.kernel, mfma));

    // Arguments and dispatch packet are in device memory: kernels read them with scalar loads.
    MARGAY_CHECK(reserve_arguments(arguments.size() + sizeof(DispatchPacket)));
    const auto base = reinterpret_cast<std::uint64_t>(arguments_.data());
    const LaunchAddresses addresses{
        .arguments = base + sizeof(DispatchPacket), .packet = base, .dispatch_id = dispatches_++};
    const DispatchPacket packet = build_packet(
        request, module.base_address() + request.kernel->descriptor_vaddr, addresses.arguments);
    std::memcpy(arguments_.data(), &packet, sizeof packet);
    std::memcpy(arguments_.data() + sizeof packet, arguments.data(), arguments.size());

    DispatchJob job;
    job.request = &request;
    job.program = program;
    job.memory = memory_.get();
    job.addresses = addresses;
    job.threads = options_.threads != 0 ? options_.threads
                                        : std::max(1u, std::thread::hardware_concurrency());
    job.resident_limit = std::max<std::uint64_t>(1, resident_limit(request, gpu()));
    job.options = &options_;
    job.observer = observer;
    job.hostcalls = hostcalls;
    if (request.workgroups != nullptr)
      job.share.source =
          std::make_shared<ListedWorkgroups>(request.workgroups, request.grid.count());
    else if (options_.spread)
      job.share = options_.spread(
          {.request = request,
           .program = *program,
           .memory = *memory_,
           .addresses = addresses,
           .calls_host = hostcalls != nullptr || hidden.heap != 0,
           .observed = observer != nullptr,
           .parts = observer != nullptr ? observer->parts(request, *program) : nullptr});
    return job;
  }
  [[nodiscard]] static Result<LaunchReport> report(Dispatch& ended, HostcallBuffer* hostcalls) {
    Result<LaunchReport> report = ended.report();
    if (!report && hostcalls != nullptr) hostcalls->reset();
    return report;
  }

  /// Null for a kernel that makes no calls to the host, or if no service would answer.
  [[nodiscard]] Result<HostcallBuffer*> hostcalls_for(const Kernel& kernel) {
    if (!options_.host_service ||
        !has_hidden_argument(kernel, ArgumentKind::hidden_hostcall_buffer))
      return nullptr;
    if (!hostcalls_)
      hostcalls_ = MARGAY_TRY(HostcallBuffer::create(*memory_, options_.host_service));
    return hostcalls_.get();
  }
  [[nodiscard]] Result<HiddenAddresses> hidden_for(const LaunchRequest& request,
                                                   const HostcallBuffer* hostcalls) {
    HiddenAddresses hidden;
    if (hostcalls != nullptr) hidden.hostcall_buffer = hostcalls->address();
    if (has_hidden_argument(*request.kernel, ArgumentKind::hidden_heap_v1))
      hidden.heap = MARGAY_TRY(heap());
    if (request.cooperative) {
      if (grid_sync_ == nullptr)
        grid_sync_ = static_cast<GridSync*>(
            MARGAY_TRY(memory_->allocate(sizeof(GridSync), "cooperative launch", kShared)));
      *grid_sync_ = build_grid_sync(request);
      hidden.grid_sync = reinterpret_cast<std::uint64_t>(grid_sync_);
    }
    return hidden;
  }
  /// The state of the device library's malloc; zeros are an empty heap.
  [[nodiscard]] Result<std::uint64_t> heap() {
    constexpr std::size_t kHeapBytes = 128 * 1024;  // source: ROCm clr, device/device.hpp
    if (heap_ == 0)
      heap_ = reinterpret_cast<std::uint64_t>(
          MARGAY_TRY(memory_->allocate(kHeapBytes, "heap", kShared)));
    return heap_;
  }
  [[nodiscard]] Status reserve_arguments(std::size_t bytes) {
    if (arguments_.size() >= bytes) return {};
    const std::size_t size = std::max<std::size_t>(bytes, 64 * 1024);
    void* const block = MARGAY_TRY(memory_->allocate(size, "kernel arguments", kShared));
    if (!arguments_.empty()) (void)memory_->free(arguments_.data());
    arguments_ = {static_cast<std::byte*>(block), size};
    return {};
  }

  struct All {
    All() {
      HeldOverFork::add(mutex);
      pthread_atfork(nullptr, nullptr, [] {
        Module::begin_again();
        for (VirtualDevice* const device : VirtualDevice::all().devices) device->begin_again();
      });
    }
    std::mutex mutex;
    std::vector<VirtualDevice*> devices;
  };
  static All& all() {
    static auto* const one = new All();
    return *one;
  }
  /// In the child of a fork(): running launches and their resources belong to the parent.
  void begin_again() {
    begin_again_after_fork(launch_mutex_);
    begin_again_after_fork(running_mutex_);
    begin_again_after_fork(running_);
    arguments_ = {};
    (void)hostcalls_.release();
    grid_sync_ = nullptr;
  }

  DeviceOptions options_;
  std::unique_ptr<Memory> memory_;
  const RowTable& rows_;
  std::mutex launch_mutex_;
  std::mutex running_mutex_;
  std::vector<Dispatch*> running_;
  std::span<std::byte> arguments_;
  std::atomic<std::uint64_t> dispatches_ = 0;
  std::unique_ptr<HostcallBuffer> hostcalls_;
  std::uint64_t heap_ = 0;
  GridSync* grid_sync_ = nullptr;  // in device memory
};

}  // namespace

Result<std::unique_ptr<Device>> Device::create(DeviceOptions options) {
  const RowTable* const rows = row_table(options.host_level, options.gpu->arch());
  if (rows == nullptr) {
    const std::string_view level =
        options.host_level.empty() ? best_host_level() : std::string_view(options.host_level);
    if (host_has(level))
      return fail(ErrorCode::not_found,
                  fmt::format("this build has no code for the instruction-set level {}", level),
                  "creating the virtual device",
                  "it is a build for one level alone, perhaps another machine's: ./margay build");
    return fail(ErrorCode::invalid_argument,
                fmt::format("this host cannot run the instruction-set level '{}'", level),
                "creating the virtual device",
                fmt::format("use generic, x86-64-v3 or x86-64-v4; this host's best is {}",
                            best_host_level()));
  }
  const Abi& abi = options.gpu->arch().abi;
  // Kernels that set up scratch or unpack work-item ids in another way are not supported.
  if (!abi.architected_flat_scratch || !abi.packed_work_item_ids)
    return fail(
        ErrorCode::not_implemented,
        fmt::format("the {} starts kernels in a way that is not implemented", options.gpu->name),
        "creating the virtual device");
  auto memory =
      MARGAY_TRY(Memory::create(options.gpu->memory_bytes, options.devices, options.whole_pages));
  return std::make_unique<VirtualDevice>(std::move(options), std::move(memory), *rows);
}

}  // namespace margay
