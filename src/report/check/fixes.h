// What kind of change puts a finding right, as data: the check says the kind and what it names
// (arguments), where it goes is found when the source is known, and the words are made last
// (fix_text.h). JSON and docs/check.md have the names (kinds_test).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace margay::check {

enum class Fix : std::uint8_t {
  other,  ///< None that the check knows. An argument, if any, says it: the hint of an error.
  // Order within a launch.
  barrier,          ///< A barrier between the earlier access, accesses[1], and the later, [0].
  branch_barrier,   ///< The same in a branch, which all waves have to take for that.
  wait_barrier,     ///< A barrier exists; the earlier access must be waited for before it.
  own_part,         ///< Each workgroup and wave must own its part of the output.
  one_writer,       ///< All write the same value: one is enough.
  one_lane,         ///< The same of the lanes of one instruction.
  own_bytes,        ///< Each lane has to own its bytes.
  split_statement,  ///< What one statement reads and writes, with a barrier between the two.
  outside_branch,   ///< A barrier that must move out of a branch.
  hand_over,        ///< Release, an atomic, acquire: no barrier can order the two.
  agent_scope,      ///< A flag between workgroups needs agent scope.
  stage,            ///< The index of one access to a buffer with several stages.
  // Waits.
  tied_wait,    ///< A wait that names the registers of an inline assembly load.
  wait,         ///< The same in code without source lines, which no compiler moves.
  direct_wait,  ///< A load straight to LDS has to be waited for.
  wait_states,  ///< Independent instructions or s_nop.
  // Order between streams and with the host.
  stream_event,      ///< An event from one stream, arguments[0], to the other, [1].
  graph_dependency,  ///< An edge of a graph.
  copy_wait,         ///< The host has to wait for the copy on arguments[0].
  // Addresses.
  index,            ///< Of a tensor.
  coordinate_unit,  ///< A coordinate that counts tiles or vectors, arguments[0], of [1].
  column_unit,      ///< The same of the column.
  smaller_shape,    ///< The kernel was given a larger shape than the memory has.
  lds_index,        ///< Of a __shared__ array.
  dynamic_lds,      ///< More LDS at the launch.
  scratch_index,    ///< Of a local array.
  early_clobber,    ///< An output of inline assembly that needs "=&v".
  aligned_atomic,   ///< An atomic's address has to be a multiple of its size.
  aligned_access,   ///< To four bytes.
  // Values.
  value_on_every_path,  ///< Of a variable.
  store_lds,            ///< What is read of LDS has to be stored first.
  fill_memory,          ///< Global memory, before it is read.
  set_lds_counter,      ///< What an atomic changes in LDS.
  set_counter,          ///< What an atomic changes in global memory.
  kernel_input,         ///< What the kernel read was undefined.
  every_member,         ///< Of a structure that was copied.
  whole_grid,           ///< The grid and its tiles have to cover all of it.
  // The host's side.
  host_copy,        ///< hipMemcpy, or memory that the host may write.
  register_memory,  ///< Host memory that the device is given.
  free_memory,
  list_leaks,   ///< --leak-check.
  launch_code,  ///< The code that the launch returns.
};
inline constexpr std::array<std::string_view, 43> kFixNames = {
    "other",
    "barrier",
    "branch-barrier",
    "wait-before-barrier",
    "own-part",
    "one-writer",
    "one-lane",
    "own-bytes",
    "split-statement",
    "outside-branch",
    "hand-over",
    "agent-scope",
    "stage",
    "tied-wait",
    "wait",
    "direct-wait",
    "wait-states",
    "stream-event",
    "graph-dependency",
    "copy-wait",
    "index",
    "coordinate-unit",
    "column-unit",
    "smaller-shape",
    "lds-index",
    "dynamic-lds",
    "scratch-index",
    "early-clobber",
    "aligned-atomic",
    "aligned-access",
    "value-on-every-path",
    "store-lds",
    "fill-memory",
    "set-lds-counter",
    "set-counter",
    "kernel-input",
    "every-member",
    "whole-grid",
    "host-copy",
    "register-memory",
    "free-memory",
    "list-leaks",
    "launch-code",
};
inline constexpr std::size_t kFixCount = kFixNames.size();
static_assert(static_cast<std::size_t>(Fix::launch_code) + 1 == kFixCount);
[[nodiscard]] constexpr std::string_view fix_name(Fix fix) {
  return kFixNames[static_cast<std::size_t>(fix)];
}

/// Where a statement must be inserted. line 0: not known.
struct FixPlace {
  std::string file;
  std::uint32_t line = 0;  ///< Before the statement at this line and column.
  std::uint32_t column = 0;
  /// If the place is the end of a loop's body: the line of the loop's keyword; else 0. `line` is
  /// then that of the closing brace.
  std::uint32_t end_of_loop = 0;

  friend auto operator<=>(const FixPlace&, const FixPlace&) = default;
};

}  // namespace margay::check
