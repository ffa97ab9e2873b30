// What every other header of the tile library is based on.
#pragma once

#include "allocator.cuh"
#include "base_ops.cuh"
#include "base_types.cuh"
#include "buffer.cuh"
#include "chiplet.cuh"
#include "config.cuh"
#include "low_level.cuh"
#include "memory.cuh"
#include "op_names.cuh"
#include "shuffle.cuh"
