#include "report/words.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

namespace margay::report {
namespace {

/// Three digits and the prefix that goes with them.
std::string scaled(double number, std::string_view unit, std::string_view plain_unit) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (number >= 999.5 && prefix + 1 < kPrefixes.size()) {
    number /= 1000;
    ++prefix;
  }
  if (prefix == 0) return fmt::format("{:.0f}{}", number, plain_unit);
  const int digits = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}{}", number, digits, kPrefixes[prefix], unit);
}

}  // namespace

TextOptions text_options(int file_descriptor) {
  TextOptions options;
  std::error_code ignored;
  options.directory = std::filesystem::current_path(ignored).string();
  // https://no-color.org: present and not empty means no colour.
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  options.colour = (no_color == nullptr || *no_color == '\0') &&
                   (term == nullptr || std::strcmp(term, "dumb") != 0) &&
                   isatty(file_descriptor) != 0;
  return options;
}

TextOptions stderr_text_options() { return text_options(STDERR_FILENO); }

std::string painted(std::string_view text, std::string_view colour, const TextOptions& options) {
  if (!options.colour || colour.empty() || text.empty()) return std::string(text);
  return fmt::format("{}{}{}", colour, text, kPlain);
}

std::string place_of(const SourceFrame& frame, std::string_view directory) {
  if (frame.line == 0 || frame.file.empty()) return {};
  std::string_view file = frame.file;
  while (directory.ends_with('/')) directory.remove_suffix(1);
  if (!directory.empty() && file.size() > directory.size() && file.starts_with(directory) &&
      file[directory.size()] == '/') {
    file.remove_prefix(directory.size() + 1);
  }
  std::string text = fmt::format("{}:{}", file, frame.line);
  if (!frame.function.empty()) text += " in " + short_function(frame.function);
  return text;
}

bool is_in_name(std::string_view wanted, std::string_view name) {
  return name.contains(wanted) || short_function(name).contains(wanted);
}

std::string short_place_of(const SourceFrame& frame, const TextOptions& options) {
  std::string place = place_of(frame, options.directory);
  const std::string_view file = std::string_view(place).substr(0, place.find(':'));
  if (!options.full && !options.directory.empty() && file.starts_with('/'))
    place.erase(0, file.rfind('/') + 1);
  return place;
}

std::string operations_text(std::span<const SourceFrame> operations, const TextOptions& options) {
  constexpr std::size_t kOthersShown = 3;
  std::string text;
  std::size_t others = 0;
  std::vector<std::string> shown;
  for (const SourceFrame& operation : operations) {
    const std::string place =
        short_place_of({{}, operation.file, operation.line, operation.column}, options);
    if (text.empty() || options.full) {
      if (!text.empty()) text += "; ";
      text += operation.function.empty() ? place
              : place.empty()            ? operation.function
                                         : fmt::format("{} at {}", operation.function, place);
      shown.push_back(place);
    } else if (!place.empty() && std::ranges::find(shown, place) == shown.end()) {
      shown.push_back(place);
      if (++others <= kOthersShown) text += (others == 1 ? "; also " : ", ") + place;
    }
  }
  if (others > kOthersShown) text += fmt::format(", {} more", others - kOthersShown);
  return text;
}

std::string counted(std::uint64_t number, std::string_view word, std::string_view plural) {
  if (number == 1) return fmt::format("1 {}", word);
  return plural.empty() ? fmt::format("{} {}s", number, word)
                        : fmt::format("{} {}", number, plural);
}

std::string bytes_text(double bytes) { return scaled(bytes, "B", " B"); }

std::string quantity_text(double number) { return scaled(number, "", ""); }

std::string seconds_text(double seconds) {
  if (seconds == 0) return "0 s";
  if (seconds < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

}  // namespace margay::report
