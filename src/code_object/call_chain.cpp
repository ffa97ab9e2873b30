#include "code_object/call_chain.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

namespace margay {
namespace {

/// Headers of the tile library, of HIP and of the compiler, Python files of Triton: code that users
/// call but do not write.
bool is_library(const SourceFrame& frame) {
  for (const std::string_view part :
       {"/include/kittens", "/include/margay/", "/include/pyutils", "/include/hip/", "/lib/clang/",
        "/usr/include/", "/usr/lib/", "/triton/language/", "/gluon/language/"})
    if (frame.file.find(part) != std::string::npos) return true;
  return false;
}

std::string normal(const std::string& file) {
  return std::filesystem::path(file).lexically_normal().string();
}

}  // namespace

CallChain user_first(std::vector<SourceFrame> frames) {
  for (SourceFrame& frame : frames) frame.file = normal(frame.file);
  const auto user = std::ranges::find_if(
      frames, [](const SourceFrame& frame) { return frame.line != 0 && !is_library(frame); });
  if (user == frames.end()) return {std::move(frames), 0};
  // Innermost first: what is before `user` is what it called.
  const auto called = static_cast<std::uint32_t>(user - frames.begin());
  std::ranges::reverse(frames.begin(), user + 1);
  return {std::move(frames), called};
}

}  // namespace margay
