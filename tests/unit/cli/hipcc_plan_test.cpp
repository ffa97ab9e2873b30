// The rules by which hipcc's command line becomes clang's.
#include "cli/hipcc/hipcc_plan.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace margay::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

const Toolchain kToolchain{{"CXX", {}}, "INCLUDE", "BITCODE", "LIB", {}, {}};

Words plan(const Words& arguments, const HipccEnvironment& environment = {}) {
  const Result<HipccPlan> result = plan_hipcc(kToolchain, arguments, environment);
  EXPECT_TRUE(result) << result.error().text();
  return result ? result->command : Words{};
}

/// The words of `command` from the first `word` on, `count` of them.
Words from(const Words& command, const std::string& word, std::size_t count) {
  const auto first = std::ranges::find(command, word);
  return {first, first + std::min<std::ptrdiff_t>(std::ssize(command) - (first - command.begin()),
                                                  static_cast<std::ptrdiff_t>(count))};
}

TEST(HipccPlan, ProgramGetsEverything) {
  EXPECT_THAT(plan({"a.cpp", "-o", "a"}),
              ElementsAre("CXX", "--offload-arch=gfx942", "-O3", "--rocm-device-lib-path=BITCODE",
                          "-std=gnu++20", "-gline-tables-only", "-no-hip-rt", "-x", "hip", "a.cpp",
                          "-o", "a", "-isystem", "INCLUDE", "-idirafter", "INCLUDE/missing",
                          "-LLIB", "-lamdhip64", "-Wl,-rpath,LIB"));
}

TEST(HipccPlan, ObjectsOnlyLink) {
  EXPECT_THAT(
      plan({"a.o", "libb.a", "-o", "a"}),
      ElementsAre("CXX", "a.o", "libb.a", "-o", "a", "-LLIB", "-lamdhip64", "-Wl,-rpath,LIB"));
}

TEST(HipccPlan, LanguageFollowsTheSuffix) {
  const Words command = plan({"a.cu", "b.hip", "c.o", "d.c", "e.cc"});
  EXPECT_THAT(from(command, "-x", 12), ElementsAre("-x", "hip", "a.cu", "b.hip", "-x", "none",
                                                   "c.o", "-x", "c", "d.c", "-x", "hip"));
}

TEST(HipccPlan, TheUsersOwnLanguageRules) {
  EXPECT_THAT(from(plan({"-c", "-x", "c++", "a.cpp"}), "-c", 4),
              ElementsAre("-c", "-x", "c++", "a.cpp"));
  EXPECT_THAT(plan({"-c", "-x", "c++", "a.cpp"}), Not(Contains("--offload-arch=gfx942")));
  EXPECT_THAT(plan({"-c", "-xhip", "a.inc"}), Contains("--offload-arch=gfx942"));
  EXPECT_THAT(from(plan({"-x", "hip", "a.inc", "-x", "none", "b.o"}), "-x", 6),
              ElementsAre("-x", "hip", "a.inc", "-x", "none", "b.o"));
}

TEST(HipccPlan, ValuesOfOptionsAreNotInputs) {
  const Words command = plan({"-c", "-include", "pre.cpp", "-MF", "dep.cpp", "a.cpp"});
  EXPECT_EQ(std::ranges::count(command, "hip"), 1);
  EXPECT_THAT(from(command, "-x", 3), ElementsAre("-x", "hip", "a.cpp"));
}

TEST(HipccPlan, NothingIsLinkedWhenOnlyPartOfTheWorkIsAskedFor) {
  for (const std::string option : {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--genco",
                                   "-genco", "--cuda-device-only", "--offload-device-only", "-r"}) {
    const Words command = plan({option, "a.cpp"});
    EXPECT_THAT(command, Not(Contains("-lamdhip64"))) << option;
    EXPECT_THAT(command, Not(Contains("-no-hip-rt"))) << option;
  }
  EXPECT_THAT(plan({"-MD", "-MMD", "a.cpp"}), Contains("-lamdhip64"));
  EXPECT_THAT(plan({"-v"}), Not(Contains("-lamdhip64")));
}

TEST(HipccPlan, DeviceOnlyCompilationsWriteDependencies) {
  const auto file = [](const Words& arguments) {
    const Words command = plan(arguments);
    const auto at = std::ranges::find(command, "-dependency-file");
    return at == command.end() ? std::string("none") : *(at + 2);
  };
  const Words named = {"--genco", "-MD", "-MF", "deps", "-MT", "k", "a.cpp", "-o", "out/k.hsaco"};
  EXPECT_EQ(file(named), "deps");
  EXPECT_THAT(plan(named), Not(Contains("-MF")));
  EXPECT_THAT(plan(named), Contains("-MT"));
  EXPECT_EQ(file({"--offload-device-only", "-MMD", "-MFdeps", "a.cpp"}), "deps");
  EXPECT_EQ(file({"--genco", "-MD", "a.cpp", "-o", "out/k.hsaco"}), "out/k.d");
  EXPECT_EQ(file({"--cuda-device-only", "-MD", "dir/a.cpp"}), "a.d");
  // clang's own options do the others.
  EXPECT_EQ(file({"-c", "-MD", "-MF", "deps", "a.cpp"}), "none");
  EXPECT_EQ(file({"--genco", "-MM", "-MF", "deps", "a.cpp"}), "none");
  EXPECT_EQ(file({"--genco", "a.cpp"}), "none");
}

TEST(HipccPlan, GencoIsDeviceOnly) {
  EXPECT_THAT(plan({"--genco", "a.cpp"}), Contains("--cuda-device-only"));
  EXPECT_THAT(plan({"--genco", "a.cpp"}), Not(Contains("--genco")));
}

TEST(HipccPlan, SharedLibrariesLinkToo) {
  EXPECT_THAT(plan({"-shared", "-fPIC", "a.cpp", "-o", "a.so"}),
              IsSupersetOf({"-shared", "-fPIC", "-lamdhip64", "-Wl,-rpath,LIB"}));
}

TEST(HipccPlan, DefaultsGiveWay) {
  const Words command = plan({"-c", "-O1", "-std=c++17", "-g", "a.cpp"});
  EXPECT_THAT(command, Not(Contains("-O3")));
  EXPECT_THAT(command, Not(Contains("-std=gnu++20")));
  EXPECT_THAT(command, Not(Contains("-gline-tables-only")));
  EXPECT_THAT(plan({"-c", "-g0", "a.cpp"}), Not(Contains("-gline-tables-only")));
  EXPECT_THAT(plan({"-c", "-gcc-toolchain", "x", "a.cpp"}), Contains("-gline-tables-only"));
  EXPECT_THAT(plan({"-c", "--rocm-device-lib-path=MINE", "a.cpp"}),
              Not(Contains("--rocm-device-lib-path=BITCODE")));
}

TEST(HipccPlan, OpenMp) {
  const auto openmp = [](const Words& arguments) {
    return plan_hipcc(kToolchain, arguments, {}).value().openmp;
  };
  EXPECT_TRUE(openmp({"-fopenmp", "a.cpp"}));
  EXPECT_TRUE(openmp({"-c", "a.cpp", "-fopenmp=libomp"}));
  EXPECT_FALSE(openmp({"a.cpp"}));
  EXPECT_FALSE(openmp({"-fopenmp=libgomp", "a.cpp"}));
  EXPECT_FALSE(openmp({"-fopenmp", "-fno-openmp", "a.cpp"}));
}

TEST(HipccPlan, TypesOfArgumentsOnTheDevice) {
  Toolchain toolchain = kToolchain;
  toolchain.argument_types = "PASS";
  const auto with = [&](const Words& arguments) {
    return plan_hipcc(toolchain, arguments, {}).value().command;
  };
  const Words command = with({"-c", "a.cpp"});
  EXPECT_THAT(from(command, "-gline-tables-only", 9),
              ElementsAre("-gline-tables-only", "--start-no-unused-arguments", "-Xarch_device",
                          "-g", "-Xarch_device", "-fstandalone-debug", "-Xarch_device",
                          "-fpass-plugin=PASS", "--end-no-unused-arguments"));
  for (const std::string debug : {"-g", "-ggdb", "-g3", "-gdwarf-5"})
    EXPECT_THAT(with({"-c", debug, "a.cpp"}), Contains("-fpass-plugin=PASS")) << debug;
  for (const std::string debug : {"-g0", "-g1", "-gmlt", "-gline-tables-only"})
    EXPECT_THAT(with({"-c", debug, "a.cpp"}), Not(Contains("-fpass-plugin=PASS"))) << debug;
  EXPECT_THAT(with({"-c", "a.c"}), Not(Contains("-fpass-plugin=PASS")));
  EXPECT_THAT(plan({"-c", "-g", "a.cpp"}), Not(Contains("-Xarch_device")));
}

TEST(HipccPlan, ArchitectureInEverySpelling) {
  for (const Words& given : {Words{"--offload-arch=gfx942"}, Words{"-offload-arch=gfx942"},
                             Words{"--offload-arch", "gfx942"}, Words{"--amdgpu-target=gfx942"},
                             Words{"--cuda-gpu-arch=gfx942"}, Words{"--offload-arch=native"}}) {
    Words arguments = given;
    arguments.insert(arguments.end(), {"-c", "a.cpp"});
    const Words command = plan(arguments);
    EXPECT_EQ(std::ranges::count(command, "--offload-arch=gfx942"), 1) << given[0];
    EXPECT_EQ(std::ranges::count_if(command,
                                    [](const std::string& word) { return word.contains("arch"); }),
              1)
        << given[0];
  }
  const Words command = plan({"--offload-arch=gfx942:sramecc+:xnack-", "-c", "a.cpp"});
  EXPECT_THAT(command, Contains("--offload-arch=gfx942:sramecc+:xnack-"));
  EXPECT_THAT(command, Not(Contains("--offload-arch=gfx942")));
}

TEST(HipccPlan, OtherArchitecturesAreRefused) {
  for (const std::string name :
       {"gfx90a", "gfx950", "gfx9-4-generic", "gfx942,gfx90a", "sm_90", "gfx9420"}) {
    const Result<HipccPlan> result =
        plan_hipcc(kToolchain, Words{"--offload-arch=" + name, "a.cpp"}, {});
    ASSERT_FALSE(result) << name;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(result.error().what, HasSubstr("gfx942"));
    EXPECT_THAT(result.error().hint, HasSubstr("--offload-arch=gfx942"));
  }
}

TEST(HipccPlan, OptionWithoutItsValue) {
  EXPECT_FALSE(plan_hipcc(kToolchain, Words{"a.cpp", "-o"}, {}));
  EXPECT_FALSE(plan_hipcc(kToolchain, Words{"a.cpp", "--offload-arch"}, {}));
}

TEST(HipccPlan, RelocatableDeviceCodeNeedsADeviceLink) {
  EXPECT_THAT(plan({"-fgpu-rdc", "a.o", "b.o"}),
              IsSupersetOf({"--hip-link", "--offload-arch=gfx942", "-no-hip-rt", "-lamdhip64"}));
  EXPECT_THAT(plan({"-fgpu-rdc", "-c", "a.cpp"}), Not(Contains("--hip-link")));
}

TEST(HipccPlan, HipccsOwnOptions) {
  const Words command = plan({"-hc", "--hipcc-func-supp", "--rocm-path=/nonexistent",
                              "--hip-path=/nonexistent", "-c", "a.cpp"});
  for (const std::string& word : command) {
    EXPECT_THAT(word, Not(StartsWith("--hipcc")));
    EXPECT_THAT(word, Not(HasSubstr("nonexistent")));
    EXPECT_NE(word, "-hc");
  }
  EXPECT_THAT(plan({"--hipcc-no-func-supp", "-c", "a.cpp"}),
              Contains("-amdgpu-function-calls=false"));
  const Result<HipccPlan> verbose = plan_hipcc(kToolchain, Words{"--hipcc-verbose=5", "a.cpp"}, {});
  ASSERT_TRUE(verbose);
  EXPECT_EQ(verbose->verbose, 5u);
}

TEST(HipccPlan, ARealRocmGivesItsHeaders) {
  const std::filesystem::path rocm = std::filesystem::path(testing::TempDir()) / "rocm";
  std::filesystem::create_directories(rocm / "include" / "hip");
  std::ofstream(rocm / "include" / "hip" / "hip_runtime.h") << "#pragma once\n";
  const Words command = plan({"--rocm-path=" + rocm.string(), "-c", "a.cpp"});
  EXPECT_THAT(from(command, "-isystem", 4),
              ElementsAre("-isystem", "INCLUDE", "-isystem", (rocm / "include").string()));
}

TEST(HipccPlan, AppendedFlagsComeLast) {
  const HipccEnvironment environment{.compile_flags_append = "-DA='x y' -Wall",
                                     .link_flags_append = "-lz b.o"};
  const Words command = plan({"a.cpp"}, environment);
  EXPECT_THAT(command, IsSupersetOf({"-DA=x y", "-Wall"}));
  EXPECT_THAT(from(command, "-lz", 4), ElementsAre("-lz", "-x", "none", "b.o"));
  EXPECT_THAT(plan({"-c", "a.cpp"}, environment), Not(Contains("-lz")));
  EXPECT_THAT(plan({"a.o"}, environment), Not(Contains("-Wall")));
}

TEST(HipccPlan, ResponseFilesAreRead) {
  const std::string file = testing::TempDir() + "hipcc.rsp";
  std::ofstream(file) << "-c \"a b.cpp\"\n-DX";
  const Words command = plan({"@" + file});
  EXPECT_THAT(from(command, "-c", 5), ElementsAre("-c", "-x", "hip", "a b.cpp", "-DX"));
  const Result<HipccPlan> missing = plan_hipcc(kToolchain, Words{"@/nonexistent.rsp"}, {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
}

TEST(HipccPlan, EverythingAfterTwoDashesIsAnInput) {
  EXPECT_THAT(from(plan({"-c", "--", "-odd.cpp"}), "-c", 4),
              ElementsAre("-c", "-x", "hip", "./-odd.cpp"));
}

TEST(HipccPlan, PlainCIsNotHip) {
  const Words command = plan({"-c", "a.c"});
  EXPECT_THAT(command, ElementsAre("CXX", "-c", "-x", "c", "a.c", "-isystem", "INCLUDE",
                                   "-idirafter", "INCLUDE/missing", "-D__HIP_PLATFORM_AMD__=1"));
}

TEST(SplitWords, QuotesAndBackslashes) {
  EXPECT_THAT(split_words(R"(a  "b c" 'd "e' f\ g "" h"i"j)"),
              ElementsAre("a", "b c", "d \"e", "f g", "", "hij"));
  EXPECT_THAT(split_words(""), ElementsAre());
}

}  // namespace
}  // namespace margay::cli
