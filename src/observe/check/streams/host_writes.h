// Host code that writes to pinned memory while an asynchronous copy may still read or write it: the
// bytes are others than those that the copy left, when the host comes to wait for it. Nothing is
// protected, so that neither the program nor the system calls it makes notice. Reads leave no
// trace.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "observe/check/streams/stream_order.h"
#include "report/check/finding.h"

namespace margay::check {

class HostWrites {
 public:
  void watch(std::shared_ptr<const Operation> copy, std::uint64_t begin, std::uint64_t end,
             bool is_source);
  /// An operation writes here, or other memory is there: what changes now is not the host's.
  void forget(std::uint64_t begin, std::uint64_t end);
  void forget_all() {
    watched_.clear();
    bytes_ = 0;
  }
  [[nodiscard]] bool empty() const { return watched_.empty(); }
  /// The host now knows that more has ended: of the copies among it, what has been changed.
  [[nodiscard]] std::vector<Finding> ended(const OrderClock& host);

 private:
  struct Watched {
    std::shared_ptr<const Operation> copy;
    std::uint64_t begin = 0, end = 0;
    bool is_source = false;
    std::vector<std::uint64_t> blocks;  // what stood in each
  };
  [[nodiscard]] static Finding finding_of(const Watched& watched, std::uint64_t block);

  void drop_oldest();

  std::vector<Watched> watched_;
  std::uint64_t bytes_ = 0;
};

}  // namespace margay::check
