#include "observe/check/waits/adversary.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "exec/rows/row_table.h"
#include "exec/workgroup/observer.h"

namespace margay::check {
namespace {

/// After this many turns a wave gets full quanta, so that a deadlock is recognised.
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

namespace {

constexpr std::size_t kRowBytes = sizeof(std::uint32_t) * kWaveLanes;

/// Rows that the instruction reads or writes.
std::vector<std::uint16_t> rows_of(const RegisterUse& use, std::uint32_t rows, bool reads) {
  std::vector<std::uint16_t> out;
  for (std::uint16_t row = 0; row < rows; ++row)
    if (contains(use.writes, row) || (reads && contains(use.reads, row))) out.push_back(row);
  return out;
}

}  // namespace

// Puts the operands in place, runs the instruction, and removes its results again.
void perform(Wave& wave, DeferredInstruction& deferred, const std::function<void()>& before_it) {
  const RegisterUse& use = *deferred.use;
  const std::vector<std::uint16_t> touched = rows_of(use, wave.vgpr_rows, true);
  std::vector<std::uint32_t> before(touched.size() * kWaveLanes);
  for (std::size_t n = 0; n < touched.size(); ++n)
    std::memcpy(&before[n * kWaveLanes], wave.row(touched[n]), kRowBytes);
  std::array<std::uint32_t, kScalarRegisters> scalars;
  std::copy_n(wave.s, kScalarRegisters, scalars.begin());

  for (std::size_t n = 0; n < deferred.rows.size(); ++n)
    std::memcpy(wave.row(deferred.rows[n]), &deferred.contents[n * kWaveLanes], kRowBytes);
  std::copy_n(deferred.scalars.begin(), kScalarRegisters, wave.s);
  if (before_it) before_it();
  (void)deferred.instruction->execute(wave, *deferred.instruction);

  for (const std::uint16_t row : rows_of(use, wave.vgpr_rows, false)) {
    const std::uint32_t* const from = wave.row(row);
    deferred.results.insert(deferred.results.end(), from, from + kWaveLanes);
  }
  std::copy_n(wave.s, kScalarRegisters, deferred.scalar_results.begin());
  for (std::size_t n = 0; n < touched.size(); ++n)
    std::memcpy(wave.row(touched[n]), &before[n * kWaveLanes], kRowBytes);
  std::copy_n(scalars.begin(), kScalarRegisters, wave.s);
  deferred.performed = true;
}

void deliver(Wave& wave, DeferredInstruction& deferred) {
  if (!deferred.performed) perform(wave, deferred);
  std::uint64_t exec;
  std::memcpy(&exec, &deferred.scalars[kExecIndex], sizeof exec);
  std::size_t n = 0;
  for (const std::uint16_t row : rows_of(*deferred.use, wave.vgpr_rows, false)) {
    std::uint32_t* const to = wave.row(row);
    for (unsigned lane = 0; lane < kWaveLanes; ++lane, ++n)
      if (exec >> lane & 1) to[lane] = deferred.results[n];
  }
  for (std::uint32_t index = 0; index < kScalarRegisters; ++index)
    if (contains(deferred.use->scalar_writes, index))
      wave.s[index] = deferred.scalar_results[index];
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
