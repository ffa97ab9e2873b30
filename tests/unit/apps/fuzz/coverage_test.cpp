// What `margay fuzz --coverage` counts.
#include "apps/fuzz/runner/coverage.h"

#include <gtest/gtest.h>

#include "../../exec/machine.h"

namespace margay::fuzz {
namespace {

TEST(Coverage, counts_each_matrix_instruction_of_a_run) {
  TestMachine machine(MARGAY_TEST_MATRIX_RUN, {.threads = 1});
  Coverage coverage;
  machine.observer = &coverage;
  const auto report = machine.launch("matrix_run", {1}, {64});
  ASSERT_TRUE(report) << report.error().text();
  const Executions executions = coverage.executions();
  const auto count = [&](std::string_view mnemonic) {
    const auto found = executions.find(mnemonic);
    return found == executions.end() ? 0 : found->second;
  };
  EXPECT_EQ(count("v_mfma_f32_4x4x1_16b_f32"), 5u);
  EXPECT_EQ(count("v_mfma_f32_16x16x16_f16"), 1u);
  EXPECT_EQ(count("s_endpgm"), 1u);
  EXPECT_EQ(report->wave_instructions, 5u + 1 + 1);
}

}  // namespace
}  // namespace margay::fuzz
