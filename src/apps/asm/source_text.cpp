// See source_text.h.
#include "apps/asm/source_text.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace margay::assembly {
namespace {

namespace fs = std::filesystem;

// No source file is larger; debug information may point to any file.
constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{64} << 20;

std::vector<std::string> read_lines(const std::string& file) {
  std::error_code failure;
  if (!fs::is_regular_file(file, failure)) return {};
  if (fs::file_size(file, failure) > kMaxFileBytes || failure) return {};
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  return lines;
}

/// The last `count` components of a path.
std::string tail(const std::string& file, std::size_t count) {
  std::size_t at = file.size();
  for (std::size_t n = 0; n < count && at != 0 && at != std::string::npos; ++n) {
    at = file.rfind('/', at - 1);
  }
  return at == std::string::npos || at == 0 ? file : file.substr(at + 1);
}

}  // namespace

std::optional<std::string> SourceText::line(const std::string& file, std::uint32_t line) {
  auto found = files_.find(file);
  if (found == files_.end()) found = files_.emplace(file, read_lines(file)).first;
  if (line == 0 || line > found->second.size()) return std::nullopt;
  return printable(found->second[line - 1]);
}

std::map<std::string, std::string> short_names(const std::set<std::string>& files) {
  std::map<std::string, std::string> names;
  for (const std::string& file : files) {
    for (std::size_t count = 1;; ++count) {
      std::string name = tail(file, count);
      bool is_unique = true;
      for (const std::string& other : files) {
        if (other != file && tail(other, count) == name) is_unique = false;
      }
      if (!is_unique && name != file) continue;
      names[file] = std::move(name);
      break;
    }
  }
  return names;
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\t') {
      out += "  ";
    } else if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) {
      out += c;
    }
  }
  return out;
}

}  // namespace margay::assembly
