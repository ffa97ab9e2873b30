// One launch that ranks share. Workers return what they wrote when the launch has no workgroups
// left: until then nothing that they did has happened, so that a lost or unwilling one costs time
// and nothing else.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "exec/device/device_options.h"
#include "ranks/launch_words.h"
#include "ranks/pages/combined.h"
#include "ranks/pages/fingerprints.h"
#include "ranks/portions.h"
#include "ranks/shares.h"

namespace margay::ranks {

class SpreadLaunch final : public WorkgroupSource {
 public:
  /// `weights` by rank; rank 0 is this process.
  SpreadLaunch(const SpreadableLaunch& launch, const LaunchWords& words,
               const std::vector<unsigned>& weights);

  // ---- For the threads of this process
  [[nodiscard]] std::uint64_t next() override;
  [[nodiscard]] bool found_waiting() override;
  void stop() override;
  [[nodiscard]] ElsewhereReport report() const override;

  // ---- For the sessions of other ranks
  /// A rank takes part; false if there is nothing left to do.
  [[nodiscard]] bool join(unsigned rank);
  [[nodiscard]] Chunk more(unsigned rank);
  /// A rank has returned what it wrote; false if that is not wanted or invalid: then left() is
  /// to be called. Else the rank takes part no longer.
  [[nodiscard]] bool done(unsigned rank, const Counts& counts, std::span<const std::byte> observed,
                          std::span<const CombinedWord> words, std::span<const std::byte> changes);
  /// A rank takes part no longer, and what it took must run elsewhere. Returns how many workgroups.
  std::uint64_t left(unsigned rank, const std::string& why);
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
  std::vector<std::vector<Share>> taken_;  // by rank, since it joined
  unsigned working_ = 0;                   // ranks that take part, without this one
  unsigned joined_ = 0;
  bool stopped_ = false, waiting_ = false, ended_ = false;
  ElsewhereReport elsewhere_;
  std::uint64_t bytes_returned_ = 0, given_back_ = 0;
  std::string why_left_;
};

}  // namespace margay::ranks
