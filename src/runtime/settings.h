// The environment variables the runtime obeys, read in one place. README.md lists them for users.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "exec/device.h"

namespace margay::runtime {

struct Settings {
  MfmaMode mfma = MfmaMode::exact;  ///< MARGAY_MFMA=exact|fma|fast
  unsigned threads = 0;             ///< MARGAY_THREADS=N; 0 is one per host core.
  std::string target = {};  ///< MARGAY_TARGET=generic|x86-64-v3|x86-64-v4; empty: the host's best.
  bool stats = false;       ///< MARGAY_STATS=1: one line per launch.
  bool progress = false;    ///< MARGAY_PROGRESS=1: a line for launches over two seconds.
  bool quiet = false;       ///< MARGAY_QUIET=1: no error sentences on stderr.
};

/// Gives the value of an environment variable, or nothing when it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

/// The process's own environment.
[[nodiscard]] Environment process_environment();

/// A value that is not one of the documented ones is an error, so that a misspelt setting never
/// runs a long job in the wrong mode. Unset and empty variables leave the default.
[[nodiscard]] Result<Settings> read_settings(const Environment& environment);

}  // namespace margay::runtime
