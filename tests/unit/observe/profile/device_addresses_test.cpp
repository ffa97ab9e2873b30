// Under which addresses the caches see memory: the same wherever the host has put it.
#include "observe/profile/memory/device_addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstdlib>

namespace margay::profile {
namespace {

/// Host memory of some pages, apart from other mappings.
class HostMemory {
 public:
  explicit HostMemory(std::uint64_t bytes)
      : bytes_(bytes + 2 * kGap),
        begin_(static_cast<std::byte*>(
            mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    EXPECT_EQ(mprotect(begin_ + kGap, bytes, PROT_READ | PROT_WRITE), 0);
  }
  ~HostMemory() { munmap(begin_, bytes_); }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  [[nodiscard]] std::uint64_t at(std::uint64_t offset) const {
    return reinterpret_cast<std::uint64_t>(begin_) + kGap + offset;
  }

 private:
  static constexpr std::uint64_t kGap = 4096;
  std::uint64_t bytes_;
  std::byte* begin_;
};

std::uint64_t seen(DeviceAddresses& addresses, std::uint64_t address) {
  const auto piece = addresses.piece_of(address);
  EXPECT_TRUE(piece.contains(address));
  return address + piece.shift;
}

struct Fixture : testing::Test {
  std::unique_ptr<Memory> memory = Memory::create(1 << 24).value();
};
using DeviceAddressesTest = Fixture;

TEST_F(DeviceAddressesTest, AHostTensorBeginsOnAPage) {
  const HostMemory host(1 << 16);
  for (const std::uint64_t offset : {0u, 16u, 48u, 64u, 4100u}) {
    const AddressRange tensor{host.at(offset), host.at(offset + 1000)};
    DeviceAddresses addresses(*memory, {tensor});
    const AddressRange range = addresses.seen(tensor);
    EXPECT_EQ(range.begin % 4096, 0u) << offset;
    EXPECT_EQ(range.end - range.begin, 1000u);
    EXPECT_EQ(seen(addresses, tensor.begin + 999), range.begin + 999);
    // What is before and behind it, too.
    EXPECT_EQ(seen(addresses, tensor.end + 20), range.end + 20);
    EXPECT_EQ(seen(addresses, host.at(0)), range.begin - offset);
  }
}

TEST_F(DeviceAddressesTest, WhereItLiesDoesNotMatter) {
  const HostMemory host(1 << 20), other(1 << 20);
  const auto layout = [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const std::vector<AddressRange> tensors = {{a, a + 5000}, {b, b + 300}, {c, c}};
    DeviceAddresses addresses(*memory, tensors);
    std::vector<std::uint64_t> out;
    for (const AddressRange& tensor : tensors)
      for (const std::uint64_t offset : {0u, 100u, 299u})
        // Without the bits that choose no set.
        out.push_back(seen(addresses, tensor.begin + offset) % (1ull << 47));
    return out;
  };
  const auto first = layout(host.at(16), host.at(8000), other.at(48));
  EXPECT_EQ(layout(other.at(4096 + 64), host.at(0), other.at(80000)), first);
  EXPECT_EQ(layout(host.at(700000), host.at(80), host.at(90000)), first);
  EXPECT_EQ(first[0] % 4096, 0u);
  EXPECT_NE(first[0] / 128 % 2048, first[3] / 128 % 2048);  // not all in one set of L2
}

TEST_F(DeviceAddressesTest, NeighboursAreCutAndOverlapsAreNot) {
  const HostMemory host(1 << 16);
  const AddressRange a{host.at(16), host.at(1016)}, b{host.at(1016), host.at(2000)},
      view{host.at(1200), host.at(1300)};
  DeviceAddresses addresses(*memory, {b, view, a});
  EXPECT_EQ(seen(addresses, a.begin) % 4096, 0u);
  EXPECT_EQ(seen(addresses, b.begin) % 4096, 0u);
  EXPECT_EQ(seen(addresses, a.end - 1) - seen(addresses, a.begin), 999u);
  EXPECT_EQ(seen(addresses, view.begin) - seen(addresses, b.begin), 184u);
  EXPECT_NE(seen(addresses, a.end - 1) + 1, seen(addresses, b.begin));
}

TEST_F(DeviceAddressesTest, ATensorWithoutAnEndGoesOnToTheNext) {
  const HostMemory host(1 << 16);
  const AddressRange a{host.at(16), host.at(16)}, b{host.at(5016), host.at(6000)};
  DeviceAddresses addresses(*memory, {a, b});
  const AddressRange range = addresses.seen(a);
  EXPECT_EQ(range.begin % 4096, 0u);
  EXPECT_EQ(range.end - range.begin, 5000u);
  EXPECT_EQ(addresses.seen({b.begin, b.begin}).end - addresses.seen(b).begin, (1u << 16) - 5016u);
}

TEST_F(DeviceAddressesTest, AllocationsStayWhole) {
  const auto at = [](void* p) { return reinterpret_cast<std::uint64_t>(p); };
  const std::uint64_t a = at(memory->allocate(1 << 14, "a").value()),
                      b = at(memory->allocate(100, "b").value());
  // Pointers into an allocation do not cut it: there it is known where memory begins.
  DeviceAddresses addresses(*memory, {{a + 4, a + 100}, {a + 100, a + 300}, {b, b + 100}});
  EXPECT_EQ(seen(addresses, a) % 4096, 0u);
  EXPECT_EQ(seen(addresses, a + 4) % 4096, 4u);
  EXPECT_EQ(seen(addresses, a + 16383) - seen(addresses, a), 16383u);
  EXPECT_EQ(seen(addresses, b) % 4096, 0u);
  const auto other = Memory::create(1 << 24).value();
  const std::uint64_t c = at(other->allocate(1 << 14, "a").value());
  DeviceAddresses again(*other, {{c, c + 1}});
  EXPECT_EQ(seen(again, c) % (1ull << 47), seen(addresses, a) % (1ull << 47));
}

TEST_F(DeviceAddressesTest, MemoryThatIsNoArgument) {
  const HostMemory host(1 << 16);
  DeviceAddresses addresses(*memory, {});
  EXPECT_EQ(seen(addresses, host.at(100)) % 4096, 100u);
  EXPECT_EQ(seen(addresses, host.at(5000)) - seen(addresses, host.at(100)), 4900u);
  EXPECT_EQ(seen(addresses, 16) % 4096, 16u);  // a fault, which ends somewhere else
}

}  // namespace
}  // namespace margay::profile
