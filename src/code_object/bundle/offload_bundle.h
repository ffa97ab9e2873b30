// Clang's containers for code objects of several targets.
//
// Format: clang, "Clang Offload Bundler", sections "Bundled Binary File Layout", "Target ID" and
// "Compression and Decompression"; the compressed header's three versions are laid out in the head
// comment of clang's CompressedOffloadBundle.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "code_object/elf/byte_reader.h"
#include "code_object/elf/target_id.h"

namespace margay::code_object {

inline constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
inline constexpr std::string_view kCompressedBundleMagic = "CCOB";
/// Clang knows some 60 AMD processors with up to 9 feature combinations each.
inline constexpr std::uint64_t kMaxBundleEntries = 1024;
inline constexpr std::uint64_t kMaxBundleIdChars = 1024;

/// One code object of a bundle.
struct BundleEntry {
  std::string_view id;  ///< E.g. "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-".
  Bytes image;
};

struct Bundle {
  std::vector<BundleEntry> entries;
  std::uint64_t size_bytes = 0;  ///< Up to the end of the last entry.
};

[[nodiscard]] bool is_bundle(Bytes bytes);
[[nodiscard]] bool is_compressed_bundle(Bytes bytes);

/// The uncompressed bundle at the start of `bytes`.
[[nodiscard]] Result<Bundle> read_bundle(Bytes bytes);

/// A compressed bundle's header.
struct CompressedHeader {
  std::uint16_t version = 0;
  std::uint16_t method = 0;
  std::uint64_t header_bytes = 0;
  std::uint64_t total_bytes =
      0;  ///< Including the header; 0 in version 1, which does not record it.
  std::uint64_t uncompressed_bytes = 0;
  std::uint64_t hash = 0;
};
[[nodiscard]] Result<CompressedHeader> read_compressed_header(Bytes bytes);

/// The uncompressed bundle inside; `bytes` begins with the header.
[[nodiscard]] Result<std::vector<std::byte>> decompress_bundle(const CompressedHeader& header,
                                                               Bytes bytes);

/// The target of an entry of HIP device code; an error for entries of other kinds.
[[nodiscard]] Result<TargetId> entry_target(std::string_view id);

}  // namespace margay::code_object
