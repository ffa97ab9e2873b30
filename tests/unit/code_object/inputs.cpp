// See inputs.h.
#include "inputs.h"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace margay::test {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Image input(std::string_view name) {
  const std::string text = read_file(std::string(MARGAY_INPUT_DIR "/").append(name));
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

CodeObject parsed(std::string_view name) {
  Result<CodeObject> object = CodeObject::parse(input(name));
  if (!object) ADD_FAILURE() << name << ": " << object.error().text();
  return std::move(object).value();
}

std::uint32_t line_of(std::string_view source, std::string_view text) {
  std::ifstream file(std::string(MARGAY_INPUT_SOURCE_DIR "/").append(source));
  std::string line;
  for (std::uint32_t number = 1; std::getline(file, line); ++number) {
    if (line.find(text) != std::string::npos) return number;
  }
  ADD_FAILURE() << source << " holds no " << text;
  return 0;
}

std::size_t find_text(const Image& image, std::string_view text, unsigned occurrence) {
  const std::string_view all(reinterpret_cast<const char*>(image.data()), image.size());
  std::size_t found = all.find(text);
  for (; occurrence > 0 && found != std::string_view::npos; --occurrence) {
    found = all.find(text, found + 1);
  }
  EXPECT_NE(found, std::string_view::npos) << text;
  return found;
}

}  // namespace margay::test
