// Kernel parameters; see parameters.h.
#include "code_object/dwarf/parameters.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <llvm/BinaryFormat/Dwarf.h>

namespace margay::code_object {

using namespace llvm::dwarf;

namespace {

// Far above what kernels have; a corrupted file could nest types recursively, or share one name of
// a megabyte among all.
constexpr unsigned kMaxNesting = 12;
constexpr unsigned kMaxTypeHops = 32;
constexpr std::size_t kMaxFields = 512;
constexpr std::size_t kMaxNameChars = 1024;
constexpr std::uint32_t kPointerBytes = 8;

/// An entry with its place.
struct Found {
  const Unit* unit = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t children = 0;
  Entry entry = {};

  [[nodiscard]] explicit operator bool() const { return unit != nullptr; }
  [[nodiscard]] std::uint16_t tag() const { return entry.shape->tag; }
};

bool is_transparent(std::uint16_t tag) {
  return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
         tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

bool is_integer(std::uint64_t encoding) {
  return encoding == DW_ATE_signed || encoding == DW_ATE_unsigned ||
         encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char;
}

class ParameterReader {
 public:
  ParameterReader(const DebugInfo& info, std::uint64_t& budget) : info_(info), budget_(budget) {}

  std::vector<ArgumentField> fields(const Kernel& kernel) {
    std::uint32_t scope = info_.scope_at(kernel.entry_vaddr);
    while (scope != kNoScope && info_.scope(scope).inlined) scope = info_.scope(scope).parent;
    if (scope == kNoScope) return {};
    const Found function = find(info_.scope(scope).die_offset);
    if (!function) return {};
    std::vector<Found> parameters;
    for_each_child(function, [&](const Found& child) {
      if (child.tag() == DW_TAG_formal_parameter) parameters.push_back(child);
      return parameters.size() <= kernel.arguments.size();
    });
    const auto is_explicit = [](const KernelArgument& a) { return !is_hidden(a.kind); };
    const auto arguments = std::ranges::count_if(kernel.arguments, is_explicit);
    // If the counts differ, the parameters cannot be matched.
    if (std::cmp_not_equal(parameters.size(), arguments)) return {};
    std::size_t next = 0;
    for (const KernelArgument& argument : kernel.arguments) {
      if (is_explicit(argument)) add_parameter(parameters[next++], argument);
    }
    return std::move(fields_);
  }

 private:
  /// Entries without attributes cost budget too. False when the budget is used up.
  bool spend(std::uint64_t amount) {
    budget_ -= std::min(budget_, amount);
    return budget_ != 0;
  }

  Found find(std::uint64_t offset) {
    Found found{.offset = offset};
    if (!spend(1)) return found;
    found.unit = info_.entry_at(offset, found.entry, found.children, budget_);
    return found;
  }

  /// Calls `visit` for the direct children until it returns false.
  template <typename Visit>
  void for_each_child(const Found& parent, Visit visit) {
    if (!parent.entry.shape->has_children) return;
    ByteReader reader = info_.reader_at(*parent.unit, parent.children);
    Found child{.unit = parent.unit};
    for (std::uint64_t depth = 1; depth > 0 && !reader.at_end() && spend(1);) {
      child.offset = reader.offset();
      if (!DebugInfo::read_entry(reader, *parent.unit, child.entry, budget_)) return;
      if (child.entry.is_null()) {
        --depth;
        continue;
      }
      child.children = reader.offset();
      if (depth == 1 && !visit(std::as_const(child))) return;
      if (child.entry.shape->has_children) ++depth;
    }
  }

  std::string name_of(const Found& found) {
    const auto name = info_.text(*found.unit, found.entry.name).substr(0, kMaxNameChars);
    spend(name.size() / 16);
    return std::string(name);
  }

  std::string qualified_name(const Found& type) {
    std::string name = name_of(type);
    std::uint64_t around = info_.enclosing(type.offset);
    for (unsigned level = 0; around != 0 && level < kMaxNesting; ++level) {
      const Found outer = find(around);
      if (!outer || name.size() > kMaxNameChars) break;
      if (const std::string part = name_of(outer); !part.empty()) {
        name.insert(0, part + "::");
      }
      around = info_.enclosing(around);
    }
    return name;
  }

  /// The type that an entry's DW_AT_type means, through typedefs and qualifiers.
  Found type_of(const Found& of) {
    Found at = of;
    for (unsigned hop = 0; hop < kMaxTypeHops && at.entry.type.present(); ++hop) {
      at = find(DebugInfo::target(*at.unit, at.entry.type));
      if (!at || !is_transparent(at.tag())) return at;
    }
    return {};
  }

  void add_parameter(const Found& parameter, const KernelArgument& argument) {
    begin_ = argument.offset_bytes;
    end_ = begin_ + argument.size_bytes;
    add(type_of(parameter), begin_, name_of(parameter), 0);
  }

  /// Adds the pointers and integers in a value of `type` at `offset`.
  void add(const Found& type, std::uint64_t offset, const std::string& path, unsigned nesting) {
    if (!type || nesting > kMaxNesting || path.size() > kMaxNameChars) return;
    if (offset < begin_ || offset >= end_ || fields_.size() >= kMaxFields) return;
    switch (type.tag()) {
      case DW_TAG_pointer_type:
      case DW_TAG_reference_type:
      case DW_TAG_rvalue_reference_type:
        return add_pointer(type, offset, path);
      case DW_TAG_base_type:
        if (is_integer(type.entry.encoding.value)) add_integer(type, offset, path);
        return;
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
        return add_members(type, offset, path, nesting);
      case DW_TAG_array_type:
        return add_elements(type, offset, path, nesting);
      default:
        return;
    }
  }

  ArgumentField* add_field(std::uint64_t offset, std::uint64_t size, const std::string& path) {
    if (size == 0 || size > end_ - offset) return nullptr;
    ArgumentField& field = fields_.emplace_back();
    field.offset_bytes = static_cast<std::uint32_t>(offset);
    field.size_bytes = static_cast<std::uint32_t>(size);
    field.path = path;
    field.enclosing = enclosing_;
    return &field;
  }

  void add_pointer(const Found& type, std::uint64_t offset, const std::string& path) {
    ArgumentField* const field = add_field(offset, kPointerBytes, path);
    if (field == nullptr) return;
    const Found target = type_of(type);
    if (!target) return;  // void
    field->pointee = qualified_name(target);
    if (const FormValue& size = target.entry.byte_size; size.is_constant()) {
      field->pointee_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(size.value, ~0u));
    }
  }

  void add_integer(const Found& type, std::uint64_t offset, const std::string& path) {
    const std::uint64_t size = type.entry.byte_size.value;
    ArgumentField* const field = size <= 8 ? add_field(offset, size, path) : nullptr;
    if (field == nullptr) return;
    field->kind = ArgumentField::Kind::integer;
    const std::uint64_t encoding = type.entry.encoding.value;
    field->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
  }

  void add_members(const Found& type, std::uint64_t offset, const std::string& path,
                   unsigned nesting) {
    enclosing_.push_back(qualified_name(type));
    for_each_child(type, [&](const Found& child) {
      const FormValue& location = child.entry.member_location;
      // Absent in unions; an expression where a virtual base has to be looked up.
      if (location.present() && !location.is_constant()) return true;
      const std::uint64_t at = offset + location.value;
      if (child.tag() == DW_TAG_inheritance) {
        add(type_of(child), at, path, nesting + 1);
      } else if (child.tag() == DW_TAG_member && (location.present() || is_union(type))) {
        const std::string name = name_of(child);
        add(type_of(child), at, name.empty() ? path : path + "." + name, nesting + 1);
      }
      return fields_.size() < kMaxFields;
    });
    enclosing_.pop_back();
  }
  /// Elsewhere a member without a location is static (DWARF 4).
  static bool is_union(const Found& type) { return type.tag() == DW_TAG_union_type; }

  void add_elements(const Found& type, std::uint64_t offset, const std::string& path,
                    unsigned nesting) {
    std::uint64_t count = 1;
    for_each_child(type, [&](const Found& child) {
      if (child.tag() != DW_TAG_subrange_type) return true;
      const Entry& range = child.entry;
      std::uint64_t length = range.count.is_constant() ? range.count.value : 0;
      if (range.upper_bound.is_constant()) length = range.upper_bound.value + 1;
      count = length > kMaxFields ? kMaxFields : std::min(count * length, kMaxFields);
      return true;
    });
    const Found element = type_of(type);
    if (!element) return;
    const std::uint64_t size =
        element.tag() == DW_TAG_pointer_type ? kPointerBytes : element.entry.byte_size.value;
    if (size == 0 || size > end_ - begin_) return;
    for (std::uint64_t i = 0; i < count && fields_.size() < kMaxFields; ++i) {
      if (offset + i * size >= end_) return;
      add(element, offset + i * size, fmt::format("{}[{}]", path, i), nesting + 1);
    }
  }

  const DebugInfo& info_;
  std::uint64_t& budget_;
  std::uint64_t begin_ = 0, end_ = 0;  ///< Of the argument being read.
  std::vector<std::string> enclosing_;
  std::vector<ArgumentField> fields_;
};

}  // namespace

std::vector<ArgumentField> read_argument_fields(const DebugInfo& info, const Kernel& kernel,
                                                std::uint64_t& budget) {
  return ParameterReader(info, budget).fields(kernel);
}

}  // namespace margay::code_object
