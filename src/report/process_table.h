// The state that the processes of a watched program share with their watcher: a table in a file
// that all of them map. The watcher creates it in full size, so that no report is lost, neither
// when a process is killed nor when the disk is full.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"

namespace margay::report {

/// One process that uses the device; fork() and exec() start another one. In shared memory, where
/// zeros are a free entry.
struct ProcessEntry {
  std::atomic<std::uint32_t> process;      ///< Its id; 0: none.
  std::atomic<std::uint32_t> write_error;  ///< The errno of a failed write of its report.
  std::atomic<std::uint32_t> running;      ///< Launches that have begun and not ended.
  std::atomic<std::uint32_t> ended;        ///< 1: its report is the last one and whole.
  std::atomic<std::uint64_t> launches;     ///< That have begun.
  std::atomic<std::uint64_t> errors;       ///< Findings of the checker.
  std::atomic<std::uint64_t> in_report;    ///< Launches included in its report on disk.
  static constexpr std::size_t kNameBytes = 88;
  char kernel[kNameBytes];  ///< Of the launch that began last, truncated; of a running one.
};
static_assert(sizeof(ProcessEntry) == 128 && std::atomic<std::uint64_t>::is_always_lock_free);

class ProcessTable {
 public:
  /// Makes the file, for the watcher.
  [[nodiscard]] static Result<ProcessTable> create(const std::string& path);
  /// Maps it, for a process that is watched.
  [[nodiscard]] static Result<ProcessTable> open(const std::string& path);
  ProcessTable(ProcessTable&& other) noexcept;
  ProcessTable& operator=(ProcessTable&&) = delete;
  ~ProcessTable();

  /// A new entry for this process; null when all are used.
  [[nodiscard]] ProcessEntry* claim();
  /// The number of an entry of this table.
  [[nodiscard]] std::size_t number_of(const ProcessEntry& entry) const {
    return static_cast<std::size_t>(&entry - entries_.data());
  }
  [[nodiscard]] std::span<const ProcessEntry> entries() const { return entries_; }

 private:
  explicit ProcessTable(std::span<ProcessEntry> entries) : entries_(entries) {}
  [[nodiscard]] static Result<ProcessTable> map(int file, const std::string& path);
  std::span<ProcessEntry> entries_;
};

}  // namespace margay::report
