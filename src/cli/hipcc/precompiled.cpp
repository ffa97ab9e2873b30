// See precompiled.h. What is kept of one set of options, in CACHE/HASH:
//   options      the set, to tell it from another one with the same hash
//   inputs       each file that the headers were made of, with its size and time
//   pch/         the host's and the device's headers; clang takes the one that suits the pass
// CACHE/HASH.once says that the set was used, and is locked by the process that makes it in
// CACHE/HASH.making; CACHE/HASH.failed that it could not be made.
#include "cli/hipcc/precompiled.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
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

/// Headers of C++ that may come before hip/hip_runtime.h: clang's wrapper has some of them first,
/// too.
constexpr std::array<std::string_view, 40> kStandardHeaders = {
    "algorithm", "any",      "array",     "atomic",  "bit",    "cassert",   "cctype",  "cerrno",
    "cfloat",    "chrono",   "cinttypes", "climits", "cmath",  "complex",   "csignal", "cstddef",
    "cstdint",   "cstdio",   "cstdlib",   "cstring", "ctime",  "exception", "fstream", "functional",
    "iomanip",   "iostream", "iterator",  "limits",  "map",    "memory",    "numeric", "optional",
    "random",    "sstream",  "stdexcept", "string",  "thread", "tuple",     "utility", "vector"};
static_assert(std::ranges::is_sorted(kStandardHeaders));

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

/// The files that a rule of make says a file depends on.
std::vector<std::string> dependencies(const std::string& rule) {
  std::vector<std::string> files = split_words(rule);  // a backslash before a line's end is a word
  std::erase_if(files, [](const std::string& word) {
    return word.ends_with(':') || word == "\n" || word.empty();
  });
  return files;
}

/// Whether a word of the command names a file or directory that depends on where the command runs.
bool is_relative(std::string_view option, std::string_view word) {
  if (word.starts_with("-I")) return word.size() > 2 && word[2] != '/';
  return !word.starts_with('-') && !word.starts_with('/') &&
         (option.starts_with("-i") || option == "-I" || option == "--sysroot");
}

/// What else than the command says where clang finds headers.
std::string surroundings(const std::vector<std::string>& command) {
  std::string out;
  for (const char* const name :
       {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "ROCM_PATH", "HIP_PATH"})
    if (const char* const value = std::getenv(name)) out += fmt::format("{}={}\n", name, value);
  for (std::size_t n = 1; n < command.size(); ++n)
    if (is_relative(command[n - 1], command[n]))
      return out + fmt::format("in {}\n", fs::current_path().string());
  return out;
}

/// A file that one process at a time has. It is let go when the process ends, however that is.
class Lock {
 public:
  explicit Lock(const fs::path& file)
      : file_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)),
        is_held_(file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) == 0) {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (file_ >= 0) close(file_);
  }
  [[nodiscard]] bool is_held() const { return is_held_; }

 private:
  int file_;
  bool is_held_;
};

class HeaderSet {
 public:
  HeaderSet(const HeaderPlan& plan, fs::path cache, bool with_hip_runtime)
      : command_(plan.command), source_(plan.first_headers), cache_(std::move(cache)) {
    if (with_hip_runtime) command_.insert(command_.end(), {"-include", std::string(kHipRuntime)});
    options_ = fmt::format("{}\n{}", fmt::join(command_, "\n"), surroundings(command_));
    place_ = cache_ / fmt::format("{:016x}", std::hash<std::string>{}(options_));
  }

  [[nodiscard]] fs::path headers() const { return place_ / "pch"; }

  /// Made of the files as they are now.
  [[nodiscard]] bool is_valid() const {
    if (read(place_ / "options") != options_) return false;
    for (const char* const file : {"host.pch", "device.pch"})
      if (state_of(headers() / file).empty()) return false;
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
    if (fs::exists(beside("once"), ignored)) return true;
    fs::create_directories(cache_, ignored);
    write(beside("once"), options_);
    return false;
  }

  void touch() const {
    std::error_code ignored;
    fs::last_write_time(place_, fs::file_time_type::clock::now(), ignored);
  }

  /// Makes it, unless another process is about to. Whether it can be used now.
  [[nodiscard]] bool make() const {
    const Lock lock(beside("once"));
    if (!lock.is_held() || failed_lately()) return false;
    if (is_valid()) return true;
    if (compile_all() && is_valid()) return true;
    write(beside("failed"), options_);
    return false;
  }

 private:
  [[nodiscard]] fs::path beside(std::string_view suffix) const {
    return fmt::format("{}.{}", place_.string(), suffix);
  }
  /// The cache cannot be written, or a header has an error or is warned of: then it is compiled
  /// with each source, so that its messages are seen.
  [[nodiscard]] bool failed_lately() const {
    constexpr std::chrono::minutes kLately{10};
    std::error_code error;
    const auto time = fs::last_write_time(beside("failed"), error);
    return !error && fs::file_time_type::clock::now() - time < kLately;
  }
  [[nodiscard]] bool compile(std::string_view pass, const fs::path& into) const;
  [[nodiscard]] bool is_installed(const std::string& file) const;
  [[nodiscard]] bool compile_all() const;

  std::vector<std::string> command_;
  std::string source_;
  std::string options_;
  fs::path cache_;
  fs::path place_;
};

bool HeaderSet::compile(std::string_view pass, const fs::path& into) const {
  ChildPlan child{.command = command_, .environment = {}, .silent = true};
  const std::string output = (into / "pch" / pass).string() + ".pch";
  child.command.insert(child.command.end(),
                       {"-Xclang", std::string(kNoModules), "-Werror", "-fsyntax-only",
                        fmt::format("--cuda-{}-only", pass), "-Wno-unused-command-line-argument",
                        "-Xclang", "-emit-pch", "-Xclang", "-o", "-Xclang", output, "-MD", "-MF",
                        (into / pass).string(), "-x", "hip", source_});
  const Result<ChildEnd> end = run_child(child);
  return end && end->shell_code() == 0;
}

bool HeaderSet::is_installed(const std::string& file) const {
  const std::string prefix = fs::path(source_).parent_path().parent_path().parent_path().string();
  return file.starts_with("/usr/") || file.starts_with(prefix + "/") ||
         file.starts_with(fs::path(command_.front()).parent_path().parent_path().string() + "/");
}

bool HeaderSet::compile_all() const {
  const fs::path into = beside("making");
  std::error_code error;
  fs::remove_all(into, error);  // of a process that was killed
  fs::create_directories(into / "pch", error);
  if (error) return false;
  std::vector<std::string> files = {command_.front()};
  for (const std::string_view pass : {"host", "device"}) {
    if (!compile(pass, into)) return fs::remove_all(into, error), false;
    for (const std::string& file : dependencies(read(into / pass)))
      files.push_back(fs::absolute(file, error).string());
  }
  std::ranges::sort(files);
  files.erase(std::ranges::unique(files).begin(), files.end());
  std::string inputs;
  for (const std::string& file : files) {
    const std::string state = state_of(file);
    // Whether it changes would not be seen; or a directory of the user's has a header of this name.
    if (state.empty() || !is_installed(file)) return false;
    inputs += state;
  }
  if (!write(into / "inputs", inputs) || !write(into / "options", options_)) return false;
  fs::remove_all(place_, error);  // one that is out of date
  fs::rename(into, place_, error);
  return !error;
}

/// Removes the sets whose last use is longest ago, so that kMostSets are left.
void remove_oldest(const fs::path& cache) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> sets;
  for (const fs::directory_entry& entry : fs::directory_iterator(cache, error))
    if (entry.is_directory(error)) sets.emplace_back(entry.last_write_time(error), entry.path());
  if (sets.size() <= kMostSets) return;
  std::ranges::sort(sets);
  sets.resize(sets.size() - kMostSets);
  for (const auto& [time, place] : sets) fs::remove_all(place, error);
}

/// The header of a line that is `#include <HEADER>`, but for a comment to its end; empty if it is
/// not.
std::string_view included(std::string_view line) {
  const auto skip = [&](std::string_view what) {
    if (!line.starts_with(what)) return false;
    line.remove_prefix(what.size());
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    return true;
  };
  if (!skip("#") || !skip("include") || !skip("<")) return {};
  const std::size_t end = line.find('>');
  if (end == std::string_view::npos) return {};
  const std::string_view header = line.substr(0, end);
  line.remove_prefix(end);
  skip(">");
  return line.empty() || line.starts_with("//") ? header : std::string_view{};
}

}  // namespace

bool begins_with_hip_runtime(std::string_view text) {
  while (!text.empty()) {
    if (text.starts_with("/*")) {
      const std::size_t end = text.find("*/");
      if (end == std::string_view::npos) return false;
      text.remove_prefix(end + 2);
      continue;
    }
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != std::string_view::npos) {
      const std::string_view words = line.substr(begin);
      if (words.starts_with("/*")) {
        text.remove_prefix(begin);
        continue;
      }
      if (line.ends_with('\\') || line.ends_with("\\\r"))
        return false;  // the next line belongs to it
      if (!words.starts_with("//")) {
        const std::string_view header = included(words);
        if (header == kHipRuntime) return true;
        if (!std::ranges::binary_search(kStandardHeaders, header)) return false;
      }
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return false;
}

std::optional<std::vector<std::string>> with_precompiled_headers(const HipccPlan& plan,
                                                                 const fs::path& cache) {
  if (!plan.headers) return std::nullopt;
  const bool with_hip_runtime = std::ranges::all_of(
      plan.headers->sources,
      [](const std::string& source) { return begins_with_hip_runtime(read(source)); });
  if (!with_hip_runtime && !plan.headers->names_headers) return std::nullopt;
  const HeaderSet set(*plan.headers, fs::absolute(cache), with_hip_runtime);
  if (!set.is_valid()) {
    if (!set.note_use() || !set.make()) return std::nullopt;
    set.touch();
    remove_oldest(cache);
  }
  set.touch();
  std::vector<std::string> command = plan.command;
  command.insert(command.begin() + 1, {"-Xclang", std::string(kNoModules), "-Xclang",
                                       "-include-pch", "-Xclang", set.headers().string()});
  return command;
}

std::optional<int> try_command(std::vector<std::string> command) {
  if (isatty(STDERR_FILENO) != 0) command.insert(command.begin() + 1, "-fcolor-diagnostics");
  std::FILE* const messages = std::tmpfile();
  if (messages == nullptr) return std::nullopt;
  const Result<ChildEnd> end = run_child(
      {.command = std::move(command), .environment = {}, .error_output = fileno(messages)});
  std::optional<int> code;
  if (end && (end->shell_code() == 0 || end->signal != 0)) {
    code = end->shell_code();
    (void)std::fseek(messages, 0, SEEK_SET);
    std::array<char, 4096> part{};
    for (std::size_t size = 0; (size = std::fread(part.data(), 1, part.size(), messages)) > 0;)
      std::fwrite(part.data(), 1, size, stderr);
  }
  std::fclose(messages);
  return code;
}

}  // namespace margay::cli
