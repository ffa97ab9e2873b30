#include "observe/check/lds_shadow.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/row_table.h"

namespace margay::check {
namespace {

constexpr unsigned kGranuleBytes = 8;

/// The bytes of an access that lie in its first granule, and in the one `n` further on.
constexpr std::uint8_t mask_at(std::uint32_t at, unsigned bytes, unsigned n) {
  const std::uint32_t wide = ((1u << bytes) - 1) << (at % kGranuleBytes);
  return static_cast<std::uint8_t>(wide >> (kGranuleBytes * n));
}

/// Calls `visit(granule index, mask)` for what [at, at + bytes) touches.
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

/// Lanes that touch a granule: byte n of the number stands for the granule's bytes 2n and 2n + 1.
void note_lane(std::uint32_t& lanes, std::uint8_t mask, unsigned lane) {
  const std::uint32_t pairs = (mask | mask >> 1) & 0x55u;
  const std::uint32_t wide =
      0xffu * ((pairs & 1) | (pairs & 4) << 6 | (pairs & 16) << 12 | (pairs & 64) << 18);
  lanes = (lanes & ~wide) | (lane * 0x01010101u & wide);
}
/// The lane that touched the lowest byte of `mask`.
std::uint8_t lane_at(std::uint32_t lanes, std::uint8_t mask) {
  return static_cast<std::uint8_t>(lanes >> (first_byte(mask) / 2 * 8));
}

}  // namespace

LdsShadow::LdsShadow(std::uint32_t bytes, std::uint32_t waves, Reporter& reporter)
    : waves_(waves), reporter_(reporter), granules_((bytes + kGranuleBytes - 1) / kGranuleBytes) {}

void LdsShadow::begin_workgroup() {
  if (!granules_.empty()) std::memset(granules_.data(), 0, granules_.size() * sizeof(Granule));
  details_.clear();
  sync_.clear();
  clocks_ = {};
  direct_completed = {};
  phase_ = 1;
  last_needed_ = 0;
  barrier_need_ = {};
}

void LdsShadow::open_barrier() {
  barrier_need_ = {};
  if (phase_ == 0xffff) {  // forget who was where
    for (Granule& g : granules_) g.write_phase = g.read_phase = 0;
    phase_ = 0;
    last_needed_ = 0;
  }
  ++phase_;
}

LdsShadow::Details& LdsShadow::details(const Granule& g) { return details_[byte_of(g)]; }

// ---- Reads ----------------------------------------------------------------------------------

void LdsShadow::read(const LdsOperation& o, const std::uint64_t* at, std::uint64_t active,
                     unsigned bytes) {
  if (bytes == 8 || bytes == 16) {
    active = read_whole_granules(o, at, active, bytes / kGranuleBytes);
    if (active == 0) return;
  }
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    for_each_granule(static_cast<std::uint32_t>(at[lane]), bytes,
                     [&](std::uint32_t index, std::uint8_t mask) {
                       read_granule(o, granules_[index], lane, mask);
                     });
  }
}

// The usual case: aligned, written in an earlier phase, and read by others in the same way.
// Gives back the lanes for which it is not.
std::uint64_t LdsShadow::read_whole_granules(const LdsOperation& o, const std::uint64_t* at,
                                             std::uint64_t active, unsigned granules) {
  const unsigned wave = o.wave->index_in_group;
  const auto bit = static_cast<std::uint16_t>(1u << wave);
  std::uint64_t rest_lanes = 0;
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    Granule* g = &granules_[at[lane] / kGranuleBytes];
    bool usual = at[lane] % kGranuleBytes == 0;
    for (unsigned n = 0; n < granules; ++n) {
      // The last granule of LDS may be looked at twice when the access is not aligned.
      if (!usual) break;
      usual = g[n].flags == 0 && g[n].read_phase == phase_ &&
              (g[n].write_phase != phase_ || g[n].writer == wave) && g[n].read_mask == 0xff;
    }
    if (!usual) {
      rest_lanes |= 1ull << lane;
      continue;
    }
    for (unsigned n = 0; n < granules; ++n) g[n].readers |= bit;
  }
  return rest_lanes;
}

inline void LdsShadow::read_granule(const LdsOperation& o, Granule& g, unsigned lane,
                                    std::uint8_t mask) {
  const unsigned wave = o.wave->index_in_group;
  const auto bit = static_cast<std::uint16_t>(1u << wave);
  if (g.flags != 0 || (g.write_phase == phase_ && g.writer != wave && (g.write_mask & mask) != 0))
      [[unlikely]]
    slow_read(o, g, lane, mask);
  if (g.read_phase == phase_) {
    if (g.readers == bit) {
      const auto fresh = static_cast<std::uint8_t>(mask & ~g.read_mask);
      if (fresh != 0) note_lane(g.read_lanes, fresh, lane);
      g.read_mask |= mask;
    } else if (g.read_mask == mask && (g.flags & kMixedReads) == 0) {
      g.readers |= bit;
    } else {
      mix_reads(o, g, mask);
    }
    return;
  }
  if (g.write_phase != 0 && g.write_phase != phase_ && g.writer != wave) note_order(g.write_phase);
  g.read_phase = phase_;
  g.readers = bit;
  g.read_mask = mask;
  g.read_vaddr = o.facts->vaddr;
  g.read_step = o.step;
  g.read_phase_step = o.phase_step;
  g.reader = static_cast<std::uint8_t>(wave);
  note_lane(g.read_lanes, 0xff, lane);
  g.flags &= static_cast<std::uint8_t>(~(kMixedReads | kCarriedRead));
  if (o.carried) g.flags |= kCarriedRead;
}

void LdsShadow::slow_read(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask) {
  const unsigned wave = o.wave->index_in_group;
  if (g.flags & kSync) synchronise(o, g, true, o.atomic);
  const auto both = static_cast<std::uint8_t>(g.write_mask & mask);
  if (g.write_phase == phase_ && both != 0 && !o.carried) {
    if (g.writer != wave && (g.flags & kMixedWrites) == 0) {
      const bool both_atomic = (g.flags & kAtomicWrite) != 0;  // a flag, read plainly
      if (!both_atomic && !ordered_by_flag(g.writer, g.write_step, wave))
        report_race(o, lane, false, g, both,
                    {g.writer, lane_at(g.write_lanes, both), g.write_vaddr, g.write_phase_step,
                     true, (g.flags & kCarriedWrite) != 0, (g.flags & kDirect) != 0, both_atomic},
                    false);
    }
  }
  if (g.write_phase == phase_ && (g.flags & kMixedWrites) != 0 && !o.carried) {
    const Details& d = details(g);
    for (unsigned w = 0; w < waves_; ++w)
      if (w != wave && (d.writes[w] & mask) != 0 && (d.plain_writers >> w & 1) != 0 &&
          !ordered_by_flag(w, d.write_step[w], wave))
        return report_race(o, lane, false, g, static_cast<std::uint8_t>(d.writes[w] & mask),
                           {w, kNoNumber, d.write_vaddr[w], 0, true}, false);
  }
  // The wave's own direct load, not waited for: DS reads and direct loads take different paths.
  if ((g.flags & kDirect) != 0 && g.writer == wave && both != 0 &&
      g.write_step > direct_completed[wave] && !o.carried)
    report_own_direct(o, lane, g, both);
}

void LdsShadow::mix_reads(const LdsOperation& o, Granule& g, std::uint8_t mask) {
  const unsigned wave = o.wave->index_in_group;
  Details& d = details(g);
  if (d.read_phase != phase_ || (g.flags & kMixedReads) == 0) {
    d.read_phase = phase_;
    d.reads = {};
    for (unsigned w = 0; w < waves_; ++w) {
      if ((g.readers >> w & 1) == 0) continue;
      d.reads[w] = g.read_mask;
      d.read_vaddr[w] = g.read_vaddr;
      d.read_step[w] = g.read_step;
    }
    g.flags |= kMixedReads;
  }
  d.reads[wave] |= mask;
  d.read_vaddr[wave] = o.facts->vaddr;
  d.read_step[wave] = o.step;
  g.readers |= static_cast<std::uint16_t>(1u << wave);
  g.read_mask |= mask;
}

// ---- Writes ---------------------------------------------------------------------------------

void LdsShadow::write(const LdsOperation& o, const std::uint64_t* at, std::uint64_t active,
                      unsigned bytes) {
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    for_each_granule(static_cast<std::uint32_t>(at[lane]), bytes,
                     [&](std::uint32_t index, std::uint8_t mask) {
                       write_granule(o, granules_[index], lane, mask);
                     });
  }
}

inline void LdsShadow::write_granule(const LdsOperation& o, Granule& g, unsigned lane,
                                     std::uint8_t mask) {
  const unsigned wave = o.wave->index_in_group;
  const auto bit = static_cast<std::uint16_t>(1u << wave);
  const bool written_now = g.write_phase == phase_;
  if (!written_now || g.writer != wave || g.write_step != o.step) g.newest_mask = 0;
  if (g.flags != 0 || o.atomic || (written_now && (g.writer != wave || g.write_step == o.step)) ||
      (g.read_phase == phase_ && (g.readers & ~bit) != 0)) [[unlikely]]
    slow_write(o, g, lane, mask);
  if (g.read_phase != 0 && g.read_phase != phase_ && (g.readers & ~bit) != 0)
    note_order(g.read_phase);
  if (written_now && g.writer != wave) {
    mix_writes(o, g, mask);
  } else if (written_now) {
    g.write_mask |= mask;
    if (o.carried) return;
  } else {
    if (g.write_phase != 0 && g.writer != wave) note_order(g.write_phase);
    g.write_mask = mask;
    g.flags &= static_cast<std::uint8_t>(~kMixedWrites);
  }
  g.newest_mask |= mask;
  g.write_phase = phase_;
  g.writer = static_cast<std::uint8_t>(wave);
  note_lane(g.write_lanes, mask, lane);
  g.write_vaddr = o.facts->vaddr;
  g.write_step = o.step;
  g.write_phase_step = o.phase_step;
  g.flags &= static_cast<std::uint8_t>(~(kDirect | kCarriedWrite | kAtomicWrite));
  g.flags |= static_cast<std::uint8_t>((o.direct ? kDirect : 0) | (o.carried ? kCarriedWrite : 0) |
                                       (o.atomic ? kAtomicWrite : 0));
}

void LdsShadow::slow_write(const LdsOperation& o, Granule& g, unsigned lane, std::uint8_t mask) {
  const unsigned wave = o.wave->index_in_group;
  if (o.carried) return;
  // Only who gets the old value learns from it.
  const bool gets_value = o.atomic && o.facts->use.destination.count != 0;
  if (o.atomic || (g.flags & kSync) != 0) synchronise(o, g, gets_value, true);
  // Lanes of one instruction that write the same bytes.
  if (g.write_phase == phase_ && g.writer == wave && g.write_step == o.step && !o.atomic &&
      !o.second && (g.newest_mask & mask) != 0)
    report_lanes(o, lane, g, static_cast<std::uint8_t>(g.newest_mask & mask));
  if (g.write_phase == phase_ && (g.write_mask & mask) != 0) {
    const bool both_atomic = o.atomic && (g.flags & kAtomicWrite) != 0;
    if ((g.flags & kMixedWrites) != 0) {
      const Details& d = details(g);
      for (unsigned w = 0; w < waves_; ++w)
        if (w != wave && (d.writes[w] & mask) != 0 &&
            !(o.atomic && (d.plain_writers >> w & 1) == 0) &&
            !ordered_by_flag(w, d.write_step[w], wave))
          report_race(o, lane, true, g, static_cast<std::uint8_t>(d.writes[w] & mask),
                      {w, kNoNumber, d.write_vaddr[w], 0, true},
                      writes_same_value(o, lane, g, mask));
    } else if (g.writer != wave && !both_atomic && !ordered_by_flag(g.writer, g.write_step, wave)) {
      const auto both = static_cast<std::uint8_t>(g.write_mask & mask);
      report_race(o, lane, true, g, both,
                  {g.writer, lane_at(g.write_lanes, both), g.write_vaddr, g.write_phase_step, true,
                   (g.flags & kCarriedWrite) != 0, (g.flags & kDirect) != 0, false},
                  writes_same_value(o, lane, g, mask));
    }
  }
  if (o.atomic) return;  // on a flag that others watch
  if (g.read_phase != phase_ || (g.read_mask & mask) == 0) return;
  if ((g.flags & kMixedReads) != 0) {
    const Details& d = details(g);
    for (unsigned w = 0; w < waves_; ++w)
      if (w != wave && (d.reads[w] & mask) != 0 && !ordered_by_flag(w, d.read_step[w], wave))
        return report_race(o, lane, true, g, static_cast<std::uint8_t>(d.reads[w] & mask),
                           {w, kNoNumber, d.read_vaddr[w], 0, false}, false);
    return;
  }
  const auto others = static_cast<unsigned>(g.readers) & ~(1u << wave);
  if (others == 0) return;
  const unsigned reader =
      g.reader != wave ? g.reader : static_cast<unsigned>(std::countr_zero(others));
  const auto both = static_cast<std::uint8_t>(g.read_mask & mask);
  if (!ordered_by_flag(reader, g.read_step, wave))
    report_race(o, lane, true, g, both,
                {reader, reader == g.reader ? lane_at(g.read_lanes, both) : kNoNumber, g.read_vaddr,
                 g.read_phase_step, false, (g.flags & kCarriedRead) != 0, false, false},
                false);
}

void LdsShadow::mix_writes(const LdsOperation& o, Granule& g, std::uint8_t mask) {
  const unsigned wave = o.wave->index_in_group;
  Details& d = details(g);
  if (d.write_phase != phase_ || (g.flags & kMixedWrites) == 0) {
    d.write_phase = phase_;
    d.writes = {};
    d.writes[g.writer] = g.write_mask;
    d.plain_writers =
        static_cast<std::uint16_t>((g.flags & kAtomicWrite) != 0 ? 0 : 1u << g.writer);
    d.write_vaddr[g.writer] = g.write_vaddr;
    d.write_step[g.writer] = g.write_step;
    g.flags |= kMixedWrites;
  }
  d.writes[wave] |= mask;
  if (!o.atomic) d.plain_writers |= static_cast<std::uint16_t>(1u << wave);
  d.write_vaddr[wave] = o.facts->vaddr;
  d.write_step[wave] = o.step;
  g.write_mask |= mask;
}

// ---- Flags ----------------------------------------------------------------------------------

// An atomic publishes what its wave has completed and what it knows of others; whoever touches the
// same bytes later learns it.
void LdsShadow::synchronise(const LdsOperation& o, Granule& g, bool acquire, bool release) {
  const unsigned wave = o.wave->index_in_group;
  SyncClock& own = clocks_[wave];
  SyncClock& flag = sync_[byte_of(g)];
  const auto join = [&](SyncClock& to, const SyncClock& from) {
    for (unsigned w = 0; w < waves_; ++w) to.step[w] = std::max(to.step[w], from.step[w]);
  };
  if (acquire) join(own, flag);
  if (release) {
    g.flags |= kSync;
    own.step[wave] = std::max(own.step[wave], o.completed);
    join(flag, own);
  }
}

void LdsShadow::read_completed(const LdsOperation& o, const std::uint64_t* at,
                               std::uint64_t active) {
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    Granule& g = granules_[at[std::countr_zero(rest)] / kGranuleBytes];
    if (g.flags & kSync) synchronise(o, g, true, false);
  }
}

// ---- Findings -------------------------------------------------------------------------------

std::array<std::uint8_t, 16> stored_bytes(const LdsOperation& o, unsigned lane) {
  std::array<std::uint8_t, 16> out{};
  const RegisterRange data = o.facts->use.sources[o.second ? 2 : 1];
  for (unsigned d = 0; d < data.count && d < 4; ++d) {
    std::uint32_t value = o.wave->v[std::size_t{data.first + d} * kWaveLanes + lane];
    if (o.facts->instruction->row->mnemonic.ends_with("d16_hi")) value >>= 16;
    std::memcpy(&out[4 * d], &value, 4);
  }
  return out;
}

bool LdsShadow::writes_same_value(const LdsOperation& o, unsigned lane, const Granule& g,
                                  std::uint8_t mask) const {
  if (o.atomic || o.direct) return false;
  LaneAccesses accesses;
  lane_accesses(*o.wave, *o.facts->instruction, o.facts->form, accesses);
  const LaneAccess& access = accesses.access[o.second ? 1 : 0];
  const auto begin = static_cast<std::uint32_t>(access.at[lane]);
  const auto value = stored_bytes(o, lane);
  for (unsigned b = 0; b < kGranuleBytes; ++b) {
    if ((mask >> b & 1) == 0) continue;
    const std::uint32_t at = byte_of(g) + b;
    if (o.wave->group->lds[at] != value[at - begin]) return false;
  }
  return true;
}

void LdsShadow::report_race(const LdsOperation& o, unsigned lane, bool is_write, const Granule& g,
                            std::uint8_t mask, const Other& other, bool same_value) {
  // Which one comes first in the program is told by how far each wave is past its last barrier.
  const bool other_first = other.carried || other.phase_step <= o.phase_step;
  const bool earlier_writes = other_first ? other.is_write : is_write;
  const bool later_writes = other_first ? is_write : other.is_write;
  const std::string_view kind = earlier_writes && later_writes ? "write-after-write"
                                : earlier_writes               ? "read-after-write"
                                                               : "write-after-read";
  const std::uint64_t own_vaddr = o.facts->vaddr, other_vaddr = other.vaddr;
  const std::string_view extra = same_value ? "same value" : "";
  const std::uint64_t first = other_first ? own_vaddr : other_vaddr;
  const std::uint64_t second = other_first ? other_vaddr : own_vaddr;
  if (reporter_.repeat(Tool::racecheck, kind, first, second, extra)) return;
  Finding f;
  f.tool = Tool::racecheck;
  f.kind = kind;
  f.severity = same_value ? Severity::note : Severity::error;
  const std::uint32_t byte = byte_of(g) + first_byte(mask);
  const int bytes = std::popcount(mask);
  f.message =
      fmt::format("{} race on LDS at byte {:#06x}, {} byte{}{}", kind, byte, bytes,
                  bytes == 1 ? "" : "s", same_value ? ": both waves write the same value" : "");
  const auto name = [](bool write, bool atomic, bool direct) {
    return std::string(atomic ? "atomic" : direct ? "direct load" : write ? "write" : "read");
  };
  Access own = reporter_.access(name(is_write, o.atomic, o.direct), own_vaddr,
                                static_cast<std::int32_t>(o.wave->index_in_group),
                                static_cast<std::int32_t>(lane));
  Access theirs = reporter_.access(name(other.is_write, other.atomic, other.direct), other_vaddr,
                                   static_cast<std::int32_t>(other.wave), other.lane);
  f.accesses = other_first ? std::vector{std::move(own), std::move(theirs)}
                           : std::vector{std::move(theirs), std::move(own)};
  if (other.carried) {
    f.detail.push_back(fmt::format(
        "a barrier stands between, but the {} was still in flight when its wave reached it",
        name(other.is_write, other.atomic, other.direct)));
    f.fix = Fix::wait_barrier;
    f.hint = fmt::format("wait for it ({}) before the barrier",
                         other.direct ? "s_waitcnt vmcnt" : "s_waitcnt lgkmcnt");
  } else {
    f.detail.push_back("no s_barrier separates them");
    f.fix = same_value ? Fix::one_writer : Fix::barrier;
  }
  reporter_.add(std::move(f), extra);
}

void LdsShadow::report_own_direct(const LdsOperation& o, unsigned lane, const Granule& g,
                                  std::uint8_t mask) {
  constexpr std::string_view kKind = "lds-read-before-wait";
  if (reporter_.repeat(Tool::waitcheck, kKind, o.facts->vaddr, g.write_vaddr)) return;
  Finding f;
  f.tool = Tool::waitcheck;
  f.kind = kKind;
  f.message = fmt::format(
      "LDS byte {:#06x} is read before the load straight to LDS that fills it was waited for",
      byte_of(g) + first_byte(mask));
  const auto wave = static_cast<std::int32_t>(o.wave->index_in_group);
  f.accesses = {reporter_.access("read", o.facts->vaddr, wave, static_cast<std::int32_t>(lane)),
                reporter_.access("load", g.write_vaddr, wave, lane_at(g.write_lanes, mask))};
  f.hint = "loads straight to LDS are counted by vmcnt: s_waitcnt vmcnt(0) before reading";
  reporter_.add(std::move(f));
}

void LdsShadow::report_lanes(const LdsOperation& o, unsigned lane, const Granule& g,
                             std::uint8_t mask) {
  constexpr std::string_view kKind = "write-after-write";
  const unsigned other = lane_at(g.write_lanes, mask);
  const bool same = !o.direct && stored_bytes(o, lane) == stored_bytes(o, other);
  const std::string_view extra = same ? "lanes, same value" : "lanes";
  if (reporter_.repeat(Tool::racecheck, kKind, o.facts->vaddr, kNoVaddr, extra)) return;
  Finding f;
  f.tool = Tool::racecheck;
  f.kind = kKind;
  f.severity = same ? Severity::note : Severity::error;
  f.message =
      fmt::format("lanes {} and {} of one instruction write {} to LDS byte {:#06x}", other, lane,
                  same ? "the same value" : "different values", byte_of(g) + first_byte(mask));
  f.accesses = {reporter_.access("write", o.facts->vaddr,
                                 static_cast<std::int32_t>(o.wave->index_in_group),
                                 static_cast<std::int32_t>(lane))};
  if (!same) f.detail.emplace_back("which lane wins is not defined");
  f.hint = same ? "let one lane write it" : "give each lane its own bytes, or use an atomic";
  reporter_.add(std::move(f), extra);
}

}  // namespace margay::check
