// The grammar's expressions: each rule is a piece of C++ with holes for its operands.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/fuzz/programs/types.h"

namespace margay::fuzz {

struct Rule {
  std::string text;  ///< {0}, {1} ... are the operands.
  Type result = Type::u32;
  std::vector<Type> arguments;
  unsigned weight = 1;  ///< Its weight among the rules with the same result.
};

[[nodiscard]] const std::vector<Rule>& rules();

/// A rule that results in `type`, by weight.
[[nodiscard]] std::uint32_t random_rule(Type type, Random& random);

}  // namespace margay::fuzz
