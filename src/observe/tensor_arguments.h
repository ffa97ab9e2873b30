// The tensors a launch works on: the pointers among its arguments, with shapes from debug
// information and kittens::gl.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/device/device.h"
#include "observe/described_tensors.h"

namespace margay {

/// A pointer among a launch's arguments, and what it points at if known.
struct TensorArgument {
  bool declared = false;   ///< Known to be a pointer, from debug information.
  std::string name;        ///< "g.a", "x"; empty where neither types nor metadata name it.
  std::size_t offset = 0;  ///< Of the pointer, in the bytes of the arguments.
  std::string type;        ///< "kittens::gl<float, -1, -1, -1, -1>"; empty for a plain pointer.
  std::string element;     ///< "bf16", "float"; empty when not known.
  AddressRange range;  ///< By its shape; without one up to the end of the memory it points into.
  std::uint64_t memory_end;  ///< The end of the allocation that it points into; 0: not known.
  std::uint32_t element_bytes = 0;                    ///< 0: not known.
  std::optional<std::array<std::uint64_t, 4>> shape;  ///< Batch, depth, rows, columns.
  bool strided =
      false;  ///< Rows are further apart than in a contiguous tensor: it has no shape here.
};

/// From the argument bytes of `request`; without debug information about types every word that
/// points into an allocation or a described tensor is assumed to be a pointer.
[[nodiscard]] std::vector<TensorArgument> tensor_arguments(const LaunchRequest& request,
                                                           const Memory& memory,
                                                           const DescribedTensors& known);

/// The arguments "float, 1, sv<x, 2>" of "gl<float, 1, sv<x, 2>>..."; `text` begins after the "<".
/// Empty if there is no closing ">".
[[nodiscard]] std::vector<std::string_view> template_arguments(std::string_view text);

/// A number as templates print it ("64", "64ul", "-1"); empty for anything else.
[[nodiscard]] std::optional<std::int64_t> template_number(std::string_view text);

inline constexpr std::string_view kTensorType = "kittens::gl<";

}  // namespace margay
