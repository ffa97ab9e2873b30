// Grouped GEMM against a reference in double: ragged groups, empty ones, and rows without a group.
#include "grouped_gemm/grouped_gemm.h"

#include <numeric>
#include <random>

#include "device_test.h"

namespace {

using namespace kittens;
using namespace tile_test;
using margay_grouped_gemm::Globals;
using margay_grouped_gemm::launch;

constexpr int kGuardRows = 3;
constexpr float kUntouched = -77;

void check_groups(const std::vector<int>& sizes, int n, int k) {
  const int groups = static_cast<int>(sizes.size());
  std::vector<int> offsets(groups + 1, 0);
  std::partial_sum(sizes.begin(), sizes.end(), offsets.begin() + 1);
  const int rows = offsets.back();

  std::mt19937 random(rows * 7919 + n * 31 + k);
  std::uniform_int_distribution<int> small(-4, 4);
  const auto values = [&](size_t count) {
    std::vector<bf16> list(count);
    for (bf16& value : list) value = as<bf16>(static_cast<float>(small(random)) / 8);
    return list;
  };
  const auto x = values(static_cast<size_t>(rows) * k);
  const auto w = values(static_cast<size_t>(groups) * n * k);
  Buffer<bf16> x_data(x), w_data(w);
  Buffer<bf16> y_data(
      std::vector<bf16>(static_cast<size_t>(rows + kGuardRows) * n, as<bf16>(kUntouched)));
  Buffer<int> offsets_data(offsets);

  const Globals globals{{x_data.get(), nullptr, nullptr, rows, k},
                        {w_data.get(), nullptr, groups, n, k},
                        {y_data.get(), nullptr, nullptr, rows, n},
                        offsets_data.get()};
  ASSERT_EQ(launch(globals), hipSuccess);
  const auto y = y_data.read();

  for (int group = 0; group < groups; ++group) {
    for (int row = offsets[group]; row < offsets[group + 1]; ++row) {
      for (int col = 0; col < n; ++col) {
        double sum = 0;
        for (int i = 0; i < k; ++i) {
          sum += static_cast<double>(as_float(x[static_cast<size_t>(row) * k + i])) *
                 as_float(w[(static_cast<size_t>(group) * n + col) * k + i]);
        }
        // The products are multiples of 1/64 and the sums below 2^18 of them: exact in float.
        ASSERT_EQ(as_float(y[static_cast<size_t>(row) * n + col]),
                  as_float(as<bf16>(static_cast<float>(sum))))
            << "group " << group << ", row " << row << ", column " << col;
      }
    }
  }
  for (size_t i = static_cast<size_t>(rows) * n; i < y.size(); ++i) {
    ASSERT_EQ(as_float(y[i]), kUntouched) << "behind the last row, element " << i;
  }
}

TEST(GroupedGemm, WholeBlocks) { check_groups({128, 256}, 128, 64); }
TEST(GroupedGemm, AnyRaggedGroups) { check_groups({1, 0, 130, 17, 0, 63}, 136, 72); }
TEST(GroupedGemm, AnyGroupMayBeAlone) {
  check_groups({5}, 8, 8);
  check_groups({0, 0, 3}, 130, 200);
}
TEST(GroupedGemm, ManySmallGroups) {
  std::vector<int> sizes(40);
  for (int i = 0; i < 40; ++i) sizes[i] = i * 7 % 23;
  check_groups(sizes, 64, 128);
}
TEST(GroupedGemm, RefusesShapesThatDoNotFit) {
  Buffer<bf16> data(64 * 64);
  Buffer<int> offsets(std::vector<int>{0, 64});
  bf16* const p = data.get();
  const auto status = [&](int x_cols, int w_cols, int y_cols) {
    return launch({{p, nullptr, nullptr, 64, x_cols},
                   {p, nullptr, 1, 64, w_cols},
                   {p, nullptr, nullptr, 64, y_cols},
                   offsets.get()});
  };
  EXPECT_EQ(status(64, 32, 64), hipErrorInvalidValue);
  EXPECT_EQ(status(12, 12, 64), hipErrorInvalidValue);
  EXPECT_EQ(status(64, 64, 32), hipErrorInvalidValue);
  EXPECT_EQ(status(64, 64, 64), hipSuccess);
}

}  // namespace
