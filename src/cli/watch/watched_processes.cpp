#include "cli/watch/watched_processes.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>

#include <fmt/format.h>

namespace margay::cli {

std::string WatchedProcess::text() const {
  std::string text;
  if (write_error != 0)
    text = fmt::format("the report of process {} could not be written: {}", id,
                       std::strerror(write_error));
  if (!running.empty())
    text += fmt::format("{}process {} ended in the middle of a launch of {}",
                        text.empty() ? "" : "; ", id, running);
  const std::uint64_t whole = not_reported - (running.empty() || not_reported == 0 ? 0 : 1);
  if (whole != 0)
    text += fmt::format("{}the last {} of the {} launches of process {} are not in the report",
                        text.empty() ? "" : "; ", whole, launches, id);
  return text;
}

Result<ProcessWatch> ProcessWatch::create(const std::filesystem::path& directory) {
  std::string path = (directory / "processes").string();
  report::ProcessTable table = MARGAY_TRY(report::ProcessTable::create(path));
  return ProcessWatch(std::move(path), std::move(table));
}

namespace {

/// Whether the process `id` runs and has the file at `path` mapped: ids are reused.
bool uses(std::uint32_t id, const std::string& path) {
  std::ifstream maps(fmt::format("/proc/{}/maps", id));  // empty for a zombie
  for (std::string line; std::getline(maps, line);)
    if (line.ends_with(path)) return true;
  return false;
}

}  // namespace

void ProcessWatch::wait(std::string_view program) const {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kLook{20};
  constexpr std::chrono::seconds kLong{2};
  const Clock::time_point began = Clock::now();
  bool said = false;
  for (const report::ProcessEntry& entry : table_.entries()) {
    if (entry.process == 0) break;
    while (entry.ended == 0 && uses(entry.process, path_)) {
      if (!said && Clock::now() - began > kLong) {
        fmt::print(stderr,
                   "{}: the program has ended; process {}, which it left behind, still runs\n",
                   program, entry.process.load());
        said = true;
      }
      std::this_thread::sleep_for(kLook);
    }
  }
}

std::vector<WatchedProcess> ProcessWatch::processes() const {
  std::vector<WatchedProcess> all;
  for (const report::ProcessEntry& entry : table_.entries()) {
    if (entry.process == 0) continue;
    WatchedProcess& one = all.emplace_back();
    one.id = entry.process;
    one.launches = entry.launches;
    one.not_reported = one.launches - std::min<std::uint64_t>(one.launches, entry.in_report);
    one.errors = entry.errors;
    one.ended = entry.ended != 0;
    one.write_error = static_cast<int>(entry.write_error.load());
    if (entry.running != 0 && !one.ended)
      one.running.assign(entry.kernel, strnlen(entry.kernel, sizeof entry.kernel));
  }
  return all;
}

}  // namespace margay::cli
