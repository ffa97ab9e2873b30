// The element, tile and tensor reported for an address.
#include "observe/check/global/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "report/check/statement_text.h"

namespace margay::check {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SourceFrame library(std::string function) {
  return {.function = std::move(function), .file = "include/kittens/ops/x.cuh", .line = 1};
}

constexpr const char* kMatrix = "kittens::gl<__hip_bfloat16, 1, 1, -1, 512>";

TileOperation tiles_of(std::uint64_t rows, std::uint64_t columns) {
  return {.tensor_type = kMatrix, .rows = rows, .columns = columns, .counts_tiles = true};
}

TensorArgument matrix(std::string name, std::uint64_t begin,
                      std::array<std::uint64_t, 4> shape = {1, 1, 128, 512}) {
  TensorArgument tensor{};
  tensor.declared = true;
  tensor.name = std::move(name);
  tensor.type = kMatrix;
  tensor.element = "bf16";
  tensor.element_bytes = 2;
  tensor.shape = shape;
  tensor.range = {begin, begin + 2 * shape[0] * shape[1] * shape[2] * shape[3]};
  return tensor;
}

/// Lane n accesses at(n); all are active.
LaneAccess access_at(const std::function<std::uint64_t(unsigned)>& at) {
  LaneAccess access{};
  access.active = ~0ull;
  access.bytes = 16;
  for (unsigned lane = 0; lane < 64; ++lane) access.at[lane] = at(lane);
  return access;
}
/// Sixteen lanes to a row of 128 columns from (row, column) on, as a shared tile is loaded.
LaneAccess four_rows(std::uint64_t begin, std::uint64_t row, std::uint64_t column) {
  return access_at([=](unsigned lane) {
    return begin + ((row + lane / 16) * 512 + column + lane % 16 * 8) * 2;
  });
}

std::vector<std::string> words(const Missed& missed) {
  std::vector<std::string> lines;
  for (const Statement& line : missed.lines) lines.push_back(in_words(line));
  return lines;
}

TEST(TileOperation, IsTheInnermostThatNamesATile) {
  const auto operation = tile_operation(std::vector{
      library("void kittens::detail::global_store<16, 4, unsigned int>(void*, unsigned int)"),
      library("void kittens::store<2, kittens::rt<float, 16, 32, kittens::ducks::rt_layout::row>, "
              "kittens::gl<float, -1, -1, 7, 8>, kittens::coord<kittens::rt<float, 16, 32, "
              "kittens::ducks::rt_layout::row>>>(kittens::gl<float, -1, -1, 7, 8> const&)"),
      library("void kittens::load<kittens::st<float, 64, 64>, kittens::gl<float, 1, 1, 1, 1>>()")});
  ASSERT_TRUE(operation);
  EXPECT_EQ(operation->tensor_type, "kittens::gl<float, -1, -1, 7, 8>");
  EXPECT_EQ(operation->rows, 16u);
  EXPECT_EQ(operation->columns, 32u);
  EXPECT_TRUE(operation->counts_tiles);
}

TEST(TileOperation, OfAViewIsAsLargeAsTheView) {
  const auto operation = tile_operation(std::vector{
      library("void kittens::store<kittens::st_subtile<kittens::st<float, 64, 128>, 16, 32>, "
              "kittens::gl<float, 1, 1, 1, 1>>()")});
  ASSERT_TRUE(operation);
  EXPECT_EQ(operation->rows, 16u);
  EXPECT_EQ(operation->columns, 32u);
}

TEST(TileOperation, OfAVectorHasNoRows) {
  const auto operation = tile_operation(std::vector{library(
      "void kittens::load<kittens::sv<__half, 64ul>, kittens::gl<__half, 1, 1, 1, -1>>()")});
  ASSERT_TRUE(operation);
  EXPECT_EQ(operation->rows, 0u);
  EXPECT_EQ(operation->columns, 64u);
}

TEST(TileOperation, MayCountElements) {
  const auto operation = tile_operation(std::vector{
      library("x kittens::detail::chunk_map<kittens::st<float, 16, 16>, 64>::load_global<"
              "kittens::detail::global_tile<2, kittens::gl<float, 1, 1, 1, 1>>>()"),
      library(
          "void kittens::load<2, false, kittens::st<float, 16, 16>, kittens::gl<float, 1, 1, 1, "
          "1>, kittens::coord<kittens::ducks::default_type>, 64>()")});
  ASSERT_TRUE(operation);
  EXPECT_FALSE(operation->counts_tiles);
}

TEST(TileOperation, IsNotGuessed) {
  EXPECT_FALSE(tile_operation({}));
  // Rows along the depth.
  EXPECT_FALSE(
      tile_operation(std::vector{library("void kittens::load<1, false, kittens::st<float, 16, 16>, "
                                         "kittens::gl<float, 1, 1, 1, 1>>()")}));
  // A user's function.
  SourceFrame user =
      library("void f<kittens::st<float, 16, 16>, kittens::gl<float, 1, 1, 1, 1>>()");
  user.file = "kernel.hip";
  EXPECT_FALSE(tile_operation(std::vector{user}));
  // Names that do not end, or hold no numbers.
  for (const char* name : {"kittens::st<float, 16, 16, kittens::gl<float, 1",
                           "f<kittens::st<T, rows, 4>, kittens::gl<float, 1, 1, 1, 1>>",
                           "f<kittens::rv<float, 0>, kittens::gl<float, 1, 1, 1, 1>>"})
    EXPECT_FALSE(tile_operation(std::vector{library(name)})) << name;
}

TEST(DescribeMissed, CountsRowsPastTheLast) {
  const std::vector tensors = {matrix("g.a", 0x100000)};
  const Missed missed =
      describe_missed(tensors, tiles_of(64, 128), four_rows(0x100000, 136, 128), ~0ull);
  EXPECT_THAT(
      words(missed),
      ElementsAre("row 136, column 128 of g.a (bf16, 1 x 1 x 128 x 512): 9 rows past its last row",
                  "tile (0, 0, 2, 1) of 64 x 128; g.a has 1 x 1 x 2 x 4 of them"));
  EXPECT_EQ(missed.fix, Fix::coordinate_unit);
  EXPECT_THAT(missed.fix_arguments, ElementsAre("tile", "64 x 128"));
}

TEST(DescribeMissed, TellsAColumnThatRunsOn) {
  // Tile (0, 0, 1, 7): its rows 124 to 127, columns 896 to 1023, are one row further down.
  const std::vector tensors = {matrix("g.a", 0x100000)};
  const LaneAccess access = four_rows(0x100000, 125, 384);
  const Missed missed = describe_missed(tensors, tiles_of(64, 128), access, 0xffffull << 48);
  EXPECT_THAT(
      words(missed),
      ElementsAre("row 128, column 384 of g.a (bf16, 1 x 1 x 128 x 512): 1 row past its last row",
                  "tile (0, 0, 1, 7) of 64 x 128; g.a has 1 x 1 x 2 x 4 of them",
                  "its column is past the last, 3, and runs on into the next rows"));
  EXPECT_EQ(missed.fix, Fix::column_unit);
  EXPECT_THAT(missed.fix_arguments, ElementsAre("tile", "128"));
}

TEST(DescribeMissed, TakesTheTensorThatEndsNearestBelow) {
  TensorArgument raw{};
  raw.name = "x";
  raw.range = {0x140000, 0x140010};
  const std::vector tensors = {matrix("g.a", 0x100000), matrix("g.b", 0x180000), raw};
  const auto at = [&](std::uint64_t address, const std::optional<TileOperation>& operation) {
    const auto lines =
        words(describe_missed(tensors, operation, access_at([=](unsigned) { return address; }), 1));
    return lines.empty() ? "" : lines.front();
  };
  EXPECT_THAT(at(0x120400, {}), HasSubstr("of g.a "));
  EXPECT_THAT(at(0x140008, {}), "byte 8 of x");
  EXPECT_THAT(at(0x140012, {}), "byte 18 of x, 2 bytes past its end");
  EXPECT_THAT(at(0x140012, tiles_of(16, 16)), HasSubstr("of g.a "));  // the operation knows better
  EXPECT_THAT(at(0x1a0000, {}), HasSubstr("of g.b "));
  EXPECT_THAT(at(0xffff0, {}), "16 bytes before the start of g.a (bf16, 1 x 1 x 128 x 512)");
  EXPECT_THAT(describe_missed({}, {}, access_at([](unsigned) { return 1; }), 1).lines, IsEmpty());
}

TEST(DescribeMissed, SaysNothingOfANullPointer) {
  TensorArgument plain;
  plain.name = "p";
  plain.range = {0x100000, 0x101000};
  const std::vector tensors = {plain};
  for (const std::uint64_t address : {0, 4, 4095})
    EXPECT_THAT(describe_missed(tensors, {}, access_at([=](unsigned) { return address; }), 1).lines,
                IsEmpty());
  EXPECT_THAT(describe_missed(tensors, {}, access_at([](unsigned) { return 4096u; }), 1).lines,
              Not(IsEmpty()));
}

TEST(DescribeMissed, NamesBatchAndDepth) {
  const std::vector tensors = {matrix("g", 0, {2, 3, 128, 512})};
  const std::uint64_t address = ((4 * 128 + 5) * 512 + 6) * 2;
  const auto missed = describe_missed(
      tensors, TileOperation{.tensor_type = kMatrix, .rows = 0, .columns = 4, .counts_tiles = true},
      access_at([=](unsigned) { return address; }), 1);
  EXPECT_THAT(words(missed),
              ElementsAre("batch 1, depth 1, row 5, column 6 of g (bf16, 2 x 3 x 128 x 512)",
                          "vector (1, 1, 5, 1) of 4 elements; g has 2 x 3 x 128 x 128 of them"));
}

TEST(DescribeMissed, CountsElementsWhereTheCoordinateDoes) {
  const std::vector tensors = {matrix("g.a", 0)};
  TileOperation operation = tiles_of(16, 16);
  operation.counts_tiles = false;
  const auto missed =
      describe_missed(tensors, operation, access_at([](unsigned) { return 128u * 512 * 2; }), 1);
  EXPECT_THAT(in_words(missed.lines.back()),
              "in a tile of 16 x 16, whose coordinate counts elements");
}

}  // namespace
}  // namespace margay::check
