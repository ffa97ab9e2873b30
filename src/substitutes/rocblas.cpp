// rocBLAS. Source of the names: its public headers, ROCm 7.
#define MARGAY_LIBRARY "rocBLAS"
#define MARGAY_STATUS 2  // rocblas_status_not_implemented
#include "substitutes/refuse.h"

#include "substitutes/gemm.h"
#include "substitutes/handle.h"

using margay::blas::GemmArguments;
using margay::substitutes::Element;
using margay::substitutes::Handle;

namespace {

constexpr int kSuccess = 0, kInvalidPointer = 5, kInternalError = 6;

// rocblas_datatype
Element element_of(int type) {
  switch (type) {
    case 150:
      return Element::f16;
    case 151:
      return Element::f32;
    case 152:
      return Element::f64;
    case 154:
      return Element::c64;
    case 155:
      return Element::c128;
    case 160:
      return Element::i8;
    case 162:
      return Element::i32;
    case 168:
      return Element::bf16;
    default:
      return Element::other;
  }
}

/// What all forms of the call have in common; strides are 0 and the batch 1 where there is none.
struct Product {
  Element in, out, compute;
  int op_a, op_b;
  long m, n, k;
  const void* alpha;
  const void* a;
  long lda, stride_a;
  const void* b;
  long ldb, stride_b;
  const void* beta;
  const void* c;
  long ldc, stride_c;
  void* d;
  long ldd, stride_d, batch;
};

void read_scalar(double (&to)[2], const void* from, Element type) {
  to[0] = to[1] = 0;
  if (type == Element::f64) {
    to[0] = *static_cast<const double*>(from);
  } else if (type == Element::c128) {
    to[0] = static_cast<const double*>(from)[0];
    to[1] = static_cast<const double*>(from)[1];
  } else if (type == Element::c64) {
    to[0] = static_cast<const float*>(from)[0];
    to[1] = static_cast<const float*>(from)[1];
  } else if (type == Element::i32) {
    to[0] = *static_cast<const int*>(from);
  } else if (type == Element::f16) {
    to[0] = static_cast<double>(*static_cast<const _Float16*>(from));
  } else {
    to[0] = *static_cast<const float*>(from);
  }
}

int multiply(const char* function, const Handle* handle, const Product& p) {
  const std::string_view kernel = margay::substitutes::gemm_kernel(p.in, p.in, p.out, p.out);
  if (kernel.empty()) {
    margay::substitutes::say_once(MARGAY_LIBRARY, function);
    return MARGAY_STATUS;
  }
  if (p.alpha == nullptr || p.beta == nullptr) return kInvalidPointer;
  GemmArguments g{};
  const auto operation = [](int rocblas) {
    return rocblas == 111   ? GemmArguments::kAsIs
           : rocblas == 112 ? GemmArguments::kTransposed
                            : GemmArguments::kConjugate;
  };
  g.op_a = operation(p.op_a);
  g.op_b = operation(p.op_b);
  g.m = p.m;
  g.n = p.n;
  g.k = p.k;
  g.a = p.a;
  g.b = p.b;
  g.c = p.c;
  g.d = p.d;
  g.lda = p.lda;
  g.ldb = p.ldb;
  g.ldc = p.ldc;
  g.ldd = p.ldd;
  g.stride_a = p.stride_a;
  g.stride_b = p.stride_b;
  g.stride_c = p.stride_c;
  g.stride_d = p.stride_d;
  read_scalar(g.alpha, p.alpha, p.compute);
  read_scalar(g.beta, p.beta, p.compute);
  return margay::substitutes::launch_gemm(kernel, g, p.batch, handle->stream) ? kSuccess
                                                                              : kInternalError;
}

}  // namespace

// rocblas_Xgemm and rocblas_Xgemm_strided_batched, of one type.
#define MARGAY_GEMM(name, type, element)                                                         \
  extern "C" MARGAY_EXPORT int rocblas_##name(                                                   \
      Handle* handle, int op_a, int op_b, int m, int n, int k, const type* alpha, const type* a, \
      int lda, const type* b, int ldb, const type* beta, type* c, int ldc) {                     \
    return multiply("rocblas_" #name, handle,                                                    \
                    {element, element, element, op_a, op_b, m,   n, k, alpha, a, lda, 0,         \
                     b,       ldb,     0,       beta, c,    ldc, 0, c, ldc,   0, 1});            \
  }                                                                                              \
  extern "C" MARGAY_EXPORT int rocblas_##name##_strided_batched(                                 \
      Handle* handle, int op_a, int op_b, int m, int n, int k, const type* alpha, const type* a, \
      int lda, long stride_a, const type* b, int ldb, long stride_b, const type* beta, type* c,  \
      int ldc, long stride_c, int batch) {                                                       \
    return multiply("rocblas_" #name "_strided_batched", handle,                                 \
                    {element, element, element,  op_a,     op_b, m,        n,        k,          \
                     alpha,   a,       lda,      stride_a, b,    ldb,      stride_b, beta,       \
                     c,       ldc,     stride_c, c,        ldc,  stride_c, batch});              \
  }

MARGAY_GEMM(hgemm, void, Element::f16)
MARGAY_GEMM(sgemm, void, Element::f32)
MARGAY_GEMM(dgemm, void, Element::f64)
MARGAY_GEMM(cgemm, void, Element::c64)
MARGAY_GEMM(zgemm, void, Element::c128)

extern "C" MARGAY_EXPORT int rocblas_gemm_ex(Handle* handle, int op_a, int op_b, int m, int n,
                                             int k, const void* alpha, const void* a, int type_a,
                                             int lda, const void* b, int type_b, int ldb,
                                             const void* beta, const void* c, int type_c, int ldc,
                                             void* d, int type_d, int ldd, int compute,
                                             int /*algorithm*/, int /*solution*/,
                                             unsigned /*flags*/) {
  const bool uniform = type_a == type_b && type_c == type_d;
  return multiply("rocblas_gemm_ex", handle,
                  {uniform ? element_of(type_a) : Element::other,
                   element_of(type_d),
                   element_of(compute),
                   op_a,
                   op_b,
                   m,
                   n,
                   k,
                   alpha,
                   a,
                   lda,
                   0,
                   b,
                   ldb,
                   0,
                   beta,
                   c,
                   ldc,
                   0,
                   d,
                   ldd,
                   0,
                   1});
}
extern "C" MARGAY_EXPORT int rocblas_gemm_strided_batched_ex(
    Handle* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a,
    int type_a, int lda, long stride_a, const void* b, int type_b, int ldb, long stride_b,
    const void* beta, const void* c, int type_c, int ldc, long stride_c, void* d, int type_d,
    int ldd, long stride_d, int batch, int compute, int /*algorithm*/, int /*solution*/,
    unsigned /*flags*/) {
  const bool uniform = type_a == type_b && type_c == type_d;
  return multiply("rocblas_gemm_strided_batched_ex", handle,
                  {uniform ? element_of(type_a) : Element::other,
                   element_of(type_d),
                   element_of(compute),
                   op_a,
                   op_b,
                   m,
                   n,
                   k,
                   alpha,
                   a,
                   lda,
                   stride_a,
                   b,
                   ldb,
                   stride_b,
                   beta,
                   c,
                   ldc,
                   stride_c,
                   d,
                   ldd,
                   stride_d,
                   batch});
}

extern "C" {
MARGAY_EXPORT int rocblas_create_handle(Handle** handle) { return Handle::create(handle); }
MARGAY_EXPORT int rocblas_destroy_handle(Handle* handle) { return Handle::destroy(handle); }
MARGAY_EXPORT int rocblas_set_stream(Handle* handle, void* stream) { return handle->set(stream); }
MARGAY_EXPORT int rocblas_get_stream(Handle* handle, void** stream) {
  *stream = handle->stream;
  return 0;
}
MARGAY_EXPORT int rocblas_set_atomics_mode(Handle* /*handle*/, int /*mode*/) { return 0; }
}

MARGAY_REFUSE(rocblas_cgemv)
MARGAY_REFUSE(rocblas_cscal)
MARGAY_REFUSE(rocblas_csscal)
MARGAY_REFUSE(rocblas_ctrsm)
MARGAY_REFUSE(rocblas_ctrsm_batched)
MARGAY_REFUSE(rocblas_dgemv)
MARGAY_REFUSE(rocblas_dscal)
MARGAY_REFUSE(rocblas_dtrsm)
MARGAY_REFUSE(rocblas_dtrsm_batched)
MARGAY_REFUSE(rocblas_gemm_ex_get_solutions)
MARGAY_REFUSE(rocblas_gemm_strided_batched_ex_get_solutions)
MARGAY_REFUSE(rocblas_get_version_string)
MARGAY_REFUSE(rocblas_get_version_string_size)
MARGAY_REFUSE(rocblas_set_workspace)
MARGAY_REFUSE(rocblas_sgemv)
MARGAY_REFUSE(rocblas_sscal)
MARGAY_REFUSE(rocblas_strsm)
MARGAY_REFUSE(rocblas_strsm_batched)
MARGAY_REFUSE(rocblas_zdscal)
MARGAY_REFUSE(rocblas_zgemv)
MARGAY_REFUSE(rocblas_zscal)
MARGAY_REFUSE(rocblas_ztrsm)
MARGAY_REFUSE(rocblas_ztrsm_batched)
