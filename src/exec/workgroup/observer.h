// The run loop of a wave, and how somebody watches it.
//
// An unobserved run pays nothing: the loop is a template on the observer. Whoever watches launches
// is a Watcher (exec/stream/watcher.h), which is given the stream of what waves execute;
// exec/stream/stream.h is the observer that makes the stream. Others that only need each
// instruction are observers of their own: they run it, and may look at the wave before and after.
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

/// The turn of a wave for observers that want it to run to its next barrier or its end: still not
/// for ever, because the others of its workgroup may be what it waits for. So long, too, waves run
/// before it is looked whether they can ever go on.
inline constexpr std::uint64_t kQuantum = 1 << 20;

/// The observer that observes nothing, and the interface:
struct NoObserver {
  /// False: `step` is never called.
  static constexpr bool kEnabled = false;
  /// Runs one instruction; what its handler returns. For a run of matrix instructions this is the
  /// first of them (see matrix_run_length).
  const Instruction* step(Wave& wave, const Instruction& i) { return i.execute(wave, i); }
  /// Every wave of the workgroup that has not ended is at a barrier, which now opens.
  void barrier_opens(Workgroup&) {}
  /// All running waves have run for long, and none has stopped: they may wait for each other.
  void time_passes() {}
  /// Which wave runs as the `turn`-th of a round over the workgroup's waves.
  std::uint32_t wave_in_turn(std::uint32_t turn, std::uint32_t /*wave_count*/) { return turn; }
  /// How many instructions the wave may run before it is the next one's turn. kTurn and less: a
  /// turn ends before LDS is rewritten, too (exec/program/turns.h).
  std::uint64_t quantum() { return kTurn; }
};

/// Runs `wave` until it stops or has executed `budget` instructions; then Wave::next says where it
/// goes on.
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

/// How a workgroup's run came to its end.
enum class WorkgroupEnd : std::uint8_t {
  done,
  fault,      ///< A wave has Wave::error.
  deadlock,   ///< Workgroup::deadlock() says who waits where.
  cancelled,  ///< Another workgroup of the launch failed, or the launch was interrupted.
  waiting,    ///< For other workgroups; Workgroup::run goes on.
};

/// Runs the workgroups for which one Workgroup object is used, one after the other.
class WorkgroupObserver {
 public:
  virtual ~WorkgroupObserver() = default;
  /// `group` has just begun.
  virtual void begin(Workgroup& group) = 0;
  /// Runs `group`: Workgroup::run with an observer. Called again after WorkgroupEnd::waiting.
  [[nodiscard]] virtual WorkgroupEnd run(Workgroup& group) = 0;
  /// It has come to its end, or is left where it waits (WorkgroupEnd::deadlock or cancelled). Does
  /// nothing after the first time.
  virtual void end(Workgroup& group, WorkgroupEnd how) = 0;
};

class Watcher;

/// Watches one launch.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  /// Called for each Workgroup object, of which there may be several for a host thread, from any of
  /// them.
  [[nodiscard]] virtual std::unique_ptr<Watcher> watch(const LaunchRequest& request,
                                                       Program& program) = 0;
  /// The same with what makes the stream for the watcher. A watcher's own type makes it faster.
  [[nodiscard]] virtual std::unique_ptr<WorkgroupObserver> observe(const LaunchRequest& request,
                                                                   Program& program);
};

}  // namespace margay
