// Read-modify-write operations on memory: one list for LDS, global, flat and buffer atomics.
// Source: MI300 ISA guide, sections 12.13 to 12.15.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace margay::atomic {

// Each operation: the new value from the memory's old value and the lane's data.
struct Swap {
  template <typename T>
  static T apply(T, T data) {
    return data;
  }
};
struct Add {
  template <typename T>
  static T apply(T old, T data) {
    return static_cast<T>(old + data);
  }
};
struct Sub {
  template <typename T>
  static T apply(T old, T data) {
    return static_cast<T>(old - data);
  }
};
struct ReverseSub {
  template <typename T>
  static T apply(T old, T data) {
    return static_cast<T>(data - old);
  }
};
struct Min {
  template <typename T>
  static T apply(T old, T data) {
    return data < old ? data : old;
  }
};
struct Max {
  template <typename T>
  static T apply(T old, T data) {
    return data > old ? data : old;
  }
};
struct And {
  template <typename T>
  static T apply(T old, T data) {
    return old & data;
  }
};
struct Or {
  template <typename T>
  static T apply(T old, T data) {
    return old | data;
  }
};
struct Xor {
  template <typename T>
  static T apply(T old, T data) {
    return old ^ data;
  }
};
/// Counts up to `data`, then wraps to 0.
struct Increment {
  template <typename T>
  static T apply(T old, T data) {
    return old >= data ? T{0} : old + 1;
  }
};
/// Counts down from `data`, wrapping from 0 and from above.
struct Decrement {
  template <typename T>
  static T apply(T old, T data) {
    return old == 0 || old > data ? data : old - 1;
  }
};
/// Two f16 or bf16 sums in one dword.
template <float (*to_float)(std::uint16_t), std::uint16_t (*from_float)(float)>
struct PackedAdd {
  static std::uint32_t apply(std::uint32_t old, std::uint32_t data) {
    const auto half = [&](int shift) {
      const float a = to_float(static_cast<std::uint16_t>(old >> shift)),
                  b = to_float(static_cast<std::uint16_t>(data >> shift));
      // Which NaN wins is not the host compiler's choice.
      const float sum = a != a ? a : b != b ? b : a + b;
      return std::uint32_t{from_float(sum)} << shift;
    };
    return half(0) | half(16);
  }
};

/// Applies `Operation` on T at `address`, atomically for the host's other threads; returns the old
/// value's bits. `T` is the arithmetic type, `address` is aligned to it.
template <typename Operation, typename T>
[[nodiscard]] T exchange(std::uint8_t* address, T data) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  std::atomic_ref<Bits> cell(*reinterpret_cast<Bits*>(address));
  Bits old = cell.load(std::memory_order_relaxed);
  for (;;) {
    const Bits next = std::bit_cast<Bits>(Operation::apply(std::bit_cast<T>(old), data));
    if (cell.compare_exchange_weak(old, next, std::memory_order_seq_cst))
      return std::bit_cast<T>(old);
  }
}
template <typename T>
[[nodiscard]] T compare_exchange(std::uint8_t* address, T compare, T data) {
  std::atomic_ref<T> cell(*reinterpret_cast<T*>(address));
  cell.compare_exchange_strong(compare, data, std::memory_order_seq_cst);
  return compare;
}

}  // namespace margay::atomic
