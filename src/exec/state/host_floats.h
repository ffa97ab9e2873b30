// The host's floating-point state: handlers compute in it.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace margay {

/// Sets round to nearest even, no flushing of denormals and masked exceptions during its lifetime,
/// as handlers and the matrix library require. A program linked with -ffast-math starts with other
/// settings.
class UsualHostFloats {
 public:
#if defined(__SSE__)
  UsualHostFloats() : before_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~UsualHostFloats() { _mm_setcsr(before_); }
#else
  UsualHostFloats() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~UsualHostFloats() { std::fesetenv(&before_); }
#endif
  UsualHostFloats(const UsualHostFloats&) = delete;
  UsualHostFloats& operator=(const UsualHostFloats&) = delete;

 private:
#if defined(__SSE__)
  unsigned before_;
#else
  std::fenv_t before_;
#endif
};

}  // namespace margay
