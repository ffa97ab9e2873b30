// `margay asm`, for the tool's table of subcommands.
#pragma once

#include <span>

namespace margay::assembly {

/// `arguments[0]` is the subcommand's name. Returns the exit code.
int asm_main(std::span<char*> arguments);

}  // namespace margay::assembly
