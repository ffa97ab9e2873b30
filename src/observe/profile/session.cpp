#include "observe/profile/session.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "base/fork.h"
#include "code_object/demangle.h"
#include "exec/stream/stream.h"
#include "exec/workgroup/occupancy.h"
#include "observe/profile/time_launch.h"
#include "observe/profile/totals.h"
#include "report/words.h"

namespace margay::profile {
namespace {

std::vector<AddressRange> ranges_of(const std::vector<TensorArgument>& tensors) {
  std::vector<AddressRange> ranges;
  for (const TensorArgument& tensor : tensors) ranges.push_back(tensor.range);
  return ranges;
}

std::vector<AddressRange> seen_by_caches(const std::vector<AddressRange>& ranges,
                                         DeviceAddresses& addresses) {
  std::vector<AddressRange> out;
  for (const AddressRange& range : ranges) out.push_back(addresses.seen(range));
  return out;
}

/// The same in host addresses, with a known end.
std::vector<AddressRange> with_ends(std::vector<AddressRange> ranges,
                                    const std::vector<AddressRange>& seen) {
  for (std::size_t n = 0; n < ranges.size(); ++n)
    ranges[n].end = ranges[n].begin + (seen[n].end - seen[n].begin);
  return ranges;
}

ReplayPlan plan_of(const Gpu& gpu, const LaunchRequest& request, std::size_t sites,
                   const Selection& sample, bool warm = false) {
  const auto size = static_cast<std::uint32_t>(request.block.count());
  const Occupancy fits = occupancy(gpu.arch(), *request.kernel, size, request.dynamic_lds_bytes);
  return {request.grid.count(), std::max(1u, fits.workgroups_per_cu), sites, sample, &gpu, warm};
}

/// What the model of time sees of a launch: all workgroups if one XCD has room for them, else those
/// of the first XCD, until it has been filled once, and twice if that is a small part of the
/// launch. XCDs get workgroups in turn, so that the first one's are as good as any.
Selection time_sample(const Gpu& gpu, const LaunchRequest& request) {
  constexpr std::uint64_t kSmallPart = 16;
  const ReplayPlan plan = plan_of(gpu, request, 0, {});
  const std::uint64_t room = std::uint64_t{plan.workgroups_per_cu} * gpu.cus_per_xcd;
  if (plan.workgroups <= room) return {};
  return Selection::every(gpu.xcds,
                          std::clamp<std::uint64_t>(plan.workgroups / kSmallPart, room, 2 * room));
}

void add_work(const WorkerResults& results, Program& program, WatchedWork& sum) {
  const Facts& facts = program.facts<InstructionFacts>();
  sum.counters += results.counters;
  for (std::uint32_t n = 0; n < results.sites.size(); ++n) {
    const SiteCounts& site = results.sites[n];
    if (site.executions == 0) continue;
    sum.instructions += site.executions;
    sum.vector_flops += static_cast<double>(site.active_lanes) * facts.numbered(n).flops_per_lane;
  }
}

/// Watches one launch. The device requests workers once the launch has been validated;
/// program-dependent state is created then.
class LaunchProfiler final : public LaunchObserver {
 public:
  LaunchProfiler(const Memory& memory, std::vector<TensorArgument> tensors, std::uint32_t number,
                 bool first, std::uint64_t traced_workgroups, const Selection& sample, bool timed,
                 bool warm)
      : tensors_(std::move(tensors)),
        addresses_(memory, ranges_of(tensors_)),
        seen_(seen_by_caches(ranges_of(tensors_), addresses_)),
        ranges_(with_ends(ranges_of(tensors_), seen_)),
        lines_(seen_),
        number_(number),
        first_(first),
        traced_workgroups_(first ? traced_workgroups : 0),
        sample_(sample),
        timed_(timed),
        warm_(timed && warm) {}

  [[nodiscard]] std::unique_ptr<Watcher> watch(const LaunchRequest& request,
                                               Program& program) override {
    return make(request, program);
  }
  [[nodiscard]] std::unique_ptr<WorkgroupObserver> observe(const LaunchRequest& request,
                                                           Program& program) override {
    return std::make_unique<StreamObserver<Worker>>(make(request, program), program);
  }

  /// Null when the launch was refused before anything ran.
  [[nodiscard]] Replay* replay() { return replay_.get(); }
  /// When all workers are done.
  [[nodiscard]] std::vector<WorkerResults>& results() { return results_; }
  [[nodiscard]] Program& program() const { return *program_; }
  [[nodiscard]] const std::vector<TensorArgument>& tensors() const { return tensors_; }
  [[nodiscard]] const TensorLines& lines() const { return lines_; }

 private:
  [[nodiscard]] std::unique_ptr<Worker> make(const LaunchRequest& request, Program& program) {
    {
      const std::lock_guard lock(mutex_);
      if (replay_ == nullptr) {
        const auto [begin, end] = program.executable_range();
        const ReplayPlan plan = plan_of(program.gpu(), request, (end - begin) / 4, sample_, warm_);
        resident_ = plan.workgroups_per_cu * program.gpu().compute_units();
        program_ = &program;
        replay_ = std::make_unique<Replay>(plan, lines_);
      }
    }
    return std::make_unique<Worker>(Worker::Launch{
        request, program, ranges_, addresses_, lines_, *replay_, resident_, number_, sample_,
        first_, traced_workgroups_, timed_, [this](WorkerResults&& results) {
          const std::lock_guard lock(mutex_);
          results_.push_back(std::move(results));
        }});
  }

  const std::vector<TensorArgument> tensors_;
  DeviceAddresses addresses_;
  const std::vector<AddressRange> seen_;    // the tensors in cache addresses
  const std::vector<AddressRange> ranges_;  // and in host addresses
  TensorLines lines_;
  const std::uint32_t number_;
  const bool first_;
  const std::uint64_t traced_workgroups_;
  const Selection& sample_;
  const bool timed_, warm_;
  std::mutex mutex_;
  std::vector<WorkerResults> results_;
  Program* program_ = nullptr;
  std::uint32_t resident_ = 1;
  std::unique_ptr<Replay> replay_;
};

}  // namespace

Session::Session(ProfileConfig config) : config_(std::move(config)) {}
Session::~Session() = default;

KernelTotals& Session::totals_of(const LaunchRequest& request) {
  KernelKey key = key_of(request);
  for (const auto& kernel : kernels_)
    if (kernel->key() == key) return *kernel;
  return *kernels_.emplace_back(std::make_unique<KernelTotals>(std::move(key)));
}

void Session::begin_again() {
  begin_again_after_fork(launching_);
  begin_again_after_fork(mutex_);
  begin_again_after_fork(kernels_);
  begin_again_after_fork(warm_code_);
  launches_ = 0;
  interrupted_.clear();
}

std::uint64_t Session::cold_code(const std::string& kernel, const std::set<std::uint64_t>& pieces) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      pieces, [&](std::uint64_t piece) { return warm_code_.emplace(kernel, piece).second; }));
}

bool is_wanted(const Kernel& kernel, std::string_view wanted) {
  if (report::is_in_name(wanted, code_object::demangled(kernel.name)) || kernel.name == wanted ||
      report::is_in_name(wanted, kernel.title))
    return true;
  return std::ranges::any_of(kernel.computes, [&](const SourceFrame& operation) {
    const std::string place = report::place_of({{}, operation.file, operation.line, 0}, {});
    return operation.function.contains(wanted) || place == wanted ||
           place.ends_with("/" + std::string(wanted));
  });
}

Result<LaunchReport> Session::launch(Device& device, const LaunchRequest& request,
                                     LaunchObserver* beside) {
  return launch(device, request, [&](LaunchObserver* profiler) {
    if (beside == nullptr || profiler == nullptr)
      return device.launch(request, profiler == nullptr ? beside : profiler);
    JointObserver both({beside, profiler});
    return device.launch(request, &both);
  });
}

Result<LaunchReport> Session::launch(Device& device, const LaunchRequest& request, const Run& run) {
  if (!config_.kernel.empty() && !is_wanted(*request.kernel, config_.kernel)) return run(nullptr);
  const std::lock_guard one_at_a_time(launching_);
  KernelTotals* totals = nullptr;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    device_ = device.gpu().name;
    constexpr std::string_view kModes[] = {"exact", "fma", "fast"};
    mfma_ = kModes[static_cast<std::size_t>(device.options().mfma)];
    totals = &totals_of(request);
    first = totals->empty();
    ++launches_;
    const bool chosen = config_.launches.contains(totals->see_launch());
    // Of later launches of the same size the model says nothing new.
    if (!chosen || (config_.timed && totals->is_timed())) totals = nullptr;
  }
  const Selection sample = config_.timed && config_.workgroups.all() && !config_.time.all_workgroups
                               ? time_sample(device.gpu(), request)
                               : config_.workgroups;
  const std::uint64_t counted = sample.count_below(request.grid.count());
  if (totals == nullptr || counted == 0) return run(nullptr);
  LaunchProfiler profiler(device.memory(), tensor_arguments(request, device.memory(), described_),
                          launches_, first, config_.traced_workgroups, sample, config_.timed,
                          config_.time.warm);
  Result<LaunchReport> result = run(&profiler);
  if (profiler.replay() == nullptr) return result;
  // Its results are added at once, so that profile() never sees a part of them.
  const std::lock_guard lock(mutex_);
  WatchedWork work;
  for (const WorkerResults& results : profiler.results())
    add_work(results, profiler.program(), work);
  for (WorkerResults& results : profiler.results())
    totals->add_worker(std::move(results), profiler.program());
  const std::uint64_t cold =
      cold_code(request.kernel->name + request.kernel->variant, totals->code_pieces());
  profiler.replay()->finish(cold);
  if (result && config_.timed) {
    for (const auto& xcd : profiler.replay()->xcds()) work.counters += xcd->counters();
    work.workgroups = counted;
    const timing::LaunchRecording recording =
        recording_of(request, profiler.program(), *profiler.replay(), profiler.lines(), work,
                     *result, config_.time);
    timing::TimeConfig how = config_.time;
    how.traced_workgroups = config_.traced_workgroups;
    const unsigned threads = device.options().threads;
    totals->set_time(
        timing::time_of(recording, device.gpu(), how,
                        threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency())),
        recording.instructions);
  }
  totals->add_launch(request, profiler.program(), *profiler.replay(), profiler.tensors(), counted,
                     cold == 0, result);
  if (!result && result.error().code == ErrorCode::interrupted)
    interrupted_ += fmt::format(
        "{}{}: {}, and its counts are those of the workgroups that ran",
        interrupted_.empty() ? "" : "; ",
        report::short_function(code_object::demangled(request.kernel->name)), result.error().what);
  return result;
}

Profile Session::profile() {
  const std::lock_guard lock(mutex_);
  Profile out;
  out.device = device_;
  out.schedule = kSchedule;
  out.mfma = mfma_;
  out.partial = interrupted_;
  for (const auto& kernel : kernels_)
    if (!kernel->empty()) out.kernels.push_back(kernel->profile());
  return out;
}

}  // namespace margay::profile
