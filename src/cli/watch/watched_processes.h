// How the processes of a watched program ended: the last state each has recorded, and what its
// report therefore lacks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "report/process_table.h"

namespace margay::cli {

struct WatchedProcess {
  std::uint32_t id = 0;
  std::uint64_t launches = 0;      ///< That began.
  std::uint64_t not_reported = 0;  ///< Of these, missing from its report.
  std::uint64_t errors = 0;        ///< The number it found and printed.
  bool ended = false;              ///< Its report is the last one and whole.
  int write_error = 0;             ///< The errno with which the report was not written; or 0.
  std::string running = {};        ///< The kernel in whose launch it ended, if in one.

  /// A message about it, in full sentences; may be empty.
  [[nodiscard]] std::string text() const;
};

/// Created before the program starts; its contents live as long as `directory`.
class ProcessWatch {
 public:
  [[nodiscard]] static Result<ProcessWatch> create(const std::filesystem::path& directory);
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Those that have used the device, in the order of their first use.
  [[nodiscard]] std::vector<WatchedProcess> processes() const;
  /// Waits for these processes: one that the program left behind still writes its report. `program`
  /// is named if the wait takes long.
  void wait(std::string_view program) const;

 private:
  ProcessWatch(std::string path, report::ProcessTable table)
      : path_(std::move(path)), table_(std::move(table)) {}
  std::string path_;
  report::ProcessTable table_;
};

}  // namespace margay::cli
