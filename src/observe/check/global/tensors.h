// Finds the tensor that an access was intended for, and the element and tile of it that an address
// corresponds to.
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
#include "report/check/statements.h"

namespace margay::check {

/// An operation of the tile library between a tensor and a tile or vector.
struct TileOperation {
  std::string tensor_type;  ///< As TensorArgument::type.
  std::uint64_t rows = 0;   ///< 0: a vector of `columns` elements.
  std::uint64_t columns = 0;
  bool counts_tiles = true;  ///< False: the coordinate counted elements.
};
/// The operation according to the innermost function of the call chain that names a tile, if its
/// rows run along the tensor's rows.
[[nodiscard]] std::optional<TileOperation> tile_operation(std::span<const SourceFrame> frames);

/// Which tensor an access missed.
struct Missed {
  /// The row, column and tile; empty if the access cannot have been intended for any of the
  /// tensors.
  std::vector<Statement> lines;
  Fix fix = Fix::other;  ///< Fix::other: nothing more than for any other access is known.
  std::vector<std::string> fix_arguments;
};
/// `lanes` are the failing lanes of `access`.
[[nodiscard]] Missed describe_missed(const std::vector<TensorArgument>& tensors,
                                     const std::optional<TileOperation>& operation,
                                     const LaneAccess& access, std::uint64_t lanes);

}  // namespace margay::check
