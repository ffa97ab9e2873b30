// The stream of instructions that a launch executes, and the interface of its watchers: the
// checker, the profiler, a tracer.
//
// The stream has an event for each instruction that a wave executes, including each of a run of
// matrix instructions. Its memory accesses are computed once, for all watchers. Several watchers
// may watch one launch; at most one of them may change how instructions are executed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/program/instruction_facts.h"
#include "exec/state/wave.h"
#include "exec/workgroup/observer.h"

namespace margay {

/// One instruction that one wave executes.
struct Executed {
  Wave& wave;
  const Instruction& instruction;
  const InstructionFacts& facts;
  /// The accesses of its lanes; empty if it accesses no memory.
  LaneAccesses& accesses;
};

/// Watches the workgroups of one Workgroup object, one after the other. Called by one host thread
/// at a time.
class Watcher {
 public:
  virtual ~Watcher() = default;

  /// `group` has just begun. Returns false if it is not watched.
  [[nodiscard]] virtual bool begin(Workgroup& group) = 0;
  /// The workgroup has ended or was abandoned.
  virtual void end(Workgroup& group, WorkgroupEnd how) = 0;
  /// The same of a workgroup that is not watched.
  virtual void pass(const Workgroup&) {}

  // Called for each instruction in this order; the first three before it is executed. If one of
  // them stops the wave (Wave::fault), it is not executed.

  /// Its memory accesses are not known yet.
  virtual void reach(const Executed&) {}
  /// Removes from `accesses` those that are not allowed.
  virtual void admit(const Executed&) {}
  virtual void issue(const Executed&) {}
  /// Runs it, or with the first of a run of matrix instructions the whole run; returns its
  /// handler's result.
  virtual const Instruction* execute(const Executed& event) {
    // The handler takes the lanes' addresses from the event.
    if (event.accesses.count != 0) event.wave.accesses = &event.accesses;
    const Instruction* const next = event.instruction.execute(event.wave, event.instruction);
    event.wave.accesses = nullptr;
    return next;
  }
  /// The wave continues at `next`, which does not follow the last executed instruction.
  virtual void jump(const Wave&, const Instruction& /*next*/) {}

  /// Every wave of the workgroup that has not ended is at a barrier, which now opens.
  virtual void barrier_opens(Workgroup&) {}
  /// All running waves have run for a long time without a stop: they may wait for each other.
  virtual void time_passes() {}

  /// The required order of waves: see NoObserver. Several watchers use the shortest turn, and the
  /// order of the one that executes.
  [[nodiscard]] virtual std::uint64_t quantum() { return kTurn; }
  [[nodiscard]] virtual std::uint32_t wave_in_turn(std::uint32_t turn, std::uint32_t /*waves*/) {
    return turn;
  }
  /// Whether it overrides execute() and wave_in_turn().
  [[nodiscard]] virtual bool executes() const { return false; }
};

/// Several watchers of the same workgroups.
class Watchers final : public Watcher {
 public:
  explicit Watchers(std::vector<std::unique_ptr<Watcher>> all);

  [[nodiscard]] bool begin(Workgroup& group) override;
  void end(Workgroup& group, WorkgroupEnd how) override;
  void pass(const Workgroup& group) override;
  void reach(const Executed& event) override;
  void admit(const Executed& event) override;
  void issue(const Executed& event) override;
  const Instruction* execute(const Executed& event) override;
  void jump(const Wave& wave, const Instruction& next) override;
  void barrier_opens(Workgroup& group) override;
  void time_passes() override;
  [[nodiscard]] std::uint64_t quantum() override;
  [[nodiscard]] std::uint32_t wave_in_turn(std::uint32_t turn, std::uint32_t waves) override;
  [[nodiscard]] bool executes() const override { return executor_ != nullptr; }

 private:
  const std::vector<std::unique_ptr<Watcher>> all_;
  Watcher* executor_ = nullptr;     // of all of them
  std::vector<Watcher*> watching_;  // this workgroup
};

/// Observes a launch for several watchers; all must outlive it.
class JointObserver final : public LaunchObserver {
 public:
  explicit JointObserver(std::vector<LaunchObserver*> all) : all_(std::move(all)) {}
  [[nodiscard]] std::unique_ptr<Watcher> watch(const LaunchRequest& request,
                                               Program& program) override;

 private:
  const std::vector<LaunchObserver*> all_;
};

}  // namespace margay
