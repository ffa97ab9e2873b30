// Which bytes of an allocation have been written, against a plain vector of bytes.
#include "observe/check/global_memory.h"

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

// An access may reach past the end (memcheck tells, if it is on): what lies there is nobody's.
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
  memory.copied(0x2005, 0x1000, 20);
  ASSERT_NE(memory.find(0x2063), nullptr);
  EXPECT_EQ(memory.find(0x2064), nullptr);
  EXPECT_EQ(memory.find(0x1fff), nullptr);
  const WrittenMap& to = *memory.find(0x2000);
  EXPECT_EQ(to.unwritten(0x2000, 32), 0x1ff8000u);
  EXPECT_FALSE(to.complete());
  memory.copied(0x2000, 0x9000, 100);  // from host memory, which is not followed
  EXPECT_TRUE(to.all_written(0x2000, 100));
  memory.freed(0x2000);
  EXPECT_EQ(memory.find(0x2000), nullptr);
}

}  // namespace
}  // namespace margay::check
