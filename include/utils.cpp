// The register-buffer prefetch under the names it had before it joined the library: kernels of mid
// 2025 include "utils.cpp" for it. New code calls load_global_to_register_buffer and
// store_register_buffer_to_shared.
#pragma once

#include "kittens.cuh"

namespace kittens {

/// metadata[0..2] receives the number of chunks per thread, the batch size (16) and the number of
/// batches.
template <int axis, bool assume_aligned, ducks::st::all ST, ducks::gl::all GL,
          ducks::coord::tile COORD = coord<ST>, int N_THREADS = WARP_THREADS>
KITTENS_DEVICE void load_global_to_registers(float4* reg_buffer, int buffer_size, const GL& src,
                                             const COORD& idx, const ST& dst_template,
                                             int* metadata) {
  constexpr int calls = detail::chunk_map<ST, N_THREADS>::calls;
  constexpr int batch = 16;
  metadata[0] = calls;
  metadata[1] = batch;
  metadata[2] = (calls + batch - 1) / batch;
  load_global_to_register_buffer<axis, assume_aligned, N_THREADS>(reg_buffer, buffer_size, src, idx,
                                                                  dst_template);
}

template <ducks::st::all ST, int N_THREADS = WARP_THREADS>
KITTENS_DEVICE void store_registers_to_shared(const float4* reg_buffer, ST& dst,
                                              const int* /*metadata*/) {
  store_register_buffer_to_shared<N_THREADS>(dst, reg_buffer);
}

}  // namespace kittens
