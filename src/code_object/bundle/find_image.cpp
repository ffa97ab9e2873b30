// The images of bundles, host programs and plain code objects; see find_image.h.
#include "code_object/bundle/find_image.h"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>

#include "code_object/bundle/offload_bundle.h"
#include "code_object/elf/elf_image.h"

namespace margay {
namespace {

using namespace code_object;

// Clang puts fat binaries here (clang, "HIP Support", and CodeGen's section names).
constexpr std::string_view kFatBinarySection = ".hip_fatbin";
// Images of one file together; a few compressed bytes could otherwise exhaust the memory.
constexpr std::uint64_t kMaxImageBytes = std::uint64_t{4} << 30;

std::vector<std::byte> copy(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

/// The most specific entry for this device.
Result<std::vector<std::byte>> choose(const Bundle& bundle, const Architecture& architecture) {
  const BundleEntry* best = nullptr;
  int best_specificity = -1;
  std::string found;
  for (const BundleEntry& entry : bundle.entries) {
    const auto target = entry_target(entry.id);
    if (target && target->runs_on(architecture) && target->specificity() > best_specificity) {
      best = &entry;
      best_specificity = target->specificity();
    }
    // The host's entry always exists and is always empty.
    if (entry.id.starts_with("host-")) continue;
    if (!found.empty()) found += ", ";
    found += target ? target->text() : std::string(entry.id);
  }
  if (best == nullptr) return wrong_target(found.empty() ? "no GPU at all" : found, architecture);
  return copy(best->image);
}

/// The code object of the bundle at the start of `bytes`, and how many bytes the bundle takes.
struct Found {
  Result<std::vector<std::byte>> image;
  std::uint64_t size_bytes = 0;
};

Result<Found> read_one(Bytes bytes, const Architecture& architecture) {
  if (is_compressed_bundle(bytes)) {
    const CompressedHeader header = MARGAY_TRY(read_compressed_header(bytes));
    const auto contents = MARGAY_TRY(decompress_bundle(header, bytes));
    if (!is_bundle(contents)) {
      return fail(ErrorCode::invalid_image, "The compressed offload bundle holds no bundle.");
    }
    const Bundle bundle = MARGAY_TRY(read_bundle(contents));
    // Version 1 has no size of its own: it takes all of the given bytes.
    return Found{.image = choose(bundle, architecture),
                 .size_bytes = header.total_bytes != 0 ? header.total_bytes : bytes.size()};
  }
  if (is_bundle(bytes)) {
    const Bundle bundle = MARGAY_TRY(read_bundle(bytes));
    return Found{.image = choose(bundle, architecture), .size_bytes = bundle.size_bytes};
  }
  return fail(ErrorCode::invalid_image,
              "This is not a code object: neither an ELF file nor an "
              "offload bundle.",
              {}, "Give a .hsaco file, an offload bundle, or a program with HIP kernels in it.");
}

/// Each translation unit of a program leaves one bundle in the section, padded to its alignment.
/// Stops when there are `wanted` images.
Result<std::vector<std::vector<std::byte>>> read_bundles(Bytes bytes,
                                                         const Architecture& architecture,
                                                         std::size_t wanted) {
  std::vector<std::vector<std::byte>> images;
  std::uint64_t image_bytes = 0;
  Result<std::vector<std::byte>> missing = {};
  while (images.size() < wanted) {
    const auto start = std::ranges::find_if(bytes, [](std::byte b) { return b != std::byte{0}; });
    bytes = bytes.subspan(static_cast<std::size_t>(start - bytes.begin()));
    if (bytes.empty()) break;
    Found found = MARGAY_TRY(read_one(bytes, architecture));
    if (found.image) {
      image_bytes += found.image->size();
      if (image_bytes > kMaxImageBytes) {
        return fail(
            ErrorCode::invalid_image,
            fmt::format("The fat binary holds more than 4 GiB for {}.", architecture.processor));
      }
      images.push_back(std::move(*found.image));
    } else {
      missing = std::move(found.image);
    }
    bytes = bytes.subspan(found.size_bytes);
  }
  if (!images.empty()) return images;
  if (!missing) return std::unexpected(std::move(missing).error());
  return fail(ErrorCode::not_found, "The fat binary is empty.");
}

bool is_host_program(Bytes bytes) {
  if (!is_elf(bytes)) return false;
  ByteReader reader(bytes, 18);  // e_machine
  const auto machine = reader.read<std::uint16_t>();
  return reader.ok() && machine != llvm::ELF::EM_AMDGPU;
}

Result<std::vector<std::vector<std::byte>>> find_images(Bytes bytes,
                                                        const Architecture& architecture,
                                                        std::size_t wanted) {
  if (is_host_program(bytes)) {
    const Bytes section = MARGAY_TRY(find_elf_section(bytes, kFatBinarySection));
    if (section.empty()) {
      return fail(ErrorCode::not_found,
                  "The host program holds no HIP kernels (it has no section "
                  ".hip_fatbin).",
                  {}, "Give a program built from HIP sources with device code.");
    }
    return read_bundles(section, architecture, wanted);
  }
  if (is_elf(bytes)) {
    const ElfIdentity identity = MARGAY_TRY(identify_elf(bytes));
    if (identity.architecture != &architecture) return wrong_target(identity.target, architecture);
    std::vector<std::vector<std::byte>> images;
    images.push_back(copy(bytes));
    return images;
  }
  return read_bundles(bytes, architecture, wanted);
}

}  // namespace

Result<std::vector<std::vector<std::byte>>> find_images(std::span<const std::byte> bytes,
                                                        const Architecture& architecture) {
  return find_images(bytes, architecture, ~std::size_t{0});
}

Result<std::vector<std::byte>> find_image(std::span<const std::byte> bytes,
                                          const Architecture& architecture) {
  return std::move(MARGAY_TRY(find_images(bytes, architecture, 1)).front());
}

}  // namespace margay
