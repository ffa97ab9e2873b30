// Which compilations take precompiled headers, and with which options these are compiled.
// tests/toolchain has compilations with them.
#include "cli/hipcc/precompiled.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace margay::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

using Words = std::vector<std::string>;

std::optional<HeaderPlan> headers(const Words& arguments,
                                  const HipccEnvironment& environment = {}) {
  const Toolchain toolchain{{"CXX", MARGAY_CLANG_VERSION}, "INCLUDE", "BITCODE", "LIB", {}, "PASS"};
  const Result<HipccPlan> plan = plan_hipcc(toolchain, arguments, environment);
  EXPECT_TRUE(plan) << plan.error().text();
  return plan ? plan->headers : std::nullopt;
}

Words command(const Words& arguments, const HipccEnvironment& environment = {}) {
  const std::optional<HeaderPlan> plan = headers(arguments, environment);
  EXPECT_TRUE(plan);
  return plan ? plan->command : Words{};
}

TEST(Precompiled, HeadersDependOnWhatTheyAreCompiledWith) {
  EXPECT_THAT(command({"a.hip"}),
              ElementsAre("CXX", "--offload-arch=gfx942", "-O3", "--rocm-device-lib-path=BITCODE",
                          "-std=gnu++20", "-isystem", "INCLUDE", "-idirafter", "INCLUDE/missing"));
  EXPECT_THAT(command({"-std=c++17", "-O1", "-Iinclude", "-D", "N=3", "-fPIC", "-Xarch_host", "-O0",
                       "-include", "gtest/gtest.h", "a.hip"},
                      {.compile_flags_append = "-DLAST", .link_flags_append = "-lm"}),
              ElementsAre("CXX", "--offload-arch=gfx942", "--rocm-device-lib-path=BITCODE",
                          "-std=c++17", "-O1", "-Iinclude", "-D", "N=3", "-fPIC", "-Xarch_host",
                          "-O0", "-include", "gtest/gtest.h", "-isystem", "INCLUDE", "-idirafter",
                          "INCLUDE/missing", "-DLAST"));
}

TEST(Precompiled, HeadersDoNotDependOnWhatIsWrittenLinkedOrWarnedOf) {
  EXPECT_EQ(
      command({"-c", "-g", "-Wall", "-Werror", "-MD", "-MF", "a.d", "-MTx", "-fsyntax-only",
               "-lgtest", "-L", "lib", "-shared", "-Wl,-s", "-x", "hip", "a.cpp", "-o", "a.o"}),
      command({"b.cu"}));
  EXPECT_EQ(command({"--genco", "--no-gpu-bundle-output", "a.hip"}), command({"b.cu"}));
  for (const char* const option : {"-Wp,-DN", "-Wno-deprecated", "-O0"})
    EXPECT_NE(command({option, "a.hip"}), command({"a.hip"})) << option;
}

TEST(Precompiled, SourcesAreAllThatAreHip) {
  const std::optional<HeaderPlan> two =
      headers({"a.hip", "b.o", "c.cpp", "-include", "gmock/gmock.h"});
  ASSERT_TRUE(two);
  EXPECT_THAT(two->sources, ElementsAre("a.hip", "c.cpp"));
  EXPECT_TRUE(two->names_headers);
  EXPECT_THAT(headers({"-x", "hip", "a.txt"}),
              Optional(::testing::Field(&HeaderPlan::sources, ElementsAre("a.txt"))));
}

TEST(Precompiled, OtherCompilationsHaveNone) {
  for (const Words& arguments : std::vector<Words>{
           {"a.o", "-o", "a"},
           {"a.hip", "b.c"},
           {"a.hip", "b.ll"},
           {"a.hip", "-x", "c++", "b.cpp"},
           {"-E", "a.hip"},
           {"-M", "a.hip"},
           {"-###", "a.hip"},
           {"-save-temps", "a.hip"},
           {"-nogpuinc", "a.hip"},
           {"-Xclang", "-ast-dump", "a.hip"},
           {"-include-pch", "x.pch", "a.hip"},
           {"-include", "own.h", "a.hip"},
           {"-includeown.h", "a.hip"},
           {"-include", "gtest/gtest.h", "-include", "own.h", "a.hip"},
           {"-imacros", "own.h", "a.hip"},
           {"-include", "gtest/gtest.h", "-x", "hip", "-"},
           {"--offload-arch=gfx942:xnack+", "--offload-arch=gfx942:xnack-", "a.hip"}})
    EXPECT_FALSE(headers(arguments)) << ::testing::PrintToString(arguments);
  const Toolchain chosen{{"CXX", {}}, "INCLUDE", "BITCODE", "LIB", {}, {}};
  const Result<HipccPlan> plan = plan_hipcc(chosen, Words{"a.hip"}, {});
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->headers) << "a compiler that the user chose";
}

TEST(Precompiled, HipRuntimeIsFirstAfterCommentsAndTheStandardLibrary) {
  for (const char* text :
       {"#include <hip/hip_runtime.h>\nint i;", "#include <hip/hip_runtime.h>",
        "\r\n#include  <hip/hip_runtime.h>",
        "// A kernel.\n/* More\n * of it */ # include <hip/hip_runtime.h>\r\n",
        "\n#include <cmath>\n#include <vector>  // rows\n\n#include <hip/hip_runtime.h>  // first"})
    EXPECT_TRUE(begins_with_hip_runtime(text)) << text;
  for (const char* text :
       {"", "int main() {}", "// #include <hip/hip_runtime.h>", "/* #include <hip/hip_runtime.h>",
        "#define __HIP_DISABLE_CPP_FUNCTIONS__\n#include <hip/hip_runtime.h>",
        "#include <stdio.h>\n#include <hip/hip_runtime.h>", "#include \"hip/hip_runtime.h\"",
        "#include <config>\n#include <hip/hip_runtime.h>", "#include HEADER\n",
        "#include_next <hip/hip_runtime.h>", "#if 1\n#include <hip/hip_runtime.h>",
        "#ifdef X // <hip/hip_runtime.h>\n", "#include <hip/hip_runtime.h",
        "#include <gtest/gtest.h>\n#include <hip/hip_runtime.h>",
        "// C:\\\n#include <hip/hip_runtime.h>\n", "// C:\\\r\n#include <hip/hip_runtime.h>\n",
        "#include <vector> /* not\n#include <hip/hip_runtime.h>\n*/"})
    EXPECT_FALSE(begins_with_hip_runtime(text)) << text;
}

}  // namespace
}  // namespace margay::cli
