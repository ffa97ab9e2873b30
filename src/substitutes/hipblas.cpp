// hipBLAS. Source of the names: its public headers, ROCm 7.
#define MARGAY_LIBRARY "hipBLAS"
#define MARGAY_STATUS 7  // HIPBLAS_STATUS_NOT_SUPPORTED
#include "substitutes/refuse.h"

MARGAY_REFUSE(hipblasCgeqrfBatched)
MARGAY_REFUSE(hipblasCgetrfBatched)
MARGAY_REFUSE(hipblasCreate)
MARGAY_REFUSE(hipblasCsyrk)
MARGAY_REFUSE(hipblasDgeqrfBatched)
MARGAY_REFUSE(hipblasDgetrfBatched)
MARGAY_REFUSE(hipblasDsyrk)
MARGAY_REFUSE(hipblasSetStream)
MARGAY_REFUSE(hipblasSgeqrfBatched)
MARGAY_REFUSE(hipblasSgetrfBatched)
MARGAY_REFUSE(hipblasSsyrk)
MARGAY_REFUSE(hipblasZgeqrfBatched)
MARGAY_REFUSE(hipblasZgetrfBatched)
MARGAY_REFUSE(hipblasZsyrk)
