#include "observe/profile/trace_recorder.h"

#include <algorithm>

namespace margay::profile {

void WaveRecorder::issue(const InstructionFacts& facts, std::uint32_t step, std::uint32_t slot) {
  using Kind = TraceSlice::Kind;
  const Kind kind = facts.action == Action::wait      ? Kind::wait
                    : facts.action == Action::barrier ? Kind::barrier
                                                      : Kind::work;
  const bool joins = kind == Kind::work && !slices_.empty() && slices_.back().kind == kind &&
                     slices_.back().instruction_class == facts.instruction_class;
  if (!joins) {
    TraceSlice slice;
    slice.kind = kind;
    slice.instruction_class = facts.instruction_class;
    slice.begin = step;
    slice.site = slot;
    slice.vector_in_flight = vector_in_flight_;
    slice.lds_in_flight = lds_in_flight_;
    slices_.push_back(slice);
  }
  TraceSlice& slice = slices_.back();
  slice.steps = step + facts.quad_cycles - slice.begin;
  ++slice.instructions;
  if (facts.counted.vm) ++vector_in_flight_;
  if (facts.counted.lgkm) ++lds_in_flight_;
  if (kind == Kind::wait) {
    vector_in_flight_ = std::min<std::uint16_t>(vector_in_flight_, facts.wait.vm);
    lds_in_flight_ = std::min<std::uint16_t>(lds_in_flight_, facts.wait.lgkm);
  }
}

void WaveRecorder::barrier_opens(std::uint32_t step) {
  if (slices_.empty() || slices_.back().kind != TraceSlice::Kind::barrier) return;
  slices_.back().steps = step - slices_.back().begin;
}

}  // namespace margay::profile
