// The activity of the waves of one workgroup, step by step, as slices for a timeline.
#pragma once

#include <cstdint>
#include <vector>

#include "observe/profile/instruction_facts.h"
#include "report/profile/profile.h"

namespace margay::profile {

class WaveRecorder {
 public:
  /// The instruction begins at `step`. Instructions of one class become one slice.
  void issue(const InstructionFacts& facts, std::uint32_t step, std::uint32_t slot);
  /// The barrier at which the wave waits opens.
  void barrier_opens(std::uint32_t step);

  [[nodiscard]] const std::vector<TraceSlice>& slices() const { return slices_; }

 private:
  std::vector<TraceSlice> slices_;
  std::uint16_t vector_in_flight_ = 0, lds_in_flight_ = 0;
};

}  // namespace margay::profile
