#include "observe/described_tensors.h"

#include <iterator>

namespace margay {

void DescribedTensors::describe(const Tensor& tensor) {
  const std::lock_guard lock(mutex_);
  // Memory is reused: descriptions that overlap the new one are removed.
  auto at = tensors_.lower_bound(tensor.range.begin);
  if (at != tensors_.begin() && std::prev(at)->second->range.end > tensor.range.begin) --at;
  while (at != tensors_.end() && at->first < tensor.range.end) at = tensors_.erase(at);
  tensors_[tensor.range.begin] = std::make_unique<Tensor>(tensor);
}

std::vector<Tensor> DescribedTensors::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Tensor> tensors;
  for (const auto& [begin, tensor] : tensors_) tensors.push_back(*tensor);
  return tensors;
}

const Tensor* DescribedTensors::at(std::uint64_t address, bool near) const {
  const std::lock_guard lock(mutex_);
  const auto after = tensors_.upper_bound(address);
  if (after == tensors_.begin()) return nullptr;
  const Tensor* const tensor = std::prev(after)->second.get();
  return near || tensor->range.contains(address, 1) ? tensor : nullptr;
}

}  // namespace margay
