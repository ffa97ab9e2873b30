// All vector compares by mnemonic, v_cmp and v_cmpx, in assembly: against the comparison the ISA
// guide names, computed here in double or in integers.
#include <cmath>
#include <string_view>

#include "judge.h"

namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
constexpr u32 kLanes = 64;

/// What one wave leaves: the masks in VCC or an SGPR pair, and EXEC behind v_cmpx.
struct Masks {
  u64 compared, compared_short, exec_compared, exec;
};

#if defined(__HIP_DEVICE_COMPILE__)
#define DEVICE_CODE(...) __VA_ARGS__
#else
#define DEVICE_CODE(...)
#endif
/// Both encodings of v_cmp, then v_cmpx in its short one; some lanes are inactive.
#define COMPARE(name, A, B)                                                                \
  __global__ void name(const A* as, const B* bs, Masks* out) {                             \
    const u32 at = blockIdx.x * kLanes + threadIdx.x;                                      \
    const A a = as[at];                                                                    \
    const B b = bs[at];                                                                    \
    (void)a, (void)b;                                                                      \
    Masks m{};                                                                             \
    if (threadIdx.x % 7 != 3) {                                                            \
      DEVICE_CODE(u64 saved; asm volatile(                                                 \
                      "v_cmp_" #name "_e64 %0, %5, %6\n v_cmp_" #name "_e32 vcc, %5, %6\n" \
                      "s_nop 1\n s_mov_b64 %1, vcc\n s_mov_b64 %4, exec\n"                 \
                      "v_cmpx_" #name "_e32 vcc, %5, %6\n s_nop 4\n s_mov_b64 %2, vcc\n"   \
                      "s_mov_b64 %3, exec\n s_mov_b64 exec, %4" : "=&s"(m.compared),       \
                      "=&s"(m.compared_short), "=&s"(m.exec_compared), "=&s"(m.exec),      \
                      "=&s"(saved) : "v"(a), "v"(b) : "vcc", "memory");)                   \
      if (threadIdx.x == 0) out[blockIdx.x] = m;                                           \
    }                                                                                      \
  }

#define FLOAT_COMPARES(type, T)                                                           \
  COMPARE(f_##type, T, T)                                                                 \
  COMPARE(lt_##type, T, T)                                                                \
  COMPARE(eq_##type, T, T)                                                                \
  COMPARE(le_##type, T, T)                                                                \
  COMPARE(gt_##type, T, T)                                                                \
  COMPARE(lg_##type, T, T)                                                                \
  COMPARE(ge_##type, T, T)                                                                \
  COMPARE(o_##type, T, T)                                                                 \
  COMPARE(u_##type, T, T)                                                                 \
  COMPARE(nge_##type, T, T)                                                               \
  COMPARE(nlg_##type, T, T)                                                               \
  COMPARE(ngt_##type, T, T)                                                               \
  COMPARE(nle_##type, T, T)                                                               \
  COMPARE(neq_##type, T, T)                                                               \
  COMPARE(nlt_##type, T, T)                                                               \
  COMPARE(tru_##type, T, T)                                                               \
  COMPARE(class_##type, T, u32)                                                           \
  const Case<T> cases_##type[] = {                                                        \
      {"f", f_##type},     {"lt", lt_##type},   {"eq", eq_##type},   {"le", le_##type},   \
      {"gt", gt_##type},   {"lg", lg_##type},   {"ge", ge_##type},   {"o", o_##type},     \
      {"u", u_##type},     {"nge", nge_##type}, {"nlg", nlg_##type}, {"ngt", ngt_##type}, \
      {"nle", nle_##type}, {"neq", neq_##type}, {"nlt", nlt_##type}, {"tru", tru_##type}, \
  };
#define INTEGER_COMPARES(type, T)                                                 \
  COMPARE(f_##type, T, T)                                                         \
  COMPARE(lt_##type, T, T)                                                        \
  COMPARE(eq_##type, T, T)                                                        \
  COMPARE(le_##type, T, T)                                                        \
  COMPARE(gt_##type, T, T)                                                        \
  COMPARE(ne_##type, T, T)                                                        \
  COMPARE(ge_##type, T, T)                                                        \
  COMPARE(t_##type, T, T)                                                         \
  const Case<T> cases_##type[] = {                                                \
      {"f", f_##type},   {"lt", lt_##type}, {"eq", eq_##type}, {"le", le_##type}, \
      {"gt", gt_##type}, {"ne", ne_##type}, {"ge", ge_##type}, {"t", t_##type},   \
  };

template <typename T>
struct Case {
  std::string_view operation;
  void (*kernel)(const T*, const T*, Masks*);
};
FLOAT_COMPARES(f16, _Float16)
FLOAT_COMPARES(f32, float)
FLOAT_COMPARES(f64, double)
INTEGER_COMPARES(i16, std::int16_t)
INTEGER_COMPARES(u16, u16)
INTEGER_COMPARES(i32, std::int32_t)
INTEGER_COMPARES(u32, u32)
INTEGER_COMPARES(i64, std::int64_t)
INTEGER_COMPARES(u64, u64)

/// The guide's tables of compare operations. "lg" is less or greater, "o" ordered, "u" unordered; n
/// in front of an operation on floats is its negation, which holds for NaN.
template <typename T>
bool compare(std::string_view operation, T a, T b) {
  if (operation == "f") return false;
  if (operation == "t" || operation == "tru") return true;
  if (operation == "lt") return a < b;
  if (operation == "eq") return a == b;
  if (operation == "le") return a < b || a == b;
  if (operation == "gt") return b < a;
  if (operation == "ge") return b < a || a == b;
  if (operation == "lg") return a < b || b < a;
  if (operation == "o") return a == a && b == b;
  if (operation == "u") return a != a || b != b;
  if (operation == "ne") return !(a == b);
  return !compare(operation.substr(1), a, b);
}

template <typename A, typename B>
void expect_masks(const std::string& what, void (*kernel)(const A*, const B*, Masks*),
                  std::vector<A> a, std::vector<B> b, auto holds) {
  while (a.size() % kLanes != 0) {
    a.push_back(a[0]);
    b.push_back(b[0]);
  }
  const auto waves = static_cast<u32>(a.size() / kLanes);
  judge::Buffer<A> as(a);
  judge::Buffer<B> bs(b);
  judge::Buffer<Masks> out(waves);
  kernel<<<waves, kLanes>>>(as.get(), bs.get(), out.get());
  const std::vector<Masks> got = out.read();
  for (u32 wave = 0; wave < waves; ++wave) {
    u64 expected = 0;
    for (u32 lane = 0; lane < kLanes; ++lane)
      if (lane % 7 != 3 && holds(a[wave * kLanes + lane], b[wave * kLanes + lane]))
        expected |= u64{1} << lane;
    EXPECT_EQ(got[wave].compared, expected) << "v_cmp_" << what << "_e64, wave " << wave;
    EXPECT_EQ(got[wave].compared_short, expected) << "v_cmp_" << what << "_e32, wave " << wave;
    EXPECT_EQ(got[wave].exec_compared, expected) << "v_cmpx_" << what << ", wave " << wave;
    EXPECT_EQ(got[wave].exec, expected) << "EXEC of v_cmpx_" << what << ", wave " << wave;
    if (testing::Test::HasFailure()) return;
  }
}
template <typename T>
void expect_all(const auto& cases, const char* type) {
  std::vector<T> a, b;
  judge::pairs(a, b, 1000);
  for (const T x : judge::corners<T>()) {  // more equal ones
    a.push_back(x);
    b.push_back(x);
  }
  for (const Case<T>& c : cases)
    expect_masks(std::string(c.operation) + "_" + type, c.kernel, a, b,
                 [&](T x, T y) { return compare(c.operation, x, y); });
}

TEST(Compare, floats) {
  expect_all<_Float16>(cases_f16, "f16");
  expect_all<float>(cases_f32, "f32");
  expect_all<double>(cases_f64, "f64");
}
TEST(Compare, integers) {
  expect_all<std::int16_t>(cases_i16, "i16");
  expect_all<u16>(cases_u16, "u16");
  expect_all<std::int32_t>(cases_i32, "i32");
  expect_all<u32>(cases_u32, "u32");
  expect_all<std::int64_t>(cases_i64, "i64");
  expect_all<u64>(cases_u64, "u64");
}

/// The bit of the class mask that a number is in, as the guide lists them.
template <typename T>
u32 class_of(T x) {
  constexpr int kMantissa = sizeof(T) == 8 ? 52 : sizeof(T) == 4 ? 23 : 10;
  u64 bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  const bool negative = bits >> (sizeof(T) * 8 - 1);
  const u64 mantissa = bits & ((u64{1} << kMantissa) - 1);
  const u64 all = (u64{1} << (sizeof(T) * 8 - 1 - kMantissa)) - 1;
  const u64 exponent = bits >> kMantissa & all;
  if (exponent == all && mantissa != 0) return mantissa >> (kMantissa - 1) ? 1 : 0;  // quiet?
  if (exponent == all) return negative ? 2 : 9;
  if (exponent != 0) return negative ? 3 : 8;
  if (mantissa != 0) return negative ? 4 : 7;
  return negative ? 5 : 6;
}
template <typename T>
void expect_class(const char* what, void (*kernel)(const T*, const u32*, Masks*)) {
  std::vector<T> numbers = judge::corners<T>(), a;
  judge::Bits<T> signaling{};  // the smallest NaN
  const T infinity = std::numeric_limits<T>::infinity();
  std::memcpy(&signaling, &infinity, sizeof infinity);
  ++signaling;
  numbers.push_back(judge::from_bits<T>(signaling));
  std::vector<u32> b;
  for (const T x : numbers)
    for (u32 bit = 0; bit <= 10; ++bit)
      for (const u32 mask : {bit == 10 ? 0 : 1u << bit, ~(1u << bit)}) {
        a.push_back(x);
        b.push_back(mask);
      }
  expect_masks(what, kernel, a, b, [](T x, u32 mask) { return (mask >> class_of(x) & 1) != 0; });
}
TEST(Compare, classes) {
  expect_class<_Float16>("class_f16", class_f16);
  expect_class<float>("class_f32", class_f32);
  expect_class<double>("class_f64", class_f64);
}

}  // namespace
