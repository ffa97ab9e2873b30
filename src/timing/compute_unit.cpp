#include "timing/compute_unit.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "timing/coalescing.h"
#include "timing/servers.h"
#include "timing/turns.h"
#include "timing/wave_waits.h"

namespace margay::timing {
namespace {

/// Accesses in flight that one counter counts. In order: each completes no earlier than the one
/// before. Scalar loads do not keep the order, and are sorted in.
class Outstanding {
 public:
  struct Access {
    double done = 0;
    std::uint32_t site = 0;  ///< Whose it is.
    bool is_on_scoreboard = false;
  };

  /// When it will be done.
  double add(double done, bool in_order, std::uint32_t site, bool is_on_scoreboard) {
    if (in_order && !accesses_.empty()) done = std::max(done, last_);
    if (in_order) last_ = done;
    accesses_.insert(std::ranges::upper_bound(accesses_, done, {}, &Access::done),
                     {done, site, is_on_scoreboard});
    return done;
  }
  /// The one after which at most `left` are in flight, of those that are not on the scoreboard;
  /// null if no more are.
  [[nodiscard]] const Access* last_before(std::size_t left) const {
    for (std::size_t n = accesses_.size(); n > left; --n)
      if (!accesses_[n - left - 1].is_on_scoreboard) return &accesses_[n - left - 1];
    return nullptr;
  }
  /// When at most `left` are in flight, wherever they are waited for.
  [[nodiscard]] double reaches(std::size_t left) const {
    return accesses_.size() <= left ? 0 : accesses_[accesses_.size() - left - 1].done;
  }
  void forget_until(double now) {
    while (!accesses_.empty() && accesses_.front().done <= now) accesses_.pop_front();
  }

 private:
  std::deque<Access> accesses_;
  double last_ = 0;
};

struct Wave {
  const WaveRecording* recording = nullptr;
  std::size_t place = 0;  ///< Of its workgroup in the recording.
  std::uint32_t simd = 0, priority = 0;
  std::uint64_t age = 0;
  std::size_t next = 0, next_memory = 0;
  double begin = 0;
  double since = 0;  ///< The instruction could issue, but for what it waits for.
  FetchBuffer code;
  double code_comes = 0;  ///< Of the next instruction.
  Outstanding vm, lgkm;
  double scalars_written = 0;  ///< When the VALU will have written all SGPRs that it writes.
  // With Change::loads_ahead:
  std::vector<double> issued;         ///< When, by number; below 0: not yet.
  double barrier = -1;                ///< When the last one opened.
  std::array<double, 2> intervals{};  ///< Between the last three.
  // With Change::waits_at_use:
  Scoreboard scoreboard;
  double before_barrier = 0;    ///< What was to be waited for before others may write to LDS.
  bool passed_barrier = false;  ///< With Change::half_the_barriers: the last one was not there.
  std::array<double, kStalls> stalls{};  ///< Of the next instruction,
  bool has_stalled = false;              ///< if there are any.
  std::uint32_t number = 0;              ///< In its workgroup.
  std::unique_ptr<WaveTimelineRecorder> timeline;
};

IssueClass issue_class(Unit unit) {
  switch (unit) {
    case Unit::matrix:
      return IssueClass::matrix;
    case Unit::transcendental:
    case Unit::packed:
      return IssueClass::alone;
    default:
      return IssueClass::ordinary;
  }
}

struct Simd {
  double valu = 0, matrix = 0, scalar = 0, branch = 0, lds = 0, vector_memory = 0,
         scalar_memory = 0;
  /// When the VALU may issue after a matrix instruction: packed f32 and dot products, and others.
  double packed_may = 0, vector_may = 0;
  std::uint32_t waves = 0;
};

class ComputeUnit {
 public:
  ComputeUnit(const ComputeUnitRecording& cu, std::span<const Instruction> instructions,
              const Occupants& occupants, const Gpu& gpu, const Parameters& p, const Share& share,
              const Change& change, const Watch& watch)
      : cu_(cu),
        instructions_(instructions),
        gpu_(gpu),
        p_(p),
        share_(share),
        change_(change),
        infinity_cache_hits_(left(share.infinity_cache_hits, change)),
        infinity_cache_ready_(left(share.infinity_cache_ready, change)),
        resident_(occupants.resident),
        timeline_(watch.timeline),
        simds_(gpu.arch().cu.simds),
        lds_send_(simds_.size() / 2),
        lds_return_(simds_.size() / 2),
        groups_(occupants.workgroups != 0 ? occupants.workgroups : cu.workgroups.size()),
        writes_scalars_(instructions.size()) {
    out_.sites.resize(instructions.size());
    out_.workgroup_begin.resize(groups_.size());
    out_.workgroup_end.resize(groups_.size());
    for (std::size_t n = 0; n < instructions.size(); ++n)
      writes_scalars_[n] =
          instructions[n].registers != nullptr && has_scalars(instructions[n].registers->writes);
    std::size_t waves = 0;
    for (std::size_t place = 0; place < groups_.size(); ++place)
      waves += cu_.workgroups[place % cu_.workgroups.size()]->waves.size();
    waves_.reserve(waves);
    if (watch.latencies) latencies_.emplace(simds_.size(), out_.sites);
    for (std::uint32_t n = 0; n < resident_; ++n) begin_next(0);
  }

  ComputeUnitTime run() {
    while (!ready_.empty()) {
      const Turn turn = ready_.take();
      now_ = std::max(now_, turn.time());
      take(turn.wave(), turn.time());
    }
    out_.cycles = drained_;
    for (const double end : out_.workgroup_end) out_.cycles = std::max(out_.cycles, end);
    if (latencies_) {
      latencies_->finish(out_.cycles);
      out_.simds = latencies_->time();
      out_.lives = std::move(latencies_->lives());
    }
    out_.busy.lds = lds_.busy;
    out_.busy.vector_cache = vector_cache_.busy;
    out_.busy.l2 = l2_.busy;
    out_.busy.fabric = fabric_.busy();
    out_.busy.memory = memory_.busy();
    return std::move(out_);
  }

 private:
  struct Group {
    std::uint32_t waves = 0, ended = 0, arrived = 0;
    std::vector<std::uint32_t> waiting;
  };

  // ---- Workgroups and waves -----------------------------------------------------------------

  void begin_next(double at) {
    if (next_group_ == groups_.size()) return;
    const std::size_t place = next_group_++;
    Group& group = groups_[place];
    const WorkgroupRecording& recording = *cu_.workgroups[place % cu_.workgroups.size()];
    group.waves = static_cast<std::uint32_t>(recording.waves.size());
    // The XCD's dispatcher serves its compute units in turn.
    at = std::max(at, dispatcher_);
    // The first wave misses L1I; those that begin meanwhile wait for the same line.
    if (place == 0 && !share_.code_is_warm) code_comes_ = at + p_.wave_start + p_.cold_code;
    dispatcher_ =
        at + p_.dispatch_cycles(group.waves) / change_.dispatch_speed * share_.active_cus_per_xcd;
    out_.workgroup_begin[place] = at;
    // Waves i and i + 4 share a SIMD; the first goes to the one with the fewest.
    const auto least = std::ranges::min_element(simds_, {}, &Simd::waves);
    auto simd = static_cast<std::uint32_t>(least - simds_.begin());
    for (std::uint32_t n = 0; n < group.waves; ++n) {
      Wave wave;
      wave.recording = &recording.waves[n];
      wave.place = place;
      wave.number = n;
      if (timeline_ != nullptr && place < timeline_->workgroups)
        wave.timeline = std::make_unique<WaveTimelineRecorder>();
      wave.simd = simd;
      wave.age = waves_.size();
      wave.begin = std::max(at + p_.wave_start, code_comes_);
      wave.since = wave.begin;
      ++simds_[simd].waves;
      simd = (simd + 1) % simds_.size();
      waves_.push_back(std::move(wave));
      const auto index = static_cast<std::uint32_t>(waves_.size() - 1);
      if (waves_.back().recording->instructions.empty())
        end_wave(index, waves_.back().begin);
      else
        push(index, waves_.back().begin);
    }
  }
  void push(std::uint32_t index, double time) {
    const Wave& wave = waves_[index];
    // A SIMD prefers its oldest wave; what SIMDs share serves who came first.
    const Unit unit = at(wave).unit;
    const bool is_shared = unit == Unit::lds || unit == Unit::vector_memory;
    ready_.add({time, wave.priority, issue_class(unit),
                is_shared ? wave.since : static_cast<double>(wave.age), index});
  }
  void end_wave(std::uint32_t index, double at) {
    Wave& wave = waves_[index];
    --simds_[wave.simd].waves;
    if (latencies_ && !wave.recording->instructions.empty())
      latencies_->ends(index, wave.begin, now_, at);
    wave.recording = nullptr;
    if (wave.timeline)
      timeline_->waves.push_back({static_cast<std::uint32_t>(wave.place), wave.number, wave.simd,
                                  wave.timeline->take(), wave.timeline->in_flight()});
    Group& group = groups_[wave.place];
    ++group.ended;
    open_barrier_if_all_came(group, at);
    if (group.ended != group.waves) return;
    out_.workgroup_end[wave.place] = at;
    begin_next(at);
  }
  /// Waves that have ended are not waited for.
  void open_barrier_if_all_came(Group& group, double at) {
    if (group.arrived == 0 || group.arrived + group.ended < group.waves) return;
    group.arrived = 0;
    for (const std::uint32_t index : group.waiting) {
      Wave& wave = waves_[index];
      const double opens = at + p_.barrier_release;
      stall(wave, Stall::barrier, opens - wave.since);
      if (wave.barrier >= 0) wave.intervals = {wave.intervals[1], opens - wave.barrier};
      wave.barrier = opens;
      went_on(wave, index, opens);
    }
    group.waiting.clear();
  }

  // ---- One instruction ----------------------------------------------------------------------

  [[nodiscard]] std::uint32_t number_of(const Wave& wave) const {
    return wave.recording->instructions[wave.next];
  }
  [[nodiscard]] const Instruction& at(const Wave& wave) const {
    return instructions_[number_of(wave)];
  }
  static void stall(Wave& wave, Stall why, double cycles) {
    wave.stalls[static_cast<unsigned>(why)] += cycles;
    wave.has_stalled = true;
  }
  /// It waits until `time`, for `why`.
  void wait(std::uint32_t index, double now, double time, Stall why) {
    stall(waves_[index], why, time - now);
    push(index, time);
  }
  /// The instruction is done with as far as its wave is concerned, which goes on at `time`.
  void went_on(Wave& wave, std::uint32_t index, double time) {
    SiteTime& site = out_.sites[number_of(wave)];
    if (wave.timeline) wave.timeline->add(at(wave), wave.since, wave.stalls, time);
    ++site.hits;
    site.latency += time - wave.since;
    if (wave.has_stalled) {
      for (unsigned n = 0; n < kStalls; ++n) site.stalls[n] += wave.stalls[n];
      wave.stalls = {};
      wave.has_stalled = false;
    }
    if (latencies_) latencies_->went_on(index, issued_until(at(wave).unit, time));
    wave.since = time;
    const Instruction& before = at(wave);
    if (++wave.next == wave.recording->instructions.size()) return end_wave(index, time);
    wave.code_comes = time + wave.code.late(before, at(wave), now_ + p_.turn, time, p_.fetch);
    push(index, time);
  }
  /// Of an instruction of which the wave goes on at `time`: until when it was issued.
  [[nodiscard]] double issued_until(Unit unit, double time) const {
    switch (unit) {
      case Unit::barrier:
        return 0;
      case Unit::idle:
      case Unit::sleep:
        return now_ + p_.turn;
      default:
        return time;
    }
  }
  /// Waits for the later of two: the port that another wave has, and the unit.
  [[nodiscard]] bool waits_for(std::uint32_t index, double now, double port, double unit = 0) {
    if (unit > now && unit >= port) return wait(index, now, unit, Stall::ex_stall), true;
    if (port > now) return wait(index, now, port, Stall::not_win), true;
    return false;
  }

  void take(std::uint32_t index, double now) {
    Wave& wave = waves_[index];
    const Instruction& i = at(wave);
    Simd& simd = simds_[wave.simd];
    const double after = now + p_.turn;
    if (latencies_) latencies_->looks_at(index, wave.simd, number_of(wave), now);
    if (wave.code_comes > now) return wait(index, now, wave.code_comes, Stall::no_instruction);
    if (change_.waits_at_use && i.registers != nullptr)
      if (const double ready = wave.scoreboard.ready(*i.registers, now); ready > now)
        return wait(index, now, ready, Stall::waitcnt);
    if (wave.scalars_written > now && reads_scalars_late(i))
      return wait(index, now, wave.scalars_written, Stall::alu_dependency);
    const double part = change_.all_lanes_active ? i.active_lanes : 1;  // of a VALU instruction
    switch (i.unit) {
      case Unit::valu:
        if (waits_for(index, now, simd.valu, simd.vector_may)) return;
        use_valu(wave, now, part * p_.turn * i.turns);
        if (latencies_) latencies_->valu_works(wave.simd, simd.valu);
        return went_on(wave, index, now + part * p_.turn);
      case Unit::conversion:
        if (waits_for(index, now, simd.valu, simd.vector_may)) return;
        use_valu(wave, now, part * p_.conversion);
        if (latencies_) latencies_->valu_works(wave.simd, simd.valu);
        return went_on(wave, index, now + part * p_.turn);
      case Unit::transcendental:
        if (waits_for(index, now, simd.valu, simd.vector_may)) return;
        use_valu(wave, now, part * p_.transcendental);
        // The trace of an MI300 counts all of its cycles as the wave's own.
        return went_on(wave, index, now + part * p_.transcendental);
      case Unit::packed:
        if (waits_for(index, now, simd.valu, simd.packed_may)) return;
        use_valu(wave, now, part * p_.turn);
        return went_on(wave, index, now + part * p_.turn);
      case Unit::matrix:
        if (waits_for(index, now, simd.valu, simd.matrix)) return;
        use_valu(wave, now, p_.turn);
        simd.matrix = now + p_.turn * i.turns;
        simd.packed_may = simd.matrix + p_.vector_after_matrix;
        if (i.holds_vector) simd.vector_may = simd.packed_may;
        out_.busy.matrix += p_.turn * i.turns;
        if (latencies_) latencies_->matrix_works(wave.simd, simd.matrix);
        return went_on(wave, index, after);
      case Unit::salu:
        if (waits_for(index, now, simd.scalar)) return;
        simd.scalar = after;
        out_.busy.scalar += p_.turn;
        return went_on(wave, index, after);
      case Unit::branch:
      case Unit::message:
        if (waits_for(index, now, simd.branch)) return;
        simd.branch = after;
        return went_on(wave, index, after);
      case Unit::scalar_memory:
        if (waits_for(index, now, simd.scalar_memory)) return;
        simd.scalar_memory = after;
        load_scalar(wave, now);
        return went_on(wave, index, after);
      case Unit::lds:
        return use_lds(index, i, now);
      case Unit::vector_memory:
        return use_vector_memory(index, i, now);
      case Unit::wait: {
        const Outstanding::Access* last = wave.vm.last_before(i.wait_vm);
        const Outstanding::Access* const other = wave.lgkm.last_before(i.wait_lgkm);
        if (last == nullptr || (other != nullptr && other->done > last->done)) last = other;
        if (last != nullptr && last->done > now && !change_.no_memory_waits) {
          if (latencies_) latencies_->waits_for(index, last->site);
          return wait(index, now, last->done, Stall::waitcnt);
        }
        if (change_.waits_at_use)
          wave.before_barrier = std::max(wave.before_barrier, wave.lgkm.reaches(i.wait_lgkm));
        wave.vm.forget_until(now);
        wave.lgkm.forget_until(now);
        return went_on(wave, index, after);
      }
      case Unit::barrier: {
        if (wave.before_barrier > now) return wait(index, now, wave.before_barrier, Stall::waitcnt);
        if (change_.no_barrier_skew) return went_on(wave, index, after);
        if (change_.half_the_barriers) {
          wave.passed_barrier = !wave.passed_barrier;
          if (wave.passed_barrier) return went_on(wave, index, after);
        }
        Group& group = groups_[wave.place];
        ++group.arrived;
        group.waiting.push_back(index);
        return open_barrier_if_all_came(group, now);
      }
      case Unit::idle:
        stall(wave, Stall::internal, p_.turn * (i.turns - 1));
        return went_on(wave, index, now + p_.turn * i.turns);
      case Unit::sleep:
        stall(wave, Stall::sleep, p_.turn * (i.turns - 1));
        return went_on(wave, index, now + p_.turn * i.turns);
      case Unit::priority:
        wave.priority = i.turns;
        return went_on(wave, index, after);
      case Unit::end:
        return went_on(wave, index, after);
    }
  }
  void use_valu(Wave& wave, double now, double cycles) {
    simds_[wave.simd].valu = now + cycles;
    out_.busy.valu += cycles;
    if (writes_scalars_[number_of(wave)]) wave.scalars_written = now + p_.turn + p_.scalar_result;
  }
  /// Whether it waits for what the VALU writes to SGPRs: in the thread trace scalar instructions
  /// do, whichever registers they have.
  [[nodiscard]] static bool reads_scalars_late(const Instruction& i) {
    if (i.unit == Unit::branch) return i.registers != nullptr && has_scalars(i.registers->reads);
    return i.unit == Unit::salu || i.unit == Unit::scalar_memory;
  }

  // ---- Memory -------------------------------------------------------------------------------

  [[nodiscard]] static const MemoryWork& next_work(Wave& wave) {
    return wave.recording->memory[wave.next_memory++];
  }
  [[nodiscard]] double cycles_of(double ns) const { return ns * share_.clock_ghz; }

  /// Whether a wait for the instruction is one for its registers.
  [[nodiscard]] bool is_scored(const Instruction& i) const {
    return change_.waits_at_use && i.registers != nullptr && i.registers->writes != RegisterMask{};
  }
  /// Since when a load that is issued `now` could have been, a trip of its loop earlier.
  [[nodiscard]] double ahead(Wave& wave, double now) const {
    if (wave.issued.empty()) wave.issued.resize(instructions_.size(), -1);
    const double before = std::exchange(wave.issued[number_of(wave)], now);
    // Compilers unroll loops, also wholly, so that each load executes once: a step is no longer
    // than from barrier to barrier, where there are any.
    const double step = std::max(wave.intervals[0], wave.intervals[1]);
    if (before < 0) return step;
    return step > 0 ? std::min(now - before, step) : now - before;
  }
  /// The wave's instruction began at `now` and gets what it asked for, or has stored it, at `done`.
  void accessed(Wave& wave, double now, double done) {
    const Instruction& i = at(wave);
    if (is_scored(i)) wave.scoreboard.load(i.registers->writes, done);
    if (latencies_) latencies_->accesses(number_of(wave), now, done);
    if (wave.timeline) wave.timeline->access(now, done);
  }

  /// When the lines of kernel arguments that a scalar load reads are in the scalar cache. The first
  /// load of each brings it, and others that find it on its way wait for it.
  double arguments_come(const MemoryWork& work, double now) {
    double out = now;
    for (unsigned line = 0; line < arguments_.size(); ++line) {
      if ((work.argument_lines >> line & 1) == 0) continue;
      double& comes = arguments_[line];
      if (comes < 0) comes = now + cycles_of(share_.arguments_ns);
      out = std::max(out, comes);
    }
    return out;
  }

  void load_scalar(Wave& wave, double now) {
    const MemoryWork& work = next_work(wave);
    double latency = p_.scalar_hit_latency;
    if (work.argument_lines != 0)
      latency = std::max(latency, arguments_come(work, now) - now);
    else if (work.far_lines != 0 || work.awaited == Level::memory)
      latency = p_.scalar_l2_latency + far_latency();
    else if (work.l2_lines != 0 || work.awaited == Level::l2)
      latency = p_.scalar_l2_latency;
    const double done = wave.lgkm.add(now + latency, false, number_of(wave), is_scored(at(wave)));
    accessed(wave, now, done);
  }

  void use_lds(std::uint32_t index, const Instruction& i, double now) {
    Wave& wave = waves_[index];
    Simd& simd = simds_[wave.simd];
    Server& send = lds_send_[wave.simd / 2];
    if (waits_for(index, now, simd.lds, std::max(send.free, lds_.free - p_.lds_queue))) return;
    const double lanes = gpu_.arch().wavefront_size;
    const double bus = p_.lds_bus_bytes * change_.lds_speed;
    const double sent = send.serve(now, (4.0 + i.lane_bytes_out) * lanes / bus);
    const MemoryWork& work = next_work(wave);
    const int cycles = work.cycles - (change_.no_bank_conflicts ? work.conflicts : 0);
    const double passes =
        std::max(p_.lds_least_cycles, static_cast<double>(cycles)) / change_.lds_speed;
    const double served = lds_.serve(now + p_.turn, passes);
    // The latency holds for one without conflicts.
    const double extra = served - (now + p_.turn + p_.lds_least_cycles);
    double done = sent + p_.lds_latency + i.lane_bytes_in / 2.0 + extra;
    if (i.lane_bytes_in != 0) {
      const double back = i.lane_bytes_in * lanes / bus;
      done = lds_return_[wave.simd / 2].serve(std::max(done - back, 0.0), back);
    }
    done = wave.lgkm.add(done, true, number_of(wave), is_scored(i));
    accessed(wave, now, done);
    simd.lds = now + p_.turn;
    went_on(wave, index, std::max(sent, now + p_.turn));
  }

  /// What a change that leaves some of the lines leaves of a part that the Infinity Cache has.
  [[nodiscard]] static double left(double part, const Change& change) {
    return std::clamp(1 - (1 - part) / std::max(change.far_lines, 1e-9), 0.0, 1.0);
  }

  /// Of a line that L2 does not have, beyond L2's latency.
  [[nodiscard]] double far_latency() const {
    return cycles_of(infinity_cache_ready_ * p_.infinity_cache_ns +
                     (1 - infinity_cache_ready_) * p_.memory_ns) -
           p_.l2_latency;
  }

  void use_vector_memory(std::uint32_t index, const Instruction& i, double now) {
    Wave& wave = waves_[index];
    Simd& simd = simds_[wave.simd];
    if (change_.no_scratch && i.is_scratch) {
      if (i.has_work) (void)next_work(wave);
      return went_on(wave, index, now);
    }
    while (!queue_.empty() && queue_.front() <= now) queue_.pop_front();
    const double room = queue_.size() < static_cast<std::size_t>(p_.vector_queue)
                            ? 0
                            : queue_[queue_.size() - static_cast<std::size_t>(p_.vector_queue)];
    if (waits_for(index, now, simd.vector_memory, room)) return;
    if (const double fewer = wave.vm.reaches(kMostInFlight - 1); fewer > now)
      return wait(index, now, fewer, Stall::ex_stall);
    simd.vector_memory = now + p_.turn;
    if (!i.has_work) return went_on(wave, index, now + p_.turn);  // works on caches
    const MemoryWork work = changed(i, next_work(wave));
    const double looked_up = vector_cache_.serve(now + p_.turn, std::max<double>(work.cycles, 1));
    queue_.push_back(looked_up);
    double back = beyond_vector_cache(i, work, looked_up);
    if (change_.loads_ahead && i.lane_bytes_in != 0 && !i.is_atomic)
      back = std::max(back - ahead(wave, now), now + p_.turn);
    // vL1D returns data in the order of the requests, whichever waves they are of.
    if (i.lane_bytes_in != 0) back = returned_ = std::max(back, returned_);
    const double done = wave.vm.add(back, true, number_of(wave), is_scored(i));
    if (i.counts_lgkm) wave.lgkm.add(back, true, number_of(wave), is_scored(i));
    if (latencies_) latencies_->memory_works(wave.simd, done);
    accessed(wave, now, done);
    went_on(wave, index, now + p_.turn);
  }

  /// What the change leaves of a vector memory instruction's work.
  [[nodiscard]] MemoryWork changed(const Instruction& i, MemoryWork work) {
    if (change_.no_l2_misses) {
      work.far_lines = 0;
      work.awaited = std::min(work.awaited, Level::l2);
    }
    if (change_.far_lines < 1 && !i.is_store && !i.is_atomic) {
      // The lines of one access come together.
      far_lines_ += work.far_lines * change_.far_lines;
      if (far_lines_ < work.far_lines) work.far_lines = 0;
      far_lines_ -= work.far_lines;
    }
    if (!change_.perfect_coalescing) return work;
    const LeastWork least = least_work(i, gpu_);
    if (work.l2_lines > least.l2_lines) {
      double part = 1.0 * least.l2_lines / work.l2_lines;
      if (!i.is_store) part = std::max(part, change_.compulsory_far_lines);
      coalesced_far_lines_ += work.far_lines * part;
      work.far_lines = static_cast<std::uint16_t>(coalesced_far_lines_);
      coalesced_far_lines_ -= work.far_lines;
      work.l2_lines = std::max(least.l2_lines, work.far_lines);  // some access asks for these
      const unsigned banked = (work.l2_lines + kVectorCacheBanks - 1) / kVectorCacheBanks;
      work.bank_lines = std::min(work.bank_lines, static_cast<std::uint8_t>(banked));
    }
    work.cycles = std::min(work.cycles, least.cycles);
    return work;
  }

  /// Of the whole device, on average over what is within the reach of the TLBs and what is not.
  [[nodiscard]] double memory_bytes_per_ns(bool writes) const {
    const double rate = writes ? p_.memory_write_bytes_per_ns : p_.memory_bytes_per_ns;
    if (share_.untranslated == 0) return rate;
    return 1 /
           ((1 - share_.untranslated) / rate + share_.untranslated / p_.untranslated_bytes_per_ns);
  }

  /// The latency of a load whose lines come for another wave.
  [[nodiscard]] double on_its_way(Level from) const {
    if (from == Level::vector_cache) return p_.vector_cache_latency;
    return from == Level::l2 ? p_.l2_latency : p_.l2_latency + far_latency();
  }

  double beyond_vector_cache(const Instruction& i, const MemoryWork& work, double looked_up) {
    if (work.l2_lines == 0) return looked_up + on_its_way(work.awaited);
    const bool sectors = i.is_store || i.is_atomic;
    const double bytes =
        work.l2_lines * (sectors ? gpu_.arch().caches.sector_bytes : gpu_.arch().caches.line_bytes);
    const double of_xcd = sectors ? p_.l2_write_bytes_per_cycle : p_.l2_bytes_per_cycle;
    const double of_cu = sectors ? p_.cu_l2_write_bytes_per_cycle : p_.cu_l2_bytes_per_cycle;
    const double rate = std::min(of_cu, of_xcd / share_.active_cus_per_xcd);
    double served = l2_.serve(looked_up, std::max(bytes / rate, work.bank_lines * p_.bank_fill));
    double latency = sectors && !i.is_atomic ? p_.store_latency : p_.l2_latency;
    if (work.far_lines != 0) {
      // A store sends a line's sectors one by one, and misses with the first.
      const double far_bytes =
          std::min<double>(bytes, work.far_lines * gpu_.arch().caches.line_bytes);
      const double cus = share_.active_cus * share_.clock_ghz;  // bytes/ns -> of one CU, per cycle
      const double hits = sectors ? share_.infinity_cache_write_hits : infinity_cache_hits_;
      const double from_memory = far_bytes * (1 - hits);
      const double dirty =
          p_.write_buffer * gpu_.arch().caches.l2_bytes() / share_.active_cus_per_xcd;
      const auto moved = [&](bool writes) {
        const auto on = [&](FarChannel& channel, double of_bytes, double rate) {
          return writes ? channel.write(looked_up, of_bytes / rate, dirty / rate)
                        : channel.read(looked_up, of_bytes / rate, dirty / rate);
        };
        const double fabric = writes ? p_.fabric_write_bytes_per_ns : p_.fabric_bytes_per_ns;
        return std::max(on(fabric_, far_bytes, fabric / cus),
                        on(memory_, from_memory, memory_bytes_per_ns(writes) / cus));
      };
      served = std::max(served, moved(i.is_store));
      if (i.is_atomic) served = std::max(served, moved(true));  // and goes back, changed
      if (!i.is_store && i.lane_bytes_in != 0) latency += far_latency();
    } else if (work.awaited == Level::memory) {
      latency += far_latency();
    }
    if (sectors) drained_ = std::max(drained_, served);
    return served + latency;
  }

  /// Of a wave's vector memory accesses: its counter has six bits.
  static constexpr std::size_t kMostInFlight = 63;

  const ComputeUnitRecording& cu_;
  const std::span<const Instruction> instructions_;
  const Gpu& gpu_;
  const Parameters& p_;
  const Share& share_;
  const Change& change_;
  /// Lines that no longer miss L2 were in the Infinity Cache: HBM is read once for all XCDs.
  const double infinity_cache_hits_, infinity_cache_ready_;
  const std::uint32_t resident_;
  ComputeUnitTimeline* const timeline_;
  std::vector<Simd> simds_;
  std::vector<Server> lds_send_, lds_return_;
  Server lds_, vector_cache_, l2_;
  FarChannel fabric_, memory_;
  double code_comes_ = 0;                                               // for the first waves
  std::array<double, 8> arguments_ = {-1, -1, -1, -1, -1, -1, -1, -1};  // when each line comes
  double dispatcher_ = 0;  // when it is free for this compute unit
  double returned_ = 0;    // when vL1D has returned the last load's data
  double drained_ = 0;     // when L2 has taken the last store: waves do not wait for it
  double far_lines_ = 0, coalesced_far_lines_ = 0;  // parts of lines that changes leave over
  std::deque<double> queue_;  // when the TA has taken each vector memory instruction
  std::vector<Group> groups_;
  std::size_t next_group_ = 0;
  std::vector<Wave> waves_;  // never more than there is room for: they stay where they are
  Turns ready_;
  double now_ = 0;
  std::vector<char> writes_scalars_;  // by number of the instruction
  ComputeUnitTime out_;
  std::optional<Latencies> latencies_;
};

}  // namespace

ComputeUnitTime replay(const ComputeUnitRecording& cu, std::span<const Instruction> instructions,
                       const Occupants& occupants, const Gpu& gpu, const Parameters& parameters,
                       const Share& share, const Change& change, const Watch& watch) {
  return ComputeUnit(cu, instructions, occupants, gpu, parameters, share, change, watch).run();
}

}  // namespace margay::timing
