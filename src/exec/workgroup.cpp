#include "exec/workgroup.h"

#include <fmt/format.h>

#include <algorithm>
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
                     HostcallBuffer* hostcalls)
    : request_(request),
      program_(program),
      addresses_(addresses),
      stop_(stop),
      hostcalls_(hostcalls),
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
  state_.id[0] = static_cast<std::uint32_t>(id % grid.x);
  state_.id[1] = static_cast<std::uint32_t>(id / grid.x % grid.y);
  state_.id[2] = static_cast<std::uint32_t>(id / grid.x / grid.y);
  lds_.fill((lds_bytes_ + 3) & ~3u, kUninitialised);
  vgprs_.fill(vgprs_.size(), kUninitialised);
  scratch_.fill(scratch_.size(), kUninitialised);
  for (std::uint32_t n = 0; n < wave_count_; ++n) {
    initialise_wave(waves_[n], request_, state_, addresses_, n);
    waves_[n].next = program_.entry();
  }
}

void Workgroup::answer_calls(Wave& wave) {
  if (!hostcalls_->pending() || wave.stop == WaveStop::fault) return;
  if (Status answered = hostcalls_->serve(); !answered)
    wave.fault(*wave.next, std::move(answered).error());
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
  for (const Wave& wave : waves_) {
    if (wave.stop == WaveStop::ended) continue;
    // A wave at a barrier goes on with the instruction after it.
    const bool barrier = wave.stop == WaveStop::barrier;
    const Instruction* const at = barrier ? wave.next - 1 : wave.next;
    error.where +=
        fmt::format("{}wave {} {}: {}", error.where.empty() ? "" : "\n       ", wave.index_in_group,
                    barrier ? "waits at a barrier" : "repeats itself without end",
                    program_.describe(at->vaddr));
  }
  return error;
}

WaveSnapshot::WaveSnapshot(const Wave& wave)
    : next_(wave.next),
      scc_(wave.scc),
      scalars_(std::begin(wave.s), std::end(wave.s)),
      vectors_(wave.v, wave.v + std::size_t{wave.vgpr_rows} * kWaveLanes),
      lds_(wave.group->lds, wave.group->lds + wave.group->lds_bytes) {}

bool WaveSnapshot::same(const Wave& wave) const {
  return wave.next == next_ && wave.scc == scc_ &&
         std::equal(scalars_.begin(), scalars_.end(), wave.s) &&
         std::equal(vectors_.begin(), vectors_.end(), wave.v) &&
         std::equal(lds_.begin(), lds_.end(), wave.group->lds);
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
