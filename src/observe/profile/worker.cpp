#include "observe/profile/worker.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace margay::profile {
namespace {

/// The cache address of scratch: above all host addresses that programs use.
constexpr std::uint64_t kScratchBase = 1ull << 46;

/// In grids of more workgroups the last ones are a small part of all, however long they are.
constexpr std::uint64_t kMostLengths = 1 << 18;

/// Instructions of a probe that is kept for the model of time, of some three dozen.
constexpr std::uint64_t kMostOfAProbe = 1'000'000;

std::uint64_t instructions_of(const Workgroup& group) {
  std::uint64_t sum = 0;
  for (const Wave& wave : group.waves()) sum += wave.instructions;
  return sum;
}

}  // namespace

Worker::Worker(const Launch& launch)
    : launch_(launch),
      facts_(launch.program.facts<InstructionFacts>()),
      first_vaddr_(launch.program.executable_range().first),
      tensors_(launch.tensor_lines.size()),
      tensor_(launch.tensor_lines),
      tensors_aside_(launch.tensor_lines.size()) {}

Worker::~Worker() {
  WorkerResults results;
  using enum Counter;
  for (std::uint32_t number = 0; number < sites_.size(); ++number) {
    const SiteCounts& site = sites_[number];
    if (site.executions == 0) continue;
    const InstructionFacts& facts = facts_.numbered(number);
    add_executions(facts, site.executions, site.active_lanes, counters_);
    if (site.lds != nullptr) {
      const LdsUse& use = site.lds->use();
      counters_[SQ_LDS_IDX_ACTIVE] += use.cycles;
      counters_[SQ_LDS_BANK_CONFLICT] += use.conflict_cycles;
      counters_[SQ_LDS_ADDR_CONFLICT] += use.address_cycles;
    }
    if (site.memory != nullptr) {
      const MemoryTraffic& memory = *site.memory;
      counters_[TCP_TOTAL_ACCESSES_sum] += memory.accesses;
      counters_[TCP_TOTAL_CACHE_ACCESSES_sum] += memory.tag_accesses;
      counters_[TCP_UTCL1_REQUEST_sum] += memory.tag_accesses;
      counters_[facts.form.is_atomic  ? (facts.returns_value ? TCP_TOTAL_ATOMIC_WITH_RET_sum
                                                             : TCP_TOTAL_ATOMIC_WITHOUT_RET_sum)
                : facts.form.is_write ? TCP_TOTAL_WRITE_sum
                                      : TCP_TOTAL_READ_sum] += memory.accesses;
    }
  }
  results.counters = counters_;
  results.sites = std::move(sites_);
  results.tensors = std::move(tensors_);
  results.maps = std::move(maps_);
  results.traces = std::move(traces_);
  results.lengths = std::move(lengths_);
  results.probes = std::move(probes_);
  launch_.collect(std::move(results));
}

// ---- A workgroup's run ----------------------------------------------------------------------

bool Worker::begin(Workgroup& group) {
  workgroup_ = group.id();
  probing_ = !launch_.sample.contains(workgroup_);
  if (probing_) {
    if (!std::ranges::binary_search(launch_.probes, workgroup_)) return false;
    swap_counts();
  }
  stream_ = std::make_unique<MemoryStream>();
  stream_->workgroup = workgroup_;
  if (launch_.timed) {
    stream_->recording = std::make_shared<timing::WorkgroupRecording>();
    stream_->recording->id = workgroup_;
    stream_->recording->waves.resize(group.waves().size());
  }
  const LaunchAddresses& addresses = group.addresses();
  arguments_ = {addresses.packet,
                addresses.arguments + group.request().kernel->descriptor.kernarg_size};
  first_argument_ = addresses.arguments;
  const std::uint64_t first = launch_.sample.first();
  mapping_ = launch_.map_first_workgroup && workgroup_ == first;
  const bool tracing = !probing_ && workgroup_ - first < launch_.traced_workgroups;
  waves_.assign(group.waves().size(), {});
  using enum Counter;
  std::uint64_t items = group.request().block.count();
  counters_[SQ_ITEMS] += items;
  counters_[SPI_CSN_NUM_THREADGROUPS] += 1;
  for (std::size_t n = 0; n < waves_.size(); ++n) {
    // The first fetch counts too, wherever the kernel begins.
    waves_[n].fetched = group.waves()[n].next->vaddr / kFetchBytes - 1;
    if (tracing) waves_[n].trace.emplace();
    const std::uint64_t lanes = std::min<std::uint64_t>(items, kWaveLanes);
    items -= lanes;
    counters_[SQ_WAVES] += 1;
    counters_[SPI_CSN_WAVE] += 1;
    // One for the packed work-item ids, two for user and system SGPRs; as on MI300X in vcopy.
    counters_[SPI_VWC_CSC_WR] += 1;
    counters_[SPI_SWC_CSC_WR] += 2;
    counters_[lanes == 64 ? SQ_WAVES_EQ_64 : SQ_WAVES_LT_64] += 1;
    if (lanes < 48) counters_[SQ_WAVES_LT_48] += 1;
    if (lanes < 32) counters_[SQ_WAVES_LT_32] += 1;
    if (lanes < 16) counters_[SQ_WAVES_LT_16] += 1;
  }
  return true;
}

void Worker::note_length(const Workgroup& group) {
  if (!launch_.timed || launch_.request.grid.count() > kMostLengths) return;
  lengths_.push_back({group.id(), instructions_of(group)});
}

void Worker::end(Workgroup& group, WorkgroupEnd) {
  note_length(group);
  if (probing_) {
    end_probe(instructions_of(group));
    return;
  }
  if (mapping_) maps_ = map_.maps(launch_.tensors);
  for (std::uint32_t n = 0; n < waves_.size(); ++n) {
    if (waves_[n].trace)
      traces_.push_back({{group.state().id[0], group.state().id[1], group.state().id[2]},
                         n,
                         launch_.number,
                         waves_[n].trace->slices()});
  }
  count_lines_once();
  sort_events();
  launch_.replay.deposit(std::move(stream_));
}

void Worker::end_probe(std::uint64_t instructions) {
  Probe& probe = probes_.emplace_back(probe_of(*stream_, launch_.tensor_lines));
  probe.instructions = instructions;
  sort_events();
  if (launch_.timed && instructions <= kMostOfAProbe)
    probe.recording = launch_.replay.replay_alone(std::move(stream_));
  swap_counts();
  stream_.reset();
}

void Worker::sort_events() {
  std::uint32_t steps = 0;
  for (const PerWave& w : waves_) steps = std::max(steps, w.step);
  stream_->steps = steps;
  // Within a step in the order of waves, within a wave in that of its runs.
  std::ranges::sort(stream_->events, {},
                    [](const MemoryEvent& e) { return std::tuple(e.step, e.wave, e.first_run); });
}

void Worker::swap_counts() {
  sites_.swap(sites_aside_);
  std::swap(counters_, counters_aside_);
  tensors_.swap(tensors_aside_);
}

void Worker::count_lines_once() {
  lines_.clear();
  for (const MemoryEvent& event : stream_->events) {
    if (event.kind != MemoryEvent::Kind::vector_read) continue;
    for (std::uint32_t n = 0; n < event.run_count; ++n) {
      const LineRun& run = stream_->runs[event.first_run + n];
      for (std::uint32_t k = 0; k < run.count; ++k) {
        const std::uint64_t line = run.line + static_cast<std::uint64_t>(run.stride * k);
        const TouchedLines::Added added = lines_.add(line, run.quarters);
        if (added.quarters == 0 && !added.line) continue;
        LaneTraffic& tensor = tensors_[tensor_.of_line(line)];
        tensor.workgroup_lines += added.line ? 1 : 0;
        tensor.workgroup_pieces += static_cast<std::uint64_t>(std::popcount(added.quarters));
      }
    }
  }
}

void Worker::barrier_opens(Workgroup&) {
  std::uint32_t step = 0;
  for (const PerWave& w : waves_) step = std::max(step, w.step);
  for (PerWave& w : waves_) {
    w.step = step;
    if (w.trace) w.trace->barrier_opens(step);
  }
}

// ---- Instructions ---------------------------------------------------------------------------

void Worker::count(PerWave& w, const InstructionFacts& facts, const Wave& wave) {
  SiteCounts& site = site_of(facts);
  ++site.executions;
  site.active_lanes += static_cast<std::uint64_t>(std::popcount(wave.exec()));
  const std::uint64_t last = (facts.vaddr + facts.bytes - 1u) / kFetchBytes;
  counters_[Counter::SQ_IFETCH] += last - w.fetched;
  w.fetched = last;
  if (w.trace) [[unlikely]]
    w.trace->issue(facts, w.step, slot_of(facts));
}

void Worker::issue(const Executed& event) {
  PerWave& w = waves_[event.wave.index_in_group];
  const InstructionFacts& facts = facts_.of(event.instruction);
  count(w, facts, event.wave);
  if (stream_->recording != nullptr) [[unlikely]] {
    timing::WaveRecording& wave = stream_->recording->waves[event.wave.index_in_group];
    wave.instructions.push_back(facts.number);
    if (facts.timed.has_work) wave.memory.emplace_back();
  }
  if (facts.action == Action::lds)
    lds(w, facts, event);
  else if (facts.action == Action::vector_memory)
    vector_memory(w, facts, event);
  else if (facts.action == Action::scalar_memory)
    scalar_memory(w, facts, event);
  w.step += facts.quad_cycles;
}

// A branch target is fetched anew.
void Worker::jump(const Wave& wave, const Instruction& next) {
  waves_[wave.index_in_group].fetched = next.vaddr / kFetchBytes - 1;
}

timing::MemoryWork* Worker::work_of(const PerWave& w) {
  if (stream_->recording == nullptr) return nullptr;
  return &stream_->recording->waves[static_cast<std::size_t>(&w - waves_.data())].memory.back();
}

void Worker::lds(const PerWave& w, const InstructionFacts& facts, const Executed& event) {
  const LaneAccesses& accesses = event.accesses;
  if (accesses.count == 0) return;
  const LaneAccess* const second =
      facts.form.path == MemoryForm::Path::ds_two ? &accesses.access[1] : nullptr;
  lds_access(w, facts, accesses.access[0], second, site_of(facts));
  if (mapping_)
    for (std::uint32_t n = 0; n < accesses.count; ++n)
      map_.record(event.wave.index_in_group, accesses.access[n]);
}

void Worker::lds_access(const PerWave& w, const InstructionFacts& facts, const LaneAccess& access,
                        const LaneAccess* second, SiteCounts& site) {
  if (site.lds == nullptr) site.lds = std::make_unique<LdsPatterns>();
  LdsAccess lds;
  lds.at[0] = access.at;
  lds.active = access.active;
  lds.bytes = access.bytes;
  lds.is_write = access.is_write;
  lds.is_atomic = facts.form.is_atomic;
  // Equal offsets make one access.
  const std::int64_t offset =
      second == nullptr ? 0 : static_cast<std::int64_t>(second->at[0] - access.at[0]);
  timing::MemoryWork* const work = work_of(w);
  if (work == nullptr) return site.lds->add(lds, offset);
  const LdsUse& use = site.lds->use();
  const std::uint64_t cycles = use.cycles;
  const std::uint64_t conflicts = use.conflict_cycles + use.address_cycles;
  site.lds->add(lds, offset);
  work->cycles = static_cast<std::uint16_t>(work->cycles + use.cycles - cycles);
  work->conflicts = static_cast<std::uint16_t>(work->conflicts + use.conflict_cycles +
                                               use.address_cycles - conflicts);
}

void Worker::add_event(PerWave& w, const InstructionFacts& facts, const Coalesced& coalesced,
                       MemoryEvent::Kind kind) {
  if (coalesced.runs.empty()) return;
  MemoryEvent event;
  event.step = w.step;
  event.site = slot_of(facts);
  event.first_run = static_cast<std::uint32_t>(stream_->runs.size());
  event.run_count = static_cast<std::uint16_t>(coalesced.runs.size());
  event.kind = kind;
  event.wave = static_cast<std::uint8_t>(&w - waves_.data());
  event.bypasses_l1 = facts.bypasses_l1;
  event.returns_value = facts.returns_value;
  if (stream_->recording != nullptr)
    event.work =
        static_cast<std::uint32_t>(stream_->recording->waves[event.wave].memory.size() - 1);
  stream_->runs.insert(stream_->runs.end(), coalesced.runs.begin(), coalesced.runs.end());
  stream_->events.push_back(event);
}

// The caches use other addresses than the host, so that accesses are translated.
void Worker::vector_memory(PerWave& w, const InstructionFacts& facts, const Executed& event) {
  SiteCounts& site = site_of(facts);
  for (std::uint32_t n = 0; n < event.accesses.count; ++n) {
    const LaneAccess& access = event.accesses.access[n];
    if (mapping_) map_.record(event.wave.index_in_group, access);
    if (access.space == MemorySpace::lds) {
      // The LDS half of a direct load does not pass the indexed path, whose cycles are counted.
      if (!access.to_lds) lds_access(w, facts, access, nullptr, site);
      continue;
    }
    LaneAccess placed = access;
    if (access.space == MemorySpace::scratch)
      place_scratch(event.wave, placed);
    else
      place_global(placed);
    global_access(w, facts, placed, site);
  }
}

void Worker::global_access(PerWave& w, const InstructionFacts& facts, const LaneAccess& access,
                           SiteCounts& site) {
  if (site.memory == nullptr) site.memory = std::make_unique<MemoryTraffic>();
  MemoryTraffic& memory = *site.memory;
  if (site.coalescer == nullptr) site.coalescer = std::make_unique<Coalescer>();
  const Coalesced& coalesced = (*site.coalescer)(access);
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(std::popcount(access.active)) * access.bytes;
  memory.lane_bytes += bytes;
  memory.accesses += coalesced.thread_requests;
  memory.tag_accesses += coalesced.tag_accesses;
  memory.sector_bytes += std::uint64_t{coalesced.sectors} * kSectorBytes;
  memory.least_sector_bytes += std::uint64_t{coalesced.least_sectors} * kSectorBytes;
  memory.misaligned_sector_bytes += std::uint64_t{coalesced.misaligned_sectors} * kSectorBytes;
  memory.inactive_sector_bytes += std::uint64_t{coalesced.inactive_sectors} * kSectorBytes;
  memory.least_tag_accesses += coalesced.least_tag_accesses;
  const std::uint64_t cycles =
      std::max<std::uint64_t>(coalesced.lookup_cycles, bytes / vector_cache_bytes());
  memory.lookup_cycles += cycles;
  if (timing::MemoryWork* const work = work_of(w))
    work->cycles = static_cast<std::uint16_t>(work->cycles + cycles);
  if (access.active == 0) return;
  const std::size_t number = tensor_.of_address(access.at[std::countr_zero(access.active)]);
  if (site.tensor != number)
    site.tensor = site.tensor == SiteCounts::kNoTensor ? number : SiteCounts::kSeveral;
  LaneTraffic& tensor = tensors_[number];
  if (facts.form.is_read) tensor.read_bytes += bytes;
  if (facts.form.is_write) tensor.written_bytes += bytes;
  add_event(w, facts, coalesced,
            facts.form.is_atomic  ? MemoryEvent::Kind::vector_atomic
            : facts.form.is_write ? MemoryEvent::Kind::vector_write
                                  : MemoryEvent::Kind::vector_read);
}

std::uint8_t Worker::argument_lines(std::uint64_t address, std::uint32_t bytes) const {
  if (!arguments_.contains(address, 1)) return 0;
  if (address < first_argument_) return 1;
  constexpr std::uint64_t kLast = 7;
  const auto line = [&](std::uint64_t at) {
    return std::min(1 + at / kScalarLineBytes - first_argument_ / kScalarLineBytes, kLast);
  };
  unsigned out = 0;
  for (std::uint64_t n = line(address); n <= line(address + bytes - 1); ++n) out |= 1u << n;
  return static_cast<std::uint8_t>(out);
}

void Worker::scalar_memory(PerWave& w, const InstructionFacts& facts, const Executed& event) {
  for (std::uint32_t n = 0; n < event.accesses.count; ++n) {
    LaneAccess access = event.accesses.access[n];
    if (access.active == 0) continue;  // beyond a buffer's end
    const std::uint8_t arguments = argument_lines(access.at[0], access.bytes);
    place_global(access);
    coalesce(access, scalar_);
    if (scalar_.runs.empty()) continue;
    add_event(w, facts, scalar_,
              access.is_atomic  ? MemoryEvent::Kind::scalar_atomic
              : access.is_write ? MemoryEvent::Kind::scalar_write
                                : MemoryEvent::Kind::scalar_read);
    stream_->events.back().argument_lines = arguments;
  }
}

void Worker::place_global(LaneAccess& access) {
  if (access.active == ~0ull) {  // the usual case, without a branch per lane
    std::uint64_t first = ~0ull, last = 0;
    for (const std::uint64_t at : access.at) {
      first = at < first ? at : first;
      last = at > last ? at : last;
    }
    if (piece_.contains(first) && piece_.contains(last)) {
      for (std::uint64_t& at : access.at) at += piece_.shift;
      return;
    }
  }
  constexpr std::size_t kKept = 32;  // a kernel works on a few tensors
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    std::uint64_t& at = access.at[std::countr_zero(rest)];
    if (!piece_.contains(at)) [[unlikely]] {
      const auto known =
          std::ranges::find_if(pieces_, [at](const auto& piece) { return piece.contains(at); });
      piece_ = known != pieces_.end() ? *known : launch_.addresses.piece_of(at);
      if (known == pieces_.end() && pieces_.size() < kKept) pieces_.push_back(piece_);
    }
    at += piece_.shift;
  }
}

void Worker::place_scratch(const Wave& wave, LaneAccess& access) const {
  // Dwords of a wave's lanes are adjacent; a workgroup reuses the range of one that ended.
  const std::uint64_t wave_bytes =
      std::uint64_t{(wave.group->scratch_bytes_per_lane + 3u) & ~3u} * kWaveLanes;
  const std::uint64_t wave_slot =
      workgroup_ % launch_.resident_workgroups * waves_.size() + wave.index_in_group;
  const std::uint64_t base = kScratchBase + wave_slot * wave_bytes;
  for (unsigned lane = 0; lane < kWaveLanes; ++lane)
    access.at[lane] =
        base + access.at[lane] / 4 * (4 * kWaveLanes) + 4ull * lane + access.at[lane] % 4;
}

}  // namespace margay::profile
