// See kept_report.h.
#include "runtime/watch/kept_report.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "base/fork.h"
#include "report/text_file.h"

namespace margay::runtime {
namespace {

/// Writing takes at most this fraction of the time: one in N.
constexpr int kShare = 20;

}  // namespace

Result<std::unique_ptr<KeptReport>> KeptReport::create(const std::string& path,
                                                       const std::string& table) {
  std::unique_ptr<KeptReport> kept(new KeptReport(path));
  if (!table.empty()) kept->table_.emplace(MARGAY_TRY(report::ProcessTable::open(table)));
  MARGAY_CHECK(kept->claim());
  return kept;
}

Status KeptReport::claim() {
  std::string name = std::to_string(getpid());
  if (table_) {
    entry_ = table_->claim();
    if (entry_ == nullptr)
      return fail(ErrorCode::system,
                  fmt::format("More than {} processes of one program use the device.",
                              table_->entries().size()),
                  {}, "Watch a part of the program at a time.");
    // The id alone is unchanged by exec().
    name += fmt::format("-{}", table_->number_of(*entry_));
  }
  path_ = pattern_;
  for (std::size_t at = path_.find("%p"); at != std::string::npos; at = path_.find("%p", at)) {
    path_.replace(at, 2, name);
    at += name.size();
  }
  return {};
}

void KeptReport::launch_begins(std::string_view kernel) {
  if (entry_ == nullptr) return;
  const std::size_t length = std::min(kernel.size(), report::ProcessEntry::kNameBytes - 1);
  std::memcpy(entry_->kernel, kernel.data(), length);
  entry_->kernel[length] = '\0';
  ++entry_->running;
  ++entry_->launches;
}

void KeptReport::launch_ended(std::uint64_t errors) {
  if (entry_ == nullptr) return;
  entry_->errors += errors;
  --entry_->running;
}

void KeptReport::found(std::uint64_t errors) {
  if (entry_ != nullptr) entry_->errors += errors;
}

void KeptReport::write(const std::function<std::string()>& text) {
  if (path_.empty()) return;
  const Clock::time_point began = Clock::now();
  const std::uint64_t launches = entry_ == nullptr ? 0 : entry_->launches - entry_->running;
  const Status written = report::write_text(text(), path_);
  const int number = errno;
  const Clock::time_point ended = Clock::now();
  next_ = ended + kShare * (ended - began);
  if (written) {
    if (entry_ != nullptr) {
      entry_->in_report = launches;
      entry_->write_error = 0;
    }
    return;
  }
  if (entry_ != nullptr)
    entry_->write_error = static_cast<std::uint32_t>(number == 0 ? EIO : number);
  if (std::exchange(failed_, true)) return;
  std::fputs(("margay: " + written.error().text() + "\n").c_str(), stderr);
}

void KeptReport::keep(bool urgent, const std::function<std::string()>& text) {
  const std::lock_guard lock(mutex_);
  if (urgent || Clock::now() >= next_) write(text);
}

void KeptReport::end(const std::function<std::string()>& text) {
  const std::lock_guard lock(mutex_);
  write(text);
  if (entry_ != nullptr) entry_->ended = 1;
}

Status KeptReport::begin_again() {
  begin_again_after_fork(mutex_);
  failed_ = false;
  next_ = {};
  return claim();
}

}  // namespace margay::runtime
