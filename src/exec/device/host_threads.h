// Host threads that help to run launches. They are kept: a small launch ends before a new thread
// would have begun.
#pragma once

#include <functional>
#include <memory>

namespace margay {

/// Work that was given to another host thread.
class HostTask {
 public:
  virtual ~HostTask() = default;
  /// True when the work had not begun; then it never will.
  [[nodiscard]] virtual bool take_back() = 0;
  /// Takes it back or waits for its end.
  virtual void settle() = 0;
};

/// Has `work` done by a thread that is idle, or by a new one. It may not throw.
[[nodiscard]] std::shared_ptr<HostTask> post_to_host_thread(std::function<void()> work);

}  // namespace margay
