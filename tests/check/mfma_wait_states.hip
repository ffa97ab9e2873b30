// Hand-written MFMA: the hardware does not hold back a VALU instruction that reads its result, and
// the compiler does not look into asm.
#include "check_program.h"

using namespace check_program;

namespace {

using Float4 = float __attribute__((ext_vector_type(4)));
using Short4 = short __attribute__((ext_vector_type(4)));

// broken: v_mfma_f32_16x16x16_bf16 v[20:23], then v_add_f32 of v20 right behind it.
// fixed: s_nop 15 and s_nop 3 between, more than any MFMA needs. The s_nop in front covers the
// VALU instructions that made the operands.
template <bool kBroken>
__global__ void in_asm(const Short4* a, const Short4* b, float* c) {
  float sum;
  if constexpr (kBroken) {
    asm volatile(
        "s_nop 7\n v_mfma_f32_16x16x16_bf16 v[20:23], %1, %2, 0\n v_add_f32 %0, 1.0, v20\n"
        "s_nop 15\n s_nop 3"
        : "=&v"(sum)
        : "v"(a[threadIdx.x]), "v"(b[threadIdx.x])
        : "v20", "v21", "v22", "v23");
  } else {
    asm volatile(
        "s_nop 7\n v_mfma_f32_16x16x16_bf16 v[20:23], %1, %2, 0\n s_nop 15\n s_nop 3\n"
        "v_add_f32 %0, 1.0, v20"
        : "=&v"(sum)
        : "v"(a[threadIdx.x]), "v"(b[threadIdx.x])
        : "v20", "v21", "v22", "v23");
  }
  c[threadIdx.x] = sum;
}

// The same with the result read by an instruction of the compiler's.
// broken: v_mfma_f32_16x16x16_bf16 v[a:b], v_add_f32 of va.
template <bool kBroken>
__global__ void in_source(const Short4* a, const Short4* b, float* c) {
  Float4 sum;
  if constexpr (kBroken) {
    asm volatile("s_nop 7\n v_mfma_f32_16x16x16_bf16 %0, %1, %2, 0"  // BUG mfma
                 : "=&v"(sum)
                 : "v"(a[threadIdx.x]), "v"(b[threadIdx.x]));
  } else {
    asm volatile("s_nop 7\n v_mfma_f32_16x16x16_bf16 %0, %1, %2, 0\n s_nop 15\n s_nop 3"
                 : "=&v"(sum)
                 : "v"(a[threadIdx.x]), "v"(b[threadIdx.x]));
  }
  c[threadIdx.x] = sum[0] + 1.0f;  // BUG read
}

// bf16 bits of a small whole number.
short bf16(int value) {
  const float number = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof(bits));
  return static_cast<short>(bits >> 16);
}

int a_value(int row, int k) { return (row * 3 + k) % 7 - 3; }
int b_value(int k, int column) { return (column * 5 + k) % 9 - 4; }

bool run(void (*kernel)(const Short4*, const Short4*, float*)) {
  std::vector<Short4> a(64);
  std::vector<Short4> b(64);
  for (int lane = 0; lane < 64; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int k = lane / 16 * 4 + i;
      a[lane][i] = bf16(a_value(lane % 16, k));
      b[lane][i] = bf16(b_value(k, lane % 16));
    }
  }
  const DeviceArray<Short4> device_a(a);
  const DeviceArray<Short4> device_b(b);
  const DeviceArray<float> c(64, 0.0f);
  kernel<<<1, 64>>>(device_a.get(), device_b.get(), c.get());
  finish();
  return matches(c.host(), [](std::size_t lane) {
    const int row = static_cast<int>(lane) / 16 * 4;  // of the lane's first result register
    int wanted = 1;
    for (int k = 0; k < 16; ++k)
      wanted += a_value(row, k) * b_value(k, static_cast<int>(lane) % 16);
    return wanted;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"asm-broken", [] { return run(in_asm<true>); }},
                   {"asm-fixed", [] { return run(in_asm<false>); }},
                   {"source-broken", [] { return run(in_source<true>); }},
                   {"source-fixed", [] { return run(in_source<false>); }}});
}
