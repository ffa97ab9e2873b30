// A pull parser over LLVM's MessagePack reader. It keeps what Kernel needs and skips the rest, so
// that keys of later versions are ignored; nesting is bounded and lengths are never trusted.
#include "code_object/elf/metadata.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <limits>

#include <fmt/format.h>
#include <llvm/BinaryFormat/MsgPackReader.h>

namespace margay::code_object {
namespace {

using llvm::msgpack::Object;
using llvm::msgpack::Type;

// The note nests five levels (kernels, kernel, args, arg, value); later versions may nest deeper.
constexpr unsigned kMaxNesting = 32;
// HIP passes arguments by value in this segment; clang limits them to 4 KiB by default. The bound
// only keeps a corrupted size from becoming an allocation.
constexpr std::uint64_t kMaxKernargBytes = std::uint64_t{1} << 20;

struct KindName {
  std::string_view text;
  ArgumentKind kind;
};
// clang-format off
constexpr std::array kKinds = std::to_array<KindName>({
  {"by_value", ArgumentKind::by_value},
  {"global_buffer", ArgumentKind::global_buffer},
  {"dynamic_shared_pointer", ArgumentKind::dynamic_shared_pointer},
  {"hidden_block_count_x", ArgumentKind::hidden_block_count_x},
  {"hidden_block_count_y", ArgumentKind::hidden_block_count_y},
  {"hidden_block_count_z", ArgumentKind::hidden_block_count_z},
  {"hidden_group_size_x", ArgumentKind::hidden_group_size_x},
  {"hidden_group_size_y", ArgumentKind::hidden_group_size_y},
  {"hidden_group_size_z", ArgumentKind::hidden_group_size_z},
  {"hidden_remainder_x", ArgumentKind::hidden_remainder_x},
  {"hidden_remainder_y", ArgumentKind::hidden_remainder_y},
  {"hidden_remainder_z", ArgumentKind::hidden_remainder_z},
  {"hidden_global_offset_x", ArgumentKind::hidden_global_offset_x},
  {"hidden_global_offset_y", ArgumentKind::hidden_global_offset_y},
  {"hidden_global_offset_z", ArgumentKind::hidden_global_offset_z},
  {"hidden_grid_dims", ArgumentKind::hidden_grid_dims},
  {"hidden_printf_buffer", ArgumentKind::hidden_printf_buffer},
  {"hidden_hostcall_buffer", ArgumentKind::hidden_hostcall_buffer},
  {"hidden_multigrid_sync_arg", ArgumentKind::hidden_multigrid_sync_arg},
  {"hidden_heap_v1", ArgumentKind::hidden_heap_v1},
  {"hidden_default_queue", ArgumentKind::hidden_default_queue},
  {"hidden_completion_action", ArgumentKind::hidden_completion_action},
  {"hidden_dynamic_lds_size", ArgumentKind::hidden_dynamic_lds_size},
  {"hidden_private_base", ArgumentKind::hidden_private_base},
  {"hidden_shared_base", ArgumentKind::hidden_shared_base},
  {"hidden_queue_ptr", ArgumentKind::hidden_queue_ptr},
  {"hidden_none", ArgumentKind::hidden_none},
});
// clang-format on

ArgumentKind argument_kind(std::string_view text) {
  const auto* known = std::ranges::find(kKinds, text, &KindName::text);
  return known == kKinds.end() ? ArgumentKind::other : known->kind;
}

std::unexpected<Error> invalid(std::string what) {
  return fail(ErrorCode::invalid_image, "The metadata note " + std::move(what), {},
              "Rebuild the code object.");
}

class NoteReader {
 public:
  explicit NoteReader(Bytes note)
      : reader_(llvm::StringRef(reinterpret_cast<const char*>(note.data()), note.size())) {}

  Result<Object> next() {
    Object object;
    llvm::Expected<bool> more = reader_.read(object);
    if (!more) return invalid("is not MessagePack: " + llvm::toString(more.takeError()) + ".");
    if (!*more) return invalid("ends early.");
    return object;
  }

  Result<std::uint64_t> number(std::string_view key) {
    const Object object = MARGAY_TRY(next());
    if (object.Kind == Type::UInt) return object.UInt;
    if (object.Kind == Type::Int && object.Int >= 0) return static_cast<std::uint64_t>(object.Int);
    return invalid(fmt::format("gives no number for {}.", key));
  }

  Result<std::uint32_t> number32(std::string_view key) {
    const std::uint64_t value = MARGAY_TRY(number(key));
    if (value > std::numeric_limits<std::uint32_t>::max()) {
      return invalid(fmt::format("gives {} for {}.", value, key));
    }
    return static_cast<std::uint32_t>(value);
  }

  Result<std::string> text(std::string_view key) {
    const Object object = MARGAY_TRY(next());
    if (object.Kind == Type::String) return object.Raw.str();
    return invalid(fmt::format("gives no text for {}.", key));
  }

  /// The compiler writes flags as booleans, hand-written notes as 0 and 1.
  Result<bool> flag(std::string_view key) {
    const Object object = MARGAY_TRY(next());
    if (object.Kind == Type::Boolean) return object.Bool;
    if (object.Kind == Type::UInt) return object.UInt != 0;
    if (object.Kind == Type::Int) return object.Int != 0;
    return invalid(fmt::format("gives no flag for {}.", key));
  }

  /// Calls `entry(key)` for each entry of a map; it must consume the value.
  template <typename Entry>
  Status map(std::string_view what, Entry&& entry) {
    const Object object = MARGAY_TRY(next());
    if (object.Kind != Type::Map) return invalid(fmt::format("has no map for {}.", what));
    for (std::size_t i = 0; i < object.Length; ++i) {
      const Object key = MARGAY_TRY(next());
      if (key.Kind != Type::String) return invalid(fmt::format("has a bad key in {}.", what));
      MARGAY_CHECK(entry(std::string_view(key.Raw)));
    }
    return {};
  }

  template <typename Element>
  Status array(std::string_view what, Element&& element) {
    const Object object = MARGAY_TRY(next());
    if (object.Kind != Type::Array) return invalid(fmt::format("has no list for {}.", what));
    for (std::size_t i = 0; i < object.Length; ++i) MARGAY_CHECK(element());
    return {};
  }

  Status skip(unsigned nesting = 0) {
    if (nesting > kMaxNesting) return invalid("nests too deeply.");
    const Object object = MARGAY_TRY(next());
    if (object.Kind != Type::Array && object.Kind != Type::Map) return {};
    for (std::size_t i = 0; i < object.Length; ++i) {
      if (object.Kind == Type::Map) MARGAY_CHECK(skip(nesting + 1));
      MARGAY_CHECK(skip(nesting + 1));
    }
    return {};
  }

 private:
  llvm::msgpack::Reader reader_;
};

Result<KernelArgument> read_argument(NoteReader& note) {
  KernelArgument argument;
  bool has_offset = false, has_size = false;
  MARGAY_CHECK(note.map("an argument", [&](std::string_view key) -> Status {
    if (key == ".name")
      argument.name = MARGAY_TRY(note.text(key));
    else if (key == ".type_name")
      argument.type_name = MARGAY_TRY(note.text(key));
    else if (key == ".value_kind")
      argument.kind_text = MARGAY_TRY(note.text(key));
    else if (key == ".offset") {
      argument.offset_bytes = MARGAY_TRY(note.number32(key));
      has_offset = true;
    } else if (key == ".size") {
      argument.size_bytes = MARGAY_TRY(note.number32(key));
      has_size = true;
    } else {
      return note.skip();
    }
    return {};
  }));
  if (!has_offset || !has_size || argument.kind_text.empty()) {
    return invalid("leaves out .offset, .size or .value_kind of an argument.");
  }
  argument.kind = argument_kind(argument.kind_text);
  return argument;
}

/// Arguments are inside the segment and do not overlap; afterwards they are in segment order.
Status check_arguments(Kernel& kernel) {
  std::ranges::sort(kernel.arguments, {}, [](const KernelArgument& argument) {
    return std::pair(argument.offset_bytes, argument.size_bytes);
  });
  std::uint64_t end = 0;
  for (const KernelArgument& argument : kernel.arguments) {
    const std::uint64_t last = std::uint64_t{argument.offset_bytes} + argument.size_bytes;
    if (argument.offset_bytes < end || last > kernel.kernarg_bytes) {
      return invalid(
          fmt::format("places an argument of kernel {} at bytes {} to {} of a {}-byte "
                      "segment, {}.",
                      kernel.name, argument.offset_bytes, last, kernel.kernarg_bytes,
                      argument.offset_bytes < end ? "over another one" : "past its end"));
    }
    end = last;
  }
  return {};
}

/// The numeric keys of a kernel. The required ones come first.
struct NumberKey {
  std::string_view key;
  std::uint32_t Kernel::* field;
};
// clang-format off
constexpr std::array kNumbers = std::to_array<NumberKey>({
  {".kernarg_segment_size", &Kernel::kernarg_bytes},
  {".group_segment_fixed_size", &Kernel::lds_bytes},
  {".private_segment_fixed_size", &Kernel::scratch_bytes},
  {".max_flat_workgroup_size", &Kernel::max_workgroup_size},
  {".vgpr_count", &Kernel::vgpr_count},
  {".sgpr_count", &Kernel::sgpr_count},
  {".agpr_count", &Kernel::agpr_count},
  {".vgpr_spill_count", &Kernel::vgpr_spill_count},
  {".sgpr_spill_count", &Kernel::sgpr_spill_count},
});
// clang-format on
constexpr std::size_t kRequiredNumbers = 6;

Result<Kernel> read_kernel(NoteReader& note, const Architecture& architecture) {
  Kernel kernel;
  std::bitset<kNumbers.size()> seen;
  std::string symbol;
  std::uint64_t wave_size = architecture.wavefront_size;
  MARGAY_CHECK(note.map("a kernel", [&](std::string_view key) -> Status {
    for (std::size_t i = 0; i < kNumbers.size(); ++i) {
      if (key != kNumbers[i].key) continue;
      kernel.*kNumbers[i].field = MARGAY_TRY(note.number32(key));
      seen.set(i);
      return {};
    }
    if (key == ".symbol")
      symbol = MARGAY_TRY(note.text(key));
    else if (key == ".wavefront_size")
      wave_size = MARGAY_TRY(note.number(key));
    else if (key == ".uses_dynamic_stack")
      kernel.uses_dynamic_stack = MARGAY_TRY(note.flag(key));
    else if (key == ".args") {
      return note.array(key, [&]() -> Status {
        kernel.arguments.push_back(MARGAY_TRY(read_argument(note)));
        return {};
      });
    } else {
      return note.skip();
    }
    return {};
  }));
  if (!symbol.ends_with(".kd") || symbol.size() == 3) {
    return invalid(fmt::format("names \"{}\" as a kernel's descriptor; it should end in .kd.",
                               symbol.substr(0, 200)));
  }
  kernel.name = symbol.substr(0, symbol.size() - 3);
  for (std::size_t i = 0; i < kRequiredNumbers; ++i) {
    if (!seen[i]) return invalid(fmt::format("leaves out {} of {}.", kNumbers[i].key, kernel.name));
  }
  if (wave_size != architecture.wavefront_size) {
    return invalid(fmt::format("says that kernel {} has waves of {} lanes; {} has {}.", kernel.name,
                               wave_size, architecture.processor, architecture.wavefront_size));
  }
  if (kernel.kernarg_bytes > kMaxKernargBytes) {
    return invalid(
        fmt::format("gives kernel {} {} bytes of arguments.", kernel.name, kernel.kernarg_bytes));
  }
  if (kernel.max_workgroup_size == 0 ||
      kernel.max_workgroup_size > architecture.cu.max_workgroup_size) {
    return invalid(fmt::format("gives kernel {} workgroups of {} work-items; at most {} fit.",
                               kernel.name, kernel.max_workgroup_size,
                               architecture.cu.max_workgroup_size));
  }
  MARGAY_CHECK(check_arguments(kernel));
  return kernel;
}

}  // namespace

Result<Metadata> read_metadata(Bytes bytes, const Architecture& architecture) {
  Metadata metadata;
  NoteReader note(bytes);
  std::vector<std::uint64_t> version;
  MARGAY_CHECK(note.map("the code object", [&](std::string_view key) -> Status {
    if (key == "amdhsa.target") {
      metadata.target = MARGAY_TRY(note.text(key));
    } else if (key == "amdhsa.version") {
      return note.array(key, [&]() -> Status {
        version.push_back(MARGAY_TRY(note.number(key)));
        return {};
      });
    } else if (key == "amdhsa.kernels") {
      return note.array(key, [&]() -> Status {
        metadata.kernels.push_back(MARGAY_TRY(read_kernel(note, architecture)));
        return {};
      });
    } else {
      return note.skip();
    }
    return {};
  }));
  if (version.size() != 2) return invalid("has no amdhsa.version of two numbers.");
  metadata.version_major = version[0];
  metadata.version_minor = version[1];
  return metadata;
}

}  // namespace margay::code_object
