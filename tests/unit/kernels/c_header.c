/* margay/kernels.h is C, and C lays its structures out as C++ does. */
#include "include/margay/kernels.h"

size_t margay_test_size_of_launch_in_c(void);
size_t margay_test_size_of_launch_in_c(void) { return sizeof(margay_kernels_launch); }
