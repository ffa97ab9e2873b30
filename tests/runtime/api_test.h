// Helpers of the tests that call the HIP API as a program does.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // hipCtx* are deprecated, and tested
#include "runtime/base/hip.h"

/// Runs a call and gives its code and what it printed to stderr.
template <typename Call>
std::pair<hipError_t, std::string> run_call(Call&& call) {
  testing::internal::CaptureStderr();
  const hipError_t code = std::forward<Call>(call)();
  return {code, testing::internal::GetCapturedStderr()};
}

/// Forgets the last error and any failed launch, so that tests do not see each other's.
class ApiTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(hipDeviceReset(), hipSuccess);
    static_cast<void>(hipGetLastError());
  }
};
