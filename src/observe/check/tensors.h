// Which tensor an access was meant for: the pointers among a kernel's arguments, what debug
// information and kittens::gl say of their shapes, and which element and tile an address would be.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/device.h"
#include "exec/lane_access.h"
#include "observe/check/global_memory.h"

namespace margay::check {

/// A pointer among a launch's arguments, and what it points at as far as that is known.
struct TensorArgument {
  bool declared = false;     ///< Known to be a pointer, from debug information.
  std::string name;          ///< "g.a", "x"; without types "the tensor at kernel argument byte 48".
  std::string type;          ///< "kittens::gl<float, -1, -1, -1, -1>"; empty for a plain pointer.
  std::string element;       ///< "bf16", "float"; empty when not known.
  AddressRange range;        ///< By its shape; without one to the end of what it points into.
  std::uint64_t memory_end;  ///< Where the allocation ends that it points into; 0: not known.
  std::uint32_t element_bytes = 0;                    ///< 0: not known.
  std::optional<std::array<std::uint64_t, 4>> shape;  ///< Batch, depth, rows, columns.
};

/// From the argument bytes of `request`; without debug information about types every word that
/// points into an allocation or a described tensor is taken for a pointer.
[[nodiscard]] std::vector<TensorArgument> tensor_arguments(const LaunchRequest& request,
                                                           const Memory& memory,
                                                           const GlobalMemory& known);

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
  std::string hint;  ///< Empty when there is nothing better to say than for any other access.
};
/// `lanes` are those of `access` that went wrong.
[[nodiscard]] Missed describe_missed(const std::vector<TensorArgument>& tensors,
                                     const std::optional<TileOperation>& operation,
                                     const LaneAccess& access, std::uint64_t lanes);

}  // namespace margay::check
