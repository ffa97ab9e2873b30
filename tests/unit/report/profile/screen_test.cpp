// What the report says of modelled time, and of advice about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "plain_profile.h"
#include "report/profile/text/text.h"
#include "report/profile/time/time_advice.h"
#include "report/profile/time/time_text.h"

namespace margay::profile {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(Screen, SaysWhatLatencyIsExposed) {
  KernelProfile k = timed(10, 800, 800);
  Profile p;
  EXPECT_THAT(text_of(k, p, TextStyle{}), Not(HasSubstr("SIMDs: ")));
  timing::KernelTime& t = *k.time;
  t.simd_cycles = 1000;
  t.waves_per_simd = 1.5;
  t.simds = {.work = 0.5,
             .idle = 0.3,
             .empty = 0.2,
             .both = 0.1,
             .matrix = 0.2,
             .memory = 0.6,
             .neither = 0.1};
  t.sites[1].lost = 300;
  t.sites[0].flight = 1000;
  t.sites[0].unhidden = 250;
  // Without the breaks of lines.
  std::string text = text_of(k, p, TextStyle{});
  text.erase(std::unique(text.begin(), text.end(),
                         [](char a, char b) { return std::isspace(a) && std::isspace(b); }),
             text.end());
  std::ranges::replace(text, '\n', ' ');
  EXPECT_THAT(text, HasSubstr("SIMDs: work 50 %, idle while waves wait 30 %, no wave 20 %; 1.5 "));
  EXPECT_THAT(text,
              HasSubstr("matrix work and memory 10 %, only matrix work 20 %, only memory 60"));
  EXPECT_THAT(text, HasSubstr("50 % 0 % 30 % WAITCNT 50 %"));
  EXPECT_THAT(text, HasSubstr("16 % 75 % 62 % /src/plain.cpp:8"));
}

TEST(Screen, ModelledTimeIsThereIfItWasAskedFor) {
  KernelProfile k = timed(10, 800, 800);
  Profile p;
  const std::string text = text_of(k, p, TextStyle{});
  EXPECT_THAT(
      text, AllOf(HasSubstr("modelled, not measured: 10 us at 2.10 GHz"), HasSubstr("error about"),
                  HasSubstr("bound by HBM"), HasSubstr("waves: issue 50 %, WAITCNT 50 %")));
  EXPECT_THAT(text, HasSubstr("wave cycles  issue   idle  stalled by"));
  k.time.reset();
  EXPECT_THAT(text_of(k, p, TextStyle{}), Not(HasSubstr("modelled")));
}

TEST(Screen, ComputeUnitsWithoutWorkAreNamed) {
  KernelProfile k = timed(10, 800, 800);
  Profile p;
  k.grid = {304, 1, 1};
  EXPECT_THAT(text_of(k, p, TextStyle{}), Not(HasSubstr("compute units")));
  k.grid = {64, 1, 1};
  EXPECT_THAT(text_of(k, p, TextStyle{}),
              HasSubstr("idle: 240 of 304 compute units, for the grid has 64 workgroups"));
}

TEST(Screen, AtomicsThatMeetAreNamed) {
  KernelProfile k = timed(10, 800, 800);
  Profile p;
  TensorTraffic& bins = k.tensors.emplace_back();
  bins.name = "bins";
  bins.touched_written_bytes = 1024;
  Site& site = k.sites[0];
  site.is_atomic = true;
  site.tensor = static_cast<std::int32_t>(k.tensors.size() - 1);
  site.memory.emplace().l2_writes = 1'000'000;
  EXPECT_THAT(text_of(k, p, TextStyle{}),
              HasSubstr("1.00 M atomics' requests meet in 1.02 kB of bins: how"));
  k.tensors.back().touched_written_bytes = 1 << 20;
  EXPECT_THAT(text_of(k, p, TextStyle{}), Not(HasSubstr("meet in")));
}

TEST(Screen, APrebuiltKernelShowsInstructions) {
  KernelProfile k = timed(10, 200, 800);
  k.time->sites[1].flight = 1000;
  k.time->sites[1].unhidden = 500;
  k.time->what_if = {{timing::WhatIfKind::waits_at_use, 40, 0, {{0x1010, 1.0}}}};
  Profile p;
  const char* const instruction = "0x1010 s_waitcnt vmcnt(0)";
  EXPECT_THAT(text_of(k, p, TextStyle{}), Not(HasSubstr(instruction)));
  EXPECT_EQ(time_advice(k)[0].lines.at(0).instruction, "");

  k.sites[0].frames.clear();
  add_site(k, "s_nop 0", 0);
  k.time->sites.resize(3);
  k.time->sites[2].latency = 100;
  EXPECT_THAT(text_of(k, p, TextStyle{}),
              AllOf(HasSubstr("without a source line"), HasSubstr("(no source line)"),
                    Not(HasSubstr("0x1008 v_mov_b32 v0, v1"))))
      << "the prologue of a kernel with lines";
  k.sites.pop_back();
  k.time->sites.pop_back();
  k.sites[1].frames.clear();
  const std::string text = text_of(k, p, TextStyle{});
  EXPECT_THAT(text, HasSubstr("stalled by                              instruction"));
  EXPECT_THAT(text,
              HasSubstr(std::string("WAITCNT 80 %                            ") + instruction));
  EXPECT_THAT(text, HasSubstr("50.0 %        100                      0x1008 v_mov_b32 v0, v1"));
  EXPECT_THAT(text, HasSubstr(std::string("50 %    100 %  ") + instruction));
  EXPECT_THAT(text, HasSubstr(std::string("100 % of it at ") + instruction));
  EXPECT_EQ(time_advice(k)[0].lines.at(0).instruction, instruction);
}

// A prebuilt kernel may have a thousand instructions of which each takes next to nothing.
TEST(Screen, WhatTakesNextToNothingIsOneRow) {
  KernelProfile k = timed(10, 800, 800);
  for (unsigned n = 0; n < 100; ++n) add_site(k, "v_mov_b32 v2, v3", 20 + n);
  k.time->sites.resize(k.sites.size());
  for (std::size_t n = 2; n < k.sites.size(); ++n) k.time->sites[n].latency = 4;
  const std::string text = text_of(k, Profile{}, TextStyle{.options = {}, .full = true});
  EXPECT_THAT(text, HasSubstr("20 %  of 100 lines with less than 0.5 % each, which --json has"));
  EXPECT_THAT(text.substr(text.find("wave cycles"), 600), Not(HasSubstr("plain.cpp:20")));
  EXPECT_THAT(text_of(timed(10, 800, 800), Profile{}, TextStyle{.options = {}, .full = true}),
              Not(HasSubstr("which --json has")));
}

TEST(Screen, SaysWhichTimeAMeasuredOneIsToBeComparedWith) {
  KernelProfile k = timed(10, 800, 800);
  std::string sentences;
  for (const std::string& sentence : time_sentences(k)) sentences += sentence + '\n';
  EXPECT_THAT(sentences, HasSubstr("compare a loop of launches that runs for longer than about "
                                   "0.15 s with 20 us (sustained), a launch by itself with 10 us"));
  k.time->us_sustained = k.time->us_boost;
  sentences.clear();
  for (const std::string& sentence : time_sentences(k)) sentences += sentence + '\n';
  EXPECT_THAT(sentences, Not(HasSubstr("compare")));
}

TEST(Screen, ALimitIsNoAdvice) {
  KernelProfile k = timed(10, 800, 800);
  k.time->what_if = {{timing::WhatIfKind::no_memory_waits, 50, 0, {}},
                     {timing::WhatIfKind::loads_ahead, 40, 0, {}},
                     {timing::WhatIfKind::no_bank_conflicts, 1, 0, {}},
                     {timing::WhatIfKind::no_l2_misses, 40, 0, {}},
                     {timing::WhatIfKind::no_barrier_skew, 40, 0, {}}};
  const std::vector<TimeAdvice> advice = time_advice(k);
  ASSERT_EQ(advice.size(), 5u);
  EXPECT_FALSE(advice[3].is_advice) << "what was not loaded yet always misses";
  EXPECT_FALSE(advice[4].is_advice) << "barriers cannot all go";
  EXPECT_FALSE(advice[0].is_advice) << "what all means together could save";
  EXPECT_TRUE(advice[1].is_advice);
  EXPECT_FALSE(advice[2].is_advice) << "less than the model's error";
}

TEST(Screen, ScatteredMissesHaveNothingToShare) {
  using timing::WhatIfKind;
  const auto shares = [](double coalesced, std::uint32_t at) {
    KernelProfile k = timed(10, 800, 800);
    k.time->what_if = {{WhatIfKind::perfect_coalescing, coalesced, 0, {{at, 1.0}}},
                       {WhatIfKind::shared_l2_lines, 58, 0, {{0x1008, 1.0}}}};
    return time_advice(k)[1].is_advice;
  };
  EXPECT_FALSE(shares(86, 0x1008)) << "a table by indices";
  EXPECT_TRUE(shares(20, 0x1008)) << "most of it is not the lanes'";
  EXPECT_TRUE(shares(86, 0x1010)) << "others are scattered";
}

TEST(Screen, WorkgroupsThatPollHaveNoAdvice) {
  KernelProfile k = timed(10, 800, 800);
  k.time->what_if = {{timing::WhatIfKind::loads_ahead, 80, 0, {}}};
  EXPECT_TRUE(time_advice(k)[0].is_advice);
  k.time->between.polling = 0.5;
  EXPECT_FALSE(time_advice(k)[0].is_advice);
}

TEST(Screen, WhichOfSeveralLaunchesIsTimedIsSaid) {
  KernelProfile k = timed(10, 800, 800);
  Profile profile;
  const auto said = [&] {
    profile.kernels = {k};
    return time_text(profile, report::TextOptions{}, false, TimeClock::boost);
  };
  k.launches_seen = 1;
  EXPECT_THAT(said(), Not(HasSubstr("launched")));
  k.launches_seen = 21;
  EXPECT_THAT(said(), HasSubstr("launched  21 times; this is the first, with cold caches"));
  k.time->warm = true;
  EXPECT_THAT(said(), AllOf(HasSubstr("a launch like it has left"), Not(HasSubstr("cold"))));
}

TEST(Screen, ATailIsNotAlwaysOfRounds) {
  const auto said = [](std::uint32_t workgroups, std::uint32_t of_unit) {
    KernelProfile k = timed(10, 800, 800);
    k.grid = {workgroups, 1, 1};
    k.resources.workgroups_per_cu = of_unit;
    k.time->what_if = {{timing::WhatIfKind::no_tail, 50, 0, {}}};
    return time_advice(k)[0].what_to_do;
  };
  const std::uint32_t units = default_gpu().compute_units();
  EXPECT_THAT(said(units + 1, 1), HasSubstr("fill whole rounds"));
  EXPECT_THAT(said(units + 1, 2),
              AllOf(HasSubstr("all of them begin at once"), HasSubstr("a multiple of 304"),
                    Not(HasSubstr("whole rounds"))));
  EXPECT_THAT(said(2 * units, 2),
              AllOf(HasSubstr("do not take equally long"), Not(HasSubstr("whole rounds"))));
  EXPECT_THAT(said(units / 2, 2), AllOf(HasSubstr("split them"), Not(HasSubstr("whole rounds"))));
}

TEST(Screen, ASampleThatIsNotLikeTheOthersIsSaid) {
  KernelProfile k = timed(10, 800, 800);
  EXPECT_THAT(text_of(k, Profile{}, TextStyle{}), Not(HasSubstr("was watched has")));
  k.time->sample_length = 0.2;
  EXPECT_THAT(text_of(k, Profile{}, TextStyle{}), HasSubstr("was watched has 0.20 times"));
}

TEST(Screen, HalfTheBytesOfLdsAreAdviceWhereLdsIsTheBound) {
  KernelProfile k = timed(10, 800, 800);
  k.time->what_if = {{timing::WhatIfKind::double_lds, 40, 0, {}}};
  k.time->bound = timing::Bound::latency;
  EXPECT_FALSE(time_advice(k)[0].is_advice);
  k.time->bound = timing::Bound::lds;
  EXPECT_TRUE(time_advice(k)[0].is_advice);
}

KernelProfile advised(timing::WhatIfKind kind, std::uint32_t vgprs) {
  KernelProfile k = timed(10, 800, 800);
  k.workgroup = {256, 1, 1};
  k.resources.vgprs = 232;
  k.resources.dynamic_lds_bytes = 32768;
  k.resources.workgroups_per_cu = 2;
  k.resources.waves_per_cu = 8;
  k.time->what_if = {{kind, 40, vgprs, {}}};
  return k;
}

TEST(Screen, LoadsAStepAheadSayWhichRegistersTheyTake) {
  // Two waves on each SIMD may have 256 each.
  EXPECT_THAT(time_advice(advised(timing::WhatIfKind::loads_ahead, 24))[0].what_to_do,
              EndsWith("a step's loads take 24 VGPRs, 24 are free"));
  EXPECT_THAT(time_advice(advised(timing::WhatIfKind::loads_ahead, 32))[0].what_to_do,
              HasSubstr("take 32 VGPRs, 24 are free: use 8 fewer elsewhere"));
}

TEST(Screen, LoadsAStepAheadKnowThatTheGridIsSmall) {
  KernelProfile k = advised(timing::WhatIfKind::loads_ahead, 24);
  k.grid = {64, 1, 1};
  // One workgroup on each compute unit, one wave on each SIMD.
  EXPECT_THAT(time_advice(k)[0].what_to_do, EndsWith("a step's loads take 24 VGPRs, 280 are free"));
}

TEST(Screen, AccessesOfLanesThatAreApartSayWhatMayHelp) {
  KernelProfile k = advised(timing::WhatIfKind::perfect_coalescing, 0);
  EXPECT_THAT(time_advice(k)[0].what_to_do, Not(HasSubstr("scratch")));
  k.resources.scratch_bytes = 256;
  EXPECT_THAT(time_advice(k)[0].what_to_do, HasSubstr("256 bytes of scratch for each work-item"));
  k.tensors.clear();
  k.tensors.emplace_back().touched_read_bytes = 70000;
  EXPECT_THAT(time_advice(k)[0].what_to_do, Not(HasSubstr("fits LDS")));
  k.tensors[0].touched_read_bytes = 60000;
  EXPECT_THAT(time_advice(k)[0].what_to_do, HasSubstr("fits LDS"));
}

TEST(Screen, ATailSaysHowManyWorkgroupsThereAre) {
  KernelProfile k = advised(timing::WhatIfKind::no_tail, 0);
  k.grid = {320, 1, 1};
  EXPECT_TRUE(time_advice(k)[0].is_advice);
  EXPECT_THAT(time_advice(k)[0].what_to_do,
              HasSubstr("320 workgroups for 304 units, and 2 of each unit"));
}

TEST(Screen, CodeWithoutLinesHasItsInstructionsByName) {
  constexpr unsigned kUnrolled = 400;
  KernelProfile k = timed(10, 100, 100);
  Site exp = k.sites[0];
  exp.text = "v_exp_f32_e32 v1, v2";
  for (unsigned n = 0; n < kUnrolled; ++n) {
    exp.vaddr += 4;
    k.sites.push_back(exp);
    k.time->sites.push_back({.hits = 10, .latency = 160});
  }
  const auto said = [&] {
    Profile profile;
    profile.kernels = {k};
    return time_text(profile, report::TextOptions{}, false, TimeClock::boost);
  };
  EXPECT_THAT(said(), Not(HasSubstr("instructions by name"))) << "it has lines";
  for (Site& site : k.sites) site.frames.clear();
  EXPECT_THAT(said(), AllOf(HasSubstr("v_exp_f32_e32, 16.0 cycles each\n"),
                            Not(HasSubstr("v_exp_f32_e32 v1, v2"))))
      << "no single one matters";
}

TEST(Screen, AGridThatLeavesComputeUnitsIdleSaysHowMany) {
  KernelProfile k = advised(timing::WhatIfKind::all_units, 0);
  k.grid = {128, 1, 1};
  EXPECT_TRUE(time_advice(k)[0].is_advice);
  EXPECT_THAT(time_advice(k)[0].what_to_do, HasSubstr("128 workgroups for 304 compute units"));
}

TEST(Screen, NoWorkgroupBeyondTheWaveSlotsIsAdvised) {
  KernelProfile k = advised(timing::WhatIfKind::additional_workgroup, 0);
  k.resources.limit = "LDS";
  EXPECT_TRUE(time_advice(k)[0].is_advice);
  k.resources.limit = "wave slots";
  EXPECT_FALSE(time_advice(k)[0].is_advice) << "that is the hardware";
}

TEST(Screen, HalfTheBarriersSayWhichLdsTheyTake) {
  EXPECT_THAT(time_advice(advised(timing::WhatIfKind::half_the_barriers, 0))[0].what_to_do,
              HasSubstr("65536 bytes, with which 1 workgroup of 2 fit"));
  KernelProfile k = advised(timing::WhatIfKind::half_the_barriers, 0);
  k.resources.dynamic_lds_bytes = 40000;
  EXPECT_THAT(time_advice(k)[0].what_to_do, HasSubstr("80000 bytes, more than there is"));
}

TEST(Screen, OneMoreWorkgroupSaysWhichBoundsGiveItRoom) {
  KernelProfile k = advised(timing::WhatIfKind::additional_workgroup, 0);
  k.resources.limit = "VGPRs";
  k.resources.next_step = "one more workgroup per CU would fit with 168 VGPRs instead of 232";
  EXPECT_THAT(time_advice(k)[0].what_to_do, HasSubstr("__launch_bounds__(256, 3)"));
  k.resources.limit = "LDS";
  EXPECT_THAT(time_advice(k)[0].what_to_do, Not(HasSubstr("__launch_bounds__")));
}

TEST(Screen, OneMoreWorkgroupSaysWhereTwoThingsAreInTheWay) {
  KernelProfile k = advised(timing::WhatIfKind::additional_workgroup, 0);
  k.resources.limit = "VGPRs";
  EXPECT_THAT(time_advice(k)[0].what_to_do,
              HasSubstr("the limit is VGPRs, and LDS would allow no more either"));
  k.resources.limit = "LDS";
  EXPECT_THAT(time_advice(k)[0].what_to_do, HasSubstr("LDS, and VGPRs would allow"));
  k.resources.vgprs = 160;
  EXPECT_THAT(time_advice(k)[0].what_to_do, Not(HasSubstr("either")));
  k.resources.limit = "VGPRs";
  k.resources.vgprs = 232;
  k.resources.dynamic_lds_bytes = 16384;
  EXPECT_THAT(time_advice(k)[0].what_to_do, Not(HasSubstr("either")));
}

TEST(Screen, LdsThatIsAskedForAndNotUsedIsSaid) {
  KernelProfile k = advised(timing::WhatIfKind::additional_workgroup, 0);
  k.resources.limit = "LDS";
  k.resources.next_step = "one more workgroup per CU would fit with 21504 bytes of LDS";
  LdsUse& use = k.sites[0].lds.emplace();
  const std::string said = "no LDS instruction went past the first 16384 of the 32768 bytes";
  const auto advice = [&] { return time_advice(k)[0].what_to_do; };
  EXPECT_THAT(advice(), HasSubstr("if steps have to be shorter"))
      << "a profile without that figure";
  use.reached_bytes = 16384;
  EXPECT_THAT(advice(), HasSubstr(said));
  EXPECT_THAT(advice(), Not(HasSubstr("if steps have to be shorter")));
  EXPECT_THAT(text_of(k, Profile{}, TextStyle{}), HasSubstr("no LDS instruction went past"));
  EXPECT_THAT(advice(), EndsWith("ask for fewer"));
  k.sampled_workgroups = 40;
  EXPECT_THAT(advice(), EndsWith("if the other workgroups do as the 40 that were followed"));
  k.sampled_workgroups = 0;
  // What rounding to granules gives back is not worth a sentence.
  use.reached_bytes = 32700;
  EXPECT_THAT(advice(), Not(HasSubstr("no LDS instruction")));
  use.reached_bytes = 16384;
  k.sites[0].traits.loads_to_lds = true;
  EXPECT_THAT(advice(), Not(HasSubstr("no LDS instruction"))) << "its reach is not known";
  k.sites[0].traits.loads_to_lds = false;
  k.resources.limit = "VGPRs";
  EXPECT_THAT(advice(), Not(HasSubstr("no LDS instruction")));
}

}  // namespace
}  // namespace margay::profile
