// The caches against a slow list in the order of use.
#include "observe/profile/memory/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "observe/profile/memory/line_cache.h"

namespace margay::profile {
namespace {

/// Sets by the low bits of a line, each a list with the latest in front.
class SlowCache {
 public:
  SlowCache(std::uint64_t sets, std::size_t ways) : sets_(sets), ways_(ways) {}

  bool find(std::uint64_t line) {
    auto& set = lines_[line % sets_];
    const auto found = std::ranges::find(set, line);
    if (found == set.end()) return false;
    set.splice(set.begin(), set, found);
    return true;
  }
  /// What had to go.
  std::optional<std::uint64_t> insert(std::uint64_t line) {
    auto& set = lines_[line % sets_];
    std::optional<std::uint64_t> gone;
    if (set.size() == ways_) {
      gone = set.back();
      set.pop_back();
    }
    set.push_front(line);
    return gone;
  }
  void drop(std::uint64_t line) { lines_[line % sets_].remove(line); }
  std::set<std::uint64_t> all() const {
    std::set<std::uint64_t> out;
    for (const auto& [set, lines] : lines_) out.insert(lines.begin(), lines.end());
    return out;
  }

 private:
  std::uint64_t sets_;
  std::size_t ways_;
  std::map<std::uint64_t, std::list<std::uint64_t>> lines_;
};

std::set<std::uint64_t> held(Cache& cache) {
  std::set<std::uint64_t> out;
  cache.for_each([&](const Cache::Slot& slot) { out.insert(slot.line); });
  return out;
}

TEST(Cache, IsLeastRecentlyUsed) {
  std::mt19937 random(5);
  for (const std::uint32_t ways : {1u, 2u, 4u, 16u, 64u}) {
    constexpr std::uint32_t kSets = 8, kLine = 128;
    Cache cache(kSets * ways * kLine, kLine, ways);
    SlowCache slow(kSets, ways);
    for (int n = 0; n < 20000; ++n) {
      const std::uint64_t line = random() % (2 * kSets * ways) + (random() % 4 == 0 ? 1000 : 0);
      Cache::Slot* const slot = cache.find(line);
      ASSERT_EQ(slot != nullptr, slow.find(line)) << "step " << n;
      if (slot != nullptr) {
        ASSERT_EQ(slot->line, line);
        if (random() % 8 == 0) {
          cache.drop(*slot);
          slow.drop(line);
        }
        continue;
      }
      std::optional<std::uint64_t> gone;
      const Cache::Slot& fresh =
          cache.insert(line, [&](const Cache::Slot& old) { gone = old.line; });
      ASSERT_EQ(fresh.line, line);
      ASSERT_EQ(gone, slow.insert(line)) << "step " << n;
    }
    EXPECT_EQ(held(cache), slow.all());
  }
}

TEST(LineCache, IsLeastRecentlyUsed) {
  std::mt19937 random(6);
  for (const std::uint32_t lines : {1u, 2u, 3u, 64u, 256u}) {
    LineCache cache(lines);
    SlowCache slow(1, lines);
    for (int n = 0; n < 20000; ++n) {
      const std::uint64_t line = std::uint64_t{random() % (2 * lines)} << (random() % 2 * 7);
      if (random() % 16 == 0) {
        cache.drop(line);
        slow.drop(line);
        continue;
      }
      const bool found = cache.find(line);
      ASSERT_EQ(found, slow.find(line)) << lines << " lines, step " << n;
      if (found) continue;
      cache.insert(line);
      slow.insert(line);
    }
    for (const std::uint64_t line : slow.all()) EXPECT_TRUE(cache.find(line));
    cache.clear();
    for (const std::uint64_t line : slow.all()) EXPECT_FALSE(cache.find(line));
  }
}

TEST(LineCache, NoStrideHasConflicts) {
  for (unsigned shift = 0; shift < 32; ++shift) {
    LineCache cache(256);
    for (std::uint64_t n = 0; n < 256; ++n) cache.insert(n << shift);
    for (std::uint64_t n = 0; n < 256; ++n) EXPECT_TRUE(cache.find(n << shift)) << shift;
  }
}

TEST(Cache, DirtyQuartersLeaveWithTheirLine) {
  Cache cache(2 * 128, 128, 2);
  cache.insert(1, [](const Cache::Slot&) { FAIL(); }).dirty = 5;
  cache.insert(2, [](const Cache::Slot&) { FAIL(); });
  ASSERT_NE(cache.find(1), nullptr);
  cache.find(1)->dirty |= 2;
  std::vector<Cache::Slot> gone;
  const auto keep = [&](const Cache::Slot& old) { gone.push_back(old); };
  EXPECT_EQ(cache.insert(3, keep).dirty, 0);
  EXPECT_EQ(cache.insert(4, keep).dirty, 0);
  ASSERT_EQ(gone.size(), 2u);
  EXPECT_EQ(gone[0].line, 2u);
  EXPECT_EQ(gone[1].line, 1u);
  EXPECT_EQ(gone[1].dirty, 7);
  cache.clear();
  EXPECT_TRUE(held(cache).empty());
  EXPECT_EQ(cache.find(3), nullptr);
}

// With low bits 2048 lines that are 256 KiB apart meet in one set of 16 ways.
TEST(Cache, HashingSpreadsEveryStrideOverAllSets) {
  constexpr std::uint32_t kBytes = 4 << 20;
  constexpr std::uint64_t kSets = kBytes / 128 / 16;
  Cache low(kBytes, 128, 16);
  unsigned low_gone = 0;
  for (std::uint64_t n = 0; n < kSets; ++n)
    low.insert(n << 11, [&](const Cache::Slot&) { ++low_gone; });
  EXPECT_EQ(low_gone, kSets - 16);
  for (unsigned stride = 0; stride < 32; ++stride)
    for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{0x123456789}}) {
      Cache hashed(kBytes, 128, 16, Cache::Index::hashed);
      unsigned gone = 0;
      for (std::uint64_t n = 0; n < 16 * kSets; ++n)  // as many as there is room for
        hashed.insert(base ^ n << stride, [&](const Cache::Slot&) { ++gone; });
      EXPECT_EQ(gone, 0u) << "lines " << (1ull << stride) << " apart";
    }
}

// The workgroups of an XCD read every sixth block of an array.
TEST(Cache, HashingSpreadsBlocks) {
  constexpr std::uint32_t kBytes = 4 << 20;
  Cache hashed(kBytes, 128, 16, Cache::Index::hashed);
  unsigned gone = 0;
  constexpr std::uint64_t kBlock = 512, kBlocks = 32;  // half of what there is room for
  for (std::uint64_t n = 0; n < kBlock * kBlocks; ++n)
    hashed.insert(n / kBlock * 6 * kBlock + n % kBlock, [&](const Cache::Slot&) { ++gone; });
  EXPECT_EQ(gone, 0u);
}

}  // namespace
}  // namespace margay::profile
