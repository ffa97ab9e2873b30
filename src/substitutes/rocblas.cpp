// rocBLAS. Source of the names: its public headers, ROCm 7.
#define MARGAY_LIBRARY "rocBLAS"
#define MARGAY_STATUS 2  // rocblas_status_not_implemented
#include "substitutes/refuse.h"

#include "substitutes/handle.h"

using margay::substitutes::Handle;

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

MARGAY_REFUSE(rocblas_cgemm)
MARGAY_REFUSE(rocblas_cgemm_strided_batched)
MARGAY_REFUSE(rocblas_cgemv)
MARGAY_REFUSE(rocblas_cscal)
MARGAY_REFUSE(rocblas_csscal)
MARGAY_REFUSE(rocblas_ctrsm)
MARGAY_REFUSE(rocblas_ctrsm_batched)
MARGAY_REFUSE(rocblas_dgemm)
MARGAY_REFUSE(rocblas_dgemm_strided_batched)
MARGAY_REFUSE(rocblas_dgemv)
MARGAY_REFUSE(rocblas_dscal)
MARGAY_REFUSE(rocblas_dtrsm)
MARGAY_REFUSE(rocblas_dtrsm_batched)
MARGAY_REFUSE(rocblas_gemm_ex)
MARGAY_REFUSE(rocblas_gemm_ex_get_solutions)
MARGAY_REFUSE(rocblas_gemm_strided_batched_ex)
MARGAY_REFUSE(rocblas_gemm_strided_batched_ex_get_solutions)
MARGAY_REFUSE(rocblas_get_version_string)
MARGAY_REFUSE(rocblas_get_version_string_size)
MARGAY_REFUSE(rocblas_hgemm)
MARGAY_REFUSE(rocblas_hgemm_strided_batched)
MARGAY_REFUSE(rocblas_set_workspace)
MARGAY_REFUSE(rocblas_sgemm)
MARGAY_REFUSE(rocblas_sgemm_strided_batched)
MARGAY_REFUSE(rocblas_sgemv)
MARGAY_REFUSE(rocblas_sscal)
MARGAY_REFUSE(rocblas_strsm)
MARGAY_REFUSE(rocblas_strsm_batched)
MARGAY_REFUSE(rocblas_zdscal)
MARGAY_REFUSE(rocblas_zgemm)
MARGAY_REFUSE(rocblas_zgemm_strided_batched)
MARGAY_REFUSE(rocblas_zgemv)
MARGAY_REFUSE(rocblas_zscal)
MARGAY_REFUSE(rocblas_ztrsm)
MARGAY_REFUSE(rocblas_ztrsm_batched)
