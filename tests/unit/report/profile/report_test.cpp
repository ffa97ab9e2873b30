// What is derived from a profile: metrics by name, advice, comparisons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <string>

#include "plain_profile.h"
#include "report/profile/analysis/advice.h"
#include "report/profile/analysis/bounds.h"
#include "report/profile/analysis/metrics.h"
#include "report/profile/compare/compare.h"
#include "report/profile/text/text.h"

namespace margay::profile {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using enum Counter;

// ---- metrics --------------------------------------------------------------------------------

TEST(ValueOf, ACounterWithAndWithoutSum) {
  KernelProfile k = plain();
  k.counters[TCC_HIT_sum] = 30;
  EXPECT_EQ(value_of(k, "TCC_HIT_sum").value(), 30);
  EXPECT_EQ(value_of(k, "TCC_HIT").value(), 30);
  EXPECT_EQ(value_of(k, "instructions_per_wave").value(), 10);
}

TEST(ValueOf, AMisspeltNameGetsTheNearest) {
  for (const auto& [wrong, right] : {std::pair{"lds_bank_conflict", "lds_bank_conflicts"},
                                     {"SQ_WAVE", "SQ_WAVES"},
                                     {"coalesing", "coalescing"}}) {
    const auto value = value_of(plain(), wrong);
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().code, ErrorCode::not_found);
    EXPECT_THAT(value.error().what, HasSubstr(wrong));
    EXPECT_THAT(value.error().hint, StartsWith(std::string("did you mean ") + right + ","));
  }
}

TEST(ValueOf, NothingForAQuotientByZero) {
  const auto value = value_of(plain(), "lds_bank_conflicts_per_access");
  ASSERT_FALSE(value);
  EXPECT_THAT(value.error().what, AllOf(HasSubstr("divides by zero"),
                                        HasSubstr("SQ_LDS_IDX_ACTIVE - SQ_LDS_BANK_CONFLICT")));
}

TEST(Metrics, AreRocprofComputesFormulas) {
  KernelProfile k = plain();
  const auto set = [&](Counter c, std::uint64_t value) { k.counters[c] = value; };
  set(SQ_LDS_IDX_ACTIVE, 64);
  set(SQ_LDS_BANK_CONFLICT, 62);
  set(TCP_TOTAL_CACHE_ACCESSES_sum, 524288);
  set(TCP_TCC_READ_REQ_sum, 65536);
  set(TCP_TCC_WRITE_REQ_sum, 131072);
  set(TA_TOTAL_WAVEFRONTS_sum, 32768);
  set(TCP_TOTAL_ACCESSES_sum, 2097152);
  set(TCC_HIT_sum, 1);
  set(TCC_MISS_sum, 3);
  set(TCC_EA0_RDREQ_sum, 10);
  set(TCC_BUBBLE_sum, 6);
  set(TCC_EA0_RDREQ_32B_sum, 1);
  set(TCC_EA0_WRREQ_sum, 5);
  set(TCC_EA0_WRREQ_64B_sum, 4);
  set(SQ_INSTS_VALU_FMA_F32, 3);
  set(SQ_INSTS_VALU_ADD_F64, 2);
  set(SQ_INSTS_VALU_MFMA_MOPS_BF16, 7);
  for (const auto& [name, value] : {std::pair{"lds_bank_conflicts_per_access", 31.0},
                                    {"lds_bank_conflict_rate", 96.875},
                                    {"vl1d_hit_rate", 62.5},
                                    {"vl1d_coalescing", 25.0},
                                    {"l2_hit_rate", 25.0},
                                    {"fabric_read_bytes", 6 * 128 + 3 * 64 + 32.0},
                                    {"fabric_write_bytes", 4 * 64 + 32.0},
                                    {"valu_flops", 64 * (2 * 3 + 2.0)},
                                    {"mfma_flops", 512 * 7.0},
                                    {"valu_active_threads", 64.0}})
    EXPECT_DOUBLE_EQ(value_of(k, name).value(), value) << name;
  std::vector<std::string_view> ids;
  for (const Metric& metric : metrics_of(k)) ids.push_back(metric.id);
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
}

TEST(Bounds, TheLongestFirst) {
  KernelProfile k = plain();
  k.counters[SQ_VALU_MFMA_BUSY_CYCLES] = 4 * 304 * 2100;  // a microsecond of all matrix units
  k.counters[SQ_ACTIVE_INST_VALU] = 304 * 2100;           // the same, without other VALU work
  k.counters[TCC_EA0_RDREQ_sum] = k.counters[TCC_BUBBLE_sum] = 93750;  // 2 us of memory
  const auto bounds = bounds_of(k);
  ASSERT_EQ(bounds.size(), 2u);
  EXPECT_EQ(bounds[0].part, DevicePart::memory);
  EXPECT_NEAR(bounds[0].seconds, 2e-6, 1e-12);
  EXPECT_EQ(bounds[1].part, DevicePart::matrix_units);
  EXPECT_NEAR(bounds[1].seconds, 1e-6, 1e-12);
  // Half of the CUs have work: it takes them twice as long.
  k.grid = {19, 8, 1};
  EXPECT_NEAR(bounds_of(k)[1].seconds, 2e-6, 1e-12);
}

// ---- advice ---------------------------------------------------------------------------------

/// The advice that has `part` in its first sentence; empty if there is none.
std::string advice_with(const KernelProfile& k, std::string_view part) {
  for (const Advice& a : advice_for(k))
    if (a.what.find(part) != std::string::npos) return a.what + " | " + a.why + " | " + a.fix;
  return "";
}

TEST(Advice, NothingWhereNothingIsProved) { EXPECT_THAT(advice_for(plain()), IsEmpty()); }

KernelProfile with_conflicts(std::uint64_t cycles, std::uint64_t lost) {
  KernelProfile k = plain();
  k.counters[SQ_LDS_IDX_ACTIVE] = cycles;
  LdsUse& use = add_site(k, "ds_read_b64 v[2:3], v1").lds.emplace();
  use.cycles = cycles;
  use.conflict_cycles = lost;
  use.conflicting = 100;
  use.worst_ways = 4;
  use.worst_bank = 6;
  use.worst_lanes = 0x1111;
  return k;
}

TEST(Advice, LdsConflicts) {
  EXPECT_THAT(advice_with(with_conflicts(1600, 1200), "conflicts"),
              AllOf(StartsWith("every ds_read_b64 at plain.cpp:12 conflicts 4 ways: lanes 0, 4, 8 "
                               "and 12 meet in bank 6 | 75 % of the cycles"),
                    HasSubstr("pad the rows")));
  EXPECT_THAT(advice_with(with_conflicts(100000, 1000), "conflicts"), IsEmpty());
  EXPECT_THAT(advice_for(with_conflicts(1600, 1200))[0].effect,
              "saves up to 38 % of the least time; then vector ALU is the limit");
  KernelProfile sometimes = with_conflicts(1600, 1200);
  sometimes.sites[0].lds->conflicting = 25;
  EXPECT_THAT(advice_with(sometimes, "conflicts"), StartsWith("25 of 100 ds_read_b64"));
}

/// Loads of a tensor that touch `sectors`, one a cycle, in a kernel that they limit.
KernelProfile with_memory(std::uint64_t sectors, std::uint64_t least) {
  KernelProfile k = plain();
  k.counters[TCP_TOTAL_CACHE_ACCESSES_sum] = sectors;
  Site& site = add_site(k, "global_load_dword v1, v0, s[2:3]");
  site.is_read = true;
  site.executions = 2432;
  MemoryTraffic& m = site.memory.emplace();
  m.lane_bytes = least * 64;
  m.sector_bytes = sectors * 64;
  m.least_sector_bytes = least * 64;
  m.lookup_cycles = sectors;
  m.tag_accesses = sectors;
  m.least_tag_accesses = sectors / 4;
  return k;
}

TEST(Advice, ScatteredBytes) {
  const KernelProfile k = with_memory(1'000'000, 62'500);
  EXPECT_EQ(limit_of(k).part, "vL1D");
  EXPECT_THAT(
      advice_with(k, "sectors it touches"),
      AllOf(StartsWith("global_load_dword at plain.cpp:12 uses 6 % of the 64-byte sectors"),
            HasSubstr("4.0 lines for each four lanes"), HasSubstr("let consecutive lanes read")));
  EXPECT_NEAR(advice_for(k)[0].gain, 0.9375, 1e-9);
  KernelProfile store = k;
  store.sites[0].is_read = false;
  store.sites[0].is_write = true;
  EXPECT_THAT(advice_with(store, "sectors it touches"),
              AllOf(HasSubstr("lanes write bytes that are apart"),
                    HasSubstr("lanes write consecutive"), Not(HasSubstr("read"))));
  // The same where lookups are not the limit.
  KernelProfile hidden = k;
  hidden.counters[TCC_EA0_RDREQ_sum] = hidden.counters[TCC_BUBBLE_sum] = 1'000'000;
  EXPECT_EQ(limit_of(hidden).part, "memory");
  EXPECT_THAT(advice_for(hidden), IsEmpty());
}

TEST(Advice, SaysWhySectorsAreTouched) {
  KernelProfile k = with_memory(1'000'000, 500'000);
  k.sites[0].memory->misaligned_sector_bytes = 450'000 * 64;
  EXPECT_THAT(advice_with(k, "sectors it touches"),
              HasSubstr("begin inside a sector | let rows begin"));
  k.sites[0].memory->misaligned_sector_bytes = 0;
  k.sites[0].memory->inactive_sector_bytes = 450'000 * 64;
  EXPECT_THAT(advice_with(k, "sectors it touches"), HasSubstr("are switched off"));
}

/// Of what is read four bytes a lane, each sector is read once: wider loads would change nothing.
TEST(Advice, NothingForNarrowLoadsOfWholeSectors) {
  KernelProfile k = with_memory(1'000'000, 1'000'000);
  EXPECT_EQ(limit_of(k).part, "vL1D");
  EXPECT_THAT(advice_for(k), IsEmpty());
}

TEST(Advice, LinesFetchedAgain) {
  KernelProfile k = with_memory(100, 100);
  k.counters[TCC_REQ_sum] = 10'000'000;
  TensorTraffic& t = k.tensors.emplace_back();
  t.name = "g.a";
  t.workgroup_read_bytes = t.workgroup_used_bytes = 5'000'000 * 128;
  t.l2_read_bytes = 10'000'000 * 128;
  k.sites[0].tensor = 0;
  EXPECT_THAT(advice_with(k, "workgroups fetch each line of g.a 2.0 times from L2"),
              AllOf(HasSubstr("global_load_dword at plain.cpp:12"), HasSubstr("32 KiB of vL1D")));
  k.tensors[0].l2_read_bytes = 6'000'000 * 128;
  EXPECT_THAT(advice_for(k), IsEmpty());
}

TEST(Advice, Spills) {
  KernelProfile k = plain();
  add_site(k, "scratch_store_dword off, v1, off offset:4").traits.path = MemoryPath::scratch;
  EXPECT_THAT(advice_with(k, "scratch"),
              AllOf(StartsWith("1 scratch instruction ran 100 times, most often at plain.cpp:12"),
                    HasSubstr("a local array")));
  k.resources.vgpr_spills = 3;
  k.resources.vgprs = 128;
  EXPECT_THAT(advice_with(k, "scratch"), HasSubstr("spilled 3 VGPRs: 128 were not enough"));
}

/// A tensor that is fetched from memory, each byte so often: by how many XCDs, by how many
/// workgroups, and how often in all.
KernelProfile with_tensor(double xcds, double workgroups, double fetched) {
  KernelProfile k = plain();
  constexpr double kBytes = 1e8;
  TensorTraffic& t = k.tensors.emplace_back();
  t.name = "g.a";
  t.touched_read_bytes = static_cast<std::uint64_t>(kBytes);
  t.xcd_read_bytes = static_cast<std::uint64_t>(xcds * kBytes);
  t.workgroup_read_bytes = static_cast<std::uint64_t>(workgroups * kBytes);
  t.fabric_read_bytes = static_cast<std::uint64_t>(fetched * kBytes);
  k.counters[TCC_EA0_RDREQ_sum] = k.counters[TCC_BUBBLE_sum] = t.fabric_read_bytes / 128;
  return k;
}

TEST(Advice, TensorsFetchedSeveralTimes) {
  EXPECT_THAT(
      advice_with(with_tensor(8, 8, 8), "each byte of g.a is fetched by 8.0 XCDs"),
      AllOf(HasSubstr("8 of 608 workgroups read it: one XCD would do"), HasSubstr("modulo 8")));
  EXPECT_THAT(advice_with(with_tensor(1, 8, 4), "fetched 4.0 times from memory, 4.0 times by each"),
              HasSubstr("leaves the 4 MiB of L2"));
  EXPECT_THAT(advice_for(with_tensor(1, 8, 1)), IsEmpty());
  // What all workgroups read all XCDs have to fetch.
  EXPECT_THAT(advice_for(with_tensor(8, 608, 8)), IsEmpty());
  // Rows of A and columns of B: an XCD cannot have both for itself.
  KernelProfile both = with_tensor(3, 20, 3);
  both.tensors.push_back(both.tensors[0]);
  EXPECT_THAT(advice_for(both), IsEmpty());
}

TEST(Advice, Shapes) {
  KernelProfile k = plain();
  k.grid = {30, 1, 1};
  EXPECT_THAT(advice_with(k, "CUs"),
              AllOf(StartsWith("only 30 of 304 CUs get a workgroup"), Not(HasSubstr("tiles"))));
  k.counters[SQ_INSTS_MFMA] = 1;
  EXPECT_THAT(advice_with(k, "CUs"), HasSubstr("smaller tiles"));
  k = plain();
  k.workgroup = {100, 1, 1};
  EXPECT_THAT(advice_with(k, "last wave"), StartsWith("28 of 64 lanes of the last wave"));
  k = plain();
  k.counters[SQ_THREAD_CYCLES_VALU] = 16000;
  EXPECT_THAT(advice_with(k, "active"), StartsWith("16 of 64 lanes are active"));
  k.counters[SQ_THREAD_CYCLES_VALU] = 50000;
  EXPECT_THAT(advice_for(k), IsEmpty());
  k = plain();
  k.resources.code_bytes = 65536;
  EXPECT_THAT(advice_for(k), IsEmpty());
  k.resources.code_bytes = 65540;
  EXPECT_THAT(advice_with(k, "L1I"), HasSubstr("unroll less"));
}

TEST(Advice, OccupancyWhereLoadsAreWaitedFor) {
  KernelProfile k = plain();
  k.grid = {100000, 1, 1};
  k.resources.next_step = "one more with less";
  k.resources.limit = "LDS";
  k.resources.workgroups_per_cu = 1;
  k.resources.waves_per_cu = 4;
  EXPECT_THAT(advice_with(k, "LDS limits"), IsEmpty());  // no workgroup waits
  Site& load = add_site(k, "global_load_dword v1, v0, s[2:3]");
  load.is_read = true;
  load.executions = 1600000;  // four for each wave, one after the other
  load.memory.emplace().lane_bytes = 1600000 * 256;
  load.memory->l2_reads = load.memory->l2_misses = 3200000;
  Site& wait = add_site(k, "s_waitcnt vmcnt(0)");
  wait.executions = 1600000;
  wait.traits.vm_wait = 0;
  EXPECT_EQ(limit_of(k).part, "load latency");
  EXPECT_THAT(advice_with(k, "LDS limits the kernel to 1 workgroup per CU"),
              HasSubstr("one more with less"));
  EXPECT_THAT(advice_with(k, "a wave has 256 B in flight"), HasSubstr("850 cycles"));
  k.grid = {304, 1, 1};  // all of them are resident at once
  EXPECT_THAT(advice_with(k, "LDS limits"), IsEmpty());
}

TEST(Limit, SaysWhichAndWhatItMeans) {
  KernelProfile k = plain();
  k.counters[SQ_INSTS_VALU_FMA_F32] = 500;
  k.counters[SQ_INSTS_VALU_TRANS_F32] = 50;
  EXPECT_EQ(limit_of(k).part, "vector ALU");
  EXPECT_EQ(
      limit_of(k).meaning,
      "of its cycles: 50 % floating-point arithmetic, 20 % transcendentals, which take four times "
      "as long, 30 % moves, compares and others");
  k.counters[SQ_VALU_MFMA_BUSY_CYCLES] = 3000;
  EXPECT_THAT(limit_of(k).what, AllOf(StartsWith("matrix units are the limit with "),
                                      HasSubstr("vector ALU is next with 33 % of that")));
  EXPECT_EQ(limit_of(KernelProfile{}).part, "");
}

TEST(Advice, WhatSavesMostFirst) {
  KernelProfile k = with_conflicts(100000, 50000);
  k.grid = {200, 1, 1};
  std::vector<std::string> first_words;
  for (const Advice& a : advice_for(k)) first_words.push_back(a.what.substr(0, a.what.find(' ')));
  EXPECT_THAT(first_words, ElementsAre("every", "only"));
  k.grid = {8, 1, 1};
  EXPECT_THAT(advice_for(k).front().what, HasSubstr("only 8 of 304"));
  for (const Advice& a : advice_for(k)) EXPECT_THAT(a.effect, StartsWith("saves up to "));
}

// ---- compare --------------------------------------------------------------------------------

std::vector<std::string> whats(const std::vector<Difference>& all) {
  std::vector<std::string> out;
  for (const Difference& d : all) out.push_back(d.what);
  return out;
}

TEST(Compare, TheSameIsTheSame) {
  KernelProfile k = plain();
  k.counters[TCC_REQ_sum] = 1000;
  const Comparison c = compare(k, k);
  EXPECT_THAT(c.verdict, HasSubstr("the limit is the same"));
  EXPECT_THAT(c.metrics, IsEmpty());
  EXPECT_THAT(c.resources, IsEmpty());
  EXPECT_THAT(c.lines, IsEmpty());
  for (const Difference& d : c.bounds) EXPECT_EQ(d.seconds, 0);
}

TEST(Compare, CountsAreByLaunchAndRatesAreNot) {
  KernelProfile once = plain(), thrice = plain();
  once.counters[SQ_LDS_IDX_ACTIVE] = 64;
  once.counters[SQ_LDS_BANK_CONFLICT] = 48;
  once.counters[TCC_EA0_RDREQ_sum] = once.counters[TCC_BUBBLE_sum] = 500;
  once.counters[SQ_INSTS_VALU_FMA_F32] = 5;
  add_site(once, "v_fma_f32 v0, v1, v2, v3").flops = 12800;
  thrice.launches = 3;
  thrice.sites = once.sites;
  for (int n = 0; n < 3; ++n) {
    if (n == 0) thrice.counters = {};
    thrice.counters += once.counters;
  }
  thrice.sites[0].executions *= 3;
  thrice.sites[0].issue_cycles *= 3;
  thrice.sites[0].flops *= 3;
  const Comparison c = compare(once, thrice);
  EXPECT_THAT(whats(c.metrics), IsEmpty());
  EXPECT_THAT(c.verdict, Not(HasSubstr("same work")));
  EXPECT_THAT(c.lines, IsEmpty());
}

TEST(Compare, TheLargestChangeFirst) {
  KernelProfile a = plain(), b = plain();
  for (KernelProfile* k : {&a, &b}) {
    k->counters[SQ_LDS_IDX_ACTIVE] = 304 * 2100;                           // a microsecond
    k->counters[TCC_EA0_RDREQ_sum] = k->counters[TCC_BUBBLE_sum] = 46875;  // another
  }
  b.counters[SQ_LDS_IDX_ACTIVE] = 3 * 304 * 2100;
  b.counters[TCC_EA0_RDREQ_sum] = b.counters[TCC_BUBBLE_sum] = 23000;
  b.resources.vgprs = 40;
  add_site(a, "v_mov_b32 v0, v1", 7).issue_cycles = 100;
  add_site(b, "v_mov_b32 v0, v1", 7).issue_cycles = 900;
  add_site(b, "v_mov_b32 v0, v1", 9).issue_cycles = 5000;
  const Comparison c = compare(a, b);
  ASSERT_GE(c.bounds.size(), 2u);
  EXPECT_EQ(c.bounds[0].what, "LDS");
  EXPECT_NEAR(c.bounds[0].seconds, 2e-6, 1e-12);
  EXPECT_EQ(c.bounds[1].what, "memory");
  EXPECT_LT(c.bounds[1].seconds, 0);
  EXPECT_THAT(whats(c.resources), ElementsAre("VGPRs"));
  ASSERT_EQ(c.lines.size(), 2u);
  EXPECT_THAT(c.lines[0], HasSubstr("plain.cpp:9"));
  EXPECT_THAT(c.verdict, AllOf(HasSubstr("B by LDS"), HasSubstr("3.00x that of A")));
}

TEST(Compare, LinesAreTheSameByWhatStandsInThem) {
  const auto kernel = [](const std::string& file,
                         std::vector<std::pair<std::uint32_t, std::uint64_t>> lines) {
    KernelProfile k = plain();
    for (const auto& [line, cycles] : lines) {
      Site& site = add_site(k, "v_mov_b32 v0, v1", line);
      site.frames[0].file = file;
      site.issue_cycles = cycles;
    }
    return k;
  };
  const SourceText old_text = {
      {"/old/a.cpp", {{5, "  load(tile);"}, {6, "  sum += x;"}, {7, "  gone();"}}}};
  const SourceText new_text = {
      {"/new/b.cpp", {{8, "  fresh();"}, {9, "\tload(tile);"}, {10, "  sum += x;"}}}};
  const KernelProfile a = kernel("/old/a.cpp", {{5, 100}, {6, 50}, {7, 30}});
  const KernelProfile b = kernel("/new/b.cpp", {{8, 20}, {9, 400}, {10, 50}});
  const Comparison c = compare(a, b, old_text, new_text);
  ASSERT_EQ(c.lines.size(), 3u);
  EXPECT_THAT(c.lines[0], AllOf(HasSubstr("100 -> 400"), HasSubstr("a.cpp:5 -> b.cpp:9 in plain")));
  EXPECT_THAT(c.lines[1], HasSubstr("a.cpp:7 in plain (A only)"));
  EXPECT_THAT(c.lines[2], HasSubstr("b.cpp:8 in plain (B only)"));
  // Without the text all are others, unless they are at the same place.
  EXPECT_EQ(compare(a, b).lines.size(), 6u);
  EXPECT_THAT(compare(a, kernel("/new/a.cpp", {{5, 100}, {6, 51}, {7, 30}})).lines,
              ElementsAre(HasSubstr("a.cpp:6 in plain")));
}

TEST(Compare, ThePageHasEverything) {
  KernelProfile a = plain(), b = plain();
  a.name = "one<1>(int)";
  b.counters[SQ_LDS_IDX_ACTIVE] = 304 * 2100;
  add_site(b, "v_mov_b32 v0, v1", 9).issue_cycles = 5000;
  const Comparison c = compare(a, b);
  const std::string page = html_of(c, {&a, &b});
  EXPECT_THAT(page,
              AllOf(HasSubstr("one&lt;1&gt;"), Not(HasSubstr("<1>")), Not(HasSubstr("<script")),
                    HasSubstr("plain.cpp:9"), StartsWith("<!DOCTYPE html>")));
  for (const Difference& d : c.bounds) EXPECT_THAT(page, HasSubstr(">" + d.what + "<"));
}

TEST(Compare, ModelledTimeComesFirstAndRanksLines) {
  // Of B twice as many waves were replayed; per wave it waits as long, and works half as long.
  const KernelProfile a = timed(10, 800, 800), b = timed(7.5, 800, 1600);
  const Comparison c = compare(a, b);
  EXPECT_THAT(
      c.verdict,
      AllOf(StartsWith("Modelled, not measured: A takes 10 us (bound by HBM), B "),
            HasSubstr("0.75x that of A, error about 20 %"), Not(HasSubstr("below the error"))));
  ASSERT_EQ(whats(c.time), (std::vector<std::string>{
                               "cycles", "time at boost clock", "time at sustained clock",
                               "error of the model, about", "cycles: issue", "cycles: WAITCNT"}));
  EXPECT_EQ(c.time[0].a, 21000);
  EXPECT_NEAR(c.time[4].a, 10500, 1e-6);
  EXPECT_NEAR(c.time[4].b, 5250, 1e-6);
  EXPECT_NEAR(c.time[5].b, 10500, 1e-6);
  EXPECT_THAT(c.lines, ElementsAre(AllOf(HasSubstr("modelled cycles"), HasSubstr("plain.cpp:8"))));
  const std::string text = text_of(c, {&a, &b}, {});
  EXPECT_LT(text.find("modelled time, first launch"), text.find("needs at least"));
  EXPECT_THAT(html_of(c, {&a, &b}), HasSubstr("cycles: WAITCNT"));
  EXPECT_THAT(json_of(c, {&a, &b}), HasSubstr("\"cycles: WAITCNT\""));
  EXPECT_THAT(compare(a, timed(9, 720, 720)).verdict, HasSubstr("a difference below the error"));
}

TEST(Compare, ATimeOfOneOfThemIsNotCompared) {
  const KernelProfile a = timed(10, 800, 800);
  KernelProfile b = a;
  b.time.reset();
  const Comparison c = compare(a, b);
  EXPECT_THAT(c.time, IsEmpty());
  EXPECT_THAT(c.verdict, Not(HasSubstr("Modelled")));
  EXPECT_THAT(text_of(c, {&a, &b}, {}), Not(HasSubstr("modelled")));
}

TEST(Compare, OtherWorkIsSaid) {
  KernelProfile a = plain(), b = plain();
  a.counters[SQ_INSTS_VALU_MFMA_MOPS_BF16] = 100;
  b.counters[SQ_INSTS_VALU_MFMA_MOPS_BF16] = 200;
  EXPECT_THAT(compare(a, b).verdict, HasSubstr("They do not do the same work"));
  EXPECT_THAT(compare(a, a).verdict, Not(HasSubstr("same work")));
}

Profile profile_with(std::vector<std::pair<std::string, std::uint64_t>> kernels) {
  Profile p;
  for (const auto& [name, lds_cycles] : kernels) {
    p.kernels.push_back(plain());
    p.kernels.back().name = name;
    p.kernels.back().counters[SQ_LDS_IDX_ACTIVE] = lds_cycles;
  }
  return p;
}

TEST(ChooseKernels, TheSameNameThenTheLongest) {
  const Profile a = profile_with({{"one()", 10000}, {"two()", 90000}, {"three()", 50000}});
  const Profile b = profile_with({{"four()", 70000}, {"three()", 1000}, {"one()", 1000}});
  const auto names = [](const Result<Pair>& pair) {
    return pair ? pair->a->name + " " + pair->b->name : "error: " + pair.error().what;
  };
  EXPECT_EQ(names(choose_kernels(a, b, "", "")), "three() three()");
  EXPECT_EQ(names(choose_kernels(a, b, "tw", "")), "two() four()");
  EXPECT_EQ(names(choose_kernels(a, b, "one", "one")), "one() one()");
  EXPECT_EQ(names(choose_kernels(profile_with({{"x", 1}}), b, "", "")), "x four()");
  // As the report prints it: without unnamed namespaces, and without long template arguments.
  const std::string arguments(48, 'x'), shown = "ns::tiled<...>";
  const std::string whole = "void ns::(anonymous namespace)::tiled<" + arguments + ">(int*)";
  const Profile c = profile_with({{whole, 1}, {"one()", 9}});
  EXPECT_EQ(names(choose_kernels(c, b, shown, "one")), whole + " one()");
  EXPECT_EQ(names(choose_kernels(c, b, "tiled<" + arguments, "one")), whole + " one()");
  EXPECT_EQ(names(choose_kernels(a, Profile{}, "", "")), "error: B ran no kernel");
  const auto none = choose_kernels(a, b, "nine", "");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().what, HasSubstr("\"nine\""));
  EXPECT_THAT(none.error().hint, AllOf(HasSubstr("one"), HasSubstr("three")));
}

TEST(Compare, KernelsOfOtherNamesToo) {
  const Profile a = profile_with({{"mine(int)", 3 * 304 * 2100}}),
                b = profile_with({{"theirs<2>(float*)", 304 * 2100}});
  const Pair pair = choose_kernels(a, b, "", "").value();
  const Comparison c = compare(*pair.a, *pair.b);
  const std::string text = text_of(c, pair, {});
  EXPECT_THAT(text, AllOf(HasSubstr("A  mine"), HasSubstr("B  theirs<2>"), HasSubstr("0.33x")));
  EXPECT_THAT(json_of(c, pair), HasSubstr("\"a\": \"mine(int)\""));
}

}  // namespace
}  // namespace margay::profile
