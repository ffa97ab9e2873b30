// Findings as people read them, in the manner of compute-sanitizer: every line starts with
// "========= ", so that it differs from the program's own output.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "report/check/finding.h"
#include "report/words.h"

namespace margay::check {

using report::counted, report::place_of, report::short_function, report::short_place_of;
using report::stderr_text_options;
using report::TextOptions;

/// Headline, accesses, details, fix, kernel and count; for advice one line.
[[nodiscard]] std::string text_of(const Finding& finding, const TextOptions& options);
[[nodiscard]] std::string text_of(const Finding& finding);  ///< With stderr_text_options().

/// Formats findings as they arrive, over all launches of a process, until a maximum of errors and
/// notes is reached; advice has a separate maximum. Further ones are only counted.
class FindingPrinter {
 public:
  FindingPrinter(TextOptions options, std::uint64_t max_findings)
      : options_(std::move(options)), max_(max_findings) {}

  /// Errors and notes of one launch. Reports once that the maximum is reached.
  [[nodiscard]] std::string findings(std::span<const Finding> findings);
  /// The advice among `findings`, under a heading; for the end of the process.
  [[nodiscard]] std::string advice(std::span<const Finding> findings) const;

  [[nodiscard]] std::uint64_t not_shown() const { return not_shown_; }

 private:
  TextOptions options_;
  std::uint64_t max_;
  std::uint64_t shown_ = 0;
  std::uint64_t not_shown_ = 0;
  bool wait_states_headed_ = false;
};

/// "margay check: 2 errors, 1 note, 3 pieces of advice (memcheck, racecheck)", or "no errors".
[[nodiscard]] std::string summary_line(const Report& report, const TextOptions& options);

}  // namespace margay::check
