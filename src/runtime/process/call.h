// The frame of every exported function: it sets the thread's last error, prints the message, and
// stops exceptions at the C boundary.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "runtime/base/errors.h"
#include "runtime/process/process.h"

namespace margay::runtime {

/// Reports a failure unless the environment disables messages; returns the code to return.
inline hipError_t report(const char* call, Refusal refusal) noexcept {
  return report(call, std::move(refusal), process().devices.quiet());
}

/// Runs the body of the exported function `call`. The body returns an Outcome.
template <typename Body>
[[nodiscard]] hipError_t api(const char* call, Body&& body) noexcept {
  current_call() = call;
  try {
    Outcome outcome = std::forward<Body>(body)();
    if (outcome) return hipSuccess;
    return report(call, std::move(outcome).error());
  } catch (const std::bad_alloc&) {
    return report(
        call, Refusal(Error{
                  ErrorCode::out_of_memory, "The host has no memory left for this call.", {}, {}}));
  } catch (const std::exception& exception) {
    return report(call,
                  Refusal(hipErrorUnknown, Error{ErrorCode::system,
                                                 exception.what(),
                                                 {},
                                                 "This is a fault in Margay: please report it."}));
  } catch (...) {
    return report(call,
                  Refusal(hipErrorUnknown, Error{ErrorCode::system,
                                                 "An unknown exception was thrown.",
                                                 {},
                                                 "This is a fault in Margay: please report it."}));
  }
}

}  // namespace margay::runtime
