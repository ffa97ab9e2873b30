// The map of device memory.
#include "exec/state/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace margay {
namespace {

using ::testing::HasSubstr;

class MemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto memory = Memory::create(kCapacity);
    ASSERT_TRUE(memory) << memory.error().text();
    memory_ = std::move(*memory);
  }
  static constexpr std::uint64_t kCapacity = 16 << 20;
  std::unique_ptr<Memory> memory_;
  static std::uint64_t address(const void* p) { return reinterpret_cast<std::uint64_t>(p); }
};

TEST_F(MemoryTest, RangesAreExactlyTheBytesAskedFor) {
  auto* const block = static_cast<char*>(*memory_->allocate(1001, "one"));
  std::memset(block, 7, 1001);
  const AddressRange range = memory_->accessible_range(address(block) + 500);
  EXPECT_EQ(range.begin, address(block));
  EXPECT_EQ(range.end, address(block) + 1001);
  EXPECT_EQ(memory_->accessible_range(address(block) + 1001).end, 0u);
  EXPECT_EQ(memory_->allocated_bytes(), 1001u);
}

TEST_F(MemoryTest, ReadsOfABlockOfWholePagesGoOnToTheEndOfItsLastPage) {
  const std::uint64_t begin = address(*memory_->allocate(5000, "image", {.whole_pages = true}));
  const std::uint64_t other = address(*memory_->allocate(5000, "tensor"));
  EXPECT_EQ(memory_->accessible_range(begin).end, begin + 5000);  // to a write, and to the checker
  EXPECT_EQ(memory_->readable_range(begin + 5000).end, 0u);
  EXPECT_EQ(memory_->tolerated_range(begin + 5000).end, begin + 8192);
  EXPECT_EQ(memory_->tolerated_range(begin + 8192).end, 0u);
  EXPECT_EQ(memory_->tolerated_range(other + 5000).end, 0u);
  ASSERT_TRUE(memory_->free(reinterpret_cast<void*>(begin)));
  EXPECT_EQ(memory_->tolerated_range(begin + 5000).end, 0u);
}

TEST_F(MemoryTest, WholePagesMayBeAskedForEverywhere) {
  const auto memory = *Memory::create(kCapacity, 1, /*whole_pages=*/true);
  const std::uint64_t begin = address(*memory->allocate(5000, "block"));
  EXPECT_EQ(memory->accessible_range(begin).end, begin + 5000);
  EXPECT_EQ(memory->tolerated_range(begin + 5000).end, begin + 8192);
  EXPECT_EQ(memory->tolerated_range(begin + 8192).end, 0u);
}

TEST_F(MemoryTest, NewMemoryIsZero) {
  const auto* const block = static_cast<const char*>(*memory_->allocate(100'000, "zeros"));
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(block[i], 0) << i;
}

TEST_F(MemoryTest, FreedBlocksAreKnownAndNotAccessible) {
  void* const block = *memory_->allocate(4096, "gone");
  ASSERT_TRUE(memory_->free(block));
  EXPECT_EQ(memory_->accessible_range(address(block)).end, 0u);
  ASSERT_TRUE(memory_->find(address(block)));
  EXPECT_TRUE(memory_->find(address(block))->freed);
  EXPECT_EQ(memory_->allocated_bytes(), 0u);
  const auto again = memory_->free(block);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().what, HasSubstr("already freed"));
}

TEST_F(MemoryTest, FreeWantsTheFirstAddress) {
  auto* const block = static_cast<char*>(*memory_->allocate(64, "x"));
  EXPECT_FALSE(memory_->free(block + 1));
  int on_the_host = 0;
  EXPECT_FALSE(memory_->free(&on_the_host));
  EXPECT_TRUE(memory_->free(block));
}

TEST_F(MemoryTest, CapacityIsALimit) {
  const auto too_much = memory_->allocate(kCapacity + 1, "large");
  ASSERT_FALSE(too_much);
  EXPECT_EQ(too_much.error().code, ErrorCode::out_of_memory);
  EXPECT_FALSE(memory_->allocate(0, "nothing"));
  EXPECT_TRUE(memory_->allocate(kCapacity, "all"));
  EXPECT_FALSE(memory_->allocate(1, "one more"));
}

TEST_F(MemoryTest, TheArenaIsReusedWhenItIsUsedUp) {
  for (int i = 0; i < 200; ++i) {
    const auto block = memory_->allocate(1 << 20, "again");
    ASSERT_TRUE(block) << i << ": " << block.error().text();
    std::memset(*block, i, 1 << 20);
    ASSERT_TRUE(memory_->free(*block));
  }
}

TEST_F(MemoryTest, HostMemoryIsAccessibleWhereItIsMapped) {
  std::vector<float> host(1000);
  EXPECT_TRUE(memory_->accessible_range(address(host.data())).contains(address(host.data()), 4000));
  EXPECT_EQ(memory_->accessible_range(0).end, 0u);
  EXPECT_EQ(memory_->accessible_range(16).end, 0u);
}

/// A page that may be read, between two that may not.
class ReadOnlyPage {
 public:
  ReadOnlyPage()
      : pages_(static_cast<std::byte*>(
            mmap(nullptr, 3 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    mprotect(pages_ + kPage, kPage, PROT_READ);
  }
  ReadOnlyPage(const ReadOnlyPage&) = delete;
  ReadOnlyPage& operator=(const ReadOnlyPage&) = delete;
  ~ReadOnlyPage() { munmap(pages_, 3 * kPage); }
  std::byte* get() const { return pages_ + kPage; }
  static constexpr std::size_t kPage = 4096;

 private:
  std::byte* pages_;
};

TEST_F(MemoryTest, ReadOnlyHostMemoryMayBeRead) {
  const ReadOnlyPage page;
  const std::uint64_t at = address(page.get());
  EXPECT_EQ(memory_->accessible_range(at).end, 0u);
  EXPECT_EQ(memory_->readable_range(at + 5).begin, at);
  EXPECT_EQ(memory_->readable_range(at + 5).end, at + ReadOnlyPage::kPage);
  EXPECT_EQ(memory_->readable_range(at - 1).end, 0u);
  // It is merged with adjacent writable memory.
  mprotect(page.get() - ReadOnlyPage::kPage, ReadOnlyPage::kPage, PROT_READ | PROT_WRITE);
  EXPECT_TRUE(memory_->readable_range(at).contains(at - 8, 16));
  EXPECT_TRUE(memory_->accessible_range(at - 8).contains(at - 8, 8));
  EXPECT_FALSE(memory_->accessible_range(at - 8).contains(at - 8, 16));
  EXPECT_THAT(memory_->describe_fault(at, 4, "write").what,
              HasSubstr("this is host memory that may only be read"));
  EXPECT_THAT(memory_->describe_fault(address("constant"), 1, "write").what,
              HasSubstr(program_invocation_short_name))
      << "the file is named";
}

TEST_F(MemoryTest, FaultsAreDescribedByTheNearestAllocation) {
  auto* const block = static_cast<char*>(*memory_->allocate(256, "hipMalloc"));
  EXPECT_THAT(memory_->describe_fault(address(block) + 300, 4, "read").what,
              HasSubstr("44 bytes past the end of allocation #1 (hipMalloc, 256 bytes)"));
  EXPECT_THAT(memory_->describe_fault(address(block) + 254, 4, "write").what,
              HasSubstr("the last 2 bytes of the access are past the end"));
  EXPECT_THAT(memory_->describe_fault(8, 4, "read").what, HasSubstr("8 bytes past a null pointer"));
}

}  // namespace
}  // namespace margay
