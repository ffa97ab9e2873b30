// What a finding says, as data: a check says which sentence it is and the values that belong in it;
// the words are made last (statement_text.h). To add a sentence: a row of Says, the types of its
// values in takes_of(), its words in statement_text.cpp.
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "gpu/wait_states.h"
#include "report/check/kinds.h"
#include "report/check/roles.h"

namespace margay::check {

/// Each with its values in order. Flags are numbers: 1 for yes.
enum class Says : std::uint8_t {
  nothing,
  text,  ///< A sentence of an Error, or of a report that was read: the sentence.
  // Global memory: bounds.
  past_tensor,          ///< Role, bytes, address, bytes past the end, shape of the tensor.
  reaches_past_tensor,  ///< Role, bytes, address.
  lanes_outside,        ///< Lanes that are out of range, active lanes.
  misaligned,           ///< Role, bytes, whether in LDS, address or byte.
  // Which element and tile of a tensor.
  tensor,            ///< A phrase: name or empty, byte of the kernel's arguments.
  tensor_title,      ///< A phrase: tensor, element type or empty, its bytes or 0, shape or zeros.
  before_tensor,     ///< Bytes, tensor_title.
  byte_of_tensor,    ///< Byte, tensor_title.
  byte_past_tensor,  ///< Likewise; bytes past the end.
  element,           ///< Number, tensor_title, how many elements exist.
  row,  ///< Batch, depth, row, column as one value; whether several matrices; tensor_title.
  row_past_end,      ///< As row; bytes past the end.
  row_past_last,     ///< As row; rows past the last.
  memory_too_short,  ///< Bytes of the shape, bytes of the memory.
  in_tile,           ///< Of a coordinate that counts elements: rows, columns of the tile.
  in_vector,         ///< Likewise: elements.
  tile,              ///< Its coordinate, rows, columns, tensor, how many exist in each dimension.
  vector,            ///< Its coordinate, elements, tensor, how many exist in each dimension.
  column_runs_on,    ///< Last column.
  // LDS and scratch: bounds.
  past_lds,         ///< Role, bytes, byte, size of the workgroup's LDS.
  lds_size,         ///< Static bytes, dynamic bytes, whether it is a write.
  address_in_data,  ///< Number of the VGPR.
  past_scratch,     ///< Role, bytes, byte, bytes of a lane.
  // Order within a launch.
  workgroups_race,  ///< Address, bytes, two roles, whether of the same value, whether one is
                    ///< narrow.
  any_order,
  waves_race,  ///< Later role, earlier role, address, bytes, whether of the same value.
  no_barrier_between_waves,
  lds_race,         ///< Kind, byte, bytes, whether of the same value.
  still_in_flight,  ///< Role of the access that the barrier did not complete.
  no_barrier,
  lanes_write,           ///< Two lanes, whether of the same value, byte of LDS.
  lanes_write_globally,  ///< Two lanes, address, bytes.
  no_lane_wins,
  // Barriers.
  lanes_off,  ///< Lanes.
  waves_are_counted,
  barriers_differ,  ///< Wave, its barriers, the wave with the most, its barriers.
  ended_is_right,
  meet_elsewhere,  ///< Number of the barrier, from 1.
  // Waits and wait states.
  before_wait,           ///< Register, whether it is read.
  waits_for_both,        ///< Counters that complete out of order.
  waits_for_vm,          ///< vmcnt.
  waits_for_lgkm,        ///< lgkmcnt.
  lds_before_wait,       ///< Byte of LDS.
  wait_states,           ///< Register, missing wait states, hazard, needed ones, existing ones.
  hardware_wait_states,  ///< As wait_states, without the register.
  padded_needlessly,
  compilers_count,
  never_ordered,  ///< Instruction, executions.
  // Values.
  register_unwritten,       ///< Register, lanes, use.
  lds_unwritten,            ///< Byte, use.
  global_unwritten,         ///< Address, use.
  lds_atomic_unwritten,     ///< Byte.
  global_atomic_unwritten,  ///< Address.
  copy_unwritten,           ///< Such bytes, bytes of the copy.
  copy_computed,            ///< Likewise.
  copy_holds,               ///< Likewise.
  copy_first,               ///< Byte of the copy.
  copy_in_tensor,           ///< Shape.
  host_filled,              ///< Bytes of the memory, address.
  host_filled_first,        ///< Address.
  // Order between streams and with the host.
  streams_race,  ///< Address, bytes, role, operation's name, role, operation's name.
  operation,     ///< A phrase: name, launch or 0, whether in a graph, stream.
  unordered,     ///< Two operations.
  null_stream_waits_not,
  host_changed,        ///< Whether the source, operation, bytes, stream.
  host_changed_first,  ///< First and last byte of the copy, address.
  // Launches and memory of the host's side.
  launch_refused,      ///< The error's sentence.
  launch_interrupted,  ///< The error's sentence.
  not_freed,           ///< Number of the allocation, its label, bytes.
  some_not_freed,      ///< Allocations, bytes.
  unknown_memory,      ///< Arguments.
  named_argument,      ///< Name, address.
  unnamed_argument,    ///< Byte of the kernel's arguments, address.
};
inline constexpr std::size_t kSaysCount = static_cast<std::size_t>(Says::unnamed_argument) + 1;

/// What a value that was never written decides.
enum class Decides : std::uint8_t {
  address,
  code_address,
  register_number,
  lane,
  active_lanes,
  branch,
  next_step,
  atomic,
  store,
  part_of_store,
};
inline constexpr std::size_t kDecidesCount = static_cast<std::size_t>(Decides::part_of_store) + 1;

using Dimensions = std::array<std::uint64_t, 4>;  ///< Batch, depth, rows, columns.

/// A letter for each value that a sentence takes: n number, s string (a name, not a sentence),
/// r Role, k FindingKind, h hazard, u Decides, d Dimensions, p phrase (a Statement).
[[nodiscard]] constexpr std::string_view takes_of(Says says) {
  switch (says) {
    case Says::nothing:
    case Says::any_order:
    case Says::no_barrier_between_waves:
    case Says::no_barrier:
    case Says::no_lane_wins:
    case Says::waves_are_counted:
    case Says::ended_is_right:
    case Says::waits_for_both:
    case Says::padded_needlessly:
    case Says::compilers_count:
    case Says::null_stream_waits_not:
      return "";
    case Says::column_runs_on:
    case Says::in_vector:
    case Says::address_in_data:
    case Says::lanes_off:
    case Says::meet_elsewhere:
    case Says::waits_for_vm:
    case Says::waits_for_lgkm:
    case Says::lds_before_wait:
    case Says::lds_atomic_unwritten:
    case Says::global_atomic_unwritten:
    case Says::copy_first:
    case Says::host_filled_first:
    case Says::unknown_memory:
      return "n";
    case Says::lanes_outside:
    case Says::memory_too_short:
    case Says::in_tile:
    case Says::copy_unwritten:
    case Says::copy_computed:
    case Says::copy_holds:
    case Says::host_filled:
    case Says::some_not_freed:
    case Says::unnamed_argument:
      return "nn";
    case Says::lds_size:
    case Says::host_changed_first:
      return "nnn";
    case Says::lanes_write:
    case Says::lanes_write_globally:
    case Says::barriers_differ:
      return "nnnn";
    case Says::text:
    case Says::launch_refused:
    case Says::launch_interrupted:
      return "s";
    case Says::tensor:
    case Says::before_wait:
    case Says::never_ordered:
    case Says::named_argument:
      return "sn";
    case Says::reaches_past_tensor:
      return "rnn";
    case Says::past_lds:
    case Says::past_scratch:
    case Says::misaligned:
      return "rnnn";
    case Says::past_tensor:
      return "rnnnd";
    case Says::tensor_title:
      return "psnd";
    case Says::before_tensor:
    case Says::byte_of_tensor:
      return "np";
    case Says::byte_past_tensor:
    case Says::element:
      return "npn";
    case Says::row:
      return "dnp";
    case Says::row_past_end:
    case Says::row_past_last:
      return "dnpn";
    case Says::tile:
      return "dnnpd";
    case Says::vector:
      return "dnpd";
    case Says::workgroups_race:
      return "nnrrnn";
    case Says::waves_race:
      return "rrnnn";
    case Says::lds_race:
      return "knnn";
    case Says::still_in_flight:
      return "r";
    case Says::wait_states:
      return "snhnn";
    case Says::hardware_wait_states:
      return "nhnn";
    case Says::register_unwritten:
      return "snu";
    case Says::lds_unwritten:
    case Says::global_unwritten:
      return "nu";
    case Says::copy_in_tensor:
      return "d";
    case Says::streams_race:
      return "nnrsrs";
    case Says::operation:
      return "snns";
    case Says::unordered:
      return "pp";
    case Says::host_changed:
      return "nsns";
    case Says::not_freed:
      return "nsn";
  }
  return "";
}

struct Value;
/// A sentence as data; say() makes one. The default says nothing.
class Statement {
 public:
  Statement() = default;
  [[nodiscard]] Says says() const { return says_; }
  /// Of the types that takes_of() lists.
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }
  /// From another process of this build; nothing if the values are not those that takes_of() lists.
  [[nodiscard]] static std::optional<Statement> of(Says says, std::vector<Value> values);

  friend bool operator==(const Statement& a, const Statement& b);
  /// Any order, the same in every process.
  friend std::strong_ordering operator<=>(const Statement& a, const Statement& b);

 private:
  template <Says kSays, typename... Values>
  friend Statement say(Values&&... values);

  Says says_ = Says::nothing;
  std::vector<Value> values_;
};

struct Value {
  std::variant<std::uint64_t, std::string, Role, FindingKind, wait_states::Hazard, Decides,
               Dimensions, Statement>
      is;
  friend auto operator<=>(const Value&, const Value&) = default;
};

/// Of takes_of(); '?': no value of a statement. Text of the program itself (a literal) is none.
template <typename T>
[[nodiscard]] constexpr char letter_of() {
  if (std::integral<T>) return 'n';
  if (std::same_as<T, std::string>) return 's';
  if (std::same_as<T, Role>) return 'r';
  if (std::same_as<T, FindingKind>) return 'k';
  if (std::same_as<T, wait_states::Hazard>) return 'h';
  if (std::same_as<T, Decides>) return 'u';
  if (std::same_as<T, Dimensions>) return 'd';
  if (std::same_as<T, Statement>) return 'p';
  return '?';
}

template <typename T>
[[nodiscard]] Value value_of(T&& value) {
  if constexpr (std::integral<std::remove_cvref_t<T>>)
    return {static_cast<std::uint64_t>(value)};
  else
    return {std::forward<T>(value)};
}

inline std::optional<Statement> Statement::of(Says says, std::vector<Value> values) {
  const std::string_view takes = takes_of(says);
  if (values.size() != takes.size()) return {};
  for (std::size_t n = 0; n < values.size(); ++n) {
    const char letter =
        std::visit([]<typename T>(const T&) { return letter_of<T>(); }, values[n].is);
    if (letter != takes[n]) return {};
  }
  Statement statement;
  statement.says_ = says;
  statement.values_ = std::move(values);
  return statement;
}

/// A wrong number of values, or one of another type, does not compile.
template <Says kSays, typename... Values>
[[nodiscard]] Statement say(Values&&... values) {
  constexpr std::string_view kTakes = takes_of(kSays);
  static_assert(sizeof...(Values) == kTakes.size(), "the sentence takes another number of values");
  constexpr std::array<char, sizeof...(Values) + 1> kGiven = {
      letter_of<std::remove_cvref_t<Values>>()...};
  static_assert(std::string_view(kGiven.data(), sizeof...(Values)) == kTakes,
                "the sentence takes values of other types, see takes_of()");
  Statement statement;
  statement.says_ = kSays;
  statement.values_.reserve(sizeof...(Values));
  (statement.values_.push_back(value_of(std::forward<Values>(values))), ...);
  return statement;
}

}  // namespace margay::check
