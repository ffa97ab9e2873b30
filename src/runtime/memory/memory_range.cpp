// See memory_range.h.
#include "runtime/memory/memory_range.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <optional>

namespace margay::runtime {
namespace {

// mincore(2) fails with ENOMEM for a page that is not mapped.
bool is_page_mapped(std::uint64_t address) {
  static const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(address & ~(page_bytes - 1)), 1, &resident) == 0;
}

}  // namespace

Outcome check_range(Devices& devices, const void* pointer, std::size_t bytes,
                    std::string_view role) {
  if (bytes == 0) return {};
  if (pointer == nullptr) {
    return refuse(hipErrorInvalidValue, fmt::format("The {} is a null pointer.", role));
  }
  const auto begin = reinterpret_cast<std::uint64_t>(pointer);
  const std::uint64_t last = begin + (bytes - 1);
  Device* const device = MARGAY_TRY(devices.get());
  const Memory& memory = device->memory();
  if (memory.in_arena(begin)) {
    const std::optional<Allocation> allocation = memory.find(begin);
    if (allocation && !allocation->freed && allocation->range.contains(begin, bytes)) return {};
    Error error = memory.describe_fault(begin, bytes, role == "source" ? "read" : "write");
    error.hint = "Check the pointer and the number of bytes of this call.";
    return std::unexpected(Refusal(hipErrorInvalidValue, std::move(error)));
  }
  // Host memory: only both ends are checked, which finds the likely errors (a wild pointer, a wrong
  // size); a hole in the middle is left to the operating system.
  if (last < begin || !is_page_mapped(begin) || !is_page_mapped(last)) {
    return refuse(hipErrorInvalidValue,
                  fmt::format("The {} of {} bytes at {} is not memory of this process.", role,
                              bytes, pointer));
  }
  return {};
}

Outcome check_rows(Devices& devices, const Rows& rows, std::string_view role) {
  if (rows.width == 0 || rows.height == 0) return {};
  if (rows.pitch < rows.width) {
    return refuse(hipErrorInvalidPitchValue,
                  fmt::format("The rows of the {} are {} bytes wide, but only {} bytes apart.",
                              role, rows.width, rows.pitch));
  }
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(rows.pitch, rows.height - 1, &bytes) ||
      __builtin_add_overflow(bytes, rows.width, &bytes)) {
    return refuse(hipErrorInvalidValue,
                  fmt::format("{} rows of the {}, {} bytes apart, do not fit any memory.",
                              rows.height, role, rows.pitch));
  }
  return check_range(devices, rows.pointer, bytes, role);
}

}  // namespace margay::runtime
