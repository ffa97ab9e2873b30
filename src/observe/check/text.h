// Findings as people read them, in the manner of compute-sanitizer: every line starts with
// "========= ", so that it is told apart from the program's own output.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "observe/check/finding.h"

namespace margay::check {

struct TextOptions {
  bool colour = false;
  std::string directory = {};  ///< Files below it are shown relative to it. Empty: all in full.
};

/// For the process's stderr: its current directory, and colour where stderr is a terminal and
/// neither NO_COLOR nor TERM=dumb speaks against it.
[[nodiscard]] TextOptions stderr_text_options();

/// Headline, accesses, details, fix, kernel and count; for advice one line.
[[nodiscard]] std::string text_of(const Finding& finding, const TextOptions& options);
[[nodiscard]] std::string text_of(const Finding& finding);  ///< With stderr_text_options().

/// Gives the text of findings as they come, over all launches of a process, until a maximum of
/// errors and notes is reached; advice has a maximum of its own. What is over is only counted.
class FindingPrinter {
 public:
  FindingPrinter(TextOptions options, std::uint64_t max_findings)
      : options_(std::move(options)), max_(max_findings) {}

  /// Errors and notes of one launch. Says once that the maximum is reached.
  [[nodiscard]] std::string findings(std::span<const Finding> findings);
  /// The advice among `findings`, under a heading; for the end of the process.
  [[nodiscard]] std::string advice(std::span<const Finding> findings) const;

  [[nodiscard]] std::uint64_t not_shown() const { return not_shown_; }

 private:
  TextOptions options_;
  std::uint64_t max_;
  std::uint64_t shown_ = 0;
  std::uint64_t not_shown_ = 0;
};

/// "margay check: 2 errors, 1 note, 3 pieces of advice (memcheck, racecheck)", or "no errors".
[[nodiscard]] std::string summary_line(const Report& report, const TextOptions& options);

/// A function's name without return type and parameters, and without template arguments where they
/// are long.
[[nodiscard]] std::string short_function(std::string_view name);

/// "gemm.cpp:71 in load": files below `directory` relative to it. Empty when there is no line.
[[nodiscard]] std::string place_of(const SourceFrame& frame, std::string_view directory);

/// "1 error", "2 errors": `plural` where it is not the word and an s.
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view word,
                                  std::string_view plural = {});

}  // namespace margay::check
