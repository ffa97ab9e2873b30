#include "assembly_line.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace margay::isa_test {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Splits at `separator` outside brackets.
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    if (c == separator && depth == 0) {
      out.emplace_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trimmed(part).empty()) out.emplace_back(trimmed(part));
  return out;
}

/// "[4:5]" or "7" after a register letter.
bool read_registers(std::string_view text, PrintedOperand& out) {
  if (text.empty()) return false;
  char* end = nullptr;
  if (text.front() != '[') {
    const std::string digits(text);
    out.index = static_cast<unsigned>(std::strtoul(digits.c_str(), &end, 10));
    return *end == '\0' && end != digits.c_str();
  }
  const std::string digits(text.substr(1));
  out.index = static_cast<unsigned>(std::strtoul(digits.c_str(), &end, 10));
  if (*end != ':') return *end == ']';
  out.count = static_cast<unsigned>(std::strtoul(end + 1, &end, 10)) - out.index + 1;
  return *end == ']';
}

/// Named scalars. Source: MI300 ISA guide, table of SSRC codes.
struct Named {
  std::string_view name;
  unsigned index, count;
};
constexpr Named kNamed[] = {{"flat_scratch", 102, 2},
                            {"flat_scratch_lo", 102, 1},
                            {"flat_scratch_hi", 103, 1},
                            {"xnack_mask", 104, 2},
                            {"xnack_mask_lo", 104, 1},
                            {"xnack_mask_hi", 105, 1},
                            {"vcc", 106, 2},
                            {"vcc_lo", 106, 1},
                            {"vcc_hi", 107, 1},
                            {"m0", 124, 1},
                            {"exec", 126, 2},
                            {"exec_lo", 126, 1},
                            {"exec_hi", 127, 1}};

PrintedOperand parse_operand(std::string_view text) {
  PrintedOperand out;
  const auto unwrap = [&](std::string_view before, char after) {
    if (!text.starts_with(before) || text.back() != after) return false;
    text = text.substr(before.size(), text.size() - before.size() - 1);
    return true;
  };
  if (unwrap("sext(", ')')) out.sign_extended = true;
  if (unwrap("neg(", ')')) out.negative = true;
  if (text.starts_with("-") && text.size() > 1 &&
      !std::isdigit(static_cast<unsigned char>(text[1]))) {
    out.negative = true;
    text.remove_prefix(1);
  }
  if (unwrap("|", '|')) out.absolute = true;
  unwrap("lit(", ')');  // a literal that an inline constant could be
  out.text = text;
  using enum PrintedOperand::Kind;
  if (text.starts_with("v") && read_registers(text.substr(1), out)) {
    out.kind = vgpr;
  } else if (text.starts_with("a") && read_registers(text.substr(1), out)) {
    out.kind = agpr;
  } else if (text.starts_with("ttmp") && read_registers(text.substr(4), out)) {
    out.kind = scalar;
    out.index += 108;
  } else if (text.starts_with("s") && read_registers(text.substr(1), out)) {
    out.kind = scalar;
  } else if (!text.empty() &&
             (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-')) {
    out.kind = number;
  } else {
    const auto* const named = std::ranges::find(kNamed, text, &Named::name);
    if (named != std::end(kNamed)) {
      out.kind = scalar;
      out.index = named->index;
      out.count = named->count;
    }
  }
  return out;
}

std::uint64_t float_bits(double value, OperandType type) {
  const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (is_64_bit(type)) return std::bit_cast<std::uint64_t>(value);
  if (!is_16_bit(type)) return single;
  // The inline constants are exact in f16, but for 1/(2 pi).
  if (std::fabs(value - 0.15915494) < 1e-6) return 0x3118;
  return ((single >> 16) & 0x8000) |
         (value == 0 ? 0 : (((single >> 23) & 0xff) - 112) << 10 | (single >> 13 & 0x3ff));
}

}  // namespace

std::optional<std::uint64_t> PrintedOperand::bits(OperandType type) const {
  if (kind != Kind::number) return std::nullopt;
  if (text.starts_with("0x")) {
    const std::uint64_t literal = std::strtoull(text.c_str(), nullptr, 16);
    return type == OperandType::f64 ? literal << 32 : literal;
  }
  if (text.contains('.')) return float_bits(std::strtod(text.c_str(), nullptr), type);
  return static_cast<std::uint64_t>(std::strtoll(text.c_str(), nullptr, 10));
}

std::int64_t AssemblyLine::number(std::string_view name) const {
  const auto found = modifiers.find(name);
  return found == modifiers.end() ? 0 : std::strtoll(found->second.c_str(), nullptr, 0);
}

unsigned AssemblyLine::list(std::string_view name, unsigned otherwise) const {
  const auto found = modifiers.find(name);
  if (found == modifiers.end()) return otherwise;
  unsigned bits = 0, n = 0;
  for (const char c : found->second)
    if (c == '0' || c == '1') bits |= static_cast<unsigned>(c - '0') << n++;
  return bits;
}
std::size_t AssemblyLine::list_size(std::string_view name) const {
  const auto found = modifiers.find(name);
  if (found == modifiers.end()) return 0;
  return static_cast<std::size_t>(
      std::ranges::count_if(found->second, [](char c) { return c == '0' || c == '1'; }));
}

AssemblyLine parse_line(std::string_view text) {
  AssemblyLine out;
  text = trimmed(text);
  const auto space = text.find_first_of(" \t");
  out.mnemonic = text.substr(0, space);
  for (const std::string_view suffix : {"_e32", "_e64", "_sdwa", "_dpp"})
    if (out.mnemonic.ends_with(suffix)) out.mnemonic.resize(out.mnemonic.size() - suffix.size());
  if (space == std::string_view::npos) return out;
  auto parts = split(text.substr(space), ',');
  std::vector<std::string> words;
  if (!parts.empty()) {  // the last operand, then modifiers
    words = split(parts.back(), ' ');
    parts.pop_back();
  }
  for (const std::string& part : parts) out.operands.push_back(parse_operand(part));
  for (std::size_t n = 0; n < words.size(); ++n) {
    const auto colon = words[n].find(':');
    const bool registers = words[n].contains('[') && words[n].find('[') < colon;
    if (n == 0 && (colon == std::string::npos || registers))
      out.operands.push_back(parse_operand(words[n]));
    else if (colon == std::string::npos)
      out.modifiers[words[n]] = "";
    else
      out.modifiers[words[n].substr(0, colon)] = words[n].substr(colon + 1);
  }
  return out;
}

}  // namespace margay::isa_test
