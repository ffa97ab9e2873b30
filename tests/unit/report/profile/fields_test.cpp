// The lists of fields: complete, named once, and what goes through them.
#include "report/profile/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

#include "fake_profile.h"
#include "report/profile/json/json.h"
#include "report/profile/page/html_data.h"
#include "report/profile/profile_fields.h"

namespace margay::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename Record>
class Records : public testing::Test {};
using AllRecords =
    testing::Types<MemoryTraffic, LdsUse, SiteTraits, SiteFigures, Site, TensorTraffic, Resources>;
TYPED_TEST_SUITE(Records, AllRecords);

TYPED_TEST(Records, name_each_field_once) {
  std::set<std::string_view> names, pages;
  for_each_field<TypeParam>([&](const auto& field) {
    EXPECT_FALSE(field.name.empty());
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    if constexpr (requires { field.page; }) {
      if (!field.page.empty()) EXPECT_TRUE(pages.insert(field.page).second) << field.page;
    }
  });
}

TEST(Fields, counts_are_added_and_facts_stay) {
  LdsUse a{.cycles = 1, .worst_ways = 4}, b{.cycles = 2, .worst_ways = 8, .worst_lanes = 3};
  a.bank_dwords[31] = 5;
  b.bank_dwords[31] = 6;
  add_counts(a, b);
  EXPECT_EQ(a.cycles, 3u);
  EXPECT_EQ(a.bank_dwords[31], 11u);
  EXPECT_EQ(a.worst_ways, 4u);
  EXPECT_EQ(a.worst_lanes, 0u);
}

TEST(Fields, every_count_of_memory_is_added) {
  MemoryTraffic one, two;
  std::uint64_t n = 0;
  for_each_count([&](std::uint64_t& count) { count = ++n; }, one);
  EXPECT_EQ(n * 8, sizeof(MemoryTraffic));
  two = one;
  two += one;
  for_each_count([](std::uint64_t twice, std::uint64_t once) { EXPECT_EQ(twice, 2 * once); }, two,
                 one);
}

TEST(Fields, page_has_its_own_names) {
  LdsUse use{.conflict_cycles = 7, .worst_lanes = 0b101};
  const Json page = page_record(use);
  EXPECT_EQ(page["conflict"], 7);
  EXPECT_THAT(page["lanes"], ElementsAre(0, 2));
  EXPECT_FALSE(page_record(MemoryTraffic{}).contains("inactive_sector_bytes"));
}

TEST(Fields, a_file_without_a_later_field_is_read) {
  nlohmann::json document = nlohmann::json::parse(json_of(fake::profile()));
  auto& tensor = document["kernels"][0]["tensors"][0];
  ASSERT_TRUE(tensor.contains("xcd_read_bytes"));
  tensor.erase("xcd_read_bytes");
  const auto read = parse_profile(document.dump());
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->kernels[0].tensors[0].xcd_read_bytes, 0u);
  tensor.erase("l2_read_bytes");
  EXPECT_THAT(parse_profile(document.dump()).error().what,
              HasSubstr("kernels[0].tensors[0].l2_read_bytes is missing"));
}

}  // namespace
}  // namespace margay::profile
