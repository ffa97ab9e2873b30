// `margay asm --json`: the same facts for programs.
#pragma once

#include <string>

#include "apps/asm/listing.h"
#include "apps/asm/text.h"

namespace margay::assembly {

struct KernelReport {
  KernelPlace place;
  const Listing* listing = nullptr;  ///< Null: without instructions.
};

/// {"file", "kernels": [{"name", "symbol", "target", ..., "occupancy", "arguments",
/// "instructions"}]}
[[nodiscard]] std::string json_text(const std::string& file, std::span<const KernelReport> kernels);

}  // namespace margay::assembly
