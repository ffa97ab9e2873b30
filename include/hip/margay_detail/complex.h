// Complex numbers of HIP 6 and 7: functions on float2 and double2, whose x is the real part. The
// operators of the two are those of vectors, element by element. Source: "HIP complex math API",
// ROCm 7.2. Part of hip/hip_complex.h; do not include it alone.
#pragma once

#include <hip/amd_detail/amd_hip_vector_types.h>

#include <cmath>

// `f` is the suffix of a function's name.
#define MARGAY_COMPLEX(Complex, Real, f)                                                        \
  __HOST_DEVICE__ static inline Complex make_##Complex(Real a, Real b) { return {a, b}; }       \
  __HOST_DEVICE__ static inline Real hipCreal##f(Complex z) { return z.x; }                     \
  __HOST_DEVICE__ static inline Real hipCimag##f(Complex z) { return z.y; }                     \
  __HOST_DEVICE__ static inline Complex hipConj##f(Complex z) { return {z.x, -z.y}; }           \
  /* The square of the absolute value. */                                                       \
  __HOST_DEVICE__ static inline Real hipCsqabs##f(Complex z) { return z.x * z.x + z.y * z.y; }  \
  __HOST_DEVICE__ static inline Real hipCabs##f(Complex z) { return sqrt##f(hipCsqabs##f(z)); } \
  __HOST_DEVICE__ static inline Complex hipCadd##f(Complex p, Complex q) {                      \
    return {p.x + q.x, p.y + q.y};                                                              \
  }                                                                                             \
  __HOST_DEVICE__ static inline Complex hipCsub##f(Complex p, Complex q) {                      \
    return {p.x - q.x, p.y - q.y};                                                              \
  }                                                                                             \
  __HOST_DEVICE__ static inline Complex hipCmul##f(Complex p, Complex q) {                      \
    return {p.x * q.x - p.y * q.y, p.y * q.x + p.x * q.y};                                      \
  }                                                                                             \
  __HOST_DEVICE__ static inline Complex hipCdiv##f(Complex p, Complex q) {                      \
    const Real square = hipCsqabs##f(q);                                                        \
    return {(p.x * q.x + p.y * q.y) / square, (p.y * q.x - p.x * q.y) / square};                \
  }                                                                                             \
  /* p q + r */                                                                                 \
  __HOST_DEVICE__ static inline Complex hipCfma##f(Complex p, Complex q, Complex r) {           \
    return {-(p.y * q.y) + (p.x * q.x + r.x), p.x * q.y + (q.x * p.y + r.y)};                   \
  }

typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;
MARGAY_COMPLEX(hipFloatComplex, float, f)
MARGAY_COMPLEX(hipDoubleComplex, double, )
#undef MARGAY_COMPLEX

__HOST_DEVICE__ static inline hipComplex make_hipComplex(float x, float y) { return {x, y}; }
__HOST_DEVICE__ static inline hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z) {
  return {z.x, z.y};
}
__HOST_DEVICE__ static inline hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z) {
  return {z.x, z.y};
}
