// HIP 6.0 renumbered an enumeration that the library returns through a function whose name did not
// change. The numbering a caller uses follows from the library version it was linked to.
#pragma once

#include <cstdint>

namespace margay::runtime {

enum class HipAbi : std::uint8_t { hip5, hip6 };

/// The ABI of the program or library that holds the code at `return_address`: hip6 when its dynamic
/// section needs libamdhip64.so.6 or .7, else hip5 (what Margay's own compiler driver links to).
[[nodiscard]] HipAbi abi_of_caller(const void* return_address);

/// The same decision for the name of one needed library.
[[nodiscard]] HipAbi abi_of_library(const char* needed_name);

}  // namespace margay::runtime
