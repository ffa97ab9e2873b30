// See ordering.h.
#include "runtime/stream/ordering.h"
#include "runtime/watch/checking.h"

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

namespace margay::runtime {
namespace {

thread_local std::shared_ptr<check::Operation> current;
thread_local unsigned synchronous = 0;

/// In the order of the threads' first use.
unsigned number_of_this_thread() {
  static std::atomic<unsigned> last = 0;
  thread_local const unsigned number = ++last;
  return number;
}

}  // namespace

check::Stream Ordering::stream_of(hipStream_t handle) const {
  const Order order = streams_.order_of(handle);
  check::Stream stream;
  stream.id.handle = order.stream;
  stream.id.device = order.device;
  stream.waits_for_null = order.waits_for_null;
  if (order.is_null()) {
    stream.name = "the null stream";
    if (devices_.count() > 1) stream.name += fmt::format(" of device {}", order.device);
  } else if (handle == hipStreamPerThread) {
    stream.id.thread = std::hash<std::thread::id>{}(order.thread);
    stream.name = fmt::format("hipStreamPerThread of host thread {}", number_of_this_thread());
  } else if (const auto found = streams_.find(handle)) {
    stream.name = fmt::format("stream {}", found->number);
  }
  return stream;
}

OperationScope::OperationScope(Ordering& ordering, hipStream_t stream)
    : outer_(std::move(current)) {
  current = nullptr;
  const auto checking = ordering.follower();
  if (checking == nullptr) return;
  current = checking->streams().begin(ordering.stream_of(stream), current_call());
  current->host_waits = synchronous != 0;
}

OperationScope::~OperationScope() { current = std::move(outer_); }

const std::shared_ptr<check::Operation>& current_operation() { return current; }

GraphParts::GraphParts(Ordering& ordering) : ordering_(ordering), whole_(current) {}

void GraphParts::next(std::span<const std::size_t> after) {
  const auto checking = whole_ != nullptr ? ordering_.follower() : nullptr;
  current = nullptr;
  if (checking == nullptr) return;
  check::StreamOrder::Parts before;
  for (const std::size_t part : after)
    if (part < parts_.size()) before.push_back(parts_[part]);
  current = parts_.emplace_back(checking->streams().begin_part(*whole_, before));
}

GraphParts::~GraphParts() {
  if (const auto checking = parts_.empty() ? nullptr : ordering_.follower())
    checking->streams().end_parts(*whole_, parts_);
  current = whole_;
}

SynchronousScope::SynchronousScope() { ++synchronous; }
SynchronousScope::~SynchronousScope() { --synchronous; }

Touching::Touching(Ordering& ordering)
    : ordering_(ordering), checking_(current != nullptr ? ordering.follower() : nullptr) {}

void Touching::add(const void* at, std::size_t bytes, check::Touch touch) {
  if (checking_ == nullptr || bytes == 0) return;
  const auto begin = reinterpret_cast<std::uint64_t>(at);
  footprint_.ranges.push_back({begin, begin + bytes, check::kNoVaddr, touch});
}

Touching::~Touching() {
  if (checking_ == nullptr || footprint_.ranges.empty()) return;
  ordering_.touched(*checking_, footprint_);
}

void Ordering::touched(Checking& checking, const check::Footprint& footprint) {
  Memory* const memory = devices_.memory_if_made();
  if (memory == nullptr) return;
  checking.touched(*memory, current, footprint);
  if (current->host_waits) return;
  // A copy from or to memory that is not pinned is complete when the call returns. Source: HIP
  // documentation, hipMemcpyAsync.
  for (const check::TouchedRange& range : footprint.ranges)
    if (!memory->in_arena(range.begin) && !allocations_.find(range.begin)) {
      host_waits();
      return;
    }
  // The host's rows of a copy of many rows are separate.
  constexpr std::size_t kMostWatched = 8;
  if (footprint.ranges.size() > kMostWatched) return;
  for (const check::TouchedRange& range : footprint.ranges) {
    // Memory that the host uses through the same pointer, and that exists until HIP frees it.
    const auto record = allocations_.find(range.begin);
    if (record && (record->kind == MemoryKind::host || record->kind == MemoryKind::managed))
      checking.streams().watch(current, range.begin, range.end, range.touch == check::Touch::read);
  }
}

void Ordering::recorded(hipEvent_t event, hipStream_t stream) {
  if (const auto checking = follower()) checking->streams().record(event, stream_of(stream));
}
void Ordering::recorded(hipEvent_t event) {
  if (current == nullptr) return;
  if (const auto checking = follower()) checking->streams().record(event, *current);
}
void Ordering::event_gone(hipEvent_t event) {
  if (const auto checking = follower()) checking->streams().forget_event(event);
}
void Ordering::stream_waits(hipStream_t stream, hipEvent_t event) {
  if (const auto checking = follower()) checking->streams().stream_waits(stream_of(stream), event);
}
void Ordering::stream_waits_for_all(hipStream_t stream) {
  if (const auto checking = follower()) checking->streams().stream_waits_for_all(stream_of(stream));
}
void Ordering::host_waits(hipStream_t stream) {
  if (const auto checking = follower())
    checking->found(checking->streams().host_waits(stream_of(stream)));
}
void Ordering::host_waits() {
  if (current == nullptr) return;
  if (const auto checking = follower()) checking->found(checking->streams().host_waits(*current));
}
void Ordering::host_waits_for_event(hipEvent_t event) {
  if (const auto checking = follower())
    checking->found(checking->streams().host_waits_for_event(event));
}
void Ordering::host_waits_for_device(unsigned device) {
  if (const auto checking = follower())
    checking->found(checking->streams().host_waits_for_device(device));
}
void Ordering::host_waits_for_all() {
  if (const auto checking = follower()) checking->found(checking->streams().host_waits_for_all());
}
void Ordering::stream_gone(hipStream_t stream) {
  if (const auto checking = follower())
    checking->found(checking->streams().destroyed(stream_of(stream)));
}

}  // namespace margay::runtime
