// The effect of one vector memory instruction on the texture addresser (TA) and the tag lookup of
// vL1D: the number of requests, and the lines in their order.
//
// Observed on MI300X (rocprofiler-compute's vcopy data, contiguous dwordx2): 64 thread requests and
// 16 tag accesses per wave instruction (four lanes share one), four reads of 128 bytes to L2 for a
// load, eight writes of 64 bytes for a store. Not published for other widths and shapes; assumed
// here:
//   - four lanes share a tag access for each line they access, at any width;
//   - the thread requests of four lanes are merged when each is a dword or less and they are in the
//     same aligned 16 bytes (rocprofiler-compute calls that 100 % coalesced);
//   - neighbouring lanes' writes and atomics to one 64-byte sector become one request to L2.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/program/lane_access.h"

namespace margay::profile {

/// `count` lines, each `stride` lines after the one before; for each, the accessed quarters of 32
/// bytes (bit 0 the lowest).
struct LineRun {
  std::uint64_t line = 0;  ///< Address / 128.
  std::int64_t stride = 0;
  std::uint32_t count = 0;
  std::uint8_t quarters = 0;
};

struct Coalesced {
  std::uint32_t thread_requests = 0;
  std::uint32_t tag_accesses = 0;
  /// Of vL1D, which looks up a sector of 64 bytes in a cycle: those of each line that is accessed
  /// after another one. Four lanes of at most a dword that are neither contiguous nor in one sector
  /// take a cycle each (MGPUSim's mi300a.csv: spmv of 8 elements a row, whose lanes are 32 bytes
  /// apart, takes as long for each as with 16; of 4, which are 16 bytes apart, less).
  std::uint32_t lookup_cycles = 0;
  std::uint32_t sectors = 0;  ///< Of 64 bytes, each counted once.
  /// If the same bytes, each counted once, were contiguous. Sectors beyond that are accessed
  /// because runs of bytes begin or end inside a sector, because lanes between are inactive, or
  /// because the bytes are scattered.
  std::uint32_t least_sectors = 0;
  std::uint32_t misaligned_sectors = 0;
  std::uint32_t inactive_sectors = 0;
  std::uint32_t least_tag_accesses = 0;  ///< One for each four lanes.
  /// Reads: in the order of tag accesses, without repetitions of the previous line. Writes and
  /// atomics: one line for each request to L2 or two neighbouring ones.
  std::vector<LineRun> runs;
};

/// `out` is reused between calls.
void coalesce(const LaneAccess& access, Coalesced& out);

/// The same for the accesses of one instruction, whose lanes mostly are as far apart
/// as before: results are kept by the distances between lanes.
class Coalescer {
 public:
  /// Valid until the next call.
  [[nodiscard]] const Coalesced& operator()(const LaneAccess& access);

 private:
  struct Pattern {
    std::uint64_t active = 0;
    std::uint32_t bytes = 0;
    std::uint32_t phase = 0;  ///< Of the first lane in its line.
    std::uint64_t line = 0;   ///< Of the first lane, as `result` has it.
    alignas(64) std::uint64_t distance[kWaveLanes] = {};  ///< From the first lane; inactive: 0.
    Coalesced result;
  };
  static constexpr std::size_t kKept = 4;  // an unaligned row or two, and the last tile
  std::vector<std::unique_ptr<Pattern>> patterns_;
  std::size_t next_ = 0;
};

}  // namespace margay::profile
