// libmargay_kernels: what it lists is in the code objects, what it plans fits them, and what it
// refuses it refuses in words.
#include "include/margay/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "code_object/code_object.h"

extern "C" std::size_t margay_test_size_of_launch_in_c(void);

namespace margay {
namespace {

using testing::HasSubstr;

std::span<const margay_kernels_kernel> listed() {
  std::size_t count = 0;
  const margay_kernels_kernel* const first = margay_kernels_list(&count);
  return {first, count};
}

std::span<const margay_kernels_level> levels() {
  std::size_t count = 0;
  const margay_kernels_level* const first = margay_kernels_levels(&count);
  return {first, count};
}

Result<CodeObject> code_object(const std::string& name) {
  std::ifstream file(std::filesystem::path(MARGAY_KERNEL_FOLDER) / name, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return CodeObject::parse(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

/// "" and the launch, or the refusal.
std::string plan(const char* operation, const std::string& problem, margay_kernels_launch& launch) {
  const char* const refusal = margay_kernels_plan(operation, problem.c_str(), &launch);
  return refusal == nullptr ? "" : refusal;
}
std::string refusal(const char* operation, const std::string& problem) {
  margay_kernels_launch launch;
  return plan(operation, problem, launch);
}
std::string checked(const char* operation, const std::string& problem) {
  const char* const refusal = margay_kernels_check(operation, problem.c_str());
  return refusal == nullptr ? "" : refusal;
}

/// "kernel x y z block", or "nothing".
std::string launched(const char* operation, const std::string& problem) {
  margay_kernels_launch launch;
  EXPECT_EQ(plan(operation, problem, launch), "");
  if (launch.code_object == nullptr) return "nothing";
  std::string text = launch.kernel;
  for (const unsigned number : launch.grid) text += " " + std::to_string(number);
  EXPECT_EQ(launch.block[1] * launch.block[2], 1u);
  EXPECT_EQ(launch.dynamic_lds, 0u);
  return text + " " + std::to_string(launch.block[0]);
}

TEST(KernelList, IsWhatTheCodeObjectsHold) {
  std::map<std::string, std::set<std::string>> names;
  for (const margay_kernels_kernel& kernel : listed())
    EXPECT_TRUE(names[kernel.code_object].insert(kernel.kernel).second) << kernel.kernel;
  std::size_t count = 0;
  for (const auto& [file, wanted] : names) {
    const auto object = code_object(file);
    ASSERT_TRUE(object.has_value()) << file << ": " << object.error().what;
    std::set<std::string> held;
    for (const Kernel& kernel : object->kernels()) held.insert(kernel.name);
    EXPECT_EQ(held, wanted) << file;
    count += held.size();
  }
  EXPECT_EQ(count, listed().size());
  EXPECT_EQ(names.size(), 6u);
}

TEST(KernelList, HasTheBlocksAndParametersOfTheCodeObjects) {
  for (const margay_kernels_kernel& each : listed()) {
    const auto object = code_object(each.code_object);
    ASSERT_TRUE(object.has_value()) << object.error().what;
    const Kernel* const kernel = object->find_kernel(each.kernel);
    ASSERT_NE(kernel, nullptr) << each.kernel;
    EXPECT_EQ(kernel->max_workgroup_size, each.block_x) << each.kernel;
    std::size_t end = 0;  // of the explicit arguments
    for (const KernelArgument& argument : kernel->arguments)
      if (!argument.kind_text.starts_with("hidden"))
        end = std::max<std::size_t>(end, argument.offset_bytes + argument.size_bytes);
    EXPECT_EQ((end + 7) / 8 * 8, each.arguments_size) << each.kernel;
  }
}

TEST(KernelPlan, ChoosesKernelsAndGrids) {
  const std::string gemm = "a=4096 b=8192 c=16384 m=257 n=256 k=64 lda=64 ldb=64 ldc=256";
  EXPECT_EQ(launched("gemm", gemm), "gemm_bf16_nt_f32 2 1 1 512");
  EXPECT_EQ(launched("gemm", gemm + " output=bf16"), "gemm_bf16_nt_bf16 2 1 1 512");
  EXPECT_EQ(launched("gemm", gemm + " transpose_b=0 ldb=257"),
            "gemm_bf16_nn_f32_unaligned 2 1 1 512");
  EXPECT_EQ(launched("gemm", gemm + " m=0"), "nothing");
  EXPECT_EQ(launched("gemm", gemm + " level=13"), "gemm_bf16_nt_f32 2 1 1 512");
  EXPECT_EQ(launched("gemm", gemm + " m=512 level=4"), "gemm_level04 2 4 1 256");
  EXPECT_EQ(launched("gemm", gemm + " m=512 level=11"), "gemm_level11 2 1 1 512");

  const std::string attention =
      "q=4096 k=8192 v=16384 o=32768 batch=2 heads=6 kv_heads=3 q_len=129 kv_len=5 dim=64";
  EXPECT_EQ(launched("attention", attention), "attention_bf16_d64 24 1 1 256");
  EXPECT_EQ(launched("attention", attention + " dim=128 causal=1"),
            "attention_bf16_d128_causal 24 1 1 256");
  EXPECT_EQ(launched("attention", attention + " q_len=0"), "nothing");

  EXPECT_EQ(launched("softmax", "x=4 y=8 rows=5 cols=1024"), "softmax_f32_1024 2 1 1 256");
  EXPECT_EQ(launched("softmax", "x=2 y=6 rows=5 cols=1025 type=bf16"),
            "softmax_bf16_4096 5 1 1 256");
  EXPECT_EQ(launched("softmax", "x=4 y=8 rows=5 cols=4097"), "softmax_f32_long 5 1 1 512");
  EXPECT_EQ(launched("layernorm", "x=4 y=8 rows=5 cols=1024"), "layernorm_bf16_1024 5 1 1 64");
  EXPECT_EQ(launched("layernorm", "x=4 y=8 rows=5 cols=4097"), "layernorm_bf16_8192 5 1 1 512");
  EXPECT_EQ(launched("rotary",
                     "x=16 cos=32 sin=64 y=16 batch=3 heads=9 length=65 dim=128 "
                     "table_rows=65"),
            "rotary_bf16_d128 2 2 3 256");
}

TEST(KernelPlan, EachTensorOfAttentionHasItsLayout) {
  const std::string problem =
      "q=4096 k=8192 v=16384 o=32768 batch=2 heads=6 kv_heads=3 q_len=9 kv_len=5 dim=64";
  const auto depths = [&](const std::string& layouts) {
    margay_kernels_launch launch;
    EXPECT_EQ(plan("attention", problem + layouts, launch), "");
    std::vector<int> found(4);
    for (std::size_t i = 0; i < 4; ++i)
      std::memcpy(&found[i], launch.arguments + 24 * i + 4, sizeof(int));
    return found;
  };
  EXPECT_EQ(depths(""), std::vector({1, 1, 1, 1}));
  EXPECT_EQ(depths(" layout=batch_heads_sequence"), std::vector({6, 3, 3, 6}));
  EXPECT_EQ(depths(" layout_k=batch_heads_sequence layout_o=batch_heads_sequence"),
            std::vector({1, 3, 1, 6}));
}

TEST(KernelPlan, ArgumentsAreThoseOfTheProblem) {
  margay_kernels_launch launch;
  ASSERT_EQ(
      plan("gemm", "a=4096 b=8192 c=16384 m=3 n=5 k=7 lda=8 ldb=9 ldc=10 alpha=0.1 beta=-2e-3",
           launch),
      "");
  struct Arguments {
    const void *a, *b, *c;
    std::int32_t m, n, k;
    std::int64_t lda, ldb, ldc;
    float alpha, beta;
  } values;
  ASSERT_EQ(launch.arguments_size, sizeof values);
  std::memcpy(&values, launch.arguments, sizeof values);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.c), 16384u);
  EXPECT_EQ((std::vector{values.m, values.n, values.k}), (std::vector{3, 5, 7}));
  EXPECT_EQ((std::vector{values.lda, values.ldb, values.ldc}),
            (std::vector<std::int64_t>{8, 9, 10}));
  EXPECT_EQ(values.alpha, 0.1f);
  EXPECT_EQ(values.beta, -2e-3f);
}

TEST(KernelPlan, RefusesInWords) {
  EXPECT_EQ(refusal("softmax", "rows=2 cols=2"), "x or y is a null pointer");
  EXPECT_EQ(refusal("layernorm", "x=4 y=8 rows=2 cols=2 eps=-1"),
            "eps: must not be negative, got -1");
  EXPECT_EQ(refusal("gemm", "level=14"), "level: expected 1 to 13, got 14");
  EXPECT_EQ(refusal("gemm", "level=2 m=128 n=128 k=64 transpose_b=0 alpha=2"),
            "level 2 makes float32 results, without alpha and beta; level 13 has them");
  EXPECT_EQ(refusal("gemm", "level=3 m=128 n=128 k=64 transpose_b=0"),
            "level 3 computes A B^T only");
  EXPECT_EQ(refusal("gemm", "level=3 a=16 b=16 c=16 m=128 n=128 k=64 lda=64 ldb=72 ldc=128"),
            "b: level 3 needs it without gaps and on 16 bytes");
  // Of a thread's texts the last is valid.
  const char* const first = margay_kernels_check("softmax", "rows=-1");
  EXPECT_STREQ(first, "rows and columns must not be negative");
}

TEST(KernelCheck, LooksAtNumbersAlone) {
  EXPECT_EQ(checked("softmax", "rows=2 cols=2"), "");
  EXPECT_EQ(checked("softmax", "rows=67108861 cols=1"),
            "x: its 67108861 rows are too many for one launch");
  EXPECT_EQ(checked("gemm", "m=3 n=4 k=5"), "");
  EXPECT_EQ(checked("gemm", "level=9 m=256 n=100 k=64"),
            "level 9 needs n in multiples of 256, up to 1048576; n is 100");
}

TEST(KernelCheck, NumbersDoNotOverflow) {
  const std::string most = "9223372036854775807", least = "-9223372036854775808";
  EXPECT_EQ(checked("attention", "batch=1 q_len=1 kv_heads=1 dim=64 heads=" + most),
            "heads times dim must not exceed 8388608");
  const std::string rotary = "batch=1 heads=1 length=3 dim=64 ";
  EXPECT_EQ(checked("rotary", rotary + "table_rows=" + least),
            "tables: cannot have " + least + " positions");
  EXPECT_EQ(checked("rotary", rotary + "table_rows=" + most + " position=" + most),
            "tables: cannot have " + most + " positions");
  EXPECT_EQ(checked("rotary", rotary + "table_rows=5 position=" + most),
            "tables: only 5 positions; x needs those from " + most + " on");
}

TEST(KernelPlan, ReadsOnlyWhatItKnows) {
  EXPECT_EQ(refusal("relu", ""),
            "no such operation: relu; there are gemm, attention, softmax, layernorm, rotary");
  EXPECT_EQ(refusal("softmax", "row=3"), "softmax has no field row; it has x, y, rows, cols, type");
  EXPECT_EQ(refusal("softmax", "rows"), "expected NAME=VALUE, got rows");
  for (const char* const word :
       {"rows=3x", "rows=", "rows=3.5", "rows=99999999999999999999", "x=-1", "type=f16", "type=1"})
    EXPECT_THAT(refusal("softmax", word), HasSubstr(": cannot be ")) << word;
  EXPECT_THAT(refusal("gemm", "transpose_b=2"), HasSubstr("transpose_b: cannot be 2"));
  EXPECT_THAT(refusal("gemm", "alpha=1,5"), HasSubstr("alpha: cannot be 1,5"));
}

TEST(KernelPlan, HasTheSameStructureInC) {
  EXPECT_EQ(margay_test_size_of_launch_in_c(), sizeof(margay_kernels_launch));
}

TEST(KernelLevels, AreTheLadderAndTheFastKernel) {
  ASSERT_EQ(levels().size(), 13u);
  for (std::size_t i = 0; i < levels().size(); ++i) {
    const margay_kernels_level& level = levels()[i];
    EXPECT_EQ(level.number, static_cast<int>(i) + 1);
    const std::string problem = "a=4096 b=8192 c=16384 m=256 n=256 k=64 lda=64 ldc=256 level=" +
                                std::to_string(level.number);
    EXPECT_EQ(refusal("gemm", problem + " ldb=64").empty(), level.multiplies_abt != 0)
        << level.name;
    EXPECT_EQ(refusal("gemm", problem + " ldb=256 transpose_b=0").empty(), level.multiplies_ab != 0)
        << level.name;
  }
  EXPECT_STREQ(levels().back().name, "fast");
}

}  // namespace
}  // namespace margay
