#include "observe/check/lds/lds_shadow.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "exec/rows/row_table.h"
#include "observe/check/lds/copies.h"

namespace margay::check {
namespace {

constexpr unsigned kGranuleBytes = 8;

/// The bytes of an access that are in its first granule, and in the one `n` further on.
constexpr std::uint8_t mask_at(std::uint32_t at, unsigned bytes, unsigned n) {
  const std::uint32_t wide = ((1u << bytes) - 1) << (at % kGranuleBytes);
  return static_cast<std::uint8_t>(wide >> (kGranuleBytes * n));
}

/// Calls `visit(granule index, mask)` for the granules of [at, at + bytes).
template <typename F>
inline void for_each_granule(std::uint32_t at, unsigned bytes, F&& visit) {
  const std::uint32_t first = at / kGranuleBytes;
  const std::uint32_t last = (at + bytes - 1) / kGranuleBytes;
  for (std::uint32_t g = first; g <= last; ++g) visit(g, mask_at(at, bytes, g - first));
}

/// Lowest byte of a mask.
constexpr unsigned first_byte(std::uint8_t mask) {
  return static_cast<unsigned>(std::countr_zero(mask));
}

/// The pairs of a granule's bytes in a mask: byte n of the result represents the bytes 2n and 2n +
/// 1.
constexpr std::array<std::uint32_t, 256> kPairs = [] {
  std::array<std::uint32_t, 256> pairs{};
  for (std::uint32_t mask = 0; mask < 256; ++mask)
    for (unsigned n = 0; n < 4; ++n)
      if ((mask >> (2 * n) & 3) != 0) pairs[mask] |= 0xffu << (8 * n);
  return pairs;
}();

/// Lanes that access a granule, one for each two bytes.
void note_lane(std::uint32_t& lanes, std::uint8_t mask, unsigned lane) {
  lanes = (lanes & ~kPairs[mask]) | (lane * 0x01010101u & kPairs[mask]);
}
/// The lane that accessed the lowest byte of `mask`.
std::uint8_t lane_at(std::uint32_t lanes, std::uint8_t mask) {
  return static_cast<std::uint8_t>(lanes >> (first_byte(mask) / 2 * 8));
}

}  // namespace

LdsShadow::LdsShadow(std::uint32_t bytes, std::uint32_t waves, Reporter& reporter, bool replicates)
    : waves_(waves),
      reporter_(reporter),
      replicates_(replicates),
      granules_((bytes + kGranuleBytes - 1) / kGranuleBytes),
      reads_(granules_.size() * waves) {}

void LdsShadow::begin_workgroup(const WaveOrder* order) {
  order_ = order;
  if (phase_ > std::numeric_limits<std::uint32_t>::max() / 2) {
    std::ranges::fill(granules_, Granule{});
    phase_ = 0;
  }
  if (std::exchange(has_flags_, false))
    for (Granule& g : granules_) g.flag_mask = 0;
  has_direct_ = false;
  first_phase_ = ++phase_;
  lists_used_ = 0;
  for (auto& told : told_) told.clear();
  direct_completed = {};
  last_needed_ = 0;
  barrier_need_ = {};
}

void LdsShadow::open_barrier() {
  barrier_need_ = {};
  ++phase_;
  lists_used_ = 0;
  for (auto& told : told_) told.clear();
}

void LdsShadow::remember(const LdsOperation& o) {
  auto& told = told_[o.wave->index_in_group];
  // In order, except for accesses carried over a barrier.
  const auto at = told.empty() || told.back().step < o.step
                      ? told.end()
                      : std::ranges::lower_bound(told, o.step, {}, &Told::step);
  if (at == told.end() || at->step != o.step)
    told.insert(at, {o.step, o.facts->vaddr, o.phase_step});
}

bool LdsShadow::all_flags(const std::uint64_t* at, std::uint64_t active, unsigned bytes) const {
  bool all = has_flags_;
  for (std::uint64_t rest = active; all && rest != 0; rest &= rest - 1)
    for_each_granule(static_cast<std::uint32_t>(at[std::countr_zero(rest)]), bytes,
                     [&](std::uint32_t index, std::uint8_t mask) {
                       all &= (mask & ~granules_[index].flag_mask) == 0;
                     });
  return all;
}

LdsShadow::Told LdsShadow::told(unsigned wave, std::uint32_t step) const {
  const auto found = std::ranges::lower_bound(told_[wave], step, {}, &Told::step);
  return found == told_[wave].end() || found->step != step ? Told{} : *found;
}

// A barrier separates the accesses of an earlier phase from this one, and is needed if they are
// another wave's. False: the wave itself was the only writer.
inline bool LdsShadow::note_older(const Granule& g, unsigned wave, bool writes) {
  const unsigned others = ~(1u << wave);
  const bool written_now = g.write_phase == phase_, read_now = g.read_phase == phase_;
  const std::uint32_t written = written_now ? g.old_write_phase : g.write_phase;
  const bool by_others = ((written_now ? g.old_writers : g.writers) & others) != 0;
  if (written >= first_phase_ && by_others) note_order(written);
  if (writes) {
    const std::uint32_t read = read_now ? g.old_read_phase : g.read_phase;
    if (read >= first_phase_ && ((read_now ? g.old_readers : g.readers) & others) != 0)
      note_order(read);
  }
  return written < first_phase_ || by_others;
}

inline void LdsShadow::begin_reads(Granule& g, unsigned wave) {
  if (g.read_phase != phase_) {
    g.old_read_phase = std::exchange(g.read_phase, phase_);
    g.old_readers = std::exchange(g.readers, 0);
    g.carried_readers = 0;
    g.bits &= static_cast<std::uint8_t>(~kSettled);
  }
  if ((g.bits & kSettled) == 0 && note_older(g, wave, false)) g.bits |= kSettled;
}

inline void LdsShadow::begin_writes(Granule& g) {
  g.old_write_phase = std::exchange(g.write_phase, phase_);
  g.old_writers = std::exchange(g.writers, 0);
}

// ---- Accesses -------------------------------------------------------------------------------

void LdsShadow::read(const LdsOperation& o, const std::uint64_t* at, std::uint64_t active,
                     unsigned bytes) {
  // No other wave exists, and a wave's own accesses are ordered except for direct loads.
  if (waves_ == 1 && !has_direct_) return;
  // A poll records nothing that is needed later, and a wave may poll for a long time.
  if (!o.facts->polls || !all_flags(at, active, bytes)) remember(o);
  if (!o.atomic && !o.carried)
    active = bytes == 8 || bytes == 16 ? read_whole(o, at, active, bytes / kGranuleBytes)
                                       : read_parts(o, at, active, bytes);
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    for_each_granule(static_cast<std::uint32_t>(at[lane]), bytes,
                     [&](std::uint32_t index, std::uint8_t mask) {
                       if (o.atomic)
                         atomic_granule(o, granules_[index], lane, mask, Kind::atomic_read);
                       else
                         read_granule(o, granules_[index], lane, mask);
                     });
  }
}

// The usual case: the granule is neither written nor polled in this phase. False: it is not.
inline bool LdsShadow::note_read(Granule& g, LastRead& last, const LdsOperation& o, unsigned wave,
                                 std::uint32_t lanes, std::uint8_t mask) {
  if (g.write_phase == phase_ || g.list_phase == phase_ || g.flag_mask != 0) return false;
  if (g.read_phase != phase_ || (g.bits & kSettled) == 0) begin_reads(g, wave);
  const auto bit = static_cast<std::uint16_t>(1u << wave);
  const bool first = (g.readers & bit) == 0;
  if (order_ != nullptr && !first && (last.mask & ~mask) != 0 && last.step != o.step) return false;
  last.step = o.step;
  last.mask = static_cast<std::uint8_t>(mask | (first ? 0 : last.mask));
  last.lanes = (last.lanes & ~kPairs[mask]) | (lanes & kPairs[mask]);
  g.readers |= bit;
  g.carried_readers &= static_cast<std::uint16_t>(~bit);
  return true;
}

std::uint64_t LdsShadow::read_whole(const LdsOperation& o, const std::uint64_t* at,
                                    std::uint64_t active, unsigned granules) {
  const unsigned wave = o.wave->index_in_group;
  LastRead* const last_reads = reads_.data() + wave * granules_.size();
  std::uint64_t rest_lanes = 0;
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::size_t index = at[lane] / kGranuleBytes;
    bool usual = at[lane] % kGranuleBytes == 0;
    for (unsigned n = 0; usual && n < granules; ++n)
      usual =
          note_read(granules_[index + n], last_reads[index + n], o, wave, lane * 0x01010101u, 0xff);
    if (!usual) rest_lanes |= 1ull << lane;
  }
  return rest_lanes;
}

// Neighbouring lanes often read the parts of one granule, which is checked once.
std::uint64_t LdsShadow::read_parts(const LdsOperation& o, const std::uint64_t* at,
                                    std::uint64_t active, unsigned bytes) {
  const unsigned wave = o.wave->index_in_group;
  LastRead* const last_reads = reads_.data() + wave * granules_.size();
  std::uint64_t rest_lanes = 0;
  std::size_t index = 0;  // of the granule that the previous lanes have read
  std::uint64_t its_lanes = 0;
  std::uint32_t lanes = 0;
  std::uint8_t mask = 0;
  const auto note = [&] {
    if (!note_read(granules_[index], last_reads[index], o, wave, lanes, mask))
      rest_lanes |= its_lanes;
  };
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const auto first = static_cast<unsigned>(at[lane] % kGranuleBytes);
    if (first + bytes > kGranuleBytes) {
      rest_lanes |= 1ull << lane;
      continue;
    }
    if (const std::size_t own = at[lane] / kGranuleBytes; own != index || its_lanes == 0) {
      if (its_lanes != 0) note();
      index = own;
      its_lanes = 0;
      mask = 0;
    }
    const auto part = static_cast<std::uint8_t>(((1u << bytes) - 1) << first);
    its_lanes |= 1ull << lane;
    mask |= part;
    note_lane(lanes, part, lane);
  }
  if (its_lanes != 0) note();
  return rest_lanes;
}

bool LdsShadow::has_own_direct(unsigned wave, const LaneAccess& access) const {
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const std::uint64_t index = access.at[std::countr_zero(rest)] / kGranuleBytes;
    if (index >= granules_.size()) continue;
    const Granule& g = granules_[index];
    if ((g.bits & kDirect) != 0 && g.writer == wave && g.write_phase >= first_phase_) return true;
  }
  return false;
}

// Polled bytes do not race, but a barrier may be needed for them.
void LdsShadow::read_granule(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask) {
  mask &= static_cast<std::uint8_t>(~g.flag_mask);
  const unsigned wave = o.wave->index_in_group;
  const auto bit = static_cast<std::uint16_t>(1u << wave);
  if (g.write_phase == phase_ || g.list_phase == phase_) {
    if (!o.carried) meet(o, g, lane, mask, Kind::read);
    // The wave's own direct load, not waited for: DS reads and direct loads take different paths.
    const auto both = static_cast<std::uint8_t>(g.write_mask & mask);
    if ((g.bits & kDirect) != 0 && g.writer == wave && both != 0 && g.write_phase == phase_ &&
        g.write_step > direct_completed[wave] && !o.carried)
      report_own_direct(o, lane, g, both);
  }
  begin_reads(g, wave);
  LastRead& last = last_read(g, wave);
  const bool first = (g.readers & bit) == 0;
  if (first || (last.mask & ~mask) == 0) {
    last = {o.step, last.lanes, mask};
  } else if (last.step == o.step || order_ == nullptr) {
    last.step = o.step;
    last.mask |= mask;
  } else {
    add_to_list(g, {last.step, last.lanes, static_cast<std::uint8_t>(wave), last.mask, Kind::read,
                    (g.carried_readers & bit) != 0, false});
    last = {o.step, last.lanes, mask};
  }
  note_lane(last.lanes, mask, lane);
  g.readers |= bit;
  if (o.carried)
    g.carried_readers |= bit;
  else
    g.carried_readers &= static_cast<std::uint16_t>(~bit);
}

void LdsShadow::write(const LdsOperation& o, const std::uint64_t* at, std::uint64_t active,
                      unsigned bytes) {
  has_direct_ |= o.direct;
  remember(o);
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    for_each_granule(static_cast<std::uint32_t>(at[lane]), bytes,
                     [&](std::uint32_t index, std::uint8_t mask) {
                       Granule& g = granules_[index];
                       if (o.atomic)
                         atomic_granule(o, g, lane, mask, Kind::atomic);
                       else
                         write_granule(o, g, lane, mask);
                     });
  }
  if (!issued_.empty()) note_issued(o, at, active, bytes);
}

// The usual case: no other wave has written or read it in this phase.
inline void LdsShadow::write_granule(const LdsOperation& o, Granule& g, unsigned lane,
                                     std::uint8_t mask) {
  const unsigned wave = o.wave->index_in_group;
  if (o.carried || g.list_phase == phase_ || g.read_phase == phase_ || g.flag_mask != 0)
    return write_again(o, g, lane, mask);
  if (g.write_phase != phase_) {
    (void)note_older(g, wave, true);
    begin_writes(g);
    g.write_mask = g.newest_mask = mask;
    g.write_lanes = lane * 0x01010101u;
    g.writers = static_cast<std::uint16_t>(1u << wave);
    g.writer = static_cast<std::uint8_t>(wave);
  } else {
    const bool same_instruction = g.write_step == o.step;
    if (g.writer != wave || g.write_mask == 0 ||
        (same_instruction ? (g.newest_mask & mask) != 0 : order_ != nullptr))
      return write_again(o, g, lane, mask);
    g.write_mask |= mask;
    g.newest_mask = same_instruction ? static_cast<std::uint8_t>(g.newest_mask | mask) : mask;
    note_lane(g.write_lanes, mask, lane);
  }
  g.write_step = o.step;
  g.bits &= static_cast<std::uint8_t>(~(kDirect | kCarriedWrite));
  if (o.direct) g.bits |= kDirect;
}

void LdsShadow::write_again(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask) {
  mask &= static_cast<std::uint8_t>(~g.flag_mask);
  const unsigned wave = o.wave->index_in_group;
  const auto bit = static_cast<std::uint16_t>(1u << wave);
  const bool written_now = g.write_phase == phase_;
  const bool own = written_now && g.writer == wave && g.write_mask != 0;
  const bool same_instruction = own && g.write_step == o.step;
  if (!same_instruction) g.newest_mask = 0;
  if (!o.carried) {
    // Lanes of one instruction that write the same bytes.
    if (same_instruction && !o.second && (g.newest_mask & mask) != 0)
      report_lanes(o, lane, g, static_cast<std::uint8_t>(g.newest_mask & mask));
    if (written_now || g.list_phase == phase_ || (g.read_phase == phase_ && g.readers != bit))
      meet(o, g, lane, mask, Kind::write);
  }
  (void)note_older(g, wave, true);
  if (!written_now) {
    begin_writes(g);
    g.write_mask = mask;
  } else if (same_instruction || (own && order_ == nullptr)) {
    g.write_mask |= mask;
  } else {
    if (g.write_mask != 0 && !(own && (g.write_mask & ~mask) == 0))
      add_to_list(g, {g.write_step, g.write_lanes, g.writer, g.write_mask, Kind::write,
                      (g.bits & kCarriedWrite) != 0, (g.bits & kDirect) != 0});
    g.write_mask = mask;
  }
  g.newest_mask |= mask;
  g.writers |= bit;
  g.writer = static_cast<std::uint8_t>(wave);
  note_lane(g.write_lanes, mask, lane);
  g.write_step = o.step;
  g.bits &= static_cast<std::uint8_t>(~(kDirect | kCarriedWrite));
  g.bits |= static_cast<std::uint8_t>((o.direct ? kDirect : 0) | (o.carried ? kCarriedWrite : 0));
}

void LdsShadow::atomic_granule(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask,
                               Kind kind) {
  mask &= static_cast<std::uint8_t>(~g.flag_mask);
  const unsigned wave = o.wave->index_in_group;
  // Lanes that share a counter have been handled with the first of them.
  if (g.list_phase == phase_ && !lists_[g.list].empty()) {
    const Record& last = lists_[g.list].back();
    if (last.wave == wave && last.step == o.step && last.kind == kind && (mask & ~last.mask) == 0)
      return;
  }
  if (!o.carried) meet(o, g, lane, mask, kind);
  if (kind == Kind::atomic_read) {
    begin_reads(g, wave);
    if ((g.readers >> wave & 1) == 0) last_read(g, wave) = {};
    g.readers |= static_cast<std::uint16_t>(1u << wave);
  } else {
    (void)note_older(g, wave, true);
    if (g.write_phase != phase_) {
      begin_writes(g);
      g.write_mask = g.newest_mask = 0;
    }
    g.writers |= static_cast<std::uint16_t>(1u << wave);
  }
  if (mask == 0) return;
  std::uint32_t lanes = 0;
  note_lane(lanes, 0xff, lane);
  add_to_list(g, {o.step, lanes, static_cast<std::uint8_t>(wave), mask, kind, o.carried, false});
}

void LdsShadow::add_to_list(Granule& g, const Record& record) {
  if (g.list_phase != phase_) {
    g.list_phase = phase_;
    g.list = lists_used_++;
    if (g.list == lists_.size()) lists_.emplace_back();
    lists_[g.list].clear();
  }
  auto& list = lists_[g.list];
  std::erase_if(list, [&](const Record& r) {
    return r.wave == record.wave && r.kind == record.kind && (r.mask & ~record.mask) == 0;
  });
  list.push_back(record);
}

LdsShadow::LastWrite LdsShadow::make_flag(std::uint32_t dword, std::uint8_t mask) {
  Granule& g = granules_[dword / 2];
  const auto in_granule = static_cast<std::uint8_t>(mask << (dword % 2 * 4));
  if ((in_granule & ~g.flag_mask) == 0) return {};
  g.flag_mask |= in_granule;
  has_flags_ = true;
  if (g.write_phase == phase_ && (g.write_mask & in_granule) != 0)
    return {true, g.writer, g.write_step};
  if (g.list_phase != phase_) return {};
  const auto& list = lists_[g.list];
  for (auto r = list.rbegin(); r != list.rend(); ++r)
    if (r->kind == Kind::write && (r->mask & in_granule) != 0) return {true, r->wave, r->step};
  return {};
}

// ---- Races ----------------------------------------------------------------------------------

// The first conflicting access of each kind is reported.
void LdsShadow::meet(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask,
                     Kind kind) {
  const unsigned wave = o.wave->index_in_group;
  const auto races = [&](const Record& other) {
    const auto both = static_cast<std::uint8_t>(other.mask & mask);
    if (both == 0 || ordered(other, wave)) return false;
    Record shared = other;
    shared.mask = both;
    report_race(o, lane, g, kind, shared);
    return true;
  };
  if (mask == 0) return;
  if (g.write_phase == phase_ && g.write_mask != 0)
    races({g.write_step, g.write_lanes, g.writer, g.write_mask, Kind::write,
           (g.bits & kCarriedWrite) != 0, (g.bits & kDirect) != 0});
  if (g.list_phase == phase_)
    for (const Record& other : lists_[g.list]) {
      if (!writes(kind) && !writes(other.kind)) continue;
      if (is_atomic(kind) && is_atomic(other.kind)) continue;
      if (races(other)) break;
    }
  if (!writes(kind) || g.read_phase != phase_) return;
  for (unsigned rest = g.readers & ~(1u << wave); rest != 0; rest &= rest - 1) {
    const auto reader = static_cast<unsigned>(std::countr_zero(rest));
    const LastRead& last = last_read(g, reader);
    if (races({last.step, last.lanes, static_cast<std::uint8_t>(reader), last.mask, Kind::read,
               (g.carried_readers >> reader & 1) != 0, false}))
      return;
  }
}

// ---- Findings -------------------------------------------------------------------------------

std::array<std::uint8_t, 16> stored_bytes(const LdsOperation& o, unsigned lane) {
  std::array<std::uint8_t, 16> out{};
  const RegisterRange data = o.facts->use.sources[o.second ? 2 : 1];
  for (unsigned d = 0; d < data.count && d < 4; ++d) {
    std::uint32_t value = o.wave->v[std::size_t{data.first + d} * kWaveLanes + lane];
    if (o.facts->instruction->row->memory.part.upper) value >>= 16;
    std::memcpy(&out[4 * d], &value, 4);
  }
  return out;
}

namespace {

/// What a lane writes, while the operation's registers are those with which it was issued; a load
/// straight to LDS brings zeros from beyond a buffer's end. Empty: a byte or two that are extended.
std::optional<std::array<std::uint8_t, 16>> written_bytes(const LdsOperation& o,
                                                          const LaneAccesses& accesses,
                                                          unsigned lane) {
  if (!o.direct) return stored_bytes(o, lane);
  const LaneAccess& from = accesses.access[0];
  if (from.bytes != accesses.access[accesses.count - 1].bytes) return std::nullopt;
  std::array<std::uint8_t, 16> out{};
  if ((from.active >> lane & 1) != 0)
    std::memcpy(out.data(), reinterpret_cast<const void*>(from.at[lane]), from.bytes);
  return out;
}

LaneAccesses accesses_of(const LdsOperation& o) {
  LaneAccesses accesses;
  lane_accesses(*o.wave, *o.facts->instruction, o.facts->form, accesses);
  return accesses;
}

}  // namespace

void LdsShadow::note_issued(const LdsOperation& o, const std::uint64_t* at, std::uint64_t active,
                            unsigned bytes) {
  if (o.atomic || o.carried) return;
  const LaneAccesses accesses = accesses_of(o);
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (const auto value = written_bytes(o, accesses, lane);
        value && at[lane] + bytes <= issued_.size())
      std::memcpy(&issued_[at[lane]], value->data(), bytes);
  }
}

bool LdsShadow::writes_same_value(const LdsOperation& o, unsigned lane, const Granule& g,
                                  std::uint8_t mask) const {
  // The registers of a load that is still in flight may have changed.
  if (o.atomic || (o.direct && o.carried)) return false;
  const LaneAccesses accesses = accesses_of(o);
  const LaneAccess& access = accesses.access[o.direct ? accesses.count - 1 : o.second ? 1 : 0];
  const auto begin = static_cast<std::uint32_t>(access.at[lane]);
  const auto value = written_bytes(o, accesses, lane);
  if (!value) return false;
  const std::uint8_t* const now = issued_.empty() ? &o.wave->group->lds[0] : issued_.data();
  for (unsigned b = 0; b < kGranuleBytes; ++b) {
    if ((mask >> b & 1) == 0) continue;
    const std::uint32_t at = byte_of(g) + b;
    if (now[at] != (*value)[at - begin]) return false;
  }
  return true;
}

void LdsShadow::report_race(const LdsOperation& o, unsigned lane, const Granule& g, Kind kind,
                            const Record& other) {
  const Told theirs_told = told(other.wave, other.step);
  // With the missing wait the barrier would order the two.
  if (other.carried) note_order(phase_ - 1);
  // The progress of each wave past its last barrier suggests which one comes first in the program.
  const bool other_first = other.carried || theirs_told.phase_step <= o.phase_step;
  const bool is_write = writes(kind), other_writes = writes(other.kind);
  const bool earlier_writes = other_first ? other_writes : is_write;
  const bool later_writes = other_first ? is_write : other_writes;
  const FindingKind kind_found = earlier_writes && later_writes ? FindingKind::write_after_write
                                 : earlier_writes               ? FindingKind::read_after_write
                                                                : FindingKind::write_after_read;
  // What a load straight to LDS leaves there may not have come when a store is looked at.
  const bool same_value = kind == Kind::write && other.kind == Kind::write &&
                          (!other.direct || (o.direct && !other.carried)) &&
                          writes_same_value(o, lane, g, other.mask);
  const std::uint64_t own_vaddr = o.facts->vaddr, other_vaddr = theirs_told.vaddr;
  if (same_value && replicates_) return;
  const std::string_view extra = same_value ? "same value" : "";
  const std::uint64_t first = other_first ? own_vaddr : other_vaddr;
  const std::uint64_t second = other_first ? other_vaddr : own_vaddr;
  if (reporter_.repeat(kind_found, first, second, extra)) return;
  Finding f;
  f.kind = kind_found;
  f.severity = same_value ? Severity::note : Severity::error;
  const std::uint32_t byte = byte_of(g) + first_byte(other.mask);
  const int bytes = std::popcount(other.mask);
  f.message = say<Says::lds_race>(kind_found, byte, bytes, same_value);
  const auto role = [](Kind what, bool direct) {
    return what == Kind::atomic  ? Role::atomic
           : direct              ? Role::direct_load
           : what == Kind::write ? Role::write
                                 : Role::read;
  };
  Access own = reporter_.access(role(kind, o.direct), own_vaddr,
                                static_cast<std::int32_t>(o.wave->index_in_group),
                                static_cast<std::int32_t>(lane));
  Access theirs =
      reporter_.access(role(other.kind, other.direct), other_vaddr,
                       static_cast<std::int32_t>(other.wave), lane_at(other.lanes, other.mask));
  f.accesses = other_first ? std::vector{std::move(own), std::move(theirs)}
                           : std::vector{std::move(theirs), std::move(own)};
  if (other.carried) {
    f.detail = {say<Says::still_in_flight>(role(other.kind, other.direct))};
    f.fix = Fix::wait_barrier;
  } else {
    f.detail = {say<Says::no_barrier>()};
    f.fix = same_value ? Fix::one_writer : Fix::barrier;
  }
  reporter_.add(std::move(f), extra);
}

void LdsShadow::report_own_direct(const LdsOperation& o, unsigned lane, const Granule& g,
                                  std::uint8_t mask) {
  constexpr FindingKind kKind = FindingKind::lds_read_before_wait;
  if (reporter_.repeat(kKind, o.facts->vaddr, told(o.wave->index_in_group, g.write_step).vaddr))
    return;
  Finding f;
  f.kind = kKind;
  f.message = say<Says::lds_before_wait>(byte_of(g) + first_byte(mask));
  const auto wave = static_cast<std::int32_t>(o.wave->index_in_group);
  f.accesses = {reporter_.access(Role::read, o.facts->vaddr, wave, static_cast<std::int32_t>(lane)),
                reporter_.access(Role::load, told(o.wave->index_in_group, g.write_step).vaddr, wave,
                                 lane_at(g.write_lanes, mask))};
  f.fix = Fix::direct_wait;
  reporter_.add(std::move(f));
}

void LdsShadow::report_lanes(const LdsOperation& o, unsigned lane, const Granule& g,
                             std::uint8_t mask) {
  constexpr FindingKind kKind = FindingKind::write_after_write;
  const unsigned other = lane_at(g.write_lanes, mask);
  const auto stored = stored_bytes(o, lane), before = stored_bytes(o, other);
  const bool same = !o.direct && stored == before;
  // No statement of a block program says which lanes write: these are its compiler's.
  if (replicates_ && !o.direct && are_copies(stored, before)) return;
  const std::string_view extra = same ? "lanes, same value" : "lanes";
  if (reporter_.repeat(kKind, o.facts->vaddr, kNoVaddr, extra)) return;
  Finding f;
  f.kind = kKind;
  f.severity = same || replicates_ ? Severity::note : Severity::error;
  f.message = say<Says::lanes_write>(other, lane, same, byte_of(g) + first_byte(mask));
  f.accesses = {reporter_.access(Role::write, o.facts->vaddr,
                                 static_cast<std::int32_t>(o.wave->index_in_group),
                                 static_cast<std::int32_t>(lane))};
  if (!same) f.detail = {say<Says::no_lane_wins>()};
  f.fix = same ? Fix::one_lane : Fix::own_bytes;
  reporter_.add(std::move(f), extra);
}

}  // namespace margay::check
