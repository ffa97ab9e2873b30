// The results of the last margayCheck* and margayProfile* calls: what these return is valid until
// the next call.
#pragma once

#include <mutex>
#include <string>

#include "report/profile/profile.h"

namespace margay::runtime {

/// Only one check can be active.
struct CheckAnswers {
  std::mutex mutex;
  std::string error, report;
};

/// Only one profile can be active.
struct ProfileAnswers {
  std::mutex mutex;
  std::string error, json;
  profile::Profile profile;
};

}  // namespace margay::runtime
