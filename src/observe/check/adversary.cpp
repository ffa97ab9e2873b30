#include "observe/check/adversary.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "exec/observer.h"

namespace margay::check {
namespace {

/// After so many turns a wave gets whole quanta, so that a deadlock is recognised.
constexpr std::uint64_t kShortTurns = 1 << 16;

}  // namespace

std::unique_ptr<DeferredInstruction> defer(const Wave& wave, const Instruction& i,
                                           const RegisterUse& use) {
  auto deferred = std::make_unique<DeferredInstruction>();
  deferred->instruction = &i;
  deferred->use = &use;
  for (std::uint16_t row = 0; row < wave.vgpr_rows; ++row) {
    if (!contains(use.reads, row)) continue;
    deferred->rows.push_back(row);
    const std::uint32_t* const from = wave.v + std::size_t{row} * kWaveLanes;
    deferred->contents.insert(deferred->contents.end(), from, from + kWaveLanes);
  }
  std::copy_n(wave.s, kScalarRegisters, deferred->scalars.begin());
  return deferred;
}

void deliver(Wave& wave, const DeferredInstruction& deferred) {
  constexpr std::size_t kRowBytes = sizeof(std::uint32_t) * kWaveLanes;
  std::vector<std::uint32_t> rows(deferred.contents.size());
  std::array<std::uint32_t, kScalarRegisters> scalars;
  std::copy_n(wave.s, kScalarRegisters, scalars.begin());
  for (std::size_t n = 0; n < deferred.rows.size(); ++n) {
    std::memcpy(&rows[n * kWaveLanes], wave.row(deferred.rows[n]), kRowBytes);
    std::memcpy(wave.row(deferred.rows[n]), &deferred.contents[n * kWaveLanes], kRowBytes);
  }
  std::copy_n(deferred.scalars.begin(), kScalarRegisters, wave.s);

  (void)deferred.instruction->execute(wave, *deferred.instruction);

  for (std::size_t n = 0; n < deferred.rows.size(); ++n)
    if (!contains(deferred.use->writes, deferred.rows[n]))
      std::memcpy(wave.row(deferred.rows[n]), &rows[n * kWaveLanes], kRowBytes);
  for (std::uint32_t index = 0; index < kScalarRegisters; ++index)
    if (!contains(deferred.use->scalar_writes, index)) wave.s[index] = scalars[index];
}

std::uint32_t RandomTurns::wave_in_turn(std::uint32_t turn, std::uint32_t wave_count) {
  if (turn == 0 || order_.size() != wave_count) {
    order_.resize(wave_count);
    std::iota(order_.begin(), order_.end(), 0u);
    std::ranges::shuffle(order_, engine_);
  }
  return order_[turn];
}

std::uint64_t RandomTurns::quantum() {
  if (++turns_ > kShortTurns) return kQuantum;
  return 1 + engine_() % 512;
}

}  // namespace margay::check
