// hipconfig's options are from its public documentation (ROCm 6: "hipconfig", manual page
// hipconfig(1)); what rocm_agent_enumerator and amdgpu-arch print is one line for each device.
#include "cli/hipcc/rocm_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/hipcc/hipcc.h"
#include "cli/process/install.h"
#include "gpu/gpu.h"

namespace margay::cli {
namespace {

constexpr std::string_view kHipVersion = "5.2.21153-0";  // of the headers, Debian's libamdhip64-dev

constexpr const char* kHipconfigHelp =
    R"(hipconfig: where HIP is, for build systems (Margay's, for the virtual GPU)

usage: hipconfig [OPTION]...

  -p, --path, -R, --rocmpath   the folder that is laid out like /opt/rocm
  -l, --hipclangpath           the folder of the compiler
  -C, --cpp_config             options for the preprocessor
  -P, --platform               amd
  -c, --compiler               clang
  -r, --runtime                rocclr
  -v, --version                the version of the HIP headers
  -n, --newline                ends what is printed with a new line
  -f, --full                   all of it (the default)
)";

int hipconfig(std::span<char*> arguments) {
  const Result<Install> install = find_install();
  if (!install) return report("hipconfig", install.error());
  const std::string root = install->rocm_root().string();
  struct Answer {
    std::string_view brief, option, title;
    std::string text;
  };
  const auto answers = std::to_array<Answer>({
      {"-v", "--version", "HIP version", std::string(kHipVersion)},
      {"-p", "--path", "HIP_PATH", root},
      {"-R", "--rocmpath", "ROCM_PATH", root},
      {"-P", "--platform", "HIP_PLATFORM", "amd"},
      {"-c", "--compiler", "HIP_COMPILER", "clang"},
      {"-r", "--runtime", "HIP_RUNTIME", "rocclr"},
      {"-l", "--hipclangpath", "HIP_CLANG_PATH", root + "/llvm/bin"},
      {"-C", "--cpp_config", "CPP_CONFIG",
       fmt::format(" -D__HIP_PLATFORM_AMD__= -I{}/include", root)},
  });
  std::string out;
  bool newline = false, full = arguments.size() < 2;
  for (const std::string_view word : arguments.subspan(1)) {
    if (word == "--help" || word == "-h") {
      fmt::print("{}", kHipconfigHelp);
      return kExitOk;
    }
    if (word == "--newline" || word == "-n") {
      newline = true;
    } else if (word == "--full" || word == "-f") {
      full = true;
    } else {
      const auto* const found = std::ranges::find_if(
          answers, [&](const Answer& a) { return word == a.brief || word == a.option; });
      if (found == answers.end())
        return report("hipconfig", Error{ErrorCode::invalid_argument,
                                         fmt::format("no such option: {}", word),
                                         {},
                                         "hipconfig --help lists the options"});
      out += found->text;
    }
  }
  if (full)
    for (const Answer& answer : answers) fmt::print("{:<15}: {}\n", answer.title, answer.text);
  fmt::print("{}{}", out, newline ? "\n" : "");
  return kExitOk;
}

/// One line for each device, as many as a program would find.
int list_devices() {
  const char* const count = std::getenv("MARGAY_DEVICES");
  const long devices = count == nullptr ? 1 : std::strtol(count, nullptr, 10);
  const char* const device = std::getenv("MARGAY_DEVICE");
  const auto gpu = find_gpu(device == nullptr ? "" : device);
  if (!gpu) return report("rocm_agent_enumerator", gpu.error());
  const std::string_view processor = (*gpu)->arch().processor;
  for (long n = 0; n < std::clamp(devices, 1L, 16L); ++n) fmt::print("{}\n", processor);
  return kExitOk;
}

}  // namespace

std::optional<int> run_as_rocm_tool(std::span<char*> arguments) {
  const std::string name = std::filesystem::path(arguments[0]).filename().string();
  if (name == "hipcc") return hipcc_main(arguments);
  if (name == "amdclang++" || name == "clang++") return hipcc_as_clang(arguments);
  if (name == "hipconfig") return hipconfig(arguments);
  if (name == "rocm_agent_enumerator" || name == "amdgpu-arch") return list_devices();
  return std::nullopt;
}

}  // namespace margay::cli
