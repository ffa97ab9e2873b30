// Matrix products for programs that call rocBLAS or hipBLASLt: every type and transposition by one
// plain kernel. It is what the virtual device's substitutes of these libraries launch
// (src/substitutes); AMD's libraries have faster ones.
//
// D = epilogue(alpha * op(A) * op(B) + beta * C), by columns, for each matrix of a batch. A
// workgroup computes 64 x 64 elements of D; blockIdx.z is the matrix.
#include <hip/hip_runtime.h>

#include "gemm_arguments.h"

using margay::blas::GemmArguments;

namespace {

constexpr int kTile = 64, kDepth = 16, kThreads = 256, kPerThread = 4;

template <typename T>
struct Complex {
  T re, im;
};

template <typename T>
__device__ T times(T a, T b, T sum) {
  return sum + a * b;
}
template <typename T>
__device__ Complex<T> times(Complex<T> a, Complex<T> b, Complex<T> sum) {
  return {sum.re + a.re * b.re - a.im * b.im, sum.im + a.re * b.im + a.im * b.re};
}

template <typename T>
__device__ T plus(T a, T b) {
  return a + b;
}
template <typename T>
__device__ Complex<T> plus(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}

template <typename T>
__device__ T conjugate(T x) {
  return x;
}
template <typename T>
__device__ Complex<T> conjugate(Complex<T> x) {
  return {x.re, -x.im};
}

template <typename T>
__device__ T scalar(const double (&x)[2], T*) {
  return static_cast<T>(x[0]);
}
template <typename T>
__device__ Complex<T> scalar(const double (&x)[2], Complex<T>*) {
  return {static_cast<T>(x[0]), static_cast<T>(x[1])};
}

template <typename T>
__device__ T relu(T x) {
  return x > T(0) ? x : T(0);
}
template <typename T>
__device__ Complex<T> relu(Complex<T> x) {
  return x;  // not asked for: see gemm.cpp
}

// Storage to the type of the sums, and back with rounding to nearest even.
struct Bf16 {
  unsigned short bits;
};
__device__ float widened(Bf16 x) {
  return __builtin_bit_cast(float, static_cast<unsigned>(x.bits) << 16);
}
template <typename T>
__device__ T widened(T x) {
  return x;
}
__device__ float widened(_Float16 x) { return static_cast<float>(x); }
__device__ int widened(signed char x) { return x; }

template <typename To, typename From>
__device__ To narrowed(From x) {
  if constexpr (__is_same(To, Bf16)) {
    const unsigned bits = __builtin_bit_cast(unsigned, x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<unsigned short>(bits >> 16 | 0x40)};
    return {static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16)};
  } else {
    return static_cast<To>(x);
  }
}

/// An operand as the kernel reads it: element (outer, depth), where outer is a row of op(A) or a
/// column of op(B); 0 outside.
template <typename Sum, typename In>
struct Operand {
  const In* x;
  long ld, outers, depths;
  bool outer_follows;  // elements that follow each other in memory are of one depth
  bool conjugated;

  __device__ Sum at(long outer, long depth) const {
    if (outer >= outers || depth >= depths) return Sum{};
    const Sum value = widened(outer_follows ? x[outer + depth * ld] : x[depth + outer * ld]);
    return conjugated ? conjugate(value) : value;
  }

  /// A tile into LDS; lanes that follow each other read elements that do.
  __device__ void load(Sum (&tile)[kDepth][kTile + 1], long first_outer, long first_depth) const {
    for (int n = static_cast<int>(threadIdx.x); n < kTile * kDepth; n += kThreads) {
      const int i = outer_follows ? n % kTile : n / kDepth;
      const int l = outer_follows ? n / kTile : n % kDepth;
      tile[l][i] = at(first_outer + i, first_depth + l);
    }
  }
};

template <typename In, typename Sum, typename Out>
__device__ void product(const GemmArguments& g) {
  __shared__ Sum a[kDepth][kTile + 1];
  __shared__ Sum b[kDepth][kTile + 1];
  const int thread = static_cast<int>(threadIdx.x);
  const int row = thread % 16, column = thread / 16;
  const long first_row = static_cast<long>(blockIdx.x) * kTile;
  const long first_column = static_cast<long>(blockIdx.y) * kTile;
  const long matrix = blockIdx.z;
  const Operand<Sum, In> left{static_cast<const In*>(g.a) + matrix * g.stride_a,
                              g.lda,
                              g.m,
                              g.k,
                              g.op_a == GemmArguments::kAsIs,
                              g.op_a == GemmArguments::kConjugate};
  const Operand<Sum, In> right{static_cast<const In*>(g.b) + matrix * g.stride_b,
                               g.ldb,
                               g.n,
                               g.k,
                               g.op_b != GemmArguments::kAsIs,
                               g.op_b == GemmArguments::kConjugate};

  Sum sums[kPerThread][kPerThread] = {};
  for (long depth = 0; depth < g.k; depth += kDepth) {
    left.load(a, first_row, depth);
    right.load(b, first_column, depth);
    __syncthreads();
    for (int l = 0; l < kDepth; ++l) {
      Sum x[kPerThread], y[kPerThread];
      for (int n = 0; n < kPerThread; ++n) {
        x[n] = a[l][row + 16 * n];
        y[n] = b[l][column + 16 * n];
      }
      for (int i = 0; i < kPerThread; ++i)
        for (int j = 0; j < kPerThread; ++j) sums[i][j] = times(x[i], y[j], sums[i][j]);
    }
    __syncthreads();
  }

  const Out* const c = static_cast<const Out*>(g.c) + matrix * g.stride_c;
  Out* const d = static_cast<Out*>(g.d) + matrix * g.stride_d;
  const Sum alpha = scalar(g.alpha, static_cast<Sum*>(nullptr));
  const Sum beta = scalar(g.beta, static_cast<Sum*>(nullptr));
  const bool adds_c = g.beta[0] != 0 || g.beta[1] != 0;
  for (int i = 0; i < kPerThread; ++i)
    for (int j = 0; j < kPerThread; ++j) {
      const long at_row = first_row + row + 16 * i, at_column = first_column + column + 16 * j;
      if (at_row >= g.m || at_column >= g.n) continue;
      Sum value = times(alpha, sums[i][j], Sum{});
      if (adds_c) value = times(beta, Sum(widened(c[at_row + at_column * g.ldc])), value);
      if (g.bias != nullptr)
        value = plus(value, Sum(widened(static_cast<const Out*>(g.bias)[at_row])));
      if (g.relu != 0) value = relu(value);
      d[at_row + at_column * g.ldd] = narrowed<Out>(value);
    }
}

}  // namespace

#define MARGAY_GEMM(name, In, Sum, Out)                                                        \
  extern "C" __global__ __launch_bounds__(kThreads) void margay_gemm_##name(GemmArguments g) { \
    product<In, Sum, Out>(g);                                                                  \
  }

MARGAY_GEMM(f32, float, float, float)
MARGAY_GEMM(f64, double, double, double)
MARGAY_GEMM(c64, Complex<float>, Complex<float>, Complex<float>)
MARGAY_GEMM(c128, Complex<double>, Complex<double>, Complex<double>)
MARGAY_GEMM(bf16, Bf16, float, Bf16)
MARGAY_GEMM(bf16_f32, Bf16, float, float)
MARGAY_GEMM(f16, _Float16, float, _Float16)
MARGAY_GEMM(f16_f32, _Float16, float, float)
MARGAY_GEMM(i8_i32, signed char, int, int)
