// How many random cases a test tries.
#pragma once

namespace margay::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MARGAY_UNDER_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MARGAY_UNDER_SANITIZER 1
#endif

/// `count`, or a quarter of it under a sanitizer, where each takes five to ten times as long: there
/// it is for what the cases do to memory, not for their results.
[[nodiscard]] constexpr int cases(int count) {
#ifdef MARGAY_UNDER_SANITIZER
  return count / 4;
#else
  return count;
#endif
}

#undef MARGAY_UNDER_SANITIZER

}  // namespace margay::test
