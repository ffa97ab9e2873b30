#include "report/profile/profile_fields.h"

namespace margay::profile {

MemoryTraffic& MemoryTraffic::operator+=(const MemoryTraffic& other) {
  add_counts(*this, other);
  return *this;
}

}  // namespace margay::profile
