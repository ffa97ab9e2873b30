#include "ranks/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "exec/program/program.h"
#include "exec/workgroup/launch_parts.h"
#include "ranks/pages/changes.h"

namespace margay::ranks {

SpreadLaunch::SpreadLaunch(const SpreadableLaunch& launch, const LaunchWords& words,
                           const std::vector<unsigned>& weights,
                           std::shared_ptr<Experience> experience)
    : words_(words),
      module_(launch.request.module),
      kernel_(launch.program.kernel_name()),
      memory_(launch.memory),
      workgroups_(launch.request.grid.count()),
      portions_{workgroups_, words.stride},
      parts_(launch.parts),
      observer_setup_(parts_ != nullptr ? parts_->setup() : Bytes{}),
      shares_(portions_.stride, weights),
      taken_(weights.size()),
      is_unwanted_(weights.size()),
      experience_(std::move(experience)) {}

std::uint64_t SpreadLaunch::next() {
  std::unique_lock lock(mutex_);
  if (!began_) began_ = Clock::now();
  while (!stopped_) {
    if (here_.at_end())
      if (const Share one = shares_.take(0, 1); one.size() != 0)
        here_ = PortionWalk(portions_, one.begin, one.end);
    if (!here_.at_end()) {
      ++run_here_;
      return here_.next();
    }
    if (working_ == 0) break;
    if (!idle_since_) idle_since_ = Clock::now();
    const Clock::time_point until = *idle_since_ + patience();
    if (Clock::now() >= until)
      take_back();
    else
      changed_.wait_until(lock, until);
  }
  ended_ = true;
  return workgroups_;
}

SpreadLaunch::Clock::duration SpreadLaunch::patience() const {
  // A worker may have to load the code first. The longest is as good as forever.
  constexpr Clock::duration kLeast = std::chrono::milliseconds(200);
  constexpr Clock::duration kMost = std::chrono::hours(24);
  if (run_here_ == 0) return kMost;
  std::uint64_t elsewhere = 0;
  for (const std::vector<Share>& shares : taken_)
    for (const Share& share : shares) elsewhere += portions_.workgroups_in(share.begin, share.end);
  const std::chrono::duration<double> here = *idle_since_ - *began_;
  const auto needed = here * (static_cast<double>(elsewhere) / static_cast<double>(run_here_));
  if (needed >= kMost) return kMost;
  return std::max(kLeast, std::chrono::duration_cast<Clock::duration>(needed));
}

void SpreadLaunch::take_back() {
  for (unsigned rank = 0; rank < taken_.size(); ++rank) {
    if (taken_[rank].empty()) continue;
    is_unwanted_[rank] = true;
    (void)give_back_of(rank);
  }
  why_left_ = "slower";
  experience_->was_given_back(why_left_);
}

std::uint64_t SpreadLaunch::give_back_of(unsigned rank) {
  std::uint64_t count = 0;
  if (!taken_[rank].empty()) --working_;
  for (const Share& share : std::exchange(taken_[rank], {})) {
    shares_.give_back(share);
    count += portions_.workgroups_in(share.begin, share.end);
  }
  given_back_ += count;
  changed_.notify_all();
  return count;
}

bool SpreadLaunch::found_waiting() {
  const std::lock_guard lock(mutex_);
  waiting_ = true;
  return true;
}

void SpreadLaunch::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = ended_ = true;
  changed_.notify_all();
}

bool SpreadLaunch::join(unsigned rank) {
  const std::lock_guard lock(mutex_);
  if (ended_ || waiting_ || !shares_.any_left()) return false;
  taken_[rank].clear();
  ++joined_;
  return true;
}

Chunk SpreadLaunch::more(unsigned rank) {
  const std::lock_guard lock(mutex_);
  if (stopped_ || ended_ || waiting_ || is_unwanted_[rank]) return {.abandon = true};
  const Share share = shares_.take(rank, portions_.stride);
  if (share.size() != 0) {
    if (taken_[rank].empty()) ++working_;
    taken_[rank].push_back(share);
  }
  return {share.begin, share.end};
}

bool SpreadLaunch::done(unsigned rank, const Counts& counts, std::span<const std::byte> observed,
                        std::span<const CombinedWord> words, std::span<const std::byte> changes) {
  const std::lock_guard lock(mutex_);
  if (stopped_ || taken_[rank].empty() || !may_change(words) || !apply(changes, /*writes=*/false))
    return false;
  if (parts_ != nullptr && !parts_->add(observed)) return false;
  (void)apply(changes, /*writes=*/true);
  for (const CombinedWord& word : words) ranks::apply(word);
  for (const Share& share : std::exchange(taken_[rank], {}))
    elsewhere_.workgroups += portions_.workgroups_in(share.begin, share.end);
  elsewhere_.wave_instructions += counts.wave_instructions;
  elsewhere_.mfma_instructions += counts.mfma_instructions;
  bytes_returned_ += changes.size() + words.size_bytes() + observed.size();
  --working_;
  experience_->helped();
  changed_.notify_all();
  return true;
}

bool SpreadLaunch::may_change(std::span<const CombinedWord> words) const {
  AddressRange writable;
  return std::ranges::all_of(words, [&](const CombinedWord& word) {
    if (!is_valid(word)) return false;
    if (!writable.contains(word.address, word.bytes)) writable = range(word.address, true);
    return writable.contains(word.address, word.bytes);
  });
}

bool SpreadLaunch::apply(std::span<const std::byte> changes, bool writes) const {
  AddressRange writable;
  return get_changes(changes, [&](std::uint64_t address, std::span<const std::byte> bytes) {
    if (!writable.contains(address, bytes.size())) writable = range(address, true);
    if (!writable.contains(address, bytes.size())) return false;
    if (writes) std::memcpy(reinterpret_cast<void*>(address), bytes.data(), bytes.size());
    return true;
  });
}

Bytes SpreadLaunch::answer(std::span<const std::byte> question) const {
  // A worker may still ask when the launch has failed and its observer is gone.
  const std::lock_guard lock(mutex_);
  if (parts_ == nullptr || ended_) return {};
  Memory::set_view(words_.device, words_.visible_devices);
  return parts_->answer(question);
}

std::uint64_t SpreadLaunch::left(unsigned rank, const std::string& why, bool is_of_kernel) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t count = give_back_of(rank);
  if (count == 0) return 0;
  why_left_ = why;
  if (is_of_kernel) experience_->was_given_back(why);
  return count;
}

AddressRange SpreadLaunch::range(std::uint64_t address, bool writable) const {
  if (writable) return memory().accessible_range(address);
  const AddressRange pages = memory().tolerated_range(address);
  return pages.end != 0 ? pages : memory().readable_range(address);
}

const Memory& SpreadLaunch::memory() const {
  Memory::set_view(words_.device, words_.visible_devices);
  return memory_;
}

ElsewhereReport SpreadLaunch::report() const {
  const std::lock_guard lock(mutex_);
  ElsewhereReport report = elsewhere_;
  if (joined_ == 0) {
    report.text = "ranks=1 alone=short";
    return report;
  }
  report.text = fmt::format("ranks={} elsewhere={} sent={} returned={}", joined_ + 1,
                            report.workgroups, bytes_sent_.load(), bytes_returned_);
  if (given_back_ != 0) report.text += fmt::format(" run_again={} why={}", given_back_, why_left_);
  return report;
}

}  // namespace margay::ranks
