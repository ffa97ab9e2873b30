// Allocating and freeing device memory for the other files that do: pools and graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/base/errors.h"
#include "runtime/memory/memory_pool.h"

namespace margay::runtime {

/// Device memory from a pool, on its device. `label` names it in faults.
[[nodiscard]] Outcome allocate_from_pool(void** out, std::size_t bytes,
                                         std::shared_ptr<ihipMemPoolHandle_t> pool,
                                         const char* label);

/// What hipFree does.
[[nodiscard]] Outcome free_device(void* pointer);

/// Memory that is gone has no advice (memory_advice.cpp).
void forget_advice(std::uint64_t address, std::uint64_t bytes);

}  // namespace margay::runtime
