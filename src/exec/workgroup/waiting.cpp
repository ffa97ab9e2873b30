#include "exec/workgroup/waiting.h"

#include <bit>

#include "exec/program/lane_access.h"
#include "exec/rows/row_table.h"

namespace margay {
namespace {

/// The word of memory at an address, which another host thread may be writing.
std::uint64_t current(std::uint64_t address) {
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(address), __ATOMIC_RELAXED);
}

const std::uint32_t* spare_rows(const Wave& wave) {
  return wave.v + std::size_t{wave.vgpr_rows + kTemporaryRows} * kWaveLanes;
}

}  // namespace

bool WatchedWord::changed() const { return current(address) != value; }

WaveSnapshot::WaveSnapshot(const Wave& wave)
    : next_(wave.next),
      scc_(wave.scc),
      stop_(wave.stop),
      mode_(wave.mode),
      scalars_(std::begin(wave.s), std::end(wave.s)),
      vectors_(wave.v, wave.v + std::size_t{wave.vgpr_rows} * kWaveLanes),
      kept_(spare_rows(wave), spare_rows(wave) + std::size_t{kSpareRows} * kWaveLanes) {}

bool WaveSnapshot::same(const Wave& wave) const {
  return wave.next == next_ && wave.scc == scc_ && wave.stop == stop_ && wave.mode == mode_ &&
         std::equal(scalars_.begin(), scalars_.end(), wave.s) &&
         std::equal(vectors_.begin(), vectors_.end(), wave.v) &&
         std::equal(kept_.begin(), kept_.end(), spare_rows(wave));
}

Snapshot::Snapshot(std::span<const Wave> waves)
    : waves_(waves.begin(), waves.end()),
      lds_(waves[0].group->lds, waves[0].group->lds + waves[0].group->lds_bytes) {}

bool Snapshot::same(std::span<const Wave> waves) const {
  return std::ranges::equal(waves_, waves,
                            [](const WaveSnapshot& s, const Wave& w) { return s.same(w); }) &&
         std::equal(lds_.begin(), lds_.end(), waves[0].group->lds);
}

void TouchedPlaces::add(const Wave& wave, const Instruction& i, const TouchedPlaces& earlier) {
  const auto watch = [&](std::uint64_t address) {
    if (!words_.empty() && words_.back().address == address) return;  // lanes that poll one flag
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
    stored_ = stored_ || (access.is_write && !access.is_atomic);
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
      return !reads(i.row->hardware);
    default:
      return true;
  }
}

}  // namespace margay
