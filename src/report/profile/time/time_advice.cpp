#include "report/profile/time/time_advice.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/profile/analysis/lines.h"

namespace margay::profile {
namespace {

using timing::WhatIfKind;

std::string what_to_do(WhatIfKind kind, const KernelProfile& kernel) {
  switch (kind) {
    case WhatIfKind::no_bank_conflicts:
      return "pad or swizzle the LDS tile, so that the lanes of one pass use different banks";
    case WhatIfKind::no_l2_misses:
      return "let workgroups that run on one XCD at the same time share tiles, squares of the grid "
             "rather than rows or columns of it, and load each line once";
    case WhatIfKind::perfect_coalescing:
      return "let adjacent lanes access adjacent bytes, 16 for each lane, and rows of tiles fill "
             "lines of 128 bytes";
    case WhatIfKind::no_barrier_skew:
      return "use fewer barriers (larger steps; two buffers need one for each), and give waves "
             "equal work";
    case WhatIfKind::no_memory_waits:
      return "the most that hiding latency can save, by whatever means; the others say how";
    case WhatIfKind::loads_ahead:
      return "issue the loads of the next step before the work of this one, into registers or "
             "another buffer, and wait for them a step later; this is the most that it can save, "
             "if moving the data costs nothing more";
    case WhatIfKind::waits_at_use:
      return "wait only for what is used next, right before its use: vmcnt(n), n > 0, leaves "
             "younger loads in flight; behind a branch around loads compilers wait for all";
    case WhatIfKind::double_lds:
      return "read LDS in 16 bytes for each lane, and keep in registers what is read again";
    case WhatIfKind::additional_workgroup:
      return kernel.resources.limit.empty() ? "use fewer registers or less LDS"
             : kernel.resources.next_step.empty()
                 ? fmt::format("the limit is {}", kernel.resources.limit)
                 : fmt::format("the limit is {}: {}", kernel.resources.limit,
                               kernel.resources.next_step);
  }
  return {};
}

/// Lines by what they cause, of the sites that cause most.
std::vector<SavedLine> saved_lines(const KernelProfile& kernel, const timing::WhatIf& what_if) {
  std::map<std::uint64_t, double> shares;  // by address
  for (const timing::WhatIf::Site& site : what_if.sites) shares[site.vaddr] += site.share;
  std::vector<SavedLine> out;
  for (const LineTotals& line : lines_of(kernel)) {
    double share = 0;
    for (const std::size_t site : line.sites)
      if (const auto one = shares.find(kernel.sites[site].vaddr); one != shares.end())
        share += one->second;
    if (share > 0) out.push_back({line.file, line.line, line.function, share});
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &SavedLine::share);
  return out;
}

}  // namespace

std::vector<TimeAdvice> time_advice(const KernelProfile& kernel) {
  std::vector<TimeAdvice> out;
  for (const timing::WhatIf& what_if : kernel.time->what_if) {
    TimeAdvice& one = out.emplace_back();
    one.kind = what_if.kind;
    one.saves_percent = what_if.saves_percent;
    one.lines = saved_lines(kernel, what_if);
    // A limit is nothing to do.
    one.is_advice = what_if.kind != WhatIfKind::no_memory_waits &&
                    timing::is_beyond_error(what_if.saves_percent, kernel.time->error_percent);
    one.what_to_do = what_to_do(what_if.kind, kernel);
  }
  return out;
}

}  // namespace margay::profile
