// Register rows that instructions have in common.
#pragma once

#include <cstdint>

namespace margay {

/// Whether `a_rows` rows from `a` on and `b_rows` from `b` on have some in common.
[[nodiscard]] constexpr bool rows_meet(std::int32_t a, int a_rows, std::int32_t b, int b_rows) {
  return a < b + b_rows && b < a + a_rows;
}

}  // namespace margay
