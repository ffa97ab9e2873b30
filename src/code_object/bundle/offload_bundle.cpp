// Bundle layouts; see offload_bundle.h.
#include "code_object/bundle/offload_bundle.h"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/Support/MD5.h>

#include "code_object/bundle/decompress.h"

namespace margay::code_object {
namespace {

std::unexpected<Error> invalid(std::string what) {
  return fail(ErrorCode::invalid_image, std::move(what), {}, "Rebuild the program.");
}

}  // namespace

bool is_bundle(Bytes bytes) { return as_text(bytes).starts_with(kBundleMagic); }
bool is_compressed_bundle(Bytes bytes) {
  return as_text(bytes).starts_with(kCompressedBundleMagic);
}

Result<Bundle> read_bundle(Bytes bytes) {
  Bundle bundle;
  ByteReader reader(bytes);
  reader.skip(kBundleMagic.size());
  const auto count = reader.read<std::uint64_t>();
  if (count > kMaxBundleEntries) {
    return invalid(fmt::format("The offload bundle claims to have {} entries.", count));
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto offset = reader.read<std::uint64_t>();
    const auto size = reader.read<std::uint64_t>();
    const auto id_chars = reader.read<std::uint64_t>();
    if (reader.ok() && id_chars > kMaxBundleIdChars) {
      return invalid(
          fmt::format("The offload bundle has an entry name of {} characters.", id_chars));
    }
    const std::string_view id = as_text(reader.take(id_chars));
    if (!reader.ok()) return invalid("The offload bundle is truncated within its table.");
    if (offset > bytes.size() || size > bytes.size() - offset) {
      return invalid(
          fmt::format("Entry {} of the offload bundle (offset {}, {} bytes) goes past the "
                      "{} bytes there are: the bundle is truncated or corrupted.",
                      id, offset, size, bytes.size()));
    }
    bundle.entries.push_back({.id = id, .image = bytes.subspan(offset, size)});
    bundle.size_bytes = std::max(bundle.size_bytes, offset + size);
  }
  bundle.size_bytes = std::max(bundle.size_bytes, reader.offset());
  return bundle;
}

Result<CompressedHeader> read_compressed_header(Bytes bytes) {
  CompressedHeader header;
  ByteReader reader(bytes);
  reader.skip(kCompressedBundleMagic.size());
  header.version = reader.read<std::uint16_t>();
  header.method = reader.read<std::uint16_t>();
  switch (header.version) {
    case 1:
      header.uncompressed_bytes = reader.read<std::uint32_t>();
      break;
    case 2:
      header.total_bytes = reader.read<std::uint32_t>();
      header.uncompressed_bytes = reader.read<std::uint32_t>();
      break;
    case 3:
      header.total_bytes = reader.read<std::uint64_t>();
      header.uncompressed_bytes = reader.read<std::uint64_t>();
      break;
    default:
      return fail(ErrorCode::not_implemented,
                  fmt::format("The compressed offload bundle has version {}; Margay reads 1 to 3.",
                              header.version),
                  {}, "Build without --offload-compress.");
  }
  header.hash = reader.read<std::uint64_t>();
  header.header_bytes = reader.offset();
  if (!reader.ok()) return invalid("The compressed offload bundle is truncated within its header.");
  if (header.version > 1 && header.total_bytes < header.header_bytes) {
    return invalid(
        fmt::format("The compressed offload bundle claims to have {} bytes, less than its "
                    "header.",
                    header.total_bytes));
  }
  return header;
}

Result<std::vector<std::byte>> decompress_bundle(const CompressedHeader& header, Bytes bytes) {
  if (header.total_bytes > bytes.size()) {
    return invalid(
        fmt::format("The compressed offload bundle has {} bytes, of which {} are present: it "
                    "is truncated.",
                    header.total_bytes, bytes.size()));
  }
  if (header.method > 1) {
    return fail(
        ErrorCode::not_implemented,
        fmt::format("The compressed offload bundle uses compression method {}; Margay knows 0 "
                    "(zlib) and 1 (zstd).",
                    header.method),
        {}, "Build without --offload-compress.");
  }
  const std::uint64_t last = header.total_bytes != 0 ? header.total_bytes : bytes.size();
  std::vector<std::byte> out = MARGAY_TRY(
      decompress(header.method == 0 ? Compression::zlib : Compression::zstd,
                 bytes.first(last).subspan(header.header_bytes), header.uncompressed_bytes));
  llvm::MD5 hash;
  hash.update(llvm::StringRef(reinterpret_cast<const char*>(out.data()), out.size()));
  if (hash.final().low() != header.hash) {
    return invalid("The compressed offload bundle is corrupted: its hash does not match.");
  }
  return out;
}

Result<TargetId> entry_target(std::string_view id) {
  // <kind>-<triple>-<target id>. The triple's environment is empty in bundles up to LLVM 19 and may
  // be spelled out in later ones.
  for (const std::string_view kind : {"hip-amdg", "hipv4-amdg"}) {
    if (!id.starts_with(kind) || id.find("-amdhsa-") == std::string_view::npos) continue;
    if (const std::string_view target = target_in_triple(id); !target.empty())
      return target_from_text(target);
  }
  return fail(ErrorCode::wrong_architecture,
              fmt::format("Bundle entry {} is not HIP code for an AMD GPU.", id));
}

}  // namespace margay::code_object
