// The types of generated programs, and their interesting values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace margay::fuzz {

/// In generated code each is spelled as here.
enum class Type : std::uint8_t {
  b1,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f16,
  f32,
  f64,
  i16x2,
  u16x2,
  f16x2,
  u32x2,
  f32x2,
  i32x4,
};
inline constexpr unsigned kTypes = 18;

enum class TypeKind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating };

struct TypeInfo {
  std::string_view name;
  TypeKind kind;
  Type element;
  unsigned bits;   ///< Of one element.
  unsigned lanes;  ///< 1 unless a vector.
};

inline constexpr std::array<TypeInfo, kTypes> kTypeInfo = {{
    {"b1", TypeKind::boolean, Type::b1, 8, 1},
    {"i8", TypeKind::signed_integer, Type::i8, 8, 1},
    {"u8", TypeKind::unsigned_integer, Type::u8, 8, 1},
    {"i16", TypeKind::signed_integer, Type::i16, 16, 1},
    {"u16", TypeKind::unsigned_integer, Type::u16, 16, 1},
    {"i32", TypeKind::signed_integer, Type::i32, 32, 1},
    {"u32", TypeKind::unsigned_integer, Type::u32, 32, 1},
    {"i64", TypeKind::signed_integer, Type::i64, 64, 1},
    {"u64", TypeKind::unsigned_integer, Type::u64, 64, 1},
    {"f16", TypeKind::floating, Type::f16, 16, 1},
    {"f32", TypeKind::floating, Type::f32, 32, 1},
    {"f64", TypeKind::floating, Type::f64, 64, 1},
    {"i16x2", TypeKind::signed_integer, Type::i16, 16, 2},
    {"u16x2", TypeKind::unsigned_integer, Type::u16, 16, 2},
    {"f16x2", TypeKind::floating, Type::f16, 16, 2},
    {"u32x2", TypeKind::unsigned_integer, Type::u32, 32, 2},
    {"f32x2", TypeKind::floating, Type::f32, 32, 2},
    {"i32x4", TypeKind::signed_integer, Type::i32, 32, 4},
}};

[[nodiscard]] constexpr const TypeInfo& info(Type type) {
  return kTypeInfo[static_cast<unsigned>(type)];
}
[[nodiscard]] constexpr bool is_float(Type type) { return info(type).kind == TypeKind::floating; }
[[nodiscard]] constexpr bool is_vector(Type type) { return info(type).lanes != 1; }
[[nodiscard]] constexpr bool is_integer(Type type) {
  return info(type).kind == TypeKind::signed_integer ||
         info(type).kind == TypeKind::unsigned_integer;
}

/// Random numbers that are the same everywhere (SplitMix64: Steele, Lea, Flood, 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ull;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// Below `bound`, which is not 0.
  unsigned below(unsigned bound) { return static_cast<unsigned>(next() % bound); }
  /// True `percent` times out of a hundred.
  bool chance(unsigned percent) { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

/// The `index`-th seed derived from `seed`.
[[nodiscard]] inline std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t index) {
  return Random(seed ^ (Random(index).next())).next();
}

/// The bits of a value of a scalar type: boundaries, special values and random ones.
[[nodiscard]] std::uint64_t interesting_value(Type type, Random& random);

}  // namespace margay::fuzz
