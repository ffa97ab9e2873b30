// Host services for running kernels: printing (printf, a failed assert) and memory (malloc and free
// in device code).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "exec/state/memory.h"

namespace margay::runtime {

/// Used by one thread at a time.
class HostServices {
 public:
  /// Answers one call of one work-item; see margay::HostService.
  [[nodiscard]] Status serve(Memory& memory, std::uint32_t service,
                             std::span<std::uint64_t, 8> slots);

  void begin_launch();
  /// Flushes everything that the launch printed.
  void end_launch();

  /// The launch's first failed assert, as its file, line, function and condition; empty without
  /// one.
  [[nodiscard]] const std::string& failed_assert() const { return failed_assert_; }

 private:
  /// Device code sends a message in pieces, and may send many at a time.
  void take_piece(std::span<std::uint64_t, 8> slots);
  [[nodiscard]] std::uint64_t print(std::span<const std::uint64_t> message);
  [[nodiscard]] Status give_memory(Memory& memory, std::span<std::uint64_t, 8> slots);

  std::map<std::uint64_t, std::vector<std::uint64_t>> messages_;  // unfinished, by number
  std::uint64_t next_message_ = 1;
  std::map<std::uint64_t, std::uint64_t> slabs_;  // address to that of the allocation it is in
  std::string failed_assert_;
  bool printed_ = false;
};

}  // namespace margay::runtime
