// The host's half of generated programs does nothing undefined.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "apps/fuzz/programs/print.h"
#include "apps/fuzz/runner/build.h"
#include "apps/fuzz/runner/campaign.h"

namespace margay::fuzz {
namespace {

/// A program of its own, because the sanitizer's runtime has to come with it.
std::string main_function(std::size_t programs) {
  std::string out = "\n#undef U\n#undef W\nint main() {\n";
  out += fmt::format("  static u8 in[{}]; static u64 out[{}]; static u8 mem[{}];\n", kInputBytes,
                     kItems * kSlots, kGlobalArrays * kGlobalArrayBytes);
  for (std::size_t n = 0; n < programs; ++n) {
    const Inputs inputs(case_program(5, n).seed);
    std::string bytes;
    for (const std::byte b : inputs.columns) bytes += fmt::format("{},", static_cast<unsigned>(b));
    out += fmt::format("  static const u8 in{}[] = {{{}}};\n", n, bytes);
    out += fmt::format("  __builtin_memcpy(in, in{}, sizeof in);\n", n);
    const auto& u = inputs.uniforms;
    out += fmt::format(
        "  for (u32 lane = 0; lane < {}; ++lane) k{}(lane, in, out, mem, {}u, (i32){}u, {}ul, "
        "(i64){}ul, __builtin_bit_cast(f32, {}u), __builtin_bit_cast(f64, {}ul), {}u, (i32){}u);\n",
        kItems, n, u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7]);
  }
  return out + "}\n";
}

TEST(Host, RunsCleanUnderUndefinedBehaviorSanitizer) {
  constexpr std::size_t kPrograms = 60;
  const auto directory =
      std::filesystem::path(testing::TempDir()) / fmt::format("margay-fuzz-host-{}", getpid());
  std::filesystem::create_directories(directory);
  std::vector<Program> programs;
  for (std::size_t n = 0; n < kPrograms; ++n) programs.push_back(case_program(5, n));
  const auto source = directory / "host.cpp", program = directory / "host";
  std::ofstream(source) << print_all(programs) << main_function(kPrograms);
  const auto compiler = Compiler::create(directory);
  ASSERT_TRUE(compiler.has_value());
  std::string command;
  for (const std::string& word : compiler->host_command(source, program, {}))
    if (word != "-shared" && word != "-fPIC") command += word + " ";
  // Not among undefined behaviour: conversions that lose range, which C++20 defines. A violation
  // traps: the sanitizer's run-time library is a package of its own, which users need not have.
  command +=
      "-fsanitize=undefined,float-cast-overflow -fno-sanitize=vptr,function"
      " -fsanitize-trap=all";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  EXPECT_EQ(std::system(program.c_str()), 0);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace margay::fuzz
