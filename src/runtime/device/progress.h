// The line that MARGAY_PROGRESS=1 shows while a long launch runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace margay::runtime {

class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;

  /// No progress line for a launch that ends before it can be read.
  static constexpr std::chrono::seconds kQuietTime{2};

  explicit ProgressLine(std::FILE* out);

  void begin(std::string kernel, Clock::time_point now);
  void update(std::uint64_t done, std::uint64_t total, Clock::time_point now);
  void end();

 private:
  std::FILE* out_;
  bool terminal_;
  bool shown_ = false;
  std::string kernel_;
  Clock::time_point begin_;
  Clock::time_point next_;
};

}  // namespace margay::runtime
