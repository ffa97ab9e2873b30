// What the checker's test programs share: `program CASE` runs one case on the device, compares its
// result with the host's and prints "result: right" or "result: wrong".
//
// A case whose name contains "broken" has a bug on purpose, so its result is undefined: it ends
// with 0 either way. Every other case ends with 1 when its result is wrong.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace check_program {

/// Set by a HIP call that failed: the result is then wrong. The program continues, as programs do
/// that check nothing.
inline bool failed = false;

inline void expect(hipError_t code) {
  if (code == hipSuccess) return;
  if (!failed) std::printf("HIP error: %s\n", hipGetErrorName(code));
  failed = true;
}

/// Device memory, freed at the end of its scope.
template <typename T>
class DeviceArray {
 public:
  /// Never written.
  explicit DeviceArray(std::size_t count) : count_(count) {
    expect(hipMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    expect(hipMemcpy(data_, values.data(), count_ * sizeof(T), hipMemcpyHostToDevice));
  }
  DeviceArray(std::size_t count, T value) : DeviceArray(std::vector<T>(count, value)) {}
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { free(); }

  void free() {
    if (data_ != nullptr) expect(hipFree(data_));
    data_ = nullptr;
  }
  T* get() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> values(count_);
    expect(hipMemcpy(values.data(), data_, count_ * sizeof(T), hipMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

/// After a launch.
inline void finish() {
  expect(hipGetLastError());
  expect(hipDeviceSynchronize());
}

/// 0, 1, 2 ... count - 1, each times `factor` plus `offset`.
template <typename T = unsigned>
std::vector<T> ramp(std::size_t count, T factor = 1, T offset = 0) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i) * factor + offset;
  return values;
}

/// Whether values[i] == wanted(i) for all i.
template <typename T, typename Wanted>
bool matches(const std::vector<T>& values, Wanted wanted) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != static_cast<T>(wanted(i))) return false;
  }
  return true;
}

struct Case {
  std::string_view name;
  bool (*run)();  ///< Whether the result was right.
};

inline int run_case(int argc, char** argv, std::initializer_list<Case> cases) {
  const std::string_view name = argc == 2 ? argv[1] : "";
  for (const Case& one : cases) {
    if (one.name != name) continue;
    const bool ran_right = one.run();
    const bool right = ran_right && !failed;
    std::printf("result: %s\n", right ? "right" : "wrong");
    return right || name.find("broken") != std::string_view::npos ? 0 : 1;
  }
  std::fprintf(stderr, "usage: %s CASE, one of:", argv[0]);
  for (const Case& one : cases)
    std::fprintf(stderr, " %.*s", int(one.name.size()), one.name.data());
  std::fprintf(stderr, "\n");
  return 2;
}

}  // namespace check_program

/// The address of an object in LDS, as DS instructions take it.
template <typename T>
__device__ inline std::uint32_t lds_address(const T* object) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(object));
}

/// The wave's index in its workgroup, in an SGPR.
__device__ inline unsigned wave_index() { return __builtin_amdgcn_readfirstlane(threadIdx.x / 64); }

/// s_barrier alone: it orders nothing that was not waited for.
__device__ inline void bare_barrier() {
  asm volatile("" ::: "memory");
  __builtin_amdgcn_s_barrier();
  asm volatile("" ::: "memory");
}
