// The fields of a record, listed once: what writes and reads JSON, makes the page's data, adds up
// launches, scales samples and declares Python's classes goes through the list. To add a figure to
// a record is to add a member and its line in profile_fields.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace margay::profile {

enum class FieldKind : std::uint8_t {
  fact,   ///< The same in every launch, or of one.
  count,  ///< Summed over launches, and scaled up from a sample.
  lanes,  ///< A bit for each lane; outside a list of numbers.
};

/// A member of a record: its name in JSON and in Python, its name in the page's data (empty: not
/// there), and what it means. `later`: files of earlier versions lack it.
template <typename Record, typename T>
struct Field {
  using Value = T;
  T Record::* member;
  FieldKind kind = FieldKind::fact;
  std::string_view name;
  std::string_view page;
  std::string_view meaning;
  bool later = false;
};

/// What follows from other members: written, never read.
template <typename Record, typename T>
struct DerivedField {
  using Value = T;
  T (Record::*function)() const;
  std::string_view name;
  std::string_view meaning;
};

namespace fields {

template <typename Record, typename T>
[[nodiscard]] consteval Field<Record, T> fact(T Record::* member, std::string_view name,
                                              std::string_view page, std::string_view meaning) {
  return {member, FieldKind::fact, name, page, meaning};
}
/// A std::uint64_t, or an array of them.
template <typename Record, typename T>
[[nodiscard]] consteval Field<Record, T> count(T Record::* member, std::string_view name,
                                               std::string_view page, std::string_view meaning) {
  return {member, FieldKind::count, name, page, meaning};
}
template <typename Record>
[[nodiscard]] consteval Field<Record, std::uint64_t> lanes(std::uint64_t Record::* member,
                                                           std::string_view name,
                                                           std::string_view page,
                                                           std::string_view meaning) {
  return {member, FieldKind::lanes, name, page, meaning};
}
template <typename Record, typename T>
[[nodiscard]] consteval DerivedField<Record, T> derived(T (Record::*function)() const,
                                                        std::string_view name,
                                                        std::string_view meaning) {
  return {function, name, meaning};
}
/// Of a field that files of earlier versions lack.
template <typename Record, typename T>
[[nodiscard]] consteval Field<Record, T> later(Field<Record, T> field) {
  field.later = true;
  return field;
}

}  // namespace fields

/// The fields of a record, a std::tuple of Field, in the order of its JSON.
template <typename Record>
inline constexpr std::nullptr_t kFields = nullptr;

template <typename Record>
concept HasFields = !std::is_same_v<decltype(kFields<Record>), const std::nullptr_t>;

/// Calls `visit(field)` for each.
template <HasFields Record, typename Visit>
constexpr void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... fields) { (visit(fields), ...); }, kFields<Record>);
}

template <typename T>
inline constexpr bool kIsNumbers = false;
template <std::size_t kSize>
inline constexpr bool kIsNumbers<std::array<std::uint64_t, kSize>> = true;

/// Calls `visit` with each count of the records, which are of one type: with the first one's number
/// and those of the others, number by number.
template <typename Visit, HasFields Record, typename... Others>
constexpr void for_each_count(Visit&& visit, Record& record, Others&... others) {
  const auto of_field = [&]<typename Owner, typename T>(const Field<Owner, T>& field) {
    if (field.kind != FieldKind::count) return;
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      visit(record.*field.member, others.*field.member...);
    } else if constexpr (kIsNumbers<T>) {
      for (std::size_t n = 0; n < std::tuple_size_v<T>; ++n)
        visit((record.*field.member)[n], (others.*field.member)[n]...);
    }
  };
  for_each_field<std::remove_const_t<Record>>([&](const auto& field) {
    if constexpr (requires { field.member; }) of_field(field);
  });
}

/// Adds the counts of `from`.
template <HasFields Record>
constexpr void add_counts(Record& into, const Record& from) {
  for_each_count([](std::uint64_t& to, const std::uint64_t& one) { to += one; }, into, from);
}

}  // namespace margay::profile
