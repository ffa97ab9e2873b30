// A directory for the files that a child process writes.
#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "base/error.h"

namespace margay::cli {

/// A directory that is removed with its contents by the destructor.
class TemporaryDirectory {
 public:
  [[nodiscard]] static Result<TemporaryDirectory> create();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// The .json files in `directory`, in the order of the process ids that are their names.
[[nodiscard]] std::vector<std::filesystem::path> files_by_process(
    const std::filesystem::path& directory);

}  // namespace margay::cli
