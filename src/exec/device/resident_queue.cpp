#include "exec/device/resident_queue.h"

#include <algorithm>

namespace margay {

ResidentQueue::Next ResidentQueue::next() {
  if (size_.load(std::memory_order_relaxed) == 0) {
    const std::uint64_t id = residents_.begin();
    if (id < residents_.workgroups()) return id;
  }
  const std::lock_guard lock(mutex_);
  auto ready = std::ranges::find_if(queue_, [](const auto& group) { return group->is_ready(); });
  const bool begin_one = begin_one_ && !residents_.alone();
  if (residents_.has_room() && (begin_one || ready == queue_.end())) {
    const std::uint64_t id = residents_.begin();
    begin_one_ = false;
    if (id < residents_.workgroups()) {
      residents_.progress();
      return id;
    }
  }
  begin_one_ = true;
  if (queue_.empty()) return {};
  // If none is ready, run one anyway so that it can time out.
  if (ready == queue_.end()) ready = queue_.begin();
  std::unique_ptr<Workgroup> group = std::move(*ready);
  queue_.erase(ready);
  --size_;
  return group;
}

void ResidentQueue::put_aside(std::unique_ptr<Workgroup> group) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(group));
  ++size_;
}

}  // namespace margay
