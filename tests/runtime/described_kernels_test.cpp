// What a program says of the kernels that it is about to load.
#include "runtime/module/described_kernels.h"

#include <gtest/gtest.h>

#include <string>

namespace margay::runtime {
namespace {

constexpr const char* kText = R"({"kernels": [{
  "name": "sort_4", "title": "jit_f/sort_4", "variant": "jit_f#1", "inputs": 2,
  "buffers": [
    {"name": "x", "element": "f32", "element_bytes": 4, "shape": [1, 1, 8, 16]},
    {"name": "y", "element": "s32", "element_bytes": 4, "shape": [1, 1, 1, 16]},
    {"name": "result", "element": "f32", "element_bytes": 4, "shape": [1, 1, 8, 16]}],
  "computes": [{"function": "jit(f)/sort", "file": "/src/model.py", "line": 7, "column": 0}]}]})";

Kernel kernel(std::string name, std::size_t pointers) {
  Kernel out;
  out.name = std::move(name);
  for (std::size_t n = 0; n < pointers; ++n)
    out.arguments.emplace_back().kind = ArgumentKind::global_buffer;
  return out;
}

TEST(DescribedKernels, names_the_kernel_and_its_buffers) {
  DescribedKernels known;
  ASSERT_TRUE(known.set(kText));
  const auto described = known.described(kernel("sort_4", 3));
  ASSERT_TRUE(described.has_value());
  EXPECT_EQ(described->title, "jit_f/sort_4");
  EXPECT_EQ(described->variant, "jit_f#1");
  EXPECT_EQ(described->computes.at(0).file, "/src/model.py");
  EXPECT_EQ(described->arguments[1].name, "y");
  EXPECT_EQ(described->arguments[1].type_name, "s32");
  EXPECT_EQ(described->arguments[2].shape, (std::array<std::uint64_t, 4>{1, 1, 8, 16}));
}

TEST(DescribedKernels, leaves_other_kernels_alone) {
  DescribedKernels known;
  EXPECT_FALSE(known.described(kernel("sort_4", 3)));
  ASSERT_TRUE(known.set(kText));
  EXPECT_FALSE(known.described(kernel("sort_5", 3)));
  EXPECT_FALSE(known.described(kernel("sort_4x", 3)));
  ASSERT_TRUE(known.set({}));
  EXPECT_FALSE(known.described(kernel("sort_4", 3)));
}

TEST(DescribedKernels, takes_a_number_behind_the_name_for_a_part_of_the_operation) {
  DescribedKernels known;
  ASSERT_TRUE(known.set(kText));
  for (const std::string name : {"sort_4_1", "sort_4__12", "sort_4_1_2"}) {
    const auto described = known.described(kernel(name, 3));
    ASSERT_TRUE(described.has_value()) << name;
    EXPECT_EQ(described->title, "jit_f/" + name);
  }
}

TEST(DescribedKernels, names_no_buffer_of_which_it_is_not_sure) {
  DescribedKernels known;
  ASSERT_TRUE(known.set(kText));
  // One output is written over an input: which, is not said.
  const auto in_place = known.described(kernel("sort_4", 2));
  EXPECT_EQ(in_place->arguments[1].name, "y");
  const auto fewer = known.described(kernel("sort_4", 1));
  EXPECT_EQ(fewer->arguments[0].name, "");
  const auto more = known.described(kernel("sort_4", 4));
  EXPECT_EQ(more->arguments[2].name, "result");
  EXPECT_EQ(more->arguments[3].name, "");
}

TEST(DescribedKernels, refuses_what_is_malformed_and_keeps_what_it_had) {
  DescribedKernels known;
  ASSERT_TRUE(known.set(kText));
  for (std::string text : {std::string("{"), std::string("{}"), std::string("[1]"),
                           std::string(R"({"kernels": [{"name": 1}]})")}) {
    const Status status = known.set(text);
    EXPECT_FALSE(status) << text;
  }
  std::string three = kText;
  three.replace(three.find("[1, 1, 8, 16]"), 13, "[1, 8, 16]");
  EXPECT_FALSE(known.set(three));
  EXPECT_TRUE(known.described(kernel("sort_4", 3)));
}

}  // namespace
}  // namespace margay::runtime
