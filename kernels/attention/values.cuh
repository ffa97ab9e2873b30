// The second product, O^T += V^T P^T, and why neither V nor O is ever transposed.
//
// The left operand of the MFMA takes from each lane four neighbours in k, here four keys of one
// column of V; but neighbours in a row of V are neighbours in dim. So a lane reads a patch of 4
// keys x 4 columns, 8 bytes of each of 4 rows, and transposes it in its own registers, which gives
// 4 operands. Operand n of a lane i = L % 16 then is column 4 i + n, not 16 n + i as a col-layout
// tile has it. It does not matter: row i of the MFMA may be any row of O^T. The accumulator's rows
// are permuted in the same way,
//
//   row 16 (4 j + n) + i of the accumulator  =  dim 64 j + 4 i + n,
//
// and a lane, which holds rows i = 4 g .. 4 g + 3 of the tiles n = 0 .. 3, ends up with 16
// neighbours of a row of O: it stores them with two 16-byte instructions.
//
// The 16 lanes that the LDS serves together read 128 contiguous bytes of one row: no conflict.
#pragma once

#include "kittens.cuh"

namespace margay_attention {

constexpr int kPatch = 4;
constexpr int kGroupDims = 16 * kPatch;  // dims that four base tiles of O^T hold

/// The operand V^T for 16 keys, number `slice` of the tile.
template <int kDim, typename Values>
KITTENS_DEVICE void load_values(kittens::rt_bf<kDim, 16>& operand, const Values& values,
                                int slice) {
  using namespace kittens;
  using L = typename Values::address_layout;
  const int lane = laneid();
  uint32_t own[kPatch];
#pragma unroll
  for (int key = 0; key < kPatch; ++key) {
    own[key] = detail::lds_address(values.data) +
               L::offset(kPatch * (lane / 16) + key, kPatch * (lane % 16));
  }
#pragma unroll
  for (int j = 0; j < kDim / kGroupDims; ++j) {
    const uint32_t place = L::row_offset(16 * slice) + L::block_offset(kGroupDims * j);
    detail::word<8> row[kPatch];
#pragma unroll
    for (int key = 0; key < kPatch; ++key) row[key] = detail::lds_load<8>(own[key], place);
#pragma unroll
    for (int n = 0; n < kPatch; ++n) {
      // The low or the high half of each of two dwords.
      const uint32_t halves = n % 2 == 0 ? 0x05040100 : 0x07060302;
      detail::word<8> column;
      column.x = __builtin_amdgcn_perm(row[1][n / 2], row[0][n / 2], halves);
      column.y = __builtin_amdgcn_perm(row[3][n / 2], row[2][n / 2], halves);
      detail::put_run(operand.tiles[kPatch * j + n][0], 0,
                      detail::bits_as<detail::elements<bf16, 4>>(column));
    }
  }
}

/// Stores the accumulator O^T, rows permuted as above, to the tile `at` of O.
template <typename GL, typename Output, typename Tile>
KITTENS_DEVICE void store_output(const GL& o, const Output& o_transposed,
                                 const kittens::coord<Tile>& at) {
  using namespace kittens;
  constexpr int kDim = Output::rows;
  const auto safe = bounded<kDim>(o);
  const detail::global_tile<2, std::remove_cv_t<decltype(safe)>> rows(safe, at, Output::cols, kDim);
  const int lane = laneid();
#pragma unroll
  for (int c = 0; c < Output::width; ++c) {
#pragma unroll
    for (int j = 0; j < kDim / kGroupDims; ++j) {
      detail::elements<bf16, 16> line;
#pragma unroll
      for (int n = 0; n < kPatch; ++n) {
        const auto column = detail::convert_elements<bf16>(
            detail::take_run(o_transposed.tiles[kPatch * j + n][c], 0));
#pragma unroll
        for (int i = 0; i < kPatch; ++i) line.e[kPatch * i + n] = column.e[i];
      }
      const auto words = detail::bits_as<detail::elements<detail::word<16>, 2>>(line);
      const int col = kGroupDims * j + 16 * (lane / 16);
      rows.template write<16>(16 * c, 0, lane % 16, col, words.e[0]);
      rows.template write<16>(16 * c, 0, lane % 16, col + 8, words.e[1]);
    }
  }
}

}  // namespace margay_attention
