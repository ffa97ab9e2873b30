// Hands out shared memory to tiles.
#pragma once

#include "config.cuh"

namespace kittens {

/// Element type of `extern __shared__ alignment_dummy __shm[]`.
struct KITTENS_ALIGN_AS(16) alignment_dummy {
  int dummy;
};

namespace detail {
template <typename A, size_t... dims>
struct array_of {
  using type = A;
};
template <typename A, size_t first, size_t... rest>
struct array_of<A, first, rest...> {
  using type = typename array_of<A, rest...>::type[first];
};
}  // namespace detail

/// allocate<A, d0, d1>() returns a reference to A[d0][d1]. Nothing checks the sum against the
/// dynamic shared memory of the launch; size_bytes<...> computes it.
template <int default_alignment = 16>
struct shared_allocator {
  int* ptr;

  __device__ shared_allocator(int* start) : ptr(start) {}

  template <typename A, size_t... dims>
  KITTENS_MEMBER auto& allocate() {
    return take<default_alignment, typename detail::array_of<A, dims...>::type>();
  }
  template <int alignment, typename A, size_t... dims>
  KITTENS_MEMBER auto& allocate() {
    return take<alignment, typename detail::array_of<A, dims...>::type>();
  }

 private:
  template <int alignment, typename Type>
  KITTENS_MEMBER Type& take() {
    static_assert((alignment & (alignment - 1)) == 0,
                  "kittens: an alignment must be a power of two");
    // The low half of a shared-memory pointer is the LDS address, so aligning it aligns in LDS. The
    // padding is added to the pointer, not rounded in an integer: the compiler keeps seeing LDS.
    if constexpr (alignment > 1) {
      const uint32_t address = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(ptr));
      const uint32_t padding = -address & (alignment - 1);
      ptr = reinterpret_cast<int*>(reinterpret_cast<char*>(ptr) + padding);
    }
    auto* taken = reinterpret_cast<Type*>(ptr);
    ptr = reinterpret_cast<int*>(reinterpret_cast<char*>(ptr) + sizeof(Type));
    return *taken;
  }
};
shared_allocator(int*) -> shared_allocator<16>;

/// Bytes of shared memory that objects of these types take.
template <typename... Ts>
constexpr size_t size_bytes = (size_t{0} + ... + sizeof(Ts));

}  // namespace kittens
