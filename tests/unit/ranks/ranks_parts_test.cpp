// The parts of src/ranks that need no second process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "ranks/pages/changes.h"
#include "ranks/pages/combined.h"
#include "ranks/pages/fingerprints.h"
#include "ranks/pages/page.h"
#include "ranks/portions.h"
#include "ranks/rendezvous.h"
#include "ranks/shares.h"
#include "ranks/wire.h"

namespace margay::ranks {
namespace {

/// As bytes.h has it: what travels of it, all but `stays`.
struct Structure {
  struct Part {
    std::string text;
    std::optional<std::uint32_t> number;
    bool operator==(const Part&) const = default;
  };
  std::uint32_t stays = 0;
  std::vector<Part> parts;
  std::vector<std::pair<std::uint64_t, std::uint8_t>> pairs;
  std::vector<std::uint16_t> plain;
};
auto members(Is<Structure::Part> auto& part) { return std::tie(part.text, part.number); }
auto members(Is<Structure> auto& structure) {
  return std::tie(structure.parts, structure.pairs, structure.plain);
}

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

Bytes encoded_structure() {
  Structure one;
  one.stays = 3;
  one.parts = {{"first", 7}, {"", {}}};
  one.pairs = {{1, 2}, {3, 4}, {5, 6}};
  one.plain = {8, 9};
  Writer out;
  encode(out, one);
  return out.data();
}

TEST(Wire, StructuresArriveWithTheirMembers) {
  const Bytes bytes = encoded_structure();
  Reader in(bytes);
  const auto structure = decode<Structure>(in);
  EXPECT_TRUE(in.ok() && in.at_end());
  EXPECT_EQ(structure.stays, 0u);
  EXPECT_EQ(structure.parts, (std::vector<Structure::Part>{{"first", 7}, {"", {}}}));
  EXPECT_THAT(structure.pairs,
              testing::ElementsAre(testing::Pair(1, 2), testing::Pair(3, 4), testing::Pair(5, 6)));
  EXPECT_THAT(structure.plain, testing::ElementsAre(8, 9));
}

TEST(Wire, StructuresOfWhichTheEndIsMissingAreNotOk) {
  const Bytes bytes = encoded_structure();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::span<const std::byte> beginning(bytes.data(), length);
    Reader in(beginning);
    (void)decode<Structure>(in);
    EXPECT_FALSE(in.ok()) << length << " bytes of " << bytes.size();
  }
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

/// What two workers did, put together in either order, after one of them: `step` in all three.
template <typename T>
void expect_combined(Combine how, T (*step)(T, T), T initial, std::vector<T> ours,
                     std::vector<T> theirs) {
  T expected = initial, here = initial;
  for (const T x : ours) expected = step(expected, x);
  for (const T x : theirs) expected = step(expected, x);
  const auto changed_by = [&](const std::vector<T>& operands) {
    CombinedWord word{.address = reinterpret_cast<std::uint64_t>(&here),
                      .before = initial,
                      .after = initial,
                      .how = how,
                      .bytes = sizeof(T)};
    T after = initial;
    for (const T x : operands) after = step(after, x);
    word.after = after;
    return word;
  };
  for (const bool ours_first : {false, true}) {
    here = initial;
    apply(changed_by(ours_first ? ours : theirs));
    apply(changed_by(ours_first ? theirs : ours));
    EXPECT_EQ(here, expected) << int(how);
  }
}
template <typename T>
void expect_all_combined() {
  using Signed = std::make_signed_t<T>;
  const std::vector<T> ours = {T(3), T(~T{0}), T(0xf0f0f0)}, theirs = {T(~T{4}), T(0x7), T(0x33)};
  const auto check = [&](Combine how, T (*step)(T, T)) {
    for (const T initial : {T{0}, T(~T{0}), T(0x12345), T(T{1} << (sizeof(T) * 8 - 1))})
      expect_combined<T>(how, step, initial, ours, theirs);
  };
  check(Combine::sum, [](T a, T b) { return T(a + b); });
  check(Combine::bit_and, [](T a, T b) { return T(a & b); });
  check(Combine::bit_or, [](T a, T b) { return T(a | b); });
  check(Combine::bit_xor, [](T a, T b) { return T(a ^ b); });
  check(Combine::signed_min, [](T a, T b) { return Signed(b) < Signed(a) ? b : a; });
  check(Combine::signed_max, [](T a, T b) { return Signed(b) > Signed(a) ? b : a; });
  check(Combine::unsigned_min, [](T a, T b) { return b < a ? b : a; });
  check(Combine::unsigned_max, [](T a, T b) { return b > a ? b : a; });
}

TEST(CombinedWords, TheOrderMakesNoDifference) {
  expect_all_combined<std::uint32_t>();
  expect_all_combined<std::uint64_t>();
}

TEST(CombinedWords, AWordThatNobodyElseChangedIsAsTheWorkerLeftIt) {
  std::uint32_t here = 0xff;  // the worker stored 0 before it set bits
  apply({.address = reinterpret_cast<std::uint64_t>(&here),
         .before = 0xff,
         .after = 0x10,
         .how = Combine::bit_or,
         .bytes = 4});
  EXPECT_EQ(here, 0x10u);
}

TEST(CombinedWords, InvalidOnesAreRecognised) {
  const CombinedWord good{.address = 16, .how = Combine::sum, .bytes = 8};
  EXPECT_TRUE(is_valid(good));
  const auto with = [&](auto&& change) {
    CombinedWord word = good;
    change(word);
    return is_valid(word);
  };
  EXPECT_FALSE(with([](CombinedWord& w) { w.address = 12; }));
  EXPECT_FALSE(with([](CombinedWord& w) { w.bytes = 2; }));
  EXPECT_FALSE(with([](CombinedWord& w) { w.how = Combine::none; }));
  EXPECT_FALSE(with([](CombinedWord& w) { w.how = Combine(int(kLastCombine) + 1); }));
}

TEST(NotedWords, AreTakenOutOfWhatAPageChanged) {
  auto before = page_of_numbers(1), now = std::make_unique<Page>(*before);
  const std::uint64_t page = 7 * kPageBytes;
  NotedWords noted;
  const std::uint64_t addresses[] = {page + 8, page + 16, page + 24, page + kPageBytes};
  noted.note(Combine::sum, 4, addresses, 0b1001);
  noted.note(Combine::bit_or, 8, addresses, 0b0010);
  for (const std::size_t at : {8, 18, 23, 24}) (*now)[at] ^= std::byte{1};
  std::vector<CombinedWord> words;
  noted.take(page, *before, *now, words);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].address, page + 8);
  EXPECT_EQ(words[0].bytes, 4);
  EXPECT_EQ(words[0].before ^ words[0].after, 1u);
  EXPECT_EQ(words[1].how, Combine::bit_or);
  EXPECT_EQ(words[1].before ^ words[1].after, 1ull << 16 | 1ull << 56);
  EXPECT_EQ((*before)[24] ^ (*now)[24], std::byte{1}) << "no atomic changed it";
  (*before)[24] = (*now)[24];
  EXPECT_EQ(*before, *now);
  EXPECT_FALSE(noted.mixed());
}

TEST(NotedWords, TwoWaysToChangeAWordAreMixed) {
  const auto mixed = [](Combine first, unsigned bytes, std::uint64_t address, Combine second) {
    NotedWords noted;
    const std::uint64_t addresses[] = {kPageBytes, address};
    noted.note(first, 8, addresses, 1);
    noted.note(second, bytes, addresses, 2);
    return noted.mixed();
  };
  EXPECT_FALSE(mixed(Combine::sum, 8, kPageBytes, Combine::sum));
  EXPECT_TRUE(mixed(Combine::sum, 8, kPageBytes, Combine::bit_or));
  EXPECT_TRUE(mixed(Combine::sum, 4, kPageBytes, Combine::sum));
  EXPECT_TRUE(mixed(Combine::sum, 4, kPageBytes + 4, Combine::sum));
  EXPECT_FALSE(mixed(Combine::sum, 4, kPageBytes + 8, Combine::bit_or));
  EXPECT_TRUE(mixed(Combine::sum, 4, kPageBytes + 8, Combine::none));
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
