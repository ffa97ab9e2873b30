#include "apps/fuzz/runner/build.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/hipcc/compiler.h"
#include "gpu/gpu.h"

namespace margay::fuzz {

namespace {

/// Starts a command whose messages go to `log`.
Result<pid_t> start(const std::vector<std::string>& command, const std::filesystem::path& log) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0644);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, words[0], &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    return fail(ErrorCode::system, fmt::format("cannot start {}: {}", command[0], strerror(error)),
                {}, fmt::format("apt-get install clang-{0} lld-{0}", MARGAY_CLANG_VERSION));
  return child;
}

std::string first_lines(const std::filesystem::path& path, unsigned lines) {
  std::ifstream file(path);
  std::string out;
  std::string line;
  while (lines-- != 0 && std::getline(file, line)) out += (out.empty() ? "" : "\n") + line;
  return out;
}

Status wait_for(pid_t child, const std::vector<std::string>& command,
                const std::filesystem::path& log) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return fail(ErrorCode::system, "waitpid failed", command[0]);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(ErrorCode::invalid_argument, "the compiler failed:\n" + first_lines(log, 12),
              fmt::format("{}", fmt::join(command, " ")));
}

}  // namespace

// Not among the options: -global-isel. In LLVM 19 it keeps values that merge after a divergent
// branch in scalar registers, so that correct programs fail.
BuildOptions random_options(Random& random) {
  // Nearly all time is the compiler's: for the device -O1 takes it 1.4 s for 64 programs, -O2 1.9
  // s, -O0 (three times as much code) 3.2 s; for the host -O0 0.5 s, -O2 1.4 s.
  const char* const level = random.chance(60)   ? "-O1"
                            : random.chance(50) ? "-O2"
                            : random.chance(40) ? "-O3"
                            : random.chance(50) ? "-O0"
                                                : "-Os";
  constexpr const char* kSelections[] = {"-amdgpu-sdwa-peephole=0",
                                         "-amdgpu-dpp-combine=0",
                                         "-amdgpu-codegenprepare-mul24=0",
                                         "-amdgpu-bypass-slow-div=0",
                                         "-amdgpu-early-ifcvt=1",
                                         "-amdgpu-load-store-vectorizer=0",
                                         "-disable-promote-alloca-to-vector",
                                         "-disable-promote-alloca-to-lds",
                                         "-amdgpu-spill-sgpr-to-vgpr=0",
                                         "-amdgpu-use-divergent-register-indexing",
                                         "-amdgpu-codegenprepare-break-large-phis=0",
                                         "-amdgpu-dce-in-ra=0",
                                         "-amdgpu-scalarize-global-loads=0",
                                         "-amdgpu-enable-structurizer-workarounds=0",
                                         "-amdgpu-vgpr-index-mode=1",
                                         "-enable-misched=0",
                                         "-unroll-count=2",
                                         "-amdgpu-atomic-optimizer-strategy=None"};
  BuildOptions out;
  out.device = {level};
  out.host = {random.chance(90) ? "-O0" : "-O2"};
  for (const char* option : kSelections) {
    if (!random.chance(10)) continue;
    out.device.emplace_back("-mllvm");
    out.device.emplace_back(option);
  }
  return out;
}

Result<Compiler> Compiler::create(std::filesystem::path directory) {
  return Compiler(cli::find_clang().program, std::move(directory));
}

std::vector<std::string> Compiler::device_command(const std::filesystem::path& source,
                                                  const std::filesystem::path& output,
                                                  const BuildOptions& options) const {
  std::vector<std::string> words = {
      program_,
      "-x",
      "hip",
      "--cuda-device-only",
      fmt::format("--offload-arch={}", default_gpu().arch().processor),
      "-nogpuinc",
      "-nogpulib",
      "--no-gpu-bundle-output"};
  for (const char* word : {"-std=c++20", "-nostdinc", "-w", "-Wno-narrowing", "-fwrapv",
                           "-fno-strict-aliasing", "-ffp-contract=off"})
    words.emplace_back(word);
  words.insert(words.end(), options.device.begin(), options.device.end());
  for (const std::string& word : {source.string(), std::string("-o"), output.string()})
    words.push_back(word);
  return words;
}

std::vector<std::string> Compiler::host_command(const std::filesystem::path& source,
                                                const std::filesystem::path& output,
                                                const BuildOptions& options) const {
  std::vector<std::string> words = {program_, "-shared", "-fPIC", "-fuse-ld=lld"};
  // Each operation on f16 rounds, as on the device.
  for (const char* word :
       {"-std=c++20", "-nostdinc", "-w", "-Wno-narrowing", "-fwrapv", "-fno-strict-aliasing",
        "-ffp-contract=off", "-Xclang", "-ffloat16-excess-precision=none", "-fno-math-errno"})
    words.emplace_back(word);
  words.insert(words.end(), options.host.begin(), options.host.end());
  for (const std::string& word : {source.string(), std::string("-o"), output.string()})
    words.push_back(word);
  return words;
}

Result<Compiled> Compiler::compile(const std::string& name, const std::string& source,
                                   const BuildOptions& options) const {
  const auto path = [&](const char* suffix) { return directory_ / (name + suffix); };
  std::ofstream(path(".cpp")) << source;
  const Compiled out{.device = path(".hsaco"), .host = path(".so")};
  const auto device = device_command(path(".cpp"), out.device, options);
  const auto host = host_command(path(".cpp"), out.host, options);
  const pid_t first = MARGAY_TRY(start(device, path(".device.log")));
  const Result<pid_t> second = start(host, path(".host.log"));
  const Status device_status = wait_for(first, device, path(".device.log"));
  if (!second) return std::unexpected(second.error());
  MARGAY_CHECK(wait_for(*second, host, path(".host.log")));
  MARGAY_CHECK(device_status);
  return out;
}

}  // namespace margay::fuzz
