// Files that a user may name: every wrong one gives an error that names it.
#include "apps/asm/input.h"

#include <gmock/gmock.h>

#include "listing_image.h"

namespace margay::assembly {
namespace {

using testing::HasSubstr;

std::vector<char> image_bytes() {
  std::ifstream file(MARGAY_LISTING_IMAGE, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string written(const std::string& name, const std::vector<char>& bytes) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
  return path;
}

Error error_of(const std::string& file) {
  auto read = read_code_objects(file);
  EXPECT_FALSE(read) << file;
  return read ? Error{} : read.error();
}

TEST(Input, SourceFilesAreKnownByTheirSuffix) {
  for (const char* name : {"a.cpp", "b.hip", "c.cu", "d.cc", "e/f.cxx"}) {
    EXPECT_TRUE(is_source_file(name)) << name;
  }
  for (const char* name : {"a.hsaco", "a", "cpp", "a.so", "a.cpp.o", ".cpp"}) {
    EXPECT_FALSE(is_source_file(name)) << name;
  }
}

TEST(Input, AFileThatIsNotThere) {
  const Error error = error_of("no/such/file.hsaco");
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_EQ(error.what, "There is no file no/such/file.hsaco.");
  EXPECT_THAT(error.hint, HasSubstr(".hsaco"));
}

TEST(Input, ADirectoryAndADevice) {
  EXPECT_EQ(error_of("/tmp").what, "/tmp is not a file.");
  EXPECT_EQ(error_of("/dev/zero").what, "/dev/zero is not a file.");
}

TEST(Input, AnEmptyFile) {
  const std::string path = written("empty.hsaco", {});
  const Error error = error_of(path);
  EXPECT_EQ(error.code, ErrorCode::invalid_image);
  EXPECT_EQ(error.what, "The file is empty.");
  EXPECT_EQ(error.where, path);
}

TEST(Input, WhatIsNoCodeObject) {
  const std::string path = written("text.hsaco", {'h', 'e', 'l', 'l', 'o'});
  const Error error = error_of(path);
  EXPECT_THAT(error.what, HasSubstr("not a code object"));
  EXPECT_EQ(error.where, path);
  EXPECT_FALSE(error.hint.empty());
}

TEST(Input, AnotherArchitecture) {
  std::vector<char> image = image_bytes();
  image[48] = 0x3f;  // e_flags of an ELF-64 header: gfx90a
  const Error error = error_of(written("gfx90a.hsaco", image));
  EXPECT_EQ(error.code, ErrorCode::wrong_architecture);
  EXPECT_THAT(error.what, HasSubstr("gfx90a"));
  EXPECT_THAT(error.hint, HasSubstr("--offload-arch=gfx942"));
  EXPECT_THAT(error.where, HasSubstr("gfx90a.hsaco"));
}

TEST(Input, ATruncatedFileAtAnyLength) {
  const std::vector<char> image = image_bytes();
  // The section headers at the end are not needed to run; all before them is.
  for (std::size_t size = 1; size < image.size() / 2; size += 97) {
    const std::vector<char> part(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(size));
    const Error error = error_of(written("part.hsaco", part));
    EXPECT_FALSE(error.what.empty()) << size;
    EXPECT_THAT(error.where, HasSubstr("part.hsaco")) << size;
  }
}

TEST(Input, ASourceFileThatIsNotThereIsNotCompiled) {
  const auto compiled = compile_code_object("/bin/false", "no-such.cpp", {});
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().what, "There is no file no-such.cpp.");
}

TEST(Input, ACompilerThatFails) {
  const auto compiled = compile_code_object("/bin/false", MARGAY_LISTING_SOURCE, {});
  ASSERT_FALSE(compiled);
  EXPECT_THAT(compiled.error().what, HasSubstr("does not compile for gfx942 (exit code 1)"));
  EXPECT_THAT(compiled.error().hint, HasSubstr("after --"));
}

}  // namespace
}  // namespace margay::assembly
