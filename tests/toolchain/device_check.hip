// The supplemented headers, run on the device and compared with the host: bfloat16 rounding, warp
// functions with a mask, atomics. Prints each difference; the exit code says whether there was one.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

int differences = 0;

void expect(bool equal, const char* what, unsigned index, unsigned long long got,
            unsigned long long wanted) {
  if (equal || ++differences > 20) return;
  std::printf("%s [%u]: got %llx, wanted %llx\n", what, index, got, wanted);
}

void check(hipError_t error) {
  if (error == hipSuccess) return;
  std::printf("HIP: %s\n", hipGetErrorString(error));
  std::exit(1);
}

/// A device array that is a host array, too, once the device has finished.
template <typename T>
T* shared_array(unsigned count) {
  T* array = nullptr;
  check(hipMallocManaged(&array, count * sizeof(T)));
  return array;
}

}  // namespace

__global__ void round_all(const float* in, unsigned short* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __bfloat16_as_ushort(__float2bfloat16(in[i]));
}

__global__ void arithmetic(const unsigned* in, unsigned* sum, unsigned* shuffled,
                           unsigned* larger) {
  const unsigned i = threadIdx.x;
  const auto pair = __builtin_bit_cast(__hip_bfloat162, in[i]);
  sum[i] = __builtin_bit_cast(unsigned, __hfma2(pair, pair, pair));
  shuffled[i] = __builtin_bit_cast(unsigned, __shfl_xor_sync(~0ull, pair, 5));
  larger[i] =
      __half_as_ushort(__hmax(__ushort_as_half(in[i] & 0xffff), __ushort_as_half(in[i] >> 16)));
}

__global__ void waves(unsigned long long* same, unsigned long long* ballot, int* votes,
                      int* moved) {
  const int i = static_cast<int>(threadIdx.x);
  const unsigned long long all = ~0ull;
  const unsigned long long low = 0xffffffffull;
  same[i] = __match_any_sync(all, i % 7);
  if (i < 32) ballot[i] = __ballot_sync(low, i % 3 == 0) | __activemask() << 32;
  int equal = 0;
  const unsigned long long matched = __match_all_sync(all, 42, &equal);
  votes[i] = __any_sync(all, i == 63) | __all_sync(all, i < 64) << 1 |
             __all_sync(all, i < 63) << 2 | (matched == all && equal != 0) << 3 |
             (__match_all_sync(all, i, &equal) != 0) << 4;
  // Two masks at once: each half agrees, the wave does not.
  const unsigned long long half = i < 32 ? low : ~low;
  votes[i] |= (__match_all_sync(half, i / 32, &equal) == half && equal != 0) << 5;
  __syncwarp(half);
  const bool reduced = __reduce_add_sync(half, i) == (i < 32 ? 496 : 1520) &&
                       __reduce_max_sync(half, i ^ 1) == (i < 32 ? 31 : 63) &&
                       __reduce_min_sync(all, 5 - i) == -58 &&
                       __reduce_or_sync(half, 1u << i / 2) == (i < 32 ? 0xffffu : 0xffff0000u) &&
                       __reduce_and_sync(half, i | 64) == (i < 32 ? 64 : 96) &&
                       __reduce_xor_sync(all, 1ull << i) == all;
  votes[i] |= reduced << 6;
  moved[i] = __shfl_down_sync(all, i * 10, 2) + __shfl_up_sync(all, i, 1, 32);
}

__global__ void count(unsigned* counters, long long* extremes, unsigned short* halves) {
  atomicInc(&counters[0], 99);  // wraps to 0 after 99
  atomicDec(&counters[1], 99);  // wraps to 99 after 0
  const long long here = (static_cast<long long>(blockIdx.x * 64 + threadIdx.x) - 100) << 33;
  atomicMin(&extremes[0], here), atomicMax(&extremes[1], here);
  unsigned short seen = halves[1];  // the upper half of a word: its neighbour must not change
  bool done = false;
  for (int tries = 0; tries < 300 && !done; ++tries) {
    const unsigned short old = atomicCAS(&halves[1], seen, static_cast<unsigned short>(seen + 3));
    done = old == seen;
    seen = old;
  }
}

int main() {
  constexpr unsigned kFloats = 1u << 16;
  float* floats = shared_array<float>(kFloats);
  auto* rounded = shared_array<unsigned short>(kFloats);
  for (unsigned i = 0; i < kFloats; ++i) {
    // Every upper half, with a lower half around the tie.
    constexpr std::uint32_t kLow[] = {0x7fff, 0x8000, 0x8001, 0x0000, 0xffff};
    floats[i] = std::bit_cast<float>(i << 16 | kLow[i % 5]);
  }
  round_all<<<kFloats / 256, 256>>>(floats, rounded);
  check(hipDeviceSynchronize());
  for (unsigned i = 0; i < kFloats; ++i) {
    const unsigned wanted = __bfloat16_as_ushort(__float2bfloat16(floats[i]));
    expect(rounded[i] == wanted, "__float2bfloat16", i, rounded[i], wanted);
  }

  auto* in = shared_array<unsigned>(64);
  auto* sum = shared_array<unsigned>(64);
  auto* shuffled = shared_array<unsigned>(64);
  auto* larger = shared_array<unsigned>(64);
  for (unsigned i = 0; i < 64; ++i) in[i] = 0x3f803c00u + i * 0x00110007u;
  arithmetic<<<1, 64>>>(in, sum, shuffled, larger);
  check(hipDeviceSynchronize());
  for (unsigned i = 0; i < 64; ++i) {
    const auto pair = std::bit_cast<__hip_bfloat162>(in[i]);
    const auto fused = [](float a) { return __float2bfloat16(std::fma(a, a, a)); };
    const unsigned wanted = std::bit_cast<unsigned>(__hip_bfloat162(fused(pair.x), fused(pair.y)));
    expect(sum[i] == wanted, "__hfma2", i, sum[i], wanted);
    expect(shuffled[i] == in[i ^ 5], "__shfl_xor", i, shuffled[i], in[i ^ 5]);
    const unsigned high = in[i] >> 16;  // both are positive halves, which order like their bits
    const unsigned low = in[i] & 0xffff;
    expect(larger[i] == (high > low ? high : low), "__hmax", i, larger[i], high > low ? high : low);
  }

  auto* same = shared_array<unsigned long long>(64);
  auto* ballot = shared_array<unsigned long long>(64);
  auto* votes = shared_array<int>(64);
  auto* moved = shared_array<int>(64);
  waves<<<1, 64>>>(same, ballot, votes, moved);
  check(hipDeviceSynchronize());
  for (int i = 0; i < 64; ++i) {
    const auto index = static_cast<unsigned>(i);
    unsigned long long lanes = 0;
    for (int j = i % 7; j < 64; j += 7) lanes |= 1ull << j;
    expect(same[i] == lanes, "__match_any_sync", index, same[i], lanes);
    if (i < 32) {
      constexpr unsigned long long kThirds = 0xffffffff49249249ull;
      expect(ballot[i] == kThirds, "__ballot_sync", index, ballot[i], kThirds);
    }
    expect(votes[i] == 0b1101011, "votes", index, static_cast<unsigned>(votes[i]), 0b1101011);
    const int wanted = (i < 62 ? i + 2 : i) * 10 + (i % 32 == 0 ? i : i - 1);
    expect(moved[i] == wanted, "shuffles", index, static_cast<unsigned>(moved[i]),
           static_cast<unsigned>(wanted));
  }

  auto* counters = shared_array<unsigned>(2);
  counters[0] = counters[1] = 0;
  auto* extremes = shared_array<long long>(2);
  auto* halves = shared_array<unsigned short>(2);
  extremes[0] = extremes[1] = 0;
  halves[0] = 0xabcd, halves[1] = 0xff00;
  count<<<4, 64>>>(counters, extremes, halves);  // 256 steps
  check(hipDeviceSynchronize());
  expect(counters[0] == 56, "atomicInc", 0, counters[0], 56);
  expect(counters[1] == 44, "atomicDec", 0, counters[1], 44);

  expect(extremes[0] == -100ll << 33, "atomicMin", 0, extremes[0], -100ll << 33);
  expect(extremes[1] == 155ll << 33, "atomicMax", 0, extremes[1], 155ll << 33);
  expect(halves[0] == 0xabcd, "beside atomicCAS", 0, halves[0], 0xabcd);
  expect(halves[1] == 0x0200, "atomicCAS", 0, halves[1], 0x0200);

  std::printf("%d differences\n", differences);
  return differences == 0 ? 0 : 1;
}
