// What went wrong, where, and what to do about it. Anything that input or a device program can
// cause is returned as a value of this type; the core neither prints, exits nor throws.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace margay {

/// The kind of failure. The HIP runtime maps each to one hipError_t; the tool prints the text.
enum class ErrorCode : std::uint8_t {
  invalid_argument,     ///< A parameter of a call or an option is impossible.
  invalid_image,        ///< A code object is malformed or truncated.
  wrong_architecture,   ///< A code object is well formed but not for gfx942.
  not_found,            ///< A named file, kernel or symbol does not exist.
  out_of_memory,        ///< The device's memory, or the host's, is exhausted.
  exceeds_limits,       ///< A launch requests more than the hardware has.
  illegal_address,      ///< A device program touched memory it may not touch.
  illegal_instruction,  ///< A device program ran something that is not an instruction.
  not_implemented,      ///< Valid on the hardware, but not in this version of Margay.
  device_trap,          ///< A device program ran s_trap, abort or a failed assert.
  deadlock,             ///< No wave of a workgroup can ever continue.
  interrupted,          ///< A launch was stopped: Ctrl-C, Device::interrupt.
  system,               ///< The host's operating system refused something.
};

/// One failure, as text. `what` is a sentence that names the object; `where` the place (a file, an
/// instruction with its PC and source line, a call); `hint` what to do. `where` and `hint` may be
/// empty.
struct Error {
  ErrorCode code;
  std::string what;
  std::string where = {};
  std::string hint = {};

  /// Up to three lines: what / at / fix.
  [[nodiscard]] std::string text() const {
    std::string out = what;
    if (!where.empty()) out += "\n  at   " + where;
    if (!hint.empty()) out += "\n  fix  " + hint;
    return out;
  }
};

template <typename T>
using Result = std::expected<T, Error>;
using Status = std::expected<void, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorCode code, std::string what,
                                                 std::string where = {}, std::string hint = {}) {
  return std::unexpected(Error{code, std::move(what), std::move(where), std::move(hint)});
}

}  // namespace margay

/// Unwraps a Result, or returns its error from the enclosing function. A GNU statement expression:
/// both g++ and clang accept it, and it reads at the point of use.
#define MARGAY_TRY(...)                                                                   \
  ({                                                                                      \
    auto&& margay_try_result = (__VA_ARGS__);                                             \
    if (!margay_try_result) return std::unexpected(std::move(margay_try_result).error()); \
    *std::move(margay_try_result);                                                        \
  })

/// The same for a Status, which carries no value.
#define MARGAY_CHECK(...)                                                 \
  do {                                                                    \
    if (auto&& margay_check_status = (__VA_ARGS__); !margay_check_status) \
      return std::unexpected(std::move(margay_check_status).error());     \
  } while (false)
