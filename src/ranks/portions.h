// The workgroups of a launch in portions, each of which runs on one rank. Of `workgroups` there are
// `stride` portions; portion n has workgroups n, n + stride ... So with as many as workgroups each
// has one. Observers may ask for fewer (exec/workgroup/launch_parts.h).
#pragma once

#include <algorithm>
#include <cstdint>

namespace margay::ranks {

struct Portions {
  std::uint64_t workgroups = 0, stride = 0;

  /// Workgroups in portions [begin, end).
  [[nodiscard]] std::uint64_t workgroups_in(std::uint64_t begin, std::uint64_t end) const {
    if (stride == 0) return 0;
    const std::uint64_t longer = workgroups % stride;  // the first ones have one more
    return (end - begin) * (workgroups / stride) + std::min(end, longer) - std::min(begin, longer);
  }
};

/// Goes through the workgroups of portions [begin, end), portion by portion.
class PortionWalk {
 public:
  PortionWalk() = default;
  PortionWalk(const Portions& portions, std::uint64_t begin, std::uint64_t end)
      : portions_(portions), portion_(begin), end_(end), at_(begin) {}
  [[nodiscard]] bool at_end() const { return portion_ == end_; }
  [[nodiscard]] std::uint64_t next() {
    const std::uint64_t workgroup = at_;
    at_ += portions_.stride;
    if (at_ >= portions_.workgroups) at_ = ++portion_;
    return workgroup;
  }

 private:
  Portions portions_;
  std::uint64_t portion_ = 0, end_ = 0, at_ = 0;
};

}  // namespace margay::ranks
