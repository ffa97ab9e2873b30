// A user's program as a child process: started with a changed environment, waited for, and killed
// after a time limit, if any.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace margay::cli {

struct ChildPlan {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;  ///< Added to ours, or replacing.
  bool silent = false;    ///< stdin, stdout and stderr are /dev/null.
  int error_output = -1;  ///< The file that is its stderr; ours if negative.
  /// With a limit the child is a process group of its own, which is killed as a whole.
  std::optional<std::chrono::duration<double>> limit = {};
  const std::atomic<bool>* stop = nullptr;  ///< With a limit: killed when this becomes true.
};

/// How a child ended.
struct ChildEnd {
  int exit_code = 0;
  int signal = 0;  ///< 0: it ended by itself.
  bool timed_out = false;
  double seconds = 0;

  /// The exit code as in a shell: 128 + N after signal N.
  [[nodiscard]] int shell_code() const { return signal != 0 ? 128 + signal : exit_code; }
};

/// Runs the child to its end. Without a limit it receives the terminal's signals, and signals that
/// another process sends to this one are forwarded to it.
[[nodiscard]] Result<ChildEnd> run_child(const ChildPlan& plan);

/// "signal 11 (Segmentation fault)"
[[nodiscard]] std::string signal_text(int signal);

}  // namespace margay::cli
