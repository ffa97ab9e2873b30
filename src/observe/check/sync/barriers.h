// Barriers: whether every wave reaches the same number of them, and every lane of a wave.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "exec/workgroup/workgroup.h"
#include "observe/check/findings/reporter.h"
#include "observe/check/instructions/facts.h"

namespace margay::check {

class BarrierTracker {
 public:
  explicit BarrierTracker(Reporter& reporter) : reporter_(reporter) {}

  void begin_workgroup(const Workgroup& group);
  /// A wave is about to stop at a barrier.
  void arrive(const InstructionFacts& facts, const Wave& wave);
  void end(const InstructionFacts& facts, const Wave& wave);
  /// A wave some of whose lanes were missing at a barrier continues.
  [[nodiscard]] bool watches(unsigned wave) const { return waves_[wave].missing != 0; }
  /// Such a wave runs a vector instruction: lanes that are active again have skipped the barrier.
  void watch(const InstructionFacts& facts, const Wave& wave);
  /// The workgroup has ended, or no wave can continue.
  void end_workgroup();
  void deadlock(const Workgroup& group);

 private:
  struct PerWave {
    std::vector<std::uint32_t> barriers;  ///< vaddr of each barrier it has reached.
    std::uint64_t lanes = 0;              ///< Launched.
    std::uint64_t missing = 0;            ///< Lanes that were off at some barrier.
    std::uint32_t missing_at = 0, ended_at = 0;
  };
  Reporter& reporter_;
  std::vector<PerWave> waves_;
};

}  // namespace margay::check
