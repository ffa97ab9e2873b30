// The results of the last margayCheck* and margayProfile* calls: what these return is valid until
// the next call.
#pragma once

#include <memory>
#include <mutex>
#include <string>

namespace margay::profile {
struct Profile;
}

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
  std::shared_ptr<const profile::Profile> profile;  ///< Null before the first has ended.
};

}  // namespace margay::runtime
