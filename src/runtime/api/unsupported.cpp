// Every HIP name that is not implemented. A program that uses one links, and the call returns
// hipErrorNotSupported and prints a line that names it. unsupported_names.inc is the list; the test
// runtime.exports compares it with the declarations in the HIP headers.
//
// This file includes no HIP header on purpose: the functions take any arguments (the x86-64 calling
// convention lets a callee ignore them), so their declared signatures must not be visible here.
#include "runtime/api/unsupported.h"

extern "C" {
#pragma GCC visibility push(default)

#define MARGAY_UNSUPPORTED(name) \
  int name() { return margay::runtime::refuse_unsupported(#name); }
#define MARGAY_UNSUPPORTED_TEXT(name)           \
  const char* name() {                          \
    margay::runtime::refuse_unsupported(#name); \
    return "not supported by Margay";           \
  }
#define MARGAY_UNSUPPORTED_RTC(name) \
  int name() { return margay::runtime::refuse_unsupported_rtc(#name); }
#include "runtime/api/unsupported_names.inc"
#undef MARGAY_UNSUPPORTED
#undef MARGAY_UNSUPPORTED_TEXT
#undef MARGAY_UNSUPPORTED_RTC

#pragma GCC visibility pop
}  // extern "C"
