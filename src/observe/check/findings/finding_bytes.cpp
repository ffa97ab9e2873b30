#include "observe/check/findings/finding_bytes.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace margay::check {

// Not in an unnamed namespace, where the templates of bytes.h would not find them.
static void encode(Writer& out, const Value& value) {
  out.put(static_cast<std::uint8_t>(value.is.index()));
  std::visit([&out](const auto& one) { encode(out, one); }, value.is);
}

/// The alternative with a number.
template <std::size_t kIndex = 0>
static Value decode_alternative(Reader& in, std::size_t index) {
  using Variant = decltype(Value::is);
  if constexpr (kIndex < std::variant_size_v<Variant>) {
    if (index != kIndex) return decode_alternative<kIndex + 1>(in, index);
    return {decode<std::variant_alternative_t<kIndex, Variant>>(in)};
  }
  in.fail();
  return {};
}

static void decode(Reader& in, Value& value) {
  value = decode_alternative(in, in.get<std::uint8_t>());
}

void encode(Writer& out, const Statement& statement) {
  out.put(statement.says());
  encode(out, statement.values());
}

void decode(Reader& in, Statement& statement) {
  const auto says = in.get<Says>();
  auto values = decode<std::vector<Value>>(in);
  std::optional<Statement> known;
  if (static_cast<std::size_t>(says) < kSaysCount) known = Statement::of(says, std::move(values));
  if (!known) in.fail();
  statement = std::move(known).value_or(Statement());
}

void encode(Writer& out, const FindingSet& findings) {
  out.put(static_cast<std::uint64_t>(findings.size()));
  findings.for_each([&](const Key& key, const Place& place, const Finding& finding) {
    out.put(key);
    out.put(place);
    encode(out, finding);
  });
}

void decode(Reader& in, FindingSet& findings) {
  for (std::uint64_t left = in.get_count(); left > 0 && in.ok(); --left) {
    const auto key = in.get<Key>();
    const auto place = in.get<Place>();
    findings.add(key, place, decode<Finding>(in));
  }
}

}  // namespace margay::check
