#include "report/process_table.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace margay::report {
namespace {

// Enough for a build of thousands of small programs under one watcher.
constexpr std::size_t kEntries = 4096;
constexpr std::size_t kBytes = kEntries * sizeof(ProcessEntry);

std::unexpected<Error> failed(std::string_view action, const std::string& path, int number) {
  return fail(ErrorCode::system,
              fmt::format("The table of watched processes cannot be {}: {}.", action,
                          std::strerror(number)),
              path, "Set TMPDIR to a directory with room that every process may write to.");
}

}  // namespace

Result<ProcessTable> ProcessTable::map(int file, const std::string& path) {
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int number = errno;
  close(file);
  if (memory == MAP_FAILED) return failed("mapped", path, number);
  return ProcessTable({static_cast<ProcessEntry*>(memory), kEntries});
}

Result<ProcessTable> ProcessTable::create(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return failed("made", path, errno);
  if (const int number = posix_fallocate(file, 0, kBytes); number != 0) {
    close(file);
    return failed("made", path, number);
  }
  return map(file, path);
}

Result<ProcessTable> ProcessTable::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return failed("opened", path, errno);
  struct stat status = {};
  if (fstat(file, &status) != 0 || status.st_size < static_cast<off_t>(kBytes)) {
    close(file);
    return failed("opened", path, EINVAL);
  }
  return map(file, path);
}

ProcessTable::ProcessTable(ProcessTable&& other) noexcept
    : entries_(std::exchange(other.entries_, {})) {}

ProcessTable::~ProcessTable() {
  if (!entries_.empty()) munmap(entries_.data(), kBytes);
}

ProcessEntry* ProcessTable::claim() {
  const auto process = static_cast<std::uint32_t>(getpid());
  for (ProcessEntry& entry : entries_) {
    std::uint32_t nobody = 0;
    if (entry.process.compare_exchange_strong(nobody, process)) return &entry;
  }
  return nullptr;
}

}  // namespace margay::report
