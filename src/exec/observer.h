// How the checker, the profiler and the tracer see a run: one object per host thread, told of every
// wave instruction before and after it runs. The run loop is a template on it, so that an
// unobserved run pays nothing. Addresses and lane masks are computed from the instruction and the
// wave with exec/memory_model.h.
#pragma once

#include <cstdint>

#include "exec/instruction.h"
#include "exec/wave.h"

namespace margay {

/// The interface, and the observer that observes nothing.
struct NoObserver {
  static constexpr bool kEnabled = false;
  void before(const Wave&, const Instruction&) {}
  void after(const Wave&, const Instruction&) {}
};

/// Runs `wave` until it stops or has executed `budget` instructions; then Wave::next says where it
/// goes on.
template <typename Observer>
void run_wave(Wave& wave, std::uint64_t budget, Observer& observer) {
  const Instruction* at = wave.next;
  std::uint64_t executed = 0;
  while (executed < budget) {
    ++executed;
    if constexpr (Observer::kEnabled) observer.before(wave, *at);
    const Instruction* const next = at->execute(wave, *at);
    if constexpr (Observer::kEnabled) observer.after(wave, *at);
    if (next == nullptr) {
      wave.instructions += executed;
      return;  // the handler has set wave.stop and wave.next
    }
    at = next;
  }
  wave.instructions += executed;
  wave.next = at;
}

}  // namespace margay
