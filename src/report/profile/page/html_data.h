// The data of the page of html.h, as JSON: one document for the page's scripts. Its format changes
// with the page; other programs use json.h.
//
//   strings   file and function names; elsewhere they are indices into this list
//   sources   by index of the file name: pieces {first, lines}, or null if it cannot be read
//   kernels   see html_data.cpp and html_sites.cpp
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/profile/analysis/advice.h"
#include "report/profile/json/json.h"
#include "report/profile/profile.h"
#include "report/profile/profile_fields.h"

namespace margay::profile {

using Json = nlohmann::ordered_json;

/// Strings that occur often, each written once.
class StringTable {
 public:
  std::size_t index(const std::string& text) {
    const auto [at, fresh] = indices_.try_emplace(text, strings_.size());
    if (fresh) strings_.push_back(text);
    return at->second;
  }
  [[nodiscard]] const std::vector<std::string>& strings() const { return strings_; }

 private:
  std::unordered_map<std::string, std::size_t> indices_;
  std::vector<std::string> strings_;
};

/// The fields of a record that have a name for the page. Lanes are a list of their numbers.
template <HasFields Record>
[[nodiscard]] Json page_record(const Record& record) {
  Json out = Json::object();
  const auto add = [&]<typename Owner, typename T>(const Field<Owner, T>& field) {
    if (field.page.empty()) return;
    Json& place = out[std::string(field.page)];
    const T& value = record.*field.member;
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      if (field.kind == FieldKind::lanes) {
        place = Json::array();
        for (std::uint64_t mask = value; mask != 0; mask &= mask - 1)
          place.push_back(std::countr_zero(mask));
        return;
      }
    }
    if constexpr (requires { value.has_value(); })
      place = value ? Json(*value) : Json(nullptr);
    else
      place = value;
  };
  for_each_field<Record>(add);
  return out;
}

/// Which lines of which files the instructions come from.
using UsedLines = std::map<std::string, std::set<std::uint32_t>>;

/// The instructions, call chains and lines of a kernel, added to `out` under "sites", "frames",
/// "chains" and "lines".
void add_sites(const KernelProfile& kernel, StringTable& strings, UsedLines& used, Json& out);

/// A small file as a whole; of a large one the used lines and those around them.
[[nodiscard]] Json source_pieces(const std::vector<std::string>& lines,
                                 const std::set<std::uint32_t>& used);

/// The advice about a kernel; advice_for, or nothing for a page without advice.
using Adviser = std::function<std::vector<Advice>(const KernelProfile&)>;

[[nodiscard]] Json page_data(const Profile& profile, const SourceReader& source,
                             const Adviser& adviser);

}  // namespace margay::profile
