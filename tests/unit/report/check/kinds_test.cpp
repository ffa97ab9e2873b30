// The registries of kinds, fixes and roles, and whether docs/check.md lists the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "report/check/finding.h"

namespace margay::check {
namespace {

std::string document() {
  std::ifstream file(MARGAY_CHECK_PAGE);
  EXPECT_TRUE(file.is_open()) << MARGAY_CHECK_PAGE;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> quoted(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::vector<std::string> names;
  const std::regex name("`([^`]+)`");
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at)
    names.push_back((*at)[1]);
  return names;
}

/// Kinds by tool, from the table "| tool | kind | what |": an empty first cell is the tool above.
std::multimap<std::string, std::string> documented_kinds() {
  std::multimap<std::string, std::string> kinds;
  std::istringstream lines(document());
  std::string tool;
  bool in_table = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "| tool | kind | what |") in_table = true;
    if (!in_table || line.starts_with("| ---")) continue;
    if (!line.starts_with("|")) break;
    const std::size_t second = line.find('|', 1), third = line.find('|', second + 1);
    std::string cell = line.substr(1, second - 1);
    std::erase(cell, ' ');
    if (cell == "tool") continue;
    if (!cell.empty()) tool = cell;
    for (const std::string& kind : quoted(line.substr(second, third - second)))
      kinds.emplace(tool, kind);
  }
  return kinds;
}

TEST(Kinds, are_those_of_the_page) {
  std::multimap<std::string, std::string> known;
  for (const KindInfo& kind : kKinds) known.emplace(tool_name(kind.tool), kind.name);
  const auto sorted = [](const std::multimap<std::string, std::string>& kinds) {
    return std::multiset<std::pair<std::string, std::string>>(kinds.begin(), kinds.end());
  };
  EXPECT_EQ(sorted(documented_kinds()), sorted(known));
}

TEST(Kinds, names_are_unique_and_mean_something) {
  std::set<std::string_view> names, meanings;
  for (const KindInfo& kind : kKinds) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_TRUE(meanings.insert(kind.meaning).second) << kind.name;
    EXPECT_FALSE(kind.meaning.empty()) << kind.name;
    EXPECT_EQ(kind_name(kind.kind), kind.name);
  }
}

/// The names in the parentheses behind `head`.
std::multiset<std::string> listed_behind(const std::string& head) {
  const std::string text = document();
  const std::size_t at = text.find(head + " (");
  EXPECT_NE(at, std::string::npos) << head;
  if (at == std::string::npos) return {};
  const std::size_t begin = at + head.size();
  const auto names = quoted(text.substr(begin, text.find(')', begin) - begin));
  return {names.begin(), names.end()};
}

TEST(Fixes, are_those_of_the_page) {
  EXPECT_EQ(listed_behind("A fix: `kind`"),
            std::multiset<std::string>(kFixNames.begin(), kFixNames.end()));
}

TEST(Roles, are_those_of_the_page) {
  EXPECT_EQ(listed_behind("An access: `role`"),
            std::multiset<std::string>(kRoleNames.begin(), kRoleNames.end()));
}

}  // namespace
}  // namespace margay::check
