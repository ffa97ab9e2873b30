#include "observe/profile/session.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "base/fork.h"
#include "code_object/demangle.h"
#include "exec/stream/watcher.h"
#include "observe/profile/parts.h"
#include "observe/profile/time_launch.h"
#include "observe/profile/time_sample.h"
#include "observe/profile/totals.h"
#include "report/words.h"

namespace margay::profile {
namespace {

/// As if the workgroups that did not run had done as much as those that ran unwatched.
void add_the_rest(const LaunchRequest& request, std::uint64_t watched, const WatchedWork& work,
                  LaunchReport& report) {
  const std::uint64_t others = request.workgroups->size() - watched;
  if (others == 0) return;
  const double all = static_cast<double>(request.grid.count() - watched);
  const auto add = [&](std::uint64_t of_watched, std::uint64_t& sum) {
    sum = of_watched + static_cast<std::uint64_t>(static_cast<double>(sum - of_watched) * all /
                                                  static_cast<double>(others));
  };
  add(work.instructions, report.wave_instructions);
  add(work.counters[Counter::SQ_INSTS_MFMA], report.mfma_instructions);
}

/// Of all workgroups, or of none. Those that did not run are taken to be as long as one of the
/// known ones near them: lengths that change along the grid keep their trend, and those that change
/// from one workgroup to the next their spread.
void add_lengths(const std::vector<WorkerResults>& all, std::uint64_t grid, WatchedWork& sum) {
  std::vector<WorkgroupLength> known;
  for (const WorkerResults& results : all)
    known.insert(known.end(), results.lengths.begin(), results.lengths.end());
  if (known.empty()) return;
  std::ranges::sort(known, {}, &WorkgroupLength::workgroup);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  constexpr std::size_t kNear = 4;
  std::minstd_rand random(1);
  sum.lengths.resize(grid);
  std::size_t next = 0;  // the first that is known from here on
  for (std::uint64_t n = 0; n < grid; ++n) {
    while (next < known.size() && known[next].workgroup < n) ++next;
    std::size_t like = next;
    if (next == known.size() || known[next].workgroup != n)
      like = std::min(std::max(next, kNear / 2) - kNear / 2 + random() % kNear, known.size() - 1);
    sum.lengths[n] = static_cast<std::uint32_t>(std::min(known[like].instructions, kMost));
  }
}

void add_work(const WorkerResults& results, Program& program, WatchedWork& sum) {
  const Facts& facts = program.facts<InstructionFacts>();
  sum.counters += results.counters;
  sum.lanes.resize(std::max(sum.lanes.size(), results.sites.size()));
  for (std::uint32_t n = 0; n < results.sites.size(); ++n) {
    const SiteCounts& site = results.sites[n];
    if (site.executions == 0) continue;
    sum.instructions += site.executions;
    sum.lanes[n].executions += site.executions;
    sum.lanes[n].active += site.active_lanes;
    sum.vector_flops += static_cast<double>(site.active_lanes) * facts.numbered(n).flops_per_lane;
  }
}

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
  const bool is_sampled = config_.timed && config_.workgroups.all() && !config_.time.all_workgroups;
  const Selection sample = is_sampled ? time_sample(device.gpu(), request) : config_.workgroups;
  const std::uint64_t counted = sample.count_below(request.grid.count());
  if (totals == nullptr || counted == 0) return run(nullptr);
  const std::vector<TensorArgument> tensors =
      tensor_arguments(request, device.memory(), described_);
  std::vector<AddressRange> ranges;
  for (const TensorArgument& tensor : tensors) ranges.push_back(tensor.range);
  DeviceAddresses addresses(device.memory(), ranges);
  SharedLaunchProfiler profiler(
      addresses, tensor_ranges(tensors, addresses),
      {launches_, first, config_.traced_workgroups, sample, config_.timed, config_.time.warm,
       is_sampled ? probes_of(device.gpu(), request) : std::vector<std::uint64_t>{}});
  Result<LaunchReport> result = run(&profiler);
  if (profiler.replay() == nullptr) return result;
  // Its results are added at once, so that profile() never sees a part of them.
  const std::lock_guard lock(mutex_);
  WatchedWork work;
  for (const WorkerResults& results : profiler.results())
    add_work(results, profiler.program(), work);
  work.sample = sample;
  if (result) add_lengths(profiler.results(), request.grid.count(), work);
  for (WorkerResults& results : profiler.results())
    std::ranges::move(results.probes, std::back_inserter(work.probes));
  for (WorkerResults& results : profiler.results())
    totals->add_worker(std::move(results), profiler.program());
  const std::uint64_t cold =
      cold_code(request.kernel->name + request.kernel->variant, totals->code_pieces());
  profiler.replay()->finish(cold);
  if (result && config_.timed) {
    for (const auto& xcd : profiler.replay()->xcds()) work.counters += xcd->counters();
    work.workgroups = counted;
    if (request.workgroups != nullptr) add_the_rest(request, counted, work, *result);
    const timing::LaunchRecording recording =
        recording_of(request, profiler.program(), *profiler.replay(), profiler.lines(), work,
                     *result, config_.time);
    timing::TimeConfig how = config_.time;
    how.traced_workgroups = config_.traced_workgroups;
    const unsigned threads = device.options().threads;
    totals->set_time(
        timing::time_of(recording, device.gpu(), how,
                        threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency())),
        recording.instructions, profiler.program());
  }
  totals->add_launch(request, profiler.program(), *profiler.replay(), tensors, counted, cold == 0,
                     result);
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
