#include "observe/profile/launch_profiler.h"

#include <algorithm>
#include <utility>

#include "exec/program/program.h"
#include "exec/stream/stream.h"
#include "exec/workgroup/occupancy.h"

namespace margay::profile {

TensorRanges tensor_ranges(const std::vector<TensorArgument>& tensors, DeviceAddresses& addresses) {
  TensorRanges out;
  for (const TensorArgument& tensor : tensors) {
    AddressRange& range = out.host.emplace_back(tensor.range);
    const AddressRange& seen = out.seen.emplace_back(addresses.seen(range));
    range.end = range.begin + (seen.end - seen.begin);
  }
  return out;
}

ReplayPlan replay_plan(const Gpu& gpu, const LaunchRequest& request, std::size_t sites,
                       const LaunchPlan& plan) {
  const auto size = static_cast<std::uint32_t>(request.block.count());
  const Occupancy fits = occupancy(gpu.arch(), *request.kernel, size, request.dynamic_lds_bytes);
  return {request.grid.count(),
          std::max(1u, fits.workgroups_per_cu),
          sites,
          plan.sample,
          &gpu,
          /*warm=*/plan.timed && plan.warm};
}

LaunchProfiler::LaunchProfiler(DeviceAddresses& addresses, TensorRanges tensors, LaunchPlan plan)
    : addresses_(addresses),
      tensors_(std::move(tensors)),
      lines_(tensors_.seen),
      plan_(std::move(plan)) {}

std::unique_ptr<WorkgroupObserver> LaunchProfiler::observe(const LaunchRequest& request,
                                                           Program& program) {
  return std::make_unique<StreamObserver<Worker>>(make(request, program), program);
}

void LaunchProfiler::collect(WorkerResults&& results) {
  const std::lock_guard lock(mutex_);
  results_.push_back(std::move(results));
}

void LaunchProfiler::prepare(const LaunchRequest& request, Program& program) {
  const std::lock_guard lock(mutex_);
  if (replay_ != nullptr) return;
  const auto [begin, end] = program.executable_range();
  const ReplayPlan plan = replay_plan(program.gpu(), request, (end - begin) / 4, plan_);
  resident_ = plan.workgroups_per_cu * program.gpu().compute_units();
  program_ = &program;
  replay_ = std::make_unique<Replay>(plan, lines_);
}

std::unique_ptr<Worker> LaunchProfiler::make(const LaunchRequest& request, Program& program) {
  prepare(request, program);
  return std::make_unique<Worker>(Worker::Launch{
      request, program, tensors_.host, addresses_, lines_, *replay_, resident_, plan_.number,
      plan_.sample, plan_.probes, plan_.first, plan_.first ? plan_.traced_workgroups : 0,
      plan_.timed, [this](WorkerResults&& results) { collect(std::move(results)); }});
}

}  // namespace margay::profile
