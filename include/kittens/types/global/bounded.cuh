// Global layouts whose edges are safe: a tile may hang over the tensor's last rows and columns.
#pragma once

#include "gl.cuh"

namespace kittens {

/// Replaces a tensor in a load or store. Elements outside its rows and columns read as zero and are
/// not written; batch and depth must be inside. It costs a comparison per access.
template <ducks::gl::all GL, int _whole = 1>
struct bounded_gl {
  using identifier = ducks::gl::identifier;
  using T = typename GL::T;
  using T2 = typename GL::T2;
  using dtype = T;
  using tensor_type = GL;
  static constexpr int whole = _whole;

  const GL& tensor;
};

/// load(tile, bounded(g.a), {0, 0, r, c}) and store(bounded(g.c), tile, {0, 0, r, c}).
///
/// The end of a row may cut an access of several elements, so each has a second way, element by
/// element. bounded<8>(g.a) promises that the columns left from the tile on are a multiple of 8 (as
/// they are if the tensor's columns and the tile's first one are): accesses of 2, 4 and 8 elements
/// then need no second way, and only the number of rows is arbitrary.
template <int whole = 1, ducks::gl::all GL>
KITTENS_MEMBER bounded_gl<GL, whole> bounded(const GL& tensor) {
  static_assert(whole > 0, "kittens: bounded<n> promises columns in multiples of n, at least 1");
  return {tensor};
}

}  // namespace kittens
