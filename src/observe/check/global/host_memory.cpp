#include "observe/check/global/host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace margay::check {

std::vector<Finding> undefined_copy(const UndefinedCopy& copy, const GlobalMemory& memory) {
  if (copy.missing == 0) return {};
  const auto store = memory.store_into(copy.first, copy.from + copy.span - copy.first);
  if (store && store->told) return {};
  Finding f;
  f.kind = FindingKind::uninitialised_copy;
  f.severity = store && store->computed ? Severity::error : Severity::note;
  const bool one = copy.missing == 1;
  f.message = fmt::format("{} of {} bytes that are copied from the device to the host {}",
                          copy.missing, copy.bytes,
                          !store            ? (one ? "was never written" : "were never written")
                          : store->computed ? "were computed from values that were never written"
                                            : "hold values that were never written");
  f.detail.push_back(fmt::format("the first is byte {} of what is copied", copy.first - copy.from));
  if (const Tensor* const tensor = memory.tensors().at(copy.first); tensor != nullptr)
    f.detail.push_back(fmt::format("in a tensor of {} x {} x {} x {}", tensor->shape[0],
                                   tensor->shape[1], tensor->shape[2], tensor->shape[3]));
  if (store) {
    f.kernel = store->kernel;
    if (store->read.vaddr != kNoVaddr) f.accesses.push_back(store->read);
    f.accesses.push_back(store->access);
    f.fix = store->computed ? Fix::kernel_input : Fix::every_member;
  } else {
    f.fix = Fix::whole_grid;
  }
  return {std::move(f)};
}

std::vector<Finding> unregistered_memory(const LaunchRequest& request,
                                         std::vector<HostArgument> arguments) {
  if (arguments.empty()) return {};
  std::ranges::sort(arguments, {}, &HostArgument::offset);
  Finding f;
  f.kind = FindingKind::pageable_memory;
  f.severity = Severity::note;
  const std::size_t count = arguments.size();
  f.message =
      fmt::format("{} of the kernel's arguments {} to host memory that HIP knows nothing of", count,
                  count == 1 ? "points" : "point");
  for (const HostArgument& argument : arguments) {
    const auto described =
        std::ranges::find_if(request.kernel->arguments, [&](const KernelArgument& one) {
          return one.offset_bytes <= argument.offset &&
                 argument.offset < one.offset_bytes + one.size_bytes;
        });
    const bool has_name = described != request.kernel->arguments.end() && !described->name.empty();
    f.detail.push_back(fmt::format(
        "{}: {:#x}",
        has_name ? described->name : fmt::format("argument at byte {}", argument.offset),
        argument.address));
  }
  f.fix = Fix::register_memory;
  return {std::move(f)};
}

}  // namespace margay::check
