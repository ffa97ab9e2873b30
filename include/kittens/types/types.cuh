// All tile, vector and tensor types.
#pragma once

#include "global/bounded.cuh"
#include "global/coord.cuh"
#include "global/gl.cuh"
#include "register/rt.cuh"
#include "register/rv.cuh"
#include "shared/st.cuh"
#include "shared/sv.cuh"

namespace kittens {
template <typename T>
using row_vec = typename T::row_vec;
template <typename T>
using col_vec = typename T::col_vec;
}  // namespace kittens
