// Findings on their way from another process of this build, before their lines are known
// (observe/check/findings/resolve.h): accesses are by address.
#pragma once

#include "base/bytes.h"
#include "report/check/finding.h"
#include "report/check/report.h"

namespace margay::check {

void put(Writer& out, const Access& access);
void put(Writer& out, const Finding& finding);
void put(Writer& out, const FindingSet& findings);

// Of bytes that are none of these the reader is not ok() afterwards.
[[nodiscard]] Access get_access(Reader& in);
[[nodiscard]] Finding get_finding(Reader& in);
[[nodiscard]] FindingSet get_findings(Reader& in);

}  // namespace margay::check
