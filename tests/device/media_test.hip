// Instructions for pictures and textures, dot products onto the destination, and unfused f16
// multiply-adds: each against what the ISA guide's pseudo-code says, written here on scalars. The
// instruction is named in assembly, since compilers make most of these rarely.
#include <algorithm>
#include <cmath>

#include "judge.h"

namespace {

using judge::expect_as;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;

#if defined(__HIP_DEVICE_COMPILE__)
#define JUDGE_ASM(type, text, ...)              \
  ([=] {                                        \
    type d;                                     \
    asm volatile(text : "=v"(d) : __VA_ARGS__); \
    return d;                                   \
  }())
#define JUDGE_ASM_ONTO(type, old, text, ...)    \
  ([=] {                                        \
    type d = old;                               \
    asm volatile(text : "+v"(d) : __VA_ARGS__); \
    return d;                                   \
  }())
#else
#define JUDGE_ASM(type, text, ...) (type{})
#define JUDGE_ASM_ONTO(type, old, text, ...) (type{})
#endif

template <typename T>
struct Triple {
  std::vector<T> a, b, c;
};
/// Corners with corners, then random bits.
Triple<u32> words(std::size_t extra = 3000) {
  Triple<u32> out;
  judge::pairs(out.a, out.b, extra);
  judge::Random random(5);
  for (std::size_t n = 0; n < out.a.size(); ++n) out.c.push_back(static_cast<u32>(random.next()));
  // Fields that are equal, and zero: the cases of masked sums.
  for (int n = 0; n < 1000; ++n) {
    const auto x = static_cast<u32>(random.next());
    out.a.push_back(x);
    out.b.push_back(x & static_cast<u32>(0xff00ff0000ffull >> (n % 17)));
    out.c.push_back(n % 3 == 0 ? ~0u - static_cast<u32>(n) : static_cast<u32>(random.next()));
  }
  return out;
}

u32 field(u32 word, int shift, int width) { return word >> shift & ((1u << width) - 1); }
u32 differences(u32 a, u32 b, int width, bool masked) {
  u32 sum = 0;
  for (int shift = 0; shift < 32; shift += width) {
    const i32 x = static_cast<i32>(field(a, shift, width)),
              y = static_cast<i32>(field(b, shift, width));
    if (!masked || y != 0) sum += static_cast<u32>(std::abs(x - y));
  }
  return sum;
}
u32 saturated(u64 sum) { return static_cast<u32>(std::min<u64>(sum, 0xffffffff)); }

TEST(Differences, of_words) {
  const auto in = words();
#define JUDGE_SAD(name, width, masked, shift)                                                    \
  expect_as(                                                                                     \
      #name,                                                                                     \
      [] JUDGE_BOTH(u32 a, u32 b, u32 c) {                                                       \
        (void)a, (void)b, (void)c;                                                               \
        return JUDGE_ASM(u32, #name " %0, %1, %2, %3", "v"(a), "v"(b), "v"(c));                  \
      },                                                                                         \
      [](u32 a, u32 b, u32 c) { return (differences(a, b, width, masked) << shift) + c; }, in.a, \
      in.b, in.c);                                                                               \
  expect_as(                                                                                     \
      #name " clamp",                                                                            \
      [] JUDGE_BOTH(u32 a, u32 b, u32 c) {                                                       \
        (void)a, (void)b, (void)c;                                                               \
        return JUDGE_ASM(u32, #name " %0, %1, %2, %3 clamp", "v"(a), "v"(b), "v"(c));            \
      },                                                                                         \
      [](u32 a, u32 b, u32 c) {                                                                  \
        return saturated((u64{differences(a, b, width, masked)} << shift) + c);                  \
      },                                                                                         \
      in.a, in.b, in.c)
  JUDGE_SAD(v_sad_u8, 8, false, 0);
  JUDGE_SAD(v_sad_hi_u8, 8, false, 16);
  JUDGE_SAD(v_sad_u16, 16, false, 0);
  JUDGE_SAD(v_msad_u8, 8, true, 0);
}

TEST(Differences, of_eight_bytes) {
  std::vector<u64> a, c;
  std::vector<u32> b;
  judge::Random random(9);
  for (int n = 0; n < 4000; ++n) {
    a.push_back(random.next());
    b.push_back(static_cast<u32>(random.next()) & (n % 2 ? ~0u : 0xff00ffu));
    c.push_back(n % 4 == 0 ? ~u64{0} : random.next());
  }
  const auto four = [](u64 a, u32 b, u64 c, bool masked) {
    u64 out = 0;
    for (int n = 0; n < 4; ++n)
      out |= (differences(static_cast<u32>(a >> (8 * n)), b, 8, masked) + (c >> (16 * n)) & 0xffff)
             << (16 * n);
    return out;
  };
  expect_as(
      "v_qsad_pk_u16_u8",
      [] JUDGE_BOTH(u64 a, u32 b, u64 c) {
        (void)a, (void)b, (void)c;
        return JUDGE_ASM(u64, "v_qsad_pk_u16_u8 %0, %1, %2, %3", "v"(a), "v"(b), "v"(c));
      },
      [&](u64 a, u32 b, u64 c) { return four(a, b, c, false); }, a, b, c);
  expect_as(
      "v_mqsad_pk_u16_u8",
      [] JUDGE_BOTH(u64 a, u32 b, u64 c) {
        (void)a, (void)b, (void)c;
        return JUDGE_ASM(u64, "v_mqsad_pk_u16_u8 %0, %1, %2, %3", "v"(a), "v"(b), "v"(c));
      },
      [&](u64 a, u32 b, u64 c) { return four(a, b, c, true); }, a, b, c);
  expect_as(
      "v_mqsad_u32_u8",
      [] JUDGE_BOTH(u64 a, u32 b, u64 c) {
        (void)a, (void)b, (void)c;
        typedef u32 Quad __attribute__((ext_vector_type(4)));
        const Quad onto = {static_cast<u32>(c), static_cast<u32>(c >> 32), static_cast<u32>(c) * 3,
                           ~static_cast<u32>(c)};
        (void)onto;
        const Quad d = JUDGE_ASM(Quad, "v_mqsad_u32_u8 %0, %1, %2, %3", "v"(a), "v"(b), "v"(onto));
        return judge::list<u32>(d.x, d.y, d.z, d.w);
      },
      [](u64 a, u32 b, u64 c) {
        const u32 onto[] = {static_cast<u32>(c), static_cast<u32>(c >> 32), static_cast<u32>(c) * 3,
                            ~static_cast<u32>(c)};
        judge::List<u32, 4> out;
        for (int n = 0; n < 4; ++n)
          out.at[n] = onto[n] + differences(static_cast<u32>(a >> (8 * n)), b, 8, true);
        return out;
      },
      a, b, c);
}

TEST(Bytes, lerp_and_saturation) {
  const auto in = words();
  expect_as(
      "v_lerp_u8",
      [] JUDGE_BOTH(u32 a, u32 b, u32 c) {
        (void)a, (void)b, (void)c;
        return JUDGE_ASM(u32, "v_lerp_u8 %0, %1, %2, %3", "v"(a), "v"(b), "v"(c));
      },
      [](u32 a, u32 b, u32 c) {
        u32 out = 0;
        for (int s = 0; s < 32; s += 8)
          out |= (field(a, s, 8) + field(b, s, 8) + field(c, s, 1)) / 2 << s;
        return out;
      },
      in.a, in.b, in.c);
  expect_as(
      "v_sat_pk_u8_i16",
      [] JUDGE_BOTH(u32 a) {
        (void)a;
        return JUDGE_ASM(u32, "v_sat_pk_u8_i16 %0, %1", "v"(a));
      },
      [](u32 a) {
        const auto byte = [](u32 half) {
          return static_cast<u32>(std::clamp<int>(static_cast<std::int16_t>(half), 0, 255));
        };
        return byte(a) | byte(a >> 16) << 8;
      },
      in.a);
  expect_as(
      "v_cvt_off_f32_i4",
      [] JUDGE_BOTH(u32 a) {
        (void)a;
        return JUDGE_ASM(float, "v_cvt_off_f32_i4 %0, %1", "v"(a));
      },
      [](u32 a) {
        const int value = static_cast<int>(a & 15);
        return static_cast<float>(value < 8 ? value : value - 16) / 16;
      },
      in.a);
}

struct Cube {
  float id, sc, tc, ma;
};
Cube cube(float x, float y, float z) {
  if (std::fabs(z) >= std::fabs(x) && std::fabs(z) >= std::fabs(y))
    return {z < 0 ? 5.f : 4.f, z < 0 ? -x : x, -y, 2 * z};
  if (std::fabs(y) >= std::fabs(x)) return {y < 0 ? 3.f : 2.f, x, y < 0 ? -z : z, 2 * y};
  return {x < 0 ? 1.f : 0.f, x < 0 ? z : -z, -y, 2 * x};
}
TEST(Cube, faces_and_coordinates) {
  std::vector<float> x, y, z;
  judge::Random random(3);
  constexpr float kSome[] = {0, -0.f, 1, -1, 0.5f, -0.5f, 3e38f, 1e-42f, -1e-42f};
  for (const float a : kSome)
    for (const float b : kSome)
      for (const float c : kSome) x.push_back(a), y.push_back(b), z.push_back(c);
  for (int n = 0; n < 2000; ++n)
    for (auto* v : {&x, &y, &z}) v->push_back(judge::any_value<float>(random));
#define JUDGE_CUBE(name, member)                                                  \
  expect_as(                                                                      \
      #name,                                                                      \
      [] JUDGE_BOTH(float x, float y, float z) {                                  \
        (void)x, (void)y, (void)z;                                                \
        return JUDGE_ASM(float, #name " %0, %1, %2, %3", "v"(x), "v"(y), "v"(z)); \
      },                                                                          \
      [](float x, float y, float z) { return cube(x, y, z).member; }, x, y, z)
  JUDGE_CUBE(v_cubeid_f32, id);
  JUDGE_CUBE(v_cubesc_f32, sc);
  JUDGE_CUBE(v_cubetc_f32, tc);
  JUDGE_CUBE(v_cubema_f32, ma);
}

/// round(x * scale) in [lowest, scale]: the nearest integer, found by looking at both neighbours.
u32 normalised(double x, int scale, int lowest) {
  if (x != x) return 0;
  const double product = x * scale;
  if (product <= lowest) return static_cast<u32>(lowest) & 0xffff;
  if (product >= scale) return static_cast<u32>(scale);
  const auto below = static_cast<int>(std::floor(product));
  const double up = product - below;
  const bool next = up > 0.5 || (up == 0.5 && (below & 1) != 0);
  return static_cast<u32>(below + next) & 0xffff;
}
/// Numbers in and about [-1, 1], and midpoints between two results.
std::vector<float> unit_numbers() {
  std::vector<float> out = judge::corners<float>();
  judge::Random random(4);
  for (int n = 0; n < 3000; ++n)
    out.push_back(static_cast<float>(static_cast<i32>(random.next())) * 0x1.08p-31f);
  for (int n = 0; n < 64; ++n)
    for (const float scale : {32767.f, 65535.f, 1.f})
      out.push_back((static_cast<float>(n) + 0.5f) / scale);
  return out;
}
TEST(Normalised, from_f32) {
  const auto a = unit_numbers();
  std::vector<float> b(a.rbegin(), a.rend());
  expect_as(
      "v_cvt_pknorm_i16_f32",
      [] JUDGE_BOTH(float a, float b) {
        (void)a, (void)b;
        return JUDGE_ASM(u32, "v_cvt_pknorm_i16_f32 %0, %1, -%2", "v"(a), "v"(b));
      },
      [](float a, float b) {
        return normalised(a, 32767, -32767) | normalised(-b, 32767, -32767) << 16;
      },
      a, b);
  expect_as(
      "v_cvt_pknorm_u16_f32",
      [] JUDGE_BOTH(float a, float b) {
        (void)a, (void)b;
        return JUDGE_ASM(u32, "v_cvt_pknorm_u16_f32 %0, |%1|, %2", "v"(a), "v"(b));
      },
      [](float a, float b) {
        return normalised(std::fabs(a), 65535, 0) | normalised(b, 65535, 0) << 16;
      },
      a, b);
}
TEST(Normalised, from_f16) {
  std::vector<u32> bits;
  for (u32 n = 0; n < 0x10000; ++n) bits.push_back(n * 0x10001 ^ 0x8000);
  const auto half = [](u32 bits) {
    return static_cast<double>(judge::from_bits<_Float16>(static_cast<std::uint16_t>(bits)));
  };
  expect_as(
      "v_cvt_pknorm_i16_f16",
      [] JUDGE_BOTH(u32 a) {
        (void)a;
        return JUDGE_ASM(u32, "v_cvt_pknorm_i16_f16 %0, %1, %1 op_sel:[0,1,0]", "v"(a));
      },
      [&](u32 a) {
        return normalised(half(a), 32767, -32767) | normalised(half(a >> 16), 32767, -32767) << 16;
      },
      bits);
  expect_as(
      "v_cvt_pknorm_u16_f16",
      [] JUDGE_BOTH(u32 a) {
        (void)a;
        return JUDGE_ASM(u32, "v_cvt_pknorm_u16_f16 %0, %1, %1 op_sel:[1,0,0]", "v"(a));
      },
      [&](u32 a) {
        return normalised(half(a >> 16), 65535, 0) | normalised(half(a), 65535, 0) << 16;
      },
      bits);
  expect_as(
      "v_cvt_norm_i16_f16",
      [] JUDGE_BOTH(u32 a) {
        (void)a;
        return JUDGE_ASM(u32, "v_cvt_norm_i16_f16 %0, %1", "v"(a));
      },
      [&](u32 a) { return normalised(half(a), 32767, -32767); }, bits);
  expect_as(
      "v_cvt_norm_u16_f16",
      [] JUDGE_BOTH(u32 a) {
        (void)a;
        return JUDGE_ASM(u32, "v_cvt_norm_u16_f16_sdwa %0, %1 src0_sel:WORD_1", "v"(a));
      },
      [&](u32 a) { return normalised(half(a >> 16), 65535, 0); }, bits);
}

u32 with_byte(float x, u32 place, u32 into) {
  const u32 byte = x != x ? 0 : static_cast<u32>(std::nearbyint(std::clamp(x, 0.f, 255.f)));
  const u32 shift = place % 4 * 8;
  return (into & ~(255u << shift)) | byte << shift;
}
TEST(Bytes, from_f32) {
  std::vector<float> a = judge::corners<float>();
  for (int n = -20; n < 1100; ++n) a.push_back(static_cast<float>(n) * 0.25f);
  std::vector<u32> place, into;
  for (std::size_t n = 0; n < a.size(); ++n) {
    place.push_back(static_cast<u32>(n * 5));
    into.push_back(static_cast<u32>(n * 0x01234567));
  }
  expect_as(
      "v_cvt_pk_u8_f32",
      [] JUDGE_BOTH(float a, u32 place, u32 into) {
        (void)a, (void)place, (void)into;
        return JUDGE_ASM(u32, "v_cvt_pk_u8_f32 %0, %1, %2, %3", "v"(a), "v"(place), "v"(into));
      },
      with_byte, a, place, into);
  expect_as(
      "v_cvt_pkaccum_u8_f32",
      [] JUDGE_BOTH(float a, u32 place, u32 into) {
        (void)a, (void)place, (void)into;
        return JUDGE_ASM_ONTO(u32, into, "v_cvt_pkaccum_u8_f32 %0, -%1, %2", "v"(a), "v"(place));
      },
      [](float a, u32 place, u32 into) { return with_byte(-a, place, into); }, a, place, into);
}

TEST(Screen, partition) {
  std::vector<u32> tiles;
  for (u32 n = 0; n < 512; ++n) tiles.push_back(n | 0xabc00000);
  const auto got = judge::on_device(
      [] JUDGE_BOTH(u32 a) {
        (void)a;
        return JUDGE_ASM(u32, "v_screen_partition_4se_b32 %0, %1", "v"(a));
      },
      tiles);
  // The guide's table is symmetrical to exchanging the engines with the tile's quarters; some
  // places.
  EXPECT_EQ(got[0], 0x1u);
  EXPECT_EQ(got[17], 0x2u);
  EXPECT_EQ(got[34], 0x4u);
  EXPECT_EQ(got[51], 0x8u);
  EXPECT_EQ(got[255], 0x1u);
  EXPECT_EQ(got[254], 0xfu);
  EXPECT_EQ(got[253], 0xdu);
  EXPECT_EQ(got[239], 0x3u);
  EXPECT_EQ(got[120], 0x6u);
  EXPECT_EQ(got[256 + 119], 0x2u);
}

template <int width>
i32 dot(u32 a, u32 b, i32 c, bool clamp) {
  std::int64_t sum = c;
  for (int s = 0; s < 32; s += width) {
    const auto signed_field = [s](u32 word) {
      const auto f = static_cast<std::int64_t>(field(word, s, width));
      return f >> (width - 1) ? f - (1 << width) : f;
    };
    sum += signed_field(a) * signed_field(b);
  }
  if (clamp) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
  return static_cast<i32>(sum);
}
TEST(Dot, of_integers_onto_the_destination) {
  const auto in = words();
#define JUDGE_DOT(name, width)                                                                     \
  expect_as(                                                                                       \
      #name,                                                                                       \
      [] JUDGE_BOTH(u32 a, u32 b, u32 c) {                                                         \
        (void)a, (void)b, (void)c;                                                                 \
        return JUDGE_ASM_ONTO(i32, static_cast<i32>(c), #name " %0, %1, %2", "v"(a), "v"(b));      \
      },                                                                                           \
      [](u32 a, u32 b, u32 c) { return dot<width>(a, b, static_cast<i32>(c), false); }, in.a,      \
      in.b, in.c);                                                                                 \
  expect_as(                                                                                       \
      #name " clamp",                                                                              \
      [] JUDGE_BOTH(u32 a, u32 b, u32 c) {                                                         \
        (void)a, (void)b, (void)c;                                                                 \
        return JUDGE_ASM_ONTO(i32, static_cast<i32>(c), #name "_e64 %0, %1, %2 clamp", "v"(a),     \
                              "v"(b));                                                             \
      },                                                                                           \
      [](u32 a, u32 b, u32 c) { return dot<width>(a, b, static_cast<i32>(c), true); }, in.a, in.b, \
      in.c)
  JUDGE_DOT(v_dot2c_i32_i16, 16);
  JUDGE_DOT(v_dot4c_i32_i8, 8);
  JUDGE_DOT(v_dot8c_i32_i4, 4);
}

float half(u32 bits) { return judge::from_bits<_Float16>(static_cast<std::uint16_t>(bits)); }
Triple<u32> half_pairs() {
  Triple<u32> out;
  std::vector<_Float16> a, b;
  judge::pairs(a, b, 3000);
  judge::Random random(6);
  for (std::size_t n = 0; n < a.size(); ++n) {
    const auto bits = [](_Float16 x) { return u32{__builtin_bit_cast(std::uint16_t, x)}; };
    out.a.push_back(bits(a[n]) | static_cast<u32>(random.next() << 16));
    out.b.push_back(bits(b[n]) << 16 | (static_cast<u32>(random.next()) & 0xffff));
    out.c.push_back(__builtin_bit_cast(u32, judge::any_value<float>(random)));
  }
  return out;
}
/// These instructions flush denormals, regardless of MODE.
float flushed(float x, float smallest) {
  return std::fabs(x) < smallest ? std::copysign(0.0f, x) : x;
}
float flushed_half(u32 bits) { return flushed(half(bits), 0x1p-14f); }
float dot_of_halves(u32 a, u32 b, u32 c, float low, float high) {
  const float onto = flushed(__builtin_bit_cast(float, c), 0x1p-126f);
  return flushed(onto + low * flushed_half(a) * flushed_half(b) +
                     high * flushed_half(a >> 16) * flushed_half(b >> 16),
                 0x1p-126f);
}
TEST(Dot, of_halves) {
  const auto in = half_pairs();
  expect_as(
      "v_dot2c_f32_f16",
      [] JUDGE_BOTH(u32 a, u32 b, u32 c) {
        (void)a, (void)b, (void)c;
        return JUDGE_ASM_ONTO(float, __builtin_bit_cast(float, c), "v_dot2c_f32_f16 %0, %1, %2",
                              "v"(a), "v"(b));
      },
      [](u32 a, u32 b, u32 c) { return dot_of_halves(a, b, c, 1, 1); }, in.a, in.b, in.c);
  expect_as(
      "v_dot2_f32_f16",
      [] JUDGE_BOTH(u32 a, u32 b, u32 c) {
        (void)a, (void)b, (void)c;
        return JUDGE_ASM(float, "v_dot2_f32_f16 %0, %1, %2, %3 neg_lo:[1,0,0] neg_hi:[0,1,0]",
                         "v"(a), "v"(b), "v"(c));
      },
      [](u32 a, u32 b, u32 c) { return dot_of_halves(a, b, c, -1, -1); }, in.a, in.b, in.c);
}

/// The host has no f16 arithmetic of its own: the exact f64 sum, rounded once.
_Float16 rounded(double x) { return static_cast<_Float16>(x); }
u32 bits_of(_Float16 x) { return __builtin_bit_cast(std::uint16_t, x); }
/// One NaN for all.
JUDGE_BOTH u32 one_nan(u32 halves) {
  for (int shift = 0; shift < 32; shift += 16)
    if ((halves >> shift & 0x7fff) > 0x7c00)
      halves = (halves & ~(0xffffu << shift)) | 0x7e00u << shift;
  return halves;
}
u32 unfused(u32 a, u32 b, u32 c) {
  const double product = static_cast<double>(half(a)) * static_cast<double>(half(b));
  return bits_of(rounded(static_cast<double>(rounded(product)) + static_cast<double>(half(c))));
}
u32 fused(u32 a, u32 b, u32 c) {
  const double x = half(a), y = half(b), z = half(c);
  // The sum of a product of 22 bits and a half may need more than 53: to odd, which rounds right.
  const double sum = x * y + z, back = sum - x * y, rest = z - back;
  double odd = sum;
  if (std::isfinite(sum) && rest != 0 && !(__builtin_bit_cast(u64, sum) & 1))
    odd = std::nextafter(sum, rest > 0 ? INFINITY : -INFINITY);
  return bits_of(rounded(odd));
}
TEST(HalfArithmetic, unfused_multiply_add) {
  const auto in = half_pairs();
  const auto reference = [](u32 a, u32 b, u32 c) { return one_nan(unfused(a, b >> 16, c)); };
  expect_as(
      "v_mad_f16",
      [] JUDGE_BOTH(u32 a, u32 b, u32 c) {
        (void)a, (void)b, (void)c;
        return one_nan(
            JUDGE_ASM(u32, "v_mad_f16 %0, %1, %2, %3 op_sel:[0,1,0,0]", "v"(a), "v"(b), "v"(c)));
      },
      reference, in.a, in.b, in.c);
  expect_as(
      "v_mad_legacy_f16",
      [] JUDGE_BOTH(u32 a, u32 b, u32 c) {
        (void)a, (void)b, (void)c;
        return one_nan(
            JUDGE_ASM(u32, "v_mad_legacy_f16 %0, %1, %2, -%3", "v"(a), "v"(b >> 16), "v"(c)));
      },
      [](u32 a, u32 b, u32 c) { return one_nan(unfused(a, b >> 16, c ^ 0x8000)); }, in.a, in.b,
      in.c);
  expect_as(
      "v_mac_f16",
      [] JUDGE_BOTH(u32 a, u32 b, u32 c) {
        (void)a, (void)b, (void)c;
        return one_nan(JUDGE_ASM_ONTO(u32, c, "v_mac_f16 %0, %1, %2", "v"(a), "v"(b >> 16)));
      },
      reference, in.a, in.b, in.c);
  expect_as(
      "v_madmk_f16",
      [] JUDGE_BOTH(u32 a, u32 c) {
        (void)a, (void)c;
        return one_nan(JUDGE_ASM(u32, "v_madmk_f16 %0, %1, 0x3555, %2", "v"(a), "v"(c)));
      },
      [](u32 a, u32 c) { return one_nan(unfused(a, 0x3555, c)); }, in.a, in.c);
  expect_as(
      "v_madak_f16",
      [] JUDGE_BOTH(u32 a, u32 b) {
        (void)a, (void)b;
        return one_nan(JUDGE_ASM(u32, "v_madak_f16 %0, %1, %2, 0xb801", "v"(a), "v"(b >> 16)));
      },
      [](u32 a, u32 b) { return one_nan(unfused(a, b >> 16, 0xb801)); }, in.a, in.b);
}
TEST(HalfArithmetic, packed_fmac) {
  const auto in = half_pairs();
  expect_as(
      "v_pk_fmac_f16",
      [] JUDGE_BOTH(u32 a, u32 b, u32 c) {
        (void)a, (void)b, (void)c;
        return one_nan(JUDGE_ASM_ONTO(u32, c, "v_pk_fmac_f16 %0, %1, %2", "v"(a), "v"(b)));
      },
      [](u32 a, u32 b, u32 c) {
        return one_nan(fused(a, b, c) | fused(a >> 16, b >> 16, c >> 16) << 16);
      },
      in.a, in.b, in.c);
}

}  // namespace
