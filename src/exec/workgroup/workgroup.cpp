#include "exec/workgroup/workgroup.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "exec/program/lane_access.h"
#include "exec/program/program.h"
#include "exec/rows/row_table.h"

namespace margay {
namespace {

/// Scratch for call stacks whose depth the compiler does not know, bytes per lane, where no more is
/// asked for.
constexpr std::uint32_t kDynamicStackBytes = 16 * 1024;

std::uint32_t scratch_bytes(const LaunchRequest& request) {
  const Kernel& kernel = *request.kernel;
  const std::uint32_t fixed = (kernel.descriptor.private_segment_fixed_size + 3) & ~3u;
  if (!kernel.uses_dynamic_stack) return fixed;
  return fixed + std::max(kDynamicStackBytes, (request.stack_bytes + 3) & ~3u);
}

}  // namespace

Workgroup::Workgroup(const LaunchRequest& request, Program& program, const Memory& memory,
                     const LaunchAddresses& addresses, const std::atomic<bool>& stop,
                     WorkgroupCompany company)
    : request_(request),
      program_(program),
      addresses_(addresses),
      stop_(stop),
      company_(std::move(company)),
      hostcalls_(company_.hostcalls),
      residents_(company_.residents),
      wave_count_(
          static_cast<std::uint32_t>((request.block.count() + kWaveLanes - 1) / kWaveLanes)),
      rows_(request.kernel->descriptor.unified_vgpr_count()),
      vgprs_(wave_count_ * dwords_of_wave() * 4),
      lds_bytes_(request.kernel->descriptor.group_segment_fixed_size + request.dynamic_lds_bytes),
      lds_(lds_bytes_ + 64),
      scratch_per_lane_(scratch_bytes(request)),
      scratch_(std::size_t{wave_count_} * scratch_per_lane_ * kWaveLanes),
      waves_(wave_count_) {
  state_.memory = &memory;
  state_.program = &program;
  state_.range_cache = &range_cache_;
  state_.lds = lds_.data();
  state_.lds_bytes = lds_bytes_;
  state_.scratch_bytes_per_lane = scratch_per_lane_;
  state_.mfma = program.mfma();
  for (std::uint32_t n = 0; n < wave_count_; ++n) {
    Wave& wave = waves_[n];
    wave.v = reinterpret_cast<std::uint32_t*>(vgprs_.data()) + n * dwords_of_wave();
    wave.vgpr_rows = rows_;
    wave.group = &state_;
    wave.scratch = scratch_.data() + std::size_t{n} * scratch_per_lane_ * kWaveLanes;
  }
}

Workgroup::~Workgroup() {
  if (observer_ != nullptr) observer_->end(*this, WorkgroupEnd::cancelled);
}

void Workgroup::begin(std::uint64_t id) {
  const Dim3& grid = request_.grid;
  id_ = id;
  const bool polling = residents_ != nullptr && residents_->polling();
  if (residents_ != nullptr) quantum_ = polling ? kShortQuantum : kFirstQuantum;
  barrier_quantum_ = polling ? kShortQuantum : kFirstBarrierQuantum;
  unstopped_ = across_barriers_ = since_heartbeat_ = 0;
  long_turns_ = 0;
  state_.id[0] = static_cast<std::uint32_t>(id % grid.x);
  state_.id[1] = static_cast<std::uint32_t>(id / grid.x % grid.y);
  state_.id[2] = static_cast<std::uint32_t>(id / grid.x / grid.y);
  lds_.fill((lds_bytes_ + 3) & ~3u, kUninitialised);
  for (const Wave& wave : waves_)
    std::fill_n(wave.v, (rows_ + kTemporaryRows) * kWaveLanes, kUninitialised);
  scratch_.fill(scratch_.size(), kUninitialised);
  for (std::uint32_t n = 0; n < wave_count_; ++n) {
    initialise_wave(waves_[n], request_, state_, addresses_, n);
    waves_[n].next = program_.entry(waves_[n].mode);
  }
}

void Workgroup::answer_calls(Wave& wave) {
  if (!hostcalls_->pending() || wave.stop == WaveStop::fault) return;
  if (Status answered = hostcalls_->serve(); !answered)
    wave.fault(*wave.next, std::move(answered).error());
}

void Workgroup::arrive_at_grid_barrier(Wave& wave) {
  // Instructions know only their wave; whether this launch has the resource is known here.
  const Instruction& i = *wave.next;
  if (residents_ == nullptr || i.row == nullptr || i.row->flow != Flow::grid_barrier) return;
  // The first lane's value counts the arrivals less one. Source: MI300 ISA guide, ds_gws_barrier.
  const std::uint64_t exec = wave.exec();
  const unsigned lane = exec == 0 ? 0 : static_cast<unsigned>(std::countr_zero(exec));
  const std::uint32_t others = wave.row(i.src[0].index())[lane];
  wave.error.reset();
  wave.stop = WaveStop::grid_barrier;
  wave.next = following(i);
  grid_phase_ = residents_->barrier().arrive(std::uint64_t{others} + 1);
}

void Workgroup::leave_grid_barrier() {
  if (residents_ == nullptr || !residents_->barrier().open(grid_phase_)) return;
  for (Wave& wave : waves_)
    if (wave.stop == WaveStop::grid_barrier) wave.stop = WaveStop::running;
}

std::optional<WorkgroupEnd> Workgroup::after(Activity found) {
  if (found == Activity::endless) return WorkgroupEnd::deadlock;
  if (residents_ == nullptr) return std::nullopt;
  if (found != Activity::work) {
    residents_->found_polling();
    if (!all_watched_) watched_.clear();
    quantum_ = barrier_quantum_ = kShortQuantum;
    return residents_->hopeless(found == Activity::stuck) ? WorkgroupEnd::deadlock
                                                          : WorkgroupEnd::waiting;
  }
  residents_->progress();
  // A workgroup that was never seen waiting yields as well: it may wait in a way that is not
  // recognised, such as for what later workgroups write to any of many words.
  bool yields = quantum_ >= kYieldQuantum && looks_at_others();
  if (quantum_ < kQuantum)
    quantum_ *= 2;
  else
    yields |= residents_->polling() || ++long_turns_ >= kManyTurns;
  return yields ? std::optional(WorkgroupEnd::waiting) : std::nullopt;
}

bool Workgroup::looks_at_others() {
  if (!looks_at_others_) {
    const Instruction* i = program_.entry(mode::kUsual);
    const auto looks = [](const Instruction& load) {
      const MemoryForm form = memory_form(load);
      return form.is_read && !form.is_atomic && form.agent_scope;
    };
    while (i->execute != run_off_the_end && !(i->row != nullptr && looks(*i))) ++i;
    looks_at_others_ = i->execute != run_off_the_end;
  }
  return *looks_at_others_;
}

const Wave& Workgroup::faulty() const {
  return *std::ranges::find(waves_, WaveStop::fault, &Wave::stop);
}

std::string Workgroup::where_waves_are() const {
  constexpr std::size_t kMostPlaces = 4;
  std::map<const Instruction*, std::string> waves;  // by where they are
  for (const Wave& wave : waves_) {
    if (wave.stop == WaveStop::ended) continue;
    std::string& text = waves[wave.next];
    text += fmt::format("{}{}", text.empty() ? "wave " : ", ", wave.index_in_group);
  }
  std::string out;
  std::size_t places = 0;
  for (const auto& [at, text] : waves) {
    if (++places > kMostPlaces) break;
    out += fmt::format("{} of workgroup ({}, {}, {}): {}\n       ", text, state_.id[0],
                       state_.id[1], state_.id[2], program_.describe(at->vaddr));
  }
  return out + fmt::format("{} of {} waves have not ended",
                           std::ranges::count_if(
                               waves_, [](const Wave& w) { return w.stop != WaveStop::ended; }),
                           wave_count_);
}

const Instruction& Workgroup::where_it_stands(const Wave& wave) {
  // A wave at a barrier continues with the instruction after it.
  const bool at_barrier = wave.stop == WaveStop::barrier || wave.stop == WaveStop::grid_barrier;
  return at_barrier ? wave.next[-1] : *wave.next;
}

Error Workgroup::deadlock() const {
  Error error{ErrorCode::deadlock,
              "deadlock: no wave of the workgroup can ever go on",
              {},
              "every wave of a workgroup must reach the same number of barriers, and a flag that a "
              "wave waits for must be set before the wave that sets it waits at a barrier"};
  if (residents_ != nullptr && residents_->missing_at_barrier() != 0) {
    error.what = fmt::format(
        "deadlock: workgroups wait at the grid's barrier, and {} of the {} have ended without "
        "coming to it",
        residents_->missing_at_barrier(), residents_->workgroups());
    error.hint = "every workgroup has to call grid.sync() the same number of times";
  } else if (residents_ != nullptr && residents_->left_out() != 0) {
    error.what = fmt::format(
        "deadlock: the {} workgroups that the device has room for wait for others, and {} of the "
        "launch's {} have not begun",
        residents_->limit(), residents_->left_out(), residents_->workgroups());
    error.hint =
        "launch no more workgroups than fit (hipOccupancyMaxActiveBlocksPerMultiprocessor), or let "
        "them wait only for those with lower numbers";
  } else if (residents_ != nullptr && residents_->gave_up()) {
    error.what = "deadlock: the workgroup waits for memory to change, and nothing changes it";
    error.hint =
        "under margay check and margay prof no other launch runs meanwhile, and the host code that "
        "made it waits for it: what a workgroup waits for has to come from the launch itself";
  }
  for (const Wave& wave : waves_) {
    if (wave.stop == WaveStop::ended) continue;
    constexpr auto how = [](WaveStop stop) {
      return stop == WaveStop::grid_barrier ? "waits at the grid's barrier"
             : stop == WaveStop::barrier    ? "waits at a barrier"
                                            : "repeats itself without end";
    };
    error.where +=
        fmt::format("{}wave {} {}: {}", error.where.empty() ? "" : "\n       ", wave.index_in_group,
                    how(wave.stop), program_.describe(where_it_stands(wave).vaddr));
  }
  return error;
}

bool Workgroup::is_ready() const {
  bool in_grid = false, running = false;
  for (const Wave& wave : waves_) {
    in_grid = in_grid || wave.stop == WaveStop::grid_barrier;
    running = running || wave.stop == WaveStop::running;
  }
  if (in_grid && residents_->barrier().open(grid_phase_)) return true;
  if (!running) return !in_grid;
  return watched_.empty() || std::ranges::any_of(watched_, &WatchedWord::changed);
}

}  // namespace margay
