// Waves that hand LDS over to each other by barriers, atomics and flags: histogram, block
// reductions, a ring buffer. The forms without "broken" in their names are free of races.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kWaves = kThreads / 64;
constexpr unsigned kBlocks = 3;

enum class Bug { none, first, second };

// ---- Histogram ------------------------------------------------------------------------------

constexpr unsigned kBins = 128;
constexpr unsigned kCount = 5 * kThreads * kBlocks - 19;

// Counted in LDS, then added to the global bins.
// first: ds_add_u32 while other waves still set the bins to zero.
// second: ds_read_b32 of a bin that other waves still count in.
template <Bug kBug>
__global__ void histogram(const unsigned* in, unsigned* bins) {
  __shared__ unsigned local[kBins];
  for (unsigned b = threadIdx.x; b < kBins; b += kThreads) local[b] = 0;  // BUG histogram zero
  if constexpr (kBug != Bug::first) __syncthreads();
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < kCount; i += kBlocks * kThreads)
    atomicAdd(&local[in[i] % kBins], 1u);  // BUG histogram count
  if constexpr (kBug != Bug::second) __syncthreads();
  for (unsigned b = threadIdx.x; b < kBins; b += kThreads)
    atomicAdd(&bins[b], local[b]);  // BUG histogram flush
}

// ---- Block reductions -----------------------------------------------------------------------

__device__ unsigned wave_sum(unsigned value) {
  for (int step = 32; step > 0; step /= 2) value += __shfl_down(value, step);
  return value;
}

// A sum of the workgroup by way of one value per wave. The second barrier belongs to it because it
// is called again: broken without it, a wave's next value overwrites what slower waves still read.
template <Bug kBug>
__device__ unsigned block_sum(unsigned value) {
  __shared__ unsigned of_wave[kWaves];
  value = wave_sum(value);
  if (threadIdx.x % 64 == 0) of_wave[threadIdx.x / 64] = value;  // BUG reduction write
  __syncthreads();
  unsigned sum = 0;
  for (unsigned w = 0; w < kWaves; ++w) sum += of_wave[w];  // BUG reduction read
  if constexpr (kBug != Bug::first) __syncthreads();
  return sum;
}

// Mean and squared deviation, as a layernorm has them.
template <Bug kBug>
__global__ void block_reduction(const unsigned* in, unsigned* out) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  const unsigned mean = block_sum<kBug>(in[i]) / kThreads;
  const unsigned deviation = in[i] > mean ? in[i] - mean : mean - in[i];
  out[i] = mean + block_sum<kBug>(deviation * deviation);
}

// The largest value and how many have it, by atomics on single words of LDS.
// first: the largest is read while other waves still look for it.
// second: ds_add_rtn_u32 gives places in a list, whose length a wave reads while others append.
template <Bug kBug>
__global__ void block_atomics(const unsigned* in, unsigned* out) {
  __shared__ unsigned largest, length, list[kThreads];
  if (threadIdx.x == 0) largest = length = 0;
  __syncthreads();
  const unsigned value = in[blockIdx.x * kThreads + threadIdx.x] % 100;
  atomicMax(&largest, value);  // BUG largest write
  if constexpr (kBug != Bug::first) __syncthreads();
  if (value == largest) list[atomicAdd(&length, 1u)] = value;  // BUG largest read
  if constexpr (kBug != Bug::second) __syncthreads();
  if (threadIdx.x % 64 == 0)
    out[blockIdx.x * kWaves + threadIdx.x / 64] = list[0] * 1000 + length;  // BUG length
}

// ---- Ring buffer ----------------------------------------------------------------------------

constexpr unsigned kSlots = 4;
constexpr unsigned kConsumers = kWaves - 1;
constexpr unsigned kItems = 5 * kConsumers;

// Waits until the word is `value`, and acquires what the wave that wrote it had released.
__device__ void wait_for(unsigned* word, unsigned value) {
  while (__hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP) != value)
    __builtin_amdgcn_s_sleep(1);
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Releases all that the wave has done so far. A wave's lanes run in step.
__device__ void release(unsigned* word, unsigned value) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  if (threadIdx.x % 64 == 0)
    __hip_atomic_store(word, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}

// Wave 0 fills slots, the others empty them, each in its turn. `turn` of a slot is even when it is
// empty, odd when it is full.
// first: a consumer gives the slot back and reads it afterwards.
// second: a consumer reads the slot and checks its turn afterwards.
template <Bug kBug>
__global__ void ring_buffer(const unsigned* in, unsigned* out) {
  __shared__ unsigned slots[kSlots][64];
  __shared__ unsigned turn[kSlots];
  const unsigned lane = threadIdx.x % 64;
  if (threadIdx.x < kSlots) turn[threadIdx.x] = 0;
  slots[threadIdx.x / 64][lane] = 0;
  __syncthreads();
  if (wave_index() == 0) {
#pragma unroll 1
    for (unsigned item = 0; item < kItems; ++item) {
      const unsigned slot = item % kSlots, round = item / kSlots;
      wait_for(&turn[slot], 2 * round);
      slots[slot][lane] = in[item * 64 + lane];  // BUG ring write
      release(&turn[slot], 2 * round + 1);
    }
    return;
  }
#pragma unroll 1
  for (unsigned item = wave_index() - 1; item < kItems; item += kConsumers) {
    const unsigned slot = item % kSlots, round = item / kSlots;
    unsigned value = 0;
    if constexpr (kBug == Bug::second) value = slots[slot][63 - lane];  // BUG ring early read
    wait_for(&turn[slot], 2 * round + 1);
    if constexpr (kBug == Bug::none) value = slots[slot][63 - lane];
    release(&turn[slot], 2 * round + 2);
    if constexpr (kBug == Bug::first) value = slots[slot][63 - lane];  // BUG ring late read
    out[item * 64 + lane] = value + 1;
  }
}

// ---- On the host ----------------------------------------------------------------------------

unsigned value_at(std::size_t i) { return static_cast<unsigned>(i * i % 1009); }

std::vector<unsigned> values(std::size_t count) {
  std::vector<unsigned> list(count);
  for (std::size_t i = 0; i < count; ++i) list[i] = value_at(i);
  return list;
}

using Kernel = void (*)(const unsigned*, unsigned*);
std::vector<unsigned> run(Kernel kernel, unsigned blocks, std::size_t inputs, std::size_t results) {
  const DeviceArray<unsigned> in(values(inputs));
  const DeviceArray<unsigned> out(results, 0u);
  kernel<<<blocks, kThreads>>>(in.get(), out.get());
  finish();
  return out.host();
}

bool run_histogram(Kernel kernel) {
  std::vector<unsigned> wanted(kBins);
  for (std::size_t i = 0; i < kCount; ++i) ++wanted[value_at(i) % kBins];
  return run(kernel, kBlocks, kCount, kBins) == wanted;
}

bool run_reduction(Kernel kernel) {
  std::vector<unsigned> wanted(kBlocks * kThreads);
  for (std::size_t b = 0; b < kBlocks; ++b) {
    unsigned mean = 0, deviations = 0;
    for (std::size_t i = 0; i < kThreads; ++i) mean += value_at(b * kThreads + i);
    mean /= kThreads;
    for (std::size_t i = 0; i < kThreads; ++i) {
      const int away = static_cast<int>(value_at(b * kThreads + i)) - static_cast<int>(mean);
      deviations += static_cast<unsigned>(away * away);
    }
    for (std::size_t i = 0; i < kThreads; ++i) wanted[b * kThreads + i] = mean + deviations;
  }
  return run(kernel, kBlocks, kBlocks * kThreads, kBlocks * kThreads) == wanted;
}

bool run_atomics(Kernel kernel) {
  std::vector<unsigned> wanted(kBlocks * kWaves);
  for (std::size_t b = 0; b < kBlocks; ++b) {
    unsigned largest = 0, count = 0;
    for (std::size_t i = 0; i < kThreads; ++i) {
      const unsigned value = value_at(b * kThreads + i) % 100;
      if (value > largest) largest = value, count = 0;
      count += value == largest ? 1 : 0;
    }
    for (std::size_t w = 0; w < kWaves; ++w) wanted[b * kWaves + w] = largest * 1000 + count;
  }
  return run(kernel, kBlocks, kBlocks * kThreads, kBlocks * kWaves) == wanted;
}

bool run_ring(Kernel kernel) {
  return matches(run(kernel, 1, kItems * 64, kItems * 64),
                 [](std::size_t i) { return value_at(i / 64 * 64 + 63 - i % 64) + 1; });
}

}  // namespace

int main(int argc, char** argv) {
  using enum Bug;
  return run_case(argc, argv,
                  {{"histogram", [] { return run_histogram(histogram<none>); }},
                   {"histogram-zero-broken", [] { return run_histogram(histogram<first>); }},
                   {"histogram-flush-broken", [] { return run_histogram(histogram<second>); }},
                   {"reduction", [] { return run_reduction(block_reduction<none>); }},
                   {"reduction-broken", [] { return run_reduction(block_reduction<first>); }},
                   {"atomics", [] { return run_atomics(block_atomics<none>); }},
                   {"atomics-largest-broken", [] { return run_atomics(block_atomics<first>); }},
                   {"atomics-length-broken", [] { return run_atomics(block_atomics<second>); }},
                   {"ring", [] { return run_ring(ring_buffer<none>); }},
                   {"ring-late-broken", [] { return run_ring(ring_buffer<first>); }},
                   {"ring-early-broken", [] { return run_ring(ring_buffer<second>); }}});
}
