// What HIP 6 and 7 added to the runtime's API, as a program written for them uses it with the
// headers of HIP 5.2: structures, names and overloads (include/hip/margay_detail/runtime_api.h).
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>

#define CHECK(condition)                                                      \
  if (!(condition)) {                                                         \
    std::fprintf(stderr, "runtime_api: line %d: %s\n", __LINE__, #condition); \
    return 1;                                                                 \
  }

namespace {

__global__ void store(int* p) { *p = 7; }

const char* kind(hipMemoryType type) {
  switch (type) {
    case hipMemoryTypeUnregistered:
      return "unregistered";
    case hipMemoryTypeHost:
      return "host";
    case hipMemoryTypeDevice:
      return "device";
    case hipMemoryTypeManaged:
      return "managed";
    case hipMemoryTypeArray:
    case hipMemoryTypeUnified:
      return "other";
  }
  return "?";
}

int properties() {
  hipDeviceProp_t p;
  CHECK(hipGetDeviceProperties(&p, 0) == hipSuccess);
  CHECK(std::strncmp(p.gcnArchName, "gfx942", 6) == 0 && p.gcnArch == 942);
  CHECK(p.warpSize == 64 && p.multiProcessorCount == 304 && p.maxThreadsPerBlock == 1024);
  CHECK(p.sharedMemPerBlock == 65536 && p.maxSharedMemoryPerMultiProcessor == 65536);
  CHECK(p.regsPerMultiprocessor > 0 && p.hostRegisterSupported == 1 && p.isLargeBar == 1);
  int device = -1;
  CHECK(hipChooseDevice(&device, &p) == hipSuccess && device == 0);
  int value = 0;
  CHECK(hipDeviceGetAttribute(&value, hipDeviceAttributeWallClockRate, 0) == hipSuccess);
  CHECK(value == 100000);
  CHECK(hipDeviceGetAttribute(&value, hipDeviceAttributeNumberOfXccs, 0) == hipSuccess);
  CHECK(value == 8);
  return 0;
}

int pointers() {
  int *device, *managed, *pinned;
  CHECK(hipMalloc(&device, 4) == hipSuccess && hipMallocManaged(&managed, 4) == hipSuccess);
  CHECK(hipHostMalloc(&pinned, 4, hipHostMallocMapped) == hipSuccess);
  hipPointerAttribute_t a;
  CHECK(hipPointerGetAttributes(&a, device) == hipSuccess);
  CHECK(std::strcmp(kind(a.type), "device") == 0 && a.memoryType == a.type);
  CHECK(hipPointerGetAttributes(&a, managed) == hipSuccess);
  CHECK(std::strcmp(kind(a.type), "managed") == 0);
  CHECK(hipPointerGetAttributes(&a, pinned) == hipSuccess);
  CHECK(std::strcmp(kind(a.type), "host") == 0 && a.hostPointer == pinned);
  int unknown = 0;
  CHECK(hipPointerGetAttributes(&a, &unknown) == hipSuccess);
  CHECK(std::strcmp(kind(a.type), "unregistered") == 0 && a.device == -2);
  CHECK(hipGetLastError() == hipSuccess);
  CHECK(hipPointerGetAttributes(nullptr, device) == hipErrorInvalidValue);
  (void)hipGetLastError();
  return hipFree(device) == hipSuccess && hipFree(managed) == hipSuccess &&
                 hipHostFree(pinned) == hipSuccess
             ? 0
             : 1;
}

int calls() {
  hipStream_t stream;
  hipEvent_t event;
  CHECK(hipStreamCreate(&stream) == hipSuccess);
  CHECK(hipEventCreateWithFlags(&event, hipEventDisableSystemFence) == hipSuccess);
  CHECK(hipEventRecordWithFlags(event, stream, hipEventRecordDefault) == hipSuccess);
  CHECK(hipStreamWaitEvent(stream, event) == hipSuccess);
  hipDevice_t device = -1;
  CHECK(hipStreamGetDevice(stream, &device) == hipSuccess && device == 0);
  const char* name = nullptr;
  CHECK(hipDrvGetErrorName(hipErrorInvalidTexture, &name) == hipSuccess);
  CHECK(std::strcmp(name, "hipErrorInvalidTexture") == 0);
  hipUUID uuid;
  hipDeviceProp_t properties;
  CHECK(hipDeviceGetUuid(&uuid, 0) == hipSuccess);
  CHECK(hipGetDeviceProperties(&properties, 0) == hipSuccess);
  CHECK(std::memcmp(&uuid, &properties.uuid, sizeof uuid) == 0);
  CHECK(hipStreamSynchronize(hipStreamLegacy) == hipSuccess);
  std::size_t bytes = 0;
  CHECK(hipDeviceGetLimit(&bytes, hipLimitStackSize) == hipSuccess && bytes > 0);
  int grid = 0, block = 0;
  CHECK(hipOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, store, [](int threads) {
          return threads > 256 ? 65536u : 1024u;
        }) == hipSuccess);
  CHECK(block == 256 && grid == 304 * 8);
  CHECK(hipOccupancyMaxPotentialBlockSizeVariableSMem(
            &grid, &block, store, [](int) { return 0u; }, 100) == hipSuccess);
  CHECK(block == 64);
  CHECK(hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
            &grid, &block, store, [](int) { return 0u; }, 128, 0) == hipSuccess);
  CHECK(block == 128);
  int* p;
  std::size_t pitch = 0;
  CHECK(hipMallocPitch(&p, &pitch, 100, 4) == hipSuccess && pitch >= 100);
  CHECK(hipFree(p) == hipSuccess);
  CHECK(hipExtMallocWithFlags(reinterpret_cast<void**>(&p), 4, hipDeviceMallocUncached) ==
        hipSuccess);
  CHECK(hipFree(p) == hipSuccess);
  CHECK(hipEventDestroy(event) == hipSuccess && hipStreamDestroy(stream) == hipSuccess);
  return 0;
}

}  // namespace

int main() {
  if (properties() != 0 || pointers() != 0 || calls() != 0) return 1;
  std::puts("runtime_api: passed");
  return 0;
}
