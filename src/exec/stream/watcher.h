// What a launch executes, as a stream, and who watches it: the checker, the profiler, a tracer.
//
// The stream has an event for each instruction that a wave executes, those of a run of matrix
// instructions one by one. What it touches in memory is worked out once, for all watchers. Several
// watchers may watch one launch; one of them at most may have instructions executed in another way.
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
  /// What its lanes touch; none where it touches no memory.
  LaneAccesses& accesses;
};

/// Watches the workgroups that one Workgroup object is used for, one after the other. Called by one
/// host thread at a time.
class Watcher {
 public:
  virtual ~Watcher() = default;

  /// `group` has just begun. False: it is not watched.
  [[nodiscard]] virtual bool begin(Workgroup& group) = 0;
  /// It has come to its end, or was left.
  virtual void end(Workgroup& group, WorkgroupEnd how) = 0;

  // Of each instruction in this order; the first three before it is executed. Where one of them
  // stops the wave (Wave::fault), it is not.

  /// What it touches in memory is not known yet.
  virtual void reach(const Executed&) {}
  /// Takes out of `accesses` what may not be touched.
  virtual void admit(const Executed&) {}
  virtual void issue(const Executed&) {}
  /// Runs it, a run of matrix instructions with the first; gives what its handler returns.
  virtual const Instruction* execute(const Executed& event) {
    return event.instruction.execute(event.wave, event.instruction);
  }
  /// The wave goes on at `next`, which does not follow upon what it executed last.
  virtual void jump(const Wave&, const Instruction& /*next*/) {}

  /// Every wave of the workgroup that has not ended is at a barrier, which now opens.
  virtual void barrier_opens(Workgroup&) {}
  /// All running waves have run for long, and none has stopped: they may wait for each other.
  virtual void time_passes() {}

  /// The order of waves that it needs: see NoObserver. Of several watchers the shortest turn, and
  /// the order of the one that executes.
  [[nodiscard]] virtual std::uint64_t quantum() { return kTurn; }
  [[nodiscard]] virtual std::uint32_t wave_in_turn(std::uint32_t turn, std::uint32_t /*waves*/) {
    return turn;
  }
  /// Whether it has execute() and wave_in_turn() of its own.
  [[nodiscard]] virtual bool executes() const { return false; }
};

/// Several that watch the same.
class Watchers final : public Watcher {
 public:
  explicit Watchers(std::vector<std::unique_ptr<Watcher>> all);

  [[nodiscard]] bool begin(Workgroup& group) override;
  void end(Workgroup& group, WorkgroupEnd how) override;
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

/// Observes a launch for several; all must outlive it.
class JointObserver final : public LaunchObserver {
 public:
  explicit JointObserver(std::vector<LaunchObserver*> all) : all_(std::move(all)) {}
  [[nodiscard]] std::unique_ptr<Watcher> watch(const LaunchRequest& request,
                                               Program& program) override;

 private:
  const std::vector<LaunchObserver*> all_;
};

}  // namespace margay
