// Copies and fills that graphs do, checked as those of the calls are.
#pragma once

#include <cstddef>

#include "runtime/base/errors.h"

namespace margay::runtime {

[[nodiscard]] Outcome copy_bytes(void* to, const void* from, std::size_t bytes);
[[nodiscard]] Outcome copy_box(const hipMemcpy3DParms& parameters);
[[nodiscard]] Outcome fill_elements(const hipMemsetParams& parameters);
/// Where byte `offset` of a device variable is; refused unless `bytes` fit behind it.
[[nodiscard]] Answer<std::byte*> in_symbol(const void* symbol, std::size_t bytes,
                                           std::size_t offset);

}  // namespace margay::runtime
