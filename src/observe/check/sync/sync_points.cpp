#include "observe/check/sync/sync_points.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace margay::check {
namespace {

/// Calls `visit(dword index, byte mask)` for the dwords that `lanes` (or all) access; lanes that
/// access the same one as the previous lane are skipped.
template <typename F>
void for_each_dword(const LaneAccess& access, std::uint64_t lanes, F&& visit) {
  std::uint64_t last = ~0ull;
  std::uint8_t last_mask = 0;
  for (std::uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
    const std::uint64_t begin = access.at[std::countr_zero(rest)], end = begin + access.bytes;
    for (std::uint64_t dword = begin / 4; dword * 4 < end; ++dword) {
      const std::uint64_t from = std::max(begin, dword * 4) % 4;
      const std::uint64_t to = std::min(end - dword * 4, std::uint64_t{4});
      const auto mask = static_cast<std::uint8_t>((1u << to) - (1u << from));
      if (dword == last && mask == last_mask) continue;
      last = dword;
      last_mask = mask;
      visit(dword, mask);
    }
  }
}

template <typename F>
void for_each_dword(const LaneAccess& access, F&& visit) {
  for_each_dword(access, access.active, visit);
}

/// The lanes of an atomic whose registers from `data` on equal the contents of memory.
std::uint64_t lanes_as_in_memory(const LaneAccess& access, const Wave& wave, unsigned data) {
  std::uint64_t lanes = 0;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t at = access.at[lane];
    const std::uint8_t* memory = nullptr;
    if (access.space == MemorySpace::lds)
      memory = wave.group->lds + at;
    else if (wave.group->memory->accessible_range(at).contains(at, access.bytes))
      memory = reinterpret_cast<const std::uint8_t*>(at);
    bool same = memory != nullptr;
    for (unsigned d = 0; same && d < access.bytes / 4u; ++d)
      same =
          std::memcmp(memory + 4 * d, &wave.v[std::size_t{data + d} * kWaveLanes + lane], 4) == 0;
    if (same) lanes |= 1ull << lane;
  }
  return lanes;
}

}  // namespace

std::uint64_t lanes_that_change(const InstructionFacts& facts, const LaneAccess& access,
                                const Wave& wave) {
  if (!facts.compares) return access.active;
  // DS instructions have the value to compare with in a separate register, others after the one to
  // store.
  const bool own_register = facts.form.path == MemoryForm::Path::ds;
  return lanes_as_in_memory(access, wave,
                            facts.use.sources[1].first + (own_register ? 0 : access.bytes / 4u));
}

void SyncPoints::begin_workgroup(std::uint32_t workgroup, unsigned waves) {
  if (!active()) return;
  order_.begin_workgroup(workgroup, waves);
  known_.assign(1, {});
  collect_at_ = kCollectAt;
  learning_ = 0;
  joined_.clear();
  words_.clear();
  released_.fill({});
  last_lds_atomic_ = {};
  lock_holders_.clear();
  for (auto& stores : lds_stores_) stores.clear();
  if (has_flags_) flags_.reset();
  has_flags_ = false;
  grid_barriers_ = 0;
}

void SyncPoints::barrier(const Clock& lds_completed) {
  order_.barrier(lds_completed);
  for (auto& stores : lds_stores_) stores.clear();
}

// Releases without anything new to publish between them are merged.
std::uint32_t SyncPoints::release(unsigned wave, std::uint32_t lds_completed,
                                  std::uint32_t lds_atomic) {
  Released& last = released_[wave];
  last_lds_atomic_[wave] = lds_atomic;
  if (last.changes == order_.changes(wave) && last.lds_completed == lds_completed &&
      last.lds_atomic == lds_atomic)
    return last.known;
  Knowledge& known = known_.emplace_back(order_.release(wave, lds_completed));
  known.lds_atomics[wave] = lds_atomic;
  last = {order_.changes(wave), lds_completed, lds_atomic,
          static_cast<std::uint32_t>(known_.size() - 1)};
  return last.known;
}

std::uint32_t SyncPoints::join(std::uint32_t a, std::uint32_t b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  const std::uint64_t key = std::uint64_t{std::max(a, b)} << 32 | std::min(a, b);
  const auto [at, fresh] = joined_.try_emplace(key, static_cast<std::uint32_t>(known_.size()));
  if (fresh) {
    Knowledge both = known_[a];
    order_.join(both, known_[b]);
    known_.push_back(both);
  }
  return at->second;
}

void SyncPoints::stored(std::uint64_t key, std::uint8_t mask, std::uint32_t known) {
  auto& parts = words_[key];
  for (Part& part : parts) part.mask &= static_cast<std::uint8_t>(~mask);
  std::erase_if(parts, [](const Part& part) { return part.mask == 0; });
  parts.push_back({mask, known});
}

void SyncPoints::changed(std::uint64_t key, std::uint8_t mask, std::uint32_t known) {
  for (const Part& part : words_[key])
    if ((part.mask & mask) != 0) known = join(known, part.known);
  stored(key, mask, known);
}

void SyncPoints::acquire(std::uint64_t key, std::uint8_t mask, Learning& learning) {
  const auto found = words_.find(key);
  if (found == words_.end()) return;
  const bool first = learning.known.empty();
  for (const Part& part : found->second)
    if ((part.mask & mask) != 0 &&
        std::ranges::find(learning.known, part.known) == learning.known.end())
      learning.known.push_back(part.known);
  learning_ += first && !learning.known.empty();
}

// A wave that hands over data a million times leaves as many copies of its knowledge; few of them
// are still referenced by memory.
void SyncPoints::collect() {
  std::array<std::vector<std::uint32_t>, kMaxWaves> steps;
  lds_.for_each_last_write([&](unsigned wave, std::uint32_t step) { steps[wave].push_back(step); });
  for (unsigned wave = 0; wave < kMaxWaves; ++wave) {
    std::ranges::sort(steps[wave]);
    std::erase_if(lds_stores_[wave], [&](const LdsStore& store) {
      return !std::ranges::binary_search(steps[wave], store.step);
    });
  }
  std::vector<std::uint32_t> place(known_.size());
  std::vector<Knowledge> kept(1);
  const auto keep = [&](std::uint32_t& known) {
    if (known == 0) return;
    if (place[known] == 0) {
      place[known] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(known_[known]);
    }
    known = place[known];
  };
  for (auto& [key, parts] : words_)
    for (Part& part : parts) keep(part.known);
  for (auto& stores : lds_stores_)
    for (LdsStore& store : stores) keep(store.known);
  for (Released& released : released_) keep(released.known);
  known_ = std::move(kept);
  joined_.clear();
  collect_at_ = std::max(kCollectAt, 2 * known_.size());
}

// ---- LDS ------------------------------------------------------------------------------------

void SyncPoints::make_flag(std::uint32_t dword, std::uint8_t mask) {
  flags_.set(dword);
  has_flags_ = true;
  const LdsShadow::LastWrite last = lds_.make_flag(dword, mask);
  if (!last.exists) return;
  const auto& stores = lds_stores_[last.wave];
  const auto store = std::ranges::lower_bound(stores, last.step, {}, &LdsStore::step);
  if (store != stores.end() && store->step == last.step) stored(kLds | dword, mask, store->known);
}

void SyncPoints::lds_read(const InstructionFacts& facts, const LaneAccess& access,
                          Learning& learning) {
  if (!means_.lds || !access.is_read) return;
  if (facts.polls)
    for_each_dword(access, [&](std::uint64_t dword, std::uint8_t mask) {
      make_flag(static_cast<std::uint32_t>(dword), mask);
    });
  const bool acquires = facts.lds_atomic && facts.acquires_word;
  if (!acquires && !has_flags_) return;
  for_each_dword(access, [&](std::uint64_t dword, std::uint8_t mask) {
    if (acquires || flags_[dword]) acquire(kLds | dword, mask, learning);
  });
}

void SyncPoints::lds_access(const InstructionFacts& facts, const LaneAccess& access,
                            std::uint64_t changed_lanes, unsigned wave, std::uint32_t step,
                            std::uint32_t lds_completed, Learning& learning) {
  if (!means_.lds) return;
  lds_read(facts, access, learning);
  const bool plain_store = access.is_write && !facts.lds_atomic;
  if (!access.is_write || changed_lanes == 0) return;
  const bool unlocks = plain_store && gives_lock_back(access, wave);
  if (plain_store && !unlocks && !means_.lds_polls) {
    // A wave that reads it with an atomic learns nothing from it.
    if (!words_.empty())
      for_each_dword(access, [&](std::uint64_t dword, std::uint8_t mask) {
        if (words_.contains(kLds | dword)) stored(kLds | dword, mask, 0);
      });
    return;
  }
  const std::uint32_t known =
      release(wave, lds_completed, plain_store ? last_lds_atomic_[wave] : step);
  if (plain_store) {
    auto& stores = lds_stores_[wave];
    if (stores.empty() || stores.back().step != step) stores.push_back({step, known});
  }
  for_each_dword(access, changed_lanes, [&](std::uint64_t dword, std::uint8_t mask) {
    if (access.is_atomic)
      changed(kLds | dword, mask, known);
    else if (facts.lds_atomic || flags_[dword])
      stored(kLds | dword, mask, known);
    else if (words_.contains(kLds | dword))
      stored(kLds | dword, mask, 0);
  });
}

// A lock that is taken by an atomic may be released by a plain store: compilers emit one for an
// atomic store to LDS. The word is a flag from then on.
bool SyncPoints::gives_lock_back(const LaneAccess& access, unsigned wave) {
  bool gives = false;
  if (lock_holders_.empty()) return gives;
  for_each_dword(access, [&](std::uint64_t dword, std::uint8_t mask) {
    const auto at = lock_holders_.find(static_cast<std::uint32_t>(dword));
    if (at == lock_holders_.end()) return;
    if (at->second == wave && mask == 0xf) {
      make_flag(at->first, mask);
      gives = true;
    }
    lock_holders_.erase(at);
  });
  return gives;
}

// A wave that takes a lock writes a different value and receives the old one. A wave that finds it
// taken changes nothing.
void SyncPoints::lds_lock(const InstructionFacts& facts, const LaneAccess& access,
                          const Wave& wave) {
  if (!means_.lds || !access.is_atomic || facts.form.path != MemoryForm::Path::ds) return;
  const bool may_take = facts.acquires_word && (facts.compares || facts.swaps);
  std::uint64_t changed = lanes_that_change(facts, access, wave);
  if (facts.swaps) changed &= ~lanes_as_in_memory(access, wave, facts.use.sources[1].first);
  for_each_dword(access, changed, [&](std::uint64_t dword, std::uint8_t) {
    if (may_take)
      lock_holders_[static_cast<std::uint32_t>(dword)] = wave.index_in_group;
    else
      lock_holders_.erase(static_cast<std::uint32_t>(dword));
  });
}

// ---- Global memory --------------------------------------------------------------------------

// A wave that sees the access's value knows the access itself, even before it is complete: it gets
// its own segment.
void SyncPoints::before_release(unsigned wave, std::uint32_t lds_completed) {
  Knowledge& known = known_.emplace_back(order_.release(wave, lds_completed));
  known.issued[wave] = order_.segment(wave);
}

SyncGraph::Vertex SyncPoints::global_access(const InstructionFacts& facts, const LaneAccess& access,
                                            std::uint64_t changed_lanes, unsigned wave,
                                            Learning& learning) {
  if (facts.acquires_word && access.is_read)
    for_each_dword(access, [&](std::uint64_t dword, std::uint8_t mask) {
      acquire(dword, mask, learning);
      if (graph_ == nullptr || !facts.agent_scope) return;
      graph_->acquired(graph_->at(4 * dword), order_.workgroup(), wave);
      learning.seen = graph_->join(learning.seen, graph_->at(4 * dword));
    });
  if (!facts.releases_word || !access.is_write || changed_lanes == 0) return 0;
  const auto known = static_cast<std::uint32_t>(known_.size() - 1);
  const bool between = graph_ != nullptr && facts.agent_scope;
  const SyncGraph::Vertex vertex = between ? order_.publish(wave, known_[known]) : 0;
  order_.end_segment(wave);
  for_each_dword(access, changed_lanes, [&](std::uint64_t dword, std::uint8_t mask) {
    if (access.is_atomic)
      changed(dword, mask, known);
    else
      stored(dword, mask, known);
    if (graph_ == nullptr) return;
    if (access.is_atomic)
      graph_->changed(4 * dword, vertex);
    else
      graph_->stored(4 * dword, vertex);
  });
  return vertex;
}

// Modelled as an atomic on a word that every workgroup changes before any of them reads it.
void SyncPoints::reach_grid_barrier(unsigned wave) {
  const SyncGraph::Vertex vertex = order_.publish(wave, known_.back());
  order_.end_segment(wave);
  ++grid_barriers_;
  graph_->changed(grid_barrier(), vertex);
}

void SyncPoints::leave_grid_barrier(unsigned wave) {
  const auto lock = graph_->lock();
  const SyncGraph::Vertex all = graph_->at(grid_barrier());
  graph_->acquired(all, order_.workgroup(), wave);
  order_.see(wave, all);
  // The device library's grid.sync() invalidates the caches before the barrier, not after (ROCm
  // device-libs, ockl/src/cg.cl); but it promises that the grid is synchronised.
  (void)order_.invalidate(wave);
}

void SyncPoints::learn(unsigned wave, Learning& learning) {
  for (const std::uint32_t known : learning.known)
    if (known != 0) order_.acquire(wave, known_[known]);
  if (learning.seen != 0) order_.see(wave, learning.seen);
  learning_ -= !learning.known.empty();
  learning.clear();
  if (learning_ == 0 && known_.size() > collect_at_) collect();
}

}  // namespace margay::check
