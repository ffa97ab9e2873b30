// What kernels do, for assertions in tests: counters and metrics of the launches in a scope.
//
//   #include <margay/profile.h>
//
//   margay::ProfileScope scope;
//   transpose<<<grid, block>>>(out, in);
//   const margay::KernelCounts profile = scope.end().kernel("transpose");
//   EXPECT_EQ(profile["lds_bank_conflicts"], 0);
//   EXPECT_EQ(profile["SQ_WAVES"], 64);
//
// With the model of time (docs/time.md); every figure is modelled, none is measured:
//
//   margay::ProfileScope scope("time=1");
//   ...
//   const margay::ModelledTime time = scope.end().kernel("transpose").time();
//   EXPECT_LT(time.us_boost, 20) << "error about " << time.error_percent << " %";
//
// Header only, for programs compiled by `margay hipcc` or by ROCm's hipcc. Where the process does
// not run on Margay's libamdhip64 a ProfileScope says so and throws; `margay::can_profile()` asks
// first, for tests that also run on a GPU. docs/prof.md lists the names and their units.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

extern "C" {
// Margay's runtime has these, a GPU's does not: the references are weak.
__attribute__((weak)) int margayProfileBegin(const char* options);
__attribute__((weak)) const char* margayProfileEnd(void);
__attribute__((weak)) const char* margayProfileError(void);
__attribute__((weak)) int margayProfileValue(const char* kernel, const char* name, double* value);
}

namespace margay {

/// Profiling was impossible, or is over; what() says why.
class ProfileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether this process runs on Margay's libamdhip64, so that there is something to profile.
inline bool can_profile() { return margayProfileBegin != nullptr && margayProfileValue != nullptr; }

namespace detail {

template <typename Error>
[[noreturn]] void throw_error(const std::string& text) {
#if defined(__cpp_exceptions)
  throw Error(text);
#else
  std::fprintf(stderr, "margay: %s\n", text.c_str());
  std::abort();
#endif
}

/// The runtime keeps the values of the profile that ended last; this is its number.
inline unsigned& last_profile() {
  static unsigned number = 0;
  return number;
}
inline const char* end_profile() {
  ++last_profile();
  return margayProfileEnd();
}

}  // namespace detail

/// How long the first launch of a kernel would take on the device, by the model of time.
struct ModelledTime {
  double cycles = 0;  ///< At boost clock.
  double us_boost = 0, us_sustained = 0;
  double tflops_boost = 0, tflops_sustained = 0;  ///< 0: no operations on numbers.
  double error_percent = 0;                       ///< Of all of them, about.
};

/// The values of one kernel, all its launches in the scope together. Valid until another profile
/// ends: read what is needed before.
class KernelCounts {
 public:
  /// A metric by its id ("coalescing", "lds_bank_conflicts"), a counter by its name ("SQ_WAVES") or
  /// a figure of the modelled time ("time.us_boost").
  /// std::out_of_range for a name that does not exist, with the nearest ones, and for a quotient
  /// that divides by zero; also when no kernel, or more than one, goes by the name.
  double operator[](const std::string& name) const {
    if (profile_ != detail::last_profile())
      detail::throw_error<ProfileError>("the values of \"" + kernel_ +
                                        "\" were read after another profile had ended");
    double value = 0;
    if (margayProfileValue(kernel_.c_str(), name.c_str(), &value) != 0)
      detail::throw_error<std::out_of_range>(margayProfileError());
    return value;
  }

  /// ProfileError if the scope was not begun with "time=1".
  ModelledTime time() const {
    double none = 0;
    if (margayProfileValue(kernel_.c_str(), "time.us_boost", &none) != 0)
      detail::throw_error<ProfileError>(margayProfileError());
    ModelledTime time;
    time.cycles = (*this)["time.cycles"];
    time.us_boost = (*this)["time.us_boost"];
    time.us_sustained = (*this)["time.us_sustained"];
    time.error_percent = (*this)["time.error_percent"];
    if (margayProfileValue(kernel_.c_str(), "time.tflops_boost", &time.tflops_boost) == 0)
      time.tflops_sustained = (*this)["time.tflops_sustained"];
    return time;
  }

 private:
  friend class Profile;
  KernelCounts(std::string kernel, unsigned profile)
      : kernel_(std::move(kernel)), profile_(profile) {}

  std::string kernel_;
  unsigned profile_;
};

/// What ran between the beginning and the end of a scope.
class Profile {
 public:
  /// The kernel whose demangled name contains `name`; exactly one kernel, launched with one size,
  /// has to. std::out_of_range otherwise, with the names that there are.
  KernelCounts kernel(const std::string& name) const {
    const KernelCounts counts(name, number_);
    static_cast<void>(counts["SQ_WAVES"]);  // that there is such a kernel
    return counts;
  }
  /// The only kernel that ran.
  KernelCounts kernel() const { return kernel(""); }

  /// Everything, as JSON: what `margay prof --json` writes.
  const std::string& json() const { return json_; }

 private:
  friend class ProfileScope;
  explicit Profile(std::string json) : json_(std::move(json)), number_(detail::last_profile()) {}

  std::string json_;
  unsigned number_;
};

/// Profiles the kernel launches of this process from its construction to end(). One at a time.
class ProfileScope {
 public:
  /// `options`: with ; between, as docs/prof.md has them: "time=1", "kernel=NAME". ProfileError on
  /// a GPU's libamdhip64, within another scope, and under `margay check` and `margay prof`.
  explicit ProfileScope(const char* options = "") {
    if (!can_profile())
      detail::throw_error<ProfileError>(
          "this libamdhip64 is not Margay's: nothing was profiled. Start the program with "
          "`margay run -- PROGRAM`, or ask margay::can_profile() first.");
    if (margayProfileBegin(options) != 0) detail::throw_error<ProfileError>(margayProfileError());
    running_ = true;
  }
  ~ProfileScope() {
    if (running_) detail::end_profile();
  }
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;

  /// ProfileError when it ended already.
  Profile end() {
    const char* const json = running_ ? detail::end_profile() : nullptr;
    if (json == nullptr) detail::throw_error<ProfileError>("this profile has ended already");
    running_ = false;
    return Profile(json);
  }

 private:
  bool running_ = false;
};

}  // namespace margay
