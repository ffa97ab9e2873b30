// Some workgroups of a launch; the others are not run at all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "exec/workgroup/workgroup_source.h"

namespace margay {

/// A workgroup of the list that waits for memory to change ends the launch as interrupted: what it
/// waits for may be one of the others.
class ListedWorkgroups final : public WorkgroupSource {
 public:
  /// `total`: the workgroups of the launch.
  ListedWorkgroups(std::shared_ptr<const std::vector<std::uint64_t>> list, std::uint64_t total)
      : list_(std::move(list)), total_(total) {}

  [[nodiscard]] std::uint64_t next() override {
    const std::size_t n = next_.fetch_add(1, std::memory_order_relaxed);
    return n < list_->size() ? (*list_)[n] : total_;
  }
  [[nodiscard]] bool found_waiting() override { return false; }
  void stop() override { next_.store(list_->size(), std::memory_order_relaxed); }
  [[nodiscard]] ElsewhereReport report() const override { return {}; }

 private:
  const std::shared_ptr<const std::vector<std::uint64_t>> list_;
  const std::uint64_t total_;
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace margay
