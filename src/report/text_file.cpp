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

}  // namespace

Status write_text(const std::string& text, const std::string& path) {
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
  const std::string partial =
      in_place ? target.string() : fmt::format("{}.{}.part", target.string(), getpid());
  std::FILE* const file = std::fopen(partial.c_str(), "wb");
  if (file == nullptr) return cannot_write(target, errno);
  int number = write_and_close(file, text);
  if (in_place) return number == 0 ? Status{} : cannot_write(target, number);
  if (number == 0 && std::rename(partial.c_str(), target.c_str()) != 0) number = errno;
  if (number == 0) return {};
  std::remove(partial.c_str());
  return cannot_write(target, number);
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
