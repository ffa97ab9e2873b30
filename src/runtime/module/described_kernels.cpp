#include "runtime/module/described_kernels.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "report/json_node.h"

namespace margay::runtime {
namespace {

using report::Node, report::text, report::number, report::list;

Result<KernelArgument> as_buffer(const Node& node) {
  KernelArgument buffer;
  buffer.name = MARGAY_TRY(text(node, "name"));
  buffer.type_name = MARGAY_TRY(text(node, "element"));
  buffer.element_bytes = MARGAY_TRY(number<std::uint32_t>(node, "element_bytes"));
  const auto shape =
      MARGAY_TRY(list<std::uint64_t>(node, "shape", report::as_number<std::uint64_t>));
  if (shape.size() != buffer.shape.size())
    return MARGAY_TRY(node.field("shape")).wrong("an array of four");
  std::ranges::copy(shape, buffer.shape.begin());
  return buffer;
}

using Named = std::pair<std::string, DescribedKernels::Description>;

Result<Named> as_kernel(const Node& node) {
  Named named;
  DescribedKernels::Description& d = named.second;
  named.first = MARGAY_TRY(text(node, "name"));
  d.title = MARGAY_TRY(text(node, "title"));
  d.variant = MARGAY_TRY(text(node, "variant"));
  d.inputs = MARGAY_TRY(number<std::uint64_t>(node, "inputs"));
  d.buffers = MARGAY_TRY(list<KernelArgument>(node, "buffers", as_buffer));
  d.computes = MARGAY_TRY(list<SourceFrame>(node, "computes", report::as_frame));
  return named;
}

/// That of `name`, or of what is left of it without a number: XLA numbers the kernels of one
/// operation (sort_4, sort_4_1).
auto find(const auto& kernels, std::string_view name) {
  auto found = kernels.find(name);
  while (found == kernels.end()) {
    const std::size_t digits = name.find_last_not_of("0123456789");
    if (digits == name.npos || digits + 1 == name.size() || name[digits] != '_') break;
    name = name.substr(0, name.find_last_not_of('_', digits) + 1);
    found = kernels.find(name);
  }
  return found;
}

}  // namespace

Status DescribedKernels::set(std::string_view json) {
  std::map<std::string, Description, std::less<>> kernels;
  if (!json.empty()) {
    const auto parsed = report::Json::parse(json, nullptr, /*allow_exceptions=*/false);
    if (parsed.is_discarded())
      return fail(ErrorCode::invalid_argument, "The description of kernels is not JSON.");
    for (Named& named : MARGAY_TRY(list<Named>(Node{&parsed, {}}, "kernels", as_kernel)))
      kernels.insert(std::move(named));
  }
  const std::lock_guard lock(mutex_);
  kernels_ = std::move(kernels);
  return {};
}

std::optional<Kernel> DescribedKernels::described(const Kernel& kernel) const {
  const std::lock_guard lock(mutex_);
  const auto found = find(kernels_, kernel.name);
  if (found == kernels_.end()) return std::nullopt;
  const Description& d = found->second;
  Kernel out = kernel;
  out.title = d.title + kernel.name.substr(found->first.size());
  out.variant = d.variant;
  out.computes = d.computes;
  std::vector<KernelArgument*> pointers;
  for (KernelArgument& argument : out.arguments)
    if (argument.kind == ArgumentKind::global_buffer) pointers.push_back(&argument);
  const std::size_t known = pointers.size() >= d.buffers.size() ? d.buffers.size()
                            : pointers.size() >= d.inputs       ? d.inputs
                                                                : 0;
  for (std::size_t n = 0; n < known; ++n) {
    pointers[n]->name = d.buffers[n].name;
    pointers[n]->type_name = d.buffers[n].type_name;
    pointers[n]->shape = d.buffers[n].shape;
    pointers[n]->element_bytes = d.buffers[n].element_bytes;
  }
  return out;
}

}  // namespace margay::runtime
