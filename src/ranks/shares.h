// Who runs which workgroups: each rank begins with a run of neighbours of its own, the same in each
// launch of a grid, so that its pages are of use again; who has none left takes half of the longest
// rest. Not safe to use from several threads.
#pragma once

#include <cstdint>
#include <vector>

namespace margay::ranks {

struct Share {
  std::uint64_t begin = 0, end = 0;
  [[nodiscard]] std::uint64_t size() const { return end - begin; }
  [[nodiscard]] bool operator==(const Share&) const = default;
};

class Shares {
 public:
  /// `weights`: how much each rank can do, such as its number of threads.
  Shares(std::uint64_t workgroups, const std::vector<unsigned>& weights);

  /// At most `most` workgroups for a rank, and no more than a quarter of what it has, so that it
  /// can be relieved of the rest; an empty share if none are left.
  [[nodiscard]] Share take(unsigned rank, std::uint64_t most);
  /// Workgroups that were taken and not run.
  void give_back(Share share);
  [[nodiscard]] bool any_left() const;

 private:
  std::vector<Share> own_;       // by rank
  std::vector<Share> returned_;  // for any rank
};

}  // namespace margay::ranks
