// See precompiled.h. What is kept of one set of options, in CACHE/HASH:
//   options      the set, to tell it from another one with the same hash
//   inputs       each file that the headers were made of, with its size and time
//   pch/         the host's and the device's headers; clang takes the one that suits the pass
// CACHE/HASH.once says that the set was used, and CACHE/HASH.PID is one that is being made.
#include "cli/hipcc/precompiled.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/process/child.h"

namespace margay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHipRuntime = "hip/hip_runtime.h";

/// In C++20 clang takes functions of a precompiled header that differ in __host__ and __device__
/// only for one, unless the program is said to have no modules.
constexpr std::string_view kNoModules = "-fno-cxx-modules";

/// How many sets are kept: each takes 30 MB.
constexpr std::size_t kMostSets = 32;

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool write(const fs::path& file, std::string_view text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  return stream.good();
}

/// Of a file, what changes with it; empty if it does not exist.
std::string state_of(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  if (error) return {};
  const auto time = fs::last_write_time(file, error);
  if (error) return {};
  return fmt::format("{} {} {}\n", size, time.time_since_epoch().count(), file.string());
}

/// The header that clang puts before each source of HIP.
fs::path wrapper_of(const fs::path& compiler) {
  return compiler.parent_path().parent_path() / "lib" / "clang" / MARGAY_CLANG_VERSION / "include" /
         "__clang_hip_runtime_wrapper.h";
}

/// The files that a rule of make says a file depends on.
std::vector<std::string> dependencies(const std::string& rule) {
  std::vector<std::string> files = split_words(rule);  // a backslash before a line's end is a word
  std::erase_if(files, [](const std::string& word) {
    return word.ends_with(':') || word == "\n" || word.empty();
  });
  return files;
}

class HeaderSet {
 public:
  HeaderSet(const HeaderPlan& plan, fs::path cache, bool with_hip_runtime)
      : command_(plan.command), cache_(std::move(cache)) {
    if (with_hip_runtime) command_.insert(command_.end(), {"-include", std::string(kHipRuntime)});
    options_ = fmt::format("{}\n", fmt::join(command_, "\n"));
    place_ = cache_ / fmt::format("{:016x}", std::hash<std::string>{}(options_));
  }

  [[nodiscard]] fs::path headers() const { return place_ / "pch"; }

  /// Made of the files as they are now.
  [[nodiscard]] bool is_valid() const {
    if (read(place_ / "options") != options_) return false;
    std::istringstream lines(read(place_ / "inputs"));
    std::size_t files = 0;
    for (std::string line; std::getline(lines, line); ++files) {
      const std::size_t file = line.find(' ', line.find(' ') + 1);
      if (file == std::string::npos || state_of(line.substr(file + 1)) != line + "\n") return false;
    }
    return files > 0;
  }

  /// Whether this set was used before, as it says from now on.
  [[nodiscard]] bool note_use() const {
    std::error_code ignored;
    if (fs::exists(place_, ignored) || fs::exists(once(), ignored)) return true;
    fs::create_directories(cache_, ignored);
    write(once(), options_);
    return false;
  }

  void touch() const {
    std::error_code ignored;
    fs::last_write_time(place_, fs::file_time_type::clock::now(), ignored);
  }

  /// False if it cannot be made: a header has an error, or the cache cannot be written.
  [[nodiscard]] bool make() const;

 private:
  [[nodiscard]] fs::path once() const { return place_.string() + ".once"; }
  [[nodiscard]] bool compile(std::string_view pass, const fs::path& wrapper,
                             const fs::path& into) const;

  std::vector<std::string> command_;
  std::string options_;
  fs::path cache_;
  fs::path place_;
};

bool HeaderSet::compile(std::string_view pass, const fs::path& wrapper,
                        const fs::path& into) const {
  ChildPlan child{.command = command_, .environment = {}, .silent = true};
  const std::string output = (into / "pch" / pass).string() + ".pch";
  child.command.insert(
      child.command.end(),
      {"-Xclang", std::string(kNoModules), "-fsyntax-only", fmt::format("--cuda-{}-only", pass),
       "-Xclang", "-emit-pch", "-Xclang", "-o", "-Xclang", output, "-MD", "-MF",
       (into / pass).string(), "-x", "hip", wrapper.string()});
  const Result<ChildEnd> end = run_child(child);
  return end && end->shell_code() == 0;
}

bool HeaderSet::make() const {
  const fs::path wrapper = wrapper_of(command_.front());
  const fs::path into = fmt::format("{}.{}", place_.string(), getpid());
  std::error_code error;
  fs::create_directories(into / "pch", error);
  if (error) return false;
  std::vector<std::string> files = {command_.front()};
  bool made = true;
  for (const std::string_view pass : {"host", "device"}) {
    made = made && compile(pass, wrapper, into);
    for (std::string& file : dependencies(read(into / pass))) files.push_back(std::move(file));
  }
  std::ranges::sort(files);
  files.erase(std::ranges::unique(files).begin(), files.end());
  std::string inputs;
  for (const std::string& file : files) {
    const std::string state = state_of(file);
    made = made && !state.empty();
    inputs += state;
  }
  made = made && write(into / "inputs", inputs) && write(into / "options", options_);
  if (made) {
    fs::remove_all(place_, error);  // one that is out of date
    fs::rename(into, place_, error);
  }
  if (!made || error) fs::remove_all(into, error);  // or another process has made it
  return is_valid();
}

/// Removes the sets whose last use is longest ago, so that kMostSets are left.
void remove_oldest(const fs::path& cache) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> sets;
  for (const fs::directory_entry& entry : fs::directory_iterator(cache, error))
    if (entry.is_directory(error) && entry.path().extension().empty())
      sets.emplace_back(entry.last_write_time(error), entry.path());
  if (sets.size() <= kMostSets) return;
  std::ranges::sort(sets);
  sets.resize(sets.size() - kMostSets);
  for (const auto& [time, place] : sets) fs::remove_all(place, error);
}

}  // namespace

bool begins_with_hip_runtime(std::string_view text) {
  // Tokens of the first directives: comments and empty lines go.
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (std::isspace(static_cast<unsigned char>(rest.front())) != 0) {
      ++at;
    } else if (rest.starts_with("//")) {
      at += std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/");
      if (end == std::string_view::npos) return false;
      at += end + 2;
    } else if (rest.starts_with('#')) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      const std::size_t begin = line.find_first_of("<\"");
      const std::size_t end = line.find_first_of(">\"", begin + 1);
      if (begin == std::string_view::npos || end == std::string_view::npos) return false;
      std::string_view directive = line.substr(1, begin - 1);
      directive.remove_prefix(std::min(directive.find_first_not_of(" \t"), directive.size()));
      if (!directive.starts_with("include")) return false;
      const std::string_view header = line.substr(begin + 1, end - begin - 1);
      if (header == kHipRuntime || header == "kittens.cuh") return true;
      if (line[begin] != '<' || header.find_first_of("./") != std::string_view::npos) return false;
      at += line.size();
    } else {
      return false;
    }
  }
  return false;
}

std::vector<std::string> with_precompiled_headers(const HipccPlan& plan, const fs::path& cache) {
  if (!plan.headers) return plan.command;
  const bool with_hip_runtime = std::ranges::all_of(
      plan.headers->sources,
      [](const std::string& source) { return begins_with_hip_runtime(read(source)); });
  if (!with_hip_runtime && !plan.headers->names_headers) return plan.command;
  const HeaderSet set(*plan.headers, fs::absolute(cache), with_hip_runtime);
  if (!set.is_valid()) {
    if (!set.note_use() || !set.make()) return plan.command;
    remove_oldest(cache);
  }
  set.touch();
  std::vector<std::string> command = plan.command;
  command.insert(command.begin() + 1, {"-Xclang", std::string(kNoModules), "-Xclang",
                                       "-include-pch", "-Xclang", set.headers().string()});
  return command;
}

}  // namespace margay::cli
