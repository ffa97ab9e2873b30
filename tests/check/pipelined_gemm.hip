// A software-pipelined GEMM whose LDS reads are asynchronous. The barrier after them says "I have
// read"; when it comes before the reads' own wait, the next stage's writes overtake them.
#include "check_program.h"

using namespace check_program;

namespace {

// C (32 x 32, f32) = A (32 x K, bf16) * B^T (32 x K, bf16): four waves, a 16 x 16 tile each.
constexpr unsigned kSide = 32;
constexpr unsigned kStep = 16;
constexpr unsigned kDepth = 128;
constexpr unsigned kThreads = 256;

using Float4 = float __attribute__((ext_vector_type(4)));
using Short4 = short __attribute__((ext_vector_type(4)));

__device__ Short4 issue_read(std::uint32_t address) {
  Short4 value;
  asm volatile("ds_read_b64 %0, %1" : "=v"(value) : "v"(address) : "memory");  // BUG read
  return value;
}

// The registers are operands of the wait, so nothing can use them before it.
__device__ void wait_for(Short4& a, Short4& b) {
  asm volatile("s_waitcnt lgkmcnt(0)" : "+v"(a), "+v"(b)::"memory");
}

// broken, in the loop: ds_read_b64 x2, s_barrier, s_waitcnt lgkmcnt(0), v_mfma, ds_write_b64.
// fixed: ds_read_b64 x2, s_waitcnt lgkmcnt(0), s_barrier, v_mfma, ds_write_b64.
template <bool kBroken>
__global__ __launch_bounds__(kThreads) void gemm(const Short4* a, const Short4* b, float* c) {
  __shared__ Short4 tiles[2][kSide][kStep / 4];  // A, B
  const unsigned lane = threadIdx.x % 64;
  const unsigned wave = wave_index();
  // Each thread brings four elements of a stage: one half of the threads those of A.
  const unsigned which = threadIdx.x / 128;
  const unsigned row = threadIdx.x % 128 / 4;
  const unsigned part = threadIdx.x % 4;
  const Short4* source = (which == 0 ? a : b) + row * (kDepth / 4) + part;
  const std::uint32_t target = lds_address(&tiles[which][row][part]);
  const std::uint32_t a_address = lds_address(&tiles[0][wave / 2 * 16 + lane % 16][lane / 16]);
  const std::uint32_t b_address = lds_address(&tiles[1][wave % 2 * 16 + lane % 16][lane / 16]);

  Float4 sum = {};
  Short4 next = source[0];
  for (unsigned k = 0; k < kDepth; k += kStep) {
    asm volatile("ds_write_b64 %0, %1" ::"v"(target), "v"(next) : "memory");  // BUG write
    asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
    bare_barrier();
    Short4 a_part = issue_read(a_address);
    Short4 b_part = issue_read(b_address);
    if (k + kStep < kDepth) next = source[(k + kStep) / 4];
    if constexpr (kBroken) {
      bare_barrier();
      wait_for(a_part, b_part);
    } else {
      wait_for(a_part, b_part);
      bare_barrier();
    }
    sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a_part, b_part, sum, 0, 0, 0);
  }
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned c_row = wave / 2 * 16 + lane / 16 * 4 + i;
    c[c_row * kSide + wave % 2 * 16 + lane % 16] = sum[i];
  }
}

// Small whole numbers, which bf16 and f32 hold exactly.
float value_of(std::size_t index, unsigned factor) {
  return static_cast<float>(index * factor % 15) - 7.0f;
}

std::vector<Short4> matrix(unsigned factor) {
  std::vector<Short4> elements(kSide * kDepth / 4);
  for (std::size_t i = 0; i < kSide * kDepth; ++i) {
    const float value = value_of(i, factor);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    elements[i / 4][i % 4] = static_cast<short>(bits >> 16);
  }
  return elements;
}

bool run(void (*kernel)(const Short4*, const Short4*, float*)) {
  const DeviceArray<Short4> a(matrix(7));
  const DeviceArray<Short4> b(matrix(11));
  const DeviceArray<float> c(kSide * kSide, 0.0f);
  kernel<<<1, kThreads>>>(a.get(), b.get(), c.get());
  finish();
  return matches(c.host(), [](std::size_t i) {
    float sum = 0;
    for (std::size_t k = 0; k < kDepth; ++k) {
      sum += value_of(i / kSide * kDepth + k, 7) * value_of(i % kSide * kDepth + k, 11);
    }
    return sum;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"broken", [] { return run(gemm<true>); }}, {"fixed", [] { return run(gemm<false>); }}});
}
