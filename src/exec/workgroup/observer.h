// The run loop of a wave, and how it is observed.
//
// An unobserved run has no overhead: the loop is a template on the observer. Tools that watch
// launches implement Watcher (exec/stream/watcher.h), which receives the stream of executed
// instructions; exec/stream/stream.h is the observer that makes the stream. Code that needs only
// each instruction is an observer itself: it runs the instruction, and may inspect the wave before
// and after.
#pragma once

#include <cstdint>
#include <memory>

#include "exec/program/turns.h"
#include "exec/state/instruction.h"
#include "exec/state/wave.h"

namespace margay {

class Workgroup;
class Program;
struct LaunchRequest;

/// The turn of a wave for observers that let it run to its next barrier or its end: limited,
/// because it may wait for other waves of its workgroup. Waves also run for this long before the
/// workgroup is checked for a deadlock.
inline constexpr std::uint64_t kQuantum = 1 << 20;

/// The observer that observes nothing, which also documents the interface:
struct NoObserver {
  /// False: `step` is never called.
  static constexpr bool kEnabled = false;
  /// False: a handler may run several instructions at once, as it does unobserved.
  static constexpr bool kSeesEach = false;
  /// Runs one instruction and returns its handler's result. For a run of matrix instructions this
  /// is the first of them (see matrix_run_length).
  const Instruction* step(Wave& wave, const Instruction& i) { return i.execute(wave, i); }
  /// Every wave of the workgroup that has not ended is at a barrier, which now opens.
  void barrier_opens(Workgroup&) {}
  /// All running waves have run for a long time without a stop: they may wait for each other.
  void time_passes() {}
  /// The wave that runs at position `turn` of a round over the workgroup's waves.
  std::uint32_t wave_in_turn(std::uint32_t turn, std::uint32_t /*wave_count*/) { return turn; }
  /// The number of instructions that the wave may run before the next wave's turn. If kTurn or
  /// less, a turn also ends before LDS is rewritten (exec/program/turns.h).
  std::uint64_t quantum() { return kTurn; }
};

/// Runs `wave` until it stops or has executed `budget` instructions; then Wave::next is where it
/// continues.
template <typename Observer>
void run_wave(Wave& wave, std::uint64_t budget, Observer& observer) {
  const Instruction* at = wave.next;
  std::uint64_t executed = 0;
  while (executed < budget) {
    // Unobserved, the instruction's own handler does this.
    if constexpr (Observer::kEnabled)
      if (executed != 0 && budget <= kTurn && ends_turn(*at)) break;
    ++executed;
    const Instruction* next;
    if constexpr (Observer::kEnabled)
      next = observer.step(wave, *at);
    else
      next = at->execute(wave, *at);
    if (next == nullptr) {
      wave.instructions += executed;
      return;  // the handler has set wave.stop and wave.next
    }
    at = next;
  }
  wave.instructions += executed;
  wave.next = at;
}

/// How the run of a workgroup ended.
enum class WorkgroupEnd : std::uint8_t {
  done,
  fault,      ///< A wave has Wave::error.
  deadlock,   ///< Workgroup::deadlock() describes the waiting waves.
  cancelled,  ///< Another workgroup of the launch failed, or the launch was interrupted.
  waiting,    ///< For other workgroups; Workgroup::run continues.
};

/// Runs the workgroups of one Workgroup object, one after the other.
class WorkgroupObserver {
 public:
  virtual ~WorkgroupObserver() = default;
  /// `group` has just begun.
  virtual void begin(Workgroup& group) = 0;
  /// Runs `group`: Workgroup::run with an observer. Called again after WorkgroupEnd::waiting.
  [[nodiscard]] virtual WorkgroupEnd run(Workgroup& group) = 0;
  /// The workgroup has ended, or was abandoned while it waits (WorkgroupEnd::deadlock or
  /// cancelled). Does nothing after the first call.
  virtual void end(Workgroup& group, WorkgroupEnd how) = 0;
};

class Watcher;
class LaunchParts;

/// Watches one launch.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  /// Called for each Workgroup object, from any host thread, which may have several.
  [[nodiscard]] virtual std::unique_ptr<Watcher> watch(const LaunchRequest& request,
                                                       Program& program) = 0;
  /// The same with the observer that makes the stream for the watcher. It is faster with the
  /// watcher's own type.
  [[nodiscard]] virtual std::unique_ptr<WorkgroupObserver> observe(const LaunchRequest& request,
                                                                   Program& program);
  /// How other processes observe a part of the launch (exec/workgroup/launch_parts.h); null: all of
  /// it runs here.
  [[nodiscard]] virtual LaunchParts* parts(const LaunchRequest& /*request*/, Program& /*program*/) {
    return nullptr;
  }
};

}  // namespace margay
