// The HIP calls that allocate and free memory in stream order, outside graphs and in them.
#include <utility>

#include "runtime/process/call.h"

namespace margay::runtime {
namespace {

using Pool = MemoryPools::Pool;

Outcome allocate_in_order(void** out, std::size_t bytes, Pool pool, hipStream_t stream,
                          const char* label) {
  Process& hip = process();
  MARGAY_CHECK(hip.streams.check(stream));
  if (hip.captures.is_captured(stream))
    return hip.captures.on_stream(
        stream, kNodeTypeMemAlloc,
        MARGAY_TRY(hip.graph_memory.allocation(out, bytes, std::move(pool))));
  MARGAY_CHECK(hip.allocator.allocate(out, bytes, {.label = label, .pool = std::move(pool)}));
  // Only later operations may use the memory.
  const OperationScope operation(hip.ordering, stream);
  Touching touching(hip.ordering);
  touching.write(*out, bytes);
  return {};
}

/// Only earlier operations may use the memory.
Outcome free_in_stream(void* pointer) {
  Process& hip = process();
  const auto record = hip.allocator.table().find(pointer);
  MARGAY_CHECK(hip.allocator.free_device(pointer));
  Touching touching(hip.ordering);
  if (record) touching.write(pointer, record->size_bytes);
  return {};
}

Outcome free_in_order(void* pointer, hipStream_t stream) {
  Process& hip = process();
  MARGAY_CHECK(hip.streams.check(stream));
  if (hip.captures.is_captured(stream))
    return hip.captures.on_stream(stream, kNodeTypeMemFree, hip.graph_memory.release(pointer));
  const OperationScope operation(hip.ordering, stream);
  return hip.in_flight.in_order(stream, "hipFreeAsync",
                                [pointer] { return free_in_stream(pointer); });
}

}  // namespace
}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipMallocAsync(void** out, std::size_t bytes, hipStream_t stream) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(process().streams.check(stream));
    const unsigned device = process().streams.device_of(stream);
    return allocate_in_order(out, bytes, process().pools.current(device), stream, "hipMallocAsync");
  });
}
hipError_t hipMallocFromPoolAsync(void** out, std::size_t bytes, hipMemPool_t pool,
                                  hipStream_t stream) {
  return api(__func__, [&]() -> Outcome {
    return allocate_in_order(out, bytes, MARGAY_TRY(process().pools.find(pool)), stream,
                             "hipMallocFromPoolAsync");
  });
}
hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  return api(__func__, [&] { return free_in_order(pointer, stream); });
}

}  // extern "C"
