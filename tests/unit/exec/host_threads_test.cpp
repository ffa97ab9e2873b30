#include "exec/device/host_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <vector>

namespace margay {
namespace {

TEST(HostThreads, WorkIsDoneOnceOrTakenBack) {
  constexpr int kTasks = 2000;
  std::atomic<int> done = 0;
  int taken_back = 0;
  std::vector<std::shared_ptr<HostTask>> tasks;
  for (int n = 0; n < kTasks; ++n) {
    tasks.push_back(post_to_host_thread([&] { ++done; }));
    if (n % 3 == 0) taken_back += tasks[static_cast<std::size_t>(n / 2)]->take_back();
  }
  for (const auto& task : tasks) task->settle();  // takes back what has not begun
  const int before = done;
  EXPECT_LE(before + taken_back, kTasks);
  for (const auto& task : tasks) {
    EXPECT_FALSE(task->take_back());
    task->settle();
  }
  EXPECT_EQ(done, before);
}

TEST(HostThreads, TasksRunSideBySide) {
  std::latch all(5);
  std::vector<std::shared_ptr<HostTask>> tasks;
  for (int n = 0; n < 4; ++n) tasks.push_back(post_to_host_thread([&] { all.arrive_and_wait(); }));
  all.arrive_and_wait();  // ends only if each has a thread of its own
  for (const auto& task : tasks) task->settle();
}

}  // namespace
}  // namespace margay
