// Each kernel of the listings under the checker: exactly the findings that its listing declares,
// with both instructions, wave, lane and workgroup of the example, and how often it happened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "harness.h"
#include "report/check/fix_text.h"
#include "report/check/json.h"
#include "report/check/statement_text.h"

namespace margay::check {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

class ListedKernelTest : public testing::TestWithParam<std::string> {};

TEST_P(ListedKernelTest, GivesExactlyItsFindings) {
  const Listing& listing = Listing::instance();
  const ListedKernel& kernel = listing.kernel(GetParam());
  for (const unsigned threads : {1u, 4u}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    Bench bench(threads, tools_for(kernel));
    const Session::Checked checked = bench.launch(kernel);
    EXPECT_TRUE(checked.result) << checked.result.error().text();
    std::vector<std::string> expected, found;
    for (const auto& expectation : kernel.expected) expected.push_back(expectation.finding);
    for (const Finding& finding : checked.fresh) found.push_back(listing.told(finding));
    EXPECT_THAT(found, UnorderedElementsAreArray(expected));
    for (const Finding& finding : checked.fresh)
      for (const auto& expectation : kernel.expected)
        if (expectation.finding == listing.told(finding))
          EXPECT_THAT(in_words(finding.message), HasSubstr(expectation.message));
  }
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const ListedKernel& kernel : Listing::instance().kernels())
    if (!kernel.name.starts_with("deadlock")) out.push_back(kernel.name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Session, ListedKernelTest, testing::ValuesIn(names()),
                         [](const auto& param) { return param.param; });

// The launch ends with an error that describes the waiting waves, and the other kernels still run.
TEST(Session, Deadlocks) {
  const Listing& listing = Listing::instance();
  for (const std::string name : {"deadlock_through_ds_read", "deadlock_through_flat_load"}) {
    SCOPED_TRACE(name);
    Bench bench(2, tools_for(listing.kernel(name)));
    const Session::Checked checked = bench.launch(listing.kernel(name));
    ASSERT_FALSE(checked.result);
    EXPECT_EQ(checked.result.error().code, ErrorCode::deadlock);
    ASSERT_EQ(checked.fresh.size(), 1u);
    const Finding& finding = checked.fresh[0];
    EXPECT_EQ(finding.tool(), Tool::synccheck);
    EXPECT_EQ(finding.kind, FindingKind::deadlock);
    ASSERT_EQ(finding.accesses.size(), 2u);
    EXPECT_EQ(finding.accesses[0].role, Role::waits_here);
    EXPECT_EQ(finding.accesses[0].wave, 1);
    EXPECT_EQ(finding.accesses[0].vaddr, listing.mark(name, "at"));
    EXPECT_EQ(finding.accesses[1].role, Role::loops_here);
    EXPECT_EQ(finding.accesses[1].wave, 0);
    EXPECT_GE(finding.accesses[1].vaddr, listing.mark(name, "spin"));
    EXPECT_LT(finding.accesses[1].vaddr, listing.mark(name, "spun"));
    EXPECT_TRUE(bench.launch(listing.kernel("all_waves_reach_all_barriers")).result);
  }
}

// What the checker cannot run at the same time as the kernel: it reports that instead of waiting
// forever.
TEST(Session, WaitsForTheHostComeToAnEnd) {
  Bench bench(1, everything(), std::chrono::milliseconds(100));
  const Session::Checked checked =
      bench.launch(Listing::instance().kernel("deadlock_through_the_host"));
  ASSERT_FALSE(checked.result);
  EXPECT_EQ(checked.result.error().code, ErrorCode::deadlock);
  EXPECT_THAT(checked.result.error().what, HasSubstr("waits for memory to change"));
  ASSERT_EQ(checked.fresh.size(), 1u);
  EXPECT_THAT(in_words(checked.fresh[0].message), HasSubstr("waits for memory to change"));
  EXPECT_THAT(fix_in_words(checked.fresh[0]), HasSubstr("has to come from the launch itself"));
  ASSERT_EQ(checked.fresh[0].accesses.size(), 1u);
  EXPECT_EQ(checked.fresh[0].accesses[0].role, Role::loops_here);
  EXPECT_TRUE(bench.launch(Listing::instance().kernel("all_waves_reach_all_barriers")).result);
}

// A minute is long for a person who waits; when every host thread only repeats itself, nothing
// comes.
TEST(Session, WhenAllThreadsRepeatThemselvesItIsSaidInSeconds) {
  Bench bench(2, everything());
  const auto started = std::chrono::steady_clock::now();
  const Session::Checked checked =
      bench.launch(Listing::instance().kernel("deadlock_through_the_host"));
  ASSERT_FALSE(checked.result);
  EXPECT_EQ(checked.result.error().code, ErrorCode::deadlock);
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(40));
}

// `margay mutate` explains with it why a wait is not missed.
bool ordered(const std::string& kernel, const char* mark) {
  Bench bench(1, everything());
  EXPECT_TRUE(bench.launch(Listing::instance().kernel(kernel)).result);
  for (const Site& site : bench.session().report().sites)
    if (site.vaddr == Listing::instance().mark(kernel, mark)) return site.ordered != 0;
  ADD_FAILURE() << mark << " did not run";
  return false;
}

TEST(Session, AWaitThatALaterOneCoversIsNotDependedOn) {
  EXPECT_FALSE(ordered("covered_by_a_later_wait", "first"));
  EXPECT_TRUE(ordered("covered_by_a_later_wait", "second"));
  EXPECT_TRUE(ordered("not_covered_by_another_waves_wait", "first"));
  EXPECT_TRUE(ordered("not_covered_by_another_waves_wait", "second"));
}

TEST(Session, AWaitOfAReleaseIsDependedOnByWhoAcquiresIt) {
  EXPECT_TRUE(ordered("workgroups_with_a_flag", "wait"));
  EXPECT_FALSE(ordered("workgroups_flag_that_nobody_acquires", "wait"));
}

// A turn would be 2^20 instructions where no wave can wait for another one.
TEST(Session, WhoWaitsForAnotherWaveSoonGivesItATurn) {
  Bench bench(1, everything());
  ASSERT_TRUE(bench.launch(Listing::instance().kernel("a_poll_that_counts_its_looks")).result);
  EXPECT_GE(bench.results()[0], 1u);
  EXPECT_LE(bench.results()[0], 1024u);
}

#ifndef MARGAY_SANITIZED  // which keeps memory of its own
/// The most memory that the process has held since the last call, in KiB.
long peak_since_last_call() {
  std::ifstream status("/proc/self/status");
  long peak = -1;
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) peak = std::stol(line.substr(6));
  std::ofstream("/proc/self/clear_refs") << 5;  // proc(5): resets the peak
  return peak;
}

// A release leaves what its wave knows, some hundred bytes; only what can still be learnt is kept.
TEST(Session, ManyReleasesTakeNoMoreMemoryThanFew) {
  CheckConfig config;
  config.tools.set(index_of(Tool::racecheck));
  Bench bench(1, config);
  (void)peak_since_last_call();
  const long before = peak_since_last_call();
  ASSERT_TRUE(bench.launch(Listing::instance().kernel("counting_very_often")).result);
  EXPECT_LT(peak_since_last_call() - before, 16 * 1024);
}
#endif

TEST(Session, AFenceIsDependedOnByWhoAcquiresWhatItReleased) {
  EXPECT_TRUE(ordered("workgroups_with_a_flag", "back"));
  EXPECT_TRUE(ordered("workgroups_with_a_flag", "anew"));
  EXPECT_FALSE(ordered("workgroups_flag_that_nobody_acquires", "back"));
  EXPECT_FALSE(ordered("workgroups_flag_that_nobody_acquires", "anew"));
}

// Lanes out of bounds give 0 and store nothing; the others do their work.
TEST(Session, LanesOutOfBoundsAreMasked) {
  Bench bench(1, everything());
  const auto run = [&](const char* name) {
    const Session::Checked checked = bench.launch(Listing::instance().kernel(name));
    EXPECT_TRUE(checked.result) << name;
    return !checked.fresh.empty();
  };
  EXPECT_TRUE(run("a_load_past_the_end"));
  for (std::uint32_t lane = 0; lane < 64; ++lane)
    EXPECT_EQ(bench.results()[lane], lane < 32 ? lane + 1 : 0) << "lane " << lane;
  EXPECT_TRUE(run("a_store_past_the_end"));
  for (std::uint32_t lane = 0; lane < 64; ++lane) EXPECT_EQ(bench.results()[lane], lane);
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(bench.small()[lane], lane);
  EXPECT_TRUE(run("lds_past_its_end"));
  for (std::uint32_t lane = 0; lane < 64; ++lane)
    EXPECT_EQ(bench.results()[lane], lane < 32 ? lane : 0) << "lane " << lane;
  EXPECT_TRUE(run("all_lanes_past_the_end"));
  for (std::uint32_t lane = 0; lane < 64; ++lane) EXPECT_EQ(bench.results()[lane], 0u);
  EXPECT_FALSE(run("all_lanes_past_the_end")) << "is no news";
}

// Without memcheck addresses have not been checked before the other tools use them.
TEST(Session, OutOfBoundsWithoutMemcheck) {
  for (const Tool tool : {Tool::racecheck, Tool::initcheck, Tool::waitcheck}) {
    CheckConfig config;
    config.tools.set(index_of(tool));
    Bench bench(1, config);
    const Session::Checked lds = bench.launch(Listing::instance().kernel("lds_past_its_end"));
    EXPECT_TRUE(lds.result);
    EXPECT_TRUE(lds.fresh.empty());
    for (std::uint32_t lane = 0; lane < 64; ++lane)
      EXPECT_EQ(bench.results()[lane], lane < 32 ? lane : 0) << "lane " << lane;
    // The device stops here, as without the checker.
    for (const char* name : {"a_load_past_the_end", "a_load_past_unwritten_memory"})
      EXPECT_FALSE(bench.launch(Listing::instance().kernel(name)).result) << name;
  }
}

/// As JSON, without device addresses: the arena's address depends on the host (a sanitizer's
/// runtime may have taken its usual place).
std::string json_without_addresses(Report report) {
  const auto blank = [](Statement& statement) {
    std::string text = in_words(statement);
    for (std::size_t at = text.find("0x"); at != text.npos; at = text.find("0x", at + 2)) {
      const std::size_t end =
          std::min(text.find_first_not_of("0123456789abcdef", at + 2), text.size());
      if (end - at > 10) text.replace(at, end - at, "0x");
    }
    statement = say<Says::text>(std::move(text));
  };
  for (Finding& finding : report.findings) {
    blank(finding.message);
    for (Statement& line : finding.detail) blank(line);
    for (Access& access : finding.accesses) access.pc = 0;
    for (auto& other : finding.others) {
      blank(other.message);
      for (Access& access : other.accesses) access.pc = 0;
    }
  }
  return json_of(report);
}

// The report is the same however many host threads run the workgroups.
TEST(Session, ReportsDoNotDependOnThreads) {
  const auto report_of = [](unsigned threads) {
    Bench bench(threads, everything());
    for (const ListedKernel& listed : Listing::instance().kernels()) {
      if (listed.name.starts_with("deadlock")) continue;
      // How often a workgroup looks at a flag depends on when the other one sets it; who counts
      // last, on all of them.
      if (listed.name.starts_with("workgroups_") && listed.name.find("flag") != std::string::npos)
        continue;
      ListedKernel kernel = listed;
      // Every workgroup works on the same memory. Which of them is the first to find it unwritten
      // before another writes it, what a swap gives back, whose compare-and-swap succeeds, and
      // which value remains in the end, depends on the host.
      const bool one_workgroup = kernel.name.find("unwritten_memory") != std::string::npos ||
                                 kernel.name.starts_with("global_memory") ||
                                 kernel.name.starts_with("waves_store") ||
                                 kernel.name.starts_with("a_compare_and_swap") ||
                                 kernel.name == "an_atomic_returns_into_its_unwritten_operand";
      if (!one_workgroup) kernel.grid *= 6;
      EXPECT_TRUE(bench.launch(kernel).result) << kernel.name;
    }
    return json_without_addresses(bench.session().report());
  };
  const std::string one = report_of(1);
  EXPECT_EQ(one, report_of(2));
  EXPECT_EQ(one, report_of(4));
}

// A deferred store is eventually executed, although its wave waits for the others.
TEST(Session, AFlagThatIsPutOffArrives) {
  CheckConfig config = everything();
  config.adversarial = 1;
  Bench bench(1, config);
  const auto checked = bench.launch(Listing::instance().kernel("a_flag_in_flight_at_a_barrier"));
  EXPECT_TRUE(checked.result) << checked.result.error().text();
}

// Deferred atomics read what other waves have written meanwhile: the owner of a lock is known when
// they are executed.
TEST(Session, LocksAreFollowedWhereAtomicsArePutOff) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
    SCOPED_TRACE(seed);
    CheckConfig config = everything();
    config.adversarial = seed;
    for (const std::string name :
         {"a_lock_given_back_by_a_plain_store", "a_lock_taken_by_an_exchange"}) {
      SCOPED_TRACE(name);
      Bench bench(1, config);
      ListedKernel kernel = Listing::instance().kernel(name);
      kernel.waves = 4;
      const auto checked = bench.launch(kernel);
      EXPECT_TRUE(checked.result) << checked.result.error().text();
      for (const Finding& finding : checked.fresh)
        if (finding.tool() == Tool::racecheck) ADD_FAILURE() << Listing::instance().told(finding);
    }
  }
}

// Every workgroup reads what the host has written through its pointer, and says so once; the next
// launch does not.
TEST(Session, HostWritesAreCountedByWorkgroup) {
  for (const unsigned threads : {1u, 4u}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    Bench bench(threads, everything());
    ListedKernel kernel = Listing::instance().kernel("a_scalar_load_of_unwritten_memory");
    kernel.grid = 12;
    const Session::Checked checked = bench.launch(kernel, 0x5a);
    ASSERT_TRUE(checked.result) << checked.result.error().text();
    ASSERT_EQ(checked.fresh.size(), 1u);
    EXPECT_EQ(checked.fresh[0].kind, FindingKind::host_write);
    EXPECT_EQ(checked.fresh[0].count, 12u);
    EXPECT_EQ(checked.fresh[0].accesses.at(0).workgroup[0], 0u);
  }
}

}  // namespace
}  // namespace margay::check
