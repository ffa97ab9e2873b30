// Modelled time as people read it in a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/profile/profile.h"
#include "report/words.h"

namespace margay::profile {

enum class TimeClock : std::uint8_t { boost, sustained };

/// A screen for each kernel that has a time, those that take longest first. `full`: every line.
/// `clock`: the one whose time comes first.
[[nodiscard]] std::string time_text(const Profile& profile, const report::TextOptions& options,
                                    bool full, TimeClock clock = TimeClock::boost);

/// Parts of it, of one kernel that has a time: how long, how fast, what bounds it, what its waves
/// do; and its source lines, those that take longest first.
[[nodiscard]] std::vector<std::string> time_sentences(const KernelProfile& kernel);
[[nodiscard]] std::string time_lines_text(const KernelProfile& kernel,
                                          const report::TextOptions& options, bool full);
/// Accesses whose latency is exposed, by line; `full`: all accesses.
[[nodiscard]] std::string memory_latency_text(const KernelProfile& kernel,
                                              const report::TextOptions& options, bool full);
/// What would save more than the model's error, with where and how; `full`: all that was tried.
[[nodiscard]] std::string time_advice_text(const KernelProfile& kernel,
                                           const report::TextOptions& options, bool full);

}  // namespace margay::profile
