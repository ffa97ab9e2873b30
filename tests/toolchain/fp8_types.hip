// hip/hip_fp8.h: every constructor, member and conversion of the four 8-bit formats, their pairs
// and fours, on the host and on the device, against the formats' definitions. fp8_check.hip
// compares host and device for many more numbers.
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>

#include "types.h"

namespace {

/// A format by its definition: what each code is, and the code that is nearest to a number.
template <int mantissa, bool fnuz>
struct Format {
  static constexpr int kBias = (1 << (6 - mantissa)) - (fnuz ? 0 : 1);

  static double number(unsigned code) {
    if (fnuz && code == 0x80) return NAN;
    const double sign = code >= 0x80 ? -1 : 1;
    const int exponent = static_cast<int>(code & 0x7f) >> mantissa;
    const int fraction = static_cast<int>(code & ((1u << mantissa) - 1));
    if (!fnuz && mantissa == 3 && (code & 0x7f) == 0x7f) return NAN;
    if (!fnuz && mantissa == 2 && exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
    return sign * (exponent == 0
                       ? std::ldexp(fraction, 1 - kBias - mantissa)
                       : std::ldexp(fraction + (1 << mantissa), exponent - kBias - mantissa));
  }
  /// Of all finite codes the nearest, of two equally near ones the even one: a number that is too
  /// large becomes the largest.
  static unsigned nearest(double value) {
    if (std::isnan(value)) return 0x80;  // any NaN, see plain()
    if (std::isinf(value)) return plain(fnuz || mantissa == 3 ? 0x80 : value > 0 ? 0x7c : 0xfc);
    constexpr unsigned kLargest = fnuz ? 0x7f : mantissa == 3 ? 0x7e : 0x7b;
    const double size = std::min(std::fabs(value), number(kLargest));
    unsigned best = 0;
    for (unsigned code = 1; code <= kLargest; ++code) {
      const double apart = std::fabs(size - number(code)), least = std::fabs(size - number(best));
      if (apart < least || (apart == least && code % 2 == 0)) best = code;
    }
    if (fnuz && best == 0) return 0;
    return plain(best | (std::signbit(value) ? 0x80 : 0));
  }
  /// All NaNs are one.
  static unsigned plain(unsigned code) { return std::isnan(number(code)) ? 0x80 : code; }
};

/// Numbers, and a code.
struct Input {
  float f[4];
  int integer;
  unsigned char code;
};

}  // namespace

template <typename One, typename Two, typename Four, int mantissa, bool fnuz>
struct Judge {
  using F = Format<mantissa, fnuz>;
  static_assert(sizeof(One) == 1 && sizeof(Two) == 2 && sizeof(Four) == 4);
  static_assert(alignof(One) == 1 && alignof(Two) == 2 && alignof(Four) == 4);
  static_assert(std::is_trivially_copyable_v<One> && std::is_trivially_copyable_v<Four>);
  static_assert(std::is_same_v<decltype(One::__x), __hip_fp8_storage_t>);
  static_assert(std::is_same_v<decltype(Two::__x), __hip_fp8x2_storage_t>);
  static_assert(std::is_same_v<decltype(Four::__x), __hip_fp8x4_storage_t>);
  static_assert(One::__we + One::__wm == 7 && One::__wm == mantissa);
  static_assert(One::__default_saturation == __HIP_SATFINITE);
  static_assert(std::is_convertible_v<float, One> && std::is_convertible_v<One, float>);
  static_assert(std::is_convertible_v<__half, One> && std::is_convertible_v<__hip_bfloat16, One>);
  static_assert(std::is_convertible_v<float2, Two> && std::is_convertible_v<Two, float2>);
  static_assert(std::is_convertible_v<float4, Four> && std::is_convertible_v<Four, float4>);

  /// One NaN for all: formats of OCP have several.
  __host__ __device__ static unsigned plain(unsigned code) {
    const bool nan = fnuz            ? code == 0x80
                     : mantissa == 3 ? (code & 0x7f) == 0x7f
                                     : (code & 0x7f) > 0x7c;
    return nan ? 0x80 : code;
  }
  __host__ __device__ static void put(types::Results& r, unsigned codes, int count) {
    for (int i = 0; i < count; ++i) r.put(plain(codes >> 8 * i & 0xff));
  }
  __host__ __device__ static One of(unsigned char code) {
    One one;
    one.__x = code;
    return one;
  }

  __host__ __device__ static void compute(const Input& in, types::Results& r) {
    const float* f = in.f;
    const double d[4] = {f[0], f[1], f[2], f[3]};
    put(r, One(f[0]).__x, 1), put(r, One(d[0]).__x, 1);
    put(r, One(__float2half(f[0])).__x, 1), put(r, One(__float2bfloat16(f[0])).__x, 1);
    const auto i = static_cast<short>(in.integer % 1000);
    const auto u = static_cast<unsigned short>(i < 0 ? -i : i);
    put(r, One(i).__x, 1), put(r, One(static_cast<int>(i)).__x, 1);
    put(r, One(static_cast<long>(i)).__x, 1), put(r, One(u).__x, 1);
    put(r, One(static_cast<unsigned>(u)).__x, 1), put(r, One(static_cast<unsigned long>(u)).__x, 1);
    put(r, __hip_cvt_float_to_fp8(f[1], __HIP_SATFINITE, One::__default_interpret), 1);
    put(r, __hip_cvt_double_to_fp8(d[1], __HIP_SATFINITE, One::__default_interpret), 1);
    // Pairs and fours.
    const __half2 h(__float2half(f[0]), __float2half(f[1]));
    const __half2 g(__float2half(f[2]), __float2half(f[3]));
    const __hip_bfloat162 b(__float2bfloat16(f[0]), __float2bfloat16(f[1]));
    const __hip_bfloat162 c(__float2bfloat16(f[2]), __float2bfloat16(f[3]));
    put(r, Two(make_float2(f[0], f[1])).__x, 2), put(r, Two(make_double2(d[0], d[1])).__x, 2);
    put(r, Two(h).__x, 2), put(r, Two(b).__x, 2);
    put(r, Four(make_float4(f[0], f[1], f[2], f[3])).__x, 4);
    put(r, Four(make_double4(d[0], d[1], d[2], d[3])).__x, 4);
    put(r, Four(h, g).__x, 4), put(r, Four(b, c).__x, 4);
    // Numbers of codes.
    const One one = of(in.code);
    r.put(types::bits(static_cast<float>(one))), r.put(types::bits(static_cast<double>(one)));
    r.put(types::bits(__half2float(static_cast<__half>(one))));
    r.put(types::bits(static_cast<float>(static_cast<__hip_bfloat16>(one))));
    r.put(static_cast<bool>(one));
    r.put(static_cast<unsigned char>(static_cast<char>(one)));
    r.put(static_cast<unsigned char>(static_cast<signed char>(one)));
    r.put(static_cast<unsigned char>(one));
    r.put(static_cast<unsigned short>(static_cast<short>(one)));
    r.put(static_cast<unsigned short>(one));
    r.put(static_cast<unsigned>(static_cast<int>(one))), r.put(static_cast<unsigned>(one));
    r.put(static_cast<types::Word>(static_cast<long>(one))), r.put(static_cast<unsigned long>(one));
    r.put(static_cast<types::Word>(static_cast<long long>(one)));
    r.put(static_cast<unsigned long long>(one));
    Two two;
    two.__x = static_cast<__hip_fp8x2_storage_t>(in.code | 0x4100);
    const float2 pair = two;
    const __half2 halves = two;
    r.put(types::bits(pair.x)), r.put(types::bits(pair.y));
    r.put(types::bits(__half2float(halves.x))), r.put(types::bits(__half2float(halves.y)));
    Four four;
    four.__x = in.code | 0x41c20300u;
    const float4 all = four;
    r.put(types::bits(all.x)), r.put(types::bits(all.y)), r.put(types::bits(all.z));
    r.put(types::bits(all.w));
  }

  static void reference(const Input& in, types::Wanted& w) {
    // What a half and a bfloat16 make of a number comes first.
    const auto half = [](float f) { return static_cast<double>(static_cast<_Float16>(f)); };
    const auto brain = [](float f) {
      if (!std::isfinite(f)) return static_cast<double>(f);
      unsigned bits = __builtin_bit_cast(unsigned, f);
      bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
      return static_cast<double>(__builtin_bit_cast(float, bits));
    };
    const auto code = [&](const char* name, double value) { w.put(name, F::nearest(value)); };
    const float* f = in.f;
    code("of float", f[0]), code("of double", f[0]), code("of half", half(f[0]));
    code("of bfloat16", brain(f[0]));
    const int i = static_cast<short>(in.integer % 1000);
    for (const char* name : {"of short", "of int", "of long"}) code(name, i);
    for (const char* name : {"of ushort", "of unsigned", "of ulong"}) code(name, std::abs(i));
    code("__hip_cvt_float_to_fp8", f[1]), code("__hip_cvt_double_to_fp8", f[1]);
    for (int e = 0; e < 2; ++e) code("pair of float2", f[e]);
    for (int e = 0; e < 2; ++e) code("pair of double2", f[e]);
    for (int e = 0; e < 2; ++e) code("pair of half2", half(f[e]));
    for (int e = 0; e < 2; ++e) code("pair of bfloat162", brain(f[e]));
    for (int e = 0; e < 4; ++e) code("four of float4", f[e]);
    for (int e = 0; e < 4; ++e) code("four of double4", f[e]);
    for (int e = 0; e < 4; ++e) code("four of half2", half(f[e]));
    for (int e = 0; e < 4; ++e) code("four of bfloat162", brain(f[e]));
    const double x = F::number(in.code);
    const auto single = [&](const char* name, double value) {
      w.put(name, types::bits(static_cast<float>(value)));
    };
    single("float", x), w.put("double", types::bits(x)), single("half", x), single("bfloat16", x);
    w.put("bool", std::isnan(x) || x != 0);
    // Toward zero, as near as the type comes; NaN is 0.
    const auto integer = [&](const char* name, double low, double high, int bytes) {
      const double inside = std::isnan(x) ? 0 : std::min(std::max(std::trunc(x), low), high);
      const auto bits = inside < 0 ? static_cast<types::Word>(static_cast<long long>(inside))
                        : inside >= 0x1p63 ? (high > 0x1p63 ? ~0ull : ~0ull >> 1)
                                           : static_cast<types::Word>(inside);
      w.put(name, bytes == 8 ? bits : bits & ((1ull << 8 * bytes) - 1));
    };
    integer("char", -128, 127, 1), integer("signed char", -128, 127, 1);
    integer("uchar", 0, 255, 1), integer("short", -32768, 32767, 2), integer("ushort", 0, 65535, 2);
    integer("int", -0x1p31, 0x1p31 - 1, 4), integer("unsigned", 0, 0x1p32 - 1, 4);
    integer("long", -0x1p63, 0x1p63, 8), integer("ulong", 0, 0x1p64, 8);
    integer("long long", -0x1p63, 0x1p63, 8), integer("ulonglong", 0, 0x1p64, 8);
    for (const char* name : {"float2", "half2"}) single(name, x), single(name, F::number(0x41));
    single("float4", x), single("float4", F::number(0x03)), single("float4", F::number(0xc2));
    single("float4", F::number(0x41));
  }
};

int main() {
  std::vector<Input> inputs;
  std::mt19937 random(11);
  constexpr float kSpecial[] = {0.0f,   -0.0f,    INFINITY, -INFINITY, NAN,    240.0f, 448.0f,
                                464.0f, 57344.0f, 61440.0f, 1e30f,     -1e30f, 1e-30f};
  for (unsigned i = 0; i < 1024; ++i) {
    Input in{{}, static_cast<int>(random()), static_cast<unsigned char>(i)};
    for (float& f : in.f) {
      // Numbers of few bits, so that ties are frequent.
      const float sign = random() % 2 == 0 ? 1.0f : -1.0f;
      f = random() % 8 == 0 ? kSpecial[random() % 13]
                            : sign * std::ldexp(static_cast<float>(random() % 64),
                                                static_cast<int>(random() % 34) - 22);
    }
    inputs.push_back(in);
  }
  types::judge<Judge<__hip_fp8_e4m3_fnuz, __hip_fp8x2_e4m3_fnuz, __hip_fp8x4_e4m3_fnuz, 3, true>>(
      "e4m3_fnuz", inputs);
  types::judge<Judge<__hip_fp8_e5m2_fnuz, __hip_fp8x2_e5m2_fnuz, __hip_fp8x4_e5m2_fnuz, 2, true>>(
      "e5m2_fnuz", inputs);
  types::judge<Judge<__hip_fp8_e4m3, __hip_fp8x2_e4m3, __hip_fp8x4_e4m3, 3, false>>("e4m3", inputs);
  types::judge<Judge<__hip_fp8_e5m2, __hip_fp8x2_e5m2, __hip_fp8x4_e5m2, 2, false>>("e5m2", inputs);
  return types::finish();
}
