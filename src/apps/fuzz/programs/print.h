// Programs as C++: one source, compiled for the device as kernels and for the host as functions.
#pragma once

#include <span>
#include <string>

#include "apps/fuzz/programs/program.h"

namespace margay::fuzz {

/// The preamble of every source: types, operations, and the differences between the two sides.
[[nodiscard]] std::string prelude();

/// One program, as the `number`-th of its source: helpers h<number>_<n> and the function k<number>.
[[nodiscard]] std::string print(const Program& program, std::size_t number);

/// A whole source: k0, k1 ...
[[nodiscard]] std::string print_all(std::span<const Program> programs);

/// Statements in the program, those of its helpers included.
[[nodiscard]] std::size_t count_statements(const Program& program);

/// Where the inputs of a scalar type begin, in bytes; for Type::f64 + 1, where they all end.
[[nodiscard]] constexpr unsigned input_offset(unsigned scalar_type) {
  unsigned offset = 0;
  // Widest first would save padding; in order of the types each begins at a multiple of its size.
  for (unsigned t = 0; t < scalar_type; ++t)
    offset += info(static_cast<Type>(t)).bits / 8 * kItems * kColumns;
  return offset;
}
inline constexpr unsigned kScalarTypes = static_cast<unsigned>(Type::f64) + 1;
inline constexpr unsigned kInputBytes = input_offset(kScalarTypes);

}  // namespace margay::fuzz
