// Memory in stream order, outside graphs and in them. A graph's memory has its address from the
// moment its node is made, as on a device, and exists until the last graph that holds the node is
// gone; what the graph does at the node's turn is nothing.
#include <map>
#include <memory>
#include <mutex>

#include "runtime/graph/graph.h"
#include "runtime/memory/allocation.h"
#include "runtime/process/runtime.h"
#include "runtime/stream/ordering.h"

namespace margay::runtime {
namespace {

/// One allocation that belongs to graphs.
class GraphMemory {
 public:
  explicit GraphMemory(void* pointer) : pointer_(pointer) {
    const std::lock_guard lock(mutex());
    all()[pointer_] = this;
  }
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  ~GraphMemory() {
    {
      const std::lock_guard lock(mutex());
      all().erase(pointer_);
    }
    // A program may have freed it with hipFree, or reset the device.
    const auto address = reinterpret_cast<std::uint64_t>(pointer_);
    const auto record = Runtime::instance().allocations().find(address);
    if (record && record->address == address) (void)free_device(pointer_);
  }
  [[nodiscard]] static bool owns(const void* pointer) {
    const std::lock_guard lock(mutex());
    return all().contains(pointer);
  }

 private:
  static std::mutex& mutex() {
    static auto* const mutex = new std::mutex();
    return *mutex;
  }
  static std::map<const void*, const GraphMemory*>& all() {
    static auto* const map = new std::map<const void*, const GraphMemory*>();
    return *map;
  }
  void* const pointer_;
};

Outcome nothing() { return {}; }

Answer<Work> memory_work(void** out, std::size_t bytes, std::shared_ptr<ihipMemPoolHandle_t> pool) {
  if (out == nullptr || bytes == 0)
    return refuse(hipErrorInvalidValue, "The result is a null pointer, or the size is 0.");
  MARGAY_CHECK(allocate_from_pool(out, bytes, std::move(pool), "a graph's memory"));
  return [memory = std::make_shared<GraphMemory>(*out)] { return nothing(); };
}

Outcome allocate_in_order(void** out, std::size_t bytes, std::shared_ptr<ihipMemPoolHandle_t> pool,
                          hipStream_t stream, const char* label) {
  MARGAY_CHECK(check_stream(stream));
  if (!is_captured(stream)) {
    MARGAY_CHECK(allocate_from_pool(out, bytes, std::move(pool), label));
    // Only what comes behind it may use the memory.
    const OperationScope operation(stream);
    Touching touching;
    touching.write(*out, bytes);
    return {};
  }
  return on_stream(stream, kNodeTypeMemAlloc, MARGAY_TRY(memory_work(out, bytes, std::move(pool))));
}

/// Only what comes before it may use the memory.
Outcome free_in_stream(void* pointer) {
  const auto record =
      Runtime::instance().allocations().find(reinterpret_cast<std::uint64_t>(pointer));
  MARGAY_CHECK(free_device(pointer));
  Touching touching;
  if (record) touching.write(pointer, record->size_bytes);
  return {};
}

Work release_work(void* pointer) {
  if (GraphMemory::owns(pointer)) return nothing;
  return [pointer] { return free_device(pointer); };
}

Outcome free_in_order(void* pointer, hipStream_t stream) {
  MARGAY_CHECK(check_stream(stream));
  if (!is_captured(stream)) {
    const OperationScope operation(stream);
    return in_order(stream, "hipFreeAsync", [pointer] { return free_in_stream(pointer); });
  }
  return on_stream(stream, kNodeTypeMemFree, release_work(pointer));
}

}  // namespace

Answer<Work> allocation_work(MemAllocNodeParams* parameters) {
  if (parameters == nullptr)
    return refuse(hipErrorInvalidValue, "The parameters are a null pointer.");
  const hipMemPoolProps& pool = parameters->pool;
  if (pool.allocType != hipMemAllocationTypePinned ||
      pool.location.type != hipMemLocationTypeDevice || pool.location.id < 0 ||
      static_cast<unsigned>(pool.location.id) >= Runtime::instance().device_count())
    return refuse(hipErrorInvalidValue,
                  "A graph's memory is of hipMemAllocationTypePinned, on a device.");
  if (parameters->access_count != 0)
    return refuse(hipErrorNotSupported,
                  "Access of other devices to a graph's memory is not there in Margay.",
                  "Pass no access descriptors, or allocate the memory with hipMalloc.");
  return memory_work(&parameters->pointer, parameters->bytes,
                     current_pool(static_cast<unsigned>(pool.location.id)));
}

Answer<Work> release_node_work(void* pointer) {
  if (pointer == nullptr) return refuse(hipErrorInvalidValue, "The memory is a null pointer.");
  return release_work(pointer);
}

}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipMallocAsync(void** out, std::size_t bytes, hipStream_t stream) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(check_stream(stream));
    return allocate_in_order(out, bytes, current_pool(device_of(stream)), stream, "hipMallocAsync");
  });
}
hipError_t hipMallocFromPoolAsync(void** out, std::size_t bytes, hipMemPool_t pool,
                                  hipStream_t stream) {
  return api(__func__, [&]() -> Outcome {
    return allocate_in_order(out, bytes, MARGAY_TRY(pool_of(pool)), stream,
                             "hipMallocFromPoolAsync");
  });
}
hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  return api(__func__, [&] { return free_in_order(pointer, stream); });
}

}  // extern "C"
