#include "runtime/stream/ordering.h"

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "runtime/process/runtime.h"
#include "runtime/stream/in_flight.h"

namespace margay::runtime {
namespace {

thread_local std::shared_ptr<check::Operation> current;
thread_local unsigned synchronous = 0;

/// The checker, if it follows streams.
std::shared_ptr<Checking> follower() {
  auto checking = Runtime::instance().checking();
  return checking != nullptr && checking->follows_streams() ? checking : nullptr;
}

/// In the order in which threads use theirs first.
unsigned number_of_this_thread() {
  static std::atomic<unsigned> last = 0;
  thread_local const unsigned number = ++last;
  return number;
}

check::Stream stream_of(hipStream_t handle) {
  const Order order = order_of(handle);
  check::Stream stream;
  stream.id.handle = order.stream;
  stream.id.device = order.device;
  stream.waits_for_null = order.waits_for_null;
  if (order.is_null()) {
    stream.name = "the null stream";
    if (Runtime::instance().device_count() > 1)
      stream.name += fmt::format(" of device {}", order.device);
  } else if (handle == hipStreamPerThread) {
    stream.id.thread = std::hash<std::thread::id>{}(order.thread);
    stream.name = fmt::format("hipStreamPerThread of host thread {}", number_of_this_thread());
  } else if (const auto found = Runtime::instance().streams().find(handle)) {
    stream.name = fmt::format("stream {}", found->number);
  }
  return stream;
}

/// Whether a copy from or to there is done when the call returns. Source: HIP documentation,
/// hipMemcpyAsync: of memory that is not pinned.
bool is_pageable(std::uint64_t address) {
  const Answer<Device*> device = Runtime::instance().device();
  return device && !(*device)->memory().in_arena(address) &&
         !Runtime::instance().allocations().find(address);
}
/// Memory that the host uses through the same pointer, and that exists until HIP frees it.
bool is_hosts(std::uint64_t address) {
  const auto record = Runtime::instance().allocations().find(address);
  return record && (record->kind == MemoryKind::host || record->kind == MemoryKind::managed);
}

}  // namespace

OperationScope::OperationScope(hipStream_t stream) : outer_(std::move(current)) {
  current = nullptr;
  const auto checking = follower();
  if (checking == nullptr) return;
  current = checking->streams().begin(stream_of(stream), current_call());
  current->host_waits = synchronous != 0;
}

OperationScope::~OperationScope() { current = std::move(outer_); }

const std::shared_ptr<check::Operation>& current_operation() { return current; }

GraphParts::GraphParts() : whole_(current) {}

void GraphParts::next(std::span<const std::size_t> after) {
  const auto checking = whole_ != nullptr ? follower() : nullptr;
  current = nullptr;
  if (checking == nullptr) return;
  check::StreamOrder::Parts before;
  for (const std::size_t part : after)
    if (part < parts_.size()) before.push_back(parts_[part]);
  current = parts_.emplace_back(checking->streams().begin_part(*whole_, before));
}

GraphParts::~GraphParts() {
  if (const auto checking = parts_.empty() ? nullptr : follower())
    checking->streams().end_parts(*whole_, parts_);
  current = whole_;
}

SynchronousScope::SynchronousScope() { ++synchronous; }
SynchronousScope::~SynchronousScope() { --synchronous; }

Touching::Touching() : checking_(current != nullptr ? follower() : nullptr) {}

void Touching::add(const void* at, std::size_t bytes, check::Touch touch) {
  if (checking_ == nullptr || bytes == 0) return;
  const auto begin = reinterpret_cast<std::uint64_t>(at);
  footprint_.ranges.push_back({begin, begin + bytes, check::kNoVaddr, touch});
}

Touching::~Touching() {
  if (checking_ == nullptr || footprint_.ranges.empty()) return;
  const auto device = Runtime::instance().device();
  if (!device) return;
  checking_->touched((*device)->memory(), current, footprint_);
  if (current->host_waits) return;
  for (const check::TouchedRange& range : footprint_.ranges)
    if (is_pageable(range.begin)) {
      order_host_waits();
      return;
    }
  // Of a copy of many rows the host's own are apart.
  constexpr std::size_t kMostWatched = 8;
  if (footprint_.ranges.size() > kMostWatched) return;
  for (const check::TouchedRange& range : footprint_.ranges)
    if (is_hosts(range.begin))
      checking_->streams().watch(current, range.begin, range.end,
                                 range.touch == check::Touch::read);
}

void order_recorded(hipEvent_t event, hipStream_t stream) {
  if (const auto checking = follower()) checking->streams().record(event, stream_of(stream));
}
void order_recorded(hipEvent_t event) {
  if (current == nullptr) return;
  if (const auto checking = follower()) checking->streams().record(event, *current);
}
void order_event_gone(hipEvent_t event) {
  if (const auto checking = follower()) checking->streams().forget_event(event);
}
void order_stream_waits(hipStream_t stream, hipEvent_t event) {
  if (const auto checking = follower()) checking->streams().stream_waits(stream_of(stream), event);
}
void order_stream_waits_for_all(hipStream_t stream) {
  if (const auto checking = follower()) checking->streams().stream_waits_for_all(stream_of(stream));
}
void order_host_waits(hipStream_t stream) {
  if (const auto checking = follower())
    checking->found(checking->streams().host_waits(stream_of(stream)));
}
void order_host_waits() {
  if (current == nullptr) return;
  if (const auto checking = follower()) checking->found(checking->streams().host_waits(*current));
}
void order_host_waits_for_event(hipEvent_t event) {
  if (const auto checking = follower())
    checking->found(checking->streams().host_waits_for_event(event));
}
void order_host_waits_for_device(unsigned device) {
  if (const auto checking = follower())
    checking->found(checking->streams().host_waits_for_device(device));
}
void order_host_waits_for_all() {
  if (const auto checking = follower()) checking->found(checking->streams().host_waits_for_all());
}
void order_stream_gone(hipStream_t stream) {
  if (const auto checking = follower())
    checking->found(checking->streams().destroyed(stream_of(stream)));
}
void order_allocated(const void* at, std::size_t bytes) {
  if (const auto checking = follower())
    checking->streams().allocated(reinterpret_cast<std::uint64_t>(at), bytes);
}
void order_freed(const void* at, std::size_t bytes) {
  if (const auto checking = follower())
    checking->streams().freed(reinterpret_cast<std::uint64_t>(at), bytes);
}

}  // namespace margay::runtime
