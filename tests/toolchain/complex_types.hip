// hip/hip_complex.h: every function on the host and on the device, against arithmetic in long
// double. And that the operators of float2 and double2 stay those of vectors.
#include <hip/hip_complex.h>
#include <hip/hip_runtime.h>

#include <cmath>
#include <random>
#include <type_traits>

#include "types.h"

static_assert(std::is_same_v<hipFloatComplex, float2> && std::is_same_v<hipComplex, float2>);
static_assert(std::is_same_v<hipDoubleComplex, double2>);
static_assert(std::is_same_v<decltype(make_hipFloatComplex(1, 2)), hipFloatComplex>);
static_assert(std::is_same_v<decltype(make_hipDoubleComplex(1, 2)), hipDoubleComplex>);
static_assert(std::is_same_v<decltype(make_hipComplex(1, 2)), hipComplex>);
static_assert(std::is_same_v<decltype(hipCabs(hipDoubleComplex())), double>);
static_assert(std::is_same_v<decltype(hipCabsf(hipFloatComplex())), float>);

namespace {

/// Small whole numbers, so that sums of products are exact and quotients rounded a few times only.
struct Input {
  int p[2], q[2], r[2];
};

}  // namespace

__host__ __device__ void put(types::Results& r, float a) { r.put(types::bits(a)); }
__host__ __device__ void put(types::Results& r, double a) { r.put(types::bits(a)); }
template <typename T>
__host__ __device__ void put(types::Results& r, const HIP_vector_type<T, 2>& a) {
  put(r, a.x), put(r, a.y);
}

struct Float {
  __host__ __device__ static void compute(const Input& in, types::Results& r) {
    const hipFloatComplex p = make_hipFloatComplex(in.p[0], in.p[1]);
    const hipFloatComplex q = make_hipComplex(in.q[0], in.q[1]);
    const hipFloatComplex s(in.r[0], in.r[1]);
    put(r, hipCrealf(p)), put(r, hipCimagf(p)), put(r, hipConjf(p)), put(r, hipCsqabsf(p));
    put(r, hipCaddf(p, q)), put(r, hipCsubf(p, q)), put(r, hipCmulf(p, q)), put(r, hipCdivf(p, q));
    put(r, hipCfmaf(p, q, s)), put(r, hipCabsf(p)), put(r, hipComplexFloatToDouble(p));
    put(r, p * q), put(r, p + q), put(r, p / q), put(r, p * 3.0f), put(r, -p);
    put(r, hipFloatComplex(2.0f));
  }
  static void reference(const Input& in, types::Wanted& w) {
    const auto put = [&](const char* name, double value) {
      w.put(name, types::bits(static_cast<float>(value)));
    };
    const double a = in.p[0], b = in.p[1], c = in.q[0], d = in.q[1];
    put("real", a), put("imag", b), put("conj", a), put("conj", -b), put("sqabs", a * a + b * b);
    put("add", a + c), put("add", b + d), put("sub", a - c), put("sub", b - d);
    put("mul", a * c - b * d), put("mul", b * c + a * d);
    put("div", (a * c + b * d) / (c * c + d * d)), put("div", (b * c - a * d) / (c * c + d * d));
    put("fma", a * c - b * d + in.r[0]), put("fma", b * c + a * d + in.r[1]);
    put("abs", std::sqrt(a * a + b * b));
    w.put("to double", types::bits(a)), w.put("to double", types::bits(b));
    put("*", a * c), put("*", b * d), put("+", a + c), put("+", b + d), put("/", a / c);
    put("/", b / d), put("* 3", a * 3), put("* 3", b * 3), put("-p", -a), put("-p", -b);
    put("of one number", 2), put("of one number", 0);
  }
};
struct Double {
  __host__ __device__ static void compute(const Input& in, types::Results& r) {
    const hipDoubleComplex p = make_hipDoubleComplex(in.p[0], in.p[1]);
    const hipDoubleComplex q(in.q[0], in.q[1]), s(in.r[0], in.r[1]);
    put(r, hipCreal(p)), put(r, hipCimag(p)), put(r, hipConj(p)), put(r, hipCsqabs(p));
    put(r, hipCadd(p, q)), put(r, hipCsub(p, q)), put(r, hipCmul(p, q)), put(r, hipCdiv(p, q));
    put(r, hipCfma(p, q, s)), put(r, hipCabs(p)), put(r, hipComplexDoubleToFloat(p));
    put(r, p * q), put(r, p / q), put(r, p == q ? 1.0 : 0.0), put(r, p != p ? 1.0 : 0.0);
  }
  static void reference(const Input& in, types::Wanted& w) {
    const auto put = [&](const char* name, long double value) {
      w.put(name, types::bits(static_cast<double>(value)));
    };
    const double a = in.p[0], b = in.p[1], c = in.q[0], d = in.q[1];
    put("real", a), put("imag", b), put("conj", a), put("conj", -b), put("sqabs", a * a + b * b);
    put("add", a + c), put("add", b + d), put("sub", a - c), put("sub", b - d);
    put("mul", a * c - b * d), put("mul", b * c + a * d);
    put("div", (a * c + b * d) / (c * c + d * d)), put("div", (b * c - a * d) / (c * c + d * d));
    put("fma", a * c - b * d + in.r[0]), put("fma", b * c + a * d + in.r[1]);
    put("abs", std::sqrt(a * a + b * b));
    w.put("to float", types::bits(static_cast<float>(a)));
    w.put("to float", types::bits(static_cast<float>(b)));
    put("*", a * c), put("*", b * d), put("/", a / c), put("/", b / d);
    put("==", a == c && b == d), put("!=", 0);
  }
};

int main() {
  std::vector<Input> inputs;
  std::mt19937 random(3);
  const auto any = [&]() { return static_cast<int>(random() % 2001) - 1000; };
  for (int i = 0; i < 1000; ++i) {
    Input in{{any(), any()}, {any(), any()}, {any(), any()}};
    for (int& divisor : in.q) divisor += divisor == 0 ? 1 : 0;
    inputs.push_back(in);
  }
  types::judge<Float>("hipFloatComplex", inputs);
  types::judge<Double>("hipDoubleComplex", inputs);
  return types::finish();
}
