// The runs of neighbouring elements that a lane holds of a base tile (see layouts.cuh), between
// registers and words of memory.
#pragma once

#include "../../../types/types.cuh"

namespace kittens {
namespace detail {

/// Lanes hold the same elements of two tiles of the same shape and layout.
template <typename A, typename B>
constexpr bool same_lanes =
    A::base::map::lead == B::base::map::lead && A::base::map::length == B::base::map::length &&
    A::base::map::run == B::base::map::run;

/// Run number q of a base tile.
template <ducks::rt_base::all Base>
KITTENS_DEVICE auto take_run(const Base& tile, int q) {
  using T = typename Base::T;
  constexpr int count = Base::map::run;
  constexpr int packed = base_types::packing<typename Base::dtype>::num();
  if constexpr (count % packed == 0) {
    struct {
      typename Base::dtype data[count / packed];
    } part;
#pragma unroll
    for (int i = 0; i < count / packed; ++i) part.data[i] = tile.data[q * (count / packed) + i];
    return bits_as<elements<T, count>>(part);
  } else {
    static_assert(count == 1);
    return elements<T, 1>{bits_as<elements<T, packed>>(tile.data[q / packed]).e[q % packed]};
  }
}
template <ducks::rt_base::all Base>
KITTENS_DEVICE void put_run(Base& tile, int q,
                            const elements<typename Base::T, Base::map::run>& value) {
  using T = typename Base::T;
  constexpr int count = Base::map::run;
  constexpr int packed = base_types::packing<typename Base::dtype>::num();
  if constexpr (count % packed == 0) {
    struct parts {
      typename Base::dtype data[count / packed];
    };
    const auto part = bits_as<parts>(value);
#pragma unroll
    for (int i = 0; i < count / packed; ++i) tile.data[q * (count / packed) + i] = part.data[i];
  } else {
    auto all = bits_as<elements<T, packed>>(tile.data[q / packed]);
    all.e[q % packed] = value.e[0];
    tile.data[q / packed] = bits_as<typename Base::dtype>(all);
  }
}

/// N elements of type U as words of at most `largest` bytes: word i is at byte i * bytes.
template <typename U, int N, int largest>
struct run_words {
  static constexpr int bytes = N * sizeof(U) < largest ? N * sizeof(U) : largest;
  static constexpr int count = N * sizeof(U) / bytes;
  struct {
    word<bytes> w[count];
  } words;

  /// read(byte offset) returns a word.
  template <typename F>
  static KITTENS_MEMBER elements<U, N> read(F&& read_word) {
    run_words all;
#pragma unroll
    for (int i = 0; i < count; ++i) all.words.w[i] = read_word(i * bytes);
    return bits_as<elements<U, N>>(all.words);
  }
  template <typename F>
  static KITTENS_MEMBER void write(const elements<U, N>& value, F&& write_word) {
    const auto all = bits_as<run_words>(value);
#pragma unroll
    for (int i = 0; i < count; ++i) write_word(i * bytes, all.words.w[i]);
  }
};

/// Calls f(i, j, q) for every run of the lane in a register tile.
template <ducks::rt::all RT, typename F>
KITTENS_DEVICE void for_each_run(F&& f) {
#pragma unroll
  for (int i = 0; i < RT::height; ++i) {
#pragma unroll
    for (int j = 0; j < RT::width; ++j) {
#pragma unroll
      for (int q = 0; q < RT::base::map::runs; ++q) f(i, j, q);
    }
  }
}

}  // namespace detail
}  // namespace kittens
