// hip/hip_vector_types.h: every member, operator and conversion of char1 to double4, on the host
// and on the device, against arithmetic on plain arrays.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <limits>
#include <random>
#include <type_traits>

#include "types.h"

namespace {

/// Two vectors of any rank, a scalar operand, and a shift distance.
template <typename T>
struct Input {
  T a[4], b[4], number;
  int shift;
};

}  // namespace

// How programs use a member: it has to be of the element's type itself.
template <typename T>
__host__ __device__ T twice(T value) {
  return static_cast<T>(value + value);
}

template <typename T, unsigned n, typename V>
struct Vector {
  static constexpr bool kInteger = std::is_integral_v<T>;
  static constexpr bool kSigned = std::is_signed_v<T>;

  static_assert(std::is_same_v<decltype(V::x), T>, "a member is of the element's type");
  static_assert(std::is_same_v<typename V::value_type, T>);
  static_assert(std::is_same_v<V, HIP_vector_type<T, n>>);
  static_assert(sizeof(V) == n * sizeof(T));
  static_assert(alignof(V) == (n == 3 ? 1 : n) * alignof(T));
  static_assert(std::is_trivially_copyable_v<V> && std::is_standard_layout_v<V>);
  static_assert(std::is_trivially_default_constructible_v<V>);
  static_assert(!std::is_convertible_v<T, V>, "one number is no vector by itself");
  static_assert(std::is_same_v<decltype(V() + V()), V> && std::is_same_v<decltype(V() * T()), V>);
  static_assert(std::is_same_v<decltype(1.5 / V()), V> && std::is_same_v<decltype(-1 - V()), V>);
  static_assert(std::is_same_v<decltype(V() == V()), bool>);

  __host__ __device__ static V make(const T* values) {
    V v;
    v.x = values[0];
    if constexpr (n > 1) v.y = values[1];
    if constexpr (n > 2) v.z = values[2];
    if constexpr (n > 3) v.w = values[3];
    return v;
  }
  __host__ __device__ static void put(types::Results& r, const V& v) {
    r.put(types::bits(v.x));
    if constexpr (n > 1) r.put(types::bits(v.y));
    if constexpr (n > 2) r.put(types::bits(v.z));
    if constexpr (n > 3) r.put(types::bits(v.w));
  }

  __host__ __device__ static void members(const V& a, types::Results& r) {
    V v = a;
    const T before = v.x++;
    r.put(types::bits(before));
    r.put(types::bits(v.x));
    r.put(types::bits(static_cast<T>(v.x--)));
    r.put(types::bits(++v.x));
    r.put(types::bits(--v.x));
    v.x += T(3);
    r.put(types::bits(v.x));
    const T* const elements = &v.x;
    r.put(types::bits(elements[n - 1]));
    r.put(reinterpret_cast<const unsigned char*>(&v.x)[sizeof(T) - 1]);
    auto copy = v.x;
    copy = static_cast<T>(copy + copy);
    r.put(types::bits(copy));
    r.put(types::bits(twice(v.x)));
    r.put(v.x != 0 ? 1 : 0);
    const T list[] = {v.x, v.x};
    r.put(types::bits(list[1]));
    v[n - 1] = T(7);
    r.put(types::bits(v[n - 1]));
    r.put(types::bits(static_cast<T>(v.data[n - 1])));
    const V constant = v;
    r.put(types::bits(constant[0]));
    v.data = a.data;
    put(r, v);
    put(r, __builtin_bit_cast(V, a));
  }
  static void members_reference(const T* a, types::Wanted& w) {
    T v[4] = {a[0], a[1], a[2], a[3]};
    w.put("x++", types::bits(v[0]));
    w.put("x after x++", types::bits(static_cast<T>(v[0] + 1)));
    w.put("x--", types::bits(static_cast<T>(v[0] + 1)));
    w.put("++x", types::bits(static_cast<T>(static_cast<T>(static_cast<T>(v[0] + 1) - 1) + 1)));
    v[0] = static_cast<T>(static_cast<T>(static_cast<T>(static_cast<T>(v[0] + 1) - 1) + 1) - 1);
    w.put("--x", types::bits(v[0]));
    v[0] = static_cast<T>(v[0] + T(3));
    w.put("x +=", types::bits(v[0]));
    w.put("(&x)[n-1]", types::bits(v[n - 1]));
    w.put("bytes of x", reinterpret_cast<const unsigned char*>(v)[sizeof(T) - 1]);
    w.put("auto", types::bits(static_cast<T>(v[0] + v[0])));
    w.put("deduced", types::bits(static_cast<T>(v[0] + v[0])));
    w.put("x ? :", v[0] != 0 ? 1 : 0);
    w.put("list", types::bits(v[0]));
    w.put("v[n-1]", types::bits(T(7)));
    w.put("data[n-1]", types::bits(T(7)));
    w.put("constant[0]", types::bits(n == 1 ? T(7) : v[0]));
    for (const char* name : {"data =", "bit_cast"})
      for (unsigned i = 0; i < n; ++i) w.put(name, types::bits(a[i]));
  }

  __host__ __device__ static void constructors(const Input<T>& in, types::Results& r) {
    put(r, V(in.a[0]));
    if constexpr (n == 2) {
      put(r, V(in.a[0], in.a[1]));
      put(r, V{static_cast<double>(in.a[0]), in.shift});
    } else if constexpr (n == 3) {
      put(r, V(in.a[0], in.a[1], in.a[2]));
      put(r, V{static_cast<double>(in.a[0]), in.shift, 1u});
    } else if constexpr (n == 4) {
      put(r, V(in.a[0], in.a[1], in.a[2], in.a[3]));
      put(r, V{static_cast<double>(in.a[0]), in.shift, 1u, 2.0f});
    }
    V copy(make(in.a)), assigned;
    assigned = copy;
    put(r, assigned);
    put(r, V());
  }
  static void constructors_reference(const Input<T>& in, types::Wanted& w) {
    for (unsigned i = 0; i < n; ++i) w.put("V(number)", types::bits(i == 0 ? in.a[0] : T(0)));
    const T mixed[4] = {static_cast<T>(static_cast<double>(in.a[0])), static_cast<T>(in.shift),
                        T(1), T(2)};
    for (unsigned i = 0; n > 1 && i < n; ++i) w.put("V(elements)", types::bits(in.a[i]));
    for (unsigned i = 0; n > 1 && i < n; ++i) w.put("V{mixed}", types::bits(mixed[i]));
    for (unsigned i = 0; i < n; ++i) w.put("copy", types::bits(in.a[i]));
    for (unsigned i = 0; i < n; ++i) w.put("V()", types::bits(T(0)));
  }

  // One line for each operator: on two vectors, a vector and a number on either side, assigning.
#define BINARY(op, b, number) \
  put(r, a op b);             \
  put(r, a op number);        \
  put(r, number op b);        \
  put(r, V(a) op## = b);
  __host__ __device__ static void operators(const Input<T>& in, types::Results& r) {
    const V a = make(in.a), b = make(in.b);
    BINARY(+, b, in.number)
    BINARY(-, b, in.number)
    BINARY(*, b, in.number)
    BINARY(/, b, in.number)
    V v = a;
    put(r, v += in.number);
    put(r, v -= in.number);
    put(r, v *= in.number);
    put(r, v /= in.number);
    v = a;
    put(r, v++);
    put(r, ++v);
    put(r, v--);
    put(r, --v);
    put(r, a + in.shift);  // a number of another type
    put(r, in.shift * a);
    r.put(a == b), r.put(a != b), r.put(a == V(a)), r.put(a != V(a));
    r.put(a == in.number), r.put(in.number == a), r.put(a != in.number), r.put(in.number != a);
    v = a;
    v[n - 1] = static_cast<T>(v[n - 1] + 1);
    r.put(v == a), r.put(v != a);
    for (unsigned i = 0; i < n; ++i) v[i] = in.number;
    r.put(v == in.number), r.put(in.number != v);
    if constexpr (kSigned) put(r, -a);
    if constexpr (kInteger) {
      BINARY(%, b, in.number)
      BINARY(&, b, in.number)
      BINARY(|, b, in.number)
      BINARY(^, b, in.number)
      T amount[4] = {T(in.shift), T(in.shift / 2), T(1), T(0)};
      BINARY(<<, make(amount), T(in.shift))
      BINARY(>>, make(amount), T(in.shift))
      put(r, ~a);
    }
  }
#undef BINARY

  template <typename Op>
  static void binary(const char* name, const Input<T>& in, const T* b, T number, Op op,
                     types::Wanted& w) {
    const std::string text(name);
    for (unsigned i = 0; i < n; ++i)
      w.put("v " + text + " v", types::bits(static_cast<T>(op(in.a[i], b[i]))));
    for (unsigned i = 0; i < n; ++i)
      w.put("v " + text + " number", types::bits(static_cast<T>(op(in.a[i], number))));
    for (unsigned i = 0; i < n; ++i)
      w.put("number " + text + " v", types::bits(static_cast<T>(op(number, b[i]))));
    for (unsigned i = 0; i < n; ++i)
      w.put("v " + text + "= v", types::bits(static_cast<T>(op(in.a[i], b[i]))));
  }
  static void operators_reference(const Input<T>& in, types::Wanted& w) {
    const auto each = [&](const char* name, auto f) {
      for (unsigned i = 0; i < n; ++i) w.put(name, types::bits(static_cast<T>(f(i))));
    };
    binary("+", in, in.b, in.number, [](T a, T b) { return a + b; }, w);
    binary("-", in, in.b, in.number, [](T a, T b) { return a - b; }, w);
    binary("*", in, in.b, in.number, [](T a, T b) { return a * b; }, w);
    binary("/", in, in.b, in.number, [](T a, T b) { return a / b; }, w);
    const T s = in.number;
    const auto plus = [&](unsigned i) { return static_cast<T>(in.a[i] + s); };
    const auto minus = [&](unsigned i) { return static_cast<T>(plus(i) - s); };
    const auto times = [&](unsigned i) { return static_cast<T>(minus(i) * s); };
    each("+= number", plus);
    each("-= number", minus);
    each("*= number", times);
    each("/= number", [&](unsigned i) { return times(i) / s; });
    const auto one = [&](unsigned i) { return static_cast<T>(in.a[i] + 1); };
    const auto two = [&](unsigned i) { return static_cast<T>(one(i) + 1); };
    const auto less = [&](unsigned i) { return static_cast<T>(two(i) - 1); };
    each("v++", [&](unsigned i) { return in.a[i]; });
    each("++v", two);
    each("v--", two);
    each("--v", [&](unsigned i) { return static_cast<T>(less(i) - 1); });
    each("v + int", [&](unsigned i) { return in.a[i] + static_cast<T>(in.shift); });
    each("int * v", [&](unsigned i) { return static_cast<T>(in.shift) * in.a[i]; });
    const bool same = std::equal(in.a, in.a + n, in.b);
    const bool all = std::all_of(in.a, in.a + n, [&](T x) { return x == s; });
    const bool self = std::equal(in.a, in.a + n, in.a);  // false of NaN
    w.put("==", same), w.put("!=", !same), w.put("== itself", self), w.put("!= itself", !self);
    w.put("== number", all), w.put("number ==", all);
    w.put("!= number", !all), w.put("number !=", !all);
    const bool moved =
        static_cast<T>(in.a[n - 1] + 1) == in.a[n - 1] && std::equal(in.a, in.a + n - 1, in.a);
    w.put("== with another last", moved), w.put("!= with another last", !moved);
    w.put("all == number", s == s), w.put("number != all", s != s);
    if constexpr (kSigned) each("-v", [&](unsigned i) { return -in.a[i]; });
    if constexpr (kInteger) {
      binary("%", in, in.b, s, [](T a, T b) { return a % b; }, w);
      binary("&", in, in.b, s, [](T a, T b) { return a & b; }, w);
      binary("|", in, in.b, s, [](T a, T b) { return a | b; }, w);
      binary("^", in, in.b, s, [](T a, T b) { return a ^ b; }, w);
      const T amount[4] = {T(in.shift), T(in.shift / 2), T(1), T(0)};
      binary("<<", in, amount, T(in.shift), [](T a, T b) { return a << b; }, w);
      binary(">>", in, amount, T(in.shift), [](T a, T b) { return a >> b; }, w);
      each("~v", [&](unsigned i) { return ~in.a[i]; });
    }
  }

  __host__ __device__ static void compute(const Input<T>& in, types::Results& r) {
    members(make(in.a), r);
    constructors(in, r);
    operators(in, r);
  }
  static void reference(const Input<T>& in, types::Wanted& w) {
    members_reference(in.a, w);
    constructors_reference(in, w);
    operators_reference(in, w);
  }
};

/// Numbers whose sums, products and quotients are defined, and for floats the special ones.
template <typename T>
std::vector<Input<T>> inputs() {
  std::vector<Input<T>> list;
  std::mt19937_64 random(sizeof(T) + std::is_signed_v<T>);
  for (int i = 0; i < 200; ++i) {
    Input<T> in{};
    const auto any = [&]() -> T {
      if constexpr (std::is_integral_v<T>) {
        // Small enough for a product, except in the types that are promoted or wrap.
        constexpr int kDrop =
            std::is_signed_v<T> && sizeof(T) >= 4 ? 66 - 4 * static_cast<int>(sizeof(T)) : 0;
        return static_cast<T>(static_cast<long long>(random()) >> kDrop);
      } else {
        constexpr T kSpecial[] = {T(0),
                                  T(-0.0),
                                  T(1),
                                  std::numeric_limits<T>::infinity(),
                                  std::numeric_limits<T>::quiet_NaN(),
                                  std::numeric_limits<T>::max(),
                                  std::numeric_limits<T>::min()};
        if (random() % 4 == 0) return kSpecial[random() % 7];
        return static_cast<T>(static_cast<double>(static_cast<long long>(random())) * 0x1p-56);
      }
    };
    for (T& x : in.a) x = any();
    for (T& x : in.b) x = any();
    if (i % 3 == 0) std::copy(in.a, in.a + 4, in.b);
    in.number = i % 5 == 0 ? in.a[0] : any();
    // A whole number of the type that any distance keeps defined.
    in.shift = static_cast<int>(random() % (8 * sizeof(T) < 31 ? 8 * sizeof(T) - 1 : 31));
    if constexpr (std::is_integral_v<T>) {
      for (T& x : in.b)
        if (x == 0) x = 3;  // divisors
      if (in.number == 0) in.number = 5;
      if constexpr (std::is_signed_v<T>) {
        for (T& x : in.b)
          if (x == -1) x = 2;
        if (in.number == -1) in.number = 2;
        // What is shifted to the left stays positive and in range.
        if (sizeof(T) >= 4) in.shift %= 8;
      }
    }
    list.push_back(in);
  }
  return list;
}

// The numbers that make_* gets convert to the element's type.
#define TYPE(name, T)                                                        \
  void judge_##name() {                                                      \
    const std::vector<Input<T>> all = inputs<T>();                           \
    types::judge<Vector<T, 1, name##1>>(#name "1", all);                     \
    types::judge<Vector<T, 2, name##2>>(#name "2", all);                     \
    types::judge<Vector<T, 3, name##3>>(#name "3", all);                     \
    types::judge<Vector<T, 4, name##4>>(#name "4", all);                     \
    if (make_##name##1(1).x != 1 || make_##name##2(1, 2) != name##2(1, 2) || \
        make_##name##3(1, 2, 3) != name##3(1, 2, 3) ||                       \
        make_##name##4(1, 2, 3, 4) != name##4(1, 2, 3, 4)) {                 \
      std::printf("make_" #name "\n");                                       \
      ++types::differences;                                                  \
    }                                                                        \
  }
TYPE(char, char)
TYPE(uchar, unsigned char)
TYPE(short, short)
TYPE(ushort, unsigned short)
TYPE(int, int)
TYPE(uint, unsigned int)
TYPE(long, long)
TYPE(ulong, unsigned long)
TYPE(longlong, long long)
TYPE(ulonglong, unsigned long long)
TYPE(float, float)
TYPE(double, double)
#undef TYPE

// Members can be read in constant expressions.
constexpr float2 kConstant(1.5f, 2.0f);
static_assert(kConstant.x == 1.5f && kConstant.y == 2.0f);
static_assert(float4(3.0f).x == 3.0f && float4(3.0f).w == 0.0f);

// A program's own operators go first.
namespace own {
__host__ __device__ inline float3 operator*(const float3& a, const float3& b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
__host__ __device__ inline float last_of_cross(const float3& a, const float3& b) {
  return (a * b).z;
}
}  // namespace own

/// Uses of members in device code other than arithmetic.
__global__ void uses(int4* ints, float4* floats) {
  const int4 t = ints[0];
  atomicAdd(&ints[1].x, t.x);
  switch (t.y) {
    case 2:
      ints[1].y = 5;
  }
  const float4 f = floats[0];
  printf("%g %d\n", f.x, t.z);
  floats[1].x = std::max(f.x, 2.0f) + fmaxf(f.y, 1.0f) + __shfl_xor(f.z, 0) + max(f.x, f.y);
  floats[1].y = own::last_of_cross(make_float3(1, 0, 0), make_float3(0, 1, 0));
  floats[1].z = *reinterpret_cast<const float*>(&t.w);
  __shared__ float2 pairs[64];
  pairs[threadIdx.x] = {f.x, f.y};
  __syncthreads();
  floats[1].w = pairs[threadIdx.x][1];
}

int main() {
  judge_char(), judge_uchar(), judge_short(), judge_ushort(), judge_int(), judge_uint();
  judge_long(), judge_ulong(), judge_longlong(), judge_ulonglong(), judge_float(), judge_double();

  int4* ints = nullptr;
  float4* floats = nullptr;
  types::check(hipMallocManaged(&ints, 2 * sizeof(int4)));
  types::check(hipMallocManaged(&floats, 2 * sizeof(float4)));
  ints[0] = {1, 2, 3, __builtin_bit_cast(int, 6.0f)};
  ints[1] = {10, 0, 0, 0};
  floats[0] = {1, 2, 3, 4};
  uses<<<1, 1>>>(ints, floats);
  types::check(hipDeviceSynchronize());
  if (ints[1] != int4(11, 5, 0, 0) || floats[1] != float4(2 + 2 + 3 + 2, 1, 6, 2)) {
    std::printf("uses: %d %d, %g %g %g %g\n", ints[1].x, ints[1].y, floats[1].x, floats[1].y,
                floats[1].z, floats[1].w);
    ++types::differences;
  }
  // What HIP 5.2's texture functions take from the vectors.
  const uint4 fetched(0x101u, 0xffffffffu, 3u, 0x12345678u);
  const uchar4 cut = mapFrom<uchar4>(fetched);
  if (cut != uchar4(1, 255, 3, 0x78) || mapFrom<short2>(fetched) != short2(0x101, -1) ||
      mapFrom<int2>(fetched) != int2(0x101, -1) || mapFrom<unsigned>(fetched) != 0x101u) {
    std::printf("mapFrom\n");
    ++types::differences;
  }
  return types::finish();
}
