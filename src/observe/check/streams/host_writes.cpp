#include "observe/check/streams/host_writes.h"

#include <algorithm>
#include <cstring>

namespace margay::check {
namespace {

constexpr std::uint64_t kBlock = 256;
constexpr std::size_t kMostWatched = 256;
constexpr std::uint64_t kMostBytes = 1 << 30;

/// A digest of some bytes: each step is invertible, so that one changed word always changes it.
std::uint64_t digest(std::uint64_t begin, std::uint64_t end) {
  std::uint64_t sum = end - begin;
  for (std::uint64_t at = begin; at < end; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(at), std::min<std::uint64_t>(8, end - at));
    sum = (sum ^ word) * 0x9e3779b97f4a7c15;
    sum ^= sum >> 29;
  }
  return sum;
}

}  // namespace

void HostWrites::watch(std::shared_ptr<const Operation> copy, std::uint64_t begin,
                       std::uint64_t end, bool is_source) {
  if (end - begin > kMostBytes) return;
  bytes_ += end - begin;
  while (watched_.size() >= kMostWatched || bytes_ > kMostBytes) drop_oldest();
  Watched& watched = watched_.emplace_back();
  watched.copy = std::move(copy);
  watched.begin = begin;
  watched.end = end;
  watched.is_source = is_source;
  watched.blocks.reserve((end - begin + kBlock - 1) / kBlock);
  for (std::uint64_t at = begin; at < end; at += kBlock)
    watched.blocks.push_back(digest(at, std::min(at + kBlock, end)));
}

void HostWrites::drop_oldest() {
  bytes_ -= watched_.front().end - watched_.front().begin;
  watched_.erase(watched_.begin());
}

void HostWrites::forget(std::uint64_t begin, std::uint64_t end) {
  std::erase_if(watched_, [&](const Watched& one) {
    const bool meets = one.begin < end && begin < one.end;
    if (meets) bytes_ -= one.end - one.begin;
    return meets;
  });
}

std::vector<Finding> HostWrites::ended(const OrderClock& host) {
  std::vector<Finding> found;
  std::erase_if(watched_, [&](const Watched& one) {
    if (host.of(one.copy->line) < one.copy->number) return false;
    for (std::size_t n = 0; n < one.blocks.size(); ++n) {
      const std::uint64_t at = one.begin + n * kBlock;
      if (digest(at, std::min(at + kBlock, one.end)) == one.blocks[n]) continue;
      found.push_back(finding_of(one, n));
      break;
    }
    bytes_ -= one.end - one.begin;
    return true;
  });
  return found;
}

Finding HostWrites::finding_of(const Watched& watched, std::uint64_t block) {
  Finding f;
  f.kind = FindingKind::host_write_before_sync;
  f.message = say<Says::host_changed>(watched.is_source, watched.copy->what,
                                      watched.end - watched.begin, watched.copy->stream);
  const std::uint64_t first = block * kBlock;
  f.detail = {say<Says::host_changed_first>(
      first, std::min(first + kBlock, watched.end - watched.begin) - 1, watched.begin + first)};
  Access access;
  access.role = watched.is_source ? Role::read : Role::write;
  access.instruction = watched.copy->what;
  f.accesses = {std::move(access)};
  f.fix = Fix::copy_wait;
  f.fix_arguments = {watched.copy->stream};
  f.cause = "host write|" + watched.copy->what + (watched.is_source ? "|source" : "|target");
  return f;
}

}  // namespace margay::check
