// The tile library: register, shared and global tiles with bulk operations for AMD CDNA3.
//
//   rt  register tile, spread over the 64 lanes of a warp      types/register/rt.cuh
//   st  shared tile, swizzled so that no access has conflicts  types/shared/st.cuh
//   gl  global layout, a tensor of up to four dimensions       types/global/gl.cuh
//   rv, sv  the vectors that go with rt and st
//
// An operation lives at ops/<warp|group>/<memory|register|mma>/...: load() of a shared tile from
// global memory by one warp is in ops/warp/memory/tile/global_to_shared.cuh.
//
// Rules that hold everywhere:
//  - Destination first, then sources. An operation is complete, or tracked by the compiler, when it
//    returns; no operation contains a barrier.
//  - A warp operation is called by all 64 lanes of the warp with the same coordinates. They come
//    from blockIdx, warpid() or kernel arguments; anything else goes through uniform().
//  - Coordinates in braces, {batch, depth, row, column}, count tiles of the operand's own shape.
//    coord<>(...) counts elements.
#pragma once

#include "kittens/common/common.cuh"
#include "kittens/ops/ops.cuh"
#include "kittens/types/types.cuh"
