// Which tensor an access was meant for, and which element and tile of it an address would be.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "code_object/code_object.h"
#include "exec/program/lane_access.h"
#include "observe/tensor_arguments.h"
#include "report/check/fixes.h"

namespace margay::check {

/// An operation of the tile library between a tensor and a tile or vector.
struct TileOperation {
  std::string tensor_type;  ///< As TensorArgument::type.
  std::uint64_t rows = 0;   ///< 0: a vector of `columns` elements.
  std::uint64_t columns = 0;
  bool counts_tiles = true;  ///< False: the coordinate counted elements.
};
/// What the innermost function of the call chain that names a tile says, if there is one whose rows
/// run along the tensor's rows.
[[nodiscard]] std::optional<TileOperation> tile_operation(std::span<const SourceFrame> frames);

/// Which tensor an access missed.
struct Missed {
  /// By which row, column and tile; empty when none of the tensors can have been meant.
  std::vector<std::string> lines;
  Fix fix = Fix::other;  ///< Fix::other: nothing more than for any other access is known.
  std::vector<std::string> fix_arguments;
};
/// `lanes` are those of `access` that went wrong.
[[nodiscard]] Missed describe_missed(const std::vector<TensorArgument>& tensors,
                                     const std::optional<TileOperation>& operation,
                                     const LaneAccess& access, std::uint64_t lanes);

}  // namespace margay::check
