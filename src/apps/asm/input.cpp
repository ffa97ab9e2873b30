// See input.h.
#include "apps/asm/input.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cli/process/temporary_directory.h"
#include "code_object/bundle/find_image.h"
#include "gpu/gpu.h"

namespace margay::assembly {
namespace {

namespace fs = std::filesystem;

constexpr auto kSuffixes =
    std::to_array<std::string_view>({".cpp", ".cc", ".cxx", ".c++", ".C", ".cp", ".hip", ".cu"});
// Operations that take longer than this print a message.
constexpr auto kSilence = std::chrono::seconds(2);
constexpr auto kPollInterval = std::chrono::milliseconds(5);

Result<std::vector<std::byte>> read_file(const fs::path& file) {
  std::error_code failure;
  const fs::file_status status = fs::status(file, failure);
  if (status.type() == fs::file_type::not_found) {
    return fail(ErrorCode::not_found, "There is no file " + file.string() + ".", {},
                "Give a code object (.hsaco), a program or library with HIP kernels, or a HIP "
                "source file.");
  }
  if (!fs::is_regular_file(status)) {
    return fail(ErrorCode::invalid_argument, file.string() + " is not a file.", {},
                "Give a code object (.hsaco), a program or library with HIP kernels, or a HIP "
                "source file.");
  }
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream) {
    return fail(ErrorCode::system, "The file cannot be read: " + std::string(std::strerror(errno)),
                file.string());
  }
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(std::max<std::streamoff>(stream.tellg(), 0)));
  stream.seekg(0);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream) return fail(ErrorCode::system, "The file cannot be read to its end.", file.string());
  if (bytes.empty()) {
    return fail(ErrorCode::invalid_image, "The file is empty.", file.string(),
                "Build it again; was its compilation interrupted?");
  }
  return bytes;
}

/// The error with the file's name before its place.
Error in_file(Error error, const fs::path& file) {
  error.where = error.where.empty() ? file.string() : file.string() + ": " + error.where;
  return error;
}

/// Runs a program to its end and returns its exit code (128 + the signal that ended it).
Result<int> run(const std::vector<std::string>& command, const std::string& what) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  if (const int number = posix_spawn(&child, words[0], nullptr, nullptr, words.data(), environ)) {
    return fail(ErrorCode::system,
                "The compiler cannot be started: " + std::string(std::strerror(number)),
                command[0]);
  }
  const auto begin = std::chrono::steady_clock::now();
  bool said = false;
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended < 0 && errno != EINTR) {
      return fail(ErrorCode::system,
                  "The compiler cannot be waited for: " + std::string(std::strerror(errno)));
    }
    if (!said && std::chrono::steady_clock::now() - begin > kSilence) {
      fmt::print(stderr, "{} ...\n", what);
      said = true;
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

}  // namespace

bool is_source_file(const fs::path& file) {
  return std::ranges::find(kSuffixes, file.extension().string()) != kSuffixes.end();
}

Result<std::vector<CodeObject>> read_code_objects(const fs::path& file) {
  const std::vector<std::byte> bytes = MARGAY_TRY(read_file(file));
  auto images = find_images(bytes, default_gpu().arch());
  if (!images) return std::unexpected(in_file(std::move(images).error(), file));
  std::vector<CodeObject> objects;
  for (std::vector<std::byte>& image : *images) {
    auto object = CodeObject::parse(std::move(image));
    if (!object) return std::unexpected(in_file(std::move(object).error(), file));
    objects.push_back(std::move(*object));
  }
  return objects;
}

Result<std::vector<CodeObject>> compile_code_object(const fs::path& margay, const fs::path& source,
                                                    std::span<const std::string> arguments) {
  MARGAY_TRY(read_file(source));
  const cli::TemporaryDirectory directory = MARGAY_TRY(cli::TemporaryDirectory::create());
  const fs::path output = directory.path() / source.stem().concat(".hsaco");
  std::vector<std::string> command = {margay.string(), "hipcc", "--genco",
                                      "--no-gpu-bundle-output"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.insert(command.end(), {source.string(), "-o", output.string()});
  const int code = MARGAY_TRY(run(command, "compiling " + source.string()));
  if (code != 0) {
    return fail(
        ErrorCode::invalid_image,
        fmt::format("{} does not compile for gfx942 (exit code {}).", source.string(), code), {},
        arguments.empty() ? "Options for the compiler go after --, e.g. margay asm " +
                                source.filename().string() + " -- -Iinclude"
                          : "See the compiler's messages above.");
  }
  return read_code_objects(output);
}

}  // namespace margay::assembly
