// Timelines as trace events: names, places and arguments of the slices.
#include "report/profile/text/trace.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fake_profile.h"

namespace margay::profile {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<json> events_of(const Profile& profile, const std::string& phase) {
  std::vector<json> out;
  const json trace = json::parse(trace_of(profile));
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == phase) out.push_back(event);
  return out;
}

/// A profile of one wave that does only this.
Profile only(std::vector<Site> sites, TraceSlice slice) {
  KernelProfile kernel;
  slice.instructions = static_cast<std::uint32_t>(sites.size());
  slice.steps = slice.instructions;
  kernel.sites = std::move(sites);
  kernel.traces.push_back({{}, 0, 0, {slice}});
  Profile profile;
  profile.kernels.push_back(std::move(kernel));
  return profile;
}
Site site(std::string text, InstructionClass c, bool is_read, bool is_write,
          SiteTraits traits = {}) {
  Site out;
  out.traits = traits;
  out.text = std::move(text);
  out.instruction_class = c;
  out.is_read = is_read;
  out.is_write = is_write;
  return out;
}
std::string name_of(std::vector<Site> sites) {
  TraceSlice slice;
  slice.instruction_class = sites.front().instruction_class;
  return events_of(only(std::move(sites), slice), "X").at(0)["name"];
}

TEST(Trace, slices_say_what_the_wave_does) {
  std::vector<std::string> names;
  for (const json& event : events_of(fake::profile(), "X"))
    if (event["tid"] == 1) names.push_back(event["name"]);
  EXPECT_THAT(
      names, ElementsAre("scalar load", "global loads x8", "s_waitcnt vmcnt(0)", "LDS writes x8",
                         "s_barrier (waits 37 steps)", "LDS reads x4", "MFMA x16", "global store"));
}

TEST(Trace, slices_are_complete_and_follow_each_other) {
  std::map<int, double> end;
  for (const json& event : events_of(fake::profile(), "X")) {
    const int wave = event["tid"];
    if (end.contains(wave)) {
      EXPECT_EQ(event["ts"], end[wave]);
    }
    end[wave] = event["ts"].get<double>() + event["dur"].get<double>();
    EXPECT_GT(event["dur"], 0);
  }
  EXPECT_EQ(end.size(), 2U);
}

TEST(Trace, arguments_name_the_first_instruction_and_its_line) {
  const json event = events_of(fake::profile(), "X").at(6);
  EXPECT_EQ(event["args"]["first"], "v_mfma_f32_16x16x16_bf16 a[0:3], v[60:61], v[62:63], a[0:3]");
  EXPECT_EQ(event["args"]["source"], "gemm.cpp:14");
  EXPECT_EQ(event["args"]["instructions"], 16);
  EXPECT_EQ(event["cat"], "work");
}

TEST(Trace, a_process_is_a_workgroup_and_a_thread_a_wave) {
  Profile profile = fake::profile();
  WaveTrace other = profile.kernels[0].traces[0];
  other.workgroup = {0, 0, 0};
  profile.kernels[0].traces.push_back(other);
  profile.kernels.push_back(profile.kernels[0]);
  std::vector<std::string> processes, threads;
  for (const json& event : events_of(profile, "M")) {
    if (event["name"] == "process_name") processes.push_back(event["args"]["name"]);
    if (event["name"] == "thread_name") threads.push_back(event["args"]["name"]);
  }
  ASSERT_EQ(processes.size(), 4U);
  EXPECT_EQ(processes[0], "workgroup (3, 1, 0) of " + profile.kernels[0].name +
                              ", launch 2: instruction steps, not time");
  EXPECT_THAT(threads, ElementsAre("wave 0", "wave 1", "wave 0", "wave 0", "wave 1", "wave 0"));
  std::set<std::pair<int, int>> seen;
  for (const json& event : events_of(profile, "X"))
    seen.emplace(event["pid"].get<int>(), event["tid"].get<int>());
  EXPECT_EQ(seen.size(), 6U);
}

TEST(Trace, counters_follow_what_is_in_flight) {
  std::vector<json> values;
  for (const json& event : events_of(fake::profile(), "C"))
    if (event["name"] == "wave 0 in flight")
      values.push_back({event["ts"], event["args"]["vector"], event["args"]["lds"]});
  EXPECT_THAT(values, ElementsAre(json({0, 0, 0}), json({1, 0, 1}), json({9, 8, 1}),
                                  json({10, 0, 0}), json({59, 0, 4}), json({123, 0, 0})));
}

TEST(Trace, names_of_memory_instructions) {
  using enum InstructionClass;
  const Site read = site("ds_read_b64 v[0:1], v2", lds, true, false);
  const Site write = site("ds_write_b64 v2, v[0:1]", lds, false, true);
  EXPECT_EQ(name_of({read}), "LDS read");
  EXPECT_EQ(name_of({read, write}), "LDS accesses x2");
  Site atomic = site("ds_add_u32 v0, v1", lds, true, true);
  atomic.is_atomic = true;
  EXPECT_EQ(name_of({atomic, atomic}), "LDS atomics x2");
  EXPECT_EQ(name_of({site("ds_swizzle_b32 v0, v1 offset:4", lds, false, false)}), "ds_swizzle_b32");
  const auto access = [](std::string text, MemoryPath path, bool is_read, bool to_lds = false) {
    SiteTraits traits;
    traits.path = path;
    traits.loads_to_lds = to_lds;
    return name_of({site(std::move(text), vmem, is_read, !is_read || to_lds, traits)});
  };
  using enum MemoryPath;
  EXPECT_EQ(access("scratch_load_dword v0, off, s0", scratch, true), "scratch load");
  EXPECT_EQ(access("buffer_store_dword v0, off, s[0:3], 0", buffer, false), "buffer store");
  EXPECT_EQ(access("tbuffer_store_format_x v0, off, s[0:3], 0", buffer, false), "buffer store");
  EXPECT_EQ(access("buffer_load_dword off, s[0:3], 0 lds", buffer, true, true), "load to LDS");
  EXPECT_EQ(access("global_load_lds_dwordx4 v[0:1], off", global, true, true), "load to LDS");
  EXPECT_EQ(access("flat_load_dword v0, v[2:3]", flat, true), "flat load");
  EXPECT_EQ(access("global_store_dword v0, v1, s[2:3]", global, false), "global store");
  EXPECT_EQ(name_of({site("buffer_wbl2 sc1", vmem, false, false)}), "buffer_wbl2");
  EXPECT_EQ(name_of({site("v_add_f32 v0, v1, v2", valu, false, false)}), "VALU");
  EXPECT_EQ(name_of({site("s_endpgm", other, false, false)}), "s_endpgm");
}

TEST(Trace, odd_input_is_no_trouble) {
  TraceSlice slice;
  slice.site = 7;  // there is none
  Profile profile = only({site("s_nop 0", InstructionClass::other, false, false)}, slice);
  profile.kernels[0].name = "\xff\"</script>";
  const auto events = events_of(profile, "X");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_FALSE(events[0]["args"].contains("first"));
  EXPECT_TRUE(json::parse(trace_of({}))["traceEvents"].empty());
  EXPECT_THAT(json::parse(trace_of({}))["otherData"]["unit"].get<std::string>(),
              HasSubstr("no time model"));
}

/// A kernel of which the model has replayed two workgroups at a time and a third.
Profile modelled() {
  Profile profile;
  KernelProfile& kernel = profile.kernels.emplace_back();
  kernel.name = "k";
  kernel.sites = {site("v_mov_b32 v0, 0", InstructionClass::valu, false, false),
                  site("v_mov_b32 v1, 0", InstructionClass::valu, false, false),
                  site("s_waitcnt vmcnt(0)", InstructionClass::other, false, false)};
  for (std::size_t n = 0; n < 3; ++n) kernel.sites[n].vaddr = 0x100 + 4 * n;
  kernel.traces.push_back({{}, 0, 0, {{}}});
  timing::Timeline& timeline = kernel.time.emplace().timeline;
  timeline.workgroups = {{0, 0, 3, 10, 100, false},
                         {8, 0, 3, 20, 50, false},
                         {16, 0, 3, 80, 60, false},
                         {1, 1, 3, 10, 100, false}};
  timeline.waves = {{1,
                     0,
                     2,
                     {{20, 8, {}, 0x100, 2}, {28, 40, timing::Stall::waitcnt, 0x108, 1}},
                     {{24, 1}, {68, 0}}}};
  timeline.occupancy = {{0, 3, 4, {{10, 4}, {20, 6}, {140, 0}}}};
  return profile;
}

TEST(Trace, modelled_time_has_waves_with_what_they_wait_for) {
  std::vector<json> slices;
  for (const json& event : events_of(modelled(), "X"))
    if (event["cat"] != "workgroup") slices.push_back(event);
  ASSERT_EQ(slices.size(), 2U) << "and no instruction steps";
  EXPECT_EQ(slices[0]["name"], "VALU x2");
  EXPECT_EQ(slices[0]["ts"], 20);
  EXPECT_EQ(slices[0]["dur"], 8);
  EXPECT_EQ(slices[1]["name"], "WAITCNT");
  EXPECT_EQ(slices[1]["cat"], "stall");
  EXPECT_EQ(slices[1]["args"]["first"], "s_waitcnt vmcnt(0)");
  EXPECT_THAT(trace_of(modelled()), HasSubstr("1 us is one cycle of the model of time"));
}

TEST(Trace, modelled_time_counts_waves_and_accesses) {
  std::map<std::string, std::vector<std::pair<int, double>>> counts;
  std::map<std::string, int> processes;
  for (const json& event : events_of(modelled(), "C")) {
    counts[event["name"]].emplace_back(event["ts"], *event["args"].begin());
    processes[event["name"]] = event["pid"];
  }
  using Counts = std::vector<std::pair<int, double>>;
  EXPECT_EQ(counts["waves per SIMD"], (Counts{{10, 1}, {20, 1.5}, {140, 0}}));
  EXPECT_EQ(counts["wave 0 in flight"], (Counts{{24, 1}, {68, 0}}));
  EXPECT_EQ(counts.size(), 2U);
  EXPECT_EQ(processes["wave 0 in flight"], 1) << "that of its workgroup";
  EXPECT_EQ(processes["waves per SIMD"], 2) << "that of its compute unit";
}

TEST(Trace, modelled_time_has_the_workgroups_of_each_compute_unit) {
  std::map<std::string, std::pair<int, int>> places;  // by name: process and thread
  for (const json& event : events_of(modelled(), "X"))
    if (event["cat"] == "workgroup") places[event["name"]] = {event["pid"], event["tid"]};
  ASSERT_EQ(places.size(), 4U);
  EXPECT_EQ(places["workgroup 0"].second, 1);
  EXPECT_EQ(places["workgroup 8"].second, 2) << "at the same time";
  EXPECT_EQ(places["workgroup 16"].second, 2) << "when the second has ended";
  EXPECT_EQ(places["workgroup 0"].first, places["workgroup 16"].first);
  EXPECT_NE(places["workgroup 0"].first, places["workgroup 1"].first) << "of another XCD";
  std::vector<std::string> names;
  for (const json& event : events_of(modelled(), "M"))
    if (event["name"] == "process_name") names.push_back(event["args"]["name"]);
  EXPECT_THAT(names, ElementsAre("workgroup 8 on XCD 0 CU 3 of k: waves, modelled cycles",
                                 "XCD 0 CU 3: workgroups of k, modelled cycles",
                                 "XCD 1 CU 3: workgroups of k, modelled cycles"));
}

}  // namespace
}  // namespace margay::profile
