// All operations.
#pragma once

#include "group/group.cuh"
#include "warp/warp.cuh"
