#include "observe/profile/lds/lds_patterns.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "report/profile/profile_fields.h"

namespace margay::profile {

void LdsPatterns::add(const LdsAccess& access, std::int64_t second_offset) {
  const int first = std::countr_zero(access.active);
  const std::uint64_t base = access.active == 0 ? 0 : access.at[0][first] & ~3ull;
  alignas(64) std::array<std::uint32_t, 64> relative;
  if (access.active == ~0ull) {
    for (unsigned lane = 0; lane < 64; ++lane)
      relative[lane] = static_cast<std::uint32_t>(access.at[0][lane] - base);
  } else {
    for (unsigned lane = 0; lane < 64; ++lane)
      relative[lane] = (access.active >> lane & 1) != 0
                           ? static_cast<std::uint32_t>(access.at[0][lane] - base)
                           : 0;
  }
  for (const auto& pattern : patterns_) {
    if (pattern->active != access.active || pattern->relative != relative) continue;
    charge(*pattern, base);
    return;
  }
  auto fresh = std::make_unique<Pattern>();
  fresh->active = access.active;
  fresh->relative = relative;
  // Banks are counted from the base, so that the pattern matches at any address; far above 0,
  // because other lanes may be below the first.
  constexpr std::uint64_t kOrigin = 1ull << 40;
  const std::int64_t end = std::max<std::int64_t>(second_offset, 0) + access.bytes;
  std::array<std::uint64_t, 64> one, two;
  for (unsigned lane = 0; lane < 64; ++lane) {
    const auto from_base = static_cast<std::int32_t>(relative[lane]);
    one[lane] = kOrigin + static_cast<std::uint64_t>(from_base);
    two[lane] = one[lane] + static_cast<std::uint64_t>(second_offset);
    if ((access.active >> lane & 1) != 0) fresh->reach = std::max(fresh->reach, from_base + end);
  }
  LdsAccess moved = access;
  moved.at[0] = one.data();
  moved.at[1] = second_offset != 0 ? two.data() : nullptr;
  fresh->cost = lds_cost(moved);
  charge(*fresh, base);
  if (patterns_.size() < kKept)
    patterns_.push_back(std::move(fresh));
  else
    patterns_[next_++ % kKept] = std::move(fresh);
}

void LdsPatterns::charge(const Pattern& pattern, std::uint64_t base) {
  const LdsCost& cost = pattern.cost;
  const auto first_bank = static_cast<unsigned>(base / 4 % kLdsBanks);
  if (pattern.active != 0)
    use_.reached_bytes =
        std::max(use_.reached_bytes, base + static_cast<std::uint64_t>(pattern.reach));
  use_.cycles += cost.cycles;
  use_.conflict_cycles += cost.bank_conflicts;
  use_.address_cycles += cost.address_conflicts;
  use_.conflicting += cost.bank_conflicts != 0 ? 1 : 0;
  for (unsigned n = 0; n < kLdsBanks; ++n)
    use_.bank_dwords[(n + first_bank) % kLdsBanks] += cost.bank_dwords[n];
  const LdsUse worst = {.worst_ways = cost.worst_ways,
                        .worst_bank = (cost.worst_bank + first_bank) % kLdsBanks,
                        .worst_lanes = cost.worst_lanes};
  if (cost.worst_ways >= use_.worst_ways) note_worst(worst);
}

void LdsPatterns::note_worst(const LdsUse& other) {
  // The lowest of equal banks, so that the order of workgroups makes no difference.
  const auto rank = [](const LdsUse& u) {
    return std::tuple(kLdsBanks * 64 - u.worst_ways, u.worst_bank, u.worst_lanes);
  };
  if (other.worst_ways < 2 || (use_.worst_ways > 1 && rank(other) >= rank(use_))) return;
  use_.worst_ways = other.worst_ways;
  use_.worst_bank = other.worst_bank;
  use_.worst_lanes = other.worst_lanes;
}

void LdsPatterns::merge(const LdsPatterns& other) {
  add_counts(use_, other.use_);
  use_.reached_bytes = std::max(use_.reached_bytes, other.use_.reached_bytes);
  note_worst(other.use_);
}

}  // namespace margay::profile
