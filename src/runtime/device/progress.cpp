// See progress.h.
#include "runtime/device/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace margay::runtime {
namespace {

// A terminal line is redrawn frequently; plain lines remain in a log.
constexpr std::chrono::milliseconds kTerminalPeriod{200};
constexpr std::chrono::seconds kPlainPeriod{5};

}  // namespace

ProgressLine::ProgressLine(std::FILE* out) : out_(out), terminal_(isatty(fileno(out)) == 1) {}

void ProgressLine::begin(std::string kernel, Clock::time_point now) {
  kernel_ = std::move(kernel);
  begin_ = now;
  next_ = now + kQuietTime;
  shown_ = false;
}

void ProgressLine::update(std::uint64_t done, std::uint64_t total, Clock::time_point now) {
  if (now < next_ || total == 0) return;
  if (terminal_) {
    next_ = now + kTerminalPeriod;
  } else {
    next_ = now + kPlainPeriod;
  }
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const double share = static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  std::string line = fmt::format("margay: {}: {} of {} workgroups ({:.0f} %), {:.0f} s", kernel_,
                                 done, total, 100 * share, seconds);
  if (done > 0) line += fmt::format(", about {:.0f} s left", seconds / share - seconds);
  // Carriage return and "erase to the end of the line" (ECMA-48, EL) redraw in place.
  fmt::print(out_, "{}{}{}", terminal_ ? "\r" : "", line, terminal_ ? "\x1b[K" : "\n");
  std::fflush(out_);
  shown_ = true;
}

void ProgressLine::end() {
  if (shown_ && terminal_) {
    std::fputs("\r\x1b[K", out_);
    std::fflush(out_);
  }
}

}  // namespace margay::runtime
