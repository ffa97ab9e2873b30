// The device half of hip/hip_fp8.h and hip/hip_math_constants.h: what the device makes of many
// numbers, compared with the host's results (tested by tests/unit/hip_headers). Prints each
// difference; the exit code says whether there was one.
#include <hip/hip_fp8.h>
#include <hip/hip_math_constants.h>
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

unsigned differences = 0;

void check(hipError_t error) {
  if (error == hipSuccess) return;
  std::printf("HIP: %s\n", hipGetErrorString(error));
  std::exit(1);
}
template <typename T>
T* shared_array(size_t count) {
  T* array = nullptr;
  check(hipMallocManaged(&array, count * sizeof(T)));
  return array;
}

/// What becomes of one number, and of the code that is the low byte of its bits.
struct Result {
  unsigned from_float, from_float_unsaturated, from_double, from_half, from_bfloat, pair, four;
  unsigned as_float, as_half, as_bfloat, as_low, as_high, as_wide;
  int as_int;
  unsigned char as_byte;
};

}  // namespace

__host__ __device__ unsigned bits(float value) {
  // Host and device need not make the same NaN.
  return value != value ? 0x7fc00000u : __builtin_bit_cast(unsigned, value);
}

template <typename One, typename Two, typename Four>
__host__ __device__ Result convert(float x) {
  Result r{};
  constexpr __hip_fp8_interpretation_t format = One::__default_interpret;
  const auto code = static_cast<__hip_fp8_storage_t>(__builtin_bit_cast(unsigned, x) & 0xff);
  r.from_float = One(x).__x;
  r.from_float_unsaturated = __hip_cvt_float_to_fp8(x, __HIP_NOSAT, format);
  r.from_double = One(x * 1.0000000001).__x;
  __half_raw half;
  half.x = static_cast<unsigned short>(__builtin_bit_cast(unsigned, x) >> 16);
  r.from_half = One(__half(half)).__x;
  r.from_bfloat = One(__hip_bfloat16(x)).__x;
  r.pair = Two(float2{x, 3.0f}).__x;
  r.four = Four(float4{x, -x, x * 2, 0.5f}).__x;
  One one;
  one.__x = code;
  r.as_float = bits(static_cast<float>(one));
  r.as_half = static_cast<__half_raw>(static_cast<__half>(one)).x;
  r.as_bfloat = static_cast<__hip_bfloat16_raw>(static_cast<__hip_bfloat16>(one)).x & 0x7fff;
  r.as_int = static_cast<int>(one);
  r.as_byte = static_cast<unsigned char>(one);
  Two two;
  two.__x = static_cast<__hip_fp8x2_storage_t>(code << 8 | (code ^ 0x55));
  const float2 pair = two;
  r.as_low = bits(pair.x);
  r.as_high = bits(pair.y);
  Four four;
  four.__x = code * 0x01020408u;
  r.as_wide = bits(static_cast<float4>(four).w) ^ bits(static_cast<float4>(four).y);
  return r;
}

template <typename One, typename Two, typename Four>
__global__ void ask(const float* numbers, Result* results, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) results[i] = convert<One, Two, Four>(numbers[i]);
}

template <typename One, typename Two, typename Four>
void judge(const char* name, const std::vector<float>& numbers) {
  const auto count = static_cast<unsigned>(numbers.size());
  float* const in = shared_array<float>(count);
  Result* const out = shared_array<Result>(count);
  std::memcpy(in, numbers.data(), count * sizeof(float));
  std::memset(out, 0xee, count * sizeof(Result));
  ask<One, Two, Four><<<(count + 255) / 256, 256>>>(in, out, count);
  check(hipDeviceSynchronize());
  for (unsigned i = 0; i < count; ++i) {
    const Result wanted = convert<One, Two, Four>(numbers[i]);
    const auto expect = [&](unsigned got, unsigned want, const char* what) {
      if (got == want || ++differences > 20) return;
      std::printf("%s %s of %g (%08x): got %x, wanted %x\n", name, what,
                  static_cast<double>(numbers[i]), bits(numbers[i]), got, want);
    };
    expect(out[i].from_float, wanted.from_float, "from float");
    expect(out[i].from_float_unsaturated, wanted.from_float_unsaturated, "from float, unsaturated");
    expect(out[i].from_double, wanted.from_double, "from double");
    expect(out[i].from_half, wanted.from_half, "from half");
    expect(out[i].from_bfloat, wanted.from_bfloat, "from bfloat16");
    expect(out[i].pair, wanted.pair, "pair");
    expect(out[i].four, wanted.four, "four");
    expect(out[i].as_float, wanted.as_float, "as float");
    expect(out[i].as_half, wanted.as_half, "as half");
    expect(out[i].as_bfloat, wanted.as_bfloat, "as bfloat16");
    expect(out[i].as_low, wanted.as_low, "first of a pair");
    expect(out[i].as_high, wanted.as_high, "second of a pair");
    expect(out[i].as_wide, wanted.as_wide, "of four");
    expect(static_cast<unsigned>(out[i].as_int), static_cast<unsigned>(wanted.as_int), "as int");
    expect(out[i].as_byte, wanted.as_byte, "as unsigned char");
  }
  check(hipFree(in));
  check(hipFree(out));
}

/// Device code may use the constants and initialise shared tables with them.
__global__ void constants(float* floats, double* doubles) {
  floats[0] = HIP_INF_F, floats[1] = -HIP_PI_F, floats[2] = HIP_MAX_NORMAL_F;
  doubles[0] = HIP_INF, doubles[1] = HIP_LN2, doubles[2] = HIP_NEG_ZERO;
}

int main() {
  std::vector<float> numbers;
  // All upper halves of a float with critical lower halves: on, next to and between codes.
  for (unsigned high = 0; high < 0x10000; ++high) {
    if ((high & 0x7fff) > 0x4800 && high % 16 != 0) continue;  // far beyond the largest number
    if ((high & 0x7fff) < 0x3600 && high % 16 != 0) continue;  // far below the smallest
    for (const unsigned low : {0x0000u, 0x0001u, 0xffffu - (high & 0xff)})
      numbers.push_back(__builtin_bit_cast(float, high << 16 | low));
  }
  judge<__hip_fp8_e4m3_fnuz, __hip_fp8x2_e4m3_fnuz, __hip_fp8x4_e4m3_fnuz>("e4m3_fnuz", numbers);
  judge<__hip_fp8_e5m2_fnuz, __hip_fp8x2_e5m2_fnuz, __hip_fp8x4_e5m2_fnuz>("e5m2_fnuz", numbers);
  judge<__hip_fp8_e4m3, __hip_fp8x2_e4m3, __hip_fp8x4_e4m3>("e4m3", numbers);
  judge<__hip_fp8_e5m2, __hip_fp8x2_e5m2, __hip_fp8x4_e5m2>("e5m2", numbers);

  float* const floats = shared_array<float>(3);
  double* const doubles = shared_array<double>(3);
  constants<<<1, 1>>>(floats, doubles);
  check(hipDeviceSynchronize());
  if (floats[0] != INFINITY || floats[1] != -HIP_PI_F || floats[2] != HIP_MAX_NORMAL_F ||
      doubles[0] != static_cast<double>(INFINITY) || doubles[1] != HIP_LN2 ||
      !std::signbit(doubles[2])) {
    std::printf("a constant\n");
    ++differences;
  }
  std::printf("%u numbers, %u differences\n", static_cast<unsigned>(numbers.size()), differences);
  return differences == 0 ? 0 : 1;
}
