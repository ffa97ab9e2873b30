// v_cmp and v_cmpx: a relation per type, composed rather than written out 200 times.
// Source: MI300 ISA guide, section 12.9 (VOPC).
#pragma once

#include <array>

#include "isa/row.h"

namespace margay::MARGAY_HOST_LEVEL {

/// A relation on numbers: which of less, equal, greater and unordered make it true.
struct Relation {
  char name[4];  // an array, so that a relation can be a template argument
  bool less, equal, greater, unordered;
};
inline constexpr std::array<Relation, 16> kFloatRelations = {{
    {"f", false, false, false, false},
    {"lt", true, false, false, false},
    {"eq", false, true, false, false},
    {"le", true, true, false, false},
    {"gt", false, false, true, false},
    {"lg", true, false, true, false},
    {"ge", false, true, true, false},
    {"o", true, true, true, false},
    {"u", false, false, false, true},
    {"nge", true, false, false, true},
    {"nlg", false, true, false, true},
    {"ngt", true, true, false, true},
    {"nle", false, false, true, true},
    {"neq", true, false, true, true},
    {"nlt", false, true, true, true},
    {"tru", true, true, true, true},
}};
inline constexpr std::array<Relation, 8> kIntegerRelations = {{
    {"f", false, false, false, false},
    {"lt", true, false, false, false},
    {"eq", false, true, false, false},
    {"le", true, true, false, false},
    {"gt", false, false, true, false},
    {"ne", true, false, true, false},
    {"ge", false, true, true, false},
    {"t", true, true, true, false},
}};

/// "v_cmp_lt_f32" from its parts.
struct CompareName {
  char text[24] = {};
  constexpr CompareName(bool writes_exec, std::string_view relation, std::string_view type) {
    char* out = text;
    for (const std::string_view part : {std::string_view(writes_exec ? "v_cmpx_" : "v_cmp_"),
                                        relation, std::string_view("_"), type})
      for (const char c : part) *out++ = c;
  }
};

/// The effect of undefined bits on a comparison: none where it is always true or always false. All
/// other comparisons of floats (a NaN is neither less nor equal nor greater) depend on all bits.
template <typename T>
[[nodiscard]] consteval BitRule bit_rule(const Relation& r) {
  constexpr bool is_float = T::kFloat != FloatKind::none;
  if (r.less == r.equal && r.equal == r.greater && (!is_float || r.greater == r.unordered))
    return BitRule::defined;
  return is_float ? BitRule::whole : BitRule::compare;
}
template <typename T>
[[nodiscard]] consteval Comparison comparison(const Relation& r) {
  if (bit_rule<T>(r) != BitRule::compare) return Comparison::none;
  if (r.less == r.greater) return Comparison::equal;  // or its negation
  if (r.less) return r.equal ? Comparison::below_equal : Comparison::below;
  return r.equal ? Comparison::above_equal : Comparison::above;
}

template <typename T, Relation relation, bool writes_exec>
struct v_cmp : Op<mask(T, T), Operation::other, bit_rule<T>(relation), comparison<T>(relation)> {
  static constexpr CompareName kName{writes_exec, relation.name, type_name<T>()};
  static constexpr const char* kMnemonic = kName.text;
  static constexpr bool kWritesExec = writes_exec;
  static I32 eval(auto a, auto b) {
    I32 out{};
    if constexpr (relation.less && relation.equal && relation.greater && relation.unordered)
      return ~out;
    if constexpr (relation.unordered) {  // the negation of an ordered relation
      constexpr Relation opposite{"", !relation.less, !relation.equal, !relation.greater, false};
      return ~v_cmp<T, opposite, false>::eval(a, b);
    } else {
      if constexpr (relation.less && relation.equal && relation.greater)
        return narrow((a == a) & (b == b));
      else if constexpr (relation.less && relation.equal)
        return narrow(a <= b);
      else if constexpr (relation.greater && relation.equal)
        return narrow(a >= b);
      else if constexpr (relation.less && relation.greater)
        return narrow((a < b) | (a > b));
      else if constexpr (relation.less)
        return narrow(a < b);
      else if constexpr (relation.equal)
        return narrow(a == b);
      else if constexpr (relation.greater)
        return narrow(a > b);
      return out;
    }
  }
};

/// Which classes of number a lane belongs to, against a mask of ten bits: signalling NaN, quiet
/// NaN, -inf, -normal, -denormal, -0, +0, +denormal, +normal, +inf.
template <typename Bits>
[[nodiscard]] inline std::uint32_t number_class(Bits bits, int mantissa_bits, int exponent_bits) {
  const Bits mantissa = bits & ((Bits{1} << mantissa_bits) - 1);
  const Bits all_ones = (Bits{1} << exponent_bits) - 1;
  const Bits exponent = (bits >> mantissa_bits) & all_ones;
  const bool negative = (bits >> (mantissa_bits + exponent_bits)) & 1;
  if (exponent == all_ones) {
    if (mantissa != 0) return (mantissa >> (mantissa_bits - 1)) & 1 ? 1 : 0;
    return negative ? 2 : 9;
  }
  if (exponent != 0) return negative ? 3 : 8;
  if (mantissa != 0) return negative ? 4 : 7;
  return negative ? 5 : 6;
}

template <typename T, bool writes_exec>
struct v_cmp_class : Op<mask(T, u32), Operation::of_bits, BitRule::whole> {
  static constexpr CompareName kName{writes_exec, "class", type_name<T>()};
  static constexpr const char* kMnemonic = kName.text;
  static constexpr bool kWritesExec = writes_exec;
  static I32 eval(auto a, auto classes) {
    const auto one = [](auto value, std::uint32_t wanted) {
      std::uint32_t number = 0;
      if constexpr (T::kType == OperandType::f64)
        number = number_class(__builtin_bit_cast(std::uint64_t, value), 52, 11);
      else if constexpr (T::kType == OperandType::f32)
        number = number_class(__builtin_bit_cast(std::uint32_t, value), 23, 8);
      else {
        // The f32 value of an f16: its denormals, below 2^-14, are normal f32 numbers.
        number = number_class(__builtin_bit_cast(std::uint32_t, value), 23, 8);
        if (__builtin_fabsf(value) < 0x1p-14f && (number == 3 || number == 8))
          number = number == 3 ? 4 : 7;
      }
      return -static_cast<std::int32_t>((wanted >> number) & 1u);
    };
    return per_lane<std::int32_t>(one, a, classes);
  }
};

}  // namespace margay::MARGAY_HOST_LEVEL
