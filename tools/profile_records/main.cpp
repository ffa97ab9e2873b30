// Writes python/margay/_profile_records.py: the figures of a profile as Python's classes, from the
// lists of fields that also make its JSON (src/report/profile/profile.h).
#include <array>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "report/profile/profile_fields.h"

namespace margay::profile {
namespace {

constexpr std::string_view kHead = R"("""What a profile records: the fields of its JSON as classes.

Made by `cmake --build DIR --target profile_records_update` from src/report/profile/profile.h.
"""

from dataclasses import dataclass
from typing import Optional, Tuple
)";

/// Empty for what Python has a class of its own for (profiler.py).
template <typename T>
std::string python_type() {
  if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_same_v<T, std::string>)
    return "str";
  else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>)
    return "int";
  else if constexpr (kIsNumbers<T>)
    return "Tuple[int, ...]";
  else if constexpr (std::is_same_v<T, std::optional<std::array<std::uint64_t, 4>>>)
    return "Optional[Tuple[int, int, int, int]]";
  else
    return {};
}

struct Form {
  bool frozen = true;
  bool all_default = false;  ///< So that totals can begin with nothing.
};

template <HasFields Record>
std::string class_of(std::string_view name, std::string_view what, Form form) {
  std::string needed, with_default;
  const auto add = [&](std::string_view field, std::string type, bool is_default,
                       std::string_view meaning) {
    if (type.empty()) return;
    // Profiles of earlier versions lack them.
    if (is_default) type += " = 0";
    std::string line = "    " + std::string(field) + ": " + type;
    if (!meaning.empty()) line += "  # " + std::string(meaning);
    (is_default ? with_default : needed) += line + "\n";
  };
  for_each_field<Record>([&]<typename Entry>(const Entry& field) {
    using T = typename Entry::Value;
    if constexpr (requires { field.member; })
      add(field.name, field.kind == FieldKind::lanes ? "Tuple[int, ...]" : python_type<T>(),
          field.later || form.all_default, field.meaning);
    else
      add(field.name, python_type<T>(), false, field.meaning);
  });
  return "\n\n@dataclass" + std::string(form.frozen ? "(frozen=True)" : "") + "\nclass " +
         std::string(name) + ":\n    \"\"\"" + std::string(what) + "\"\"\"\n\n" + needed +
         with_default;
}

std::string module_text() {
  return std::string(kHead) +
         class_of<Resources>(
             "Resources",
             "What the compiler says that the kernel needs, and what fits on a compute unit (CU).",
             {}) +
         class_of<TensorTraffic>(
             "TensorFigures",
             "The traffic of the memory behind one pointer argument, in bytes, over all launches.",
             {}) +
         class_of<MemoryTraffic>(
             "MemoryFigures", "What vector memory instructions asked for and where it was served.",
             {.frozen = false, .all_default = true}) +
         class_of<LdsUse>(
             "LdsUse", "The bank conflicts of one LDS instruction, over all its executions.", {}) +
         class_of<Site>("SiteFigures", "What is counted of every instruction that ran.", {});
}

}  // namespace
}  // namespace margay::profile

/// profile_records FILE [--check]
int main(int count, char** words) {
  if (count < 2) {
    std::cerr << "usage: profile_records FILE [--check]\n";
    return 2;
  }
  const std::string text = margay::profile::module_text();
  if (count > 2) {
    std::ifstream file(words[1], std::ios::binary);
    std::ostringstream found;
    found << file.rdbuf();
    if (found.str() == text) return 0;
    std::cerr << words[1]
              << " is not what src/report/profile/profile.h says; build the target "
                 "profile_records_update\n";
    return 1;
  }
  std::ofstream file(words[1], std::ios::binary);
  file << text;
  return file.flush() ? 0 : 1;
}
