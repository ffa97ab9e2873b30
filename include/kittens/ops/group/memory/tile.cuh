// Tile loads and stores of a group of warps.
#pragma once

#include "../../warp/memory/tile/direct_to_shared.cuh"
#include "../../warp/memory/tile/global_to_register.cuh"
#include "../../warp/memory/tile/global_to_shared.cuh"
#include "../../warp/memory/tile/shared_to_register.cuh"

namespace kittens {
namespace group_ops {

template <int GROUP_WARPS>
struct memory_tile {
  static constexpr int threads = GROUP_WARPS * WARP_THREADS;

  /// Global to shared and back, divided among all threads of the group.
  template <int axis, bool assume_aligned, ducks::st::all ST, ducks::gl::all GL,
            ducks::coord::tile COORD = coord<ST>>
  static KITTENS_MEMBER void load(ST& dst, const GL& src, const COORD& idx) {
    kittens::load<axis, assume_aligned, ST, GL, COORD, threads>(dst, src, idx);
  }
  template <ducks::st::all ST, ducks::gl::all GL, ducks::coord::tile COORD = coord<ST>>
  static KITTENS_MEMBER void load(ST& dst, const GL& src, const COORD& idx) {
    kittens::load<2, false, ST, GL, COORD, threads>(dst, src, idx);
  }
  template <int axis, bool assume_aligned, ducks::st::all ST, ducks::gl::all GL,
            ducks::coord::tile COORD = coord<ST>>
  static KITTENS_MEMBER void store(const GL& dst, const ST& src, const COORD& idx) {
    kittens::store<axis, assume_aligned, ST, GL, COORD, threads>(dst, src, idx);
  }
  template <ducks::st::all ST, ducks::gl::all GL, ducks::coord::tile COORD = coord<ST>>
  static KITTENS_MEMBER void store(const GL& dst, const ST& src, const COORD& idx) {
    kittens::store<2, false, ST, GL, COORD, threads>(dst, src, idx);
  }

  /// Without registers in between; see kittens::load_direct.
  template <ducks::st::all ST, ducks::gl::all GL, ducks::coord::tile COORD = coord<ST>>
  static KITTENS_MEMBER void load_direct(ST& dst, const GL& src, const COORD& idx) {
    kittens::load_direct<2, ST, GL, COORD, threads>(dst, src, idx);
  }

  /// Global to registers and back: warp w of the group takes the w-th band of rows. The coordinate
  /// counts tiles as high as all the group's register tiles together.
  template <ducks::rt::all RT, ducks::gl::all GL>
  static KITTENS_MEMBER void load(RT& dst, const GL& src, const coord<RT>& idx) {
    kittens::load(dst, src, own(idx));
  }
  template <ducks::rt::all RT, ducks::gl::all GL>
  static KITTENS_MEMBER void store(const GL& dst, const RT& src, const coord<RT>& idx) {
    kittens::store(dst, src, own(idx));
  }

  /// Shared to registers and back: warp w of the group takes the w-th band of rows.
  template <ducks::rt::all RT, ducks::st::all ST>
  static KITTENS_MEMBER void load(RT& dst, ST& src) {
    check<RT, ST>();
    kittens::load(dst, subtile_inplace<RT::rows, RT::cols>(src, {band(), 0}));
  }
  template <ducks::rt::all RT, ducks::st::all ST>
  static KITTENS_MEMBER void store(ST& dst, const RT& src) {
    check<RT, ST>();
    kittens::store(subtile_inplace<RT::rows, RT::cols>(dst, {band(), 0}), src);
  }

 private:
  static KITTENS_MEMBER int band() { return warpid() % GROUP_WARPS; }
  template <typename RT>
  static KITTENS_MEMBER coord<RT> own(const coord<RT>& idx) {
    return {idx.b, idx.d, idx.r * GROUP_WARPS + band(), idx.c};
  }
  template <typename RT, typename ST>
  static constexpr void check() {
    static_assert(RT::rows * GROUP_WARPS == ST::rows && RT::cols == ST::cols,
                  "kittens: in a group load or store of registers, the shared tile has the rows of "
                  "all the group's register tiles together, and their columns");
  }
};

}  // namespace group_ops
}  // namespace kittens
