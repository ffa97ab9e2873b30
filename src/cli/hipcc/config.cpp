// `margay config`: prints where the parts of this installation are, as text and for scripts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/install.h"

namespace margay::cli {
namespace {

constexpr const char* kHelp = R"(margay config: where this installation's parts are

usage: margay config            all of them
       margay config NAME       the path alone

  export ROCM_PATH=$(margay config rocm)                 Makefiles and scripts that use $ROCM_PATH/bin/hipcc
  export PATH=$(margay config rocm)/bin:$PATH            hipcc, hipconfig, amdclang++
  cmake --toolchain $(margay config toolchain) ...       project(... LANGUAGES HIP), find_package(hip)
  cmake -DCMAKE_PREFIX_PATH=$(margay config prefix) ...  find_package(margay)
)";

}  // namespace

int config_main(std::span<char*> arguments) {
  if (arguments.size() == 2 &&
      (std::string_view(arguments[1]) == "--help" || std::string_view(arguments[1]) == "-h")) {
    fmt::print("{}", kHelp);
    return kExitOk;
  }
  const Result<Install> install = find_install();
  if (!install) return report("config", install.error());
  const std::filesystem::path& prefix = install->prefix;
  struct Part {
    std::string_view name, what;
    std::string path;
  };
  const auto parts = std::to_array<Part>({
      {"prefix", "the installation", prefix.string()},
      {"include", "kittens.cuh and the HIP supplements", install->include().string()},
      {"library", "the virtual device's libamdhip64.so", install->runtime_lib().string()},
      {"rocm", "laid out like /opt/rocm", install->rocm_root().string()},
      {"cmake", "find_package(margay)", (prefix / "lib/cmake/margay").string()},
      {"toolchain", "CMake's language HIP", (prefix / "lib/cmake/margay/toolchain.cmake").string()},
  });
  if (arguments.size() < 2) {
    for (const Part& part : parts)
      fmt::print("{:<10} {}   ({})\n", part.name, part.path, part.what);
    return kExitOk;
  }
  const std::string_view word = arguments[1];
  const auto* const found = std::ranges::find(parts, word, &Part::name);
  if (found == parts.end() || arguments.size() > 2) {
    std::vector<std::string_view> names;
    for (const Part& part : parts) names.push_back(part.name);
    const std::string guess = nearest(word, names);
    return report("config", Error{ErrorCode::invalid_argument,
                                  found == parts.end() ? fmt::format("no such part: {}", word)
                                                       : std::string("one name at a time"),
                                  {},
                                  guess.empty() ? "margay config lists the parts"
                                                : fmt::format("did you mean: {}", guess)});
  }
  std::error_code ignored;
  if (!std::filesystem::exists(found->path, ignored)) {
    return report("config",
                  Error{ErrorCode::not_found,
                        fmt::format("this installation has no {}", found->name), found->path,
                        install->in_python_package()
                            ? "a folder like /opt/rocm is made of links, which a Python "
                              "wheel cannot hold: use a clone"
                            : install->repair()});
  }
  fmt::print("{}\n", found->path);
  return kExitOk;
}

}  // namespace margay::cli
