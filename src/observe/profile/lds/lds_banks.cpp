#include "observe/profile/lds/lds_banks.h"

#include <algorithm>
#include <bit>

namespace margay::profile {
namespace {

constexpr std::uint64_t lanes(unsigned first, unsigned last) {
  return (~0ull >> (63 - (last - first))) << first;
}

constexpr std::uint64_t kHalves[] = {lanes(0, 31), lanes(32, 63)};
constexpr std::uint64_t kSixteens[] = {lanes(0, 15), lanes(16, 31), lanes(32, 47), lanes(48, 63)};
constexpr std::uint64_t kEights[] = {lanes(0, 7),   lanes(8, 15),  lanes(16, 23), lanes(24, 31),
                                     lanes(32, 39), lanes(40, 47), lanes(48, 55), lanes(56, 63)};
constexpr std::uint64_t kRead128[] = {lanes(0, 3) | lanes(20, 23),   lanes(4, 7) | lanes(16, 19),
                                      lanes(8, 11) | lanes(28, 31),  lanes(12, 15) | lanes(24, 27),
                                      lanes(32, 35) | lanes(52, 55), lanes(36, 39) | lanes(48, 51),
                                      lanes(40, 43) | lanes(60, 63), lanes(44, 47) | lanes(56, 59)};

/// The bank requests of one group of lanes.
class GroupDemand {
 public:
  void add(std::uint64_t dword, unsigned lane) {
    Bank& bank = banks_[dword % kLdsBanks];
    ++bank.requests;
    const auto end = bank.dwords.begin() + bank.distinct;
    if (std::find(bank.dwords.begin(), end, dword) != end) return;
    bank.lane[bank.distinct] = static_cast<std::uint8_t>(lane);
    bank.dwords[bank.distinct++] = dword;
  }

  void charge(bool is_atomic, LdsCost& cost) const {
    std::uint32_t distinct = 1, requests = 1;
    for (unsigned n = 0; n < kLdsBanks; ++n) {
      const Bank& bank = banks_[n];
      cost.bank_dwords[n] = static_cast<std::uint16_t>(cost.bank_dwords[n] + bank.distinct);
      distinct = std::max(distinct, bank.distinct);
      requests = std::max(requests, bank.requests);
      if (bank.distinct <= cost.worst_ways) continue;
      cost.worst_ways = bank.distinct;
      cost.worst_bank = n;
      cost.worst_lanes = 0;
      for (std::uint32_t k = 0; k < bank.distinct; ++k) cost.worst_lanes |= 1ull << bank.lane[k];
    }
    const std::uint32_t cycles = is_atomic ? requests : distinct;
    cost.cycles += cycles;
    cost.bank_conflicts += distinct - 1;
    cost.address_conflicts += cycles - distinct;
  }

 private:
  // A group of 32 lanes with dwords that may straddle their alignment.
  static constexpr std::size_t kMost = 64;
  struct Bank {
    std::uint32_t distinct = 0, requests = 0;
    std::array<std::uint64_t, kMost> dwords;
    std::array<std::uint8_t, kMost> lane;
  };
  std::array<Bank, kLdsBanks> banks_;
};

}  // namespace

std::span<const std::uint64_t> lane_groups(unsigned bytes, bool is_write) {
  if (bytes <= 4) return kHalves;
  if (bytes <= 8) return kSixteens;
  if (is_write) return kEights;
  return kRead128;
}

LdsCost lds_cost(const LdsAccess& access) {
  LdsCost cost;
  for (const std::uint64_t* const at : access.at) {
    if (at == nullptr) continue;
    for (const std::uint64_t group :
         lane_groups(access.bytes, access.is_write && !access.is_atomic)) {
      GroupDemand demand;
      for (std::uint64_t rest = group & access.active; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::uint64_t first = at[lane], last = first + access.bytes - 1;
        for (std::uint64_t dword = first / 4; dword <= last / 4; ++dword) demand.add(dword, lane);
      }
      demand.charge(access.is_atomic, cost);
    }
  }
  return cost;
}

}  // namespace margay::profile
