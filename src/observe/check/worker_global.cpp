// The part of the worker that tracks global memory: writers, and bytes that were never written.

#include <algorithm>
#include <bit>

#include "observe/check/global/lane_writes.h"
#include "observe/check/worker.h"

namespace margay::check {
namespace {

using Path = MemoryForm::Path;

/// What stored_bytes() needs.
LdsOperation store_of(const InstructionFacts& facts, const Wave& wave) {
  LdsOperation operation;
  operation.facts = &facts;
  operation.wave = &wave;
  return operation;
}

/// A digest of the data of each lane of a store, for Run::digest.
void digest_stores(const LaneAccess& access, const InstructionFacts& facts, const Wave& wave,
                   LaneDigests& out) {
  if (facts.form.path == Path::scalar) {
    const std::uint32_t* const data = &wave.s[facts.instruction->src[2].index()];
    out[0] = digest_of(access.at[0], reinterpret_cast<const std::uint8_t*>(data), access.bytes);
    return;
  }
  const LdsOperation operation = store_of(facts, wave);
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const auto value = stored_bytes(operation, lane);
    out[lane] = digest_of(access.at[lane], value.data(), access.bytes);
  }
}

}  // namespace

WrittenMap* WorkerChecker::written_map(std::uint64_t address) {
  if (recent_map_ != nullptr && recent_map_->range().contains(address, 1)) return recent_map_;
  if (recent_unmapped_.contains(address, 1)) return nullptr;
  WrittenMap* const map = launch_.global.find(address);
  if (map != nullptr)
    recent_map_ = map;
  else
    recent_unmapped_ = launch_.memory.readable_range(address);
  return map;
}

bool WorkerChecker::calls_host(const LaneAccess& access) const {
  if (host_calls_.empty() || access.active == 0) return false;
  const std::uint64_t address = access.at[std::countr_zero(access.active)];
  return std::ranges::any_of(
      host_calls_, [&](const AddressRange& buffer) { return buffer.contains(address, 1); });
}

SyncGraph::Vertex WorkerChecker::follow_global(PerWave& w, const InstructionFacts& facts,
                                               const Wave& wave, const LaneAccess& access,
                                               Outstanding& flight) {
  LaneDigests digests;
  if (access.is_write && !access.is_atomic) digest_stores(access, facts, wave, digests);
  const unsigned index = wave.index_in_group;
  const bool syncs = sync_.syncs(facts);
  const std::uint64_t changed = syncs ? changed_lanes(facts, access, wave) : 0;
  const bool releases = changed != 0 && facts.releases_word;
  if (const std::uint32_t relies_on =
          global_phases_.access(access, lds_.phase(), syncs && facts.acquires_word, releases))
    lds_.need_barrier(relies_on);
  if (releases) {
    races_.settle(index, w.waits.vm_completed());
    sync_.before_release(index, w.waits.lds_completed());
  }
  if (!calls_host(access)) {
    if (access.is_write && !access.is_atomic && !facts.scoped && !facts.agent_scope)
      compare_lanes(facts, wave, access);
    races_.access(access, facts, index, w.since_barrier, digests, flight.serial);
  }
  // For example a wave that polls.
  if (races_.many_pending(index)) races_.settle(index, w.waits.vm_completed());
  if (!facts.agent_scope) {
    if (access.is_write) ++plain_stores_;
    // The accesses that a cache may not satisfy.
    if (access.is_read && w.invalidations.any()) {
      sites_.needed(w.invalidations.credit());
      w.invalidations.clear();
    }
  }
  return syncs ? sync_.global_access(facts, access, changed, index, flight.learning) : 0;
}

void WorkerChecker::compare_lanes(const InstructionFacts& facts, const Wave& wave,
                                  const LaneAccess& access) {
  if (facts.form.path == Path::scalar) return;
  const LdsOperation store = store_of(facts, wave);
  const auto conflict =
      conflict_of_lanes(access, [&](unsigned lane) { return stored_bytes(store, lane); });
  constexpr FindingKind kKind = FindingKind::global_race;
  constexpr std::string_view kExtra = "lanes";
  if (!conflict || reporter_.repeat(kKind, facts.vaddr, kNoVaddr, kExtra)) return;
  Finding f;
  f.kind = kKind;
  f.message = say<Says::lanes_write_globally>(conflict->first, conflict->second, conflict->begin,
                                              conflict->bytes);
  f.accesses = {reporter_.access(Role::write, facts.vaddr,
                                 static_cast<std::int32_t>(wave.index_in_group),
                                 static_cast<std::int32_t>(conflict->second))};
  f.detail = {say<Says::no_lane_wins>()};
  f.fix = Fix::own_bytes;
  reporter_.add(std::move(f), kExtra);
}

void WorkerChecker::global_access(PerWave& w, const InstructionFacts& facts, Wave& wave,
                                  const LaneAccess& access, Outstanding& flight) {
  const SyncGraph::Vertex released = racecheck_ ? follow_global(w, facts, wave, access, flight) : 0;
  if (released != 0) {
    for (const Credit& credit : w.waits.release_later())
      release_credits_.push_back({released, 0, credit});
    if (w.write_backs.any()) release_credits_.push_back({released, 0, w.write_backs.credit()});
  }
  if (released == 0 && facts.scoped) w.waits.release();
  if (!initcheck_) return;
  if (access.is_read) global_read_values(w, facts, access);
  if (access.is_write) global_written_values(w, facts, access);
}

void WorkerChecker::global_written_values(PerWave& w, const InstructionFacts& facts,
                                          const LaneAccess& access) {
  // The result of an atomic on an unwritten value is undefined too, except for a swap. So every
  // workgroup that does it is found, not only the first.
  if (access.is_atomic && !facts.swaps) return;
  LaneBits bits;
  const bool undefined = !access.is_atomic && w.values.stored_bits(facts, 0, access, bits);
  if (undefined) {
    const bool followed = written_map(access.at[std::countr_zero(bits.lanes)]) != nullptr;
    const auto stored = w.values.stored_globally(facts, access, bits, followed);
    if (followed) note_undefined_store(facts, access, bits.lanes, stored);
  }
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    WrittenMap* const map = written_map(access.at[lane]);
    if (map == nullptr) continue;
    if (undefined && (bits.lanes >> lane & 1) != 0)
      map->store(access.at[lane], bits.bytes[static_cast<unsigned>(lane)].data(), access.bytes);
    else
      map->set(access.at[lane], access.bytes);
  }
}

void WorkerChecker::note_undefined_store(const InstructionFacts& facts, const LaneAccess& access,
                                         std::uint64_t lanes, ValueTracker::Stored stored) {
  AddressRange range{~0ull, 0};
  for (std::uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
    const std::uint64_t at = access.at[std::countr_zero(rest)];
    range.begin = std::min(range.begin, at);
    range.end = std::max(range.end, at + access.bytes);
  }
  const Access access_here = reporter_.access(Role::store, facts.vaddr, kNoNumber);
  const Access read_here =
      stored.origin == nullptr
          ? Access()
          : reporter_.access(Role::read, stored.origin->vaddr, kNoNumber, stored.origin->lane);
  // One for each instruction and allocation: a lane's neighbours may be in another one.
  const WrittenMap* const map = written_map(range.begin);
  for (UndefinedStore& known : undefined_stores_) {
    if (known.access.vaddr != facts.vaddr || map == nullptr ||
        !map->range().contains(known.range.begin, 1))
      continue;
    known.range.begin = std::min(known.range.begin, range.begin);
    known.range.end = std::max(known.range.end, range.end);
    known.told |= stored.told;
    known.computed |= stored.computed;
    // Workgroups that come from other processes may come in any order.
    if (is_earlier(access_here, known.access)) {
      known.access = access_here;
      known.read = read_here;
    }
    return;
  }
  UndefinedStore& fresh = undefined_stores_.emplace_back();
  fresh.range = range;
  fresh.told = stored.told;
  fresh.computed = stored.computed;
  fresh.access = access_here;
  fresh.read = read_here;
}

bool WorkerChecker::written_by_host(WrittenMap& map, const InstructionFacts& facts,
                                    std::uint64_t address, unsigned lane) {
  if (std::ranges::find(host_written_, &map) != host_written_.end()) return true;
  const std::uint64_t found = map.written_by_host(launch_.number);
  if (found == 0) return false;
  host_written_.push_back(&map);
  if (std::ranges::find(host_written_all_, map.range()) == host_written_all_.end())
    host_written_all_.push_back(map.range());
  constexpr FindingKind kKind = FindingKind::host_write;
  if (reporter_.repeat(kKind, facts.vaddr)) return true;
  Finding f;
  f.kind = kKind;
  f.message = say<Says::host_filled>(map.range().end - map.range().begin, address);
  f.accesses = {reporter_.access(Role::read, facts.vaddr,
                                 static_cast<std::int32_t>(waves_[0]->wave->index_in_group),
                                 static_cast<std::int32_t>(lane))};
  f.detail = {say<Says::host_filled_first>(found)};
  f.fix = Fix::host_copy;
  reporter_.add(std::move(f));
  return true;
}

void WorkerChecker::global_read_values(PerWave& w, const InstructionFacts& facts,
                                       const LaneAccess& access) {
  std::uint64_t first = ~0ull, last = 0;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const std::uint64_t at = access.at[std::countr_zero(rest)];
    first = std::min(first, at);
    last = std::max(last, at);
  }
  // Most memory has been written from one end to the other.
  WrittenMap* const map = written_map(first);
  if (map == nullptr && recent_unmapped_.contains(first, last - first + access.bytes)) return;
  if (map != nullptr && map->complete() && map->range().contains(first, last - first + 1)) return;
  if (map != nullptr && last - first < 4096 && map->range().contains(first, last - first + 1) &&
      map->all_written(first, last - first + access.bytes))
    return;
  LaneBits bits;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    WrittenMap* const own = written_map(access.at[lane]);
    if (own == nullptr) continue;
    const std::uint64_t missing = own->unwritten(access.at[lane], access.bytes);
    if (missing == 0 || written_by_host(*own, facts, access.at[lane], lane)) continue;
    bits.lanes |= 1ull << lane;
    for (unsigned n = 0; n < 16; ++n)
      bits.bytes[lane][n] = static_cast<std::uint8_t>(
          missing >> n & 1 ? own->undefined_bits(access.at[lane] + n) : 0);
  }
  if (bits.lanes == 0) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(bits.lanes));
  const Origin origin{.kind = Origin::Kind::global,
                      .lane = static_cast<std::uint8_t>(lane),
                      .vaddr = facts.vaddr,
                      .address = access.at[lane] + first_byte(bits, lane)};
  if (facts.form.to_lds) {
    direct_bits_ = bits;
  } else if (!access.is_atomic || facts.swaps) {
    w.values.loaded(facts, access, bits, 0, origin);
  } else {
    for (std::uint64_t rest = bits.lanes; rest != 0; rest &= rest - 1)
      written_map(access.at[std::countr_zero(rest)])->changed_unwritten();
    w.values.atomic_on(facts, origin);
    note_undefined_store(facts, access, bits.lanes, {.told = true});
  }
}

void WorkerChecker::scalar_access(PerWave& w, const InstructionFacts& facts,
                                  const LaneAccess& access, Outstanding& flight) {
  if (racecheck_) follow_global(w, facts, *w.wave, access, flight);
  if (access.is_atomic) w.waits.release();
  if (!initcheck_ || access.is_atomic) return;
  if (access.is_read) return scalar_read_values(w, facts, access);
  if (WrittenMap* const map = written_map(access.at[0])) map->set(access.at[0], access.bytes);
}

void WorkerChecker::scalar_read_values(PerWave& w, const InstructionFacts& facts,
                                       const LaneAccess& access) {
  WrittenMap* const map = written_map(access.at[0]);
  if (map == nullptr || map->complete() || map->unwritten(access.at[0], access.bytes) == 0) return;
  if (written_by_host(*map, facts, access.at[0], 0)) return;
  std::vector<std::uint8_t> bits(access.bytes);
  std::uint64_t first = 0;
  for (unsigned n = access.bytes; n-- > 0;)
    if (map->unwritten(access.at[0] + n, 1) != 0) {
      bits[n] = map->undefined_bits(access.at[0] + n);
      first = access.at[0] + n;
    }
  w.values.scalar_loaded(facts, bits,
                         {.kind = Origin::Kind::global, .vaddr = facts.vaddr, .address = first});
}

}  // namespace margay::check
