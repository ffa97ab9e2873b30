// Maps an Error to the hipError_t that a HIP program receives: the codes, their names and texts,
// and the thread's last error.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "base/error.h"
#include "runtime/base/hip.h"

namespace margay::runtime {

[[nodiscard]] hipError_t hip_error(ErrorCode code);

/// Why a HIP call failed: the code for the program and the message for the user. An Error from the
/// layers below converts by the table in errors.cpp.
struct Refusal {
  hipError_t code = hipErrorUnknown;
  Error error;
  /// Some queries have a regular negative answer ("is this pointer yours?"): such an answer is
  /// returned, but not printed.
  bool silent = false;
  /// The device is not affected: later calls do not return it again.
  bool transient = false;

  Refusal(Error from) : code(hip_error(from.code)), error(std::move(from)) {}  // NOLINT: converts
  Refusal(hipError_t hip_code, Error from) : code(hip_code), error(std::move(from)) {}
};

using Outcome = std::expected<void, Refusal>;
template <typename T>
using Answer = std::expected<T, Refusal>;

[[nodiscard]] inline std::unexpected<Refusal> refuse(hipError_t code, std::string what,
                                                     std::string hint = {}) {
  return std::unexpected(
      Refusal(code, Error{ErrorCode::invalid_argument, std::move(what), {}, std::move(hint)}));
}

[[nodiscard]] inline std::unexpected<Refusal> refuse_silently(hipError_t code, std::string what) {
  Refusal refusal(code, Error{ErrorCode::invalid_argument, std::move(what), {}, {}});
  refusal.silent = true;
  return std::unexpected(std::move(refusal));
}

/// Sets the thread's last error, prints the message unless it is `quiet`, and returns the code to
/// return.
hipError_t report(const char* call, Refusal refusal, bool quiet) noexcept;

/// Sets `code` as the thread's last error without a message (for codes that are answers, such as an
/// earlier launch's failure that has been printed already).
hipError_t remember(hipError_t code) noexcept;

/// The thread's last error.
[[nodiscard]] hipError_t last_error() noexcept;
/// The same, and resets it.
[[nodiscard]] hipError_t take_last_error() noexcept;

/// The name and the text of a code; null if it is unknown.
[[nodiscard]] const char* error_name(hipError_t code) noexcept;
[[nodiscard]] const char* error_text(hipError_t code) noexcept;

/// The current or latest HIP function of the calling thread.
[[nodiscard]] inline const char*& current_call() {
  thread_local const char* call = "";
  return call;
}

}  // namespace margay::runtime
