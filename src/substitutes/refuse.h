// A substitute: a shared library with the name and the functions of one of AMD's, for programs that
// link it and can do without. What the virtual device can serve is served. Every other function
// returns the library's own status for what it does not support, and is named once on stderr.
//
// A library's file defines MARGAY_LIBRARY (its name) and MARGAY_STATUS (that status, a number of
// its public header) and includes this. Arguments of a refused function are not looked at: in the
// x86-64 calling convention the caller removes them.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace margay::substitutes {

/// One line on stderr, the first time that `function` is called. MARGAY_SUBSTITUTES=quiet: none.
void say_once(std::string_view library, const char* function);

}  // namespace margay::substitutes

#define MARGAY_EXPORT __attribute__((visibility("default")))

/// A function that is refused with the library's status.
#define MARGAY_REFUSE(name)                                 \
  extern "C" MARGAY_EXPORT long name() {                    \
    ::margay::substitutes::say_once(MARGAY_LIBRARY, #name); \
    return MARGAY_STATUS;                                   \
  }

/// One that has no status to return and is reached only past one that refuses: the program ends.
#define MARGAY_UNREACHABLE(id, symbol)                                 \
  extern "C" MARGAY_EXPORT void margay_refused_##id() __asm__(symbol); \
  extern "C" MARGAY_EXPORT void margay_refused_##id() {                \
    ::margay::substitutes::say_once(MARGAY_LIBRARY, symbol);           \
    __builtin_trap();                                                  \
  }
