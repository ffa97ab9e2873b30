// A directory for the files that a child process writes.
#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "base/error.h"

namespace margay::cli {

/// A directory that is removed with its contents by the destructor; or, if the process was killed,
/// when another one makes such a directory, a minute later or more.
class TemporaryDirectory {
 public:
  [[nodiscard]] static Result<TemporaryDirectory> create();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  TemporaryDirectory(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::filesystem::path path_;
  int lock_ = -1;  // the directory, open and locked as long as its process lives
};

/// The .json files in `directory`, in the order of the process ids that are their names.
[[nodiscard]] std::vector<std::filesystem::path> files_by_process(
    const std::filesystem::path& directory);

}  // namespace margay::cli
