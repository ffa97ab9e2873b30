#include "exec/device/host_threads.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace margay {
namespace {

class Task;

/// Never destroyed: its threads outlive main().
struct Pool {
  std::mutex mutex;
  std::condition_variable posted, ended;
  std::deque<std::shared_ptr<Task>> waiting;
  std::size_t idle = 0;
};
Pool*& pool_pointer() {
  static auto* one = new Pool();
  return one;
}
Pool& pool() {
  // The child of a fork() has none of the threads; it starts with a new pool.
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { pool_pointer() = new Pool(); });
  return *pool_pointer();
}

class Task final : public HostTask {
 public:
  explicit Task(std::function<void()> work) : work_(std::move(work)) {}
  [[nodiscard]] bool take_back() override {
    const std::lock_guard lock(pool().mutex);
    return take_back_locked();
  }
  void settle() override {
    std::unique_lock lock(pool().mutex);
    if (take_back_locked()) return;
    pool().ended.wait(lock, [&] { return ended_; });
  }
  void run() {
    work_();
    const std::lock_guard lock(pool().mutex);
    ended_ = true;
    pool().ended.notify_all();
  }

 private:
  bool take_back_locked() {
    auto& waiting = pool().waiting;
    const auto found =
        std::ranges::find(waiting, this, [](const auto& task) { return task.get(); });
    if (found == waiting.end()) return false;
    waiting.erase(found);
    ended_ = true;
    return true;
  }

  const std::function<void()> work_;
  bool ended_ = false;  // guarded by the pool's mutex
};

void serve() {
  std::unique_lock lock(pool().mutex);
  while (true) {
    ++pool().idle;
    pool().posted.wait(lock, [] { return !pool().waiting.empty(); });
    --pool().idle;
    const std::shared_ptr<Task> task = std::move(pool().waiting.front());
    pool().waiting.pop_front();
    lock.unlock();
    task->run();
    lock.lock();
  }
}

}  // namespace

std::shared_ptr<HostTask> post_to_host_thread(std::function<void()> work) {
  auto task = std::make_shared<Task>(std::move(work));
  const std::lock_guard lock(pool().mutex);
  pool().waiting.push_back(task);
  if (pool().waiting.size() > pool().idle) std::thread(serve).detach();
  pool().posted.notify_one();
  return task;
}

}  // namespace margay
