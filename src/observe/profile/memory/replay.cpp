#include "observe/profile/memory/replay.h"

#include <algorithm>
#include <array>
#include <bit>

namespace margay::profile {
namespace {

/// CUs of an XCD's shader engines: 10, 10, 9 and 9 of an MI300X's 38. Workgroups go to the engines
/// in turn, so the first ones have more: else of one workgroup for each CU, as persistent kernels
/// have, the last one would wait for another to end, which no measurement of such kernels shows.
std::uint32_t first_cu(const Gpu& gpu, std::uint32_t engine) {
  const std::uint32_t engines = gpu.shader_engines_per_xcd;
  return engine * (gpu.cus_per_xcd / engines) + std::min(engine, gpu.cus_per_xcd % engines);
}

/// On an MI300X 18 SQCs are shared by two CUs, two serve one: 40 CUs are built, 38 are used.
std::uint32_t sqc_of(const Gpu& gpu, std::uint32_t cu) {
  const std::uint32_t shared = gpu.cus_per_xcd - gpu.sqcs_per_xcd;
  return cu < 2 * shared ? cu / 2 : cu - shared;
}

Cache l2_of(const Caches& caches) {
  return {caches.l2_bytes(), kLineBytes, caches.l2_ways, Cache::Index::hashed};
}

/// The 64-byte halves that `quarters` are in: bit 0 the lower one.
unsigned halves(std::uint8_t quarters) {
  return ((quarters & 3) != 0 ? 1u : 0u) | ((quarters & 12) != 0 ? 2u : 0u);
}

bool is_atomic(const MemoryEvent& event) {
  return event.kind == MemoryEvent::Kind::vector_atomic ||
         event.kind == MemoryEvent::Kind::scalar_atomic;
}

}  // namespace

Xcd::Xcd(std::uint32_t index, const ReplayPlan& plan, const TensorLines& tensors)
    : index_(index),
      plan_(plan),
      tensor_lines_(tensors),
      keeps_streams_(plan.warm),
      next_(index),
      cus_(plan.gpu->cus_per_xcd),
      scalar_caches_(plan.gpu->sqcs_per_xcd),
      l2_(l2_of(plan.gpu->arch().caches)),
      sites_(plan.sites),
      by_tensor_(tensors.size()),
      lines_read_(tensors.unnamed()),
      sectors_written_(tensors.unnamed()) {
  skip_uncounted();
}

void Xcd::equip(ComputeUnit& cu) {
  if (cu.vector_cache) return;
  const Caches& caches = plan_.gpu->arch().caches;
  cu.vector_cache.emplace(caches.vector_bytes / kLineBytes);
  std::optional<Cache>& scalar =
      scalar_caches_[sqc_of(*plan_.gpu, static_cast<std::uint32_t>(&cu - cus_.data()))];
  if (!scalar) scalar.emplace(caches.scalar_bytes, kScalarLineBytes, caches.scalar_ways);
}

Xcd::ComputeUnit* Xcd::free_cu() {
  const Gpu& gpu = *plan_.gpu;
  // Engines take turns, but one whose units all have more than another's is passed over: AMD's
  // patent US 11941723 (dynamic dispatch) has workgroups go by what the engines have free. Else
  // twice as many workgroups as compute units would leave some with three, since engines do not
  // have the same number of units.
  ComputeUnit* best = nullptr;
  std::uint32_t of_best = 0;
  for (std::uint32_t n = 0; n < gpu.shader_engines_per_xcd; ++n) {
    const std::uint32_t engine = (next_engine_ + n) % gpu.shader_engines_per_xcd;
    for (std::uint32_t cu = first_cu(gpu, engine); cu < first_cu(gpu, engine + 1); ++cu)
      if (cus_[cu].resident < plan_.workgroups_per_cu &&
          (best == nullptr || cus_[cu].resident < best->resident)) {
        best = &cus_[cu];
        of_best = engine;
      }
  }
  if (best != nullptr) next_engine_ = (of_best + 1) % gpu.shader_engines_per_xcd;
  return best;
}

void Xcd::place(std::unique_ptr<MemoryStream> stream, ComputeUnit& cu) {
  std::uint32_t slot;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(residents_.size());
    residents_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  const std::uint64_t first = stream->events.empty() ? stream->steps : stream->events[0].step;
  running_.push({now_ + first, stream->workgroup, slot});
  residents_[slot] = {std::move(stream), 0, now_, static_cast<std::uint32_t>(&cu - cus_.data())};
  equip(cu);
  ++cu.resident;
  // A probe accesses little of it.
  if (placed_++ == 0 && plan_.workgroups > 1) l2_.allocate_pages();
  next_ = residents_[slot].stream->workgroup + plan_.gpu->xcds;
  skip_uncounted();
}

template <typename Take>
void Xcd::advance(Take&& take, bool launch_has_ended) {
  while (true) {
    while (next_ < plan_.workgroups) {
      const std::uint32_t engine = next_engine_;
      ComputeUnit* const cu = free_cu();
      if (cu == nullptr) break;
      auto stream = take(next_);
      if (stream == nullptr) next_engine_ = engine;
      if (stream == nullptr && !launch_has_ended) return;
      if (stream == nullptr) {
        next_ = plan_.workgroups;
        break;
      }
      place(std::move(stream), *cu);
    }
    if (running_.empty()) return;
    next_event();
  }
}

void Xcd::next_event() {
  const Turn turn = running_.top();
  running_.pop();
  now_ = turn.step;
  Resident& r = residents_[turn.slot];
  const auto& events = r.stream->events;
  if (r.next < events.size()) {
    // All events of one step at once: the queue dominates the cost.
    const std::uint32_t step = events[r.next].step;
    while (r.next < events.size() && events[r.next].step == step) perform(r, events[r.next++]);
    const std::uint32_t after = r.next < events.size() ? events[r.next].step : r.stream->steps;
    running_.push({r.begin + std::max(after, step), turn.workgroup, turn.slot});
    return;
  }
  --cus_[r.cu].resident;
  if (r.stream->recording != nullptr) record(r.cu, r.stream->recording);
  if (keeps_streams_) kept_.push_back(std::move(r.stream));
  r.stream.reset();
  free_slots_.push_back(turn.slot);
}

// When there are too many, half of the workgroups of a launch have to go: those with a large
// number, by which they are spread evenly over the launch whatever the period in which their work
// changes. Of a sample the later ones go, so that those of a compute unit follow each other.
void Xcd::record(std::uint32_t cu, std::shared_ptr<timing::WorkgroupRecording> workgroup) {
  const auto number = [this](const timing::WorkgroupRecording& one) {
    return one.id / plan_.gpu->xcds * kGoldenRatio;
  };
  const auto instructions = [](const timing::WorkgroupRecording& one) {
    return static_cast<std::uint64_t>(timing::instructions_of(one));
  };
  if (number(*workgroup) > recorded_below_) return;
  recorded_instructions_ += instructions(*workgroup);
  recorded_.push_back({cu, std::move(workgroup)});
  const auto is_too_much = [this] {
    return recorded_instructions_ > kMostRecorded && recorded_.size() > 1;
  };
  if (is_too_much() && !plan_.sample.all()) return recorded_.pop_back();
  while (is_too_much()) {
    recorded_below_ /= 2;
    std::erase_if(recorded_, [&](const RecordedWorkgroup& one) {
      if (number(*one.workgroup) <= recorded_below_) return false;
      recorded_instructions_ -= instructions(*one.workgroup);
      return true;
    });
  }
}

void Xcd::perform(const Resident& resident, const MemoryEvent& event) {
  const MemoryStream& stream = *resident.stream;
  const std::uint32_t cu = resident.cu;
  l2_lines_ = far_lines_ = 0;
  awaited_ = timing::Level::vector_cache;
  begin_ = resident.begin;
  std::array<std::uint16_t, timing::kVectorCacheBanks> bank_lines{};
  for (std::uint32_t n = 0; n < event.run_count; ++n) {
    const LineRun& run = stream.runs[event.first_run + n];
    std::uint64_t line = run.line;
    for (std::uint32_t k = 0; k < run.count; ++k) {
      switch (event.kind) {
        case MemoryEvent::Kind::vector_read: {
          const std::uint16_t before = l2_lines_;
          read_line(line, event, cu);
          bank_lines[line % bank_lines.size()] += l2_lines_ - before;
          break;
        }
        case MemoryEvent::Kind::scalar_read:
          read_scalar(line, run.quarters, event, cu);
          break;
        case MemoryEvent::Kind::scalar_write:
        case MemoryEvent::Kind::scalar_atomic:
          write_scalar(line, run.quarters, event, cu);
          break;
        default:
          write_line(line, run.quarters, event, cu);
          break;
      }
      line += static_cast<std::uint64_t>(run.stride);
    }
  }
  if (event.work == MemoryEvent::kUntimed) return;
  timing::MemoryWork& work = stream.recording->waves[event.wave].memory[event.work];
  work.l2_lines = static_cast<std::uint16_t>(work.l2_lines + l2_lines_);
  work.far_lines = static_cast<std::uint16_t>(work.far_lines + far_lines_);
  const auto banked = std::ranges::max(bank_lines);
  work.bank_lines = static_cast<std::uint8_t>(std::min(work.bank_lines + banked, 255));
  work.argument_lines |= event.argument_lines;
  work.awaited = std::max(work.awaited, awaited_);
}

void Xcd::meet(const Arrival& arrival, const MemoryEvent& event) {
  if (arrival.is_on_its_way(event, begin_, now_)) awaited_ = std::max(awaited_, arrival.from);
}

void Xcd::note_read(std::size_t tensor, std::uint64_t line) {
  if (tensor != tensor_lines_.unnamed())
    lines_read_[tensor].add(tensor_lines_.number_of(tensor, line));
}

void Xcd::read_line(std::uint64_t line, const MemoryEvent& event, std::uint32_t cu) {
  LineCache& cache = *cus_[cu].vector_cache;
  Arrival* arrival = nullptr;
  if (event.bypasses_l1) {
    cache.drop(line);
  } else {
    if (const Arrival* const earlier = cache.find(line)) return meet(*earlier, event);
    arrival = &cache.insert(line);
  }
  const std::size_t tensor = tensor_lines_.of_line(line);
  note_read(tensor, line);
  ++counters_[Counter::TCP_TCC_READ_REQ_sum];
  ++counters_[Counter::TCP_TCC_RW_READ_REQ_sum];
  ++sites_[event.site].l2_reads;
  ++by_tensor_[tensor].l2_reads;
  const timing::Level from = l2_read(line, kLineBytes, event, by_tensor_[tensor]);
  if (arrival != nullptr) *arrival = Arrival::of(event, now_, from);
}

void Xcd::write_line(std::uint64_t line, std::uint8_t quarters, const MemoryEvent& event,
                     std::uint32_t cu) {
  using enum Counter;
  const bool atomic = is_atomic(event);
  // vL1D writes through; a cached line is updated, an atomic's is invalidated.
  if (atomic) cus_[cu].vector_cache->drop(line);
  const std::size_t tensor = tensor_lines_.of_line(line);
  const unsigned sectors = halves(quarters);
  for (unsigned half = 0; half < 2; ++half) {
    if ((sectors >> half & 1) == 0) continue;
    if (atomic) {
      ++counters_[event.returns_value ? TCP_TCC_ATOMIC_WITH_RET_REQ_sum
                                      : TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum];
      ++counters_[TCP_TCC_RW_ATOMIC_REQ_sum];
    } else {
      ++counters_[TCP_TCC_WRITE_REQ_sum];
      ++counters_[TCP_TCC_RW_WRITE_REQ_sum];
    }
    write_sector(line, tensor, half, quarters, event);
  }
}

void Xcd::write_sector(std::uint64_t line, std::size_t tensor, unsigned half, std::uint8_t quarters,
                       const MemoryEvent& event) {
  const bool atomic = is_atomic(event);
  ++counters_[atomic ? Counter::TCC_ATOMIC_sum : Counter::TCC_WRITE_sum];
  if (tensor != tensor_lines_.unnamed())
    sectors_written_[tensor].add(2 * tensor_lines_.number_of(tensor, line) + half);
  ++sites_[event.site].l2_writes;
  ++by_tensor_[tensor].l2_writes;
  const std::uint16_t missed = far_lines_;
  const auto part = static_cast<std::uint8_t>(quarters & (half == 0 ? 3 : 12));
  const bool makes_dirty = l2_write(line, part, sites_[event.site], by_tensor_[tensor]);
  // A line that was read, and is now written, has to go back to memory as one that missed.
  if (makes_dirty && !atomic && far_lines_ == missed) ++far_lines_;
}

void Xcd::read_scalar(std::uint64_t line, std::uint8_t quarters, const MemoryEvent& event,
                      std::uint32_t cu) {
  using enum Counter;
  Cache& cache = *scalar_caches_[sqc_of(*plan_.gpu, cu)];
  const unsigned sectors = halves(quarters);
  for (unsigned half = 0; half < 2; ++half) {
    if ((sectors >> half & 1) == 0) continue;
    const std::uint64_t scalar_line = 2 * line + half;
    Cache::Slot* slot = cache.find(scalar_line);
    if (slot != nullptr && !event.bypasses_l1) {
      ++counters_[SQC_DCACHE_HITS];
      meet(slot->arrival, event);
      continue;
    }
    if (slot == nullptr) slot = &cache.insert(scalar_line, [](const Cache::Slot&) {});
    Arrival& arrival = slot->arrival;
    ++counters_[SQC_DCACHE_MISSES];
    ++counters_[SQC_TC_DATA_READ_REQ];
    ++counters_[SQC_TC_REQ];
    if (event.argument_lines != 0) {
      read_uncached();
      arrival = {};  // when arguments come, the model of time knows
      continue;
    }
    const std::size_t tensor = tensor_lines_.of_line(line);
    note_read(tensor, line);
    const timing::Level from = l2_read(line, kScalarLineBytes, event, by_tensor_[tensor]);
    arrival = Arrival::of(event, now_, from);
  }
}

// sL1D holds what is written until s_dcache_wb; what it then combines is not counted here, where
// each write is a request to L2.
void Xcd::write_scalar(std::uint64_t line, std::uint8_t quarters, const MemoryEvent& event,
                       std::uint32_t cu) {
  using enum Counter;
  const bool atomic = is_atomic(event);
  Cache& cache = *scalar_caches_[sqc_of(*plan_.gpu, cu)];
  const std::size_t tensor = tensor_lines_.of_line(line);
  const unsigned sectors = halves(quarters);
  for (unsigned half = 0; half < 2; ++half) {
    if ((sectors >> half & 1) == 0) continue;
    if (atomic)
      if (Cache::Slot* const slot = cache.find(2 * line + half)) cache.drop(*slot);
    ++counters_[atomic ? SQC_TC_DATA_ATOMIC_REQ : SQC_TC_DATA_WRITE_REQ];
    ++counters_[SQC_TC_REQ];
    write_sector(line, tensor, half, quarters, event);
  }
}

void Xcd::read_uncached() {
  using enum Counter;
  for (const Counter c :
       {TCC_REQ_sum, TCC_UC_REQ_sum, TCC_READ_sum, TCC_MISS_sum, TCC_EA0_RDREQ_sum})
    ++counters_[c];
}

timing::Level Xcd::l2_read(std::uint64_t line, std::uint32_t bytes, const MemoryEvent& event,
                           ServedBy& tensor) {
  using enum Counter;
  ServedBy& site = sites_[event.site];
  ++counters_[TCC_REQ_sum];
  ++counters_[TCC_RW_REQ_sum];
  ++counters_[TCC_READ_sum];
  ++l2_lines_;
  if (const Cache::Slot* const slot = l2_.find(line)) {
    ++counters_[TCC_HIT_sum];
    ++site.l2_hits;
    ++tensor.l2_hits;
    if (!slot->arrival.is_on_its_way(event, begin_, now_)) return timing::Level::l2;
    awaited_ = timing::Level::memory;
    return timing::Level::memory;
  }
  ++counters_[TCC_MISS_sum];
  ++site.l2_misses;
  ++tensor.l2_misses;
  ++far_lines_;
  ++counters_[TCC_EA0_RDREQ_sum];
  ++counters_[TCC_EA0_RDREQ_DRAM_sum];
  if (bytes == kLineBytes) ++counters_[TCC_BUBBLE_sum];
  site.fabric_read_bytes += bytes;
  tensor.fabric_read_bytes += bytes;
  Cache::Slot& slot = l2_.insert(line, [this](const Cache::Slot& old) {
    ++counters_[Counter::TCC_NORMAL_EVICT_sum];
    if (old.dirty == 0) return;
    ++counters_[Counter::TCC_NORMAL_WRITEBACK_sum];
    write_back(old);
  });
  slot.arrival = Arrival::of(event, now_, timing::Level::memory);
  return timing::Level::memory;
}

bool Xcd::l2_write(std::uint64_t line, std::uint8_t quarters, ServedBy& site, ServedBy& tensor) {
  using enum Counter;
  ++counters_[TCC_REQ_sum];
  ++counters_[TCC_RW_REQ_sum];
  ++l2_lines_;
  Cache::Slot* slot = l2_.find(line);
  if (slot != nullptr) {
    ++counters_[TCC_HIT_sum];
    ++site.l2_hits;
    ++tensor.l2_hits;
  } else {
    ++counters_[TCC_MISS_sum];
    ++site.l2_misses;
    ++tensor.l2_misses;
    ++far_lines_;
    slot = &l2_.insert(line, [this](const Cache::Slot& old) {
      ++counters_[Counter::TCC_NORMAL_EVICT_sum];
      if (old.dirty == 0) return;
      ++counters_[Counter::TCC_NORMAL_WRITEBACK_sum];
      write_back(old);
    });
  }
  const bool was_clean = slot->dirty == 0;
  slot->dirty |= quarters;
  return was_clean;
}

void Xcd::write_back(const Cache::Slot& slot) {
  using enum Counter;
  ++counters_[TCC_WRITEBACK_sum];
  ServedBy& tensor = by_tensor_[tensor_lines_.of_line(slot.line)];
  for (unsigned half = 0; half < 2; ++half) {
    const int quarters = std::popcount(static_cast<unsigned>(slot.dirty >> (2 * half) & 3));
    if (quarters == 0) continue;
    ++counters_[TCC_EA0_WRREQ_sum];
    ++counters_[TCC_EA0_WRREQ_DRAM_sum];
    if (quarters == 2) ++counters_[TCC_EA0_WRREQ_64B_sum];
    tensor.fabric_written_bytes += static_cast<std::uint64_t>(quarters) * kLineBytes / 4;
  }
}

void Xcd::end_launch() {
  if (!any()) return;
  l2_.for_each([this](const Cache::Slot& slot) {
    if (slot.dirty == 0) return;
    ++counters_[Counter::TCC_ALL_TC_OP_WB_WRITEBACK_sum];
    write_back(slot);
  });
}

// Of a sample L2 has lines that the rest of the launch would have driven out.
bool Xcd::fits_l2() const {
  const auto all = static_cast<double>(plan_.workgroups) / plan_.gpu->xcds;
  if (all < static_cast<double>(placed_) + 1) return true;
  const double scale = all / static_cast<double>(std::max<std::uint64_t>(placed_, 1));
  double bytes = 0;
  for (std::size_t n = 0; n < lines_read_.size(); ++n) {
    const auto lines = static_cast<double>(lines_read_[n].count()) +
                       static_cast<double>(sectors_written_[n].count()) / 2;
    bytes += kLineBytes * std::min(lines * scale, static_cast<double>(tensor_lines_.lines(n)));
  }
  return bytes <= plan_.gpu->arch().caches.l2_bytes();
}

std::vector<std::unique_ptr<MemoryStream>> Xcd::begin_again() {
  keeps_streams_ = false;
  for (const auto& stream : kept_) {
    if (stream->recording == nullptr) continue;
    for (timing::WaveRecording& wave : stream->recording->waves)
      for (timing::MemoryWork& work : wave.memory) {
        work.l2_lines = work.far_lines = 0;
        work.bank_lines = 0;
        work.awaited = timing::Level::vector_cache;
      }
  }
  if (fits_l2())
    l2_.for_each([](Cache::Slot& slot) {
      slot.dirty = 0;
      slot.arrival = {};
    });
  else
    l2_.clear();
  std::ranges::fill(scalar_caches_, std::nullopt);
  for (ComputeUnit& cu : cus_) cu.vector_cache.reset();
  counters_ = {};
  sites_ = ServedSites(sites_.count());
  by_tensor_.assign(by_tensor_.size(), {});
  recorded_.clear();
  recorded_instructions_ = placed_ = now_ = 0;
  recorded_below_ = ~std::uint64_t{0};
  next_engine_ = 0;
  next_ = index_;
  skip_uncounted();
  return std::move(kept_);
}

XcdResults Xcd::take_results() {
  return {counters_,
          std::move(sites_),
          std::move(by_tensor_),
          std::move(lines_read_),
          std::move(sectors_written_),
          std::move(recorded_),
          sqcs_used()};
}

void Xcd::adopt(XcdResults results) {
  counters_ = results.counters;
  sites_ = std::move(results.sites);
  by_tensor_ = std::move(results.tensors);
  lines_read_ = std::move(results.lines_read);
  sectors_written_ = std::move(results.sectors_written);
  recorded_ = std::move(results.recorded);
  adopted_sqcs_ = results.sqcs_used;
}

std::uint32_t Xcd::sqcs_used() const {
  if (adopted_sqcs_) return *adopted_sqcs_;
  std::uint32_t used = 0;
  for (std::uint32_t cu = 0; cu < plan_.gpu->cus_per_xcd; ++cu)
    if (cus_[cu].vector_cache) used |= 1u << sqc_of(*plan_.gpu, cu);
  return static_cast<std::uint32_t>(std::popcount(used));
}

void Xcd::fetch_code(std::uint64_t fills) {
  using enum Counter;
  const std::uint64_t misses = sqcs_used() * fills;
  const std::uint64_t requests = misses * (kInstructionFillBytes / kSectorBytes);
  // The lines are misses in L2 for the first SQC that requests them.
  const std::uint64_t lines = misses == 0 ? 0 : fills * (kInstructionFillBytes / kLineBytes);
  counters_[SQC_ICACHE_MISSES] += misses;
  counters_[SQC_TC_INST_REQ] += requests;
  counters_[SQC_TC_REQ] += requests;
  counters_[TCC_REQ_sum] += requests;
  counters_[TCC_RW_REQ_sum] += requests;
  counters_[TCC_READ_sum] += requests;
  counters_[TCC_MISS_sum] += lines;
  counters_[TCC_HIT_sum] += requests - lines;
  counters_[TCC_EA0_RDREQ_sum] += lines;
  counters_[TCC_EA0_RDREQ_DRAM_sum] += lines;
}

Replay::Replay(const ReplayPlan& plan, const TensorLines& tensors)
    : plan_(plan), tensors_(tensors), inboxes_(plan.gpu->xcds) {
  for (std::uint32_t n = 0; n < plan.gpu->xcds; ++n)
    xcds_.push_back(std::make_unique<Xcd>(n, plan, tensors));
}

void Replay::deposit(std::unique_ptr<MemoryStream> stream) {
  const auto xcd = static_cast<std::uint32_t>(stream->workgroup % xcds_.size());
  {
    const std::lock_guard lock(inboxes_[xcd].mutex);
    inboxes_[xcd].streams.emplace(stream->workgroup, std::move(stream));
  }
  // Another thread that is replaying may already have looked for this stream; then the next
  // deposit, or finish(), continues.
  if (std::unique_lock lock(inboxes_[xcd].replaying, std::try_to_lock); lock) advance(xcd, false);
}

void Replay::advance(std::uint32_t xcd, bool launch_has_ended) {
  Inbox& inbox = inboxes_[xcd];
  const auto take = [&](std::uint64_t workgroup) -> std::unique_ptr<MemoryStream> {
    const std::lock_guard lock(inbox.mutex);
    const auto found =
        launch_has_ended ? inbox.streams.lower_bound(workgroup) : inbox.streams.find(workgroup);
    if (found == inbox.streams.end()) return nullptr;
    auto stream = std::move(found->second);
    inbox.streams.erase(found);
    return stream;
  };
  xcds_[xcd]->advance(take, launch_has_ended);
}

std::shared_ptr<timing::WorkgroupRecording> Replay::replay_alone(
    std::unique_ptr<MemoryStream> stream) const {
  ReplayPlan plan = plan_;
  plan.workgroups = 1;
  plan.sample = {};
  plan.warm = false;
  Xcd xcd(0, plan, tensors_);
  const std::shared_ptr<timing::WorkgroupRecording> recording = stream->recording;
  xcd.advance([&](std::uint64_t) { return std::move(stream); }, true);
  return recording;
}

void Replay::adopt(std::uint32_t xcd, XcdResults results) {
  const std::lock_guard lock(inboxes_[xcd].replaying);
  xcds_[xcd]->adopt(std::move(results));
}

void Replay::finish(std::uint64_t code_fills) {
  for (std::uint32_t n = 0; n < xcds_.size(); ++n) {
    const std::lock_guard lock(inboxes_[n].replaying);
    if (xcds_[n]->is_adopted()) {
      xcds_[n]->fetch_code(code_fills);
      continue;
    }
    advance(n, true);
    if (plan_.warm) {
      for (auto& stream : xcds_[n]->begin_again()) {
        const std::uint64_t workgroup = stream->workgroup;
        inboxes_[n].streams.emplace(workgroup, std::move(stream));
      }
      advance(n, true);
    }
    xcds_[n]->fetch_code(code_fills);
    xcds_[n]->end_launch();
  }
}

LineSet Replay::lines_read(std::size_t tensor) const {
  LineSet out;
  for (const auto& xcd : xcds_) out.add(xcd->lines_read()[tensor]);
  return out;
}

LineSet Replay::sectors_written(std::size_t tensor) const {
  LineSet out;
  for (const auto& xcd : xcds_) out.add(xcd->sectors_written()[tensor]);
  return out;
}

Touched Replay::touched(std::size_t tensor) const {
  Touched out;
  for (const auto& xcd : xcds_) {
    if (tensor >= xcd->lines_read().size()) return {};
    out.lines_read_by_xcds += xcd->lines_read()[tensor].count();
  }
  out.lines_read = lines_read(tensor).count();
  out.sectors_written = sectors_written(tensor).count();
  return out;
}

}  // namespace margay::profile
