// Collects findings: one for all occurrences of the same error, independent of which host thread
// saw which occurrence first.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/check/finding.h"

namespace margay::check {

/// The key by which occurrences are the same finding. Plain data, so that a repeat is counted
/// without building a string.
struct Key {
  FindingKind kind{};
  std::uint64_t kernel = 0;  ///< hash_of() the kernel's name: vaddrs are meaningless without it.
  std::uint64_t vaddr0 = kNoVaddr;  ///< Of the first two accesses.
  std::uint64_t vaddr1 = kNoVaddr;
  std::uint64_t extra = 0;  ///< hash_of() a register's or an allocation's name, where it matters.

  friend auto operator<=>(const Key&, const Key&) = default;
};

/// 64-bit FNV-1a; of an empty string 0. A host thread may keep the hashes of names it uses often.
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text) {
  if (text.empty()) return 0;
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// The key that FindingSet::add() files `finding` under. A third access and further ones go into
/// `extra`.
[[nodiscard]] Key key_of(const Finding& finding, std::string_view extra_key = {});

/// When an occurrence happened, in an order that does not depend on host threads.
struct Place {
  std::uint64_t launch = 0;
  std::uint64_t workgroup = 0;  ///< Linear index.
  std::uint64_t order = 0;      ///< Within the workgroup; unique among occurrences of one key.

  friend auto operator<=>(const Place&, const Place&) = default;
};

/// Findings by key. For each, the occurrence with the lowest place is kept, and all are counted.
/// Not thread-safe: each host thread has its own set; they are merged when a launch ends.
class FindingSet {
 public:
  /// Counts `finding.count` occurrences. `finding.launch` and `finding.kernel` must be set.
  void add(Finding finding, std::uint64_t workgroup, std::uint64_t order,
           std::string_view extra_key = {});

  /// The fast path for repeats. True: the key is known, this occurrence is not earlier than the one
  /// kept, and it has been counted. False: nothing was done; call add().
  [[nodiscard]] bool count_again(const Key& key, const Place& place, std::uint64_t count = 1);

  /// An entry of another set, as for_each() gives it.
  void add(const Key& key, const Place& place, Finding finding) {
    file(key, Entry{std::move(finding), place});
  }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [key, entry] : entries_) visit(key, entry.place, entry.finding);
  }
  /// The order in which sets are merged makes no difference.
  void merge(FindingSet&& other);

  /// The findings whose keys `before` does not have, in the order of take_sorted(): the new
  /// findings of a launch.
  [[nodiscard]] std::vector<Finding> not_in(const FindingSet& before) const;

  /// By launch, first workgroup, vaddrs, order; advice after errors and notes. Empties the set.
  [[nodiscard]] std::vector<Finding> take_sorted();

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Finding finding;
    Place place;
  };
  struct KeyHash {
    [[nodiscard]] std::size_t operator()(const Key& key) const;
  };
  [[nodiscard]] static std::vector<Finding> sorted(std::vector<std::pair<Key, Entry>> entries);
  void file(const Key& key, Entry entry);

  std::unordered_map<Key, Entry, KeyHash> entries_;
};

/// How many findings of each severity there are (not how often they happened).
struct Tally {
  std::uint64_t errors = 0;
  std::uint64_t notes = 0;
  std::uint64_t advice = 0;
};
[[nodiscard]] Tally tally(std::span<const Finding> findings);

/// Adds what another process reported: its findings and sites after those of `into`, advice last.
/// Sites of the same instruction of the same kernel become one.
void merge(Report& into, Report other);

}  // namespace margay::check
