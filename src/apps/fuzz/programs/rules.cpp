#include "apps/fuzz/programs/rules.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace margay::fuzz {

namespace {

constexpr std::array kIntegers = {Type::i8,  Type::u8,  Type::i16, Type::u16,
                                  Type::i32, Type::u32, Type::i64, Type::u64};
constexpr std::array kFloats = {Type::f16, Type::f32, Type::f64};
constexpr std::array kVectors = {Type::i16x2, Type::u16x2, Type::f16x2,
                                 Type::u32x2, Type::f32x2, Type::i32x4};

class Table {
 public:
  Table();
  [[nodiscard]] std::vector<Rule> take() { return std::move(rules_); }

 private:
  /// In `text` TT is the result's type; the holes are $0, $1 ...
  void add(std::string_view text, Type result, std::vector<Type> arguments, unsigned weight = 1) {
    Rule rule{{}, result, std::move(arguments), weight};
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.substr(i, 2) == "TT") {
        rule.text += info(result).name;
        ++i;
      } else if (text[i] == '$') {
        rule.text += fmt::format("{{{}}}", text[++i]);
      } else {
        rule.text += text[i];
      }
    }
    rules_.push_back(std::move(rule));
  }
  void integers(Type t);
  void wide_integers();
  void floats(Type t);
  void mixed_floats();
  void conversions();
  void vectors(Type v);
  void mixed_vectors();
  void builtins();

  std::vector<Rule> rules_;
};

Table::Table() {
  for (const Type t : kIntegers) integers(t);
  wide_integers();
  for (const Type t : kFloats) floats(t);
  mixed_floats();
  conversions();
  for (const Type v : kVectors) vectors(v);
  mixed_vectors();
  builtins();
  add("($0 && $1)", Type::b1, {Type::b1, Type::b1});
  add("($0 || $1)", Type::b1, {Type::b1, Type::b1});
  add("($0 != $1)", Type::b1, {Type::b1, Type::b1});
  add("(!$0)", Type::b1, {Type::b1});
}

void Table::integers(Type t) {
  for (const auto* text : {"(TT)($0 + $1)", "(TT)($0 - $1)"}) add(text, t, {t, t}, 6);
  for (const auto* text : {"(TT)($0 * $1)", "(TT)($0 & $1)", "(TT)($0 | $1)", "(TT)($0 ^ $1)"})
    add(text, t, {t, t}, 4);
  for (const auto* text :
       {"divide<TT>($0, $1)", "remainder<TT>($0, $1)", "lower<TT>($0, $1)", "upper<TT>($0, $1)",
        "distance<TT>($0, $1)", "high_product<TT>($0, $1)", "mean_product<TT>($0, $1)",
        "carried<TT>($0, $1)", "borrowed<TT>($0, $1)", "checked_product<TT>($0, $1)"})
    add(text, t, {t, t});
  add("sum_saturated<TT>($0, $1)", t, {t, t}, 2);
  add("difference_saturated<TT>($0, $1)", t, {t, t}, 2);
  add("(TT)~$0", t, {t}, 2);
  add("(TT)-$0", t, {t}, 2);
  add("magnitude<TT>($0)", t, {t});
  for (const auto* text : {"shift_left<TT>($0, $1)", "shift_right<TT>($0, $1)"})
    add(text, t, {t, Type::u32}, 4);
  add("rotated<TT>($0, $1)", t, {t, Type::u32}, 2);
  add("funnel<TT>($0, $1, $2)", t, {t, t, Type::u32}, 2);
  add("field<TT>($0, $1, $2)", t, {t, Type::u32, Type::u32}, 2);
  add("signed_field<TT>($0, $1, $2)", t, {t, Type::u32, Type::u32}, 2);
  for (const auto* text : {"mixed<TT>($0, $1, $2)", "median<TT>($0, $1, $2)",
                           "clamped<TT>($0, $1, $2)", "wide_sum<TT>($0, $1, $2)"})
    add(text, t, {t, t, t});
  add("($0 ? $1 : $2)", t, {Type::b1, t, t}, 6);
  add("(TT)$0", t, {Type::b1}, 2);
  for (const auto* text : {"($0 < $1)", "($0 <= $1)", "($0 == $1)", "($0 != $1)", "($0 > $1)"})
    add(text, Type::b1, {t, t});
  // Shifts by a constant, and with a sum, are instructions of their own.
  for (const auto* text : {"(TT)(shift_left<TT>($0, 3) + $1)", "(TT)(shift_left<TT>($0, 1) | $1)",
                           "(TT)(($0 + $1) << 2)", "(TT)(($0 & $1) | 5)", "(TT)($0 * 7 + $1)"})
    add(text, t, {t, t});
}

void Table::wide_integers() {
  using enum Type;
  add("population($0)", u32, {u32}, 2);
  add("population($0)", u32, {u64}, 2);
  for (const Type t : {u16, u32, u64}) add("leading($0)", u32, {t});
  for (const Type t : {u32, u64}) add("trailing($0)", u32, {t});
  add("(u8)__builtin_bitreverse8($0)", u8, {u8});
  add("__builtin_bitreverse16($0)", u16, {u16});
  add("__builtin_bitreverse32($0)", u32, {u32}, 2);
  add("__builtin_bitreverse64($0)", u64, {u64}, 2);
  add("__builtin_bswap16($0)", u16, {u16});
  add("__builtin_bswap32($0)", u32, {u32}, 2);
  add("__builtin_bswap64($0)", u64, {u64}, 2);
  add("((u64)$0 * $1)", u64, {u32, u32}, 2);
  add("((u64)$0 * $1 + $2)", u64, {u32, u32, u64}, 2);
  add("((i64)$0 * $1)", i64, {i32, i32}, 2);
  add("((i64)$0 * $1 + $2)", i64, {i32, i32, i64}, 2);
  add("product_sum($0, $1, $2)", u64, {u64, u64, u64});
  add("long_shift($0, $1, $2)", u64, {u64, u64, u32});
  for (const Type t : {u32, i32}) {
    add("product24($0, $1)", t, {t, t});
    add("(TT)(product24($0, $1) + $2)", t, {t, t, t});
  }
  add("high_product24($0, $1)", u32, {u32, u32});
  for (const Type t : {i32, u32}) {
    add("(TT)($0 + $1 + $2)", t, {t, t, t}, 2);
    add("(TT)($0 ^ $1 ^ $2)", t, {t, t, t});
    add("(TT)($0 | $1 | $2)", t, {t, t, t});
    add("lower<TT>(lower<TT>($0, $1), $2)", t, {t, t, t});
    add("upper<TT>(upper<TT>($0, $1), $2)", t, {t, t, t});
    add("(TT)(distance<TT>($0, $1) + $2)", t, {t, t, t});
  }
  add("((u64)$0 << 32 | $1)", u64, {u32, u32}, 2);
  add("(u32)($0 >> 32)", u32, {u64}, 2);
  add("((u32)$0 << 16 | $1)", u32, {u16, u16}, 2);
  add("(u16)($0 >> 16)", u16, {u32}, 2);
  for (const auto* text : {"(u8)($0 >> 8)", "(u8)($0 >> 16)", "(u8)($0 >> 24)"})
    add(text, u8, {u32});
}

void Table::floats(Type t) {
  for (const auto* text : {"($0 + $1)", "($0 * $1)"}) add(text, t, {t, t}, 6);
  // LLVM 19 treats 0 - x, as an operand, as -x, even if x is 0.
  add("(opaque($0) - $1)", t, {t, t}, 5);
  add("((TT)4 - $0)", t, {t});
  add("fused($0, $1, $2)", t, {t, t, t}, 5);
  add("fused(-$0, $1, absolute($2))", t, {t, t, t}, 2);
  add("(-$0)", t, {t}, 2);
  add("absolute($0)", t, {t}, 2);
  add("with_sign($0, $1)", t, {t, t});
  add("least_of($0, $1)", t, {t, t}, 2);
  add("greatest_of($0, $1)", t, {t, t}, 2);
  add("least_of(least_of($0, $1), $2)", t, {t, t, t});
  add("greatest_of($0, greatest_of($1, $2))", t, {t, t, t});
  add("least_of(greatest_of($0, (TT)0), (TT)1)", t, {t});
  add("least_of(greatest_of($0 * $1, (TT)0), (TT)1)", t, {t, t});
  add("least_of(greatest_of($0, (TT)-2.5), (TT)4)", t, {t});
  for (const auto* text : {"floored($0)", "raised($0)", "truncated($0)", "nearest_even($0)"})
    add(text, t, {t});
  add("($0 - floored($0))", t, {t});
  add("($0 ? $1 : $2)", t, {Type::b1, t, t}, 4);
  add("($0 ? $1 : -$2)", t, {Type::b1, t, t});
  for (const auto* text :
       {"($0 < $1)", "($0 <= $1)", "($0 == $1)", "($0 != $1)", "($0 > $1)", "($0 >= $1)",
        "!($0 < $1)", "!($0 >= $1)", "ordered($0, $1)", "!ordered($0, $1)", "(absolute($0) < -$1)",
        "__builtin_islessgreater($0, $1)"})
    add(text, Type::b1, {t, t});
  add("__builtin_isinf($0)", Type::b1, {t});
  add("__builtin_isnormal($0)", Type::b1, {t});
  add("class_of(canonical($0))", Type::u32, {t});
  if (t == Type::f16) return;
  add("($0 / $1)", t, {t, t}, 2);
  add("((TT)1 / $0)", t, {t});
  add("root($0)", t, {t}, 2);
  add("rounded($0)", t, {t});
  add("scaled($0, clamped<i32>($1, -3000, 3000))", t, {t, Type::i32}, 2);
  add("exponent_of($0)", Type::i32, {t});
  add("mantissa_of($0)", t, {t});
}

void Table::mixed_floats() {
  using enum Type;
  add("fused((f32)$0, (f32)$1, $2)", f32, {f16, f16, f32}, 2);
  add("narrowed(fused((f32)$0, $1, (f32)$2))", f16, {f16, f32, f16}, 2);
  add("(f32)(u8)$0", f32, {u32});
  add("(f32)(u8)($0 >> 8)", f32, {u32});
  add("(f32)(u8)($0 >> 16)", f32, {u32});
  add("(f32)($0 >> 24)", f32, {u32});
  add("through_bf16($0)", f32, {f32}, 2);
  add("bits<u32>($0)", u32, {f32}, 2);
  add("bits<u64>($0)", u64, {f64}, 2);
  add("bits<u16>($0)", u16, {f16}, 2);
  add("bits<f32>($0)", f32, {u32}, 2);
  add("bits<f64>($0)", f64, {u64}, 2);
  add("bits<f16>($0)", f16, {u16}, 2);
  // With a known NaN LLVM 19 folds it to a maximum, but the instruction gives the minimum.
  add("middle_of(number($0), number($1), number($2))", f32, {f32, f32, f32}, 2);
  add("packed_toward_zero($0, $1)", u32, {f32, f32}, 2);
}

void Table::conversions() {
  for (const Type to : kIntegers) {
    for (const Type from : kIntegers)
      if (from != to) add("(TT)$0", to, {from}, 1);
    for (const Type from : kFloats) {
      add(fmt::format("to_integer<TT, {}>($0)", info(from).name), to, {from});
      if (from != Type::f16)
        add(fmt::format("to_integer_or_zero<TT, {}>($0)", info(from).name), to, {from});
    }
  }
  for (const Type to : kFloats) {
    for (const Type from : kIntegers) add("(TT)$0", to, {from});
    for (const Type from : kFloats)
      if (from != to) add(to == Type::f16 ? "narrowed($0)" : "(TT)$0", to, {from}, 4);
  }
}

void Table::vectors(Type v) {
  const TypeInfo& i = info(v);
  const Type e = i.element;
  if (v == Type::f16x2) {
    // LLVM 19 loses the sign of a constant -0 in a pair of f16: no foldable operands in a pair.
    add("TT{opaque($0), opaque($1)}", v, {e, e}, 3);
    add("TT{-opaque($0), absolute(opaque($1))}", v, {e, e});
  } else {
    const std::string two = i.lanes == 2 ? "TT{$0, $1}" : "TT{$0, $1, $2, $3}";
    add(two, v, std::vector<Type>(i.lanes, e), 4);
  }
  for (const auto* text : {"($0 + $1)", "($0 - $1)", "($0 * $1)"}) add(text, v, {v, v}, 4);
  add("(-$0)", v, {v});
  add("($0 ? $1 : $2)", v, {Type::b1, v, v}, 2);
  add(i.lanes == 2 ? "$0.yx" : "$0.wxzy", v, {v}, 2);
  if (v == Type::f16x2)
    add("TT{opaque($0[1]), opaque($1[0])}", v, {v, v}, 2);
  else
    add(i.lanes == 2 ? "TT{$0[1], $1[0]}" : "TT{$0[3], $1[1], $0[0], $1[2]}", v, {v, v}, 2);
  for (unsigned lane = 0; lane < i.lanes; ++lane) add(fmt::format("$0[{}]", lane), e, {v}, 2);
  add(fmt::format("$0[$1 & {}]", i.lanes - 1), e, {v, Type::u32});
  if (i.kind == TypeKind::floating) {
    add("fused($0, $1, $2)", v, {v, v, v}, 4);
    add("fused($0, -$1.yx, $2)", v, {v, v, v});
    add("($0 * $1.xx)", v, {v, v});
    add("($0 + $1.yy)", v, {v, v});
    return;
  }
  for (const auto* text :
       {"($0 & $1)", "($0 | $1)", "($0 ^ $1)", "__builtin_elementwise_min($0, $1)",
        "__builtin_elementwise_max($0, $1)", "__builtin_elementwise_add_sat($0, $1)",
        "__builtin_elementwise_sub_sat($0, $1)"})
    add(text, v, {v, v}, 2);
  add(fmt::format("($0 << ($1 & (TT){}))", i.bits - 1), v, {v, v}, 2);
  add(fmt::format("($0 >> ($1 & (TT){}))", i.bits - 1), v, {v, v}, 2);
  add("($0 * $1 + $2)", v, {v, v, v}, 2);
  add("(~$0)", v, {v});
}

void Table::mixed_vectors() {
  using enum Type;
  add("least_of($0, $1)", f16x2, {f16x2, f16x2}, 2);
  add("greatest_of($0, $1)", f16x2, {f16x2, f16x2}, 2);
  add("bits<u32>($0)", u32, {f16x2});
  add("bits<u32>($0)", u32, {u16x2});
  add("bits<u64>($0)", u64, {f32x2});
  add("bits<u64>($0)", u64, {u32x2});
  add("bits<f16x2>($0)", f16x2, {u32});
  add("bits<u16x2>($0)", u16x2, {u32});
  add("bits<i16x2>($0)", i16x2, {u32});
  add("bits<u32x2>($0)", u32x2, {u64});
  add("bits<f32x2>($0)", f32x2, {u64});
  add("__builtin_convertvector($0, f32x2)", f32x2, {f16x2});
  add("f16x2{narrowed($0[0]), narrowed($0[1])}", f16x2, {f32x2});
  add("__builtin_convertvector($0, f32x2)", f32x2, {u32x2});
  add("__builtin_convertvector($0, u32x2)", u32x2, {u16x2});
  add("__builtin_convertvector($0, u16x2)", u16x2, {u32x2});
}

void Table::builtins() {
  using enum Type;
  for (const auto* text :
       {"permuted($0, $1, $2)", "permuted($0, $1, ($2 & 0x0f0f0f0fu))", "aligned_bits($0, $1, $2)",
        "aligned_bytes($0, $1, $2)", "bit_field($0, $1, $2)", "byte_distances($0, $1, $2)",
        "high_byte_distances($0, $1, $2)", "masked_byte_distances($0, $1, $2)",
        "half_distances($0, $1, $2)", "byte_means($0, $1, $2)", "dot_bytes($0, $1, $2)",
        "dot_bytes_clamped($0, $1, $2)", "dot_nibbles($0, $1, $2)"})
    add(text, u32, {u32, u32, u32});
  add("bit_field($0, $1, $2)", i32, {i32, u32, u32});
  for (const auto* text :
       {"dot_bytes($0, $1, $2)", "dot_bytes_clamped($0, $1, $2)", "dot_nibbles($0, $1, $2)"})
    add(text, i32, {i32, i32, i32});
  add("dot_halves($0, $1, $2)", i32, {i16x2, i16x2, i32});
  add("dot_halves($0, $1, $2)", u32, {u16x2, u16x2, u32});
  add("sign_leading($0)", u32, {i32});
}

struct ByResult {
  std::array<std::vector<std::uint32_t>, kTypes> rules;  // each in proportion to its weight
};

}  // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table = Table().take();
  return table;
}

std::uint32_t random_rule(Type type, Random& random) {
  static const ByResult by_result = [] {
    ByResult out;
    for (std::uint32_t i = 0; i < rules().size(); ++i)
      for (unsigned n = 0; n < rules()[i].weight; ++n)
        out.rules[static_cast<unsigned>(rules()[i].result)].push_back(i);
    return out;
  }();
  const auto& of_type = by_result.rules[static_cast<unsigned>(type)];
  return of_type[random.below(static_cast<unsigned>(of_type.size()))];
}

}  // namespace margay::fuzz
