#include "report/text_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace margay::report {
namespace {

std::unexpected<Error> cannot_write(const std::string& path, int number) {
  const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
  errno = number;
  return fail(ErrorCode::system,
              fmt::format("The report cannot be written: {}.", std::strerror(number)), path,
              full ? "Make room there, or name a file elsewhere."
                   : "Name a file in a directory that exists and can be written to.");
}

/// Writes `text` to an opened file and closes it; the errno of what failed, or 0.
int write_and_close(std::FILE* file, const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int write_error = errno;
  const bool closed = std::fclose(file) == 0;
  return !written ? write_error : !closed ? errno : 0;
}

std::string with_process(std::string path) {
  const std::string pid = std::to_string(getpid());
  for (std::size_t at = path.find("%p"); at != std::string::npos; at = path.find("%p", at)) {
    path.replace(at, 2, pid);
    at += pid.size();
  }
  return path;
}

/// Where a report goes, and the file that is written first and then renamed to that; for a pipe or
/// the like it is the same.
struct Place {
  std::string target, written;
  [[nodiscard]] bool is_in_place() const { return written == target; }
};

Place place_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  fs::path target = with_process(path);
  // A terminal, a pipe or /dev/null is written to; in its place there would be a file from now on.
  const fs::file_status status = fs::status(target, unknown);
  const bool in_place = fs::exists(status) && !fs::is_regular_file(status);
  // Of a link it is what it points to that is replaced.
  if (!in_place && fs::exists(status)) {
    const fs::path real = fs::canonical(target, unknown);
    if (!unknown) target = real;
  }
  return {target,
          in_place ? target.string() : fmt::format("{}.{}.part", target.string(), getpid())};
}

}  // namespace

Status write_text(const std::string& text, const std::string& path) {
  const Place place = place_of(path);
  std::FILE* const file = std::fopen(place.written.c_str(), "wb");
  if (file == nullptr) return cannot_write(place.target, errno);
  int number = write_and_close(file, text);
  if (place.is_in_place()) return number == 0 ? Status{} : cannot_write(place.target, number);
  if (number == 0 && std::rename(place.written.c_str(), place.target.c_str()) != 0) number = errno;
  if (number == 0) return {};
  std::remove(place.written.c_str());
  return cannot_write(place.target, number);
}

Status check_writable(const std::string& path) {
  if (path.empty()) return {};
  const Place place = place_of(path);
  if (place.is_in_place()) {
    const bool is_directory = std::filesystem::is_directory(place.target);
    if (!is_directory && access(place.target.c_str(), W_OK) == 0) return {};
    return cannot_write(place.target, is_directory ? EISDIR : errno);
  }
  std::FILE* const file = std::fopen(place.written.c_str(), "wb");
  if (file == nullptr) return cannot_write(place.target, errno);
  std::fclose(file);
  std::remove(place.written.c_str());
  return {};
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || text.fail()) {
    return fail(ErrorCode::system,
                fmt::format("The report cannot be read: {}.", std::strerror(errno)), path);
  }
  return std::move(text).str();
}

}  // namespace margay::report
