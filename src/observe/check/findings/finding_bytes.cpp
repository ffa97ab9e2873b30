#include "observe/check/findings/finding_bytes.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace margay::check {
namespace {

void put(Writer& out, const Statement& statement) {
  out.put(statement.says());
  out.put(static_cast<std::uint64_t>(statement.values().size()));
  for (const Value& value : statement.values()) {
    out.put(static_cast<std::uint8_t>(value.is.index()));
    std::visit(
        [&out]<typename T>(const T& one) {
          if constexpr (std::same_as<T, std::string>)
            out.put_text(one);
          else if constexpr (std::same_as<T, Statement>)
            put(out, one);
          else
            out.put(one);
        },
        value.is);
  }
}

Statement get_statement(Reader& in);

/// Of the alternative with a number.
template <std::size_t kIndex = 0>
Value get_value(Reader& in, std::size_t index) {
  using Variant = decltype(Value::is);
  if constexpr (kIndex < std::variant_size_v<Variant>) {
    if (index != kIndex) return get_value<kIndex + 1>(in, index);
    using T = std::variant_alternative_t<kIndex, Variant>;
    if constexpr (std::same_as<T, std::string>)
      return {in.get_text()};
    else if constexpr (std::same_as<T, Statement>)
      return {get_statement(in)};
    else
      return {in.get<T>()};
  }
  in.fail();
  return {};
}

Statement get_statement(Reader& in) {
  const auto says = in.get<Says>();
  std::vector<Value> values;
  for (std::uint64_t left = in.get_count(); left > 0 && in.ok(); --left)
    values.push_back(get_value(in, in.get<std::uint8_t>()));
  std::optional<Statement> statement;
  if (static_cast<std::size_t>(says) < kSaysCount)
    statement = Statement::of(says, std::move(values));
  if (!statement) in.fail();
  return std::move(statement).value_or(Statement());
}

}  // namespace

void put(Writer& out, const Access& access) {
  out.put(access.role);
  out.put(access.wave);
  out.put(access.lane);
  out.put(access.workgroup);
  out.put(access.vaddr);
}

Access get_access(Reader& in) {
  Access access;
  access.role = in.get<Role>();
  access.wave = in.get<std::int32_t>();
  access.lane = in.get<std::int32_t>();
  access.workgroup = in.get<std::array<std::uint32_t, 3>>();
  access.vaddr = in.get<std::uint64_t>();
  return access;
}

void put(Writer& out, const Finding& finding) {
  out.put(finding.kind);
  out.put(finding.severity);
  put(out, finding.message);
  out.put(static_cast<std::uint64_t>(finding.accesses.size()));
  for (const Access& access : finding.accesses) put(out, access);
  out.put(static_cast<std::uint64_t>(finding.detail.size()));
  for (const Statement& statement : finding.detail) put(out, statement);
  out.put(finding.fix);
  out.put(static_cast<std::uint64_t>(finding.fix_arguments.size()));
  for (const std::string& argument : finding.fix_arguments) out.put_text(argument);
  out.put(finding.moves);
  out.put_text(finding.cause);
  out.put_text(finding.kernel);
  out.put(finding.launch);
  out.put(finding.count);
}

Finding get_finding(Reader& in) {
  Finding finding;
  finding.kind = in.get<FindingKind>();
  finding.severity = in.get<Severity>();
  finding.message = get_statement(in);
  for (std::uint64_t left = in.get_count(); left > 0 && in.ok(); --left)
    finding.accesses.push_back(get_access(in));
  for (std::uint64_t left = in.get_count(); left > 0 && in.ok(); --left)
    finding.detail.push_back(get_statement(in));
  finding.fix = in.get<Fix>();
  for (std::uint64_t left = in.get_count(); left > 0 && in.ok(); --left)
    finding.fix_arguments.push_back(in.get_text());
  finding.moves = in.get<bool>();
  finding.cause = in.get_text();
  finding.kernel = in.get_text();
  finding.launch = in.get<std::uint64_t>();
  finding.count = in.get<std::uint64_t>();
  return finding;
}

void put(Writer& out, const FindingSet& findings) {
  out.put(static_cast<std::uint64_t>(findings.size()));
  findings.for_each([&](const Key& key, const Place& place, const Finding& finding) {
    out.put(key);
    out.put(place);
    put(out, finding);
  });
}

FindingSet get_findings(Reader& in) {
  FindingSet findings;
  for (std::uint64_t left = in.get_count(); left > 0 && in.ok(); --left) {
    const auto key = in.get<Key>();
    const auto place = in.get<Place>();
    findings.add(key, place, get_finding(in));
  }
  return findings;
}

}  // namespace margay::check
