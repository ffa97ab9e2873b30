// Some programs include the half header without its folder.
#pragma once

#include <hip/hip_fp16.h>  // IWYU pragma: export
