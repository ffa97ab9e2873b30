#include "observe/tensor_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace margay {
namespace {

constexpr std::uint64_t kNullPage = 4096;

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t offset, std::size_t size) {
  std::uint64_t value = 0;
  if (size <= sizeof value && offset <= bytes.size() && size <= bytes.size() - offset)
    std::memcpy(&value, bytes.data() + offset, size);
  return value;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::vector<std::string_view> template_arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '(') ++depth;
    if ((c == ',' || c == '>') && depth == 0) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
      if (c == '>') return parts;
    }
    if (c == '>' || c == ')') --depth;
  }
  return {};
}

std::optional<std::int64_t> template_number(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const std::int64_t value = std::strtoll(copy.c_str(), &end, 10);
  if (end == copy.c_str() || std::string_view(end).find_first_not_of("ul") != std::string::npos)
    return std::nullopt;
  return value;
}

namespace {

std::string element_name(std::string_view type) {
  if (type == "__hip_bfloat16") return "bf16";
  if (type == "__half") return "half";
  return std::string(type);
}

/// Fills in the shape of the kittens::gl that `pointer` is the address of. Dimensions fixed at
/// compile time are in its type; the others are in base classes, one for each.
void read_shape(TensorArgument& tensor, const ArgumentField& pointer,
                std::span<const ArgumentField> fields, std::span<const std::byte> arguments) {
  const auto parts = template_arguments(std::string_view(tensor.type).substr(kTensorType.size()));
  if (parts.size() < 5) return;
  tensor.element = element_name(parts[0]);
  tensor.strided = std::ranges::find(parts, "kittens::strided") != parts.end();
  if (tensor.strided) return;
  std::array<std::uint64_t, 4> shape{};
  for (std::size_t axis = 0; axis < 4; ++axis) {
    const auto fixed = template_number(parts[axis + 1]);
    if (!fixed) return;
    if (*fixed > 0) {
      shape[axis] = static_cast<std::uint64_t>(*fixed);
      continue;
    }
    const std::string kept = fmt::format("kittens::detail::gl_dim<{}, -1>", axis);
    const auto field = std::ranges::find_if(fields, [&](const ArgumentField& f) {
      return f.kind == ArgumentField::Kind::integer && f.path.starts_with(tensor.name + ".") &&
             f.enclosing.size() == pointer.enclosing.size() + 1 && f.enclosing.back() == kept;
    });
    if (field == fields.end()) return;
    shape[axis] = word_at(arguments, field->offset_bytes, field->size_bytes);
  }
  if (std::ranges::find(shape, 0) == shape.end()) tensor.shape = shape;
}

/// The end of the tensor: by its shape, or by the memory it points into, if known.
void find_extent(TensorArgument& tensor, const Memory& memory, const DescribedTensors& known) {
  const std::uint64_t begin = tensor.range.begin;
  const Tensor* const described = known.at(begin);
  if (const auto allocation = memory.find(begin)) tensor.memory_end = allocation->range.end;
  // An allocation may hold another tensor than the one that was described last.
  if (described != nullptr && described->range.begin == begin && !tensor.shape && !tensor.strided &&
      (tensor.memory_end == 0 || described->range.end <= tensor.memory_end)) {
    tensor.shape = described->shape;
    tensor.element_bytes = described->element_bytes;
  }
  tensor.range.end = tensor.memory_end;
  if (tensor.range.end == 0 && described != nullptr) tensor.range.end = described->range.end;
  if (tensor.shape && tensor.element_bytes != 0) {
    std::uint64_t elements = 1;
    for (const std::uint64_t size : *tensor.shape) elements *= size;
    tensor.range.end = begin + elements * tensor.element_bytes;
  }
  tensor.range.end = std::max(tensor.range.end, begin);
}

std::vector<TensorArgument> typed_arguments(std::span<const ArgumentField> fields,
                                            std::span<const std::byte> arguments) {
  std::vector<TensorArgument> tensors;
  for (const ArgumentField& field : fields) {
    if (field.kind != ArgumentField::Kind::pointer) continue;
    TensorArgument tensor{};
    tensor.declared = true;
    tensor.offset = field.offset_bytes;
    tensor.range.begin = word_at(arguments, field.offset_bytes, field.size_bytes);
    if (tensor.range.begin < kNullPage) continue;
    tensor.name = field.path;
    tensor.element = element_name(field.pointee);
    tensor.element_bytes = field.pointee_bytes;
    if (!field.enclosing.empty() && field.enclosing.back().starts_with(kTensorType)) {
      tensor.type = field.enclosing.back();
      tensor.name.resize(std::min(tensor.name.rfind('.'), tensor.name.size()));
      read_shape(tensor, field, fields, arguments);
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

/// The name from the metadata, which few compilers write; a pointer to global memory that clang has
/// cast is "x.coerce" there.
std::string name_of(const KernelArgument& argument) {
  constexpr std::string_view kCast = ".coerce";
  return argument.name.ends_with(kCast)
             ? argument.name.substr(0, argument.name.size() - kCast.size())
             : argument.name;
}

/// What the metadata, and the program, say of a pointer.
void describe(TensorArgument& tensor, const Kernel& kernel) {
  const auto argument = std::ranges::find_if(kernel.arguments, [&](const KernelArgument& a) {
    return a.offset_bytes == tensor.offset && a.kind == ArgumentKind::global_buffer;
  });
  if (argument == kernel.arguments.end()) return;
  tensor.name = name_of(*argument);
  if (argument->element_bytes == 0 || argument->shape[3] == 0) return;
  tensor.element = argument->type_name;
  tensor.element_bytes = argument->element_bytes;
  tensor.shape = argument->shape;
}

/// Whether the pointer at `at` is in a parameter of which no field is known: debug information may
/// have no more than the name of a class.
bool may_be_pointer(std::size_t at, const Kernel& kernel, std::span<const ArgumentField> fields) {
  if (fields.empty()) return true;
  const auto holds = [&](const auto& part) {
    return at + 8 > part.offset_bytes && at < part.offset_bytes + part.size_bytes;
  };
  return std::ranges::none_of(fields, holds) &&
         std::ranges::any_of(kernel.arguments, [&](const KernelArgument& argument) {
           return (argument.kind == ArgumentKind::by_value ||
                   argument.kind == ArgumentKind::global_buffer) &&
                  holds(argument);
         });
}

std::vector<TensorArgument> untyped_arguments(const Kernel& kernel,
                                              std::span<const ArgumentField> fields,
                                              std::span<const std::byte> arguments,
                                              const Memory& memory, const DescribedTensors& known) {
  std::vector<TensorArgument> tensors;
  for (std::size_t at = 0; at + 8 <= arguments.size(); at += 8) {
    if (!may_be_pointer(at, kernel, fields)) continue;
    const std::uint64_t value = word_at(arguments, at, 8);
    if (value < kNullPage || (!memory.find(value) && known.at(value) == nullptr)) continue;
    TensorArgument& tensor = tensors.emplace_back();
    tensor.range.begin = value;
    tensor.offset = at;
    describe(tensor, kernel);
  }
  return tensors;
}

}  // namespace

std::vector<TensorArgument> tensor_arguments(const LaunchRequest& request, const Memory& memory,
                                             const DescribedTensors& known) {
  const auto fields = request.module->object().argument_fields(*request.kernel);
  auto tensors = typed_arguments(fields, request.arguments);
  for (TensorArgument& tensor :
       untyped_arguments(*request.kernel, fields, request.arguments, memory, known))
    tensors.push_back(std::move(tensor));
  std::ranges::stable_sort(tensors, {}, &TensorArgument::offset);
  for (TensorArgument& tensor : tensors) find_extent(tensor, memory, known);
  return tensors;
}

}  // namespace margay
