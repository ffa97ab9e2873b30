// The cursor that all untrusted bytes go through.
#include "code_object/elf/byte_reader.h"

#include <array>

#include <gtest/gtest.h>

namespace margay::code_object {
namespace {

template <typename... Values>
std::array<std::byte, sizeof...(Values)> bytes(Values... values) {
  return {std::byte(values)...};
}

TEST(ByteReader, ReadsLittleEndianIntegers) {
  const auto data = bytes(1, 2, 3, 4, 5, 6, 7, 0xff);
  ByteReader reader(data);
  EXPECT_EQ(reader.read<std::uint16_t>(), 0x0201);
  EXPECT_EQ(reader.read_uint(3), 0x050403u);
  EXPECT_EQ(reader.offset(), 5u);
  EXPECT_EQ(reader.remaining(), 3u);
  EXPECT_TRUE(reader.ok());
}

TEST(ByteReader, FailsForGoodPastTheEnd) {
  const auto data = bytes(1, 2, 3);
  ByteReader reader(data);
  EXPECT_EQ(reader.read<std::uint32_t>(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.read<std::uint8_t>(), 0u) << "a later, shorter read must not succeed";
  EXPECT_TRUE(reader.at_end());
}

TEST(ByteReader, RefusesToSeekOrSkipOutside) {
  const auto data = bytes(1, 2, 3);
  EXPECT_FALSE(ByteReader(data, 4).ok());
  EXPECT_TRUE(ByteReader(data, 3).ok());
  ByteReader reader(data, 1);
  reader.skip(~std::uint64_t{0});
  EXPECT_FALSE(reader.ok());
}

TEST(ByteReader, DecodesLeb128) {
  // The examples of DWARF 5, section 7.6, and the widest values.
  const auto data = bytes(0x80, 0x01, 0xff, 0x7e, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                          0xff, 0xff, 0x01, 0x80);
  ByteReader reader(data);
  EXPECT_EQ(reader.read_uleb(), 128u);
  EXPECT_EQ(reader.read_sleb(), -129);
  EXPECT_EQ(reader.read_sleb(), -1);
  EXPECT_EQ(reader.read_uleb(), ~std::uint64_t{0});
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.read_uleb(), 0u);
  EXPECT_FALSE(reader.ok()) << "the number does not end";
}

TEST(ByteReader, ReadsStringsThatEnd) {
  const auto data = bytes('a', 'b', 0, 'c');
  ByteReader reader(data);
  EXPECT_EQ(reader.read_c_string(), "ab");
  EXPECT_EQ(reader.offset(), 3u);
  EXPECT_EQ(reader.read_c_string(), "");
  EXPECT_FALSE(reader.ok());
}

TEST(Slice, NeverLeavesTheBytes) {
  const auto data = bytes(1, 2, 3);
  EXPECT_EQ(slice(data, 1, 2).size(), 2u);
  EXPECT_TRUE(slice(data, 1, 3).empty());
  EXPECT_TRUE(slice(data, 4, 0).empty());
  EXPECT_TRUE(slice(data, 2, ~std::uint64_t{0}).empty());
}

}  // namespace
}  // namespace margay::code_object
