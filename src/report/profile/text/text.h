// A profile as people read it in a terminal: one screen per kernel, or all there is.
#pragma once

#include <string>

#include "report/profile/profile.h"
#include "report/words.h"

namespace margay::profile {

struct TextStyle {
  report::TextOptions options;
  /// Also every metric with its formula, every counter, every line and every instruction.
  bool full = false;
};

[[nodiscard]] std::string text_of(const KernelProfile& kernel, const Profile& profile,
                                  const TextStyle& style);

/// All kernels, the ones with the highest bounds first; without `full` only the first few in detail
/// and the others as a list.
[[nodiscard]] std::string text_of(const Profile& profile, const TextStyle& style);

}  // namespace margay::profile
