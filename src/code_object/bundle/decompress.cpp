// Decompression through LLVM's wrappers; see decompress.h.
#include "code_object/bundle/decompress.h"

#include <new>

#include <fmt/format.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Compression.h>
#include <llvm/Support/Error.h>

namespace margay::code_object {
namespace {

// The most a byte can expand to, which bounds the allocation that a false header can cause: zstd
// codes a 128 KiB block of one repeated byte in 4 bytes (RFC 8878, section 3.1.1.2); deflate
// reaches 1032.
constexpr std::uint64_t kMaxExpansion = 32768;
// Four times the largest fat binaries in the wild (a few hundred MiB).
constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 30;

}  // namespace

Result<std::vector<std::byte>> decompress(Compression method, Bytes compressed,
                                          std::uint64_t size) {
  if (size > kMaxBytes || size / kMaxExpansion > compressed.size()) {
    return fail(ErrorCode::invalid_image,
                fmt::format("{} compressed bytes claim to expand to {}.", compressed.size(), size));
  }
  namespace llvm_compression = llvm::compression;
  const bool is_zlib = method == Compression::zlib;
  if (const char* reason = llvm_compression::getReasonIfUnsupported(
          is_zlib ? llvm_compression::Format::Zlib : llvm_compression::Format::Zstd)) {
    return fail(ErrorCode::not_implemented,
                fmt::format("This build cannot decompress: {}.", reason));
  }
  std::vector<std::byte> out;
  try {
    out.resize(size);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory,
                fmt::format("There is no memory for {} decompressed bytes.", size));
  }
  const llvm::ArrayRef input(reinterpret_cast<const std::uint8_t*>(compressed.data()),
                             compressed.size());
  auto* output = reinterpret_cast<std::uint8_t*>(out.data());
  std::size_t written = size;
  llvm::Error error = is_zlib ? llvm_compression::zlib::decompress(input, output, written)
                              : llvm_compression::zstd::decompress(input, output, written);
  if (error) {
    return fail(ErrorCode::invalid_image,
                "The compressed data is corrupted: " + llvm::toString(std::move(error)) + ".");
  }
  if (written != size) {
    return fail(ErrorCode::invalid_image,
                fmt::format("The compressed data holds {} bytes instead of {}.", written, size));
  }
  return out;
}

}  // namespace margay::code_object
