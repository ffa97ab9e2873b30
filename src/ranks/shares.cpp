#include "ranks/shares.h"

#include <algorithm>
#include <numeric>

namespace margay::ranks {

Shares::Shares(std::uint64_t workgroups, const std::vector<unsigned>& weights) {
  const std::uint64_t all = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  std::uint64_t before = 0;
  std::uint64_t begin = 0;
  for (const unsigned weight : weights) {
    before += weight;
    const auto end =
        static_cast<std::uint64_t>(static_cast<__uint128_t>(workgroups) * before / all);
    own_.push_back({begin, end});
    begin = end;
  }
}

Share Shares::take(unsigned rank, std::uint64_t most) {
  Share& own = own_[rank];
  if (own.size() == 0 && !returned_.empty()) {
    own = returned_.back();
    returned_.pop_back();
  }
  if (own.size() == 0) {
    Share& longest = *std::ranges::max_element(own_, {}, &Share::size);
    const std::uint64_t half = (longest.size() + 1) / 2;
    own = {longest.end - half, longest.end};
    longest.end -= half;
    if (&longest == &own) own = {};
  }
  const std::uint64_t size = std::min({own.size(), most, (own.size() + 3) / 4});
  const Share taken{own.begin, own.begin + size};
  own.begin += size;
  return taken;
}

void Shares::give_back(Share share) {
  if (share.size() != 0) returned_.push_back(share);
}

bool Shares::any_left() const {
  return !returned_.empty() ||
         std::ranges::any_of(own_, [](const Share& own) { return own.size() != 0; });
}

}  // namespace margay::ranks
