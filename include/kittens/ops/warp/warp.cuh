// All operations of one warp.
#pragma once

#include "memory/tile/direct_to_shared.cuh"
#include "memory/tile/global_to_register.cuh"
#include "memory/tile/global_to_shared.cuh"
#include "memory/tile/register_buffer.cuh"
#include "memory/tile/shared_to_register.cuh"
#include "memory/vec/global_to_register.cuh"
#include "memory/vec/global_to_shared.cuh"
#include "memory/vec/shared_to_register.cuh"
#include "mma/mma.cuh"
#include "register/tile/conversions.cuh"
#include "register/tile/maps.cuh"
#include "register/tile/masks.cuh"
#include "register/tile/reductions.cuh"
#include "register/vec/maps.cuh"
#include "register/vec/reductions.cuh"
#include "shared.cuh"
