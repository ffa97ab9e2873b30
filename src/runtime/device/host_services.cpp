// See host_services.h.
#include "runtime/device/host_services.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "runtime/device/device_format.h"

namespace margay::runtime {
namespace {

// Source: ROCm clr, device/devhostcall.hpp (ServiceID).
constexpr std::uint32_t kPrintf = 2;
constexpr std::uint32_t kDeviceMemory = 3;

// A message's descriptor. Source: ROCm clr, device/devhcmessages.cpp; ockl.bc,
// __ockl_printf_append_args.
constexpr std::uint64_t kBegin = 1, kEnd = 2, kFlags = 3;
constexpr unsigned kCountShift = 5, kNumberShift = 8;
constexpr std::uint64_t kCountMask = 7;

// The device library allocates small blocks from slabs, and finds a block's slab by its address: a
// slab is aligned to its size. Source: ockl.bc, __ockl_dm_dealloc.
constexpr std::uint64_t kSlabBytes = 2 << 20;

// How the HIP headers begin the condition in what __assert_fail prints.
constexpr std::string_view kAssertion = "Device-side assertion `";

}  // namespace

void HostServices::begin_launch() {
  messages_.clear();
  failed_assert_.clear();
}

void HostServices::end_launch() {
  if (std::exchange(printed_, false)) std::fflush(stdout);
}

Status HostServices::serve(Memory& memory, std::uint32_t service,
                           std::span<std::uint64_t, 8> slots) {
  switch (service) {
    case kPrintf:
      take_piece(slots);
      return {};
    case kDeviceMemory:
      return give_memory(memory, slots);
    default:
      return fail(ErrorCode::not_implemented,
                  fmt::format("the kernel calls the host for service {}, which is not implemented",
                              service),
                  {}, "kernels may print (2) and allocate memory (3)");
  }
}

void HostServices::take_piece(std::span<std::uint64_t, 8> slots) {
  const std::uint64_t descriptor = slots[0];
  const std::uint64_t number =
      (descriptor & kBegin) != 0 ? next_message_++ : descriptor >> kNumberShift;
  std::vector<std::uint64_t>& message = messages_[number];
  const auto piece = slots.subspan(1, descriptor >> kCountShift & kCountMask);
  message.insert(message.end(), piece.begin(), piece.end());
  if ((descriptor & kEnd) == 0) {
    slots[0] = number << kNumberShift | (descriptor & kFlags & ~kBegin);
    return;
  }
  slots[0] = print(message);
  messages_.erase(number);
}

/// Returns what printf returns.
std::uint64_t HostServices::print(std::span<const std::uint64_t> message) {
  if (message.empty()) return 0;
  const bool to_stderr = message[0] == 1;  // else stdout
  const FormattedText formatted = format_device_message(message.subspan(1));
  if (!formatted.refused.empty()) {
    std::fprintf(stderr, "margay: printf in device code does not support %s\n",
                 formatted.refused.c_str());
  }
  if (to_stderr && formatted.text.contains(kAssertion)) {
    // Each work-item reports it, usually with the same text.
    if (!failed_assert_.empty()) return formatted.text.size();
    failed_assert_ = formatted.text.substr(0, formatted.text.find_last_not_of('\n') + 1);
  }
  std::fwrite(formatted.text.data(), 1, formatted.text.size(), to_stderr ? stderr : stdout);
  printed_ = true;
  return formatted.text.size();
}

Status HostServices::give_memory(Memory& memory, std::span<std::uint64_t, 8> slots) {
  const std::uint64_t address = slots[0], bytes = slots[1];
  if (address != 0) {
    slots[0] = 0;
    const auto slab = slabs_.extract(address);
    return memory.free(reinterpret_cast<void*>(slab.empty() ? address : slab.mapped()));
  }
  const bool is_slab = bytes == kSlabBytes;
  const Result<void*> block = memory.allocate(
      is_slab ? 2 * kSlabBytes : bytes, "malloc in device code", {.device = 0, .shared = true});
  // A kernel that requests too much gets a null pointer, as from malloc.
  slots[0] = block ? reinterpret_cast<std::uint64_t>(*block) : 0;
  if (!block || !is_slab) return {};
  const std::uint64_t begin = slots[0];
  slots[0] = (begin + kSlabBytes - 1) & ~(kSlabBytes - 1);
  slabs_.emplace(slots[0], begin);
  return {};
}

}  // namespace margay::runtime
