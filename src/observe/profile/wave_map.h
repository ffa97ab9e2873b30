// The bytes that each wave of one workgroup accesses: recorded while it runs, for the maps of a
// report.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "exec/program/lane_access.h"
#include "observe/profile/memory/tensor_lines.h"
#include "report/profile/profile.h"

namespace margay::profile {

class WaveMapRecorder {
 public:
  void record(std::uint32_t wave, const LaneAccess& access);

  /// One map of LDS and one for each accessed tensor; ranges relative to the tensor's start.
  [[nodiscard]] std::vector<WaveMap> maps(const std::vector<AddressRange>& tensors) const;

 private:
  /// Fine enough for a tile row of 8 elements of 16 bits.
  static constexpr std::uint64_t kGranule = 16;
  struct Waves {
    std::uint32_t readers = 0, writers = 0;
    friend bool operator==(const Waves&, const Waves&) = default;
  };
  using Granules = std::unordered_map<std::uint64_t, Waves>;
  [[nodiscard]] static std::vector<TouchedRange> ranges(const Granules& granules,
                                                        const AddressRange& within);

  Granules lds_, global_;
};

}  // namespace margay::profile
