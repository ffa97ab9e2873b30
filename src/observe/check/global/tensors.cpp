#include "observe/check/global/tensors.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>

namespace margay::check {
namespace {

// ---- Which one, and where in it -------------------------------------------------------------

/// The tensor that holds `address`, or ends nearest below it, or else begins nearest above it.
const TensorArgument* nearest(std::span<const TensorArgument* const> tensors,
                              std::uint64_t address) {
  const auto distance = [&](const TensorArgument* t) {
    const bool before = address < t->range.begin;
    const std::uint64_t missed = before                   ? t->range.begin - address
                                 : address < t->range.end ? 0
                                                          : address - t->range.end + 1;
    return std::pair(before, missed);
  };
  const auto best = std::ranges::min_element(tensors, {}, distance);
  return best == tensors.end() ? nullptr : *best;
}

Statement name_of(const TensorArgument& tensor) {
  return say<Says::tensor>(tensor.name, tensor.offset);
}

/// "g.a (bf16, 1 x 1 x 512 x 512)"
Statement title(const TensorArgument& tensor) {
  return say<Says::tensor_title>(name_of(tensor), tensor.element, tensor.element_bytes,
                                 tensor.shape.value_or(Dimensions{}));
}

/// An element; rows past the last one of the last matrix keep counting.
struct Place {
  std::uint64_t batch = 0, depth = 0, row = 0, column = 0;
};
Place place_of(const std::array<std::uint64_t, 4>& shape, std::uint64_t line,
               std::uint64_t column) {
  const std::uint64_t matrix = std::min(line / shape[2], shape[0] * shape[1] - 1);
  return {matrix / shape[1], matrix % shape[1], line - matrix * shape[2], column};
}

Statement element_line(const TensorArgument& tensor, std::uint64_t address) {
  const std::uint64_t begin = tensor.range.begin, end = tensor.range.end;
  if (address < begin) return say<Says::before_tensor>(begin - address, title(tensor));
  const std::uint64_t offset = address - begin;
  if (tensor.element_bytes == 0)
    return address < end ? say<Says::byte_of_tensor>(offset, title(tensor))
                         : say<Says::byte_past_tensor>(offset, title(tensor), address - end);
  const std::uint64_t element = offset / tensor.element_bytes;
  if (!tensor.shape) {
    const std::uint64_t count = (end - begin) / tensor.element_bytes;
    return say<Says::element>(element, title(tensor), count);
  }
  const auto& shape = *tensor.shape;
  const Place at = place_of(shape, element / shape[3], element % shape[3]);
  const Dimensions where = {at.batch, at.depth, at.row, at.column};
  const bool several = shape[0] * shape[1] != 1;
  if (at.row >= shape[2])
    return say<Says::row_past_last>(where, several, title(tensor), at.row - shape[2] + 1);
  if (address >= end) return say<Says::row_past_end>(where, several, title(tensor), address - end);
  return say<Says::row>(where, several, title(tensor));
}

/// A pointer may have a shape that is too large: then the access is inside it.
std::optional<Statement> memory_line(const TensorArgument& tensor, std::uint64_t address) {
  if (!tensor.shape || tensor.memory_end == 0 || tensor.memory_end >= tensor.range.end ||
      address < tensor.memory_end || address >= tensor.range.end)
    return {};
  return say<Says::memory_too_short>(tensor.range.end - tensor.range.begin,
                                     tensor.memory_end - tensor.range.begin);
}

/// The number of rows by which the lanes' addresses are too far down because the column of the tile
/// was past the last one: such columns continue in the next rows. The adjacent rows that a wave
/// accesses at once begin at a multiple of their number in the tile, and the tile at a multiple of
/// that in the tensor; 0 if unknown.
std::uint64_t rows_run_on(const TensorArgument& tensor, const TileOperation& operation,
                          const LaneAccess& access) {
  const auto& shape = *tensor.shape;
  if (operation.rows == 0 || shape[2] % operation.rows != 0 || shape[3] % operation.columns != 0)
    return 0;
  std::set<std::uint64_t> lines;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const std::uint64_t at = access.at[std::countr_zero(rest)];
    if (at < tensor.range.begin) return 0;
    lines.insert((at - tensor.range.begin) / tensor.element_bytes / shape[3]);
  }
  const std::uint64_t count = lines.size();
  if (count == 0 || *lines.rbegin() - *lines.begin() + 1 != count || operation.rows % count != 0)
    return 0;
  return *lines.begin() % count;
}

Dimensions tile_at(const Place& at, const TileOperation& operation) {
  return {at.batch, at.depth, operation.rows == 0 ? at.row : at.row / operation.rows,
          at.column / operation.columns};
}

/// "64 x 128", "64 elements": an argument of a fix.
std::string size_of(const TileOperation& operation) {
  const std::string columns = std::to_string(operation.columns);
  if (operation.rows == 0) return columns + (operation.columns == 1 ? " element" : " elements");
  return std::to_string(operation.rows) + " x " + columns;
}

void add_tile(Missed& missed, const TensorArgument& tensor, const TileOperation& operation,
              const LaneAccess& access, std::uint64_t address) {
  const auto& shape = *tensor.shape;
  const bool is_vector = operation.rows == 0;
  const std::string what = is_vector ? "vector" : "tile";
  if (!operation.counts_tiles) {
    missed.lines.push_back(is_vector ? say<Says::in_vector>(operation.columns)
                                     : say<Says::in_tile>(operation.rows, operation.columns));
    return;
  }
  const std::uint64_t element = (address - tensor.range.begin) / tensor.element_bytes;
  const std::uint64_t line = element / shape[3], column = element % shape[3];
  const std::uint64_t shift = rows_run_on(tensor, operation, access);
  const Place at = place_of(shape, line - shift, column + shift * shape[3]);
  const auto tiles = [](std::uint64_t length, std::uint64_t tile) {
    return tile == 0 ? length : (length + tile - 1) / tile;
  };
  const Dimensions existing = {shape[0], shape[1], tiles(shape[2], operation.rows),
                               tiles(shape[3], operation.columns)};
  missed.lines.push_back(is_vector ? say<Says::vector>(tile_at(at, operation), operation.columns,
                                                       name_of(tensor), existing)
                                   : say<Says::tile>(tile_at(at, operation), operation.rows,
                                                     operation.columns, name_of(tensor), existing));
  missed.fix = Fix::coordinate_unit;
  missed.fix_arguments = {what, size_of(operation)};
  if (shift == 0) return;
  missed.lines.push_back(say<Says::column_runs_on>(existing[3] - 1));
  missed.fix = Fix::column_unit;
  missed.fix_arguments = {what, std::to_string(operation.columns)};
}

// ---- The operation --------------------------------------------------------------------------

/// A tile's rows and columns, or 0 and a vector's length, from the first such type in a function's
/// name. A view of a shared tile names the tile as well, so it comes first.
std::optional<TileOperation> tile_in(std::string_view name) {
  struct Kind {
    std::string_view name;
    bool is_vector;
  };
  constexpr Kind kKinds[] = {{"kittens::st_subtile<", false},
                             {"kittens::st<", false},
                             {"kittens::rt<", false},
                             {"kittens::sv<", true},
                             {"kittens::rv<", true}};
  for (const auto& [kind, is_vector] : kKinds) {
    const auto at = name.find(kind);
    if (at == name.npos) continue;
    // The element type, or the tile that is viewed, then the numbers.
    const auto parts = template_arguments(name.substr(at + kind.size()));
    const std::size_t last = is_vector ? 1 : 2;
    if (parts.size() <= last) continue;
    const auto rows = template_number(parts[1]), columns = template_number(parts[last]);
    if (!rows || !columns || *rows <= 0 || *columns <= 0) continue;
    TileOperation operation;
    operation.rows = is_vector ? 0 : static_cast<std::uint64_t>(*rows);
    operation.columns = static_cast<std::uint64_t>(*columns);
    return operation;
  }
  return std::nullopt;
}

/// "kittens::gl<float, 1, 1, -1, 8>" of a function's name; empty when there is none.
std::string tensor_type_in(std::string_view name) {
  const auto at = name.find(kTensorType);
  if (at == name.npos) return {};
  const auto parts = template_arguments(name.substr(at + kTensorType.size()));
  if (parts.empty()) return {};
  const char* const end = parts.back().data() + parts.back().size();
  return std::string(name.substr(at, static_cast<std::size_t>(end - name.data()) - at)) + ">";
}

/// True when the rows of the tile run along the tensor's batches or depths, not along its rows.
bool runs_along_other_axis(std::string_view name) {
  for (const std::string_view call : {"global_tile<", "load<", "store<"})
    for (const std::string_view axis : {"0,", "1,"})
      if (name.find(std::string(call).append(axis)) != name.npos) return true;
  return false;
}

}  // namespace

std::optional<TileOperation> tile_operation(std::span<const SourceFrame> frames) {
  std::optional<TileOperation> operation;
  for (const SourceFrame& frame : frames) {
    // A user's template may also name tiles and access something else.
    if (frame.file.find("/kittens/") == std::string::npos) continue;
    const std::string_view name = frame.function;
    std::string tensor_type = tensor_type_in(name);
    std::optional<TileOperation> tile = tensor_type.empty() ? std::nullopt : tile_in(name);
    if (!tile) continue;
    if (runs_along_other_axis(name)) return std::nullopt;
    const bool counts_elements =
        name.find("kittens::coord<kittens::ducks::default_type>") != name.npos;
    if (!operation) {
      operation = std::move(tile);
      operation->tensor_type = std::move(tensor_type);
    }
    if (counts_elements) operation->counts_tiles = false;
  }
  return operation;
}

Missed describe_missed(const std::vector<TensorArgument>& tensors,
                       const std::optional<TileOperation>& operation, const LaneAccess& access,
                       std::uint64_t lanes) {
  if (lanes == 0) return {};
  const std::uint64_t address = access.at[std::countr_zero(lanes)];
  // A null pointer and what follows it miss no tensor.
  constexpr std::uint64_t kFirstPage = 4096;
  if (address < kFirstPage) return {};
  std::vector<const TensorArgument*> candidates;
  for (const TensorArgument& tensor : tensors)
    if (operation && tensor.type == operation->tensor_type) candidates.push_back(&tensor);
  if (candidates.empty())
    for (const TensorArgument& tensor : tensors) candidates.push_back(&tensor);
  const TensorArgument* const tensor = nearest(candidates, address);
  if (tensor == nullptr) return {};
  Missed missed;
  missed.lines.push_back(element_line(*tensor, address));
  if (operation && tensor->shape && tensor->element_bytes != 0 && address >= tensor->range.begin)
    add_tile(missed, *tensor, *operation, access, address);
  if (std::optional<Statement> line = memory_line(*tensor, address)) {
    missed.lines.push_back(std::move(*line));
    missed.fix = Fix::smaller_shape;
    missed.fix_arguments.clear();
  }
  return missed;
}

}  // namespace margay::check
