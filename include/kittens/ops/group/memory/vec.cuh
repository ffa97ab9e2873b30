// Vector loads and stores of a group of warps.
#pragma once

#include "../../warp/memory/vec/global_to_register.cuh"
#include "../../warp/memory/vec/global_to_shared.cuh"
#include "../../warp/memory/vec/shared_to_register.cuh"

namespace kittens {
namespace group_ops {

template <int GROUP_WARPS>
struct memory_vec {
  static constexpr int threads = GROUP_WARPS * WARP_THREADS;

  /// Global to shared and back, divided among all threads of the group.
  template <ducks::sv::all SV, ducks::gl::all GL, ducks::coord::vec COORD = coord<SV>>
  static KITTENS_MEMBER void load(SV& dst, const GL& src, const COORD& idx) {
    kittens::load<SV, GL, COORD, threads>(dst, src, idx);
  }
  template <ducks::sv::all SV, ducks::gl::all GL, ducks::coord::vec COORD = coord<SV>>
  static KITTENS_MEMBER void store(const GL& dst, const SV& src, const COORD& idx) {
    kittens::store<SV, GL, COORD, threads>(dst, src, idx);
  }

  /// Shared to registers and back: warp w of the group takes the w-th part.
  template <ducks::rv::all RV, ducks::sv::all SV>
  static KITTENS_MEMBER void load(RV& dst, const SV& src) {
    check<RV, SV>();
    kittens::load(dst, part<RV>(const_cast<SV&>(src)));
  }
  template <ducks::rv::all RV, ducks::sv::all SV>
  static KITTENS_MEMBER void store(SV& dst, const RV& src) {
    check<RV, SV>();
    kittens::store(part<RV>(dst), src);
  }

  /// Global to registers and back: warp w takes the w-th part. The coordinate counts vectors of the
  /// whole group's length.
  template <ducks::rv::all RV, ducks::gl::all GL>
  static KITTENS_MEMBER void load(RV& dst, const GL& src, const coord<RV>& idx) {
    kittens::load(dst, src, own(idx));
  }
  template <ducks::rv::all RV, ducks::gl::all GL>
  static KITTENS_MEMBER void store(const GL& dst, const RV& src, const coord<RV>& idx) {
    kittens::store(dst, src, own(idx));
  }

 private:
  static KITTENS_MEMBER int warp() { return kittens::warpid() % GROUP_WARPS; }
  template <typename RV>
  static KITTENS_MEMBER coord<RV> own(const coord<RV>& idx) {
    return {idx.b, idx.d, idx.r, idx.c * GROUP_WARPS + warp()};
  }
  template <typename RV, typename SV>
  static KITTENS_MEMBER auto& part(SV& whole) {
    return subvec_inplace<RV::length>(whole, warp());
  }
  template <typename RV, typename SV>
  static constexpr void check() {
    static_assert(static_cast<int>(RV::length) * GROUP_WARPS == static_cast<int>(SV::length),
                  "kittens: in a group load or store of register vectors, the shared vector is as "
                  "long as all the group's register vectors together");
  }
};

}  // namespace group_ops
}  // namespace kittens
