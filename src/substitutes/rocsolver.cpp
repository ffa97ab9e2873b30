// rocSOLVER. Source of the names: its public headers, ROCm 7.
#define MARGAY_LIBRARY "rocSOLVER"
#define MARGAY_STATUS 2  // rocblas_status_not_implemented
#include "substitutes/refuse.h"

MARGAY_REFUSE(rocsolver_cgesdd)
MARGAY_REFUSE(rocsolver_dgesdd)
MARGAY_REFUSE(rocsolver_sgesdd)
MARGAY_REFUSE(rocsolver_zgesdd)
