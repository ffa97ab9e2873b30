// The metadata note: the compiler's description of each kernel, in MessagePack.
//
// Format: LLVM, "User Guide for AMDGPU Backend", "Code Object V3/V4/V5 Metadata".
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "code_object/elf/byte_reader.h"
#include "code_object/elf/kernel.h"
#include "gpu/architecture.h"

namespace margay::code_object {

struct Metadata {
  std::string target;  ///< amdhsa.target; empty when the note has none.
  std::uint64_t version_major = 0;
  std::uint64_t version_minor = 0;
  /// Named by `.symbol` without ".kd"; everything except descriptor and addresses is filled in.
  std::vector<Kernel> kernels;
};

[[nodiscard]] Result<Metadata> read_metadata(Bytes note, const Architecture& architecture);

}  // namespace margay::code_object
