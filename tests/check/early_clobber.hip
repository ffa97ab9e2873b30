// One asm block that loads and then stores to LDS. An output without early-clobber says that every
// input is consumed before the output is written; it is not, and the compiler gives the output the
// register of the LDS address.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kRounds = 3;

// broken: flat_load_dword vN, ..., s_waitcnt, ds_write_b32 vN, vN: the data are the address.
// fixed: flat_load_dword vM, ..., s_waitcnt, ds_write_b32 vN, vM.
template <bool kBroken>
__global__ void copy(const unsigned* in, unsigned* out, unsigned count) {
  __shared__ unsigned tile[64 * kRounds];
  const unsigned* source = in + threadIdx.x;
  for (unsigned i = 0; i < count; ++i, source += 64) {
    const std::uint32_t address = lds_address(tile + (i * 64 + (threadIdx.x ^ 3)));
    unsigned value;
    if constexpr (kBroken) {
      asm volatile("flat_load_dword %0, %1\n s_waitcnt vmcnt(0) lgkmcnt(0)\n ds_write_b32 %2, %0"
                   : "=v"(value)
                   : "v"(source), "v"(address)
                   : "memory");
    } else {
      asm volatile("flat_load_dword %0, %1\n s_waitcnt vmcnt(0) lgkmcnt(0)\n ds_write_b32 %2, %0"
                   : "=&v"(value)
                   : "v"(source), "v"(address)
                   : "memory");
    }
  }
  asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
  for (unsigned i = 0; i < count; ++i) out[i * 64 + threadIdx.x] = tile[i * 64 + threadIdx.x];
}

// Every value is far above 64 KiB, so as an address it is outside LDS for certain.
unsigned value_of(std::size_t i) { return 0xC0DE0000u + static_cast<unsigned>(i) * 977u; }

bool run(void (*kernel)(const unsigned*, unsigned*, unsigned)) {
  std::vector<unsigned> values(64 * kRounds);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of(i);
  const DeviceArray<unsigned> in(values);
  const DeviceArray<unsigned> out(values.size(), 0u);
  kernel<<<1, 64>>>(in.get(), out.get(), kRounds);
  finish();
  return matches(out.host(), [](std::size_t i) { return value_of(i ^ 3); });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"broken", [] { return run(copy<true>); }}, {"fixed", [] { return run(copy<false>); }}});
}
