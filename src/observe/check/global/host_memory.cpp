#include "observe/check/global/host_memory.h"

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
  f.message = !store            ? say<Says::copy_unwritten>(copy.missing, copy.bytes)
              : store->computed ? say<Says::copy_computed>(copy.missing, copy.bytes)
                                : say<Says::copy_holds>(copy.missing, copy.bytes);
  f.detail = {say<Says::copy_first>(copy.first - copy.from)};
  if (const Tensor* const tensor = memory.tensors().at(copy.first); tensor != nullptr)
    f.detail.push_back(say<Says::copy_in_tensor>(tensor->shape));
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
  f.message = say<Says::unknown_memory>(arguments.size());
  for (const HostArgument& argument : arguments) {
    const auto described =
        std::ranges::find_if(request.kernel->arguments, [&](const KernelArgument& one) {
          return one.offset_bytes <= argument.offset &&
                 argument.offset < one.offset_bytes + one.size_bytes;
        });
    const bool has_name = described != request.kernel->arguments.end() && !described->name.empty();
    f.detail.push_back(has_name ? say<Says::named_argument>(described->name, argument.address)
                                : say<Says::unnamed_argument>(argument.offset, argument.address));
  }
  f.fix = Fix::register_memory;
  return {std::move(f)};
}

}  // namespace margay::check
