// The operations that the library plans: what kernels/NAME/plan.h says, behind one form for all.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "../../include/margay/kernels.h"

namespace margay_kernels {

struct Operation {
  const char* name;
  const char* code_object;
  /// Refuses, or fills `launch`; null: the problem's numbers are checked alone.
  std::string (*plan)(const Operation& self, std::string_view problem,
                      margay_kernels_launch* launch);
};

[[nodiscard]] std::span<const Operation> operations();
[[nodiscard]] std::span<const margay_kernels_kernel> kernels();
[[nodiscard]] std::span<const margay_kernels_level> levels();

}  // namespace margay_kernels
