// The observer that makes the stream of the instructions of a workgroup's waves, for a watcher.
#pragma once

#include <memory>
#include <utility>

#include "exec/program/program.h"
#include "exec/stream/watcher.h"
#include "exec/workgroup/workgroup_run.h"

namespace margay {

/// `W`: Watcher, or a final class derived from it, whose calls are then not virtual.
template <typename W>
class StreamObserver final : public WorkgroupObserver {
 public:
  StreamObserver(std::unique_ptr<W> watcher, Program& program)
      : watcher_(std::move(watcher)), facts_(program.facts<InstructionFacts>()) {}

  void begin(Workgroup& group) override {
    begun_ = true;
    watches_ = watcher_->begin(group);
  }
  [[nodiscard]] WorkgroupEnd run(Workgroup& group) override {
    if (!watches_) {
      NoObserver nobody;
      return group.run(nobody);
    }
    return group.run(*this);
  }
  void end(Workgroup& group, WorkgroupEnd how) override {
    if (!std::exchange(begun_, false)) return;
    if (watches_)
      watcher_->end(group, how);
    else
      watcher_->pass(group);
  }

  // The interface for run_wave and Workgroup::run.
  static constexpr bool kEnabled = true;
  static constexpr bool kSeesEach = true;
  const Instruction* step(Wave& wave, const Instruction& i) {
    if (i.row == nullptr) return i.execute(wave, i);  // skipped, or stops the wave with an error
    const std::uint32_t run = matrix_run_length(i);
    const InstructionFacts& facts = facts_.of(i);
    const Executed first{wave, i, facts, accesses_};
    watcher_->reach(first);
    if (facts.form.path == MemoryForm::Path::none) {
      accesses_.count = 0;
      watcher_->issue(first);
      for (std::uint32_t n = 1; n < run; ++n) {
        const Instruction& other = (&i)[n];
        const Executed event{wave, other, facts_.of(other), accesses_};
        watcher_->reach(event);
        watcher_->issue(event);
      }
    } else {
      lane_accesses(wave, i, facts.form, accesses_);
      watcher_->admit(first);
      watcher_->issue(first);
    }
    if (wave.stop == WaveStop::fault) [[unlikely]]
      return nullptr;
    const Instruction* const next = watcher_->execute(first);
    if (next != nullptr && next != &i + run) watcher_->jump(wave, *next);
    return next;
  }
  void barrier_opens(Workgroup& group) { watcher_->barrier_opens(group); }
  void time_passes() { watcher_->time_passes(); }
  std::uint32_t wave_in_turn(std::uint32_t turn, std::uint32_t waves) {
    return watcher_->wave_in_turn(turn, waves);
  }
  std::uint64_t quantum() { return watcher_->quantum(); }

 private:
  const std::unique_ptr<W> watcher_;
  FactsTable<InstructionFacts>& facts_;
  bool begun_ = false, watches_ = false;
  LaneAccesses accesses_;
};

}  // namespace margay
