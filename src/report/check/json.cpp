// Writing; see json.h. Reading is in json_parse.cpp.
#include "report/check/json.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/check/fix_text.h"
#include "report/check/report.h"
#include "report/check/statement_text.h"
#include "report/json_node.h"
#include "report/text_file.h"

namespace margay::check {
namespace {

using Json = nlohmann::ordered_json;

/// Absent numbers are null: -1 or 2^64-1 would look like values.
Json number_or_null(std::int64_t number) { return number < 0 ? Json(nullptr) : Json(number); }

Json access_json(const Access& access) {
  const bool has_instruction = access.vaddr != kNoVaddr;
  return {{"role", role_name(access.role)},
          {"wave", number_or_null(access.wave)},
          {"lane", number_or_null(access.lane)},
          {"workgroup", access.workgroup},
          {"instruction", access.instruction},
          {"pc", has_instruction ? Json(access.pc) : Json(nullptr)},
          {"vaddr", has_instruction ? Json(access.vaddr) : Json(nullptr)},
          {"function", access.function},
          {"function_offset", access.function_offset},
          {"frames", frames_json(access.frames)},
          {"called", access.frames.empty()
                         ? std::size_t{0}
                         : std::min<std::size_t>(access.called, access.frames.size() - 1)},
          {"nearby", access.nearby}};
}

Json accesses_json(const std::vector<Access>& accesses) {
  Json list = Json::array();
  for (const Access& access : accesses) list.push_back(access_json(access));
  return list;
}

Json fix_json(const Finding& finding) {
  const FixPlace& at = finding.fix_place;
  Json place = nullptr;
  if (at.line != 0)
    place = {{"file", at.file},
             {"line", at.line},
             {"column", at.column},
             {"end_of_loop", at.end_of_loop == 0 ? Json(nullptr) : Json(at.end_of_loop)}};
  return {{"kind", fix_name(finding.fix)},
          {"arguments", finding.fix_arguments},
          {"place", std::move(place)}};
}

Json finding_json(const Finding& finding) {
  Json detail = Json::array();
  for (const Statement& line : finding.detail) detail.push_back(in_words(line));
  Json others = Json::array();
  for (const Occurrence& other : finding.others)
    others.push_back({{"kind", kind_name(other.kind)},
                      {"message", in_words(other.message)},
                      {"count", other.count},
                      {"accesses", accesses_json(other.accesses)}});
  Json json = {{"tool", tool_name(finding.tool())},
               {"kind", kind_name(finding.kind)},
               {"severity", severity_name(finding.severity)},
               {"message", in_words(finding.message)},
               {"kernel", finding.kernel},
               {"launch", finding.launch},
               {"count", finding.count},
               {"accesses", accesses_json(finding.accesses)},
               {"detail", std::move(detail)},
               {"hint", fix_in_words(finding)},
               {"fix", fix_json(finding)},
               {"others", std::move(others)}};
  if (!finding.computes.empty()) json["computes"] = frames_json(finding.computes);
  return json;
}

Json site_json(const Site& site) {
  Json loosest = Json::array();
  for (const std::uint32_t count : site.loosest) {
    loosest.push_back(count == kNeverNeeded ? Json(nullptr) : Json(count));
  }
  return {{"kernel", site.kernel},
          {"vaddr", site.vaddr},
          {"word", site.word},
          {"is_barrier", site.is_barrier},
          {"is_fence", site.is_fence},
          {"executions", site.executions},
          {"ordered", site.ordered},
          {"completed", site.completed},
          {"loosest", std::move(loosest)},
          {"instruction", site.instruction},
          {"frames", frames_json(site.frames)}};
}

}  // namespace

Json frames_json(const std::vector<SourceFrame>& frames) {
  Json list = Json::array();
  for (const SourceFrame& frame : frames) list.push_back(report::frame_json(frame));
  return list;
}

std::string json_of(const Report& report) {
  Json findings = Json::array();
  Json advice = Json::array();
  for (const Finding& finding : report.findings) {
    (finding.severity == Severity::advice ? advice : findings).push_back(finding_json(finding));
  }
  Json sites = Json::array();
  for (const Site& site : report.sites) sites.push_back(site_json(site));
  const Tally count = tally(report.findings);
  Json document = {{"version", kJsonVersion},
                   {"tools", report.tools},
                   {"adversarial", report.adversarial ? Json(report.seed) : Json(nullptr)},
                   {"launches", report.launches},
                   {"findings", std::move(findings)},
                   {"advice", std::move(advice)},
                   {"sites", std::move(sites)},
                   {"summary",
                    {{"errors", count.errors},
                     {"notes", count.notes},
                     {"advice", count.advice},
                     {"suppressed", report.suppressed}}}};
  if (report.in_launch != 0) document["in_launch"] = report.in_launch;
  // Names come from files and may contain any bytes.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status write_report(const Report& report, const std::string& path) {
  return report::write_text(json_of(report), path);
}

}  // namespace margay::check
