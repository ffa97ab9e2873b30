#include "substitutes/collective_launches.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "kernels/collectives/collective_arguments.h"
#include "substitutes/kernels.h"

// Of the runtime that the process has loaded, which is Margay's.
extern "C" {
int hipGetDevice(int* device);
int hipSetDevice(int device);
int hipEventCreateWithFlags(void** event, unsigned flags);
int hipEventDestroy(void* event);
int hipEventRecord(void* event, void* stream);
int hipStreamWaitEvent(void* stream, void* event, unsigned flags);
int margayAllowPeerAccess(int device, int peer);
}

namespace margay::substitutes {
namespace {

using collectives::CopyArguments;
using collectives::kMostRanks;
using collectives::ReduceArguments;

constexpr const char* kFile = "collectives";
constexpr unsigned kWithoutTime = 2;  // hipEventDisableTiming
constexpr long kPerThread = 4, kMostWorkgroups = 304;

struct Type {
  const char* name;
  std::size_t size;
  std::string_view reduction;
};
// ncclDataType_t
constexpr std::array kTypes = {
    Type{"int8", 1, "margay_reduce_i8"},
    Type{"uint8", 1, "margay_reduce_u8"},
    Type{"int32", 4, "margay_reduce_i32"},
    Type{"uint32", 4, "margay_reduce_u32"},
    Type{"int64", 8, "margay_reduce_i64"},
    Type{"uint64", 8, "margay_reduce_u64"},
    Type{"float16", 2, "margay_reduce_f16"},
    Type{"float32", 4, "margay_reduce_f32"},
    Type{"float64", 8, "margay_reduce_f64"},
    Type{"bfloat16", 2, "margay_reduce_bf16"},
    Type{"float8e4m3", 1, {}},
    Type{"float8e5m2", 1, {}},
};

const Type* type_of(int type) {
  const bool known = type >= 0 && static_cast<std::size_t>(type) < kTypes.size();
  return known ? &kTypes[static_cast<std::size_t>(type)] : nullptr;
}

/// The thread's device is the program's again at its end.
class OtherDevices {
 public:
  OtherDevices() { hipGetDevice(&before_); }
  ~OtherDevices() { hipSetDevice(before_); }
  OtherDevices(const OtherDevices&) = delete;
  OtherDevices& operator=(const OtherDevices&) = delete;

 private:
  int before_ = 0;
};

/// A point of a call's stream.
class Event {
 public:
  explicit Event(const Call& call) {
    recorded_ = hipSetDevice(call.device) == 0 &&
                hipEventCreateWithFlags(&event_, kWithoutTime) == 0 &&
                hipEventRecord(event_, call.stream) == 0;
  }
  ~Event() {
    if (event_ != nullptr) hipEventDestroy(event_);
  }
  Event(Event&& other) noexcept : event_(other.event_), recorded_(other.recorded_) {
    other.event_ = nullptr;
  }
  Event& operator=(Event&&) = delete;

  [[nodiscard]] bool recorded() const { return recorded_; }
  [[nodiscard]] void* get() const { return event_; }

 private:
  void* event_ = nullptr;
  bool recorded_ = false;
};

/// What follows on each stream comes after what is now on all of them.
bool meet(std::span<const Call> calls) {
  std::vector<Event> events;
  events.reserve(calls.size());
  for (const Call& call : calls)
    if (!events.emplace_back(call).recorded()) return false;
  for (std::size_t waits = 0; waits < calls.size(); ++waits)
    for (std::size_t n = 0; n < calls.size(); ++n) {
      if (n == waits) continue;
      if (hipSetDevice(calls[waits].device) != 0 ||
          hipStreamWaitEvent(calls[waits].stream, events[n].get(), 0) != 0)
        return false;
    }
  return true;
}

bool allow_access(std::span<const Call> calls) {
  for (const Call& one : calls)
    for (const Call& other : calls)
      if (margayAllowPeerAccess(one.device, other.device) != 0) return false;
  return true;
}

Grid grid_for(long items, unsigned pieces) {
  const long each = collectives::kThreads * kPerThread;
  const long workgroups = std::clamp((items + each - 1) / each, 1L, kMostWorkgroups);
  return {static_cast<unsigned>(workgroups), pieces, 1, collectives::kThreads};
}

const char* advanced(const void* to, long elements, std::size_t size) {
  return static_cast<const char*>(to) + elements * static_cast<long>(size);
}
char* advanced(void* to, long elements, std::size_t size) {
  return static_cast<char*>(to) + elements * static_cast<long>(size);
}

/// Elements `first` and further of all ranks, by `at`: into memory of `targets`, `to_first` and
/// further.
bool reduce(std::span<const Call> calls, const Call& at, long first, long count,
            std::span<const Call> targets, long to_first) {
  if (count <= 0) return true;
  const Type& type = *type_of(at.type);
  ReduceArguments arguments{};
  for (const Call& call : calls)
    arguments.from[arguments.sources++] = advanced(call.send, first, type.size);
  for (const Call& call : targets)
    arguments.to[arguments.targets++] = advanced(call.receive, to_first, type.size);
  arguments.count = count;
  arguments.operation = at.operation;
  return hipSetDevice(at.device) == 0 &&
         launch_kernel(kFile, type.reduction, grid_for(count, 1), &arguments, at.stream);
}

/// Each of `sources` sends `count` elements to `at`, one behind the other; who has them in their
/// place copies nothing.
bool copy(std::span<const Call> sources, const Call& at, long count) {
  const std::size_t size = type_of(at.type)->size;
  CopyArguments arguments{};
  unsigned pieces = 0;
  for (std::size_t n = 0; n < sources.size(); ++n) {
    void* const to = advanced(at.receive, static_cast<long>(n) * count, size);
    if (to == sources[n].send) continue;
    arguments.from[pieces] = sources[n].send;
    arguments.to[pieces] = to;
    arguments.bytes[pieces++] = count * static_cast<long>(size);
  }
  if (pieces == 0 || count == 0) return true;
  const Grid grid = grid_for(count * static_cast<long>(size) / 16, pieces);
  return hipSetDevice(at.device) == 0 &&
         launch_kernel(kFile, "margay_copy_pieces", grid, &arguments, at.stream);
}

/// What a rank does. Each element is read and written by one rank only, so that it may be reduced
/// in place.
bool do_part(std::span<const Call> calls, long rank) {
  const Call& at = calls[static_cast<std::size_t>(rank)];
  const long count = static_cast<long>(at.count), ranks = static_cast<long>(calls.size());
  switch (at.kind) {
    case Kind::all_reduce: {
      const long part = (count + ranks - 1) / ranks, first = rank * part;
      return reduce(calls, at, first, std::min(part, count - first), calls, first);
    }
    case Kind::reduce_scatter:
      return reduce(calls, at, rank * count, count, {&at, 1}, 0);
    case Kind::reduce:
      return at.peer != rank || reduce(calls, at, 0, count, {&at, 1}, 0);
    case Kind::all_gather:
      return copy(calls, at, count);
    case Kind::broadcast:
      return copy(calls.subspan(static_cast<std::size_t>(at.peer), 1), at, count);
    default:
      return true;
  }
}

}  // namespace

std::size_t size_of_type(int type) { return type_of(type) == nullptr ? 0 : type_of(type)->size; }
const char* name_of_type(int type) {
  return type_of(type) == nullptr ? "an unknown type" : type_of(type)->name;
}
bool can_be_reduced(int type) {
  return type_of(type) != nullptr && !type_of(type)->reduction.empty();
}

bool launch_collective(const std::vector<Call>& calls) {
  const OtherDevices restored;
  if (!allow_access(calls) || !meet(calls)) return false;
  for (std::size_t rank = 0; rank < calls.size(); ++rank)
    if (!do_part(calls, static_cast<long>(rank))) return false;
  return meet(calls);
}

bool launch_message(const Call& send, const Call& receive) {
  const OtherDevices restored;
  const std::array ends = {send, receive};
  return allow_access(ends) && meet(ends) &&
         copy({&send, 1}, receive, static_cast<long>(receive.count)) && meet(ends);
}

}  // namespace margay::substitutes
