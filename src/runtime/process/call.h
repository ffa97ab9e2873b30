// The frame around every exported function: it keeps the thread's last error, prints the sentence,
// and lets no exception cross the C boundary.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "runtime/base/errors.h"
#include "runtime/process/process.h"

namespace margay::runtime {

/// Reports a refusal unless the environment asks for silence; returns the code to give back.
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
