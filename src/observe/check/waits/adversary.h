// `--adversarial`: results arrive as late as the ISA allows, and waves take turns in a random
// order. A program that relies on timing then gives wrong results; a correct one is unaffected.
//
// A memory instruction's operands are saved, and it runs, or its results are written to the
// registers, when a wait (or the end of the wave, or a full counter) proves that it is complete:
//   LDS instructions and loads straight to LDS run that late;
//   global stores run at the next barrier, the wave's next global access or then, whichever is
//   first, because a workgroup's waves share a cache that serves them in order;
//   other loads read memory at once and write the result late.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "exec/program/register_use.h"
#include "exec/state/wave.h"

namespace margay::check {

/// A memory instruction with the operands it had when it was issued.
struct DeferredInstruction {
  const Instruction* instruction = nullptr;
  const RegisterUse* use = nullptr;
  std::vector<std::uint16_t> rows;      ///< That it reads.
  std::vector<std::uint32_t> contents;  ///< 64 lanes of each.
  std::array<std::uint32_t, kScalarRegisters> scalars{};
  bool performed = false;              ///< It has run; only its results are deferred:
  std::vector<std::uint32_t> results;  ///< of the rows it writes, in order,
  std::array<std::uint32_t, kScalarRegisters> scalar_results{};  ///< and the scalars.
};

[[nodiscard]] std::unique_ptr<DeferredInstruction> defer(const Wave& wave, const Instruction& i,
                                                         const RegisterUse& use);
/// Runs it now but does not write its results to the registers. `before_it` is called when its
/// operands are in place.
void perform(Wave& wave, DeferredInstruction& deferred,
             const std::function<void()>& before_it = {});
/// Runs it now if it has not run, and writes its results to the registers. A fault is left in the
/// wave.
void deliver(Wave& wave, DeferredInstruction& deferred);

/// The order in which waves run, and for how long. The same seed gives the same turns for the same
/// workgroup, on any host thread.
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
