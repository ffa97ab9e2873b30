// Which accesses of a random kernel race (random_sync.py): a graph of what its waves do, and paths.
// Shares nothing with src/observe/check.
//
// Edges lead from each thing to the next of its wave, from a barrier's arrivals to what follows it,
// from a release to the poll that waits for it, and from a release to any wave that read, by an
// atomic, its value, or one that atomics made from it. Two accesses are ordered when a path leads
// from where the first one's effect is certain to the issue of the second one.
#pragma once

#include <bitset>
#include <cstdint>
#include <iosfwd>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace margay::check {

/// What the model goes by; each can be left out, to see what depends on it.
enum class Rule : std::uint8_t {
  barriers,                ///< order what comes before them and after them,
  ended_waves,             ///< also for waves that have ended.
  polls,                   ///< A poll knows of the releases it has waited for.
  returned_values,         ///< So does an atomic that returns what a release left,
  release_sequences,       ///< or what atomics made of that;
  stores_begin_anew,       ///< a store hides what was released before it;
  failures_are_reads,      ///< a compare-and-swap that fails releases nothing.
  releases_by_value,       ///< Who sees what a release left knows that access itself.
  lds_when_complete,       ///< LDS is certain when a wait has proven it complete,
  global_when_issued,      ///< global memory, within a workgroup, when it is issued;
  global_when_complete,    ///< for other workgroups, when it is proven complete
  plain_stores_stay,       ///< (but not a store without agent scope)
  write_backs,             ///< or when a write-back after it is;
  write_backs_complete,    ///< not when that is only issued,
  write_backs_of_agent,    ///< nor with a narrower scope.
  invalidations,           ///< A load without agent scope needs an invalidation on the path,
  invalidations_of_agent,  ///< of agent scope.
  atomics_do_not_race,     ///< Accesses of sufficient scope do not race with each other;
  workgroup_scope,         ///< within a workgroup its scope is sufficient,
  agent_scope,  ///< and between workgroups it is not; nor does it hand anything over there.
  count
};
[[nodiscard]] std::string_view rule_name(Rule rule);
using Rules = std::bitset<static_cast<std::size_t>(Rule::count)>;

class HandoverModel {
 public:
  /// The first 4 KiB of the results, as the run has left them.
  using Results = std::span<const std::uint32_t>;
  using Pairs = std::set<std::pair<std::string, std::string>>;

  /// Reads the lines of one kernel, after its name's; ends before the next one.
  explicit HandoverModel(std::istream& lines);
  /// The marks of accesses that race, given what atomics returned. `left_out`: rules that do not
  /// hold.
  [[nodiscard]] Pairs races(Results results, Rules left_out = {}) const;
  /// How many records were made, and how many compare-and-swaps failed: what a run has tried.
  struct Outcome {
    int returned = 0, failed = 0;
  };
  [[nodiscard]] Outcome outcome(Results results) const;

 private:
  static constexpr int kNone = -1;
  /// What it belongs to ran if the record holds `value`; 0: anything but 0.
  struct Guard {
    int record = kNone;
    std::uint32_t value = 0;
    [[nodiscard]] bool holds(Results results) const;
  };
  struct Access {
    std::string mark, wave, space;
    int group = 0, scope = 0, issue = kNone, done = kNone, release = kNone;
    bool write = false;
    Guard guard;
    std::bitset<4096> bytes;
  };
  struct Edges {
    std::string kind;
    std::vector<std::pair<int, int>> pairs;
  };
  struct Invalidation {
    int node = kNone;
    bool agent = false;
    Guard guard;
  };
  struct WriteBack {
    int issue = kNone, done = kNone;
    bool agent = false;
    Guard guard;
  };
  struct Poll {
    int scope = 0, node = kNone;
    std::vector<int> posts;
  };
  enum class Operation : std::uint8_t { add, swap, cas, store };
  struct Atomic {
    int access = kNone;
    std::string word;
    Operation operation = Operation::add;
    int operand = 0, other = kNone, record = kNone, node = kNone;
  };
  class Run;

  [[nodiscard]] static Guard read_guard(std::istream& words);
  void read(const std::string& kind, std::istream& words);

  std::vector<int> groups_;  // by node
  std::vector<Access> accesses_;
  std::vector<Edges> edges_;
  std::vector<Invalidation> invalidations_;
  std::vector<WriteBack> write_backs_;
  std::vector<Poll> polls_;
  std::vector<Atomic> atomics_;
};

}  // namespace margay::check
