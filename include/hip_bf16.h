// Some programs include the bfloat16 header without its folder.
#pragma once

#include <hip/hip_bf16.h>  // IWYU pragma: export
