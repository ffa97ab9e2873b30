// Which processor a code object is for, and which devices may run it.
//
// Format: LLVM, "User Guide for AMDGPU Backend", sections "Target ID" and "ELF Header" (e_flags).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "gpu/gpu.h"

namespace margay::code_object {

/// A target feature of a code object: `any` code runs with the feature on and off.
enum class Feature : std::uint8_t { any, off, on };

struct TargetId {
  std::string processor;  ///< E.g. "gfx942".
  Feature sramecc = Feature::any;
  Feature xnack = Feature::any;

  /// E.g. "gfx942:sramecc+:xnack-".
  [[nodiscard]] std::string text() const;
  /// True when code for this target runs on devices of `architecture`.
  [[nodiscard]] bool runs_on(const Architecture& architecture) const;
  /// True for the same processor, unless one has a feature on that the other has off.
  [[nodiscard]] bool agrees_with(const TargetId& other) const;
  /// How many features the target pins down: of two images that both run, the one with more of
  /// them was compiled more specifically for this device.
  [[nodiscard]] int specificity() const;
};

/// Decodes e_flags of a code object v4 or later.
[[nodiscard]] Result<TargetId> target_from_flags(std::uint32_t e_flags);

/// The target at the end of a triple: "gfx942:xnack-" in "amdgcn-amd-amdhsa--gfx942:xnack-",
/// "amdgpu9.42-amd-amdhsa-unknown-gfx942:xnack-" (LLVM 23) and
/// "amdgcn--amdhsa-amdgiz-gfx942:xnack-" (XLA). Empty if there is none.
[[nodiscard]] std::string_view target_in_triple(std::string_view triple);

/// Parses "gfx942:sramecc+:xnack-".
[[nodiscard]] Result<TargetId> target_from_text(std::string_view text);

/// The architecture whose devices run code for `target`; null if there is none.
[[nodiscard]] const Architecture* architecture_of(const TargetId& target);

/// The error for a valid code object for the targets in `found`.
[[nodiscard]] std::unexpected<Error> wrong_target(std::string_view found,
                                                  const Architecture& wanted);

}  // namespace margay::code_object
