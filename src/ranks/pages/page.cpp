#include "ranks/pages/page.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

namespace margay::ranks {
namespace {

std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace

// Four sums side by side, each step of which can be undone: two pages that differ in one word never
// have the same sum.
std::uint64_t fingerprint(std::span<const std::byte, kPageBytes> page) {
  constexpr std::uint64_t kFirst = 0x9e3779b97f4a7c15, kSecond = 0xc2b2ae3d27d4eb4f;
  std::array<std::uint64_t, 4> sums = {1, 2, 3, 4};
  for (std::size_t at = 0; at < page.size(); at += 32)
    for (std::size_t n = 0; n < 4; ++n)
      sums[n] = std::rotl(sums[n] + word_at(page.data() + at + 8 * n) * kSecond, 31) * kFirst;
  std::uint64_t all = 0;
  for (const std::uint64_t sum : sums) all = std::rotl(all ^ sum * kSecond, 27) * kFirst;
  return all ^ all >> 29;
}

bool can_read_pages() {
  const std::uint64_t from = 1;
  std::uint64_t to = 0;
  const iovec there{const_cast<std::uint64_t*>(&from), sizeof from}, here{&to, sizeof to};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof to && to == from;
}

void read_page(std::uint64_t address, Page& out) {
  // The kernel checks the addresses: other threads of the program may unmap memory at any time.
  const iovec to{out.data(), out.size()};
  const iovec from{reinterpret_cast<void*>(address), out.size()};
  if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(out.size())) return;
  for (unsigned part = 0; part < kParts; ++part) {
    const iovec part_to{out.data() + part * kPartBytes, kPartBytes};
    const iovec part_from{reinterpret_cast<void*>(address + part * kPartBytes), kPartBytes};
    if (process_vm_readv(getpid(), &part_to, 1, &part_from, 1, 0) != kPartBytes)
      std::fill_n(out.begin() + part * kPartBytes, kPartBytes, std::byte{});
  }
}

void put_page(Writer& out, std::span<const std::byte, kPageBytes> page) {
  std::uint32_t parts = 0;
  for (unsigned part = 0; part < kParts; ++part) {
    const auto bytes = page.subspan(part * kPartBytes, kPartBytes);
    if (std::ranges::any_of(bytes, [](std::byte b) { return b != std::byte{}; }))
      parts |= 1u << part;
  }
  out.put(parts);
  for (unsigned part = 0; part < kParts; ++part)
    if (parts >> part & 1) out.put_bytes(page.subspan(part * kPartBytes, kPartBytes));
}

bool get_page(Reader& in, std::span<std::byte, kPageBytes> page) {
  const auto parts = in.get<std::uint32_t>();
  for (unsigned part = 0; part < kParts; ++part) {
    const auto to = page.subspan(part * kPartBytes, kPartBytes);
    if (parts >> part & 1) {
      const auto from = in.get_bytes(kPartBytes);
      if (from.size() == kPartBytes) std::ranges::copy(from, to.begin());
    } else {
      std::ranges::fill(to, std::byte{});
    }
  }
  return in.ok();
}

}  // namespace margay::ranks
