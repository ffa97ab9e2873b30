// `margay asm` as text: tables of resources and arguments, and the listing with its source lines.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/asm/listing.h"
#include "apps/asm/resources.h"
#include "apps/asm/source_text.h"

namespace margay::assembly {

/// A kernel and the code object it is in.
struct KernelPlace {
  const CodeObject* object = nullptr;
  const Kernel* kernel = nullptr;
};

struct TextOptions {
  bool colour = false;
  bool source = true;  ///< Interleave source lines.
};

/// One line per kernel.
[[nodiscard]] std::string overview_text(std::span<const KernelPlace> kernels,
                                        const TextOptions& options);
/// Name, resources, occupancy and arguments of one kernel.
[[nodiscard]] std::string kernel_text(const KernelPlace& place, const TextOptions& options);
/// The instructions of a function.
[[nodiscard]] std::string listing_text(const Listing& listing, SourceText& sources,
                                       const TextOptions& options);

}  // namespace margay::assembly
