// See in_flight.h.
#include "runtime/stream/in_flight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

#include "base/fork.h"
#include "runtime/device/interrupts.h"

namespace margay::runtime {
namespace {

/// As long as a device's queue; when it is full, the host waits.
constexpr std::size_t kMostInFlight = 1024;

}  // namespace

/// A failure has no call to return from: it is printed, and later calls return it, as after a
/// kernel that failed on a device.
void WorkInFlight::keep_failure(const std::string& what, Refusal refusal) {
  if (!refusal.transient) launches_.keep_failure(refusal.code);
  (void)report(what.c_str(), std::move(refusal), devices_.quiet());
}

template <typename Predicate>
PendingWork WorkInFlight::matching(Predicate&& wanted) {
  PendingWork found;
  if (count_.load() == 0) return found;
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_)
    if (wanted(entry.order)) found.push_back(entry.pending);
  return found;
}

std::shared_ptr<Pending> WorkInFlight::add(const Order& order, const std::string& what,
                                           PendingWork before, Work work) {
  // Deferred work is not tracked.
  if (!before.empty()) ordering_.host_waits_for_all();
  if (count_.load() >= kMostInFlight) wait_for_all();
  auto pending = std::make_shared<Pending>(what);
  {
    const std::lock_guard lock(mutex_);
    entries_.push_back({order, pending});
    ++count_;
  }
  std::thread([=, this, before = std::move(before), work = std::move(work)] {
    do_behind(before, order, work, pending);
  }).detach();
  return pending;
}

void WorkInFlight::do_behind(const PendingWork& before, const Order& order, const Work& work,
                             const std::shared_ptr<Pending>& pending) {
  for (const auto& earlier : before) earlier->wait();
  Devices::set_current(order.device);
  const Timeline::Scope of_stream(order);
  try {
    if (Outcome outcome = work(); !outcome) keep_failure(pending->what, std::move(outcome).error());
  } catch (const std::exception& exception) {
    keep_failure(pending->what,
                 Refusal(hipErrorUnknown, Error{ErrorCode::system, exception.what(), {}, {}}));
  }
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.pending == pending; });
    --count_;
  }
  pending->end();
}

void WorkInFlight::wait_for(const Pending& pending) const {
  const StoppedByInterrupt stopped_by_interrupt;
  constexpr std::chrono::seconds kLong{10}, kVeryLong{60};
  if (pending.wait_for(kLong)) return;
  // The positions of a launch's waves have already been printed.
  const bool is_known = host_.long_launch_was_named(pending.what);
  if (is_known && pending.wait_for(kVeryLong - kLong)) return;
  if (!devices_.quiet())
    std::fprintf(
        stderr,
        "margay: The host has waited %d seconds for %s, which waits for memory to change.\n"
        "  fix  Nothing but the host or other work in flight can change it now.\n",
        static_cast<int>((is_known ? kVeryLong : kLong).count()), pending.what.c_str());
  pending.wait();
}

void WorkInFlight::wait_for_each(const PendingWork& work) const {
  for (const auto& pending : work) wait_for(*pending);
}

PendingWork WorkInFlight::before_next(hipStream_t stream) {
  if (count_.load() == 0) return {};
  const Order next = streams_.order_of(stream);
  return matching([&](const Order& order) { return next.comes_behind(order); });
}

Outcome WorkInFlight::in_order(hipStream_t stream, const std::string& what, const Start& start) {
  PendingWork before = before_next(stream);
  const Timeline::Scope of_stream(streams_.order_of(stream));
  Work work;
  if (before.empty()) {
    work = MARGAY_TRY(start());
    if (!work) return {};
  } else {
    // Once it waits for other work, that must be able to start.
    work = [start]() -> Outcome {
      const Work rest = MARGAY_TRY(start());
      return rest ? rest() : Outcome{};
    };
  }
  (void)add(streams_.order_of(stream), what, std::move(before), std::move(work));
  return {};
}

Outcome WorkInFlight::in_order(hipStream_t stream, const std::string& what, Work work) {
  PendingWork before = before_next(stream);
  const Timeline::Scope of_stream(streams_.order_of(stream));
  if (before.empty()) return work();
  (void)add(streams_.order_of(stream), what, std::move(before), std::move(work));
  return {};
}

void WorkInFlight::in_background(hipStream_t stream, const std::string& what, Work work,
                                 std::chrono::milliseconds patience) {
  const auto pending = add(streams_.order_of(stream), what, before_next(stream), std::move(work));
  (void)pending->wait_for(patience);
}

std::shared_ptr<Pending> WorkInFlight::mark(hipStream_t stream, const std::string& what,
                                            std::shared_ptr<Pending> also, Work work) {
  PendingWork before = before_next(stream);
  if (also != nullptr && !also->done()) before.push_back(std::move(also));
  if (before.empty()) return nullptr;
  return add(streams_.order_of(stream), what, std::move(before), std::move(work));
}

void WorkInFlight::wait_for_device(unsigned device) {
  wait_for_each(matching([&](const Order& order) { return order.device == device; }));
}
void WorkInFlight::wait_for_all() {
  wait_for_each(matching([](const Order&) { return true; }));
}

void WorkInFlight::forget_stream(hipStream_t stream) {
  timeline_.forget_stream(stream);
  if (count_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_)
    if (entry.order.stream == stream) entry.order.stream = this;  // no stream's handle
}

void WorkInFlight::begin_again() {
  begin_again_after_fork(mutex_);
  begin_again_after_fork(entries_);
  count_ = 0;
}

}  // namespace margay::runtime
