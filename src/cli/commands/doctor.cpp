// `margay doctor`: checks the installation part by part, with a remedy for each fault. The last
// part compiles, runs and checks a kernel.
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/host_level.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/hipcc/hipcc.h"
#include "cli/process/install.h"
#include "cli/process/temporary_directory.h"
#include "gpu/gpu.h"

namespace margay::cli {
namespace {

constexpr const char* kHelp =
    R"(margay doctor: whether everything is in place, and what to do where it is not

usage: margay doctor

Exit code 1 if something that Margay needs is missing; what is optional is only reported.
)";

constexpr const char* kProgram = R"(#include <hip/hip_runtime.h>
__global__ void twice(int* x) { x[threadIdx.x] *= 2; }
int main() {
  int* x = nullptr;
  if (hipMallocManaged(&x, 256) != hipSuccess) return 3;
  for (int i = 0; i < 64; ++i) x[i] = i;
  twice<<<1, 64>>>(x);
  if (hipDeviceSynchronize() != hipSuccess) return 4;
  return x[21] == 42 && hipFree(x) == hipSuccess ? 0 : 5;
}
)";

enum class State : std::uint8_t { ok, note, bad };

class Report {
 public:
  void line(State state, std::string_view what, std::string_view found,
            std::string_view remedy = {}) {
    constexpr auto kWords = std::to_array<std::string_view>({"ok", "note", "FAILED"});
    fmt::print("{:<7} {:<18} {}\n", kWords[static_cast<std::size_t>(state)], what, found);
    if (!remedy.empty()) fmt::print("{:<7} {:<18} -> {}\n", "", "", remedy);
    std::fflush(stdout);
    failures_ += state == State::bad;
  }
  [[nodiscard]] int failures() const { return failures_; }

 private:
  int failures_ = 0;
};

std::string quoted(const std::filesystem::path& path) {
  std::string out = "'";
  for (const char c : path.string()) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

struct Ran {
  int code = -1;
  std::string output;
  double seconds = 0;
};
Ran run(const std::string& command) {
  Ran ran;
  const auto begin = std::chrono::steady_clock::now();
  std::fflush(stdout);
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    ran.output.append(buffer.data(), got);
  const int status = pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return ran;
}

/// False where no kernel can be compiled. In the Python wheel that is no fault.
bool check_toolchain(Report& report, const Install& install) {
  const Toolchain toolchain = find_toolchain(install);
  bool compiles = true;
  for (const Need& need : needs(toolchain)) {
    std::error_code ignored;
    if (std::filesystem::exists(need.path, ignored)) {
      report.line(State::ok, need.what, need.path);
      continue;
    }
    compiles = false;
    const bool optional = install.in_python_package() && !need.package.empty();
    report.line(
        optional ? State::note : State::bad, need.what,
        fmt::format("{} is missing{}", need.path,
                    optional ? ", which only margay hipcc needs" : ""),
        need.package.empty() ? install.repair() : fmt::format("apt-get install {}", need.package));
  }
  return compiles;
}

/// The host's units for matrix instructions, best first.
void check_host(Report& report) {
  std::ifstream file("/proc/cpuinfo");
  std::string line, flags;
  while (std::getline(file, line))
    if (line.starts_with("flags")) {
      flags = line + " ";
      break;
    }
  const auto has = [&](std::string_view flag) {
    return flags.find(fmt::format(" {} ", flag)) != std::string::npos;
  };
  const std::string_view level = best_host_level();
  const bool is_slow = level == "generic";
  report.line(
      is_slow ? State::note : State::ok, "host",
      fmt::format("{} cores, {}{}{}", std::thread::hardware_concurrency(), level,
                  has("amx_bf16") ? ", AMX" : "", has("avx512_bf16") ? ", AVX-512 BF16" : ""),
      is_slow ? "everything works, several times slower than with AVX2 (x86-64-v3)" : "");
  struct sysinfo info{};
  if (sysinfo(&info) == 0) {
    const double free = static_cast<double>(info.freeram + info.bufferram) * info.mem_unit / 1e9;
    const double total = static_cast<double>(info.totalram) * info.mem_unit / 1e9;
    report.line(total < 4 ? State::note : State::ok, "memory",
                fmt::format("{:.1f} GB, {:.1f} GB of it unused", total, free),
                total < 4 ? "./margay gemm at its default size needs about 2 GB" : "");
  }
}

void check_device(Report& report) {
  const char* const chosen = std::getenv("MARGAY_DEVICE");
  const auto gpu = find_gpu(chosen == nullptr ? "" : chosen);
  if (!gpu) return report.line(State::bad, "MARGAY_DEVICE", gpu.error().what, gpu.error().hint);
  report.line(State::ok, "device",
              fmt::format("{} ({}): {} CUs, {} GiB", (*gpu)->name, (*gpu)->arch().processor,
                          (*gpu)->compute_units(), (*gpu)->memory_bytes >> 30));
}

/// A program would load another libamdhip64 that comes before ours.
void check_library_path(Report& report, const Install& install) {
  const char* const path = std::getenv("LD_LIBRARY_PATH");
  if (path == nullptr) return;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::filesystem::path folder = rest.substr(0, colon);
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
    std::error_code ignored;
    if (!std::filesystem::exists(folder / "libamdhip64.so", ignored)) continue;
    if (std::filesystem::equivalent(folder, install.runtime_lib(), ignored)) return;
    return report.line(State::note, "LD_LIBRARY_PATH",
                       fmt::format("{} has a libamdhip64 of its own", folder.string()),
                       "margay run -- PROGRAM puts the virtual device in front of it");
  }
}

void check_python(Report& report) {
  const Ran python =
      run("python3 -c 'import numpy, sys; print(sys.version.split()[0], \"with NumPy\", "
          "numpy.__version__)'");
  if (python.code == 0)
    report.line(State::ok, "Python", python.output.substr(0, python.output.find('\n')));
  else
    report.line(State::note, "Python",
                "python3 with NumPy was not found; only the package margay needs it",
                "apt-get install python3 python3-numpy");
}

void check_kernel(Report& report, const Install& install) {
  const Result<TemporaryDirectory> folder = TemporaryDirectory::create();
  if (!folder) return report.line(State::bad, "a kernel", folder.error().what, folder.error().hint);
  const std::filesystem::path source = folder->path() / "twice.cpp",
                              program = folder->path() / "twice";
  std::ofstream(source) << kProgram;
  const std::string margay = quoted(install.prefix / "bin" / "margay");
  const auto step = [&](std::string_view what, const std::string& command,
                        std::string_view remedy) {
    const Ran ran = run(command);
    if (ran.code == 0) {
      report.line(State::ok, what, fmt::format("{:.2f} s", ran.seconds));
      return true;
    }
    report.line(State::bad, what, fmt::format("exit code {}", ran.code), remedy);
    fmt::print("{}", ran.output);
    return false;
  };
  if (!step("compile a kernel", margay + " hipcc " + quoted(source) + " -o " + quoted(program),
            "the compiler's message follows"))
    return;
  step("run it", margay + " run -- " + quoted(program), "the program's message follows");
  step("check it", margay + " check -- " + quoted(program), "the report follows");
}

}  // namespace

int doctor_main(std::span<char*> arguments) {
  if (arguments.size() > 1) {
    const std::string_view word = arguments[1];
    if (word != "--help" && word != "-h")
      return report("doctor", Error{ErrorCode::invalid_argument,
                                    fmt::format("no such option: {}", word),
                                    {},
                                    "margay doctor takes none"});
    fmt::print("{}", kHelp);
    return kExitOk;
  }
  const Result<Install> install = find_install();
  if (!install) return report("doctor", install.error());
  fmt::print("margay {} in {}\n", MARGAY_VERSION, install->prefix.string());
  Report findings;
  check_host(findings);
  check_device(findings);
  const bool compiles = check_toolchain(findings, *install);
  check_library_path(findings, *install);
  check_python(findings);
  if (compiles || !install->in_python_package()) check_kernel(findings, *install);
  if (findings.failures() == 0)
    fmt::print("everything that Margay needs is in place\n");
  else
    fmt::print("{} of these need{} mending\n", findings.failures(),
               findings.failures() == 1 ? "s" : "");
  return findings.failures() == 0 ? kExitOk : kExitFailed;
}

}  // namespace margay::cli
