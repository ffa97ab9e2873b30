// A profile as JSON and back: everything survives, and no document, however mangled, does harm.
#include "report/profile/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "exercise.h"
#include "fake_profile.h"
#include "report/profile/profile_fields.h"
#include "support/cases.h"

namespace margay::profile {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

/// Fields that the made-up profile leaves alone get values of their own, so that none is forgotten.
Profile full() {
  Profile p = fake::profile();
  KernelProfile& k = p.kernels[0];
  std::uint64_t next = 1ull << 60;
  for (std::size_t n = 0; n < kCounters; ++n) k.counters[static_cast<Counter>(n)] = ++next;
  for (Counters& xcd : k.xcds)
    for (std::size_t n = 0; n < kCounters; ++n)
      if (kCounterInfo[n].name.starts_with("TCC_")) xcd[static_cast<Counter>(n)] = ++next;
  k.computes = {{"jit(step)/add", "/src/model.py", 7, 0}, {"jit(step)/mul", "", 0, 0}};
  k.instructions_warm = true;
  k.failed_launches = 1;
  k.launches = 5;
  k.resources = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, "a limit", "a step"};
  for (Site& site : k.sites) {
    site.flops = ++next;
    site.is_atomic = next % 2 == 0;
    site.traits = {static_cast<MemoryPath>(next % kMemoryPaths), next % 3 == 0, next % 5 == 0, {}};
    if (next % 7 != 0) site.traits.vm_wait = static_cast<std::uint32_t>(next % 64);
    if (site.memory) {
      MemoryTraffic& m = *site.memory;
      m = {++next, ++next, ++next, ++next, ++next, ++next, ++next, ++next, ++next, ++next};
    }
    if (site.lds) {
      site.lds->address_cycles = ++next;
      site.lds->worst_bank = static_cast<std::uint32_t>(next % 32);
      site.lds->worst_lanes = next | 1ull << 63;
      site.lds->reached_bytes = ++next;
    }
  }
  for (TensorTraffic& t : k.tensors)
    for (std::uint64_t* field : {&t.bytes, &t.read_bytes, &t.written_bytes, &t.touched_read_bytes,
                                 &t.touched_written_bytes, &t.l2_read_bytes, &t.l2_written_bytes,
                                 &t.fabric_read_bytes, &t.fabric_written_bytes})
      *field = ++next;
  k.tensors[1].shape.reset();
  k.maps[0].ranges[0].readers = 0xffffffff;
  timing::KernelTime& time = k.time.emplace();
  time.cycles = 7340.5;
  time.us_boost = 3.5;
  time.us_sustained = 4.25;
  time.boost_ghz = 2.1;
  time.sustained_ghz = 1.5;
  time.error_percent = 15;
  time.launch_us = 2.7;
  time.tail_us = 0.125;
  time.warm = true;
  time.sample_length = 0.5;
  time.issue = 640;
  time.bound = timing::Bound::lds;
  time.busy = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
  time.simds = {0.1, 0.2, 0.7, 0.3, 0.4, 0.2, 0.1};
  time.simd_cycles = 4000;
  time.waves_per_simd = 1.25;
  time.occupancy = {1, 2.5, 0};
  time.occupancy_cycles = 900;
  time.elsewhere = {{"MI300X", 4.5, 5.5, false}, {"MI308X", 0, 0, true}};
  time.stalls = {1, 2, 3, 4, 5, 6, 7, 8};
  time.what_if = {{timing::WhatIfKind::loads_ahead, -12.5, 24, {{256, 0.75}}},
                  {timing::WhatIfKind::half_the_barriers, 3.5, 0, {}}};
  time.sites.resize(k.sites.size());
  for (timing::SiteTime& site : time.sites) site = {++next, 12.5, {0, 2, 0, 4}, 3, 2, 70, 1};
  time.timeline.workgroups = {{5000000000, 1, 2, 30, 4000, false}, {7, 1, 2, 90, 5000, true}};
  time.timeline.waves = {{1,
                          3,
                          2,
                          {{90, 10, {}, 0x100, 4}, {100, 50, timing::Stall::waitcnt, 0x108, 1}},
                          {{95, 1}, {145, 0}}}};
  time.timeline.occupancy = {{1, 2, 4, {{30, 8}, {4030, 0}}}};
  return p;
}

/// The same with little of each kind, for tests that change one thing after the other.
Profile small() {
  Profile p = full();
  p.kernels.resize(1);
  KernelProfile& k = p.kernels[0];
  std::vector<Site> few = {k.sites.front()};
  for (const Site& site : k.sites)
    if ((site.lds && few.size() == 1) || (site.memory && few.size() == 2)) few.push_back(site);
  k.sites = few;
  k.time->sites.resize(few.size());
  k.xcds.resize(1);
  for (WaveMap& map : k.maps) map.ranges.resize(1);
  k.traces.resize(1);
  k.traces[0].slices.resize(1);
  k.traces[0].slices[0].site = 0;
  return p;
}

TEST(ProfileJson, ComesBackWhole) {
  const Profile before = full();
  const std::string text = json_of(before);
  const auto after = parse_profile(text);
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(json_of(*after), text);
  // What JSON leaves out cannot be seen in JSON: the fields themselves, where they are many.
  const KernelProfile &a = before.kernels[0], &b = after->kernels[0];
  EXPECT_EQ(b.counters, a.counters);
  EXPECT_EQ(b.xcds, a.xcds);
  ASSERT_EQ(b.sites.size(), a.sites.size());
  for (std::size_t n = 0; n < a.sites.size(); ++n) {
    ASSERT_EQ(b.sites[n].frames.size(), a.sites[n].frames.size());
    for (std::size_t f = 0; f < a.sites[n].frames.size(); ++f) {
      EXPECT_EQ(b.sites[n].frames[f].function, a.sites[n].frames[f].function);
      EXPECT_EQ(b.sites[n].frames[f].file, a.sites[n].frames[f].file);
      EXPECT_EQ(b.sites[n].frames[f].line, a.sites[n].frames[f].line);
      EXPECT_EQ(b.sites[n].frames[f].column, a.sites[n].frames[f].column);
    }
    EXPECT_EQ(b.sites[n].lds.has_value(), a.sites[n].lds.has_value());
    if (a.sites[n].lds) EXPECT_EQ(b.sites[n].lds->worst_lanes, a.sites[n].lds->worst_lanes);
    EXPECT_EQ(b.sites[n].instruction_class, a.sites[n].instruction_class);
  }
  EXPECT_EQ(b.resources.next_step, "a step");
  EXPECT_EQ(b.maps[0].tensor, -1);
  EXPECT_EQ(b.maps[1].tensor, 0);
  EXPECT_EQ(b.traces[1].slices.size(), a.traces[1].slices.size());
  EXPECT_EQ(b.traces[1].slices[4].kind, TraceSlice::Kind::barrier);
}

TEST(ProfileJson, UnknownFieldsAndCountersDoNoHarm) {
  Json document = Json::parse(json_of(full()));
  document["later"] = {1, 2};
  document["kernels"][0]["counters"]["SQ_OF_THE_FUTURE"] = 3;
  document["kernels"][0]["counters"].erase("SQ_WAVES");
  const auto profile = parse_profile(document.dump());
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->kernels[0].counters[Counter::SQ_WAVES], 0u);
  EXPECT_GT(profile->kernels[0].counters[Counter::SQ_INSTS], 0u);
}

TEST(ProfileJson, FilesOfEarlierVersionsAreRead) {
  Json document = Json::parse(json_of(full()));
  for (Json& kernel : document["kernels"])
    for (Json& site : kernel["sites"]) ASSERT_EQ(site.erase("instruction"), 1u);
  const auto profile = parse_profile(document.dump());
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_FALSE(profile->kernels[0].sites.empty());
}

TEST(ProfileJson, WhatOtherVersionsTryAndThisOneDoesNotIsLeftOut) {
  Json document = Json::parse(json_of(full()));
  Json& what_ifs = document["kernels"][0]["time"]["what_if"];
  ASSERT_EQ(what_ifs.size(), 2u);
  what_ifs[0]["what"] = "no gravity";
  const auto profile = parse_profile(document.dump());
  ASSERT_TRUE(profile) << profile.error().text();
  ASSERT_EQ(profile->kernels[0].time->what_if.size(), 1u);
  EXPECT_EQ(profile->kernels[0].time->what_if[0].kind, timing::WhatIfKind::half_the_barriers);
}

TEST(ProfileJson, OfAProcessThatLaunchedNothingIsRead) {
  Profile nothing;
  const auto read = parse_profile(json_of(nothing));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(read->kernels.empty());
  nothing.device = "AMD Instinct MI9";
  EXPECT_FALSE(parse_profile(json_of(nothing)));
  Profile kernels = full();
  kernels.device.clear();
  EXPECT_FALSE(parse_profile(json_of(kernels)));
}

/// All places in a document, as JSON pointers; of lists of counters the first few.
void places(const Json& node, const std::string& path, std::vector<std::string>& out) {
  if (!path.empty()) out.push_back(path);
  const bool counters = path.ends_with("/counters") || path.find("/xcds/") != path.npos;
  std::size_t shown = 0;
  if (node.is_object())
    for (const auto& [name, value] : node.items())
      if (!counters || shown++ < 3) places(value, path + "/" + name, out);
  if (node.is_array())
    for (std::size_t n = 0; n < std::min<std::size_t>(node.size(), 3); ++n)
      places(node[n], path + "/" + std::to_string(n), out);
}

/// Whether a field of this name may go, or have any value.
bool is_free(const std::string& path) {
  // Derived again.
  for (const std::string_view part : {"/metrics", "/limit", "/advice", "/occupancy_table",
                                      "/sources", "/is_scratch", "/time/flops", "/time/tflops_"})
    if (path.find(part) != std::string::npos) return true;
  return false;
}

/// What files of earlier versions lack.
template <typename... Records>
bool is_later(std::string_view name) {
  bool found = false;
  const auto visit = [&](const auto& field) {
    if constexpr (requires { field.later; }) found |= field.later && field.name == name;
  };
  (for_each_field<Records>(visit), ...);
  return found;
}

/// Cycles of a site that are left out where there are none.
bool is_cycles_of_some(const std::string& path) {
  for (const char* const name : {"exposed", "lost", "flight", "unhidden"})
    if (path.find("/time/sites/") != path.npos && path.ends_with(name)) return true;
  return false;
}

TEST(ProfileJson, AReportOfTimesIsNamed) {
  const auto times =
      parse_profile(R"({"device": "AMD Instinct MI325X", "modelled": true, "kernels": []})");
  ASSERT_FALSE(times);
  EXPECT_THAT(times.error().what, HasSubstr("report of margay time"));
  EXPECT_THAT(times.error().hint, HasSubstr("margay prof --time --json"));
}

TEST(ProfileJson, EveryMissingFieldIsNamed) {
  const Json document = Json::parse(json_of(small()));
  std::vector<std::string> all;
  places(document, "", all);
  ASSERT_GT(all.size(), 150u);
  unsigned missing = 0;
  for (const std::string& path : all) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (is_free(path) || is_later<Site, TensorTraffic, MemoryTraffic, LdsUse>(name) ||
        name[0] <= '9' || path.find("/counters/") != path.npos ||
        path.find("/xcds/") != path.npos || path.ends_with("/time") ||
        path.ends_with("/computes") || path.ends_with("/timeline") || is_cycles_of_some(path) ||
        path.find("/stalls/") != path.npos ||  // none, and zeros, are left out
        path.ends_with("/busy/dispatcher") ||  // earlier versions did not know it, as the next ones
        name == "write_back_us" || name == "between_workgroups" || name == "warm" ||
        (path.find("/what_if/") != path.npos && name == "vgprs"))
      continue;
    Json broken = document;
    broken[Json::json_pointer(path.substr(0, path.rfind('/')))].erase(name);
    const auto profile = parse_profile(broken.dump());
    ASSERT_FALSE(profile) << path;
    EXPECT_THAT(profile.error().what, HasSubstr(name + " is missing"));
    ++missing;
  }
  EXPECT_GT(missing, 90u);
}

TEST(ProfileJson, WrongTypesAreErrorsThatNameTheField) {
  const Json document = Json::parse(json_of(small()));
  std::vector<std::string> all;
  places(document, "", all);
  const std::vector<Json> others = {Json(-1),       Json(1.5),   Json("x"),  Json::array({-7}),
                                    Json::object(), Json(1e300), Json(false)};
  std::size_t next = 0;
  for (const std::string& path : all) {
    if (is_free(path)) continue;
    const Json& old = document[Json::json_pointer(path)];
    // In turn: each is tried for many fields, and the loop over all takes three times as long.
    for (int n = 0; n < 2; ++n) {
      const Json& value = others[next++ % others.size()];
      if (value.type() == old.type()) continue;  // may be right
      if (old.is_number() && value.is_number() &&
          (path.ends_with("host_seconds") || path.ends_with("saves_percent")))
        continue;
      if (old.is_null() && !value.is_number()) continue;
      Json broken = document;
      broken[Json::json_pointer(path)] = value;
      // A list of counters is an object like another.
      const bool counters = path.ends_with("/counters") || path.find("/xcds/") != path.npos;
      if (counters && value.is_object()) continue;
      const auto profile = parse_profile(broken.dump());
      ASSERT_FALSE(profile) << path << " = " << value.dump();
      EXPECT_THAT(profile.error().what, HasSubstr("malformed")) << path;
    }
  }
}

TEST(ProfileJson, NumbersOutsideTheirRangeAreErrors) {
  const Json document = Json::parse(json_of(full()));
  const auto refused = [&](const std::string& path, const Json& value) {
    Json broken = document;
    broken[Json::json_pointer("/kernels/0" + path)] = value;
    EXPECT_FALSE(parse_profile(broken.dump())) << path << " = " << value.dump();
  };
  refused("/grid/0", 1ull << 32);
  refused("/grid/0", 0);
  refused("/workgroup/2", 0);
  refused("/launches", 0);
  refused("/sites/0/frames/0", 100000);
  refused("/sites/0/class", "no class");
  refused("/maps/1/tensor", 2);
  refused("/maps/0/ranges/0/2", 1ull << 32);
  refused("/traces/0/slices/0/0", 3);
  refused("/traces/0/slices/0/1", 200);
  refused("/traces/0/slices/0/5", 1000000);
  refused("/traces/0/slices/0/6", 70000);
  refused("/xcds/0", 3);
}

TEST(ProfileJson, MangledTextDoesNoHarm) {
  std::mt19937 random(11);
  const std::string text = json_of(fake::profile());
  for (int n = 0; n < test::cases(150); ++n) {
    std::string broken = text;
    for (unsigned edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % broken.size();
      if (random() % 3 == 0)
        broken.erase(at, random() % 40);
      else
        broken[at] = "0123456789-.e\"[]{},:xn"[random() % 22];
    }
    exercise(broken);
  }
  for (std::size_t n = 0; n < text.size(); n += 1 + text.size() / 60)
    EXPECT_FALSE(parse_profile(text.substr(0, n)));
  exercise(std::string(100000, '['));
}

}  // namespace
}  // namespace margay::profile
