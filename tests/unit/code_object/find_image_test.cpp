// Bundles, compressed bundles and host programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Compression.h>
#include <llvm/Support/MD5.h>

#include <algorithm>
#include <random>

#include "code_object/bundle/bundle_size.h"
#include "code_object/bundle/find_image.h"
#include "code_object/code_object.h"
#include "code_object/elf/target_id.h"
#include "gpu/gfx942/gfx942.h"
#include "inputs.h"

namespace margay {
namespace {

using test::Image;
using testing::HasSubstr;

std::string target_in(const Image& bytes) {
  const auto image = find_image(bytes, kGfx942);
  if (!image) return image.error().what;
  const auto object = CodeObject::parse(*image);
  return object ? object->target() : object.error().what;
}

TEST(FindImage, TakesAPlainCodeObjectAsItIs) {
  const Image sound = test::input("v5.hsaco");
  EXPECT_EQ(find_image(sound, kGfx942).value(), sound);
  EXPECT_EQ(find_image(test::input("gfx90a.hsaco"), kGfx942).error().code,
            ErrorCode::wrong_architecture);
}

TEST(FindImage, ChoosesThisDevicesEntry) {
  EXPECT_EQ(target_in(test::input("several.bundle")), "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-");
  EXPECT_EQ(target_in(test::input("compressed.bundle")), "amdgcn-amd-amdhsa--gfx942");
}

TEST(FindImage, NamesTheTargetsThatAreThere) {
  const auto image = find_image(test::input("foreign.bundle"), kGfx942);
  ASSERT_FALSE(image.has_value());
  EXPECT_EQ(image.error().code, ErrorCode::wrong_architecture);
  EXPECT_THAT(image.error().what, HasSubstr("gfx90a"));
  EXPECT_THAT(image.error().what, HasSubstr("gfx1100"));
}

TEST(FindImage, ReadsHostPrograms) {
  const Image library = test::input("host.so");
  const auto first = find_image(library, kGfx942);
  ASSERT_TRUE(first.has_value()) << first.error().text();
  const auto all = find_images(library, kGfx942);
  ASSERT_TRUE(all.has_value()) << all.error().text();
  ASSERT_EQ(all->size(), 2u) << "one per translation unit";
  EXPECT_EQ(all->front(), *first);
  EXPECT_NE(CodeObject::parse(all->at(0))->find_kernel("saxpy"), nullptr);
  EXPECT_NE(CodeObject::parse(all->at(1))->find_kernel("second_kernel"), nullptr);

  const auto none = find_image(test::input("host_only.so"), kGfx942);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
}

TEST(FindImage, RefusesOtherBytes) {
  EXPECT_FALSE(find_image({}, kGfx942).has_value());
  EXPECT_EQ(find_image(Image(5000, std::byte{'x'}), kGfx942).error().code,
            ErrorCode::invalid_image);
  EXPECT_FALSE(find_image(Image(5000), kGfx942).has_value());
  Image trailing = test::input("several.bundle");
  trailing.resize(trailing.size() + 10, std::byte{'x'});
  EXPECT_TRUE(find_image(trailing, kGfx942).has_value()) << "the first one is complete";
  EXPECT_FALSE(find_images(trailing, kGfx942).has_value());
}

/// An uncompressed bundle of named contents, laid out as clang's documentation says.
Image make_bundle(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string table = "__CLANG_OFFLOAD_BUNDLE__";
  std::string contents;
  const auto put64 = [&](std::uint64_t value) {
    table.append(reinterpret_cast<const char*>(&value), 8);
  };
  std::size_t table_bytes = table.size() + 8;
  for (const auto& entry : entries) table_bytes += 24 + entry.first.size();
  put64(entries.size());
  for (const auto& [id, text] : entries) {
    put64(table_bytes + contents.size());
    put64(text.size());
    put64(id.size());
    table += id;
    contents += text;
  }
  table += contents;
  const auto* bytes = reinterpret_cast<const std::byte*>(table.data());
  return {bytes, bytes + table.size()};
}

std::string text_of(const Result<Image>& image) {
  if (!image) return image.error().what;
  return {reinterpret_cast<const char*>(image->data()), image->size()};
}

TEST(FindImage, MatchesTargetFeatures) {
  const std::string triple = "hipv4-amdgcn-amd-amdhsa--gfx942";
  const auto chosen = [&](std::vector<std::pair<std::string, std::string>> entries) {
    return text_of(find_image(make_bundle(entries), kGfx942));
  };
  const std::pair<std::string, std::string> host{"host-x86_64-unknown-linux-gnu-", ""};
  EXPECT_EQ(chosen({host, {triple, "any"}}), "any");
  EXPECT_EQ(chosen({host, {triple + ":xnack+", "on"}, {triple + ":xnack-", "off"}}), "off");
  EXPECT_EQ(chosen({{triple, "any"}, {triple + ":sramecc+:xnack-", "both"}}), "both");
  EXPECT_EQ(chosen({{triple + ":sramecc+:xnack-", "both"}, {triple, "any"}}), "both");
  EXPECT_EQ(chosen({{"hip-amdgcn-amd-amdhsa--gfx942", "v3"}}), "v3");
  EXPECT_EQ(chosen({{"hip-amdgcn-amd-amdhsa-unknown-gfx942:xnack-", "new"}}), "new");
  EXPECT_THAT(chosen({host, {triple + ":xnack+", "on"}}), HasSubstr("is for gfx942:xnack+;"));
  EXPECT_THAT(chosen({{triple + ":sramecc-", "off"}}), HasSubstr("gfx942:sramecc-"));
  EXPECT_THAT(chosen({{"openmp-amdgcn-amd-amdhsa--gfx942", "omp"}}), HasSubstr("openmp"));
  EXPECT_THAT(chosen({{triple + ":", ""}, {triple + ":y+", ""}, {"hip-amdgcn-amd-amdhsa-", ""}}),
              HasSubstr("gfx942:y+"));
  EXPECT_THAT(chosen({host}), HasSubstr("no GPU at all"));
}

/// Wraps `contents` as each version of the compressed header does.
Image compress(const Image& contents, unsigned version, llvm::compression::Format method) {
  const llvm::ArrayRef input(reinterpret_cast<const std::uint8_t*>(contents.data()),
                             contents.size());
  llvm::SmallVector<std::uint8_t> compressed;
  llvm::compression::compress(llvm::compression::Params(method), input, compressed);
  Image out;
  const auto append = [&](const auto& value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof(value));
  };
  for (const char c : {'C', 'C', 'O', 'B'}) append(c);
  append(static_cast<std::uint16_t>(version));
  append(static_cast<std::uint16_t>(method == llvm::compression::Format::Zlib ? 0 : 1));
  const std::uint64_t header_bytes = version == 1 ? 20 : version == 2 ? 24 : 32;
  const std::uint64_t total = header_bytes + compressed.size();
  const std::uint64_t size = contents.size();
  if (version == 2) append(static_cast<std::uint32_t>(total));
  if (version == 3) append(total);
  if (version == 3)
    append(size);
  else
    append(static_cast<std::uint32_t>(size));
  append(llvm::MD5Hash(
      llvm::StringRef(reinterpret_cast<const char*>(contents.data()), contents.size())));
  for (const std::uint8_t byte : compressed) out.push_back(std::byte{byte});
  return out;
}

TEST(FindImage, DecompressesEveryVersionAndMethod) {
  const Image bundle = test::input("several.bundle");
  const auto expected = find_image(bundle, kGfx942).value();
  for (unsigned version = 1; version <= 3; ++version) {
    for (const auto method : {llvm::compression::Format::Zlib, llvm::compression::Format::Zstd}) {
      const Image packed = compress(bundle, version, method);
      const auto found = find_image(packed, kGfx942);
      ASSERT_TRUE(found.has_value()) << found.error().text();
      EXPECT_EQ(*found, expected) << version;
      if (version > 1)
        EXPECT_EQ(bundle_size(packed).value(), packed.size());
      else
        EXPECT_EQ(bundle_size(packed).error().code, ErrorCode::not_implemented);
    }
  }
}

TEST(FindImage, RefusesDamagedCompressedBundles) {
  const Image sound = compress(test::input("several.bundle"), 2, llvm::compression::Format::Zstd);
  const auto why = [&](std::size_t offset, auto value) {
    Image image = sound;
    test::put(image, offset, value);
    return text_of(find_image(image, kGfx942));
  };
  EXPECT_THAT(why(4, std::uint16_t{4}), HasSubstr("version 4"));
  EXPECT_THAT(why(6, std::uint16_t{2}), HasSubstr("method 2"));
  EXPECT_THAT(why(8, std::uint32_t{0xffffffff}), HasSubstr("truncated"));
  EXPECT_THAT(why(8, std::uint32_t{4}), HasSubstr("less than its header"));
  EXPECT_THAT(why(12, std::uint32_t{0xffffffff}), HasSubstr("claim to expand"));
  EXPECT_THAT(why(12, std::uint32_t{100}), HasSubstr("corrupted"));
  EXPECT_THAT(why(12, test::get<std::uint32_t>(sound, 12) + 1), HasSubstr("instead of"));
  EXPECT_THAT(why(16, std::uint64_t{0}), HasSubstr("its hash does not match"));
  EXPECT_THAT(why(40, std::uint64_t{0}), HasSubstr("corrupted"));
}

TEST(FindImage, RefusesDamagedBundles) {
  const Image sound = test::input("several.bundle");
  const auto why = [&](std::size_t offset, auto value) {
    Image image = sound;
    test::put(image, offset, value);
    return text_of(find_image(image, kGfx942));
  };
  // Magic (24 bytes), number of entries, then offset, size and name length of the first.
  EXPECT_THAT(why(24, std::uint64_t{5000}), HasSubstr("5000 entries"));
  EXPECT_THAT(why(24, std::uint64_t{1000}), HasSubstr("bundle"));
  EXPECT_THAT(why(32, std::uint64_t{1} << 63), HasSubstr("goes past"));
  EXPECT_THAT(why(40, std::uint64_t{1} << 40), HasSubstr("goes past"));
  EXPECT_THAT(why(48, std::uint64_t{1} << 40), HasSubstr("entry name"));
}

TEST(BundleSize, MeasuresWhatItPointsTo) {
  for (const char* name :
       {"several.bundle", "foreign.bundle", "compressed.bundle", "v5.hsaco", "plain.hsaco"}) {
    Image image = test::input(name);
    const std::size_t size = image.size();
    image.resize(size + 100, std::byte{0x5a});
    EXPECT_EQ(bundle_size(image).value(), size) << name;
  }
}

TEST(BundleSize, RefusesOtherBytes) {
  EXPECT_FALSE(bundle_size({}).has_value());
  EXPECT_FALSE(bundle_size(Image(1)).has_value()) << "reads no more than the first byte";
  Image absurd = test::input("several.bundle");
  test::put(absurd, 40, std::uint64_t{1} << 60);
  EXPECT_FALSE(bundle_size(absurd).has_value());
  Image entries = test::input("several.bundle");
  test::put(entries, 24, std::uint64_t{1} << 60);
  EXPECT_FALSE(bundle_size(entries).has_value());
  const std::vector<std::pair<std::string, std::string>> many(2000, {"host-", ""});
  EXPECT_FALSE(bundle_size(make_bundle(many)).has_value());
  EXPECT_FALSE(bundle_size(make_bundle({{std::string(2000, 'h'), ""}})).has_value());
  Image sections = test::input("v5.hsaco");
  test::put(sections, 40, std::uint64_t{1} << 60);
  EXPECT_FALSE(bundle_size(sections).has_value());
}

/// For any headers, the size is within the existing bytes. (AddressSanitizer checks the reads.)
TEST(BundleSize, StaysInsideTheBytes) {
  std::mt19937 random(7);
  for (const char* name : {"several.bundle", "compressed.bundle", "v5.hsaco"}) {
    const Image sound = test::input(name);
    const std::size_t sections =
        name == std::string_view("v5.hsaco") ? test::get<std::uint64_t>(sound, 40) : 24;
    for (int n = 0; n < 700; ++n) {
      Image image = sound;
      const std::size_t begin = random() % 2 == 0 ? 8 : sections;
      const std::size_t end = std::min(begin + 200, image.size());
      for (int damages = 0; damages <= n % 4; ++damages)
        image[begin + random() % (end - begin)] = static_cast<std::byte>(random());
      if (n % 5 == 0) {
        image.resize(random() % image.size());
        image.shrink_to_fit();
      }
      if (const auto size = bundle_size(image)) EXPECT_LE(*size, image.size()) << name << n;
    }
  }
}

TEST(TargetId, ParsesFeatures) {
  const auto target = code_object::target_from_text("gfx90a:sramecc-:xnack+");
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ(target->text(), "gfx90a:sramecc-:xnack+");
  EXPECT_FALSE(target->runs_on(kGfx942));
  EXPECT_FALSE(code_object::target_from_text("").has_value());
  EXPECT_FALSE(code_object::target_from_text("gfx942:").has_value());
  EXPECT_FALSE(code_object::target_from_text("gfx942:xnack").has_value());
  EXPECT_FALSE(code_object::target_from_text("gfx942:cumode+").has_value());
}

}  // namespace
}  // namespace margay
