// hiprtc: the HIP calls that compile source while a program runs. libhiprtc.so is a link to the
// same library. The program prints compiler errors (hiprtcGetProgramLog); other failures are
// printed here.
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1  // what hiprtc.h requires
#endif
#include <hip/hiprtc.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>

#include "runtime/module/rtc_compile.h"
#include "runtime/process/process.h"

namespace margay::runtime {
namespace {

hiprtcResult refuse_rtc(const char* call, hiprtcResult code, const Error& error) {
  if (!process().devices.quiet())
    std::fprintf(stderr, "margay: %s\n  in   %s (%s)\n", error.text().c_str(), call,
                 hiprtcGetErrorString(code));
  return code;
}
hiprtcResult refuse_rtc(const char* call, hiprtcResult code, const char* what) {
  return refuse_rtc(call, code, Error{ErrorCode::invalid_argument, what, {}, {}});
}

/// Runs `body` with the program, unless the handle or `out` is invalid.
template <typename Body>
hiprtcResult with_program(const char* call, hiprtcProgram handle, const void* out, Body&& body) {
  try {
    const std::shared_ptr<_hiprtcProgram> program = process().programs.find(handle);
    if (program == nullptr)
      return refuse_rtc(call, HIPRTC_ERROR_INVALID_PROGRAM,
                        "The program was destroyed, or was never created.");
    if (out == nullptr)
      return refuse_rtc(call, HIPRTC_ERROR_INVALID_INPUT, "An argument is a null pointer.");
    const std::lock_guard lock(program->mutex);
    return body(*program);
  } catch (const std::exception&) {
    return HIPRTC_ERROR_OUT_OF_MEMORY;
  }
}

hiprtcResult compile(_hiprtcProgram& program, int count, const char** options) {
  constexpr const char* kCall = "hiprtcCompileProgram";
  program.source.options.assign(options, options + count);
  if (std::ranges::find(program.source.options, "-fgpu-rdc") != program.source.options.end())
    return refuse_rtc(kCall, HIPRTC_ERROR_INVALID_OPTION,
                      "Margay's hiprtc makes code objects only, no bitcode: leave -fgpu-rdc out.");
  program.compiled = true;
  Result<RtcResult> result = rtc_compile(program.source);
  if (!result) {
    program.result = {.log = result.error().text() + "\n", .code = {}, .lowered_names = {}};
    return refuse_rtc(kCall, HIPRTC_ERROR_INTERNAL_ERROR, result.error());
  }
  program.result = std::move(*result);
  return program.result.code.empty() ? HIPRTC_ERROR_COMPILATION : HIPRTC_SUCCESS;
}

}  // namespace
}  // namespace margay::runtime

using namespace margay;           // NOLINT: the exported functions below are its C face
using namespace margay::runtime;  // NOLINT

extern "C" {

const char* hiprtcGetErrorString(hiprtcResult result) {
  switch (result) {
    case HIPRTC_SUCCESS:
      return "HIPRTC_SUCCESS";
    case HIPRTC_ERROR_OUT_OF_MEMORY:
      return "HIPRTC_ERROR_OUT_OF_MEMORY";
    case HIPRTC_ERROR_PROGRAM_CREATION_FAILURE:
      return "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case HIPRTC_ERROR_INVALID_INPUT:
      return "HIPRTC_ERROR_INVALID_INPUT";
    case HIPRTC_ERROR_INVALID_PROGRAM:
      return "HIPRTC_ERROR_INVALID_PROGRAM";
    case HIPRTC_ERROR_INVALID_OPTION:
      return "HIPRTC_ERROR_INVALID_OPTION";
    case HIPRTC_ERROR_COMPILATION:
      return "HIPRTC_ERROR_COMPILATION";
    case HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE:
      return "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE";
    case HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION:
      return "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION";
    case HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION:
      return "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION";
    case HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID:
      return "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    case HIPRTC_ERROR_INTERNAL_ERROR:
      return "HIPRTC_ERROR_INTERNAL_ERROR";
  }
  return "Invalid HIPRTC error code";
}

hiprtcResult hiprtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr)
    return refuse_rtc(__func__, HIPRTC_ERROR_INVALID_INPUT, "An argument is a null pointer.");
  // HIP 6, like hipRuntimeGetVersion.
  *major = 6;
  *minor = 0;
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcCreateProgram(hiprtcProgram* out, const char* text, const char* name, int count,
                                 const char** headers, const char** header_names) {
  if (out == nullptr || text == nullptr || count < 0 ||
      (count > 0 && (headers == nullptr || header_names == nullptr)))
    return refuse_rtc(__func__, HIPRTC_ERROR_INVALID_INPUT,
                      "The result, the source or a header is a null pointer.");
  try {
    auto program = std::make_shared<_hiprtcProgram>();
    program->source.name = name == nullptr || *name == '\0' ? "default_program" : name;
    program->source.text = text;
    for (int n = 0; n < count; ++n)
      program->source.headers.emplace_back(header_names[n], headers[n]);
    *out = process().programs.add(std::move(program));
    return HIPRTC_SUCCESS;
  } catch (const std::exception&) {
    return HIPRTC_ERROR_OUT_OF_MEMORY;
  }
}

hiprtcResult hiprtcDestroyProgram(hiprtcProgram* handle) {
  if (handle == nullptr || process().programs.remove(*handle) == nullptr)
    return refuse_rtc(__func__, HIPRTC_ERROR_INVALID_PROGRAM,
                      "The program was destroyed, or was never created.");
  *handle = nullptr;
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcAddNameExpression(hiprtcProgram handle, const char* expression) {
  const char* const call = __func__;
  return with_program(call, handle, expression, [&](_hiprtcProgram& program) {
    if (program.compiled)
      return refuse_rtc(call, HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION,
                        "Name expressions have to come before hiprtcCompileProgram.");
    program.source.name_expressions.emplace_back(expression);
    return HIPRTC_SUCCESS;
  });
}

hiprtcResult hiprtcCompileProgram(hiprtcProgram handle, int count, const char** options) {
  if (count < 0 || (count > 0 && options == nullptr))
    return refuse_rtc(__func__, HIPRTC_ERROR_INVALID_INPUT, "The options are a null pointer.");
  return with_program(__func__, handle, handle,
                      [&](_hiprtcProgram& program) { return compile(program, count, options); });
}

hiprtcResult hiprtcGetLoweredName(hiprtcProgram handle, const char* expression,
                                  const char** lowered) {
  const char* const call = __func__;
  const void* const given = expression != nullptr ? lowered : nullptr;
  return with_program(call, handle, given, [&](_hiprtcProgram& program) {
    if (!program.compiled)
      return refuse_rtc(call, HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION,
                        "There are names after hiprtcCompileProgram only.");
    const auto found = program.result.lowered_names.find(expression);
    if (found == program.result.lowered_names.end())
      return refuse_rtc(call, HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID,
                        "This name expression was not added, or names nothing on the device.");
    *lowered = found->second.c_str();
    return HIPRTC_SUCCESS;
  });
}

hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram handle, std::size_t* bytes) {
  return with_program(__func__, handle, bytes, [&](_hiprtcProgram& program) {
    // Programs print the log if it has a size; ROCm says 0 of an empty one.
    *bytes = program.result.log.empty() ? 0 : program.result.log.size() + 1;
    return HIPRTC_SUCCESS;
  });
}
hiprtcResult hiprtcGetProgramLog(hiprtcProgram handle, char* log) {
  return with_program(__func__, handle, log, [&](_hiprtcProgram& program) {
    if (!program.result.log.empty())
      std::memcpy(log, program.result.log.c_str(), program.result.log.size() + 1);
    return HIPRTC_SUCCESS;
  });
}

hiprtcResult hiprtcGetCodeSize(hiprtcProgram handle, std::size_t* bytes) {
  const char* const call = __func__;
  return with_program(call, handle, bytes, [&](_hiprtcProgram& program) {
    *bytes = program.result.code.size();
    if (*bytes != 0) return HIPRTC_SUCCESS;
    return refuse_rtc(call, HIPRTC_ERROR_INVALID_PROGRAM,
                      "The program was not compiled, or did not compile.");
  });
}
hiprtcResult hiprtcGetCode(hiprtcProgram handle, char* code) {
  const char* const call = __func__;
  return with_program(call, handle, code, [&](_hiprtcProgram& program) {
    if (program.result.code.empty())
      return refuse_rtc(call, HIPRTC_ERROR_INVALID_PROGRAM,
                        "The program was not compiled, or did not compile.");
    std::memcpy(code, program.result.code.data(), program.result.code.size());
    return HIPRTC_SUCCESS;
  });
}

}  // extern "C"
