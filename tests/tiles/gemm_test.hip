// The GEMM kernels: every element of C against a sum in double, at shapes with and without edges;
// and what they fetch, and how.
//
// Inputs are small integers, so every product and sum is exact in float and the comparison is for
// equality. The bytes between the rows of A, B and C are NaN or a mark: a kernel that adds them to
// a sum, or writes to them, is detected. Reads past an allocation stop the virtual device.
#include <cmath>
#include <limits>

#include "gemm.h"
#include "profiled.h"

namespace {

using margay_gemm::Output;
using margay_gemm::Problem;
using tile_test::as;
using tile_test::as_float;
using tile_test::Buffer;

float a_value(int m, int k) { return static_cast<float>((m * 7 + k * 5) % 13 - 6); }
float b_value(int k, int n) { return static_cast<float>((k * 3 + n * 11) % 17 - 8); }
float c_value(int m, int n) { return static_cast<float>((m * 3 + n) % 19 - 9); }

struct Shape {
  int m, n, k;
  int pad_a = 0, pad_b = 0, pad_c = 0;  // elements between rows
  int shift = 0;                        // elements by which A and B are off their alignment
};

/// A row-major matrix of `value`, with `gap` in the padding and before the start.
template <typename T, typename F>
std::vector<T> padded(int rows, int cols, int pad, int shift, T gap, F&& value) {
  std::vector<T> result(shift + static_cast<size_t>(rows) * (cols + pad) - (rows > 0 ? pad : 0),
                        gap);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      result[shift + static_cast<size_t>(r) * (cols + pad) + c] = as<T>(value(r, c));
    }
  }
  return result;
}

template <typename Out>
void check(const Shape& s, bool transpose_b, float alpha, float beta, const char* kernel) {
  SCOPED_TRACE(std::string(transpose_b ? "nt " : "nn ") + std::to_string(s.m) + "x" +
               std::to_string(s.n) + "x" + std::to_string(s.k));
  using kittens::bf16;
  const auto nan = as<bf16>(std::numeric_limits<float>::quiet_NaN());
  const int b_rows = transpose_b ? s.n : s.k;
  const int b_cols = transpose_b ? s.k : s.n;
  const auto a = padded(s.m, s.k, s.pad_a, s.shift, nan, a_value);
  const auto b = padded(b_rows, b_cols, s.pad_b, s.shift, nan,
                        [&](int r, int c) { return transpose_b ? b_value(c, r) : b_value(r, c); });
  const auto mark = as<Out>(-77);
  auto c = padded(s.m, s.n, s.pad_c, 0, mark, c_value);
  if (beta == 0) {  // C must not be read
    for (int r = 0; r < s.m; ++r) {
      for (int col = 0; col < s.n; ++col) {
        c[static_cast<size_t>(r) * (s.n + s.pad_c) + col] =
            as<Out>(std::numeric_limits<float>::quiet_NaN());
      }
    }
  }
  Buffer<bf16> a_device(a), b_device(b);
  Buffer<Out> c_device(c);

  Problem problem;
  problem.a = a_device.get() + s.shift;
  problem.b = b_device.get() + s.shift;
  problem.c = c_device.get();
  problem.m = s.m;
  problem.n = s.n;
  problem.k = s.k;
  problem.lda = s.k + s.pad_a;
  problem.ldb = b_cols + s.pad_b;
  problem.ldc = s.n + s.pad_c;
  problem.transpose_b = transpose_b;
  problem.output = std::is_same_v<Out, float> ? Output::kFloat : Output::kBf16;
  problem.alpha = alpha;
  problem.beta = beta;
  ASSERT_STREQ(margay_gemm::plan(problem).kernel, kernel);
  ASSERT_EQ(margay_gemm::gemm_bf16(problem), hipSuccess);

  const auto result = c_device.read();
  for (int row = 0; row < s.m; ++row) {
    for (int col = 0; col < s.n + s.pad_c; ++col) {
      const size_t at = static_cast<size_t>(row) * (s.n + s.pad_c) + col;
      if (at >= result.size()) continue;  // no padding after the last row
      double want = -77;
      if (col < s.n) {
        want = 0;
        for (int k = 0; k < s.k; ++k) want += double{a_value(row, k)} * b_value(k, col);
        want = alpha * want + (beta == 0 ? 0 : beta * as_float(as<Out>(c_value(row, col))));
      }
      ASSERT_EQ(as_float(result[at]), as_float(as<Out>(static_cast<float>(want))))
          << "row " << row << ", column " << col;
    }
  }
}

TEST(Gemm, WholeBlocks) {
  check<float>({256, 256, 64}, true, 1, 0, "gemm_bf16_nt_f32");
  check<float>({256, 256, 64}, false, 1, 0, "gemm_bf16_nn_f32");
  check<float>({512, 256, 192}, true, 1, 0, "gemm_bf16_nt_f32");
  check<float>({256, 512, 192}, false, 1, 0, "gemm_bf16_nn_f32");
}
TEST(Gemm, AlphaAndBeta) {
  check<float>({256, 256, 128}, true, 0.5f, 2, "gemm_bf16_nt_f32");
  check<float>({256, 256, 128}, false, -2, 1, "gemm_bf16_nn_f32");
  check<float>({40, 24, 72}, true, 0, 3, "gemm_bf16_nt_f32");
}
TEST(Gemm, Bf16Output) {
  check<kittens::bf16>({256, 256, 64}, true, 1, 0, "gemm_bf16_nt_bf16");
  check<kittens::bf16>({256, 256, 64}, false, 0.25f, 2, "gemm_bf16_nn_bf16");
  check<kittens::bf16>({130, 264, 200}, true, 1, 1, "gemm_bf16_nt_bf16");
  check<kittens::bf16>({67, 131, 53}, false, 1, 1, "gemm_bf16_nn_bf16_unaligned");
  check<kittens::bf16>({67, 131, 53}, true, 1, 0, "gemm_bf16_nt_bf16_unaligned");
}
TEST(Gemm, EdgesInChunks) {
  check<float>({1, 8, 8}, true, 1, 0, "gemm_bf16_nt_f32");
  check<float>({1, 8, 8}, false, 1, 0, "gemm_bf16_nn_f32");
  check<float>({300, 264, 72}, true, 1, 0, "gemm_bf16_nt_f32");
  check<float>({300, 264, 72}, false, 1, 0, "gemm_bf16_nn_f32");
  check<float>({255, 520, 136}, true, 1, 1, "gemm_bf16_nt_f32");
  check<float>({255, 520, 136}, false, 1, 1, "gemm_bf16_nn_f32");
  // n need not be a multiple of 8 where B's rows run along k.
  check<float>({17, 29, 64}, true, 1, 0, "gemm_bf16_nt_f32");
}
TEST(Gemm, RowsFurtherApartThanTheyAreLong) {
  check<float>({70, 40, 72, 8, 16, 3}, true, 1, 1, "gemm_bf16_nt_f32");
  check<float>({70, 40, 72, 8, 16, 3}, false, 1, 1, "gemm_bf16_nn_f32");
  check<float>({256, 256, 64, 64, 8, 4}, true, 1, 0, "gemm_bf16_nt_f32");
  check<kittens::bf16>({256, 256, 64, 0, 0, 2}, true, 1, 1, "gemm_bf16_nt_bf16");
}
TEST(Gemm, AnyRowLengthAndAlignment) {
  check<float>({1, 1, 1}, true, 1, 0, "gemm_bf16_nt_f32_unaligned");
  check<float>({1, 1, 1}, false, 1, 0, "gemm_bf16_nn_f32_unaligned");
  check<float>({257, 259, 65}, true, 1, 0, "gemm_bf16_nt_f32_unaligned");
  check<float>({257, 259, 65}, false, 1, 0, "gemm_bf16_nn_f32_unaligned");
  check<float>({31, 300, 129, 1, 3, 5}, true, 2, 1, "gemm_bf16_nt_f32_unaligned");
  check<float>({31, 300, 129, 1, 3, 5}, false, 2, 1, "gemm_bf16_nn_f32_unaligned");
  check<float>({64, 64, 64, 0, 0, 0, 1}, true, 1, 0, "gemm_bf16_nt_f32_unaligned");
  check<float>({64, 64, 64, 0, 0, 0, 1}, false, 1, 0, "gemm_bf16_nn_f32_unaligned");
}
TEST(Gemm, NothingToSum) {
  check<float>({20, 24, 0}, true, 1, 0, "gemm_bf16_nt_f32");
  check<float>({20, 24, 0}, false, 1, 2, "gemm_bf16_nn_f32");
}
TEST(Gemm, ManyBlocksAreEachWrittenOnce) {
  // 5 x 3 blocks: an incomplete band, and fewer blocks than a round of the dies.
  check<float>({1100, 700, 16}, true, 1, 1, "gemm_bf16_nt_f32");
}

/// What a GEMM of whole blocks does, by counts that follow from its blocks of 256x256, its steps of
/// 64 along k, and its eight waves.
void check_cost(int m, int n, int k, bool transpose_b) {
  SCOPED_TRACE(std::string(transpose_b ? "nt " : "nn ") + std::to_string(m) + "x" +
               std::to_string(n) + "x" + std::to_string(k));
  Buffer<kittens::bf16> a(static_cast<size_t>(m) * k), b(static_cast<size_t>(n) * k);
  Buffer<float> c(static_cast<size_t>(m) * n);
  Problem problem;
  problem.a = a.get();
  problem.b = b.get();
  problem.c = c.get();
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.lda = k;
  problem.ldb = transpose_b ? k : n;
  problem.ldc = n;
  problem.transpose_b = transpose_b;
  const auto profile =
      tile_test::counts_of([&] { EXPECT_EQ(margay_gemm::gemm_bf16(problem), hipSuccess); });

  const double blocks = (m / 256.0) * (n / 256.0), steps = k / 64.0, waves = 8 * blocks;
  EXPECT_EQ(profile["SQ_WAVES"], waves);
  EXPECT_EQ(profile["mfma_bf16_instructions"], waves * steps * 128);
  EXPECT_EQ(profile["mfma_flops"], 2.0 * m * n * k);
  EXPECT_EQ(profile["scratch_bytes"], 0);

  // A and B: 16 bytes per lane, eight lanes fill a line; C: four floats per lane, once.
  EXPECT_EQ(profile["SQ_INSTS_VMEM_RD"], waves * steps * 8);
  EXPECT_EQ(profile["SQ_INSTS_VMEM_WR"], waves * 32);
  EXPECT_EQ(profile["coalescing"], 1.0);
  // Each row of blocks fetches its part of A from L2 once per block, so all of A n / 256 times, and
  // B m / 256 times; in lines of 128 bytes.
  const double a_bytes = 2.0 * m * k, b_bytes = 2.0 * n * k;
  EXPECT_EQ(profile["TCP_TCC_READ_REQ"], (a_bytes * (n / 256.0) + b_bytes * (m / 256.0)) / 128);
  // From memory at least once, and at most once for each of the eight L2 caches; with some code.
  EXPECT_GE(profile["fabric_read_bytes"], a_bytes + b_bytes);
  EXPECT_LE(profile["fabric_read_bytes"], 8 * (a_bytes + b_bytes + 8192));

  // A step writes two tiles of 32 KiB to LDS; each wave reads 12 fragments of each of four slices.
  tile_test::expect_no_lds_conflicts(profile, blocks * steps * (2 * 64 + 8 * 12 * 4));
}
TEST(GemmCost, FollowsFromTheTiling) {
  check_cost(256, 256, 64, true);
  check_cost(256, 256, 128, false);
  check_cost(512, 768, 192, true);
  check_cost(512, 768, 192, false);
  check_cost(768, 256, 128, true);
}

TEST(GemmPlan, RefusesWithAReason) {
  float c = 0;
  kittens::bf16 ab = as<kittens::bf16>(0);
  Problem good;
  good.a = good.b = &ab;
  good.c = &c;
  good.m = good.n = good.k = good.lda = good.ldb = good.ldc = 1;
  ASSERT_EQ(margay_gemm::plan(good).refusal, "");

  const auto refusal = [&](auto change) {
    Problem bad = good;
    change(bad);
    EXPECT_EQ(margay_gemm::gemm_bf16(bad), hipErrorInvalidValue);
    return margay_gemm::plan(bad).refusal;
  };
  EXPECT_EQ(refusal([](Problem& p) { p.m = -1; }), "m, n and k must not be negative");
  EXPECT_EQ(refusal([](Problem& p) { p.c = nullptr; }), "C is a null pointer");
  EXPECT_EQ(refusal([](Problem& p) { p.b = nullptr; }), "A or B is a null pointer");
  EXPECT_EQ(refusal([](Problem& p) { p.k = 2; }), "a: its rows of 2 elements are only 1 apart");
  EXPECT_EQ(refusal([](Problem& p) { p.n = 2; }), "c: its rows of 2 elements are only 1 apart");
  EXPECT_EQ(refusal([](Problem& p) {
              p.transpose_b = false;
              p.n = 2;
              p.ldc = 2;
            }),
            "b: its rows of 2 elements are only 1 apart");
  EXPECT_EQ(refusal([](Problem& p) { p.lda = 5'000'000; }),
            "a: its rows are 5000000 elements apart; the kernel's limit is 4194240");
  EXPECT_EQ(refusal([](Problem& p) { p.m = 1LL << 31; }), "m, n and k must not exceed 2147483391");
  EXPECT_EQ(refusal([](Problem& p) { p.a = reinterpret_cast<const char*>(p.a) + 1; }),
            "a: its memory is not aligned to its elements");
  EXPECT_EQ(refusal([](Problem& p) {
              p.m = 1'000'000'000;
              p.n = p.ldc = 4'000'000;
            }),
            "the result has too many 256x256 blocks for one launch");
}
TEST(GemmPlan, AnEmptyResultLaunchesNothing) {
  Problem empty;
  empty.n = 5;
  empty.ldc = 5;
  EXPECT_EQ(margay_gemm::plan(empty).refusal, "");
  EXPECT_EQ(margay_gemm::plan(empty).grid_x, 0u);
  EXPECT_EQ(margay_gemm::gemm_bf16(empty), hipSuccess);
}

}  // namespace
