// How often each s_waitcnt, s_barrier and fence ran, and what depended on it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace margay::check {

/// Not a wait, barrier or fence.
inline constexpr std::uint32_t kNoSite = ~std::uint32_t{0};

enum class Counter : std::uint8_t { vm, lgkm };

/// What a wait has proved that something later depended on.
struct Credit {
  std::uint32_t site = kNoSite;  ///< InstructionFacts::number.
  Counter counter = Counter::vm;
  std::uint8_t count = 0;  ///< The highest count that would have sufficed.
  bool sole = false;       ///< No other wait would have sufficed.
};

/// Counts for one wait, barrier or fence.
struct SiteCounts {
  std::uint64_t executions = 0;
  std::uint64_t helped = 0;     ///< Times something depended on it, or on an equivalent one.
  std::uint64_t ordered = 0;    ///< Times nothing else would have sufficed.
  std::uint64_t completed = 0;  ///< Memory instructions that a wait proved complete.
  /// The highest vmcnt and lgkmcnt with which the wait would still have proved everything that
  /// something depended on and nothing else proved; kNothing: nothing depended on it.
  static constexpr std::uint8_t kNothing = 0xff;
  std::array<std::uint8_t, 2> loosest = {kNothing, kNothing};

  /// Something depended on the wait.
  void needed(const Credit& credit) {
    ++helped;
    if (!credit.sole) return;
    ++ordered;
    std::uint8_t& highest = loosest[static_cast<std::size_t>(credit.counter)];
    highest = std::min(highest, credit.count);
  }

  void merge(const SiteCounts& other) {
    executions += other.executions;
    helped += other.helped;
    ordered += other.ordered;
    completed += other.completed;
    for (std::size_t n = 0; n < 2; ++n) loosest[n] = std::min(loosest[n], other.loosest[n]);
  }
};

/// How an instruction in flight was proven complete.
struct Completion {
  std::uint64_t wait = 0;   ///< Which of the wave's waits did it, counted from 1; 0: none did.
  std::uint64_t order = 0;  ///< Which instruction of its counter it is, counted from 1.
  Counter counter = Counter::vm;
  bool in_order = true;
};

/// The recent waits of a wave. Several may each have proven an instruction complete before
/// something depends on it: then any one of them could be missing, but not all; the last one gets
/// the credit.
class WaitHistory {
 public:
  struct Event {
    std::uint32_t site = 0;
    std::array<std::uint8_t, 2> counts = {};   ///< By Counter; at capacity: not waited for.
    std::array<std::uint64_t, 2> issued = {};  ///< Instructions each had counted.
  };
  static constexpr std::array<std::uint8_t, 2> kCapacity = {63, 15};

  void clear() { count_ = 0; }
  void add(const Event& event) { events_[count_++ % kEvents] = event; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// The wait to credit if something depends on the completion now. Only for wait != 0.
  [[nodiscard]] Credit credit(const Completion& c) const {
    const auto counter = static_cast<std::size_t>(c.counter);
    const std::uint64_t oldest = count_ > kEvents ? count_ - kEvents + 1 : 1;
    for (std::uint64_t wait = count_; wait >= std::max(c.wait, oldest); --wait) {
      const Event& event = events_[(wait - 1) % kEvents];
      const std::uint64_t newer = event.issued[counter] - c.order;
      const std::uint8_t count = event.counts[counter];
      if (count == kCapacity[counter] || (c.in_order ? newer < count : count != 0)) continue;
      return {event.site, c.counter,
              static_cast<std::uint8_t>(c.in_order ? std::min<std::uint64_t>(newer, 254) : 0),
              wait == c.wait};
    }
    return {};  // too long ago to tell
  }

 private:
  static constexpr std::uint64_t kEvents = 64;
  std::array<Event, kEvents> events_;
  std::uint64_t count_ = 0;
};

/// The last fence of a kind that had an effect, until something depends on it.
class FenceHistory {
 public:
  void clear() { site_ = kNoSite; }
  /// `had_work`: there was something to write back or to invalidate. A further fence without work
  /// is redundant with the last one.
  void ran(std::uint32_t site, bool had_work) {
    if (had_work) {
      site_ = site;
      sole_ = true;
    } else if (site != site_) {
      sole_ = false;
    }
  }
  [[nodiscard]] Credit credit() const {
    return {.site = site_, .count = SiteCounts::kNothing, .sole = sole_};
  }
  [[nodiscard]] bool any() const { return site_ != kNoSite; }

 private:
  std::uint32_t site_ = kNoSite;
  bool sole_ = false;
};

class SiteTable {
 public:
  [[nodiscard]] SiteCounts& of(std::uint32_t site) {
    if (site >= counts_.size()) counts_.resize(site + 1);
    return counts_[site];
  }
  /// Calls `visit(site, counts)` for those that ran.
  template <typename F>
  void for_each(F&& visit) const {
    for (std::uint32_t site = 0; site < counts_.size(); ++site)
      if (counts_[site].executions != 0) visit(site, counts_[site]);
  }
  void needed(const Credit& credit) {
    if (credit.site != kNoSite) of(credit.site).needed(credit);
  }

 private:
  std::vector<SiteCounts> counts_;
};

}  // namespace margay::check
