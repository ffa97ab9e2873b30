// Collects the findings of the checks of one host thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "report/check/report.h"

namespace margay::check {

class Reporter {
 public:
  Reporter(std::uint64_t launch, std::string kernel)
      : launch_(launch), kernel_(std::move(kernel)), kernel_hash_(hash_of(kernel_)) {}

  void begin_workgroup(std::uint64_t linear_id, const std::uint32_t (&id)[3]) {
    workgroup_ = linear_id;
    id_ = {id[0], id[1], id[2]};
    order_ = 0;
  }

  /// True when this has been found before at these instructions; then it is counted. Otherwise
  /// build the finding and add() it with the same key.
  [[nodiscard]] bool repeat(FindingKind kind, std::uint64_t vaddr0, std::uint64_t vaddr1 = kNoVaddr,
                            std::string_view extra = {}) {
    return set_.count_again({kind, kernel_hash_, vaddr0, vaddr1, hash_of(extra)},
                            {launch_, workgroup_, ++order_});
  }
  void add(Finding finding, std::string_view extra = {}) {
    finding.launch = launch_;
    finding.kernel = kernel_;
    set_.add(std::move(finding), workgroup_, order_, extra);
  }
  /// An access of the current workgroup.
  [[nodiscard]] Access access(Role role, std::uint64_t vaddr, std::int32_t wave,
                              std::int32_t lane = kNoNumber) const {
    Access a;
    a.role = role;
    a.wave = wave;
    a.lane = lane;
    a.workgroup = id_;
    a.vaddr = vaddr;
    return a;
  }

  [[nodiscard]] FindingSet& set() { return set_; }
  [[nodiscard]] std::uint64_t launch() const { return launch_; }
  [[nodiscard]] const std::string& kernel() const { return kernel_; }
  [[nodiscard]] std::uint64_t workgroup() const { return workgroup_; }

 private:
  std::uint64_t launch_;
  std::string kernel_;
  std::uint64_t kernel_hash_;
  std::uint64_t workgroup_ = 0;
  std::array<std::uint32_t, 3> id_ = {};
  std::uint64_t order_ = 0;
  FindingSet set_;
};

}  // namespace margay::check
