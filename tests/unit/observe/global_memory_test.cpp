// Which bytes of an allocation have been written, against a plain vector of bytes.
#include "observe/check/global/global_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

namespace margay::check {
namespace {

class Model {
 public:
  Model(std::uint64_t begin, std::uint64_t size)
      : begin_(begin), written_(size), map_({begin, begin + size}) {}

  void set(std::uint64_t at, std::uint64_t bytes, bool written) {
    map_.set(begin_ + at, bytes, written);
    const std::uint64_t end = std::min<std::uint64_t>(at + bytes, written_.size());
    for (std::uint64_t n = at; n < end; ++n) written_[n] = written ? 1 : 0;
  }
  void expect_unwritten(std::uint64_t at, unsigned bytes) const {
    std::uint64_t expected = 0;
    for (unsigned n = 0; n < bytes; ++n)
      if (at + n < written_.size() && written_[at + n] == 0) expected |= 1ull << n;
    ASSERT_EQ(map_.unwritten(begin_ + at, bytes), expected) << at << ", " << bytes << " bytes";
  }
  void expect_all_written(std::uint64_t at, std::uint64_t bytes) const {
    const auto first = written_.begin() + static_cast<std::ptrdiff_t>(at);
    const bool expected =
        std::all_of(first, first + static_cast<std::ptrdiff_t>(bytes), [](auto b) { return b; });
    ASSERT_EQ(map_.all_written(begin_ + at, bytes), expected) << at << ", " << bytes << " bytes";
  }
  /// complete() may be late, but must not be wrong.
  void expect_sound() const {
    if (map_.complete()) ASSERT_TRUE(std::ranges::all_of(written_, [](auto b) { return b != 0; }));
  }
  [[nodiscard]] const WrittenMap& map() const { return map_; }

 private:
  std::uint64_t begin_;
  std::vector<std::uint8_t> written_;
  WrittenMap map_;
};

TEST(WrittenMap, IsAVectorOfBytes) {
  std::mt19937 rng(1);
  const auto below = [&](std::uint64_t n) { return rng() % n; };
  std::size_t complete = 0;
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t size = 1 + below(400);
    Model model(0x7000'0000'1000 + below(16), size);
    for (int n = 0; n < 200; ++n) {
      const std::uint64_t at = below(size), most = size - at;
      switch (below(6)) {
        case 0:
        case 1:
          model.set(at, 1 + below(most), true);
          break;
        case 2:
          model.set(at, 1 + below(std::min<std::uint64_t>(most, 9)), false);
          break;
        case 3:
          if (below(8) == 0) model.set(0, size, below(3) != 0);
          break;
        case 4:
          model.expect_all_written(at, 1 + below(most));
          break;
        default:
          model.expect_unwritten(
              at, static_cast<unsigned>(1 + below(std::min<std::uint64_t>(most, 64))));
      }
      model.expect_sound();
      complete += model.map().complete();
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(complete, 0u);
}

// An access may reach past the end (memcheck reports it, if on): that memory has no owner.
TEST(WrittenMap, PastItsEnd) {
  for (const std::uint64_t size : {1, 7, 8, 9, 64}) {
    Model model(0x1000, size);
    model.expect_unwritten(size - 1, 16);
    model.set(size - 1, 16, true);
    model.expect_unwritten(size - 1, 16);
    model.expect_unwritten(0, 1);
  }
}

// Workgroups on several host threads share bytes of the map.
TEST(WrittenMap, SeveralThreads) {
  constexpr std::uint64_t kSize = 4096;
  WrittenMap map({0, kSize});
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&map, t] {
      for (std::uint64_t at = t; at < kSize; at += 4) map.set(at, 1);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(map.all_written(0, kSize));
}

TEST(GlobalMemory, CopiesCarryWhatIsUnwritten) {
  GlobalMemory memory;
  memory.allocated(0x1000, 100);
  memory.allocated(0x2000, 100);
  memory.written(0x1000, 10);
  memory.written(0x2000, 100);
  UndefinedCopy copy;
  memory.copied(0x2005, 0x1000, 20, copy);
  EXPECT_EQ(copy.bytes, 0u) << "both ends are followed";
  ASSERT_NE(memory.find(0x2063), nullptr);
  EXPECT_EQ(memory.find(0x2064), nullptr);
  EXPECT_EQ(memory.find(0x1fff), nullptr);
  const WrittenMap& to = *memory.find(0x2000);
  EXPECT_EQ(to.unwritten(0x2000, 32), 0x1ff8000u);
  EXPECT_FALSE(to.complete());
  memory.copied(0x2000, 0x9000, 100, copy);  // from host memory, which is not followed
  EXPECT_TRUE(to.all_written(0x2000, 100));
  memory.freed(0x2000);
  EXPECT_EQ(memory.find(0x2000), nullptr);
}

TEST(GlobalMemory, ACopyToWhereNothingFollowsSaysWhatIsMissing) {
  GlobalMemory memory;
  memory.allocated(0x1000, 100);
  memory.written(0x1000, 40);
  UndefinedCopy copy;
  memory.copied(0x9000, 0x1010, 20, copy);
  EXPECT_EQ(copy.missing, 0u);
  memory.copied(0x9100, 0x1024, 20, copy);  // another row of the same copy
  EXPECT_EQ(copy.bytes, 40u);
  EXPECT_EQ(copy.missing, 16u);
  EXPECT_EQ(copy.from, 0x1010u);
  EXPECT_EQ(copy.first, 0x1028u);
  EXPECT_EQ(copy.span, 40u);
}

TEST(GlobalMemory, UndefinedBitsTravelWithACopy) {
  GlobalMemory memory;
  memory.allocated(0x1000, 100);
  memory.allocated(0x2000, 100);
  memory.written(0x1000, 100);
  const std::uint8_t bits[4] = {0, 0x0f, 0xff, 0};
  memory.find(0x1000)->store(0x1008, bits, 4);
  UndefinedCopy copy;
  memory.copied(0x2000, 0x1008, 4, copy);
  const WrittenMap& to = *memory.find(0x2000);
  EXPECT_EQ(to.unwritten(0x2000, 4), 0b0110u);
  EXPECT_EQ(to.undefined_bits(0x2001), 0x0f);
  EXPECT_EQ(to.undefined_bits(0x2002), 0xff);
  memory.written(0x2001, 1);
  EXPECT_EQ(to.unwritten(0x2000, 4), 0b0100u);
  memory.find(0x2001)->store(0x2001, bits + 2, 1);
  EXPECT_EQ(to.undefined_bits(0x2001), 0xff) << "the old bits are forgotten";
}

TEST(GlobalMemory, TheStoreThatIsNamedIsOneThatReachedTheBytes) {
  GlobalMemory memory;
  memory.allocated(0x1000, 100);
  UndefinedStore early, late;
  early.range = {0x1000, 0x1010};
  early.computed = true;
  early.launch = 1;
  late.range = {0x1008, 0x1020};
  late.launch = 2;
  memory.stored({early, late});
  EXPECT_EQ(memory.store_into(0x1000, 0x20)->launch, 1u) << "computed ones first";
  EXPECT_EQ(memory.store_into(0x1010, 4)->launch, 2u);
  EXPECT_FALSE(memory.store_into(0x1020, 4));
  memory.freed(0x1000);
  EXPECT_FALSE(memory.store_into(0x1010, 4));
}

TEST(WrittenMap, FindsWhatOnlyTheHostCanHaveWritten) {
  std::vector<std::uint8_t> bytes(100);
  const auto at = reinterpret_cast<std::uint64_t>(bytes.data());
  WrittenMap map(AddressRange{at, at + bytes.size()});
  map.set(at, 8);
  bytes[3] = 7;
  EXPECT_EQ(map.written_by_host(1), 0u) << "a kernel or a HIP call wrote that";
  bytes[50] = 1;
  EXPECT_EQ(map.written_by_host(1), 0u) << "one look in a launch";
  EXPECT_EQ(map.written_by_host(2), at + 50);
  map.changed_unwritten();
  EXPECT_EQ(map.written_by_host(3), 0u) << "an atomic may have left it";
}

TEST(WrittenMap, IsChangedByCopiesInOtherProcessesAsByOne) {
  constexpr std::uint64_t kBegin = 0x10000, kSize = 333;
  const AddressRange range{kBegin, kBegin + kSize};
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    WrittenMap here(range), expected(range);
    const auto both = [&](auto&& change) { change(here), change(expected); };
    for (int n = 0; n < 5; ++n) {
      const std::uint64_t at = kBegin + random() % 300, bytes = random() % 33;
      const std::uint8_t undefined = random() % 2 == 0 ? 0xff : 0x10;
      both([&](WrittenMap& map) { map.set(at, bytes); });
      both([&](WrittenMap& map) { map.store(at + 7, &undefined, 1); });
    }
    Writer snapshot;
    here.put(snapshot);
    // Workgroups do not write the same bytes; they share bytes of the map.
    Writer changes;
    for (unsigned rank = 0; rank < 3; ++rank) {
      Reader in(snapshot.data());
      const auto there = WrittenMap::get(in);
      ASSERT_TRUE(there != nullptr && in.at_end());
      for (int n = 0; n < 20; ++n) {
        const std::uint64_t at = kBegin + random() % (kSize / 3) * 3 + rank;
        const std::uint8_t undefined[] = {0, 0xff, 0x20, 0x10};
        const std::uint8_t* const bits = &undefined[random() % 4];
        there->store(at, bits, 1);
        expected.store(at, bits, 1);
      }
      there->put_changes(changes);
    }
    Reader look(changes.data()), in(changes.data());
    for (unsigned rank = 0; rank < 3; ++rank) {
      ASSERT_TRUE(here.change(look, /*writes=*/false));
      ASSERT_TRUE(here.change(in, /*writes=*/true));
    }
    for (std::uint64_t at = range.begin; at < range.end; ++at) {
      ASSERT_EQ(here.unwritten(at, 1), expected.unwritten(at, 1)) << at;
      if (here.unwritten(at, 1) != 0)
        ASSERT_EQ(here.undefined_bits(at), expected.undefined_bits(at)) << at;
    }
  }
  Writer nonsense;
  nonsense.put_all(std::vector<std::uint64_t>(50, ~0ull));
  Reader in(nonsense.data());
  EXPECT_FALSE(WrittenMap(range).change(in, /*writes=*/true));
}

}  // namespace
}  // namespace margay::check
