// Counting what one tile operation does: kernels that do nothing else, and their counts.
#pragma once

#include <margay/profile.h>

#include "device_test.h"

namespace tile_test {

/// The counts of the one kernel that `launch` launches.
template <typename F>
margay::KernelCounts counts_of(F&& launch) {
  margay::ProfileScope scope;
  launch();
  check(hipGetLastError(), "launch");
  check(hipDeviceSynchronize(), "kernel");
  return scope.end().kernel();
}

/// A tile at the start of dynamic LDS. The compiler does not know its contents, so that loads of it
/// are kept although it was never written.
template <typename ST>
__device__ inline ST& lds_tile() {
  extern __shared__ kittens::alignment_dummy dynamic_lds[];
  return *reinterpret_cast<ST*>(&dynamic_lds[0]);
}

template <typename RT, typename F>
__device__ inline void for_each_register(RT& tile, F&& f) {
#pragma unroll
  for (int i = 0; i < RT::height; ++i) {
#pragma unroll
    for (int j = 0; j < RT::width; ++j) {
      for (auto& pair : tile.tiles[i][j].data) f(pair);
    }
  }
}
/// Needs the tile's registers, as far as the compiler can tell.
template <typename RT>
__device__ inline void use(RT& tile) {
  for_each_register(tile, [](auto& pair) {
    asm volatile("" ::"v"(kittens::detail::bits_as<kittens::detail::word<sizeof(pair)>>(pair)));
  });
}
/// Registers that hold something, as far as the compiler can tell.
template <typename RT>
__device__ inline void produce(RT& tile) {
  for_each_register(tile, [](auto& pair) {
    kittens::detail::word<sizeof(pair)> bits;
    asm volatile("" : "=v"(bits));
    pair = kittens::detail::bits_as<std::remove_reference_t<decltype(pair)>>(bits);
  });
}

/// Expects that no 64-bit LDS access has a conflict, for a kernel whose waves make `accesses` of
/// them together: four cycles each, for 512 bytes at 128 a cycle.
///
/// The compiler merges two accesses of one lane address into a read2 or write2. How LDS serves that
/// is not published; the profiler takes it for two accesses, one after the other (lds_banks.h).
inline void expect_no_lds_conflicts(const margay::KernelCounts& profile, double accesses) {
  const double pairs = accesses - profile["lds_instructions"];
  EXPECT_GE(pairs, 0) << "more LDS instructions than 64-bit accesses";
  EXPECT_EQ(profile["lds_bank_conflicts"], 0) << pairs << " merged pairs";
  EXPECT_EQ(profile["SQ_LDS_IDX_ACTIVE"] - profile["lds_bank_conflicts"], 4 * accesses);
}

}  // namespace tile_test
