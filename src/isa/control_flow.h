// The control flow of an instruction, for listings, which name instructions and do not run them.
// The executor uses Row::flow; tests/unit/isa compares the two.
#pragma once

#include <string_view>

namespace margay::isa {

struct ControlFlow {
  bool is_branch = false;         ///< The program may continue elsewhere; includes calls and forks.
  bool has_displacement = false;  ///< The target, in dwords from the next instruction.
  bool ends_block =
      false;  ///< The next instruction is never executed; false for calls, which return.
  bool is_barrier = false;
  bool is_wait = false;
};

/// Source: MI300 ISA guide, sections 4.2 (program flow), 12.1, 12.2 and 12.5.
[[nodiscard]] constexpr ControlFlow control_flow(std::string_view mnemonic) {
  const auto is_one_of = [&](auto... names) { return ((mnemonic == names) || ...); };
  constexpr ControlFlow kDirect{.is_branch = true, .has_displacement = true, .ends_block = true};
  constexpr ControlFlow kIndirect{.is_branch = true, .ends_block = true};
  if (is_one_of("s_cbranch_g_fork", "s_cbranch_join", "s_setpc_b64", "s_rfe_b64",
                "s_rfe_restore_b64"))
    return kIndirect;
  if (mnemonic == "s_branch" || mnemonic.starts_with("s_cbranch_")) return kDirect;
  if (mnemonic == "s_swappc_b64") return {.is_branch = true};
  if (mnemonic == "s_call_b64") return {.is_branch = true, .has_displacement = true};
  if (mnemonic.starts_with("s_endpgm")) return {.ends_block = true};
  return {.is_barrier = mnemonic == "s_barrier", .is_wait = mnemonic == "s_waitcnt"};
}

}  // namespace margay::isa
