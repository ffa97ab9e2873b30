// The fingerprints of the leader's pages as they were when the first rank asked during a launch:
// all ranks ask for many of the same pages, and each is read once.
//
// A page that a workgroup has changed meanwhile still counts as what it was: who keeps it lacks
// only bytes that other workgroups of this launch have written, which its own do not read.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "ranks/pages/page.h"

namespace margay::ranks {

class Fingerprints {
 public:
  /// Of the page at `address`. From any thread.
  [[nodiscard]] std::uint64_t of(std::uint64_t address) {
    Part& part = parts_[address / kPageBytes % parts_.size()];
    // Held while the page is read: the others that want it wait.
    const std::lock_guard lock(part.mutex);
    const auto [at, is_new] = part.known.try_emplace(address);
    if (is_new) {
      Page page;
      read_page(address, page);
      at->second = fingerprint(page);
    }
    return at->second;
  }

 private:
  struct Part {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::uint64_t> known;
  };
  std::array<Part, 64> parts_;
};

}  // namespace margay::ranks
