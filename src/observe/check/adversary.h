// `--adversarial`: results come as late as the ISA allows, and waves take turns in a random order.
// A program that relies on timing then shows it in its results; a correct one does not notice.
//
// A memory instruction is put off: its operands are kept, and it runs when a wait (or the end of
// the wave, or a full counter) proves that it is complete.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "exec/register_use.h"
#include "exec/wave.h"

namespace margay::check {

/// A memory instruction with the operands it had when it was issued.
struct DeferredInstruction {
  const Instruction* instruction = nullptr;
  const RegisterUse* use = nullptr;
  std::vector<std::uint16_t> rows;      ///< That it reads.
  std::vector<std::uint32_t> contents;  ///< 64 lanes of each.
  std::array<std::uint32_t, kScalarRegisters> scalars{};
};

[[nodiscard]] std::unique_ptr<DeferredInstruction> defer(const Wave& wave, const Instruction& i,
                                                         const RegisterUse& use);
/// Runs it now: what it writes stays, everything else is as before. A fault is left in the wave.
void deliver(Wave& wave, const DeferredInstruction& deferred);

/// In which order waves run, and for how long. The same seed gives the same turns for the same
/// workgroup, whatever host thread runs it.
class RandomTurns {
 public:
  explicit RandomTurns(std::uint64_t seed) : seed_(seed) {}
  void begin_workgroup(std::uint64_t id) {
    engine_.seed(seed_ * 0x9e3779b97f4a7c15u + id);
    turns_ = 0;
  }
  [[nodiscard]] std::uint32_t wave_in_turn(std::uint32_t turn, std::uint32_t wave_count);
  [[nodiscard]] std::uint64_t quantum();

 private:
  std::uint64_t seed_;
  std::mt19937_64 engine_;
  std::vector<std::uint32_t> order_;
  std::uint64_t turns_ = 0;
};

}  // namespace margay::check
