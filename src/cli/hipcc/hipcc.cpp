// `margay hipcc`: compiles HIP C++ for the host and gfx942 with clang, and links against the
// virtual device's HIP runtime. It accepts hipcc's arguments; hipcc_plan.cpp adds its own.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/hipcc/hipcc.h"
#include "cli/hipcc/hipcc_plan.h"
#include "cli/hipcc/precompiled.h"
#include "cli/process/install.h"

namespace margay::cli {

namespace {

constexpr const char* kHipHeader = "/usr/include/hip/hip_runtime.h";  // Debian's libamdhip64-dev

constexpr const char* kHelp = R"(margay hipcc: compile HIP C++ for the host and gfx942

usage: margay hipcc [OPTIONS] FILES...      (the options of hipcc and clang++)
       make HIPCXX="margay hipcc"
       ROCM_PATH=PREFIX/rocm make                 PREFIX/rocm/bin/hipcc is this driver; margay config

  margay hipcc saxpy.cpp -o saxpy && margay run -- ./saxpy
  margay hipcc -O3 -std=c++20 -shared -fPIC gemm.cpp -o gemm.so
  margay hipcc --genco gemm.cpp -o gemm.hsaco       a code object to load with hipModuleLoad

Added unless you say otherwise: -x hip for .cpp .cc .cxx .hip .cu; --offload-arch=gfx942; -O3;
-std=gnu++20; line tables and the names of kernel arguments; the include paths; and, when linking,
the virtual device's libamdhip64. HIPCC_VERBOSE=1 shows the command; HIPCC_COMPILE_FLAGS_APPEND,
HIPCC_LINK_FLAGS_APPEND and HIP_CLANG_PATH are read as by hipcc. MARGAY_HIPCC_CACHE=DIR keeps
precompiled headers in DIR: from the third compilation with the same options on, each takes 1.3 s less.

  --clang 19|22    the compiler's version, 19 unless you say otherwise
  --print-config   what is used, and whether it is installed
  --clangd         a .clangd file for editors:  margay hipcc --clangd > .clangd
  --version        versions of this tool and of the compiler
)";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

bool exists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Status check(const Install& install, const std::vector<Need>& all, const HipccPlan& plan,
             bool given_directory) {
  std::vector<std::string> missing;
  std::vector<std::string> packages;
  for (const Need& need : all) {
    if (std::strcmp(need.what, "HIP runtime") == 0 && !plan.links) continue;
    if (std::strcmp(need.what, "OpenMP") == 0 && !plan.openmp) continue;
    // The tools of a compiler that the user chose may be elsewhere; clang reports missing ones.
    if (given_directory &&
        (std::strcmp(need.what, "device linker") == 0 || std::strcmp(need.what, "bundler") == 0)) {
      continue;
    }
    if (exists(need.path)) continue;
    missing.push_back(fmt::format("{} ({})", need.what, need.path));
    if (!need.package.empty()) packages.push_back(need.package);
  }
  if (missing.empty()) return {};
  const bool not_in_the_wheel = install.in_python_package() && !packages.empty();
  return fail(
      ErrorCode::not_found,
      fmt::format("{}not found: {}",
                  not_in_the_wheel
                      ? "the Python wheel has no compiler, which `margay hipcc` needs in addition; "
                      : "",
                  fmt::join(missing, ", ")),
      {},
      packages.empty() ? install.repair()
                       : fmt::format("apt-get install {}", fmt::join(packages, " ")));
}

void print_config(const Toolchain& toolchain) {
  fmt::print("architecture      gfx942\n");
  for (const Need& need : needs(toolchain)) {
    fmt::print("{:<17} {}{}\n", need.what, need.path, exists(need.path) ? "" : "   MISSING");
  }
}

std::string shell_quoted(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return out + "'";
}

void show(const std::vector<std::string>& command, unsigned verbose) {
  if ((verbose & 1) == 0) return;
  std::vector<std::string> quoted;
  for (const std::string& word : command) quoted.push_back(shell_quoted(word));
  fmt::print(stderr, "hipcc-cmd: {}\n", fmt::join(quoted, " "));
}

int execute(const std::vector<std::string>& command) {
  std::fflush(stderr);
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  return report("hipcc", Error{ErrorCode::system,
                               "cannot start the compiler: " + std::string(std::strerror(errno)),
                               command[0], "margay doctor"});
}

/// A .clangd file: the options of a HIP compilation, without those that only code generation needs.
Status print_clangd(Toolchain toolchain) {
  toolchain.argument_types.clear();  // an editor generates no code
  const std::vector<std::string> words = {"-c", "-x", "hip", "kernel.hip"};
  const HipccPlan plan = MARGAY_TRY(plan_hipcc(toolchain, words, {}));
  fmt::print("# For clangd: margay hipcc --clangd > .clangd\nCompileFlags:\n");
  fmt::print("  Compiler: {}\n  Add:\n", plan.command.front());
  for (auto word = plan.command.begin() + 1; word != plan.command.end(); ++word)
    if (*word != "-c" && *word != "kernel.hip" && *word != "-x" && *word != "hip")
      fmt::print("    - \"{}\"\n", *word);
  fmt::print("    - \"-xhip\"\n    - \"--cuda-host-only\"\n");
  return {};
}

int drive(const Install& install, Toolchain toolchain, const std::vector<std::string>& words);

}  // namespace

std::vector<Need> needs(const Toolchain& toolchain) {
  const Clang& clang = toolchain.compiler;
  const std::filesystem::path tools = std::filesystem::path(clang.program).parent_path();
  std::vector<Need> all = {
      {"compiler", clang.program, clang.package("clang")},
      {"device linker", (tools / "lld").string(), clang.package("lld")},
      {"bundler", (tools / "clang-offload-bundler").string(), clang.package("clang-tools")},
      {"HIP headers", kHipHeader, "libamdhip64-dev"},
      {"device libraries", toolchain.device_libs + "/ocml.bc", "rocm-device-libs"},
      {"gfx942 library", toolchain.device_libs + "/oclc_isa_version_942.bc", {}},
      {"tile library", toolchain.margay_include, {}},
      {"OpenMP", (tools.parent_path() / "lib" / "libomp.so").string(),
       fmt::format("libomp-{}-dev", clang.package_version())},
      {"HIP runtime", toolchain.runtime_lib + "/libamdhip64.so", {}},
  };
  if (!toolchain.argument_types.empty())
    all.push_back({"argument types", toolchain.argument_types, {}});
  return all;
}

Toolchain find_toolchain(const Install& install, const Clang& clang) {
  return {.compiler = clang,
          .margay_include = install.include().string(),
          .device_libs = install.device_libs().string(),
          .runtime_lib = install.runtime_lib().string(),
          .rocm_root = {},
          .argument_types =
              clang.loads_our_passes() ? install.argument_types().string() : std::string{},
          .first_headers = install.first_headers().string()};
}

int hipcc_as_clang(std::span<char*> arguments) {
  const Result<Install> install = find_install();
  if (!install) return report("hipcc", install.error());
  std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  const Result<Clang> clang = take_clang_option(words);
  if (!clang) return report("hipcc", clang.error());
  Toolchain toolchain = find_toolchain(*install, *clang);
  toolchain.rocm_root = install->rocm_root().string();
  return drive(*install, toolchain, words);
}

int hipcc_main(std::span<char*> arguments) {
  const Result<Install> install = find_install();
  if (!install) return report("hipcc", install.error());
  std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  const Result<Clang> clang = take_clang_option(words);
  if (!clang) return report("hipcc", clang.error());
  const Toolchain toolchain = find_toolchain(*install, *clang);
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    fmt::print(words.empty() ? stderr : stdout, "{}", kHelp);
    return words.empty() ? kExitUsage : kExitOk;
  }
  for (const std::string& word : words) {
    if (word == "--print-config") {
      print_config(toolchain);
      return kExitOk;
    }
    if (word == "--clangd") {
      const Status printed = print_clangd(toolchain);
      return printed ? kExitOk : report("hipcc", printed.error());
    }
    if (word == "--version") {
      fmt::print("margay hipcc {}\n", MARGAY_VERSION);
      std::fflush(stdout);
      return execute({toolchain.compiler.program, "--version"});
    }
  }
  return drive(*install, toolchain, words);
}

namespace {

int drive(const Install& install, Toolchain toolchain, const std::vector<std::string>& words) {
  const HipccEnvironment settings{.compile_flags_append = environment("HIPCC_COMPILE_FLAGS_APPEND"),
                                  .link_flags_append = environment("HIPCC_LINK_FLAGS_APPEND"),
                                  .verbose = static_cast<unsigned>(std::strtoul(
                                      environment("HIPCC_VERBOSE").c_str(), nullptr, 10))};
  const Result<const Gpu*> gpu = find_gpu(environment("MARGAY_DEVICE"));
  if (!gpu) return report("hipcc", gpu.error());
  toolchain.gpu = *gpu;
  const Result<HipccPlan> plan = plan_hipcc(toolchain, words, settings);
  if (!plan) return report("hipcc", plan.error());
  const Status present =
      check(install, needs(toolchain), *plan, toolchain.compiler.version.empty());
  if (!present) return report("hipcc", present.error());

  // To stderr, where hipcc uses stdout: the output of -E and -M stays usable.
  if ((plan->verbose & 4) != 0) fmt::print(stderr, "hipcc-args: {}\n", fmt::join(words, " "));
  if (const std::string cache = environment("MARGAY_HIPCC_CACHE"); !cache.empty()) {
    if (const auto command = with_precompiled_headers(*plan, cache)) {
      show(*command, plan->verbose);
      if (const std::optional<int> code = try_command(*command)) return *code;
    }
  }
  show(plan->command, plan->verbose);
  return execute(plan->command);
}

}  // namespace
}  // namespace margay::cli
