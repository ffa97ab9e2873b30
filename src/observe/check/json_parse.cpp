// Reading; see json.h. nlohmann-json throws; nothing here lets it: the text is parsed without
// exceptions and every type is looked at before a value is taken.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "observe/check/json.h"

namespace margay::check {
namespace {

using Json = nlohmann::ordered_json;

/// One value and how it is reached, for messages: "findings[3].accesses[0].wave".
struct Node {
  const Json* json;
  std::string path;

  [[nodiscard]] std::unexpected<Error> wrong(std::string_view expected) const {
    return fail(ErrorCode::invalid_argument,
                fmt::format("The report is malformed: {} is {}, not {}.",
                            path.empty() ? "the document" : path, json->type_name(), expected));
  }
  [[nodiscard]] Result<Node> field(std::string_view name) const {
    if (!json->is_object()) return wrong("an object");
    const std::string full = path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
    const auto found = json->find(std::string(name));
    if (found == json->end()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("The report is malformed: {} is missing.", full));
    }
    return Node{&*found, full};
  }
  [[nodiscard]] Node at(std::size_t index) const {
    return {&(*json)[index], fmt::format("{}[{}]", path, index)};
  }
};

Result<std::string> text(const Node& parent, std::string_view name) {
  const Node node = MARGAY_TRY(parent.field(name));
  if (!node.json->is_string()) return node.wrong("a string");
  return node.json->get<std::string>();
}

template <typename T>
Result<T> as_number(const Node& node) {
  if (!node.json->is_number_integer()) return node.wrong("an integer");
  // Values from 2^63 up are only there unsigned, and negative ones are never valid here.
  const bool fits =
      node.json->is_number_unsigned()
          ? node.json->get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<T>::max()}
          : node.json->get<std::int64_t>() >= 0;
  if (!fits) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("The report is malformed: {} is {}, which is out of range.", node.path,
                            node.json->dump()));
  }
  return node.json->get<T>();
}

template <typename T>
Result<T> number(const Node& parent, std::string_view name) {
  return as_number<T>(MARGAY_TRY(parent.field(name)));
}

template <typename T>
Result<T> number_or(const Node& parent, std::string_view name, T when_null) {
  const Node node = MARGAY_TRY(parent.field(name));
  if (node.json->is_null()) return when_null;
  return as_number<T>(node);
}

/// Applies `read` to each element of the array `name`.
template <typename T, typename Read>
Result<std::vector<T>> list(const Node& parent, std::string_view name, Read read) {
  const Node node = MARGAY_TRY(parent.field(name));
  if (!node.json->is_array()) return node.wrong("an array");
  std::vector<T> values;
  values.reserve(node.json->size());
  for (std::size_t i = 0; i < node.json->size(); ++i) {
    values.push_back(MARGAY_TRY(read(node.at(i))));
  }
  return values;
}

Result<std::string> as_text(const Node& node) {
  if (!node.json->is_string()) return node.wrong("a string");
  return node.json->get<std::string>();
}

Result<SourceFrame> as_frame(const Node& node) {
  SourceFrame frame;
  frame.function = MARGAY_TRY(text(node, "function"));
  frame.file = MARGAY_TRY(text(node, "file"));
  frame.line = MARGAY_TRY(number<std::uint32_t>(node, "line"));
  frame.column = MARGAY_TRY(number<std::uint32_t>(node, "column"));
  return frame;
}

Result<std::array<std::uint32_t, 3>> workgroup(const Node& parent) {
  const auto values =
      MARGAY_TRY(list<std::uint32_t>(parent, "workgroup", as_number<std::uint32_t>));
  if (values.size() != 3) {
    return MARGAY_TRY(parent.field("workgroup")).wrong("an array of three numbers");
  }
  return std::array{values[0], values[1], values[2]};
}

Result<Access> as_access(const Node& node) {
  Access access;
  access.role = MARGAY_TRY(text(node, "role"));
  access.wave = MARGAY_TRY(number_or<std::int32_t>(node, "wave", kNoNumber));
  access.lane = MARGAY_TRY(number_or<std::int32_t>(node, "lane", kNoNumber));
  access.workgroup = MARGAY_TRY(workgroup(node));
  access.instruction = MARGAY_TRY(text(node, "instruction"));
  access.pc = MARGAY_TRY(number_or<std::uint64_t>(node, "pc", 0));
  access.vaddr = MARGAY_TRY(number_or<std::uint64_t>(node, "vaddr", kNoVaddr));
  access.function = MARGAY_TRY(text(node, "function"));
  access.function_offset = MARGAY_TRY(number<std::uint64_t>(node, "function_offset"));
  access.frames = MARGAY_TRY(list<SourceFrame>(node, "frames", as_frame));
  access.called = MARGAY_TRY(number<std::uint32_t>(node, "called"));
  return access;
}

/// An enumerator by its name: the first `count` ones are tried.
template <typename Enum, typename NameOf>
Result<Enum> named(const Node& parent, std::string_view field, std::size_t count, NameOf name_of) {
  const Node node = MARGAY_TRY(parent.field(field));
  const std::string name = MARGAY_TRY(as_text(node));
  for (std::size_t i = 0; i < count; ++i) {
    if (name_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("The report is malformed: {} is \"{}\", which is no {}.", node.path, name,
                          field));
}

Result<Finding> as_finding(const Node& node) {
  Finding finding;
  finding.tool = MARGAY_TRY(named<Tool>(node, "tool", kToolCount, tool_name));
  finding.severity = MARGAY_TRY(named<Severity>(node, "severity", 3, severity_name));
  finding.kind = MARGAY_TRY(text(node, "kind"));
  finding.message = MARGAY_TRY(text(node, "message"));
  finding.accesses = MARGAY_TRY(list<Access>(node, "accesses", as_access));
  finding.detail = MARGAY_TRY(list<std::string>(node, "detail", as_text));
  finding.hint = MARGAY_TRY(text(node, "hint"));
  finding.kernel = MARGAY_TRY(text(node, "kernel"));
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
  const Node barrier = MARGAY_TRY(node.field("is_barrier"));
  if (!barrier.json->is_boolean()) return barrier.wrong("true or false");
  site.is_barrier = barrier.json->get<bool>();
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
  for (Finding& finding : MARGAY_TRY(list<Finding>(document, "advice", as_finding))) {
    report.findings.push_back(std::move(finding));
  }
  report.sites = MARGAY_TRY(list<Site>(document, "sites", as_site));
  const Node summary = MARGAY_TRY(document.field("summary"));
  report.suppressed = MARGAY_TRY(number<std::uint64_t>(summary, "suppressed"));
  return report;
}

Result<Report> read_report(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || text.fail()) {
    return fail(ErrorCode::system,
                fmt::format("The report cannot be read: {}.", std::strerror(errno)), path);
  }
  Result<Report> report = parse_report(text.view());
  if (!report) report.error().where = path;
  return report;
}

}  // namespace margay::check
