// A macro of the compiler that HIP 5.2's headers use and clang 22 no longer defines. Source: LLVM
// 22, clang's AMDGPU target.
#pragma once

#ifndef __AMDGCN_WAVEFRONT_SIZE
#define __AMDGCN_WAVEFRONT_SIZE 64
#endif
