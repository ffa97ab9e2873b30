// See temporary_directory.h.
#include "cli/process/temporary_directory.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

namespace margay::cli {
namespace {

namespace fs = std::filesystem;

/// The process id in "1234.json"; 0 if there is none.
unsigned long process_of(const fs::path& file) {
  const std::string name = file.stem().string();
  unsigned long process = 0;
  std::from_chars(name.data(), name.data() + name.size(), process);
  return process;
}

}  // namespace

Result<TemporaryDirectory> TemporaryDirectory::create() {
  std::error_code failure;
  const fs::path parent = fs::temp_directory_path(failure);
  std::string name = (parent / "margay-XXXXXX").string();
  if (failure || mkdtemp(name.data()) == nullptr) {
    return fail(ErrorCode::system,
                fmt::format("a temporary directory cannot be made: {}",
                            failure ? failure.message() : std::strerror(errno)),
                name, "set TMPDIR to a directory that can be written to");
  }
  return TemporaryDirectory(name);
}

TemporaryDirectory::~TemporaryDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<fs::path> files_by_process(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files, [](const fs::path& a, const fs::path& b) {
    return process_of(a) != process_of(b) ? process_of(a) < process_of(b) : a < b;
  });
  return files;
}

}  // namespace margay::cli
