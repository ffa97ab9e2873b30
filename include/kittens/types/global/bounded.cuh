// Global layouts whose edges are safe: a tile may hang over the tensor's last rows and columns.
#pragma once

#include "gl.cuh"

namespace kittens {

/// Stands for a tensor in a load or store. What lies outside its rows and columns reads as zero and
/// is not written; batch and depth must be inside. It costs a comparison per access.
template <ducks::gl::all GL>
struct bounded_gl {
  using identifier = ducks::gl::identifier;
  using T = typename GL::T;
  using T2 = typename GL::T2;
  using dtype = T;
  using tensor_type = GL;

  const GL& tensor;
};

/// load(tile, bounded(g.a), {0, 0, r, c}) and store(bounded(g.c), tile, {0, 0, r, c}).
template <ducks::gl::all GL>
KITTENS_MEMBER bounded_gl<GL> bounded(const GL& tensor) {
  return {tensor};
}

}  // namespace kittens
