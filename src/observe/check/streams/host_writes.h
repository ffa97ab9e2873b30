// Host code that writes to pinned memory while an asynchronous copy may still read or write it:
// when the host waits for the copy, the bytes differ from those that the copy left. No memory is
// protected, so that neither the program nor its system calls are affected. Reads cannot be
// detected.
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
  /// An operation writes here, or the memory is replaced: changes from now on are not the host's.
  void forget(std::uint64_t begin, std::uint64_t end);
  void forget_all() {
    watched_.clear();
    bytes_ = 0;
  }
  [[nodiscard]] bool empty() const { return watched_.empty(); }
  /// The host now knows that further operations have ended: returns the changes to the copies among
  /// them.
  [[nodiscard]] std::vector<Finding> ended(const OrderClock& host);

 private:
  struct Watched {
    std::shared_ptr<const Operation> copy;
    std::uint64_t begin = 0, end = 0;
    bool is_source = false;
    std::vector<std::uint64_t> blocks;  // the contents of each
  };
  [[nodiscard]] static Finding finding_of(const Watched& watched, std::uint64_t block);

  void drop_oldest();

  std::vector<Watched> watched_;
  std::uint64_t bytes_ = 0;
};

}  // namespace margay::check
