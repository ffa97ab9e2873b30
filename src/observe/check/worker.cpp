#include "observe/check/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/row_table.h"

namespace margay::check {
namespace {

using Path = MemoryForm::Path;

/// So many instructions of a wave may miss its scratch before it is stopped.
constexpr std::uint32_t kMostMissedScratch = 256;

std::uint32_t wave_count(const LaunchRequest& request) {
  return static_cast<std::uint32_t>((request.block.count() + kWaveLanes - 1) / kWaveLanes);
}

std::uint32_t lds_bytes(const LaunchRequest& request) {
  return request.kernel->descriptor.group_segment_fixed_size + request.dynamic_lds_bytes;
}

/// What each lane of a store writes, as a number for Run::digest.
void digest_stores(const LaneAccess& access, const InstructionFacts& facts, const Wave& wave,
                   LaneDigests& out) {
  LdsOperation operation;
  operation.facts = &facts;
  operation.wave = &wave;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const auto value = stored_bytes(operation, lane);
    out[lane] = digest_of(access.at[lane], value.data(), access.bytes);
  }
}

/// An atomic that replaces what is in memory without looking at it.
bool is_swap(const InstructionFacts& facts) {
  const std::string_view name = facts.instruction->row->mnemonic;
  return name.contains("atomic_swap") || name.contains("wrxchg");
}

/// The first byte of a lane that has undefined bits.
unsigned first_byte(const LaneBits& bits, unsigned lane) {
  unsigned n = 0;
  while (n < 15 && bits.bytes[lane][n] == 0) ++n;
  return n;
}

}  // namespace

WorkerChecker::PerWave::PerWave(WorkerChecker& owner, std::uint32_t scratch_bytes_per_lane)
    : waits(owner.reporter_, owner.sites_, owner.waitcheck_),
      values(owner.reporter_, owner.launch_.request.kernel->descriptor.unified_vgpr_count(),
             scratch_bytes_per_lane, owner.launch_.request.kernel->descriptor.accum_offset()) {
  waits.on_complete = [this, &owner](Outstanding& flight) {
    if (flight.deferred != nullptr && owner.sync_.active()) owner.learn_late(flight);
    if (flight.learning.any()) owner.sync_.learn(wave->index_in_group, flight.learning);
    if (flight.deferred == nullptr) return;
    deliver(*wave, *flight.deferred);
    flight.deferred.reset();
  };
}

WorkerChecker::WorkerChecker(const Launch& launch)
    : launch_(launch),
      reporter_(launch.number, launch.program.kernel_name()),
      table_(launch.program.executable_range().first, launch.program.executable_range().second),
      bounds_(reporter_, launch.memory, launch.global, launch.host_rule, launch.request),
      lds_(lds_bytes(launch.request), wave_count(launch.request), reporter_),
      lds_values_(lds_bytes(launch.request)),
      sync_(launch.means, launch.graph, lds_),
      races_(reporter_, launch.memory),
      barriers_(reporter_),
      memcheck_(launch.config.has(Tool::memcheck)),
      racecheck_(launch.config.has(Tool::racecheck)),
      initcheck_(launch.config.has(Tool::initcheck)),
      synccheck_(launch.config.has(Tool::synccheck)),
      waitcheck_(launch.config.has(Tool::waitcheck)),
      lds_races_(racecheck_ || waitcheck_) {
  if (launch.config.adversarial) turns_.emplace(*launch.config.adversarial);
}

WorkerChecker::~WorkerChecker() { launch_.collect(take_results()); }

// ---- A workgroup's run ----------------------------------------------------------------------

void WorkerChecker::begin(Workgroup& group) {
  const auto waves = group.waves();
  while (waves_.size() < waves.size())
    waves_.push_back(std::make_unique<PerWave>(*this, group.state().scratch_bytes_per_lane));
  reporter_.begin_workgroup(group.id(), group.state().id);
  for (std::size_t n = 0; n < waves.size(); ++n) {
    PerWave& w = *waves_[n];
    w.wave = &waves[n];
    w.waits.begin(waves[n].index_in_group, launch_.request.kernel->descriptor.accum_offset());
    w.values.begin(waves[n].index_in_group, waves[n].exec());
    w.hazards.reset();
    w.since_barrier = w.missed_scratch = 0;
    w.write_backs.clear();
    w.invalidations.clear();
    w.stores_written_back = 0;
  }
  const auto id = static_cast<std::uint32_t>(group.id());
  sync_.begin_workgroup(id, static_cast<unsigned>(waves.size()));
  WaveOrder* const order = sync_.active() ? &sync_.order() : nullptr;
  lds_.begin_workgroup(order);
  if (initcheck_) lds_values_.begin_workgroup();
  races_.begin_workgroup(group.id(), order, sync_.graph() != nullptr);
  barriers_.begin_workgroup(group);
  if (turns_) turns_->begin_workgroup(group.id());
  barrier_sites_.clear();
  arriving_sites_.clear();
  global_written_in_ = 0;
  plain_stores_ = 0;
  host_written_.clear();
}

WorkgroupEnd WorkerChecker::run(Workgroup& group) {
  begin(group);
  const WorkgroupEnd end = group.run(*this);
  if (end == WorkgroupEnd::fault) note_failure(group);
  if (end == WorkgroupEnd::deadlock && synccheck_) barriers_.deadlock(group, table_);
  if (end == WorkgroupEnd::done && synccheck_) barriers_.end_workgroup();
  settle_barrier();
  meet_waves(group);
  races_.end_workgroup();
  if (launch_.show) launch_.show(reporter_.set());
  return end;
}

void WorkerChecker::note_failure(const Workgroup& group) {
  const Wave& wave = group.faulty();
  Finding f;
  f.tool = Tool::memcheck;
  f.kind = "launch-failed";
  f.launch = launch_.number;
  f.kernel = launch_.program.kernel_name();
  f.message = wave.error->what;
  f.accesses = {reporter_.access("stopped", table_.of(*wave.next).vaddr,
                                 static_cast<std::int32_t>(wave.index_in_group))};
  f.hint = wave.error->hint;
  failure_ = std::move(f);
  failed_workgroup_ = group.id();
}

WorkerResults WorkerChecker::take_results() {
  WorkerResults results;
  results.findings = std::move(reporter_.set());
  results.runs = races_.take_runs();
  results.undefined_stores = std::move(undefined_stores_);
  results.host_written = std::move(host_written_all_);
  results.failure = std::move(failure_);
  results.failed_workgroup = failed_workgroup_;
  for (const InstructionFacts* const facts : table_.sites())
    results.sites.push_back({facts->vaddr, facts->action == Action::barrier,
                             facts->action == Action::fence, sites_.of(facts->site)});
  std::vector<std::uint64_t> places;
  for (const InstructionFacts* const facts : table_.sites()) {
    if (facts->site >= places.size()) places.resize(facts->site + 1);
    places[facts->site] = facts->vaddr;
  }
  for (auto& one : release_credits_) one.vaddr = places[one.credit.site];
  results.release_credits = std::move(release_credits_);
  return results;
}

const Instruction* WorkerChecker::step(Wave& wave, const Instruction& i) {
  if (i.row == nullptr) return i.execute(wave, i);  // stops the wave with a sentence
  PerWave& w = *waves_[wave.index_in_group];
  InstructionFacts* facts = &table_.of(i);
  const std::uint32_t run = matrix_run_length(i);
  for (std::uint32_t n = 1;; ++n) {
    registers(w, *facts, wave);
    if (n >= run) break;
    facts = &table_.of((&i)[n]);
  }
  switch (facts->action) {
    case Action::memory:
      return memory(w, *facts, wave);
    case Action::wait:
      w.waits.wait(*facts);
      if (facts->wait.vm == 0 && sync_.active()) sync_.order().written_back(wave.index_in_group);
      if (wave.stop == WaveStop::fault) return nullptr;  // a late result
      break;
    case Action::barrier:
      ++sites_.of(facts->site).executions;
      arriving_sites_.push_back(facts->site);
      barriers_.arrive(*facts, wave);
      break;
    case Action::end:
      w.waits.drain();
      if (wave.stop == WaveStop::fault) return nullptr;
      barriers_.end(*facts, wave);
      break;
    case Action::fence:
      fence(w, *facts, wave.index_in_group);
      break;
    case Action::none:
    case Action::matrix:
      break;
  }
  return i.execute(wave, i);
}

void WorkerChecker::fence(PerWave& w, const InstructionFacts& facts, unsigned wave) {
  ++sites_.of(facts.site).executions;
  if (facts.writes_back) w.waits.release();
  if (!sync_.active()) return;
  if (facts.writes_back) {
    sync_.order().write_back(wave);
    w.write_backs.ran(facts.site,
                      std::exchange(w.stores_written_back, plain_stores_) != plain_stores_);
  }
  if (facts.invalidates) w.invalidations.ran(facts.site, sync_.order().invalidate(wave));
}

void WorkerChecker::settle_barrier() {
  const LdsShadow::Need need = lds_.take_barrier_need();
  if (!need.needed && !need.sole) return;
  for (const std::uint32_t site : barrier_sites_) {
    ++sites_.of(site).helped;
    sites_.of(site).ordered += need.sole;
  }
  for (auto& w : waves_) w->waits.barrier_was_needed(need.sole);
}

void WorkerChecker::meet_waves(Workgroup& group) {
  races_.compare_waves();
  if (!sync_.active()) return;
  Clock lds_completed{};
  for (unsigned n = 0; n < group.waves().size() && n < kMaxWaves; ++n) {
    WaitTracker& waits = waves_[n]->waits;
    lds_completed[n] = waits.lds_completed();
    races_.settle(n, waits.vm_completed());
  }
  sync_.barrier(lds_completed);
}

void WorkerChecker::barrier_opens(Workgroup& group) {
  settle_barrier();
  barrier_sites_.swap(arriving_sites_);
  arriving_sites_.clear();
  if (turns_)
    for (auto& w : waves_) perform_stores(*w);
  meet_waves(group);
  races_.end_phase();
  lds_.open_barrier();
  for (std::size_t n = 0; n < group.waves().size(); ++n) {
    PerWave& w = *waves_[n];
    w.waits.open_barrier();
    w.since_barrier = 0;
    // What is still in flight has not been ordered by this barrier.
    w.waits.for_each_lds_in_flight([&](Outstanding& flight) {
      LdsOperation o;
      o.facts = flight.facts;
      o.wave = &group.waves()[n];
      o.step = flight.lds_step;
      o.atomic = flight.facts->lds_atomic;
      o.carried = true;
      for (unsigned k = 0; k < flight.lds_count; ++k) {
        const OutstandingLds& lds = flight.lds[k];
        o.direct = lds.direct;
        o.second = lds.second;
        if (!lds_races_) continue;
        if (lds.is_write)
          lds_.write(o, lds.at, lds.active, lds.bytes);
        else
          lds_.read(o, lds.at, lds.active, lds.bytes);
      }
    });
  }
}

// ---- Registers ------------------------------------------------------------------------------

void WorkerChecker::registers(PerWave& w, InstructionFacts& facts, Wave& wave) {
  ++w.since_barrier;
  if (waitcheck_) {
    if (const auto hazard = w.hazards.step(*facts.instruction, facts.hazard, facts.memo))
      report_hazard(*hazard, facts, wave);
  }
  const VgprMask& waiting = w.waits.attention();
  const VgprMask& unwritten = w.values.attention();
  std::uint64_t in_flight = 0, never_written = 0;
  for (std::size_t n = 0; n < facts.touched.size(); ++n) {
    in_flight |= facts.touched[n] & waiting[n];
    never_written |= facts.touched[n] & unwritten[n];
  }
  never_written |= facts.scalar_touched[0] & w.values.scalar_attention()[0];
  never_written |= facts.scalar_touched[1] & w.values.scalar_attention()[1];
  in_flight |= facts.scalar_touched[0] & w.waits.scalar_attention()[0];
  in_flight |= facts.scalar_touched[1] & w.waits.scalar_attention()[1];
  if (in_flight != 0) [[unlikely]]
    w.waits.touch(facts, wave.exec());
  never_written |= static_cast<std::uint64_t>(facts.moves_registers) |
                   static_cast<std::uint64_t>(w.values.scc_undefined());
  if (never_written != 0 && initcheck_) [[unlikely]]
    w.values.follow(facts, wave);
  if (barriers_.watches(wave.index_in_group) && synccheck_) [[unlikely]] {
    // Registers are also moved, and spilled, for lanes that are off.
    if (facts.form.path != Path::none && facts.form.path != Path::scalar &&
        facts.form.path != Path::scratch)
      barriers_.watch(facts, wave);
  }
}

void WorkerChecker::report_hazard(const Hazard& hazard, const InstructionFacts& facts,
                                  const Wave& wave) {
  constexpr std::string_view kKind = "missing-wait-states";
  if (reporter_.repeat(Tool::waitcheck, kKind, facts.vaddr, hazard.producer->vaddr)) return;
  Finding f;
  f.tool = Tool::waitcheck;
  f.kind = kKind;
  const std::string name =
      hazard.row == kNoHazardRow
          ? std::string("the hardware register")
          : register_name(hazard.row, launch_.request.kernel->descriptor.accum_offset());
  f.message =
      fmt::format("{} is used {} wait state{} too early: {} needs {} between, there {} {}", name,
                  hazard.needed - hazard.had, hazard.needed - hazard.had == 1 ? "" : "s",
                  hazard.rule, hazard.needed, hazard.had == 1 ? "is" : "are", hazard.had);
  const auto index = static_cast<std::int32_t>(wave.index_in_group);
  f.accesses = {reporter_.access("use", facts.vaddr, index),
                reporter_.access("result of", hazard.producer->vaddr, index)};
  f.fix = Fix::wait_states;
  f.cause = hazard.rule;
  if (hazard.is_tolerated) {
    f.severity = Severity::note;
    f.detail.emplace_back(
        "LLVM pads this; shipped kernels do without it and are right on the hardware");
  }
  reporter_.add(std::move(f));
}

// ---- Memory ---------------------------------------------------------------------------------

const Instruction* WorkerChecker::memory(PerWave& w, InstructionFacts& facts, Wave& wave) {
  const std::uint64_t exec = wave.exec();
  LaneAccesses accesses;
  lane_accesses(wave, *facts.instruction, facts.form, accesses);
  std::uint64_t outside = 0;
  // Lanes outside LDS touch nothing; a launch that is not checked for it goes on just so.
  for (std::uint32_t n = 0; n < accesses.count; ++n) {
    if (!memcheck_ && accesses.access[n].space != MemorySpace::lds) continue;
    const std::uint64_t missed = bounds_.outside(accesses.access[n], facts, wave);
    outside |= missed;
    // A stack that has overflowed holds no return addresses: the wave would never end. The
    // instruction itself stops it.
    if (missed != 0 && accesses.access[n].space == MemorySpace::scratch &&
        ++w.missed_scratch > kMostMissedScratch)
      return facts.instruction->execute(wave, *facts.instruction);
  }
  Outstanding& flight = w.waits.issue(facts, exec);
  // Nobody else may come between what the instruction does and what is noted of it.
  std::unique_lock<std::recursive_mutex> lock;
  if (sync_.graph() != nullptr && sync_.syncs(facts)) lock = sync_.graph()->lock();
  if (facts.form.path == Path::scalar) {
    if (outside != 0) {  // reads 0, as far as one can say
      for (std::uint32_t n = 0; n < kScalarRegisters; ++n)
        if (contains(facts.use.scalar_writes, n)) wave.s[n] = 0;
      return facts.instruction + 1;
    }
    for (std::uint32_t n = 0; n < accesses.count; ++n)
      scalar_access(w, facts, accesses.access[n], flight);
    return execute(w, facts, wave, flight);
  }
  bool second = false;
  direct_bits_.lanes = 0;
  for (std::uint32_t n = 0; n < accesses.count; ++n) {
    LaneAccess& access = accesses.access[n];
    access.active &= ~outside;
    if (access.active == 0) continue;
    switch (access.space) {
      case MemorySpace::lds:
        lds_access(w, facts, wave, access, flight, second);
        second = facts.form.path == Path::ds_two;
        break;
      case MemorySpace::global:
        global_access(w, facts, wave, access, flight);
        break;
      case MemorySpace::scratch:
        if (initcheck_) w.values.scratch_access(facts, access);
        break;
    }
  }
  if (outside == 0) return execute(w, facts, wave, flight);
  if ((exec & ~outside) == 0) {
    zero_results(facts, wave, exec);
    return facts.instruction + 1;
  }
  wave.set_exec(exec & ~outside);
  const Instruction* const next = execute(w, facts, wave, flight);
  wave.set_exec(exec);
  zero_results(facts, wave, exec & outside);
  return next;
}

const Instruction* WorkerChecker::execute(PerWave& w, const InstructionFacts& facts, Wave& wave,
                                          Outstanding& flight) {
  const Instruction& i = *facts.instruction;
  if (!turns_) return i.execute(wave, i);
  const bool global = facts.counters.vm && !facts.form.to_lds;
  if (global) perform_stores(w);
  flight.deferred = defer(wave, i, facts.use);
  const bool is_store = global && facts.use.destination.count == 0;
  const bool late = facts.form.to_lds || is_store || !(global || facts.form.path == Path::scalar);
  if (!late) perform(wave, *flight.deferred);
  return wave.stop == WaveStop::fault ? nullptr : &i + 1;
}

void WorkerChecker::perform_stores(PerWave& w) {
  w.waits.for_each_in_order([&](Outstanding& flight) {
    if (flight.deferred == nullptr || flight.deferred->performed) return;
    if (flight.facts->counters.vm && !flight.facts->form.to_lds) perform(*w.wave, *flight.deferred);
  });
}

// What the read finds is what stands in LDS now.
void WorkerChecker::learn_late(Outstanding& flight) {
  for (unsigned k = 0; k < flight.lds_count; ++k) {
    const OutstandingLds& lds = flight.lds[k];
    LaneAccess access;
    access.space = MemorySpace::lds;
    access.is_atomic = flight.facts->form.is_atomic;
    access.is_read = !lds.is_write || access.is_atomic;
    access.bytes = lds.bytes;
    access.active = lds.active;
    std::copy(std::begin(lds.at), std::end(lds.at), std::begin(access.at));
    sync_.lds_read(*flight.facts, access, flight.learning);
  }
}

void WorkerChecker::zero_results(const InstructionFacts& facts, Wave& wave,
                                 std::uint64_t lanes) const {
  if (facts.form.is_write && !facts.form.is_atomic) return;
  for (unsigned n = 0; n < facts.use.destination.count; ++n) {
    std::uint32_t* const row = wave.row(facts.use.destination.first + n);
    for (std::uint64_t rest = lanes; rest != 0; rest &= rest - 1) row[std::countr_zero(rest)] = 0;
  }
}

// ---- LDS ------------------------------------------------------------------------------------

void WorkerChecker::lds_access(PerWave& w, const InstructionFacts& facts, Wave& wave,
                               const LaneAccess& access, Outstanding& flight, bool second) {
  if (!second) w.waits.note_lds_step(flight, w.since_barrier);
  lds_.direct_completed[wave.index_in_group] = w.waits.direct_completed();
  LdsOperation o;
  o.facts = &facts;
  o.wave = &wave;
  o.step = flight.lds_step;
  o.phase_step = w.since_barrier;
  o.atomic = facts.lds_atomic;
  o.direct = access.to_lds;
  o.second = second;
  if (flight.lds_count < 2) {
    OutstandingLds& lds = flight.lds[flight.lds_count++];
    std::copy(std::begin(access.at), std::end(access.at), std::begin(lds.at));
    lds.active = access.active;
    lds.bytes = static_cast<std::uint8_t>(access.bytes);
    lds.is_write = access.is_write;
    lds.direct = access.to_lds;
    lds.second = second;
  }
  if (lds_races_ && sync_.active()) {
    if (access.is_write) races_.settle(wave.index_in_group, w.waits.vm_completed());
    sync_.lds_access(facts, access, wave.index_in_group, o.step, w.waits.lds_completed(),
                     flight.learning);
  }
  if (access.is_read && !access.is_atomic && lds_races_)
    lds_.read(o, access.at, access.active, access.bytes);
  if (access.is_write && lds_races_) lds_.write(o, access.at, access.active, access.bytes);
  if (initcheck_) note_lds_values(w, facts, access, second);
}

void WorkerChecker::note_lds_values(PerWave& w, const InstructionFacts& facts,
                                    const LaneAccess& access, bool second) {
  LaneBits bits;
  const bool swaps = access.is_atomic && is_swap(facts);
  if (access.is_read && lds_values_.read(access.at, access.active, access.bytes, bits)) {
    const auto lane = static_cast<unsigned>(std::countr_zero(bits.lanes));
    const Origin origin{.kind = Origin::Kind::lds,
                        .lane = static_cast<std::uint8_t>(lane),
                        .vaddr = facts.vaddr,
                        .address = access.at[lane] + first_byte(bits, lane)};
    // One fault, one finding: what an atomic has been told of counts as written.
    if (access.is_atomic && !swaps)
      w.values.atomic_on(facts, origin);
    else
      w.values.loaded(facts, access, bits, second ? std::max(1u, access.bytes / 4u) : 0, origin);
  }
  if (!access.is_write) return;
  lds_values_.write(access.at, access.active, access.bytes);
  if (access.is_atomic) return;
  if (access.to_lds) {
    direct_bits_.lanes &= access.active;
    return lds_values_.write_undefined(access.at, direct_bits_, access.bytes);
  }
  if (w.values.stored_bits(facts, second ? 1 : 0, access, bits))
    lds_values_.write_undefined(access.at, bits, access.bytes);
}

// ---- Global ---------------------------------------------------------------------------------

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

SyncGraph::Vertex WorkerChecker::follow_global(PerWave& w, const InstructionFacts& facts,
                                               const Wave& wave, const LaneAccess& access,
                                               Outstanding& flight) {
  LaneDigests digests;
  if (facts.form.path == Path::scalar)
    digests[0] = 0;
  else if (access.is_write && !access.is_atomic)
    digest_stores(access, facts, wave, digests);
  if (access.is_read && global_written_in_ != 0 && global_written_in_ != lds_.phase())
    lds_.need_barrier(global_written_in_);
  const unsigned index = wave.index_in_group;
  const bool syncs = sync_.syncs(facts);
  if (syncs && facts.releases_word) {
    races_.settle(index, w.waits.vm_completed());
    sync_.before_release(index, w.waits.lds_completed());
  }
  races_.access(access, facts, index, w.since_barrier, digests, flight.serial);
  // A wave that polls, say.
  if (races_.many_pending(index)) races_.settle(index, w.waits.vm_completed());
  if (access.is_write) global_written_in_ = lds_.phase();
  if (!facts.agent_scope) {
    if (access.is_write) ++plain_stores_;
    // What it may not find in a cache.
    if (access.is_read && w.invalidations.any()) {
      sites_.needed(w.invalidations.credit());
      w.invalidations.clear();
    }
  }
  return syncs ? sync_.global_access(facts, access, index, flight.learning) : 0;
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
  // What an atomic makes of an unwritten value is one too, except that a swap does not look at it.
  // So every workgroup that does it is found, not only the one that came first.
  if (access.is_atomic && !is_swap(facts)) return;
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
  // One for each instruction and allocation: a lane's neighbours may lie in another one.
  const WrittenMap* const map = written_map(range.begin);
  for (UndefinedStore& known : undefined_stores_) {
    if (known.access.vaddr != facts.vaddr || map == nullptr ||
        !map->range().contains(known.range.begin, 1))
      continue;
    known.range.begin = std::min(known.range.begin, range.begin);
    known.range.end = std::max(known.range.end, range.end);
    known.told |= stored.told;
    known.computed |= stored.computed;
    return;
  }
  UndefinedStore& fresh = undefined_stores_.emplace_back();
  fresh.range = range;
  fresh.told = stored.told;
  fresh.computed = stored.computed;
  fresh.access = reporter_.access("store", facts.vaddr, kNoNumber);
  if (stored.origin != nullptr)
    fresh.read = reporter_.access("read", stored.origin->vaddr, kNoNumber, stored.origin->lane);
}

bool WorkerChecker::written_by_host(WrittenMap& map, const InstructionFacts& facts,
                                    std::uint64_t address, unsigned lane) {
  if (std::ranges::find(host_written_, &map) != host_written_.end()) return true;
  const std::uint64_t found = map.written_by_host(launch_.number);
  if (found == 0) return false;
  host_written_.push_back(&map);
  if (std::ranges::find(host_written_all_, map.range()) == host_written_all_.end())
    host_written_all_.push_back(map.range());
  constexpr std::string_view kKind = "host-write";
  if (reporter_.repeat(Tool::initcheck, kKind, facts.vaddr)) return true;
  Finding f;
  f.tool = Tool::initcheck;
  f.kind = kKind;
  f.message = fmt::format(
      "device memory of {} bytes is read at {:#x} that the host has filled through its pointer, "
      "without hipMemcpy",
      map.range().end - map.range().begin, address);
  f.accesses = {reporter_.access("read", facts.vaddr,
                                 static_cast<std::int32_t>(waves_[0]->wave->index_in_group),
                                 static_cast<std::int32_t>(lane))};
  f.detail.push_back(
      fmt::format("the first byte that only the host can have written is at {:#x}", found));
  f.hint =
      "the host cannot write memory of hipMalloc on every device: it faults there. Copy with "
      "hipMemcpy, or allocate with hipMallocManaged or hipHostMalloc";
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
  } else if (!access.is_atomic || is_swap(facts)) {
    w.values.loaded(facts, access, bits, 0, origin);
  } else {
    for (std::uint64_t rest = bits.lanes; rest != 0; rest &= rest - 1)
      written_map(access.at[std::countr_zero(rest)])->changed_unwritten();
    w.values.atomic_on(facts, origin);
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
