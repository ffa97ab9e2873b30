// Some programs include the 8-bit float header without its folder.
#pragma once

#include <hip/hip_fp8.h>  // IWYU pragma: export
