// The parts of src/ranks that need no second process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include "ranks/changes.h"
#include "ranks/fingerprints.h"
#include "ranks/page.h"
#include "ranks/portions.h"
#include "ranks/rendezvous.h"
#include "ranks/shares.h"
#include "ranks/wire.h"

namespace margay::ranks {
namespace {

std::unique_ptr<Page> page_of_numbers(unsigned seed) {
  auto page = std::make_unique<Page>();
  for (std::size_t n = 0; n < page->size(); ++n)
    (*page)[n] = std::byte((n * 2654435761u + seed) >> 13);
  return page;
}

TEST(Wire, ReaderTakesOutWhatWriterPutIn) {
  Writer out;
  out.put(std::uint32_t{7});
  out.put_text("text");
  Reader in(out.data());
  EXPECT_EQ(in.get<std::uint32_t>(), 7u);
  EXPECT_EQ(in.get_text(), "text");
  EXPECT_TRUE(in.ok() && in.at_end());
}

TEST(Wire, WhatIsMissingIsZeroAndNotOk) {
  Writer out;
  out.put(std::uint16_t{7});
  Reader in(out.data());
  EXPECT_EQ(in.get<std::uint64_t>(), 0u);
  EXPECT_FALSE(in.ok());
  // A length beyond the end.
  Writer text;
  text.put(~std::uint64_t{0});
  Reader damaged(text.data());
  EXPECT_EQ(damaged.get_text(), "");
  EXPECT_FALSE(damaged.ok());
}

TEST(Wire, ABoolIsZeroOrOneOrNotOk) {
  Writer out;
  out.put(true);
  out.put(false);
  out.put(std::uint8_t{50});
  Reader in(out.data());
  EXPECT_TRUE(in.get<bool>());
  EXPECT_FALSE(in.get<bool>());
  EXPECT_TRUE(in.ok());
  EXPECT_FALSE(in.get<bool>());
  EXPECT_FALSE(in.ok());
}

class WireOver : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Sockets, WireOver, testing::Bool());

TEST_P(WireOver, FramesArriveFromCallersWithTheKey) {
  const std::string key = new_key().value();
  const auto listener =
      GetParam() ? listen_on_tcp("127.0.0.1") : listen_on_path("@margay-ranks-test-" + key);
  ASSERT_TRUE(listener) << listener.error().text();
  const Bytes sent(3'000'000, std::byte{5});
  std::thread caller([&] {
    auto connection = connect_to(listener->address, Role::leader, key);
    ASSERT_TRUE(connection) << connection.error().text();
    EXPECT_TRUE(connection->send(Message::fetch, sent));
    EXPECT_TRUE(connection->send(Message::more, {}));
  });
  auto accepted = accept_from(listener->socket, key);
  ASSERT_TRUE(accepted) << accepted.error().text();
  EXPECT_EQ(accepted->second, Role::leader);
  Bytes received;
  EXPECT_EQ(accepted->first.receive(received).value_or(Message::key), Message::fetch);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(accepted->first.receive(received).value_or(Message::key), Message::more);
  EXPECT_TRUE(received.empty());
  caller.join();
  EXPECT_FALSE(accepted->first.receive(received)) << "the caller has gone";
}

TEST_P(WireOver, OtherKeysAreRefused) {
  const auto listener = GetParam() ? listen_on_tcp("127.0.0.1")
                                   : listen_on_path("@margay-ranks-test-" + new_key().value());
  ASSERT_TRUE(listener);
  auto caller = connect_to(listener->address, Role::leader, "a wrong one");
  ASSERT_TRUE(caller);
  EXPECT_FALSE(accept_from(listener->socket, new_key().value()));
  auto stranger = connect_to(listener->address);
  ASSERT_TRUE(stranger);
  EXPECT_TRUE(stranger->send(Message::hello, {}));
  EXPECT_FALSE(accept_from(listener->socket, new_key().value()));
}

TEST(Pages, TravelWithoutTheirZeros) {
  auto page = page_of_numbers(1);
  std::fill_n(page->begin() + kPartBytes, 3 * kPartBytes, std::byte{});
  Writer out;
  put_page(out, *page);
  EXPECT_EQ(out.data().size(), 4 + kPageBytes - 3 * kPartBytes);
  auto arrived = page_of_numbers(2);
  Reader in(out.data());
  EXPECT_TRUE(get_page(in, *arrived));
  EXPECT_EQ(*arrived, *page);
}

TEST(Pages, FingerprintsSeeEachByte) {
  auto page = page_of_numbers(1);
  std::set<std::uint64_t> seen = {fingerprint(*page)};
  for (std::size_t n = 0; n < page->size(); n += 97) {
    (*page)[n] ^= std::byte{0x10};
    EXPECT_TRUE(seen.insert(fingerprint(*page)).second) << "byte " << n;
    (*page)[n] ^= std::byte{0x10};
  }
  // Words that change places.
  std::swap_ranges(page->begin(), page->begin() + 8, page->begin() + 32);
  EXPECT_TRUE(seen.insert(fingerprint(*page)).second);
}

TEST(Pages, WhatIsNotMappedIsZero) {
  void* const block =
      mmap(nullptr, 3 * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  const std::uint64_t address = page_of(reinterpret_cast<std::uint64_t>(block) + kPageBytes);
  std::memset(reinterpret_cast<void*>(address), 3, kPageBytes);
  ASSERT_EQ(mprotect(reinterpret_cast<void*>(address + kPartBytes), kPartBytes, PROT_NONE), 0);
  auto page = page_of_numbers(1);
  read_page(address, *page);
  EXPECT_EQ((*page)[0], std::byte{3});
  EXPECT_EQ((*page)[kPartBytes], std::byte{0});
  EXPECT_EQ((*page)[2 * kPartBytes], std::byte{3});
  munmap(block, 3 * kPageBytes);
}

using Changed = std::map<std::uint64_t, std::byte>;
Changed changes_in(const Bytes& data) {
  Changed changed;
  EXPECT_TRUE(get_changes(data, [&](std::uint64_t address, std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) changed[address++] = byte;
    return true;
  }));
  return changed;
}

TEST(Changes, AreExactlyTheBytesThatDiffer) {
  const auto before = page_of_numbers(1);
  // Few runs, which are listed, and many, for which a mask is shorter.
  for (const std::size_t step : {std::size_t{5000}, std::size_t{3}}) {
    auto now = std::make_unique<Page>(*before);
    Changed expected;
    for (std::size_t n = step - 1; n < now->size(); n += step)
      expected[0x70000 + n] = ((*now)[n] ^= std::byte{1});
    now->back() ^= std::byte{1};
    expected[0x70000 + kPageBytes - 1] = now->back();
    if (now->back() == before->back()) expected.erase(0x70000 + kPageBytes - 1);
    Writer out;
    put_changes(out, 0x70000, *before, *now);
    EXPECT_EQ(changes_in(out.data()), expected) << "each byte number " << step;
    EXPECT_LE(out.data().size(), 16 + kPageBytes / 8 + expected.size());
  }
}

TEST(Changes, OfNothingAreNothing) {
  const auto page = page_of_numbers(1);
  Writer out;
  put_changes(out, 0, *page, *page);
  EXPECT_TRUE(out.data().empty());
}

TEST(Changes, ThatAreDamagedAreRefused) {
  const auto before = page_of_numbers(1);
  auto now = std::make_unique<Page>(*before);
  (*now)[9] ^= std::byte{1};
  Writer out;
  put_changes(out, 0, *before, *now);
  const auto take = [](std::uint64_t, std::span<const std::byte>) { return true; };
  for (std::size_t size = 1; size < out.data().size(); ++size)
    EXPECT_FALSE(get_changes(std::span(out.data()).first(size), take)) << size << " bytes";
  Bytes beyond = out.data();
  beyond[16 + 2] = std::byte{1};  // the run begins at byte 65545
  EXPECT_FALSE(get_changes(beyond, take));
}

// What parses must take any bytes: those of a frame with bits that were changed, or cut off, and
// random ones.
TEST(Changes, OfAnyBytesStayWithinTheirPage) {
  std::mt19937_64 random(3);
  const auto before = page_of_numbers(1);
  auto now = std::make_unique<Page>(*before);
  for (std::size_t n = 0; n < now->size(); n += 700) (*now)[n] ^= std::byte{1};
  Writer out;
  put_changes(out, 0x70000, *before, *now);
  unsigned accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes = out.data();
    for (std::uint64_t flips = random() % 4; flips > 0; --flips)
      bytes[random() % bytes.size()] = std::byte(random());
    if (random() % 3 == 0) bytes.resize(random() % bytes.size());
    if (random() % 5 == 0)
      for (std::byte& byte : bytes) byte = std::byte(random());
    accepted += get_changes(bytes, [&](std::uint64_t address, std::span<const std::byte> run) {
      EXPECT_LE(run.size(), kPageBytes);
      EXPECT_GE(run.data(), bytes.data());
      EXPECT_LE(run.data() + run.size(), bytes.data() + bytes.size());
      EXPECT_LE(address % kPageBytes + run.size(), kPageBytes);
      return true;
    });
  }
  EXPECT_GT(accepted, 100u);
  EXPECT_LT(accepted, 19'000u);
}

TEST(Pages, OfAnyBytesAreReadOrRefused) {
  std::mt19937_64 random(4);
  const auto page = page_of_numbers(1);
  Writer out;
  put_page(out, *page);
  auto arrived = std::make_unique<Page>();
  for (int round = 0; round < 2'000; ++round) {
    Bytes bytes = out.data();
    for (std::uint64_t flips = random() % 3; flips > 0; --flips)
      bytes[random() % 8] = std::byte(random());
    bytes.resize(random() % (bytes.size() + 1));
    Reader in(bytes);
    if (get_page(in, *arrived)) EXPECT_TRUE(in.ok());
  }
}

TEST(Rendezvous, RanksFindRank0AndTheFileIsGoneThen) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("margay-ranks-test-" + new_key().value());
  std::filesystem::create_directory(folder);
  const Meeting meeting{folder / "meeting", std::chrono::seconds(20)};
  const std::string key = new_key().value();
  std::vector<std::thread> others;
  std::vector<Listener> listeners;
  for (unsigned rank = 1; rank < 4; ++rank) listeners.push_back(*listen_on_tcp("here"));
  for (unsigned rank = 1; rank < 4; ++rank)
    others.emplace_back([&, rank] {
      const auto joined = join(meeting, rank, "host" + std::to_string(rank), listeners[rank - 1]);
      EXPECT_TRUE(joined) << joined.error().text();
      EXPECT_EQ(joined.value_or(""), key);
    });
  const auto all = gather(meeting, key, 4, [](const std::string&) {});
  for (std::thread& other : others) other.join();
  ASSERT_TRUE(all) << all.error().text();
  ASSERT_EQ(all->size(), 3u);
  for (unsigned n = 0; n < 3; ++n) {
    const Joined& joined = (*all)[n];
    EXPECT_EQ(joined.rank, n + 1);
    EXPECT_EQ(joined.name, "host" + std::to_string(n + 1));
    auto owner = accept_from(listeners[n].socket, key);
    ASSERT_TRUE(owner);
    EXPECT_EQ(owner->second, Role::owner);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

TEST(SharesOfALaunch, GiveEachWorkgroupOnce) {
  for (const std::uint64_t workgroups : {1u, 2u, 7u, 1000u}) {
    Shares shares(workgroups, {1, 2, 1});
    std::vector<unsigned> given(workgroups);
    for (unsigned turn = 0; shares.any_left(); ++turn) {
      const Share share = shares.take(turn % 3, turn % 3 == 0 ? 1 : workgroups);
      EXPECT_NE(share.size(), 0u);
      for (std::uint64_t n = share.begin; n < share.end; ++n) ++given[n];
    }
    EXPECT_THAT(given, testing::Each(1u));
    EXPECT_EQ(shares.take(1, 5).size(), 0u);
  }
}

TEST(SharesOfALaunch, BeginByWeightAndEndWithOthersWork) {
  Shares shares(400, {1, 3});
  EXPECT_EQ(shares.take(0, 1), (Share{0, 1}));
  EXPECT_EQ(shares.take(1, 400), (Share{100, 175})) << "a quarter of its own";
  // Rank 1 is slow: rank 0 ends with workgroups of rank 1.
  std::uint64_t last = 0, count = 0;
  for (Share share; (share = shares.take(0, 1)).size() != 0; ++count) last = share.begin;
  EXPECT_EQ(count, 400u - 1 - 75);
  EXPECT_GT(last, 100u);
}

TEST(SharesOfALaunch, WhatIsGivenBackIsGivenAgain) {
  Shares shares(8, {1, 1});
  const Share lost = shares.take(1, 8);
  shares.give_back(lost);
  std::set<std::uint64_t> given;
  for (Share share; (share = shares.take(0, 1)).size() != 0;) given.insert(share.begin);
  EXPECT_EQ(given.size(), 8u);
}

TEST(FingerprintsOfALaunch, AreThoseOfTheFirstTime) {
  auto pages = std::make_unique<std::array<std::byte, 3 * kPageBytes>>();
  const auto address = page_of(reinterpret_cast<std::uint64_t>(pages->data()) + kPageBytes - 1);
  auto* const page = reinterpret_cast<Page*>(address);
  page->fill(std::byte{7});
  const std::uint64_t first = fingerprint(*page);
  Fingerprints launch;
  std::vector<std::thread> ranks;
  for (int n = 0; n < 4; ++n) ranks.emplace_back([&] { EXPECT_EQ(launch.of(address), first); });
  for (std::thread& rank : ranks) rank.join();
  (*page)[100] = std::byte{8};
  EXPECT_EQ(launch.of(address), first) << "it is not read again";
  EXPECT_NE(launch.of(address + kPageBytes), first) << "another page";
  EXPECT_EQ(Fingerprints().of(address), fingerprint(*page)) << "the next launch";
}

TEST(PortionsOfALaunch, HaveEachWorkgroupOnce) {
  for (const std::uint64_t workgroups : {1u, 5u, 8u, 21u, 64u})
    for (const std::uint64_t wanted : {1u, 3u, 8u, 100u}) {
      const std::uint64_t stride = std::min(wanted, workgroups);
      const Portions portions{workgroups, stride};
      std::vector<unsigned> given(workgroups);
      for (std::uint64_t begin = 0; begin < stride; begin += 2) {
        const std::uint64_t end = std::min(begin + 2, stride);
        std::uint64_t count = 0;
        for (PortionWalk walk(portions, begin, end); !walk.at_end(); ++count) {
          const std::uint64_t workgroup = walk.next();
          EXPECT_TRUE(workgroup % stride == begin || workgroup % stride == begin + 1);
          ++given[workgroup];
        }
        EXPECT_EQ(count, portions.workgroups_in(begin, end));
      }
      EXPECT_THAT(given, testing::Each(1u));
    }
  EXPECT_TRUE(PortionWalk().at_end());
}

}  // namespace
}  // namespace margay::ranks
