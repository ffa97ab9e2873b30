// The comparison of the device tests: the same C++ function runs on the host and on the virtual
// device, and the bits of both results are compared. The host's compiler and libm know nothing of
// Margay.
#pragma once

#include <gtest/gtest.h>
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace judge {

inline void check(hipError_t status, const char* what) {
  ASSERT_EQ(status, hipSuccess) << what << ": " << hipGetErrorString(status);
}

/// A fault stays with the device until it is reset: each test starts with a fresh one, so that one
/// failure is one failure.
class FreshDevice : public testing::EmptyTestEventListener {
  /// Tests go on with the memory that they asked for: without a device, as at a level of the host
  /// that it lacks, none of them begins.
  void OnTestProgramStart(const testing::UnitTest&) override {
    void* memory = nullptr;
    if (hipMalloc(&memory, sizeof(int)) != hipSuccess || hipFree(memory) != hipSuccess)
      std::exit(1);
  }
  void OnTestStart(const testing::TestInfo&) override {
    check(hipDeviceReset(), "hipDeviceReset");
    (void)hipGetLastError();
  }
};
inline const bool fresh_device_registered = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new FreshDevice);
  return true;
}();

/// Several results of one function: one kernel tests many expressions.
template <typename T, int n>
struct List {
  T at[n];
};
template <typename T, typename... E>
__host__ __device__ List<T, sizeof...(E)> list(E... e) {
  return {{static_cast<T>(e)...}};
}

/// Device memory holding a copy of host values.
template <typename T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : count_(count) {
    check(hipMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)), "hipMalloc");
    check(hipMemset(data_, 0, count * sizeof(T)), "hipMemset");
  }
  explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) {
    check(hipMemcpy(data_, host.data(), count_ * sizeof(T), hipMemcpyHostToDevice), "hipMemcpy");
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { check(hipFree(data_), "hipFree"); }
  T* get() const { return data_; }
  std::vector<T> read() const {
    std::vector<T> host(count_);
    check(hipGetLastError(), "launch");
    check(hipDeviceSynchronize(), "kernel");
    check(hipMemcpy(host.data(), data_, count_ * sizeof(T), hipMemcpyDeviceToHost), "hipMemcpy");
    return host;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

/// SplitMix64: the same numbers on every host.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

template <typename T>
constexpr bool kIsFloat =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, _Float16>;
template <typename T>
using Bits = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
template <typename T, typename B>
T from_bits(B bits) {
  const auto narrow = static_cast<Bits<T>>(bits);
  T value;
  std::memcpy(&value, &narrow, sizeof value);
  return value;
}

/// The values where implementations go wrong.
template <typename T>
std::vector<T> corners() {
  std::vector<T> out;
  if constexpr (kIsFloat<T>) {
    constexpr int mantissa = sizeof(T) == 8 ? 52 : sizeof(T) == 4 ? 23 : 10;
    using B = Bits<T>;
    const B inf = static_cast<B>(B(~B(0)) >> (mantissa + 1) << mantissa);
    const B smallest_normal = static_cast<B>(B(1) << mantissa);
    const B one = static_cast<B>((inf >> 1) & ~(smallest_normal - 1));
    for (const B b :
         {B(0), B(1), B(smallest_normal - 1), smallest_normal, B(smallest_normal + 1), one,
          B(one - 1), B(one + 1), B(inf - 1), inf, B(inf | (B(1) << (mantissa - 1)))}) {
      out.push_back(from_bits<T>(b));
      out.push_back(from_bits<T>(B(b | B(B(1) << (sizeof(T) * 8 - 1)))));
    }
    for (const double x :
         {0.5,    1.5,    2.0,     2.5,     3.0,     0.1,     3.14159265, 7.0,
          100.0,  1e-3,   127.5,   128.0,   255.0,   255.5,   256.0,      0.49999997,
          1023.5, 2047.0, 32767.0, 32768.0, 65504.0, 65519.0, 65520.0}) {
      out.push_back(static_cast<T>(x));
      out.push_back(static_cast<T>(-x));
    }
    if constexpr (sizeof(T) >= 4)
      for (const double x : {8388607.5, 8388609.0, 16777216.0, 16777217.0, 2147483520.0,
                             2147483647.0, 2147483648.0, 4294967040.0, 4294967295.0, 4294967296.0,
                             9.2233720368547758e18, 1.8446744073709552e19, 1e30, 1e-30, 1e-40})
        for (const double s : {x, -x}) out.push_back(static_cast<T>(s));
  } else {
    using U = std::make_unsigned_t<T>;
    for (unsigned shift = 0; shift < sizeof(T) * 8; shift += shift < 6 ? 1 : 5)
      for (const int d : {-1, 0, 1})
        out.push_back(static_cast<T>(static_cast<U>(U(1) << shift) + d));
    const U top = static_cast<U>(U(1) << (sizeof(T) * 8 - 1));
    for (const U u : {U(0), U(~U(0)), U(~U(0) - 1), top, U(top - 1), U(top + 1),
                      U(0x5555555555555555u), U(0xaaaaaaaaaaaaaaaau), U(0x0123456789abcdefu)})
      out.push_back(static_cast<T>(u));
  }
  return out;
}
/// Numbers of all magnitudes.
template <typename T>
T any_value(Random& random) {
  const std::uint64_t r = random.next();
  if constexpr (kIsFloat<T>) {
    return from_bits<T>(r);
  } else {
    const unsigned shift = static_cast<unsigned>(random.next() % (sizeof(T) * 8));
    return static_cast<T>(static_cast<T>(r) >> shift);
  }
}

/// Every pair of corners, then random ones.
template <typename A>
std::vector<A> values(std::size_t extra = 500) {
  std::vector<A> a = corners<A>();
  Random random(1);
  while (extra-- > 0) a.push_back(any_value<A>(random));
  return a;
}
template <typename A, typename B>
void pairs(std::vector<A>& a, std::vector<B>& b, std::size_t extra = 1500) {
  for (const A x : corners<A>())
    for (const B y : corners<B>()) {
      a.push_back(x);
      b.push_back(y);
    }
  Random random(2);
  while (extra-- > 0) {
    a.push_back(any_value<A>(random));
    b.push_back(any_value<B>(random));
  }
}

template <typename T>
bool same_bits(const T& a, const T& b) {
  if constexpr (kIsFloat<T>)
    if (a != a && b != b) return true;  // which NaN is not part of C++
  return std::memcmp(&a, &b, sizeof a) == 0;
}
template <typename T, int n>
bool same_bits(const List<T, n>& a, const List<T, n>& b) {
  for (int i = 0; i < n; ++i)
    if (!same_bits(a.at[i], b.at[i])) return false;
  return true;
}
template <typename T>
std::string text(const T& value) {
  std::string out;
  char part[64];
  for (std::size_t at = sizeof value; at-- > 0;) {
    std::snprintf(part, sizeof part, "%02x", reinterpret_cast<const unsigned char*>(&value)[at]);
    out += part;
  }
  if constexpr (kIsFloat<T>) {
    std::snprintf(part, sizeof part, " (%.17g)", static_cast<double>(value));
    out += part;
  } else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
    out += " (" + std::to_string(value) + ")";
  }
  return out;
}

template <typename A, typename... In>
std::size_t size_of(const std::vector<A>& first, const In&...) {
  return first.size();
}

/// Only what differs, with its place in the list.
template <typename T>
std::string difference(const T& expected, const T& got) {
  return "host " + text(expected) + ", device " + text(got);
}
template <typename T, int n>
std::string difference(const List<T, n>& expected, const List<T, n>& got) {
  std::string out;
  for (int i = 0; i < n; ++i)
    if (!same_bits(expected.at[i], got.at[i]))
      out += "[" + std::to_string(i) + "] " + difference(expected.at[i], got.at[i]) + "; ";
  return out;
}

template <typename F, typename R, typename... In>
__global__ void apply(F f, std::size_t n, R* out, const In*... in) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = f(in[i]...);
}

/// Runs f on all inputs on the device.
template <typename F, typename... In>
auto on_device(F f, const std::vector<In>&... in) {
  using R = decltype(f(in[0]...));
  const std::size_t n = size_of(in...);
  Buffer<R> out(n);
  const auto launch = [&](const Buffer<In>&... buffers) {
    // Not a multiple of 64, so that the last wave of each workgroup is partly inactive.
    apply<<<static_cast<unsigned>((n + 191) / 192), 192>>>(f, n, out.get(), buffers.get()...);
  };
  launch(Buffer<In>(in)...);
  return out.read();
}

template <typename R, typename... In>
void expect_equal(const char* what, const std::vector<R>& expected, const std::vector<R>& got,
                  const std::vector<In>&... in) {
  int shown = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (same_bits(expected[i], got[i])) continue;
    ++wrong;
    if (shown++ < 3)
      ADD_FAILURE() << what << (... + (" " + text(in[i]))) << ": "
                    << difference(expected[i], got[i]);
  }
  if (wrong != 0) ADD_FAILURE() << what << ": " << wrong << " of " << expected.size() << " wrong";
}

/// The comparison: f on the host is `reference` (by default f itself).
template <typename F, typename G, typename... In>
void expect_as(const char* what, F f, G reference, const std::vector<In>&... in) {
  const auto got = on_device(f, in...);
  using R = typename std::decay_t<decltype(got)>::value_type;
  std::vector<R> expected;
  for (std::size_t i = 0; i < size_of(in...); ++i)
    expected.push_back(static_cast<R>(reference(in[i]...)));
  expect_equal(what, expected, got, in...);
}
template <typename F, typename... In>
void expect_same(const char* what, F f, const std::vector<In>&... in) {
  expect_as(what, f, f, in...);
}

}  // namespace judge

/// For the functions both sides compile.
#define JUDGE_BOTH __host__ __device__
