#include "observe/report/text_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace margay::report {
namespace {

std::unexpected<Error> cannot_write(const std::string& path, int number) {
  return fail(ErrorCode::system,
              fmt::format("The report cannot be written: {}.", std::strerror(number)), path,
              "Name a file in a directory that exists and can be written to.");
}

}  // namespace

Status write_text(const std::string& text, const std::string& path) {
  std::string target = path;
  const std::string pid = std::to_string(getpid());
  for (std::size_t at = target.find("%p"); at != std::string::npos; at = target.find("%p", at)) {
    target.replace(at, 2, pid);
    at += pid.size();
  }
  const std::string partial = target + "." + pid + ".part";
  std::FILE* file = std::fopen(partial.c_str(), "wb");
  if (file == nullptr) return cannot_write(target, errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int write_error = errno;
  if (std::fclose(file) != 0 || !written) {
    const int number = written ? errno : write_error;
    std::remove(partial.c_str());
    return cannot_write(target, number);
  }
  if (std::rename(partial.c_str(), target.c_str()) != 0) {
    const int number = errno;
    std::remove(partial.c_str());
    return cannot_write(target, number);
  }
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
