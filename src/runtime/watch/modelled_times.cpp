// See modelled_times.h.
#include "runtime/watch/modelled_times.h"

#include <algorithm>
#include <cstring>

#include "base/fork.h"
#include "observe/profile/session.h"
#include "observe/profile/time_sample.h"

namespace margay::runtime {
namespace {

constexpr std::uint64_t kLineBytes = 128;
/// Autotuners ask for many times: a quarter of what `margay time` replays, and within two
/// thousandths of it.
constexpr double kMostInstructions = 1e6;

/// What counts of a pointer.
std::uint64_t kind_of(std::uint64_t address) {
  return address == 0 ? 0 : kLineBytes | address % kLineBytes;
}

/// The arguments with pointers replaced by what counts of them. A pointer inside a structure is
/// part of a value: launches with another one are modelled anew.
std::vector<std::byte> telling(const LaunchRequest& request) {
  std::vector<std::byte> bytes(request.arguments.begin(), request.arguments.end());
  for (const KernelArgument& argument : request.kernel->arguments) {
    std::uint64_t address = 0;
    if (argument.kind != ArgumentKind::global_buffer || argument.size_bytes != sizeof address ||
        argument.offset_bytes + sizeof address > bytes.size())
      continue;
    std::memcpy(&address, bytes.data() + argument.offset_bytes, sizeof address);
    address = kind_of(address);
    std::memcpy(bytes.data() + argument.offset_bytes, &address, sizeof address);
  }
  return bytes;
}

}  // namespace

thread_local std::uint64_t ModelledTimes::OfData::digest_ = 0;

ModelledTimes::Key ModelledTimes::key_of(const LaunchRequest& request, bool warm) {
  const Dim3& grid = request.grid;
  const Dim3& block = request.block;
  return {request.module,
          request.kernel,
          {grid.x, grid.y, grid.z, block.x, block.y, block.z, request.dynamic_lds_bytes},
          telling(request),
          OfData::digest_,
          warm};
}

std::optional<LaunchTime> ModelledTimes::find(const LaunchRequest& request, bool warm) const {
  const Key key = key_of(request, warm);
  const std::lock_guard lock(mutex_);
  const auto found = times_.find(key);
  return found == times_.end() ? std::nullopt : std::optional(found->second);
}

Result<LaunchReport> ModelledTimes::launch(Device& device, const LaunchRequest& request, bool warm,
                                           const Run& run) {
  profile::ProfileConfig config;
  config.timed = true;
  config.time.what_if = config.time.latencies = false;
  config.time.warm = warm;
  config.time.most_instructions = kMostInstructions;
  profile::Session session(config);
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [address, tensor] : tensors_) session.tensors().describe(tensor);
  }
  Result<LaunchReport> result = session.launch(device, request, run);
  if (!result) return result;
  const profile::Profile profile = session.profile();
  if (profile.kernels.empty() || !profile.kernels.front().time)
    return fail(ErrorCode::not_implemented,
                "the launch ran, and the model of time gave no time for it", request.kernel->name,
                "please report it; MARGAY_EVENT_TIME=host does without");
  const timing::KernelTime& time = *profile.kernels.front().time;
  const std::lock_guard lock(mutex_);
  times_[key_of(request, warm)] = {time.us_boost, time.us_sustained, time.error_percent};
  return result;
}

Result<LaunchReport> ModelledTimes::model_part(Device& device, const LaunchRequest& request,
                                               bool warm) {
  if (request.cooperative)
    return fail(ErrorCode::not_implemented, "a part of a cooperative launch cannot run alone",
                request.kernel->name);
  LaunchRequest part = request;
  part.workgroups = profile::workgroups_to_time(device.gpu(), request);
  return launch(device, part, warm,
                [&](LaunchObserver* model) { return device.launch(part, model); });
}

double ModelledTimes::error_percent() const {
  const std::lock_guard lock(mutex_);
  double largest = 0;
  for (const auto& [key, time] : times_) largest = std::max(largest, time.error_percent);
  return largest;
}

void ModelledTimes::describe(const Tensor& tensor) {
  const std::lock_guard lock(mutex_);
  tensors_[tensor.range.begin] = tensor;
}

void ModelledTimes::begin_again() {
  begin_again_after_fork(mutex_);
  begin_again_after_fork(times_);
  begin_again_after_fork(tensors_);
}

}  // namespace margay::runtime
