// See in_flight.h.
#include "runtime/stream/in_flight.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>
#include <utility>

#include "base/fork.h"
#include "runtime/device/interrupts.h"
#include "runtime/process/runtime.h"
#include "runtime/stream/ordering.h"

namespace margay::runtime {
namespace {

/// Everything in flight. Never destroyed: threads may outlive the program's main().
struct Flights {
  struct Entry {
    Order order;
    std::shared_ptr<Pending> pending;
  };
  std::mutex mutex;
  std::vector<Entry> entries;
  std::atomic<std::size_t> count = 0;  // so that the mutex is not taken where there is nothing

  template <typename Predicate>
  [[nodiscard]] PendingWork matching(Predicate&& wanted) {
    PendingWork found;
    if (count.load() == 0) return found;
    const std::lock_guard lock(mutex);
    for (const Entry& entry : entries)
      if (wanted(entry.order)) found.push_back(entry.pending);
    return found;
  }
};
Flights& flights() {
  static auto* const all = new Flights();
  return *all;
}

/// A failure has no call to return from: it is printed, and later calls say it, as after a kernel
/// that failed on a device.
void keep_failure(const std::string& what, Refusal refusal) {
  if (!refusal.transient) Runtime::instance().keep_failure(refusal.code);
  (void)report(what.c_str(), std::move(refusal));
}

/// As long as a device's queue; then the host waits for room.
constexpr std::size_t kMostInFlight = 1024;

std::shared_ptr<Pending> add(const Order& order, const std::string& what, PendingWork before,
                             Work work) {
  // What is put off is not followed.
  if (!before.empty()) order_host_waits_for_all();
  Flights& all = flights();
  if (all.count.load() >= kMostInFlight) wait_for_all();
  auto pending = std::make_shared<Pending>(what);
  {
    const std::lock_guard lock(all.mutex);
    all.entries.push_back({order, pending});
    ++all.count;
  }
  std::thread([=, before = std::move(before), work = std::move(work)] {
    for (const auto& earlier : before) (void)earlier->wait_for(std::chrono::milliseconds::max());
    Runtime::set_current_device(order.device);
    try {
      if (Outcome outcome = work(); !outcome) keep_failure(what, std::move(outcome).error());
    } catch (const std::exception& exception) {
      keep_failure(what,
                   Refusal(hipErrorUnknown, Error{ErrorCode::system, exception.what(), {}, {}}));
    }
    {
      const std::lock_guard lock(flights().mutex);
      std::erase_if(flights().entries, [&](const auto& e) { return e.pending == pending; });
      --flights().count;
    }
    pending->end();
  }).detach();
  return pending;
}

void wait_for(const PendingWork& work) {
  for (const auto& pending : work) pending->wait();
}

}  // namespace

Order order_of(hipStream_t handle) {
  Order order{.stream = handle, .device = device_of(handle), .thread = {}, .waits_for_null = false};
  if (handle == hipStreamPerThread) {
    order.thread = std::this_thread::get_id();
    order.waits_for_null = true;
  } else if (is_implicit_stream(handle)) {
    order.stream = nullptr;
  } else if (const auto stream = Runtime::instance().streams().find(handle)) {
    order.waits_for_null = (stream->flags & hipStreamNonBlocking) == 0;
  }
  return order;
}

bool Pending::done() const {
  const std::lock_guard lock(mutex_);
  return done_;
}
bool Pending::wait_for(std::chrono::milliseconds time) const {
  std::unique_lock lock(mutex_);
  if (time == std::chrono::milliseconds::max()) {
    ended_.wait(lock, [&] { return done_; });
    return true;
  }
  return ended_.wait_for(lock, time, [&] { return done_; });
}
void Pending::wait() const {
  const StoppedByInterrupt stopped_by_interrupt;
  constexpr std::chrono::seconds kLong{10}, kVeryLong{60};
  if (wait_for(kLong)) return;
  // Of a launch it has been said already where its waves are.
  const bool is_known = long_launch_was_named(what);
  if (is_known && wait_for(kVeryLong - kLong)) return;
  if (!Runtime::instance().quiet())
    std::fprintf(
        stderr,
        "margay: The host has waited %d seconds for %s, which waits for memory to change.\n"
        "  fix  Nothing but the host or other work in flight can change it now.\n",
        static_cast<int>((is_known ? kVeryLong : kLong).count()), what.c_str());
  (void)wait_for(std::chrono::milliseconds::max());
}
void Pending::end() {
  const std::lock_guard lock(mutex_);
  done_ = true;
  ended_.notify_all();
}

PendingWork before_next(hipStream_t stream) {
  if (flights().count.load() == 0) return {};
  const Order next = order_of(stream);
  return flights().matching([&](const Order& order) { return next.comes_behind(order); });
}

Outcome in_order(hipStream_t stream, const std::string& what, const Start& start, Work work) {
  PendingWork before = before_next(stream);
  if (before.empty()) {
    Work rest = MARGAY_TRY(start());
    if (!rest) return {};
    work = std::move(rest);
  }
  (void)add(order_of(stream), what, std::move(before), std::move(work));
  return {};
}

Outcome in_order(hipStream_t stream, const std::string& what, Work work) {
  PendingWork before = before_next(stream);
  if (before.empty()) return work();
  (void)add(order_of(stream), what, std::move(before), std::move(work));
  return {};
}

void in_background(hipStream_t stream, const std::string& what, Work work,
                   std::chrono::milliseconds patience) {
  const auto pending = add(order_of(stream), what, before_next(stream), std::move(work));
  (void)pending->wait_for(patience);
}

std::shared_ptr<Pending> mark(hipStream_t stream, const std::string& what,
                              std::shared_ptr<Pending> also, Work work) {
  PendingWork before = before_next(stream);
  if (also != nullptr && !also->done()) before.push_back(std::move(also));
  if (before.empty()) return nullptr;
  return add(order_of(stream), what, std::move(before), std::move(work));
}

void wait_for_stream(hipStream_t stream) { wait_for(before_next(stream)); }
void wait_for_device(unsigned device) {
  wait_for(flights().matching([&](const Order& order) { return order.device == device; }));
}
void wait_for_all() {
  wait_for(flights().matching([](const Order&) { return true; }));
}
void in_flight_after_fork() {
  begin_again_after_fork(flights().mutex);
  begin_again_after_fork(flights().entries);
  flights().count = 0;
}
void forget_stream(hipStream_t stream) {
  if (flights().count.load() == 0) return;
  const std::lock_guard lock(flights().mutex);
  for (auto& entry : flights().entries)
    if (entry.order.stream == stream) entry.order.stream = &flights();  // no stream's handle
}

}  // namespace margay::runtime
