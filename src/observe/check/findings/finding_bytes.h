// Findings on their way from another process of this build, before their lines are known
// (observe/check/findings/resolve.h): accesses are by address.
#pragma once

#include <tuple>

#include "base/bytes.h"
#include "report/check/finding.h"
#include "report/check/report.h"

namespace margay::check {

// Of bytes that are none of these the reader is not ok() afterwards.
void encode(Writer& out, const Statement& statement);
void decode(Reader& in, Statement& statement);
void encode(Writer& out, const FindingSet& findings);
void decode(Reader& in, FindingSet& findings);

auto members(Is<Access> auto& access) {
  return std::tie(access.role, access.wave, access.lane, access.workgroup, access.vaddr);
}
auto members(Is<Finding> auto& finding) {
  return std::tie(finding.kind, finding.severity, finding.message, finding.accesses, finding.detail,
                  finding.fix, finding.fix_arguments, finding.moves, finding.cause, finding.kernel,
                  finding.launch, finding.count);
}

}  // namespace margay::check
