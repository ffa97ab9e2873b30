#include "exec/workgroup.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/lane_access.h"
#include "exec/row_table.h"

namespace margay {
namespace {

/// Scratch for call stacks whose depth the compiler does not know, bytes per lane.
constexpr std::uint32_t kDynamicStackBytes = 16 * 1024;

std::uint32_t scratch_bytes(const Kernel& kernel) {
  const std::uint32_t fixed = (kernel.descriptor.private_segment_fixed_size + 3) & ~3u;
  return kernel.uses_dynamic_stack ? fixed + kDynamicStackBytes : fixed;
}

}  // namespace

Workgroup::Workgroup(const LaunchRequest& request, Program& program, const Memory& memory,
                     const LaunchAddresses& addresses, const std::atomic<bool>& stop,
                     HostcallBuffer* hostcalls, Residents* residents,
                     std::chrono::milliseconds patience)
    : request_(request),
      program_(program),
      addresses_(addresses),
      stop_(stop),
      hostcalls_(hostcalls),
      residents_(residents),
      patience_(patience),
      wave_count_(
          static_cast<std::uint32_t>((request.block.count() + kWaveLanes - 1) / kWaveLanes)),
      rows_(request.kernel->descriptor.unified_vgpr_count()),
      vgprs_(std::size_t{wave_count_} * (rows_ + kTemporaryRows) * kWaveLanes * 4),
      lds_bytes_(request.kernel->descriptor.group_segment_fixed_size + request.dynamic_lds_bytes),
      lds_(lds_bytes_ + 64),
      scratch_per_lane_(scratch_bytes(*request.kernel)),
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
    wave.v = reinterpret_cast<std::uint32_t*>(vgprs_.data()) +
             std::size_t{n} * (rows_ + kTemporaryRows) * kWaveLanes;
    wave.vgpr_rows = rows_;
    wave.group = &state_;
    wave.scratch = scratch_.data() + std::size_t{n} * scratch_per_lane_ * kWaveLanes;
  }
}

void Workgroup::begin(std::uint64_t id) {
  const Dim3& grid = request_.grid;
  id_ = id;
  long_turns_ = 0;
  waiting_since_.reset();
  gave_up_ = false;
  if (residents_ != nullptr) quantum_ = residents_->polling() ? kShortQuantum : kFirstQuantum;
  state_.id[0] = static_cast<std::uint32_t>(id % grid.x);
  state_.id[1] = static_cast<std::uint32_t>(id / grid.x % grid.y);
  state_.id[2] = static_cast<std::uint32_t>(id / grid.x / grid.y);
  lds_.fill((lds_bytes_ + 3) & ~3u, kUninitialised);
  vgprs_.fill(vgprs_.size(), kUninitialised);
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
  // Instructions know only their wave; that this launch was given the resource is known here.
  const Instruction& i = *wave.next;
  if (residents_ == nullptr || i.row == nullptr || i.row->mnemonic != "ds_gws_barrier") return;
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

std::optional<WorkgroupEnd> Workgroup::after_lonely_round(Activity found) {
  const auto now = std::chrono::steady_clock::now();
  if (found != Activity::polling) {
    waiting_since_.reset();
    return std::nullopt;
  }
  if (!waiting_since_) waiting_since_ = now;
  gave_up_ = now - *waiting_since_ > patience_;
  return gave_up_ ? std::optional(WorkgroupEnd::deadlock) : std::nullopt;
}

const Wave& Workgroup::faulty() const {
  return *std::ranges::find(waves_, WaveStop::fault, &Wave::stop);
}

Error Workgroup::deadlock() const {
  Error error{ErrorCode::deadlock,
              "deadlock: no wave of the workgroup can ever go on",
              {},
              "every wave of a workgroup must reach the same number of barriers, and a flag that a "
              "wave waits for must be set before the wave that sets it waits at a barrier"};
  if (gave_up_) {
    error.what = "deadlock: " + std::string(kGaveUp);
    error.hint = kGaveUpHint;
  }
  for (const Wave& wave : waves_) {
    if (wave.stop == WaveStop::ended) continue;
    // A wave at a barrier goes on with the instruction after it.
    const bool grid_barrier = wave.stop == WaveStop::grid_barrier;
    const bool barrier = wave.stop == WaveStop::barrier || grid_barrier;
    const Instruction* const at = barrier ? wave.next - 1 : wave.next;
    error.where +=
        fmt::format("{}wave {} {}: {}", error.where.empty() ? "" : "\n       ", wave.index_in_group,
                    grid_barrier ? "waits at the grid's barrier"
                    : barrier    ? "waits at a barrier"
                                 : "repeats itself without end",
                    program_.describe(at->vaddr));
  }
  return error;
}

Error Workgroup::deadlock(const Residents& residents) const {
  Error error = deadlock();
  if (const std::uint64_t missing = residents.missing_at_barrier(); missing != 0) {
    error.what = fmt::format(
        "deadlock: workgroups wait at the grid's barrier, and {} of the {} have ended without "
        "coming to it",
        missing, residents.workgroups());
    error.hint = "every workgroup has to call grid.sync() the same number of times";
  } else if (residents.left_out() != 0) {
    error.what = fmt::format(
        "deadlock: the {} workgroups that the device has room for wait for others, and {} of the "
        "launch's {} have not begun",
        residents.limit(), residents.left_out(), residents.workgroups());
    error.hint =
        "launch no more workgroups than fit (hipOccupancyMaxActiveBlocksPerMultiprocessor), or let "
        "them wait only for those with lower numbers";
  }
  return error;
}

namespace {
/// The word of memory at an address, which another host thread may be writing.
std::uint64_t current(std::uint64_t address) {
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(address), __ATOMIC_RELAXED);
}
}  // namespace

bool Workgroup::is_ready() const {
  bool in_grid = false, running = false;
  for (const Wave& wave : waves_) {
    in_grid = in_grid || wave.stop == WaveStop::grid_barrier;
    running = running || wave.stop == WaveStop::running;
  }
  if (in_grid && residents_->barrier().open(grid_phase_)) return true;
  if (!running) return !in_grid;
  return watched_.empty() || std::ranges::any_of(watched_, [](const WatchedWord& word) {
           return current(word.address) != word.value;
         });
}

WaveSnapshot::WaveSnapshot(const Wave& wave)
    : next_(wave.next),
      scc_(wave.scc),
      mode_(wave.mode),
      scalars_(std::begin(wave.s), std::end(wave.s)),
      vectors_(wave.v, wave.v + std::size_t{wave.vgpr_rows} * kWaveLanes),
      lds_(wave.group->lds, wave.group->lds + wave.group->lds_bytes) {}

bool WaveSnapshot::same(const Wave& wave) const {
  return wave.next == next_ && wave.scc == scc_ && wave.mode == mode_ &&
         std::equal(scalars_.begin(), scalars_.end(), wave.s) &&
         std::equal(vectors_.begin(), vectors_.end(), wave.v) &&
         std::equal(lds_.begin(), lds_.end(), wave.group->lds);
}

void TouchedPlaces::add(const Wave& wave, const Instruction& i, const TouchedPlaces& earlier) {
  const auto watch = [&](std::uint64_t address) {
    if (!words_.empty() && words_.back().address == address) return;  // lanes that look at one flag
    too_many_ = too_many_ || words_.size() == kMostWords;
    if (too_many_) return words_.clear();
    const std::size_t n = words_.size();
    const bool touched = n < earlier.words_.size() && earlier.words_[n].address == address;
    words_.push_back({address, touched ? current(address) : 0});
  };
  const auto mix = [this](std::uint64_t value) {
    hash_ = (hash_ ^ value) * 0x9e37'79b9'7f4a'7c15ull;
    hash_ ^= hash_ >> 29;
  };
  LaneAccesses accesses;
  lane_accesses(wave, i, memory_form(i), accesses);
  for (const LaneAccess& access : std::span(accesses.access, accesses.count)) {
    if (access.space != MemorySpace::global) continue;
    any_ = true;
    for (std::uint64_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
      const std::uint64_t at = access.at[std::countr_zero(lanes)];
      mix(at);
      for (std::uint64_t word = at & ~7ull; word < at + access.bytes; word += 8) watch(word);
    }
  }
}

bool stays_in_workgroup(const Wave& wave, const Instruction& i) {
  if (i.row == nullptr) return false;
  switch (i.row->instruction_class) {
    case InstructionClass::vmem: {
      // A flat access may be one of LDS: a volatile __shared__ variable behind a pointer.
      LaneAccesses accesses;
      lane_accesses(wave, i, memory_form(i), accesses);
      return std::all_of(accesses.access, accesses.access + accesses.count,
                         [](const LaneAccess& a) { return a.space == MemorySpace::lds; });
    }
    case InstructionClass::smem:
      return false;
    case InstructionClass::salu:
      return i.row->mnemonic != "s_getreg_b32";  // may be a clock
    default:
      return true;
  }
}

}  // namespace margay
