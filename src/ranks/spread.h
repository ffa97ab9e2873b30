// One launch that ranks share. Workers return what they wrote when the launch has no workgroups
// left: until then nothing that they did has happened, so that a lost or unwilling one costs time
// and nothing else. Nor does a slow one cost much: when this process has waited for it as long as
// it would take for the worker's workgroups itself, it takes them back.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/device/device_options.h"
#include "ranks/experience.h"
#include "ranks/launch_words.h"
#include "ranks/pages/combined.h"
#include "ranks/pages/fingerprints.h"
#include "ranks/portions.h"
#include "ranks/shares.h"

namespace margay::ranks {

class SpreadLaunch final : public WorkgroupSource {
 public:
  /// `weights` by rank; rank 0 is this process. `experience`: of the kernel.
  SpreadLaunch(const SpreadableLaunch& launch, const LaunchWords& words,
               const std::vector<unsigned>& weights, std::shared_ptr<Experience> experience);

  // ---- For the threads of this process
  [[nodiscard]] std::uint64_t next() override;
  [[nodiscard]] bool found_waiting() override;
  void stop() override;
  [[nodiscard]] ElsewhereReport report() const override;

  // ---- For the sessions of other ranks
  /// A rank is asked to take part; false if there is nothing left to do. It takes part from its
  /// first share on: the launch does not wait for one that has none.
  [[nodiscard]] bool join(unsigned rank);
  [[nodiscard]] Chunk more(unsigned rank);
  /// A rank has returned what it wrote; false if that is not wanted or invalid: then left() is
  /// to be called. Else the rank takes part no longer.
  [[nodiscard]] bool done(unsigned rank, const Counts& counts, std::span<const std::byte> observed,
                          std::span<const CombinedWord> words, std::span<const std::byte> changes);
  /// A rank takes part no longer, and what it took must run elsewhere. Returns how many workgroups.
  /// `is_of_kernel`: the reason is what the kernel does.
  std::uint64_t left(unsigned rank, const std::string& why, bool is_of_kernel);
  /// Of the leader's pages, when this launch began.
  [[nodiscard]] Fingerprints& fingerprints() { return fingerprints_; }
  void count_sent(std::uint64_t bytes) { bytes_sent_ += bytes; }

  /// LaunchParts::setup(); empty if the launch is not observed.
  [[nodiscard]] const Bytes& observer_setup() const { return observer_setup_; }
  /// LaunchParts::answer(); empty when the launch is over.
  [[nodiscard]] Bytes answer(std::span<const std::byte> question) const;
  /// What may be accessed around an address; sets the calling thread's view of devices.
  [[nodiscard]] AddressRange range(std::uint64_t address, bool writable) const;
  /// The launch's memory; sets the calling thread's view of devices.
  [[nodiscard]] const Memory& memory() const;
  [[nodiscard]] const LaunchWords& words() const { return words_; }
  [[nodiscard]] const CodeObject& object() const { return module_->object(); }
  [[nodiscard]] const std::string& kernel() const { return kernel_; }

 private:
  using Clock = std::chrono::steady_clock;
  /// How long this process waits for other ranks when it has nothing left to do: as long as it
  /// would take for their workgroups, by what it has taken for its own.
  [[nodiscard]] Clock::duration patience() const;
  /// What other ranks have taken is to be run here.
  void take_back();
  /// What it has taken belongs to all again. Returns how many workgroups.
  std::uint64_t give_back_of(unsigned rank);
  /// Whether all of it may be written; writes it if that is asked for.
  [[nodiscard]] bool may_change(std::span<const CombinedWord> words) const;
  [[nodiscard]] bool apply(std::span<const std::byte> changes, bool writes) const;

  const LaunchWords words_;
  const std::shared_ptr<LoadedModule> module_;
  const std::string kernel_;
  const Memory& memory_;
  const std::uint64_t workgroups_;
  const Portions portions_;
  LaunchParts* const parts_;  // null if it is not observed; only while the launch runs
  const Bytes observer_setup_;
  std::atomic<std::uint64_t> bytes_sent_ = 0;
  Fingerprints fingerprints_;

  mutable std::mutex mutex_;  // guards the members below, and the launch's memory from late changes
  std::condition_variable changed_;
  Shares shares_;
  PortionWalk here_;                       // what this process has taken
  std::vector<std::vector<Share>> taken_;  // by rank; those that have none do not take part
  std::vector<bool> is_unwanted_;          // by rank: its workgroups were taken back
  unsigned working_ = 0;                   // ranks that take part, without this one
  std::uint64_t run_here_ = 0;             // workgroups that this process was given,
  std::optional<Clock::time_point> began_, idle_since_;  // since when, and when there were no more
  const std::shared_ptr<Experience> experience_;
  unsigned joined_ = 0;
  bool stopped_ = false, waiting_ = false, ended_ = false;
  ElsewhereReport elsewhere_;
  std::uint64_t bytes_returned_ = 0, given_back_ = 0;
  std::string why_left_;
};

}  // namespace margay::ranks
