// The report of a watched process, kept up to date on disk: it exists however the process ends
// (_exit, exec, a signal, SIGKILL).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "report/process_table.h"

namespace margay::runtime {

class KeptReport {
 public:
  /// `path`: the report, in which %p is replaced by a unique name of this process; `table`: the
  /// file that the watcher made. Either may be empty.
  [[nodiscard]] static Result<std::unique_ptr<KeptReport>> create(const std::string& path,
                                                                  const std::string& table);

  void launch_begins(std::string_view kernel);
  /// `errors`: the number of the checker's findings in it.
  void launch_ended(std::uint64_t errors);
  void found(std::uint64_t errors);

  /// Writes the report. Unless `urgent`, only if that costs little compared with the time since it
  /// was last written: a program may make a million launches.
  void keep(bool urgent, const std::function<std::string()>& text);
  /// The last time.
  void end(const std::function<std::string()>& text);

  /// In the child after fork(): previous findings belong to the parent.
  [[nodiscard]] Status begin_again();

 private:
  using Clock = std::chrono::steady_clock;
  explicit KeptReport(std::string path) : pattern_(std::move(path)) {}
  [[nodiscard]] Status claim();
  void write(const std::function<std::string()>& text);

  const std::string pattern_;
  std::string path_;
  std::optional<report::ProcessTable> table_;
  report::ProcessEntry* entry_ = nullptr;  // in table_, or null
  std::mutex mutex_;                       // guards what follows
  Clock::time_point next_;                 // the earliest time to write again
  bool failed_ = false;                    // which has been reported
};

}  // namespace margay::runtime
