// Integer arithmetic of every width, bit for bit against the host.
#include <type_traits>

#include "judge.h"

namespace {

using judge::expect_as;
using judge::expect_same;
using judge::list;

template <typename T>
class Integer : public testing::Test {
 protected:
  Integer() { judge::pairs(a, b); }
  std::vector<T> a, b;
  using U = std::make_unsigned_t<T>;
};
using Types = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                             std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(Integer, Types);

#define PAIRWISE(name, ...)                                                                 \
  TYPED_TEST(Integer, name) {                                                               \
    using T = TypeParam;                                                                    \
    using U [[maybe_unused]] = std::make_unsigned_t<T>;                                     \
    expect_same(                                                                            \
        #name, [] JUDGE_BOTH(T a, T b) { return list<T>(__VA_ARGS__); }, this->a, this->b); \
  }

PAIRWISE(arithmetic, U(U(a) + U(b)), U(U(a) - U(b)),
         static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b),
         U(U(U(a) + U(b)) << 3) + U(U(a) << 2), a > b ? U(U(a) - U(b)) : U(U(b) - U(a)))
PAIRWISE(division, b == 0 || (std::is_signed_v<T> && b == T(-1)) ? T(0) : T(a / b),
         b == 0 || (std::is_signed_v<T> && b == T(-1)) ? T(0) : T(a % b), a / 7, a % 10, a / -100)
PAIRWISE(logic, a& b, a | b, ~(a ^ b), (a & ~b) | (b & ~a & 0x33), (a & b) | (~a & T(0x5a)), ~a)
PAIRWISE(shifts, U(U(a) << (U(b) % (sizeof(T) * 8))), a >> (U(b) % (sizeof(T) * 8)),
         U(U(a) << (U(b) % (sizeof(T) * 8))) |
             U(U(a) >> ((sizeof(T) * 8 - U(b) % (sizeof(T) * 8)) % (sizeof(T) * 8))),
         a >> 3, U(a) >> 5, U(U(a) << 6))
PAIRWISE(comparison, a<b ? a : b, a> b ? a : b,
         (a > b ? a : b) < 100 ? (a > b ? a : b) : (100 > (a < b ? a : b) ? 100 : U(U(a) + U(b))),
         (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a >= b) << 4 | (a > b) << 5)
PAIRWISE(saturating, __builtin_elementwise_add_sat(a, b), __builtin_elementwise_sub_sat(a, b))

TYPED_TEST(Integer, overflow) {
  using T = TypeParam;
  expect_same(
      "overflow",
      [] JUDGE_BOTH(T a, T b) {
        T sum, difference, product = 0;
        const bool carry = __builtin_add_overflow(a, b, &sum),
                   borrow = __builtin_sub_overflow(a, b, &difference),
                   wide = sizeof(T) < 8 && __builtin_mul_overflow(a, b, &product);
        return list<std::uint64_t>(sum, difference, product, carry, borrow, wide);
      },
      this->a, this->b);
}

TYPED_TEST(Integer, counting) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  expect_same(
      "counting",
      [] JUDGE_BOTH(U a) {
        return list<std::uint64_t>(
            __builtin_popcountll(a), __builtin_clz(std::uint32_t(a) | 1u),
            a == 0 ? 77 : __builtin_clzll(a | (a == 0)),
            a == 0 ? 77 : __builtin_ctzll(a | U(a == 0)),
            __builtin_ffsll(static_cast<long long>(a)), __builtin_bitreverse64(a),
            __builtin_bitreverse32(std::uint32_t(a)), __builtin_bitreverse16(std::uint16_t(a)),
            __builtin_bitreverse8(std::uint8_t(a)), __builtin_bswap64(a),
            __builtin_bswap32(std::uint32_t(a)), __builtin_bswap16(std::uint16_t(a)),
            T(a) < 0 ? U(0) - a : a, __builtin_clrsbll(static_cast<long long>(T(a))));
      },
      judge::values<U>());
}

TYPED_TEST(Integer, widening_and_narrowing) {
  using T = TypeParam;
  const auto in = judge::values<T>();
  expect_same(
      "through every width",
      [] JUDGE_BOTH(T a) {
        return static_cast<std::int64_t>(std::int8_t(a)) + std::uint8_t(a) * 3ll +
               std::int16_t(a) * 5ll + std::uint16_t(a) * 7ll + std::int32_t(a) * 11ll +
               std::int64_t(std::uint32_t(a)) * 13ll + std::int64_t(a) % 1000003;
      },
      in);
}

/// Field positions as run-time values: v_bfe, v_bfi, v_alignbit, v_perm and s_bfe implement these.
TYPED_TEST(Integer, bit_fields) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  expect_same(
      "fields",
      [] JUDGE_BOTH(T a, T b) {
        const std::uint32_t x = static_cast<std::uint32_t>(a), y = static_cast<std::uint32_t>(b);
        const unsigned offset = y & 31, width = y >> 8 & 31;
        const std::uint32_t field = (x >> offset) & ((1u << width) - 1);
        const std::int32_t extended = static_cast<std::int32_t>(x << 13) >> 17;
        const std::uint32_t funnel =
            static_cast<std::uint32_t>((std::uint64_t{x} << 32 | y) >> (y & 31));
        const std::uint32_t bytes =
            (x & 0xff) << 24 | (y & 0xff00) << 8 | (x >> 16 & 0xff00) | (y >> 24);
        return static_cast<std::uint64_t>(field) * 3 ^ static_cast<std::uint64_t>(extended) * 5 ^
               static_cast<std::uint64_t>(funnel) * 7 ^ static_cast<std::uint64_t>(bytes) * 11 ^
               static_cast<std::uint64_t>(U(a));
      },
      this->a, this->b);
}

TEST(Integer64, high_product) {
  std::vector<std::uint64_t> a, b;
  judge::pairs(a, b);
  expect_same(
      "unsigned 128-bit product",
      [] JUDGE_BOTH(std::uint64_t a, std::uint64_t b) {
        const unsigned __int128 p = static_cast<unsigned __int128>(a) * b;
        return static_cast<std::uint64_t>(p >> 64) * 3 ^ static_cast<std::uint64_t>(p);
      },
      a, b);
  expect_same(
      "signed 128-bit product",
      [] JUDGE_BOTH(std::uint64_t a, std::uint64_t b) {
        const __int128 p = static_cast<__int128>(std::int64_t(a)) * std::int64_t(b);
        return static_cast<std::uint64_t>(p >> 64) * 3 ^ static_cast<std::uint64_t>(p);
      },
      a, b);
  expect_same(
      "128-bit sums and shifts",
      [] JUDGE_BOTH(std::uint64_t a, std::uint64_t b) {
        unsigned __int128 x = static_cast<unsigned __int128>(a) << 64 | b;
        x = x + (x >> (b & 127)) - (static_cast<unsigned __int128>(b) << (a & 63));
        return static_cast<std::uint64_t>(x >> 64) * 3 ^ static_cast<std::uint64_t>(x);
      },
      a, b);
  expect_same(
      "signed shift",
      [] JUDGE_BOTH(std::uint64_t a, std::uint64_t b) { return std::int64_t(a) >> (b & 63); }, a,
      b);
}

TEST(Integer32, high_products_and_24_bits) {
  std::vector<std::int32_t> a, b;
  judge::pairs(a, b);
  expect_as(
      "umulhi",
      [] JUDGE_BOTH(std::int32_t a, std::int32_t b) {
#ifdef __HIP_DEVICE_COMPILE__
        return std::int32_t(__umulhi(std::uint32_t(a), std::uint32_t(b)));
#else
        return a + b;
#endif
      },
      [](std::int32_t a, std::int32_t b) {
        return std::int32_t(std::uint64_t{std::uint32_t(a)} * std::uint32_t(b) >> 32);
      },
      a, b);
  expect_same(
      "mulhi", [] JUDGE_BOTH(std::int32_t a, std::int32_t b) { return std::int64_t{a} * b >> 32; },
      a, b);
  expect_as(
      "mul24",
      [] JUDGE_BOTH(std::int32_t a, std::int32_t b) {
#ifdef __HIP_DEVICE_COMPILE__
        return __mul24(a, b);
#else
        return a + b;
#endif
      },
      [](std::int32_t a, std::int32_t b) {
        const std::int64_t x = std::int32_t(std::uint32_t(a) << 8) >> 8,
                           y = std::int32_t(std::uint32_t(b) << 8) >> 8;
        return std::int32_t(x * y);
      },
      a, b);
  expect_as(
      "umul24",
      [] JUDGE_BOTH(std::int32_t a, std::int32_t b) {
#ifdef __HIP_DEVICE_COMPILE__
        return std::int32_t(__umul24(std::uint32_t(a), std::uint32_t(b)));
#else
        return a + b;
#endif
      },
      [](std::int32_t a, std::int32_t b) { return (a & 0xffffff) * std::int64_t{b & 0xffffff}; }, a,
      b);
  expect_same(
      "multiply-add into 64 bits",
      [] JUDGE_BOTH(std::int32_t a, std::int32_t b) {
        const std::int64_t c = std::int64_t{a} * b + (std::int64_t{b} << 20);
        const std::uint64_t d = std::uint64_t{std::uint32_t(a)} * std::uint32_t(b) + c;
        return d ^ c * 3;
      },
      a, b);
  expect_same(
      "three operands",
      [] JUDGE_BOTH(std::int32_t a, std::int32_t b) {
        const std::uint32_t x = a, y = b, z = x * 2654435761u;
        return (x + y + z) ^ ((x ^ y) + z) * 3 ^ ((x << 5) + y) * 5 ^ ((x + y) << 7) * 7 ^
               ((x & y) | z) * 11 ^ (x | y | z) * 13 ^ ((x << 9) | y) * 17;
      },
      a, b);
  expect_same(
      "minimum and maximum of three",
      [] JUDGE_BOTH(std::int32_t a, std::int32_t b) {
        const std::int32_t c = std::int32_t(std::uint32_t(a) * 40503u);
        const auto least = [](auto x, auto y) { return x < y ? x : y; };
        const auto most = [](auto x, auto y) { return x < y ? y : x; };
        const std::uint32_t ua = a, ub = b, uc = c;
        return std::uint64_t(std::uint32_t(least(least(a, b), c))) * 3 ^
               std::uint64_t(std::uint32_t(most(most(a, b), c))) * 5 ^
               std::uint64_t(least(least(ua, ub), uc)) * 7 ^
               std::uint64_t(most(most(ua, ub), uc)) * 11 ^
               std::uint64_t(std::uint32_t(most(least(a, b), least(most(a, b), c)))) * 13 ^
               std::uint64_t(most(least(ua, ub), least(most(ua, ub), uc))) * 17;
      },
      a, b);
}

typedef std::int16_t Short2 __attribute__((ext_vector_type(2)));
typedef std::uint16_t UShort2 __attribute__((ext_vector_type(2)));
template <typename V, typename F>
void expect_same_pairs(const char* what, F f) {
  std::vector<std::uint32_t> a, b;
  judge::pairs(a, b, 4000);
  expect_same(
      what,
      [f] JUDGE_BOTH(std::uint32_t a, std::uint32_t b) {
        V x, y;
        __builtin_memcpy(&x, &a, 4);
        __builtin_memcpy(&y, &b, 4);
        const V r = f(x, y);
        std::uint32_t out;
        __builtin_memcpy(&out, &r, 4);
        return out;
      },
      a, b);
}
TEST(PackedInteger, arithmetic) {
  expect_same_pairs<UShort2>("add", [] JUDGE_BOTH(UShort2 a, UShort2 b) { return a + b; });
  expect_same_pairs<UShort2>("sub", [] JUDGE_BOTH(UShort2 a, UShort2 b) { return a - b; });
  expect_same_pairs<UShort2>("mul", [] JUDGE_BOTH(UShort2 a, UShort2 b) { return a * b; });
  expect_same_pairs<UShort2>("mad", [] JUDGE_BOTH(UShort2 a, UShort2 b) { return a * b + a.yx; });
  expect_same_pairs<UShort2>(
      "shl", [] JUDGE_BOTH(UShort2 a, UShort2 b) { return a << (b & UShort2(15)); });
  expect_same_pairs<UShort2>(
      "lshr", [] JUDGE_BOTH(UShort2 a, UShort2 b) { return a >> (b & UShort2(15)); });
  expect_same_pairs<Short2>("ashr",
                            [] JUDGE_BOTH(Short2 a, Short2 b) { return a >> (b & Short2(15)); });
  expect_same_pairs<UShort2>(
      "umin", [] JUDGE_BOTH(UShort2 a, UShort2 b) { return __builtin_elementwise_min(a, b); });
  expect_same_pairs<UShort2>(
      "umax", [] JUDGE_BOTH(UShort2 a, UShort2 b) { return __builtin_elementwise_max(a, b); });
  expect_same_pairs<Short2>(
      "smin", [] JUDGE_BOTH(Short2 a, Short2 b) { return __builtin_elementwise_min(a, b); });
  expect_same_pairs<Short2>(
      "smax", [] JUDGE_BOTH(Short2 a, Short2 b) { return __builtin_elementwise_max(a, b); });
  expect_same_pairs<UShort2>("constants", [] JUDGE_BOTH(UShort2 a, UShort2 b) {
    return (a + UShort2(7)) * UShort2(3) - (b ^ UShort2(0xffff)) + (a << UShort2(4)) + b.yx;
  });
  expect_same_pairs<UShort2>("saturating add", [] JUDGE_BOTH(UShort2 a, UShort2 b) {
    return __builtin_elementwise_add_sat(a, b);
  });
  expect_same_pairs<UShort2>("saturating sub", [] JUDGE_BOTH(UShort2 a, UShort2 b) {
    return __builtin_elementwise_sub_sat(a, b);
  });
  expect_same_pairs<Short2>("signed saturating add", [] JUDGE_BOTH(Short2 a, Short2 b) {
    return __builtin_elementwise_add_sat(a, b);
  });
  expect_same_pairs<Short2>("signed saturating sub", [] JUDGE_BOTH(Short2 a, Short2 b) {
    return __builtin_elementwise_sub_sat(a, b);
  });
}

}  // namespace
