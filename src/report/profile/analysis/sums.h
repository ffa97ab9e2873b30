// Sums of counters and sites that more than one derived value needs.
#pragma once

#include <initializer_list>

#include "report/profile/profile.h"

namespace margay::profile {

[[nodiscard]] inline double of(const KernelProfile& k, Counter c) {
  return static_cast<double>(k.counters[c]);
}

[[nodiscard]] inline double sum(const KernelProfile& k, std::initializer_list<Counter> counters) {
  double total = 0;
  for (const Counter c : counters) total += of(k, c);
  return total;
}

[[nodiscard]] inline double l2_requests_of_l1(const KernelProfile& k) {
  return sum(
      k, {Counter::TCP_TCC_READ_REQ_sum, Counter::TCP_TCC_WRITE_REQ_sum,
          Counter::TCP_TCC_ATOMIC_WITH_RET_REQ_sum, Counter::TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum});
}

[[nodiscard]] inline MemoryTraffic vector_memory(const KernelProfile& k) {
  MemoryTraffic all;
  for (const Site& site : k.sites)
    if (site.memory) all += *site.memory;
  return all;
}
[[nodiscard]] inline double fabric_read_bytes(const KernelProfile& k) {
  const double wide = of(k, Counter::TCC_BUBBLE_sum),
               narrow = of(k, Counter::TCC_EA0_RDREQ_32B_sum);
  return 128 * wide + 64 * (of(k, Counter::TCC_EA0_RDREQ_sum) - wide - narrow) + 32 * narrow;
}
[[nodiscard]] inline double fabric_write_bytes(const KernelProfile& k) {
  const double wide = of(k, Counter::TCC_EA0_WRREQ_64B_sum);
  return 64 * wide + 32 * (of(k, Counter::TCC_EA0_WRREQ_sum) - wide);
}

}  // namespace margay::profile
