// Reading; see json.h.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/check/json.h"
#include "report/json_node.h"
#include "report/text_file.h"

namespace margay::check {
namespace {

using namespace report;  // NOLINT: the readers of json_node.h

Result<Access> as_access(const Node& node) {
  Access access;
  access.role = MARGAY_TRY(named<Role>(node, "role", kRoleCount, role_name));
  access.wave = MARGAY_TRY(number_or<std::int32_t>(node, "wave", kNoNumber));
  access.lane = MARGAY_TRY(number_or<std::int32_t>(node, "lane", kNoNumber));
  access.workgroup = MARGAY_TRY(triple(node, "workgroup"));
  access.instruction = MARGAY_TRY(text(node, "instruction"));
  access.pc = MARGAY_TRY(number_or<std::uint64_t>(node, "pc", 0));
  access.vaddr = MARGAY_TRY(number_or<std::uint64_t>(node, "vaddr", kNoVaddr));
  access.function = MARGAY_TRY(text(node, "function"));
  access.function_offset = MARGAY_TRY(number<std::uint64_t>(node, "function_offset"));
  access.frames = MARGAY_TRY(list<SourceFrame>(node, "frames", as_frame));
  access.called = MARGAY_TRY(number<std::uint32_t>(node, "called"));
  if (node.json->contains("nearby")) access.nearby = MARGAY_TRY(flag(node, "nearby"));
  return access;
}

/// What a sentence was made of is not in a report.
Result<Statement> as_statement(const Node& node) {
  return say<Says::text>(MARGAY_TRY(as_text(node)));
}

Result<Occurrence> as_occurrence(const Node& node) {
  Occurrence other;
  other.kind = MARGAY_TRY(named<FindingKind>(node, "kind", kKindCount, kind_name));
  other.message = MARGAY_TRY(as_statement(MARGAY_TRY(node.field("message"))));
  other.count = MARGAY_TRY(number<std::uint64_t>(node, "count"));
  other.accesses = MARGAY_TRY(list<Access>(node, "accesses", as_access));
  return other;
}

Status read_fix(const Node& parent, Finding& finding) {
  const Node node = MARGAY_TRY(parent.field("fix"));
  finding.fix = MARGAY_TRY(named<Fix>(node, "kind", kFixCount, fix_name));
  if (node.json->contains("arguments"))
    finding.fix_arguments = MARGAY_TRY(list<std::string>(node, "arguments", as_text));
  FixPlace& place = finding.fix_place;
  const Node at = MARGAY_TRY(node.field("place"));
  if (at.json->is_null()) return {};
  place.file = MARGAY_TRY(text(at, "file"));
  place.line = MARGAY_TRY(number<std::uint32_t>(at, "line"));
  place.column = MARGAY_TRY(number<std::uint32_t>(at, "column"));
  place.end_of_loop = MARGAY_TRY(number_or<std::uint32_t>(at, "end_of_loop", 0));
  return {};
}

Result<Finding> as_finding(const Node& node) {
  Finding finding;
  finding.kind = MARGAY_TRY(named<FindingKind>(node, "kind", kKindCount, kind_name));
  const auto tool = MARGAY_TRY(named<Tool>(node, "tool", kToolCount, tool_name));
  if (tool != finding.tool())
    return MARGAY_TRY(node.field("tool"))
        .wrong(fmt::format("the tool that finds {}", kind_name(finding.kind)));
  finding.severity = MARGAY_TRY(named<Severity>(node, "severity", 3, severity_name));
  finding.message = MARGAY_TRY(as_statement(MARGAY_TRY(node.field("message"))));
  finding.accesses = MARGAY_TRY(list<Access>(node, "accesses", as_access));
  finding.detail = MARGAY_TRY(list<Statement>(node, "detail", as_statement));
  const std::string hint = MARGAY_TRY(text(node, "hint"));
  // Older reports have neither of the two, or a fix without arguments.
  if (node.json->contains("fix")) MARGAY_CHECK(read_fix(node, finding));
  if (finding.fix == Fix::other && finding.fix_arguments.empty() && !hint.empty())
    finding.fix_arguments = {hint};
  if (node.json->contains("others"))
    finding.others = MARGAY_TRY(list<Occurrence>(node, "others", as_occurrence));
  finding.kernel = MARGAY_TRY(text(node, "kernel"));
  if (node.json->contains("computes"))
    finding.computes = MARGAY_TRY(list<SourceFrame>(node, "computes", as_frame));
  finding.launch = MARGAY_TRY(number<std::uint64_t>(node, "launch"));
  finding.count = MARGAY_TRY(number<std::uint64_t>(node, "count"));
  return finding;
}

Result<std::uint32_t> as_loosest(const Node& node) {
  if (node.json->is_null()) return kNeverNeeded;
  return as_number<std::uint32_t>(node);
}

Result<Site> as_site(const Node& node) {
  Site site;
  site.kernel = MARGAY_TRY(text(node, "kernel"));
  site.vaddr = MARGAY_TRY(number<std::uint64_t>(node, "vaddr"));
  site.word = MARGAY_TRY(number<std::uint32_t>(node, "word"));
  site.is_barrier = MARGAY_TRY(flag(node, "is_barrier"));
  // Older reports do not have it.
  if (node.json->contains("is_fence")) site.is_fence = MARGAY_TRY(flag(node, "is_fence"));
  site.executions = MARGAY_TRY(number<std::uint64_t>(node, "executions"));
  site.ordered = MARGAY_TRY(number<std::uint64_t>(node, "ordered"));
  site.completed = MARGAY_TRY(number<std::uint64_t>(node, "completed"));
  site.instruction = MARGAY_TRY(text(node, "instruction"));
  site.frames = MARGAY_TRY(list<SourceFrame>(node, "frames", as_frame));
  const auto loosest = MARGAY_TRY(list<std::uint32_t>(node, "loosest", as_loosest));
  if (loosest.size() != site.loosest.size()) {
    return MARGAY_TRY(node.field("loosest")).wrong("an array of two");
  }
  std::ranges::copy(loosest, site.loosest.begin());
  return site;
}

Status check_version(const Node& document) {
  const int version = MARGAY_TRY(number<int>(document, "version"));
  if (version == kJsonVersion) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("The report has version {}; this program reads version {}.", version,
                          kJsonVersion),
              {}, "Use the margay that belongs to the libamdhip64 which wrote it.");
}

}  // namespace

Result<Report> parse_report(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) {
    return fail(ErrorCode::invalid_argument, "The report is not JSON, or is cut off.");
  }
  const Node document{&parsed, {}};
  MARGAY_CHECK(check_version(document));
  Report report;
  report.tools = MARGAY_TRY(list<std::string>(document, "tools", as_text));
  const Node adversarial = MARGAY_TRY(document.field("adversarial"));
  report.adversarial = !adversarial.json->is_null();
  if (report.adversarial) report.seed = MARGAY_TRY(as_number<std::uint64_t>(adversarial));
  report.launches = MARGAY_TRY(number<std::uint64_t>(document, "launches"));
  report.findings = MARGAY_TRY(list<Finding>(document, "findings", as_finding));
  if (parsed.contains("in_launch")) {
    report.in_launch = std::min<std::uint64_t>(
        MARGAY_TRY(number<std::uint64_t>(document, "in_launch")), report.findings.size());
  }
  for (Finding& finding : MARGAY_TRY(list<Finding>(document, "advice", as_finding))) {
    report.findings.push_back(std::move(finding));
  }
  report.sites = MARGAY_TRY(list<Site>(document, "sites", as_site));
  const Node summary = MARGAY_TRY(document.field("summary"));
  report.suppressed = MARGAY_TRY(number<std::uint64_t>(summary, "suppressed"));
  return report;
}

Result<Report> read_report(const std::string& path) {
  Result<Report> report = parse_report(MARGAY_TRY(report::read_text(path)));
  if (!report) report.error().where = path;
  return report;
}

}  // namespace margay::check
