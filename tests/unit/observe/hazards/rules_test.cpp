// Each rule fires with one wait state too few and is silent with enough (rules.s); the window sees
// across branches, and remembers the paths it has checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "gpu/gfx942/gfx942.h"
#include "gpu/gpu.h"
#include "listing.h"
#include "report/check/hazard_text.h"

namespace margay::check::hazard_test {
namespace {

struct Case {
  unsigned needed = 0;
  std::string row, rule;
  Listing pair;  ///< Producer and consumer.
};

const std::vector<Case>& cases() {
  static const std::vector<Case> result = [] {
    const auto decoder = isa::Decoder::create(kGfx942);
    EXPECT_TRUE(decoder);
    const std::vector<std::byte> code = read_file(MARGAY_HAZARD_RULES_CODE);
    const Listing all = decode(**decoder, code);
    std::ifstream source(MARGAY_HAZARD_RULES_SOURCE);
    std::vector<Case> out;
    std::size_t next = 0;
    for (std::string line; std::getline(source, line);) {
      Case one;
      if (line.size() < 4 || !line.starts_with("// ") || line[3] < '0' || line[3] > '9') continue;
      std::istringstream words(line.substr(3));
      words >> one.needed >> one.row >> std::ws;
      std::getline(words, one.rule);
      for (; next < all.size() && all.text[next] != "s_endpgm"; ++next) one.pair.add(all, next);
      ++next;
      EXPECT_EQ(one.pair.size(), 2u) << line;
      out.push_back(std::move(one));
    }
    return out;
  }();
  return result;
}

/// In `listing`, since what is found points into it.
std::optional<Hazard> with_wait_states(const Case& one, unsigned count, Listing& listing) {
  const auto decoder = isa::Decoder::create(kGfx942);
  listing.add(one.pair, 0);
  add_wait_states(**decoder, listing, count);
  listing.add(one.pair, 1);
  return run_straight(listing);
}

TEST(HazardRules, AreSilentWithEnoughWaitStates) {
  ASSERT_GT(cases().size(), 60u);
  for (const Case& one : cases()) {
    Listing listing;
    const auto found = with_wait_states(one, one.needed, listing);
    EXPECT_FALSE(found) << one.pair.text[0] << "; " << one.pair.text[1] << ": " << found->needed
                        << " for " << hazard_text(found->hazard);
  }
}

TEST(HazardRules, FireWithOneTooFew) {
  for (const Case& one : cases()) {
    if (one.needed == 0) continue;
    SCOPED_TRACE(one.pair.text[0] + "; " + one.pair.text[1]);
    Listing listing;
    const auto found = with_wait_states(one, one.needed - 1, listing);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->needed, one.needed);
    EXPECT_EQ(found->had, one.needed - 1);
    EXPECT_EQ(hazard_text(found->hazard), one.rule);
    EXPECT_EQ(register_name(found->row, 256), one.row == "-" ? "none" : one.row);
    EXPECT_EQ(found->producer, listing.instructions.data());
  }
}

TEST(HazardRules, AreToleratedWhereShippedKernelsBreakThem) {
  std::set<std::string> tolerated, enforced, both;
  for (const Case& one : cases()) {
    if (one.needed == 0) continue;
    Listing listing;
    (with_wait_states(one, 0, listing)->is_tolerated ? tolerated : enforced).insert(one.rule);
  }
  EXPECT_EQ(tolerated,
            (std::set<std::string>{"M0 written by the SALU is used by a load to LDS or a message",
                                   "a VALU result is read by DPP",
                                   "a mask written by the VALU selects lanes' values",
                                   "a scalar register written by the VALU is read by the VALU"}));
  std::ranges::set_intersection(tolerated, enforced, std::inserter(both, both.end()));
  EXPECT_EQ(both,
            (std::set<std::string>{"M0 written by the SALU is used by a load to LDS or a message",
                                   "a VALU result is read by DPP"}));
}

// ---- Another processor --------------------------------------------------------------------------

/// One wait state more for VALU results that matrix instructions read; all other rules are gone.
constexpr wait_states::Rule kOtherRules[] = {{.hazard = wait_states::Hazard::valu_to_matrix,
                                              .producer = wait_states::kValu,
                                              .consumer = wait_states::kMfma,
                                              .link = wait_states::Link::source,
                                              .states = 3}};

TEST(HazardRules, AreThoseOfTheProcessor) {
  const wait_states::Rules other{kOtherRules, 16};
  unsigned stricter = 0, gone = 0;
  for (const Case& one : cases()) {
    if (one.needed == 0) continue;
    const bool is_kept = one.rule == hazard_text(wait_states::Hazard::valu_to_matrix);
    Listing listing;
    (void)with_wait_states(one, is_kept ? one.needed : 0, listing);
    const auto found = run_straight(listing, other);
    EXPECT_EQ(found.has_value(), is_kept) << one.rule;
    if (found) EXPECT_EQ(found->needed, 3u);
    (is_kept ? stricter : gone) += 1;
  }
  EXPECT_GT(stricter, 0u);
  EXPECT_GT(gone, 0u);
}

TEST(HazardRules, OfOneHazardAreAdjacent) {
  for (const Architecture* const architecture : all_architectures()) {
    std::set<wait_states::Hazard> ended;
    const auto rules = architecture->wait_rules.rules;
    EXPECT_LT(architecture->wait_rules.longest, 32u) << architecture->processor;
    for (std::size_t n = 1; n < rules.size(); ++n) {
      if (rules[n].hazard == rules[n - 1].hazard) continue;
      ended.insert(rules[n - 1].hazard);
      EXPECT_FALSE(ended.contains(rules[n].hazard)) << n;
    }
  }
}

TEST(HazardRules, HaveWords) {
  std::set<std::string_view> words;
  for (std::size_t n = 0; n < wait_states::kHazards; ++n) {
    const auto text = hazard_text(static_cast<wait_states::Hazard>(n));
    EXPECT_FALSE(text.empty()) << n;
    words.insert(text);
  }
  EXPECT_EQ(words.size(), wait_states::kHazards - 1) << "the two of M0 are one clause";
  EXPECT_TRUE(hazard_text(static_cast<wait_states::Hazard>(wait_states::kHazards)).empty());
}

TEST(HazardRules, NameRegisters) {
  EXPECT_EQ(register_name(12, 20), "v12");
  EXPECT_EQ(register_name(23, 20), "a3");
  EXPECT_EQ(register_name(kFirstScalarRow + 7, 20), "s7");
  EXPECT_EQ(register_name(kFirstScalarRow + 107, 20), "vcc_hi");
}

// ---- Paths --------------------------------------------------------------------------------------

/// A listing from words of machine code, with a memo for each instruction.
struct Code {
  explicit Code(std::span<const std::uint32_t> words) {
    const auto decoder = isa::Decoder::create(kGfx942);
    listing = decode(**decoder, std::as_bytes(words));
    memos.resize(listing.size());
  }
  [[nodiscard]] std::optional<Hazard> step(HazardWindow& window, std::size_t n) {
    return window.step(listing.instructions[n], listing.facts[n], memos[n]);
  }
  Listing listing;
  std::vector<HazardMemo> memos;
  CheckedPaths checked;
};

constexpr std::uint32_t kNop0 = 0xbf80'0000, kNop15 = 0xbf80'000f, kBranch = 0xbf82'0000;
constexpr std::uint32_t kExpV9 = 0x7e12'4104;   // v_exp_f32 v9, v4
constexpr std::uint32_t kReadV9 = 0x7e02'0309;  // v_mov_b32 v1, v9

/// Falling through meets a hazard that jumping over the producer does not, and the other way round:
/// checking one path does not cover the other.
TEST(HazardWindow, JudgesEachPath) {
  const std::uint32_t words[] = {kBranch, kNop0, kExpV9, kReadV9, kNop15, kNop15, kBranch};
  Code code(words);
  ASSERT_EQ(code.listing.text[3], "v_mov_b32_e32 v1, v9");
  for (int round = 0; round < 3; ++round) {
    HazardWindow jumps(kGfx942.wait_rules, code.checked);
    jumps.reset();
    EXPECT_FALSE(code.step(jumps, 0));
    EXPECT_FALSE(code.step(jumps, 3));
    HazardWindow falls(kGfx942.wait_rules, code.checked);
    for (const std::size_t n : {0u, 1u, 2u}) EXPECT_FALSE(code.step(falls, n));
    EXPECT_TRUE(code.step(falls, 3)) << round;
    // From the end back to just before the reader: the producer is far away.
    for (const std::size_t n : {4u, 5u, 6u}) EXPECT_FALSE(code.step(falls, n));
    EXPECT_FALSE(code.step(falls, 3));
  }
}

TEST(HazardWindow, SeesAcrossABranch) {
  const std::uint32_t words[] = {kReadV9, kNop15, kNop15, kExpV9, kBranch};
  Code code(words);
  HazardWindow window(kGfx942.wait_rules, code.checked);
  for (int round = 0; round < 3; ++round)
    for (std::size_t n = 0; n < 5; ++n)
      EXPECT_FALSE(code.step(window, n)) << "the branch is a wait state";
  // A jump to the next instruction: as if there were no branch.
  EXPECT_FALSE(code.step(window, 3));
  EXPECT_TRUE(code.step(window, 0));
}

constexpr std::uint32_t kCompareToVcc = 0x7d94'0300;                   // v_cmp_eq_u32 vcc, v0, v1
constexpr std::uint32_t kDivFmas[] = {0xd1e2'0002, 0x0416'0903};       // reads it 4 states later
constexpr std::uint32_t kBranchIf = 0xbf86'0001, kNop1 = 0xbf80'0001;  // s_cbranch_vccz 1

/// Issues a producer, a branch that jumps over `skipped`, a pause and the consumer.
std::optional<Hazard> jump_over(std::uint32_t skipped, std::uint32_t pause, Code& code) {
  const std::uint32_t words[] = {kCompareToVcc, kBranchIf,   skipped,
                                 pause,         kDivFmas[0], kDivFmas[1]};
  code = Code(words);
  HazardWindow window(kGfx942.wait_rules, code.checked);
  for (const std::size_t n : {0u, 1u, 3u}) EXPECT_FALSE(code.step(window, n));
  return code.step(window, 4);
}

/// LLVM counts an s_branch that a taken branch jumps over: one wait state too few because of that
/// is a note. Without an s_branch there, or with two too few, it is an error.
TEST(HazardWindow, KnowsTheBranchThatLlvmCounts) {
  Code code{{}};
  const auto counted = jump_over(kBranch, kNop1, code);
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->had, 3u);
  EXPECT_EQ(counted->needed, 4u);
  EXPECT_TRUE(counted->is_compilers_count && counted->is_note());
  const auto other = jump_over(kNop0, kNop1, code);
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->is_note());
  const auto shorter = jump_over(kBranch, kNop0, code);
  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->had, 2u);
  EXPECT_FALSE(shorter->is_note());
  // The s_branch runs where the branch before it is not taken: nothing is skipped.
  const std::uint32_t words[] = {kCompareToVcc, kBranchIf,   kBranch,
                                 kNop0,         kDivFmas[0], kDivFmas[1]};
  code = Code(words);
  HazardWindow window(kGfx942.wait_rules, code.checked);
  for (const std::size_t n : {0u, 1u, 2u}) EXPECT_FALSE(code.step(window, n));
  const auto all = code.step(window, 4);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->had, 2u);
  EXPECT_FALSE(all->is_note());
}

/// What LLVM makes of skipped_branch.mir. Where it is padded with 10 s_nop, LLVM has been mended.
TEST(HazardWindow, AgreesWithLlvmAboutASkippedBranch) {
  const auto decoder = isa::Decoder::create(kGfx942);
  const Listing listing = decode(**decoder, read_file(MARGAY_HAZARD_SKIPPED_BRANCH));
  ASSERT_TRUE(listing.text[2].starts_with("s_branch"));
  ASSERT_EQ(listing.text[3], "s_endpgm");
  CheckedPaths checked;
  HazardWindow window(kGfx942.wait_rules, checked);
  std::optional<Hazard> found;
  for (const std::size_t n : {0u, 1u, 4u, 5u, 6u}) {
    HazardMemo memo;
    ASSERT_LT(n, listing.size());
    found = window.step(listing.instructions[n], listing.facts[n], memo);
    if (listing.text[n].starts_with("v_add_f32")) break;
  }
  ASSERT_TRUE(found);
  EXPECT_EQ(found->needed, 11u);
  EXPECT_EQ(found->had, 10u);
  EXPECT_TRUE(found->is_compilers_count);
}

TEST(HazardWindow, ForgetsAtReset) {
  const std::uint32_t words[] = {kExpV9, kReadV9};
  Code code(words);
  HazardWindow window(kGfx942.wait_rules, code.checked);
  EXPECT_FALSE(code.step(window, 0));
  window.reset();
  EXPECT_FALSE(code.step(window, 1));
  window.reset();
  EXPECT_FALSE(code.step(window, 0));
  EXPECT_TRUE(code.step(window, 1));
}

/// In a loop, short or long, every instruction is checked only a few times: its memo settles.
TEST(HazardWindow, RemembersWhatALoopDoes) {
  for (const std::size_t length : {3u, 7u, 60u}) {
    std::vector<std::uint32_t> words(length, kReadV9);
    words.back() = kBranch;
    Code code(words);
    HazardWindow window(kGfx942.wait_rules, code.checked);
    const auto iterate = [&] {
      for (std::size_t n = 0; n < length; ++n) EXPECT_FALSE(code.step(window, n));
      std::vector<std::uint64_t> keys;
      for (const HazardMemo& memo : code.memos)
        keys.insert(keys.end(), memo.keys.begin(), memo.keys.end());
      return keys;
    };
    for (int round = 0; round < 10; ++round) iterate();
    const auto settled = iterate();
    EXPECT_EQ(iterate(), settled) << length;
  }
}

/// Each trip of a short loop in another one comes by its own path, of which there are more than a
/// memo holds: none is checked again.
TEST(HazardWindow, RemembersALoopInALoop) {
  const std::uint32_t words[] = {kReadV9, kReadV9, kBranch, kReadV9, kBranch};
  Code code(words);
  HazardWindow window(kGfx942.wait_rules, code.checked);
  // A check changes the instruction's memo.
  const auto is_checked = [&](std::size_t n) {
    const auto before = code.memos[n].keys;
    EXPECT_FALSE(code.step(window, n));
    return code.memos[n].keys != before;
  };
  const auto iterate = [&] {
    int checks = 0;
    for (int trip = 0; trip < 5; ++trip)
      for (const std::size_t n : {0u, 1u, 2u}) checks += is_checked(n);
    for (const std::size_t n : {3u, 4u}) checks += is_checked(n);
    return checks;
  };
  EXPECT_GT(iterate(), 5);
  for (int round = 0; round < 10; ++round) iterate();
  EXPECT_EQ(iterate(), 0);
}

/// Workgroup after workgroup enters the same loop: neither the entry nor the iterations are checked
/// again.
TEST(HazardWindow, RemembersALoopThatIsEnteredAgain) {
  std::vector<std::uint32_t> words(40, kReadV9);
  words.back() = kBranch;
  Code code(words);
  const auto keys = [&] {
    std::vector<std::uint64_t> all;
    for (const HazardMemo& memo : code.memos)
      all.insert(all.end(), memo.keys.begin(), memo.keys.end());
    return all;
  };
  const auto round = [&](HazardWindow& window) {
    for (std::size_t n = 0; n < words.size(); ++n) EXPECT_FALSE(code.step(window, n));
  };
  HazardWindow first(kGfx942.wait_rules, code.checked);
  for (int n = 0; n < 10; ++n) round(first);
  const auto settled = keys();
  HazardWindow second(kGfx942.wait_rules, code.checked);
  round(second);
  EXPECT_EQ(keys(), settled);
  round(second);
  EXPECT_EQ(keys(), settled);
}

}  // namespace
}  // namespace margay::check::hazard_test
