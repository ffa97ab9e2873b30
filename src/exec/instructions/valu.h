// Runs vector-ALU rows: reads the sources chunk by chunk, applies the row's eval, and writes the
// lanes that EXEC names. Compiled once per host level.
#pragma once

#include <type_traits>

#include "exec/rows/row_table.h"
#include "exec/state/wave.h"
#include "isa/row.h"

namespace margay::MARGAY_HOST_LEVEL {

/// One source operand, to be read chunk by chunk: `stride` is 0 when all chunks are equal.
struct SourceRows {
  const std::uint32_t* low;
  const std::uint32_t* high;
  int stride;
};
struct alignas(64) BroadcastBuffer {
  std::uint32_t low[kLanes];
  std::uint32_t high[kLanes];
};

template <typename T>
inline constexpr bool kIs64Bit = sizeof(typename T::Chunk) == 2 * sizeof(U32);

template <typename T>
[[nodiscard]] inline SourceRows source_rows(Wave& wave, const Instruction& i, int n,
                                            BroadcastBuffer& buffer) {
  if constexpr (T::kType == OperandType::mask) return {};  // read whole; see mask_bits
  const margay::Source source = i.src[n];
  if (source.is_vgpr()) {
    const std::uint32_t* row = wave.row(source.index());
    return {row, row + kWaveLanes, kLanes};
  }
  const auto at = static_cast<unsigned>(n);
  const std::uint64_t value =
      kIs64Bit<T> ? scalar_source64(wave, i, at) : scalar_source(wave, i, at);
  *reinterpret_cast<U32*>(buffer.low) = splat<U32>(static_cast<std::uint32_t>(value));
  if constexpr (kIs64Bit<T>)
    *reinterpret_cast<U32*>(buffer.high) = splat<U32>(static_cast<std::uint32_t>(value >> 32));
  return {buffer.low, buffer.high, 0};
}

/// Applies neg, abs and the upper-half selection to the raw bits of source n.
template <typename T, typename Raw>
[[nodiscard]] inline Raw modify_source(Raw raw, Modifiers modifiers, int n) {
  constexpr auto type = T::kType;
  if constexpr (type == OperandType::f16 || type == OperandType::u16 || type == OperandType::i16)
    if (modifiers.op_select >> n & 1) raw >>= 16;
  if constexpr (type == OperandType::f16 || type == OperandType::f32 || type == OperandType::f64) {
    using Bit = Element<Raw>;
    constexpr Bit sign = type == OperandType::f64   ? Bit(std::uint64_t{1} << (sizeof(Bit) * 8 - 1))
                         : type == OperandType::f32 ? Bit(0x80000000u)
                                                    : Bit(0x8000u);
    if (modifiers.absolute >> n & 1) raw &= ~sign;
    if (modifiers.negate >> n & 1) raw ^= sign;
  }
  return raw;
}

template <typename T, bool modified>
[[nodiscard]] inline typename T::Chunk load_source(const SourceRows& rows, int chunk,
                                                   Modifiers modifiers, int n) {
  const int at = chunk * rows.stride;
  U32 low = *reinterpret_cast<const U32*>(rows.low + at);
  if constexpr (kIs64Bit<T>) {
    U64 raw = join(low, *reinterpret_cast<const U32*>(rows.high + at));
    if constexpr (modified) raw = modify_source<T>(raw, modifiers, n);
    return as<typename T::Chunk>(raw);
  } else {
    if constexpr (modified) low = modify_source<T>(low, modifiers, n);
    if constexpr (std::is_same_v<T, f16>)
      return half_to_float(low);
    else if constexpr (T::kType == OperandType::u16 || std::is_same_v<T, f16_bits>)
      return low & 0xffffu;
    else if constexpr (T::kType == OperandType::i16)
      return as<I32>(low << 16) >> 16;
    else
      return as<typename T::Chunk>(low);
  }
}

/// Applies clamp to a float result. (Integer results saturate in the row itself, see evaluate.)
/// Output modifiers are ignored in the usual MODE; see exec/program/float_mode.cpp for others.
template <typename T>
[[nodiscard]] inline typename T::Chunk modify_result(typename T::Chunk value, Modifiers modifiers) {
  using V = typename T::Chunk;
  if constexpr (std::is_floating_point_v<Element<V>>) {
    if (modifiers.clamp) {
      // DX10_CLAMP is set in the usual MODE: NaN becomes 0.
      value = select(value > 0, value, V{});
      value = select(value < 1, value, splat<V>(1));
    }
  }
  return value;
}

inline void store_row(std::uint32_t* row, int chunk, U32 value, std::uint32_t active) {
  U32* const to = reinterpret_cast<U32*>(row + chunk * kLanes);
  // A blend rather than a masked store: the next instruction's load can be forwarded from it.
  *to = active == (1ull << kLanes) - 1 ? value : select(from_bits(active), value, *to);
}

template <typename T, bool modified>
inline void store_result(std::uint32_t* dst, int chunk, typename T::Chunk value,
                         std::uint32_t active, Modifiers modifiers) {
  if constexpr (modified) value = modify_result<T>(value, modifiers);
  if constexpr (kIs64Bit<T>) {
    const U64 raw = as<U64>(value);
    store_row(dst, chunk, low_half(raw), active);
    store_row(dst + kWaveLanes, chunk, high_half(raw), active);
  } else if constexpr (T::kType == OperandType::f16 || T::kType == OperandType::u16 ||
                       T::kType == OperandType::i16) {
    U32 raw;
    if constexpr (T::kType == OperandType::f16)
      raw = float_to_half(value);
    else
      raw = as<U32>(value) & 0xffffu;
    if constexpr (modified)
      if (modifiers.op_select & 8) {
        const U32 old = *reinterpret_cast<const U32*>(dst + chunk * kLanes);
        raw = (old & 0xffffu) | (raw << 16);
      }
    store_row(dst, chunk, raw, active);
  } else {
    store_row(dst, chunk, as<U32>(value), active);
  }
}

/// A row with an `eval_saturating` uses it when the clamp bit is set.
template <typename R, typename... Chunk>
inline constexpr bool kSaturates = requires(Chunk... c) { R::eval_saturating(c...); };
/// A row that places its result by op_sel.
template <typename R, typename... Chunk>
inline constexpr bool kPlaces = requires(Modifiers m, Chunk... c) { R::eval(m, c...); };
template <typename R, bool modified, typename... Chunk>
[[nodiscard]] inline auto evaluate(Modifiers modifiers, Chunk... c) {
  if constexpr (kPlaces<R, Chunk...>) {
    return R::eval(modifiers, c...);
  } else {
    if constexpr (modified && kSaturates<R, Chunk...>)
      if (modifiers.clamp) return R::eval_saturating(c...);
    return R::eval(c...);
  }
}

template <typename R, bool modified, std::size_t... n>
[[gnu::flatten]] const Instruction* run_vector_sources(Wave& wave, const Instruction& i,
                                                       std::index_sequence<n...>) {
  using D = typename R::Result;
  using Value = typename ResultOf<D>::Value;
  constexpr bool only_mask = std::is_same_v<D, mask>;

  BroadcastBuffer buffers[sizeof...(n) == 0 ? 1 : sizeof...(n)];
  const SourceRows rows[] = {
      source_rows<typename R::template Source<n>>(wave, i, static_cast<int>(n), buffers[n])...};
  // A lane-mask source (always the last one) is one 64-bit scalar, read before anything is written.
  constexpr int last = static_cast<int>(sizeof...(n)) - 1;
  constexpr bool mask_source = std::is_same_v<typename R::template Source<last>, mask>;
  // v_div_fmas has three sources of its own and takes VCC as the fourth.
  const std::uint64_t mask_bits = !mask_source ? 0
                                  : last == 3
                                      ? wave.scalar64(kVccIndex)
                                      : scalar_source64(wave, i, static_cast<unsigned>(last));

  const std::uint64_t exec = wave.exec();
  const Modifiers modifiers = i.modifiers;
  std::uint32_t* const dst = only_mask ? nullptr : wave.row(i.dst);
  std::uint64_t result_mask = 0;

  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const int shift = chunk * kLanes;
    const std::uint32_t active = static_cast<std::uint32_t>(exec >> shift) &
                                 static_cast<std::uint32_t>((1ull << kLanes) - 1);
    const auto load = [&]<std::size_t k>(std::integral_constant<std::size_t, k>) {
      using T = typename R::template Source<k>;
      if constexpr (std::is_same_v<T, mask>)
        return from_bits(static_cast<std::uint32_t>(mask_bits >> shift));
      else
        return load_source<T, modified>(rows[k], chunk, modifiers, static_cast<int>(k));
    };
    const auto result =
        evaluate<R, modified>(modifiers, load(std::integral_constant<std::size_t, n>{})...);
    if constexpr (only_mask) {
      result_mask |= std::uint64_t{to_bits(result) & active} << shift;
    } else if constexpr (ResultOf<D>::kMask) {
      result_mask |= std::uint64_t{to_bits(result.mask) & active} << shift;
      store_result<Value, modified>(dst, chunk, result.value, active, modifiers);
    } else {
      store_result<Value, modified>(dst, chunk, result, active, modifiers);
    }
  }
  if constexpr (only_mask || ResultOf<D>::kMask) wave.set_scalar64(i.sdst, result_mask);
  if constexpr (R::kWritesExec) wave.set_exec(result_mask);
  return following(i);
}

template <typename R, bool modified>
const Instruction* run_vector(Wave& wave, const Instruction& i) {
  return run_vector_sources<R, modified>(wave, i, std::make_index_sequence<R::kSources>{});
}

template <typename R, std::size_t... n>
[[nodiscard]] consteval FloatUse float_use_of(std::index_sequence<n...>) {
  const FloatKind all[] = {R::template Source<n>::kFloat..., FloatKind::none, FloatKind::none,
                           FloatKind::none};
  FloatUse use = float_use({all[0], all[1], all[2]}, R::Value::kFloat, R::kOperation, R::kRounding);
  use.fp8_largest = R::kLargestByteFloat;
  return use;
}
/// Comparisons are counted and signed by the type of what they compare.
template <typename R>
using NumberOf = std::conditional_t<std::is_same_v<typename R::Result, mask>,
                                    typename R::template Source<0>, typename R::Value>;
template <typename R>
[[nodiscard]] consteval Definedness definedness_of() {
  constexpr auto type = NumberOf<R>::kType;
  Definedness out{.rule = R::kBitRule, .order = R::kOrder, .comparison = R::kComparison};
  out.is_signed =
      R::kBitRule == BitRule::compare &&
      (type == OperandType::i16 || type == OperandType::i32 || type == OperandType::i64);
  out.looked_at[0] = R::template Source<0>::kLookedAt;
  if constexpr (R::kSources > 1) out.looked_at[1] = R::template Source<1>::kLookedAt;
  return out;
}
inline constexpr std::uint8_t kTranscendentalPasses = 4;  // a quarter of the lanes per cycle

template <typename R, std::size_t... n>
[[nodiscard]] Row vector_row(std::index_sequence<n...>) {
  using D = typename R::Result;
  using Value = typename ResultOf<D>::Value;
  Row row;
  row.mnemonic = mnemonic_of<R>();
  row.instruction_class = InstructionClass::valu;
  row.plain = run_vector<R, false>;
  constexpr auto is_float = [](OperandType t) {
    return t == OperandType::f16 || t == OperandType::f32 || t == OperandType::f64;
  };
  constexpr bool places = kPlaces<R, typename R::template Source<n>::Chunk...>;
  // The accumulator has no sign modifier of its own.
  constexpr std::size_t explicit_sources = sizeof...(n) - (R::kAccumulates ? 1 : 0);
  row.takes_signs = ((n < explicit_sources && is_float(R::template Source<n>::kType)) || ...);
  row.takes_halves =
      places || is_16_bit(Value::kType) || (is_16_bit(R::template Source<n>::kType) || ...);
  row.takes_output = is_float(Value::kType);
  constexpr bool saturates = kSaturates<R, typename R::template Source<n>::Chunk...>;
  row.takes_clamp = row.takes_output || saturates;
  if constexpr (places || is_float(Value::kType) || is_16_bit(Value::kType) || saturates ||
                ((is_float(R::template Source<n>::kType) ||
                  is_16_bit(R::template Source<n>::kType)) ||
                 ...))
    row.modified = run_vector<R, true>;
  row.result = Value::kType;
  int index = 0;
  ((row.sources[index++] = R::template Source<n>::kType), ...);
  row.source_count = sizeof...(n);
  row.mask_result = std::is_same_v<D, mask> || ResultOf<D>::kMask;
  row.accumulates = R::kAccumulates || R::kKeepsRest;
  row.keeps_rest = R::kKeepsRest;
  row.reads_vcc = R::kReadsVcc;
  row.writes_exec = R::kWritesExec;
  row.literal = R::kLiteral;
  row.packed_twin = R::kPackedTwin;
  row.byte_floats = requires { R::template Source<0>::kByteFloats; };
  row.operation = R::kOperation;
  row.number = NumberOf<R>::kNumber;
  if (row.operation == Operation::transcendental) row.passes = kTranscendentalPasses;
  row.float_use = float_use_of<R>(std::index_sequence<n...>{});
  row.definedness = definedness_of<R>();
  return row;
}

template <typename... R>
void add_vector_rows(RowTable& table, Rows<R...>) {
  (table.add(vector_row<R>(std::make_index_sequence<R::kSources>{})), ...);
}

}  // namespace margay::MARGAY_HOST_LEVEL
