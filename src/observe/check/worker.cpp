#include "observe/check/worker.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/rows/row_table.h"
#include "exec/workgroup/hostcall.h"
#include "exec/workgroup/launch_setup.h"
#include "report/check/hazard_text.h"

namespace margay::check {
namespace {

using Path = MemoryForm::Path;

/// The number of instructions of a wave that may miss its scratch before it is stopped.
constexpr std::uint32_t kMostMissedScratch = 256;

std::uint32_t wave_count(const LaunchRequest& request) {
  return static_cast<std::uint32_t>((request.block.count() + kWaveLanes - 1) / kWaveLanes);
}

std::uint32_t lds_bytes(const LaunchRequest& request) {
  return request.kernel->descriptor.group_segment_fixed_size + request.dynamic_lds_bytes;
}

}  // namespace

unsigned first_byte(const LaneBits& bits, unsigned lane) {
  unsigned n = 0;
  while (n < 15 && bits.bytes[lane][n] == 0) ++n;
  return n;
}

WorkerChecker::PerWave::PerWave(WorkerChecker& owner, std::uint32_t scratch_bytes_per_lane)
    : waits(owner.reporter_, owner.sites_, owner.waitcheck_),
      values(owner.reporter_, owner.launch_.request.kernel->descriptor.unified_vgpr_count(),
             scratch_bytes_per_lane, owner.launch_.request.kernel->descriptor.accum_offset()),
      hazards(owner.launch_.program.gpu().arch().wait_rules, owner.checked_paths_) {
  waits.on_complete = [this, &owner](Outstanding& flight) {
    if (flight.deferred != nullptr && owner.sync_.active()) owner.learn_late(flight);
    if (flight.learning.any()) owner.sync_.learn(wave->index_in_group, flight.learning);
    if (flight.deferred == nullptr) return;
    owner.make(*this, flight);
    deliver(*wave, *flight.deferred);
    flight.deferred.reset();
  };
  waits.on_lds_complete = [this, &owner](Outstanding& flight) { owner.make(*this, flight); };
}

WorkerChecker::WorkerChecker(const Launch& launch)
    : launch_(launch),
      reporter_(launch.number, launch.program.kernel_name()),
      facts_(launch.program.facts<InstructionFacts>()),
      bounds_(reporter_, launch.memory, launch.global, launch.host_rule, launch.request,
              launch.elsewhere),
      lds_(lds_bytes(launch.request), wave_count(launch.request), reporter_, launch.replicates),
      lds_values_(lds_bytes(launch.request)),
      sync_(launch.means, launch.graph, lds_),
      races_(reporter_, launch.memory, launch.replicates),
      barriers_(reporter_),
      global_phases_(launch.memory),
      memcheck_(launch.config.has(Tool::memcheck)),
      racecheck_(launch.config.has(Tool::racecheck)),
      initcheck_(launch.config.has(Tool::initcheck)),
      synccheck_(launch.config.has(Tool::synccheck)),
      waitcheck_(launch.config.has(Tool::waitcheck)),
      lds_races_(racecheck_ || waitcheck_) {
  if (launch.config.adversarial) {
    turns_.emplace(*launch.config.adversarial);
    lds_.keep_issued();
  }
  if (has_hidden_argument(*launch.request.kernel, ArgumentKind::hidden_hostcall_buffer))
    launch.memory.for_each_live([this](const Allocation& allocation) {
      if (allocation.label == HostcallBuffer::kLabel) host_calls_.push_back(allocation.range);
    });
}

WorkerChecker::~WorkerChecker() { launch_.collect(take_results()); }

// ---- A workgroup's run ----------------------------------------------------------------------

bool WorkerChecker::begin(Workgroup& group) {
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
    w.in_grid_barrier = false;
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
  global_phases_.begin_workgroup();
  plain_stores_ = 0;
  host_written_.clear();
  return true;
}

void WorkerChecker::end(Workgroup& group, WorkgroupEnd how) {
  if (how == WorkgroupEnd::fault) note_failure(group);
  if (how == WorkgroupEnd::deadlock && synccheck_) barriers_.deadlock(group);
  if (how == WorkgroupEnd::done && synccheck_) barriers_.end_workgroup();
  settle_barrier();
  meet_waves(group);
  races_.end_workgroup();
  if (launch_.show) launch_.show(reporter_.set());
}

void WorkerChecker::note_failure(const Workgroup& group) {
  const Wave& wave = group.faulty();
  Finding f;
  f.kind = FindingKind::launch_failed;
  f.launch = launch_.number;
  f.kernel = launch_.program.kernel_name();
  f.message = say<Says::text>(wave.error->what);
  f.accesses = {reporter_.access(Role::stopped, wave.next->vaddr,
                                 static_cast<std::int32_t>(wave.index_in_group))};
  if (!wave.error->hint.empty()) f.fix_arguments = {wave.error->hint};
  failure_ = std::move(f);
  failed_workgroup_ = group.id();
}

WorkerResults WorkerChecker::take_results() {
  WorkerResults results;
  results.findings = std::move(reporter_.set());
  results.runs = races_.take_runs();
  results.undefined_stores = std::move(undefined_stores_);
  results.moving = std::move(moving_);
  results.host_written = std::move(host_written_all_);
  results.host_arguments = bounds_.take_host_arguments();
  results.failure = std::move(failure_);
  results.failed_workgroup = failed_workgroup_;
  sites_.for_each([&](std::uint32_t number, const SiteCounts& counts) {
    const InstructionFacts& facts = facts_.numbered(number);
    results.sites.push_back(
        {facts.vaddr, facts.action == Action::barrier, facts.action == Action::fence, counts});
  });
  for (auto& one : release_credits_)
    if (one.credit.site != kNoSite) one.vaddr = facts_.numbered(one.credit.site).vaddr;
  results.release_credits = std::move(release_credits_);
  return results;
}

const Instruction* WorkerChecker::execute(const Executed& event) {
  Wave& wave = event.wave;
  PerWave& w = *waves_[wave.index_in_group];
  const InstructionFacts& facts = facts_.of(event.instruction);
  switch (facts.action) {
    case Action::memory:
      return memory(w, facts, event);
    case Action::wait:
      w.waits.wait(facts);
      if (facts.wait.vm == 0 && sync_.active()) sync_.order().written_back(wave.index_in_group);
      if (wave.stop == WaveStop::fault) return nullptr;  // a late result
      break;
    case Action::barrier:
      ++sites_.of(facts.number).executions;
      arriving_sites_.push_back(facts.number);
      barriers_.arrive(facts, wave);
      break;
    case Action::grid_barrier:
      reach_grid_barrier(w, wave.index_in_group);
      break;
    case Action::end:
      w.waits.drain();
      if (wave.stop == WaveStop::fault) return nullptr;
      barriers_.end(facts, wave);
      break;
    case Action::fence:
      fence(w, facts, wave.index_in_group);
      break;
    case Action::none:
    case Action::matrix:
      break;
  }
  return Watcher::execute(event);
}

void WorkerChecker::reach_grid_barrier(PerWave& w, unsigned wave) {
  if (turns_) perform_stores(w);
  w.waits.release();
  if (sync_.graph() == nullptr) return;
  const auto lock = sync_.graph()->lock();
  races_.settle(wave, w.waits.vm_completed());
  sync_.before_release(wave, w.waits.lds_completed());
  sync_.reach_grid_barrier(wave);
  w.in_grid_barrier = true;
}

void WorkerChecker::fence(PerWave& w, const InstructionFacts& facts, unsigned wave) {
  ++sites_.of(facts.number).executions;
  if (facts.writes_back) w.waits.release();
  if (!sync_.active()) return;
  if (facts.writes_back) {
    sync_.order().write_back(wave);
    w.write_backs.ran(facts.number,
                      std::exchange(w.stores_written_back, plain_stores_) != plain_stores_);
  }
  if (facts.invalidates) w.invalidations.ran(facts.number, sync_.order().invalidate(wave));
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
    // Instructions still in flight have not been ordered by this barrier.
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
        const LaneAccess access = access_of(flight, k);
        if (lds.is_write)
          lds_.write(o, access.at, access.active, access.bytes);
        else
          lds_.read(o, access.at, access.active, access.bytes);
      }
    });
  }
}

// ---- Registers ------------------------------------------------------------------------------

void WorkerChecker::reach(const Executed& event) {
  Wave& wave = event.wave;
  PerWave& w = *waves_[wave.index_in_group];
  const InstructionFacts& facts = facts_.of(event.instruction);
  ++w.since_barrier;
  if (w.in_grid_barrier) [[unlikely]] {
    w.in_grid_barrier = false;
    sync_.leave_grid_barrier(wave.index_in_group);
  }
  if (waitcheck_) {
    if (const auto hazard = w.hazards.step(event.instruction, facts.hazard, facts.memo))
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
  constexpr FindingKind kKind = FindingKind::missing_wait_states;
  if (reporter_.repeat(kKind, facts.vaddr, hazard.producer->vaddr)) return;
  Finding f;
  f.kind = kKind;
  const unsigned missing = hazard.needed - hazard.had;
  if (hazard.row == kNoHazardRow)
    f.message = say<Says::hardware_wait_states>(missing, hazard.hazard, hazard.needed, hazard.had);
  else
    f.message = say<Says::wait_states>(
        register_name(hazard.row, launch_.request.kernel->descriptor.accum_offset()), missing,
        hazard.hazard, hazard.needed, hazard.had);
  const auto index = static_cast<std::int32_t>(wave.index_in_group);
  f.accesses = {reporter_.access(Role::use, facts.vaddr, index),
                reporter_.access(Role::result_of, hazard.producer->vaddr, index)};
  f.fix = Fix::wait_states;
  f.cause = hazard_text(hazard.hazard);
  if (hazard.is_note()) f.severity = Severity::note;
  if (hazard.is_tolerated)
    f.detail = {say<Says::padded_needlessly>()};
  else if (hazard.is_compilers_count)
    f.detail = {say<Says::compilers_count>()};
  reporter_.add(std::move(f));
}

// ---- Memory ---------------------------------------------------------------------------------

// Lanes outside LDS access nothing; a launch that is not checked for it continues.
void WorkerChecker::admit(const Executed& event) {
  Wave& wave = event.wave;
  const InstructionFacts& facts = facts_.of(event.instruction);
  outside_ = 0;
  for (std::uint32_t n = 0; n < event.accesses.count; ++n) {
    LaneAccess& access = event.accesses.access[n];
    if (!memcheck_ && access.space != MemorySpace::lds) continue;
    const std::uint64_t missed = bounds_.outside(access, facts, wave);
    outside_ |= missed;
    // An overflowed stack has lost its return addresses: the wave would never end. The instruction
    // itself stops it.
    if (missed != 0 && access.space == MemorySpace::scratch &&
        ++waves_[wave.index_in_group]->missed_scratch > kMostMissedScratch) {
      (void)Watcher::execute(event);
      return;
    }
  }
  if (outside_ == 0) return;
  for (std::uint32_t n = 0; n < event.accesses.count; ++n)
    event.accesses.access[n].active &= ~outside_;
}

const Instruction* WorkerChecker::memory(PerWave& w, const InstructionFacts& facts,
                                         const Executed& event) {
  Wave& wave = event.wave;
  LaneAccesses& accesses = event.accesses;
  const std::uint64_t exec = wave.exec();
  const std::uint64_t outside = accesses.count == 0 ? 0 : outside_;
  const Instruction* const following = &event.instruction + 1;
  Outstanding& flight = w.waits.issue(facts, exec);
  // The instruction and its recording must be atomic.
  std::unique_lock<std::recursive_mutex> lock;
  if (sync_.graph() != nullptr && sync_.syncs(facts)) lock = sync_.graph()->lock();
  if (facts.form.path == Path::scalar) {
    if (outside != 0) {  // assumed to read 0
      for (std::uint32_t n = 0; n < kScalarRegisters; ++n)
        if (contains(facts.use.scalar_writes, n)) wave.s[n] = 0;
      return following;
    }
    for (std::uint32_t n = 0; n < accesses.count; ++n)
      if (accesses.access[n].active != 0) scalar_access(w, facts, accesses.access[n], flight);
    return run(w, event, flight);
  }
  bool second = false;
  direct_bits_.lanes = 0;
  for (std::uint32_t n = 0; n < accesses.count; ++n) {
    const LaneAccess& access = accesses.access[n];
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
  if (outside == 0) return run(w, event, flight);
  if ((exec & ~outside) == 0) {
    zero_results(facts, wave, exec);
    return following;
  }
  wave.set_exec(exec & ~outside);
  const Instruction* const next = run(w, event, flight);
  wave.set_exec(exec);
  zero_results(facts, wave, exec & outside);
  return next;
}

const Instruction* WorkerChecker::run(PerWave& w, const Executed& event, Outstanding& flight) {
  if (!turns_) return Watcher::execute(event);
  Wave& wave = event.wave;
  const Instruction& i = event.instruction;
  const InstructionFacts& facts = *flight.facts;
  const bool global = facts.counted.vm && !facts.form.to_lds;
  if (global) perform_stores(w);
  flight.deferred = defer(wave, i, facts.use);
  const bool is_store = global && facts.use.destination.count == 0;
  const bool late = facts.form.to_lds || is_store || !(global || facts.form.path == Path::scalar);
  if (!late) perform(wave, *flight.deferred);
  return wave.stop == WaveStop::fault ? nullptr : &i + 1;
}

// A deferred access is late, but it must happen: another wave may wait for it while the wave that
// issued it is at a barrier.
void WorkerChecker::time_passes() {
  if (!turns_) return;
  for (auto& w : waves_) w->waits.for_each_in_order([&](Outstanding& flight) { make(*w, flight); });
}

void WorkerChecker::make(PerWave& w, Outstanding& flight) {
  if (flight.deferred == nullptr || flight.deferred->performed) return;
  perform(*w.wave, *flight.deferred, [&] {
    if (!lds_races_ || !sync_.active()) return;
    for (unsigned k = 0; k < flight.lds_count; ++k)
      sync_.lds_lock(*flight.facts, access_of(flight, k), *w.wave);
  });
}

void WorkerChecker::perform_stores(PerWave& w) {
  w.waits.for_each_in_order([&](Outstanding& flight) {
    if (flight.facts->counted.vm && !flight.facts->form.to_lds) make(w, flight);
  });
}

LaneAccess WorkerChecker::access_of(const Outstanding& flight, unsigned number) {
  const OutstandingLds& lds = flight.lds[number];
  LaneAccess access;
  access.space = MemorySpace::lds;
  access.is_atomic = flight.facts->form.is_atomic;
  access.is_read = !lds.is_write || access.is_atomic;
  access.is_write = lds.is_write;
  access.bytes = lds.bytes;
  access.active = lds.active;
  std::copy(std::begin(lds.at), std::end(lds.at), std::begin(access.at));
  return access;
}

// The read returns the current contents of LDS.
void WorkerChecker::learn_late(Outstanding& flight) {
  for (unsigned k = 0; k < flight.lds_count; ++k)
    sync_.lds_read(*flight.facts, access_of(flight, k), flight.learning);
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
  if (facts.number >= stages_.size()) stages_.resize(facts.number + 1);
  if (stages_[facts.number].moves(wave.index_in_group, lds_.phase(), access))
    moving_.push_back(facts.vaddr);
  lds_.direct_completed[wave.index_in_group] = w.waits.direct_completed();
  LdsOperation o;
  o.facts = &facts;
  o.wave = &wave;
  o.step = flight.lds_step;
  o.phase_step = w.since_barrier;
  o.atomic = facts.lds_atomic;
  o.direct = access.to_lds;
  o.second = second;
  if (flight.lds == nullptr) flight.lds = std::make_unique_for_overwrite<OutstandingLds[]>(2);
  if (flight.lds_count < 2) {
    OutstandingLds& lds = flight.lds[flight.lds_count++];
    for (unsigned lane = 0; lane < kWaveLanes; ++lane)
      lds.at[lane] = static_cast<std::uint32_t>(access.at[lane]);
    lds.active = access.active;
    lds.bytes = static_cast<std::uint8_t>(access.bytes);
    lds.is_write = access.is_write;
    lds.direct = access.to_lds;
    lds.second = second;
  }
  if (lds_races_ && sync_.active()) {
    if (access.is_write) races_.settle(wave.index_in_group, w.waits.vm_completed());
    sync_.lds_access(facts, access, changed_lanes(facts, access, wave), wave.index_in_group, o.step,
                     w.waits.lds_completed(), flight.learning);
    if (!turns_) sync_.lds_lock(facts, access, wave);
  }
  if (access.is_read && !access.is_atomic && lds_races_) {
    if (w.waits.has_direct_completed() && lds_.has_own_direct(wave.index_in_group, access))
      w.waits.direct_was_read();
    lds_.read(o, access.at, access.active, access.bytes);
  }
  if (access.is_write && lds_races_) lds_.write(o, access.at, access.active, access.bytes);
  if (initcheck_) note_lds_values(w, facts, access, second);
}

void WorkerChecker::note_lds_values(PerWave& w, const InstructionFacts& facts,
                                    const LaneAccess& access, bool second) {
  LaneBits bits;
  const bool swaps = access.is_atomic && facts.swaps;
  if (access.is_read && lds_values_.read(access.at, access.active, access.bytes, bits)) {
    const auto lane = static_cast<unsigned>(std::countr_zero(bits.lanes));
    const Origin origin{.kind = Origin::Kind::lds,
                        .lane = static_cast<std::uint8_t>(lane),
                        .vaddr = facts.vaddr,
                        .address = access.at[lane] + first_byte(bits, lane)};
    // One fault, one finding: the bytes of a reported atomic count as written.
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

}  // namespace margay::check
