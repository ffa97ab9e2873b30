#include "cli/hipcc/compiler.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace margay::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

std::string Clang::package_version() const {
  return version.empty() ? std::string(kClangVersions.front()) : version;
}

std::string Clang::package(std::string_view name) const {
  return fmt::format("{}-{}", name, package_version());
}

Clang find_clang(std::string_view version) {
  if (version.empty()) {
    if (const auto directory = environment("HIP_CLANG_PATH"); !directory.empty())
      return {.program = std::string(directory) + "/clang++", .version = {}};
    version = kClangVersions.front();
  }
  Clang found{.program = fmt::format("/usr/lib/llvm-{}/bin/clang++", version),
              .version = std::string(version)};
  if (exists(found.program)) return found;
  for (std::string_view path = environment("PATH"); !path.empty();) {
    const std::string_view directory = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(directory.size() + 1, path.size()));
    std::string candidate = fmt::format("{}/clang++-{}", directory, version);
    if (!exists(candidate)) continue;
    found.program = std::move(candidate);
    break;
  }
  return found;
}

Result<Clang> take_clang_option(std::vector<std::string>& arguments) {
  constexpr std::string_view kOption = "--clang";
  std::string version;
  for (auto word = arguments.begin(); word != arguments.end();) {
    if (*word == "--") break;
    if (*word == kOption) {
      if (word + 1 == arguments.end())
        return fail(ErrorCode::invalid_argument, "the option --clang needs a value", "--clang",
                    fmt::format("{}", fmt::join(kClangVersions, " or ")));
      version = *(word + 1);
      word = arguments.erase(word, word + 2);
    } else if (word->starts_with("--clang=")) {
      version = word->substr(kOption.size() + 1);
      word = arguments.erase(word);
    } else {
      ++word;
      continue;
    }
    if (std::ranges::find(kClangVersions, version) == kClangVersions.end())
      return fail(ErrorCode::invalid_argument,
                  fmt::format("clang \"{}\" is not one that Margay is tested with", version),
                  "--clang",
                  fmt::format("--clang {}; HIP_CLANG_PATH names the folder of any other",
                              fmt::join(kClangVersions, " or --clang ")));
  }
  return find_clang(version);
}

}  // namespace margay::cli
