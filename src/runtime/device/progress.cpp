// See progress.h.
#include "runtime/device/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace margay::runtime {
namespace {

// A terminal line is redrawn frequently; plain lines remain in a log.
constexpr std::chrono::milliseconds kTerminalPeriod{200};
constexpr std::chrono::seconds kPlainPeriod{5};

/// Of a terminal; 80 where it does not say.
std::size_t columns_of(std::FILE* out) {
  winsize size{};
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 80;
}

/// The begin of `name` in at most `room` characters, but not fewer than 8.
std::string cut(const std::string& name, std::size_t room) {
  room = std::max<std::size_t>(room, 8);
  return name.size() <= room ? name : name.substr(0, room - 3) + "...";
}

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
  std::string progress =
      fmt::format(": {} of {} workgroups ({:.0f} %), {:.0f} s", done, total, 100 * share, seconds);
  if (done > 0) progress += fmt::format(", about {:.0f} s left", seconds / share - seconds);
  constexpr std::string_view kTool = "margay: ";
  if (terminal_) {
    // Only what fits one line can be redrawn in place, and a cursor behind the last column wraps.
    const std::size_t taken = kTool.size() + progress.size() + 1, columns = columns_of(out_);
    // Carriage return and "erase to the end of the line" (ECMA-48, EL).
    fmt::print(out_, "\r{}{}{}\x1b[K", kTool, cut(kernel_, columns - std::min(taken, columns)),
               progress);
  } else {
    fmt::print(out_, "{}{}{}\n", kTool, kernel_, progress);
  }
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
