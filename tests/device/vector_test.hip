// Vector instructions that compilers make rarely, by mnemonic, in assembly: against what the ISA
// guide's pseudo-code gives, computed here lane by lane.
#include <algorithm>
#include <cmath>
#include <functional>

#include "judge.h"

namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

#if defined(__HIP_DEVICE_COMPILE__)
#define DEVICE_CODE(...) __VA_ARGS__
#else
#define DEVICE_CODE(...)
#endif
constexpr u32 kBefore = 0xabcd1234;  ///< In the result's register before the instruction.

/// `code`: %0 is the result, %1 to %3 are a, b and c.
#define VECTOR(name, code)                                                                        \
  __global__ void name(const u32* as, const u32* bs, const u32* cs, u32* out, std::size_t n) {    \
    const std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x;                     \
    if (i >= n) return;                                                                           \
    u32 result = kBefore;                                                                         \
    (void)as, (void)bs, (void)cs;                                                                 \
    DEVICE_CODE(asm volatile(code : "+&v"(result) : "v"(as[i]), "v"(bs[i]), "v"(cs[i]) : "vcc");) \
    out[i] = result;                                                                              \
  }

float f32(u32 bits) { return judge::from_bits<float>(bits); }
double f16(u32 bits) { return static_cast<double>(judge::from_bits<_Float16>(u16(bits))); }
u32 bits16(double x) {
  const auto half = static_cast<_Float16>(x);
  u16 bits = 0;
  std::memcpy(&bits, &half, sizeof half);
  return bits;
}
u32 bits32(float x) {
  u32 bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  return bits;
}

/// What operands are made of. Floats are never NaN; of the sums' operands no result is rounded.
enum class Fill { integers, floats, halves, sums, fixed_point };
u32 operand(Fill fill, judge::Random& random) {
  static const std::vector<u32> integers = judge::corners<u32>();
  static const std::vector<float> floats = judge::corners<float>();
  static const std::vector<_Float16> halves = judge::corners<_Float16>();
  const u64 r = random.next();
  const auto pick = [r](const auto& from) { return from[(r >> 8) % from.size()]; };
  const bool corner = r % 2 == 0;
  const auto half = [&random] {
    for (;;) {
      const u64 s = random.next();
      const u32 bits = s % 2 == 0 ? bits16(static_cast<double>(halves[(s >> 8) % halves.size()]))
                                  : static_cast<u16>(s >> 16);
      if (f16(bits) == f16(bits)) return bits;
    }
  };
  switch (fill) {
    case Fill::integers:
      return corner ? pick(integers) : static_cast<u32>(random.next());
    case Fill::floats: {
      const u32 bits = corner ? bits32(pick(floats)) : static_cast<u32>(random.next());
      return f32(bits) == f32(bits) ? bits : 0x3f800000;
    }
    case Fill::halves:
      return half() | half() << 16;
    case Fill::sums:
      return bits16(static_cast<double>(static_cast<int>(r % 31) - 15) / 4);
    case Fill::fixed_point:
      return bits32(static_cast<float>(static_cast<i32>(random.next() & 0xffffff) - 0x800000) /
                    256);
  }
  return 0;
}

using Kernel = void (*)(const u32*, const u32*, const u32*, u32*, std::size_t);
using Same = std::function<bool(u32 expected, u32 got)>;
bool same_word(u32 expected, u32 got) { return expected == got; }
/// For instructions with a 16-bit result the effect on the other half is tested elsewhere.
bool same_half(u32 expected, u32 got) { return u16(expected) == u16(got); }
bool same_float(u32 expected, u32 got) { return f32(expected) == f32(got); }
bool same_f16(u32 expected, u32 got) { return f16(expected) == f16(got); }
bool same_two_f16(u32 expected, u32 got) {
  return same_f16(expected, got) && same_f16(expected >> 16, got >> 16);
}

void expect_lanes(const char* name, Kernel kernel, Fill fill, const Same& same,
                  const std::function<u32(u32, u32, u32)>& reference) {
  constexpr std::size_t kCount = 8000;
  judge::Random random(31);
  std::vector<u32> a, b, c;
  for (std::size_t n = 0; n < kCount; ++n) {
    a.push_back(operand(fill, random));
    b.push_back(n % 13 == 0 ? a.back() : operand(fill, random));
    c.push_back(n % 17 == 0 ? b.back() : operand(fill, random));
  }
  judge::Buffer<u32> as(a), bs(b), cs(c), out(kCount);
  kernel<<<(kCount + 191) / 192, 192>>>(as.get(), bs.get(), cs.get(), out.get(), kCount);
  const auto got = out.read();
  for (std::size_t n = 0; n < kCount; ++n) {
    const u32 expected = reference(a[n], b[n], c[n]);
    ASSERT_TRUE(same(expected, got[n]))
        << name << std::hex << " of 0x" << a[n] << ", 0x" << b[n] << ", 0x" << c[n]
        << ": expected 0x" << expected << ", got 0x" << got[n];
  }
}

#define JUDGED(name, code, fill, same, ...)                                                   \
  VECTOR(kernel_##name, code)                                                                 \
  TEST(Vector, name) {                                                                        \
    expect_lanes(#name, kernel_##name, Fill::fill, same,                                      \
                 []([[maybe_unused]] u32 a, [[maybe_unused]] u32 b, [[maybe_unused]] u32 c) { \
                   return static_cast<u32>(__VA_ARGS__);                                      \
                 });                                                                          \
  }
#define ONE(name, fill, same, ...) JUDGED(name, #name " %0, %1", fill, same, __VA_ARGS__)
#define TWO(name, fill, same, ...) JUDGED(name, #name " %0, %1, %2", fill, same, __VA_ARGS__)
#define THREE(name, fill, same, ...) JUDGED(name, #name " %0, %1, %2, %3", fill, same, __VA_ARGS__)

// Integers.
template <typename T>
T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}
template <typename T, typename From>
u32 saturated(From x) {
  return static_cast<std::make_unsigned_t<T>>(static_cast<T>(
      std::clamp<i64>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())));
}
i32 low24(u32 x) { return static_cast<i32>(x << 8) >> 8; }
THREE(v_alignbyte_b32, integers, same_word, (u64{a} << 32 | b) >> 8 * (c & 3))
THREE(v_add_lshl_u32, integers, same_word, u64{a + b} << (c & 31))
TWO(v_mul_hi_u32_u24, integers, same_word, u64{a & 0xffffff} * (b & 0xffffff) >> 32)
TWO(v_bfm_b32, integers, same_word, ((u64{1} << (a & 31)) - 1) << (b & 31))
/// The carry out of an instruction on a and b, into which bit 0 of c is carried.
#define CARRY(name, in, ...)                                                           \
  JUDGED(name,                                                                         \
         "v_and_b32 %0, 1, %3\n v_cmp_eq_u32 vcc, 1, %0\n" #name " %0, vcc, %1, %2" in \
         "\n v_cndmask_b32_e64 %0, 0, 1, vcc",                                         \
         integers, same_word, (__VA_ARGS__) ? 1 : 0)
CARRY(v_add_co_u32, "", u64{a} + b > 0xffffffff)
CARRY(v_sub_co_u32, "", a < b)
CARRY(v_subrev_co_u32, "", b < a)
CARRY(v_addc_co_u32, ", vcc", u64{a} + b + (c & 1) > 0xffffffff)
CARRY(v_subb_co_u32, ", vcc", a < u64{b} + (c & 1))
CARRY(v_subbrev_co_u32, ", vcc", b < u64{a} + (c & 1))
THREE(v_sad_u32, integers, same_word, (a > b ? a - b : b - a) + c)
THREE(v_mad_i32_i24, integers, same_word, i64{low24(a)} * low24(b) + c)
THREE(v_mad_i32_i16, integers, same_word, i32{i16(a)} * i16(b) + i64{c})
THREE(v_mad_u32_u16, integers, same_word, u32{u16(a)} * u16(b) + c)
THREE(v_mad_i16, integers, same_half, u32{u16(a)} * u16(b) + c)
THREE(v_mad_u16, integers, same_half, u32{u16(a)} * u16(b) + c)
THREE(v_mad_legacy_i16, integers, same_half, u32{u16(a)} * u16(b) + c)
THREE(v_max3_i32, integers, same_word, std::max({i32(a), i32(b), i32(c)}))
THREE(v_max3_u32, integers, same_word, std::max({a, b, c}))
THREE(v_max3_i16, integers, same_half, std::max({i16(a), i16(b), i16(c)}))
THREE(v_max3_u16, integers, same_half, std::max({u16(a), u16(b), u16(c)}))
THREE(v_min3_i32, integers, same_word, std::min({i32(a), i32(b), i32(c)}))
THREE(v_min3_i16, integers, same_half, std::min({i16(a), i16(b), i16(c)}))
THREE(v_min3_u16, integers, same_half, std::min({u16(a), u16(b), u16(c)}))
THREE(v_med3_i16, integers, same_half, median(i16(a), i16(b), i16(c)))
THREE(v_med3_u16, integers, same_half, median(u16(a), u16(b), u16(c)))
TWO(v_subrev_u16, integers, same_half, b - a)
TWO(v_cvt_pk_i16_i32, integers, same_word, saturated<i16>(i32(a)) | saturated<i16>(i32(b)) << 16)
TWO(v_cvt_pk_u16_u32, integers, same_word, saturated<u16>(a) | saturated<u16>(b) << 16)
THREE(v_pk_mad_i16, integers, same_word,
      ((a & 0xffff) * (b & 0xffff) + c & 0xffff) | ((a >> 16) * (b >> 16) + (c >> 16)) << 16)

/// Sums of products of the parts of two words.
template <typename T, int bits>
u32 dot(u32 a, u32 b, u32 c) {
  i64 sum = c;
  for (int shift = 0; shift < 32; shift += bits) {
    const auto part = [shift](u32 x) {
      const u32 low = x >> shift & ((1u << bits) - 1);
      return std::is_signed_v<T> && low >> (bits - 1) != 0 ? i64{low} - (1 << bits) : i64{low};
    };
    sum += part(a) * part(b);
  }
  return static_cast<u32>(sum);
}
THREE(v_dot2_i32_i16, integers, same_word, dot<i16, 16>(a, b, c))
THREE(v_dot2_u32_u16, integers, same_word, dot<u16, 16>(a, b, c))
THREE(v_dot4_i32_i8, integers, same_word, dot<i8, 8>(a, b, c))
THREE(v_dot4_u32_u8, integers, same_word, dot<u8, 8>(a, b, c))
THREE(v_dot8_i32_i4, integers, same_word, dot<i8, 4>(a, b, c))
THREE(v_dot8_u32_u4, integers, same_word, dot<u8, 4>(a, b, c))

// f32.
THREE(v_max3_f32, floats, same_float, bits32(std::max({f32(a), f32(b), f32(c)})))
THREE(v_min3_f32, floats, same_float, bits32(std::min({f32(a), f32(b), f32(c)})))
THREE(v_med3_f32, floats, same_float, bits32(median(f32(a), f32(b), f32(c))))
TWO(v_mul_legacy_f32, floats, same_float,
    f32(a) == 0 || f32(b) == 0 ? 0 : bits32(f32(a) * f32(b)))  // 0 times infinity is 0
u32 reversed_difference(u32 a, u32 b) {
  const float d = f32(b) - f32(a);
  return d == d ? bits32(d) : 0x7fc00000;
}
TWO(
    v_subrev_f32, floats,
    [](u32 e, u32 g) { return same_float(e, g) || (e == 0x7fc00000 && f32(g) != f32(g)); },
    reversed_difference(a, b))
ONE(v_cvt_flr_i32_f32, fixed_point, same_word, i32(std::floor(f32(a))))
ONE(v_cvt_rpi_i32_f32, fixed_point, same_word, i32(std::floor(double{f32(a)} + 0.5)))
/// Rounds towards zero; finite numbers do not become infinite.
u32 towards_zero(float x) {
  u32 bits = bits16(x);
  if (std::isinf(f16(bits)) && !std::isinf(x)) return (bits & 0x8000) | 0x7bff;
  return std::fabs(f16(bits)) > std::fabs(double{x}) ? bits - 1 : bits;
}
TWO(v_cvt_pkrtz_f16_f32, floats, same_word, towards_zero(f32(a)) | towards_zero(f32(b)) << 16)

// f16.
THREE(v_max3_f16, halves, same_f16, bits16(std::max({f16(a), f16(b), f16(c)})))
THREE(v_min3_f16, halves, same_f16, bits16(std::min({f16(a), f16(b), f16(c)})))
THREE(v_med3_f16, halves, same_f16, bits16(median(f16(a), f16(b), f16(c))))
TWO(v_pk_max_f16, halves, same_two_f16,
    bits16(std::max(f16(a), f16(b))) | bits16(std::max(f16(a >> 16), f16(b >> 16))) << 16)
TWO(v_pk_min_f16, halves, same_two_f16,
    bits16(std::min(f16(a), f16(b))) | bits16(std::min(f16(a >> 16), f16(b >> 16))) << 16)
u32 reversed_half_difference(u32 a, u32 b) {
  const double d = f16(b) - f16(a);
  return d == d ? bits16(d) : 0x7e00;
}
TWO(
    v_subrev_f16, halves,
    [](u32 e, u32 g) { return same_f16(e, g) || (e == 0x7e00 && f16(g) != f16(g)); },
    reversed_half_difference(a, b))
TWO(v_ldexp_f16, halves, same_half, bits16(std::ldexp(f16(a), i16(b))))
ONE(v_cvt_f16_i16, integers, same_half, bits16(i16(a)))
ONE(v_cvt_f16_u16, integers, same_half, bits16(u16(a)))
ONE(v_cvt_i16_f16, halves, same_half, saturated<i16>(std::trunc(std::clamp(f16(a), -1e6, 1e6))))
ONE(v_cvt_u16_f16, halves, same_half, saturated<u16>(std::trunc(std::clamp(f16(a), -1e6, 1e6))))
/// Below 1, of tiny negative numbers too.
u32 fraction(u32 a) {
  const double x = f16(a);
  if (std::isinf(x)) return 0x7e00;
  return std::min(bits16(x - std::floor(x)), 0x3bffu);
}
ONE(
    v_fract_f16, halves,
    [](u32 e, u32 g) { return same_f16(e, g) || (e == 0x7e00 && f16(g) != f16(g)); }, fraction(a))
u32 fraction32(u32 a) {
  const double x = f32(a);
  if (std::isinf(x)) return 0x7fc00000;
  return std::min(bits32(static_cast<float>(x - std::floor(x))), 0x3f7fffffu);
}
ONE(
    v_fract_f32, floats,
    [](u32 e, u32 g) {
      return e == 0x7fc00000 ? f32(g) != f32(g) : e == (g == 0x80000000 ? 0 : g);
    },
    fraction32(a))
u32 exponent_of(u32 a) {
  int exponent = 0;
  if (!std::isinf(f16(a))) std::frexp(f16(a), &exponent);
  return static_cast<u32>(exponent);
}
u32 mantissa_of(u32 a) {
  int exponent = 0;
  return std::isinf(f16(a)) ? a : bits16(std::frexp(f16(a), &exponent));
}
ONE(v_frexp_exp_i16_f16, halves, same_half, exponent_of(a))
ONE(v_frexp_mant_f16, halves, same_half, mantissa_of(a))
THREE(v_fma_legacy_f16, sums, same_f16, bits16(f16(a) * f16(b) + f16(c)))
/// f32 operands; the low half of the result's register stays.
JUDGED(v_fma_mixhi_f16, "v_fma_mixhi_f16 %0, %1, %2, %3", fixed_point, same_word,
       (kBefore & 0xffff) |
           bits16(static_cast<double>(f32(a)) * f32(b) + static_cast<double>(f32(c))) << 16)
/// Constants of f16, and one of f32, whose bits are others.
JUDGED(v_fma_mix_f32, "v_fma_mix_f32 %0, %1, 4.0, -0.5 op_sel_hi:[0,1,1]", fixed_point, same_word,
       bits32(static_cast<float>(static_cast<double>(f32(a)) * 4 - 0.5)))
JUDGED(v_fma_mixlo_f16, "v_fma_mixlo_f16 %0, %1, 4.0, 1.0 op_sel_hi:[0,0,1]", fixed_point,
       same_word, (kBefore & 0xffff0000) | bits16(static_cast<double>(f32(a)) * 4 + 1))
/// The quotient gets its sign, and special operands their result.
u32 fixed_up(u32 quotient, u32 denominator, u32 numerator) {
  const double q = f16(quotient), d = f16(denominator), n = f16(numerator);
  const u32 sign = (denominator ^ numerator) & 0x8000;
  if ((d == 0 && n == 0) || (std::isinf(d) && std::isinf(n))) return 0xfe00;
  if (d == 0 || std::isinf(n)) return sign | 0x7c00;
  if (std::isinf(d) || n == 0) return sign;
  return sign | bits16(std::fabs(q));
}
THREE(v_div_fixup_legacy_f16, halves, same_half, fixed_up(a, b, c))

/// Moves of pairs, and the exchange of two registers.
__global__ void moves(const u64* as, const u64* bs, u64* out) {
  const u64 a = as[threadIdx.x], b = bs[threadIdx.x];
  u64 low_high = a, high_low = b;
  u32 x = static_cast<u32>(a), y = static_cast<u32>(b);
  DEVICE_CODE(
      asm volatile("v_pk_mov_b32 %0, %1, %2 op_sel:[0,1]" : "=v"(low_high) : "v"(a), "v"(b));
      asm volatile("v_pk_mov_b32 %0, %1, %2 op_sel:[1,0]" : "=v"(high_low) : "v"(a), "v"(b));
      asm volatile("v_swap_b32 %0, %1" : "+v"(x), "+v"(y));)
  out[3 * threadIdx.x] = low_high;
  out[3 * threadIdx.x + 1] = high_low;
  out[3 * threadIdx.x + 2] = x | u64{y} << 32;
}
TEST(Vector, moves) {
  judge::Random random(32);
  std::vector<u64> a, b;
  for (int lane = 0; lane < 64; ++lane) {
    a.push_back(random.next());
    b.push_back(random.next());
  }
  judge::Buffer<u64> as(a), bs(b), out(3 * 64);
  moves<<<1, 64>>>(as.get(), bs.get(), out.get());
  const auto got = out.read();
  for (std::size_t n = 0; n < 64; ++n) {
    EXPECT_EQ(got[3 * n], (a[n] & 0xffffffff) | (b[n] >> 32 << 32));
    EXPECT_EQ(got[3 * n + 1], a[n] >> 32 | b[n] << 32);
    EXPECT_EQ(got[3 * n + 2], (b[n] & 0xffffffff) | a[n] << 32);
  }
}

/// 64 bits wide; of the product with an addend the carry, too.
__global__ void wide(const u64* in, u64* out) {
  const u32 lane = threadIdx.x;
  const u64 a = in[3 * lane], b = in[3 * lane + 1], c = in[3 * lane + 2];
  u64 shifted = 0, added = 0, product = 0;
  u32 carry = 0;
  (void)a, (void)b, (void)c;
  DEVICE_CODE(asm volatile("v_lshlrev_b64 %0, %1, %2" : "=&v"(shifted) : "v"(u32(b)), "v"(a));
              asm volatile("v_lshl_add_u64 %0, %1, 3, %2" : "=&v"(added) : "v"(a), "v"(c));
              asm volatile("v_mad_u64_u32 %0, s[20:21], %2, %3, %4\n"
                           "v_cndmask_b32_e64 %1, 0, 1, s[20:21]" : "=&v"(product),
                           "=&v"(carry) : "v"(u32(a)), "v"(u32(b)), "v"(c) : "s20", "s21");)
  out[4 * lane] = shifted;
  out[4 * lane + 1] = added;
  out[4 * lane + 2] = product;
  out[4 * lane + 3] = carry;
}
TEST(Vector, wide) {
  constexpr u32 kLanes = 64;
  judge::Random random(35);
  std::vector<u64> in;
  for (u32 n = 0; n < 3 * kLanes; ++n) in.push_back(n % 3 == 2 && n % 2 ? ~u64{n} : random.next());
  judge::Buffer<u64> from(in), out(4 * kLanes);
  wide<<<1, kLanes>>>(from.get(), out.get());
  const auto got = out.read();
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u64 a = in[3 * lane], b = in[3 * lane + 1], c = in[3 * lane + 2];
    const u64 sum = u64{u32(a)} * u32(b) + c;
    EXPECT_EQ(got[4 * lane], a << (b & 63)) << lane;
    EXPECT_EQ(got[4 * lane + 1], (a << 3) + c) << lane;
    EXPECT_EQ(got[4 * lane + 2], sum) << lane;
    EXPECT_EQ(got[4 * lane + 3], sum < c ? 1u : 0u) << lane;
  }
}

}  // namespace
