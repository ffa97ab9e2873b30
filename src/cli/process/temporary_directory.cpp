// See temporary_directory.h.
#include "cli/process/temporary_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

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

constexpr std::string_view kPrefix = "margay-run-";

/// The directory, open and locked; -1 if another process has it, or if it cannot be.
int lock(const fs::path& directory) {
  const int file = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  if (file >= 0) close(file);
  return -1;
}

/// Removes what killed processes of this user left. A young one may not be locked yet.
void remove_abandoned(const fs::path& parent) {
  constexpr time_t kYoung = 60;  // seconds
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const fs::path& path = entry.path();
    struct stat state = {};
    if (!path.filename().string().starts_with(kPrefix) || lstat(path.c_str(), &state) != 0 ||
        state.st_uid != geteuid() || state.st_mtime > std::time(nullptr) - kYoung)
      continue;
    const int file = lock(path);
    if (file < 0) continue;
    fs::remove_all(path, ignored);
    close(file);
  }
}

}  // namespace

Result<TemporaryDirectory> TemporaryDirectory::create() {
  std::error_code failure;
  const fs::path parent = fs::temp_directory_path(failure);
  if (!failure) remove_abandoned(parent);
  std::string name = (parent / fmt::format("{}XXXXXX", kPrefix)).string();
  if (failure || mkdtemp(name.data()) == nullptr) {
    return fail(ErrorCode::system,
                fmt::format("a temporary directory cannot be made: {}",
                            failure ? failure.message() : std::strerror(errno)),
                name, "set TMPDIR to a directory that can be written to");
  }
  return TemporaryDirectory(name, lock(name));
}

TemporaryDirectory::~TemporaryDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
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
