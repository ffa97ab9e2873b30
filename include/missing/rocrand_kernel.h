// rocrand_kernel.h without its folder, as some programs include it.
#pragma once

#include <rocrand/rocrand_kernel.h>  // IWYU pragma: export
