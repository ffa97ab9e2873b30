// Host threads that help to run launches. They are pooled: a small launch ends before a new thread
// would have started.
#pragma once

#include <functional>
#include <memory>

namespace margay {

/// Work that was given to another host thread.
class HostTask {
 public:
  virtual ~HostTask() = default;
  /// True when the work had not begun; then it never runs.
  [[nodiscard]] virtual bool take_back() = 0;
  /// Cancels the work, or waits until it ends.
  virtual void settle() = 0;
};

/// Runs `work` on an idle thread, or on a new one. It must not throw.
[[nodiscard]] std::shared_ptr<HostTask> post_to_host_thread(std::function<void()> work);

}  // namespace margay
