// hiprand_kernel.h without its folder, as some programs include it.
#pragma once

#include <hiprand/hiprand_kernel.h>  // IWYU pragma: export
