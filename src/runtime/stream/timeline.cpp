// See timeline.h.
#include "runtime/stream/timeline.h"

#include <algorithm>

#include "base/fork.h"
#include "timing/parameters.h"

namespace margay::runtime {
namespace {

thread_local const Order* current = nullptr;

Order current_order() {
  if (current != nullptr) return *current;
  Order null_stream;
  null_stream.device = Devices::current();
  return null_stream;
}

}  // namespace

Timeline::Scope::Scope(const Order& order) : outer_(current), order_(order) { current = &order_; }
Timeline::Scope::~Scope() { current = outer_; }

DeviceTime Timeline::ready(const Order& order) const {
  DeviceTime time = host_;
  for (const Entry& entry : streams_)
    if (order.comes_behind(entry.order)) time = std::max(time, entry.end);
  return time;
}

Timeline::Entry& Timeline::entry_of(const Order& order) {
  for (Entry& entry : streams_)
    if (entry.order.same(order)) return entry;
  return streams_.emplace_back(order);
}

void Timeline::add(DeviceTime time, Use use, bool launches) {
  const timing::Parameters& p = timing::parameters_of(devices_.gpu());
  const Order order = current_order();
  const std::lock_guard lock(mutex_);
  DeviceTime begin = ready(order);
  DeviceTime& filled_until = filled_until_[order.device];
  if (use != Use::none) begin = std::max(begin, filled_until);
  if (launches && begin > host_) time -= device_time(1e-3 * (p.launch_ns - p.next_launch_ns));
  const DeviceTime end = begin + time;
  if (use == Use::all_units) filled_until = end;
  entry_of(order).end = end;
}

void Timeline::launched(const std::optional<LaunchTime>& time, std::uint64_t workgroups) {
  if (!is_on() || !time) return;
  const double us = is_sustained(devices_.event_time()) ? time->us_sustained : time->us_boost;
  add(device_time(us),
      workgroups >= devices_.gpu().compute_units() ? Use::all_units : Use::some_units, true);
}

void Timeline::copied(const void* to, const void* from, std::size_t bytes) {
  if (!is_on() || bytes == 0) return;
  const timing::Parameters& p = timing::parameters_of(devices_.gpu());
  enum class Place : std::uint8_t { device, pinned, pageable };
  const auto place_of = [&](const void* at) {
    const auto record = allocations_.find(at);
    if (!record) return Place::pageable;
    return record->kind == MemoryKind::host || record->kind == MemoryKind::registered
               ? Place::pinned
               : Place::device;
  };
  const Place source = place_of(from), target = place_of(to);
  const auto size = static_cast<double>(bytes);
  if (source == Place::device && target == Place::device) {  // a kernel of the runtime library
    const double ns = size / p.memory_bytes_per_ns + size / p.memory_write_bytes_per_ns;
    return add(device_time(1e-3 * (p.launch_ns + ns)), Use::some_units, true);
  }
  const bool is_staged =
      (source == Place::pageable || target == Place::pageable) && size <= 1024 * p.staged_kib;
  const double rate = is_staged ? p.staged_bytes_per_ns : p.host_link_bytes_per_ns;
  add(device_time(1e-3 * ((target == Place::device ? p.upload_ns : p.download_ns) + size / rate)),
      Use::none, false);
}

void Timeline::filled(std::size_t bytes) {
  if (!is_on() || bytes == 0) return;
  const timing::Parameters& p = timing::parameters_of(devices_.gpu());
  add(device_time(1e-3 * (p.launch_ns + static_cast<double>(bytes) / p.memory_write_bytes_per_ns)),
      Use::some_units, true);
}

std::optional<DeviceTime> Timeline::now(const Order& order) const {
  if (!is_on()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return ready(order);
}

std::optional<DeviceTime> Timeline::now() const { return now(current_order()); }

void Timeline::stream_waits(const Order& order, std::optional<DeviceTime> until) {
  if (!is_on() || !until) return;
  const std::lock_guard lock(mutex_);
  DeviceTime& end = entry_of(order).end;
  end = std::max(end, *until);
}

void Timeline::host_waits(std::optional<DeviceTime> until) {
  if (!is_on() || !until) return;
  const std::lock_guard lock(mutex_);
  host_ = std::max(host_, *until);
}

void Timeline::host_waits_for_device(unsigned device) {
  if (!is_on()) return;
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : streams_)
    if (entry.order.device == device) host_ = std::max(host_, entry.end);
}

void Timeline::forget_stream(hipStream_t stream) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : streams_)
    if (entry.order.stream == stream) entry.order.stream = this;  // no stream's handle
  std::erase_if(streams_, [&](const Entry& entry) {
    return entry.order.stream == this && entry.end <= host_;
  });
}

void Timeline::begin_again() {
  begin_again_after_fork(mutex_);
  begin_again_after_fork(streams_);
  host_ = {};
  filled_until_ = {};
}

}  // namespace margay::runtime
