// Packed (VOP3P) instructions: pairs of 16-bit or 32-bit numbers, mixed-precision fma, dot
// products. Operand halves are chosen by op_sel (low result) and op_sel_hi (high result), signs
// flipped by neg and neg_hi. Compiled once per host level. Source: MI300 ISA guide, section 12.11
// (VOP3P).
#include <algorithm>
#include <limits>
#include <span>

#include "exec/instructions/all_rows.h"
#include "exec/instructions/valu.h"
#include "exec/program/bind.h"
#include "isa/gfx942/media.h"

namespace margay::MARGAY_HOST_LEVEL {
namespace {

/// Instruction::extra of VOP3P.
struct PackedModifiers {
  std::uint32_t bits;
  [[nodiscard]] bool low_from_high(int n) const { return bits >> n & 1; }         // op_sel
  [[nodiscard]] bool high_from_high(int n) const { return bits >> (3 + n) & 1; }  // op_sel_hi
  [[nodiscard]] bool negate_low(int n) const { return bits >> (6 + n) & 1; }
  [[nodiscard]] bool negate_high(int n) const { return bits >> (9 + n) & 1; }
  [[nodiscard]] bool clamp() const { return bits >> 12 & 1; }
};

[[nodiscard]] std::uint32_t active_bits(std::uint64_t exec, int chunk) {
  return static_cast<std::uint32_t>(exec >> (chunk * kLanes)) &
         static_cast<std::uint32_t>((1ull << kLanes) - 1);
}

// ---- Pairs of 16-bit numbers ----------------------------------------------------------------

/// One half of a register as T's chunk, with its sign flipped on request (floats only).
template <typename T>
[[nodiscard]] typename T::Chunk half_operand(U32 raw, bool high, bool negate) {
  U32 half = high ? raw >> 16 : raw & 0xffffu;
  if constexpr (T::kType == OperandType::f16) {
    if (negate) half ^= 0x8000u;
    return half_to_float(half);
  } else if constexpr (T::kType == OperandType::i16) {
    return as<I32>(half << 16) >> 16;
  } else {
    return half;
  }
}
template <typename T>
[[nodiscard]] U32 half_result(typename T::Chunk value, Modifiers modifiers) {
  if constexpr (T::kType == OperandType::f16)
    return float_to_half(modify_result<f16>(value, modifiers));
  else
    return as<U32>(value) & 0xffffu;
}

#if defined(__AVX512F__)
[[nodiscard]] __mmask32 nan_halves(__m512i halves) {
  return _mm512_cmpgt_epu16_mask(_mm512_and_si512(halves, _mm512_set1_epi16(0x7fff)),
                                 _mm512_set1_epi16(0x7c00));
}
/// Whether any of a register's f16 is a NaN.
[[nodiscard]] bool has_nan(const SourceRows& row) {
  __mmask32 found = 0;
  for (int chunk = 0; chunk < kChunks; ++chunk)
    found |= nan_halves(_mm512_loadu_si512(row.low + chunk * row.stride));
  return found != 0;
}
/// Whether a NaN among its operands makes the result a NaN.
template <typename R>
inline constexpr bool kKeepsNan =
    R::kOperation == Operation::add || R::kOperation == Operation::multiply ||
    R::kOperation == Operation::multiply_add;
/// The same arithmetic on the unit for f16 that some hosts have. It keeps denormals whatever MXCSR
/// says, as the conversions below do.
[[nodiscard]] bool has_half_unit() {
  static const bool has = __builtin_cpu_supports("avx512fp16");
  return has;
}
template <typename R>
inline constexpr bool kHalfUnitHas =
    std::is_same_v<R, v_add_f16> || std::is_same_v<R, v_mul_f16> || std::is_same_v<R, v_fma_f16>;
template <typename R, std::size_t count>
[[gnu::target("avx512fp16")]] void run_on_half_unit(const SourceRows (&rows)[count],
                                                    __m512i (&results)[kChunks]) {
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    __m512h halves[count];
    for (std::size_t n = 0; n < count; ++n)
      halves[n] = _mm512_castsi512_ph(_mm512_loadu_si512(rows[n].low + chunk * rows[n].stride));
    if constexpr (std::is_same_v<R, v_add_f16>)
      results[chunk] = _mm512_castph_si512(_mm512_add_ph(halves[0], halves[1]));
    else if constexpr (std::is_same_v<R, v_mul_f16>)
      results[chunk] = _mm512_castph_si512(_mm512_mul_ph(halves[0], halves[1]));
    else
      results[chunk] = _mm512_castph_si512(_mm512_fmadd_ph(halves[0], halves[1], halves[2]));
  }
}
template <typename R, std::size_t count>
void run_on_conversions(const SourceRows (&rows)[count], __m512i (&results)[kChunks]) {
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    __m256i result[2];
    for (int part = 0; part < 2; ++part)
      [&]<std::size_t... n>(std::index_sequence<n...>) {
        const auto operand = [&](const SourceRows& row) {
          const std::uint32_t* const from = row.low + chunk * row.stride + part * (kLanes / 2);
          return as<F32>(
              _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
        };
        result[part] =
            _mm512_cvtps_ph(as<__m512>(R::eval(operand(rows[n])...)), _MM_FROUND_CUR_DIRECTION);
      }(std::make_index_sequence<count>{});
    // One store for both: the next instruction's loads are served by it.
    results[chunk] = _mm512_inserti64x4(_mm512_castsi256_si512(result[0]), result[1], 1);
  }
}
/// An f16 row on all halves as they are in the registers, without taking them apart: for all lanes
/// and without modifiers. False, and nothing has been done, if there is a NaN: of two the compiler
/// would choose one.
template <typename R, std::size_t... n>
[[nodiscard]] bool run_adjacent_halves(const SourceRows (&rows)[sizeof...(n)], std::uint32_t* dst,
                                       std::index_sequence<n...>) {
  if constexpr (!kKeepsNan<R>)
    if ((has_nan(rows[n]) || ...)) return false;
  __m512i results[kChunks];
  const auto compute = [&] {
    if constexpr (kHalfUnitHas<R>)
      if (has_half_unit()) return run_on_half_unit<R>(rows, results);
    run_on_conversions<R>(rows, results);
  };
  compute();
  if constexpr (kKeepsNan<R>) {
    __mmask32 is_nan = 0;
    for (const __m512i& halves : results) is_nan |= nan_halves(halves);
    if (is_nan != 0) return false;
  }
  for (int chunk = 0; chunk < kChunks; ++chunk)
    _mm512_storeu_si512(dst + chunk * kLanes, results[chunk]);
  return true;
}

/// Each half from the same half of each source, no signs flipped, no clamp.
[[nodiscard]] bool is_plain(PackedModifiers m, int sources) {
  const std::uint32_t all = (1u << sources) - 1;
  return (m.bits & all) == 0 && (m.bits >> 3 & all) == all && m.bits >> 6 == 0;
}
#endif

/// Applies the 16-bit row R to both halves.
template <typename R, std::size_t... n>
const Instruction* run_pair(Wave& wave, const Instruction& i,
                            [[maybe_unused]] std::index_sequence<n...> sources) {
  using D = typename R::Result;
  const PackedModifiers m{i.extra};
  const Modifiers clamp{.clamp = m.clamp()};
  BroadcastBuffer buffers[sizeof...(n)];
  const SourceRows rows[] = {source_rows<u32>(wave, i, static_cast<int>(n), buffers[n])...};
  std::uint32_t* const dst = wave.row(i.dst);
  const std::uint64_t exec = wave.exec();
#if defined(__AVX512F__)
  if constexpr (D::kType == OperandType::f16) {
    if (exec == ~0ull && is_plain(m, R::kSources) && run_adjacent_halves<R>(rows, dst, sources))
      return following(i);
  }
#endif
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const U32 raw[] = {*reinterpret_cast<const U32*>(rows[n].low + chunk * rows[n].stride)...};
    const auto low = evaluate<R, true>(clamp, half_operand<typename R::template Source<n>>(
                                                  raw[n], m.low_from_high(n), m.negate_low(n))...);
    const auto high =
        evaluate<R, true>(clamp, half_operand<typename R::template Source<n>>(
                                     raw[n], m.high_from_high(n), m.negate_high(n))...);
    store_row(dst, chunk, half_result<D>(low, clamp) | half_result<D>(high, clamp) << 16,
              active_bits(exec, chunk));
  }
  return following(i);
}
template <typename R>
const Instruction* run_pair(Wave& wave, const Instruction& i) {
  return run_pair<R>(wave, i, std::make_index_sequence<R::kSources>{});
}

// ---- Pairs of 32-bit numbers ----------------------------------------------------------------

/// The chosen half of a register pair. The upper half of an inline constant is refused in bind.
template <typename R, std::size_t... n>
const Instruction* run_pair32(Wave& wave, const Instruction& i, std::index_sequence<n...>) {
  using V = typename R::Result::Chunk;
  const PackedModifiers m{i.extra};
  const Modifiers clamp{.clamp = m.clamp()};
  BroadcastBuffer buffers[sizeof...(n)];
  const SourceRows rows[] = {source_rows<u64>(wave, i, static_cast<int>(n), buffers[n])...};
  std::uint32_t* const dst = wave.row(i.dst);
  const std::uint64_t exec = wave.exec();
  const auto operand = [&](int k, int chunk, bool high, bool negate) {
    const std::uint32_t* const from = high ? rows[k].high : rows[k].low;
    U32 raw = *reinterpret_cast<const U32*>(from + chunk * rows[k].stride);
    if (negate) raw ^= 0x80000000u;
    return as<V>(raw);
  };
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const V low = modify_result<typename R::Result>(
        R::eval(operand(n, chunk, m.low_from_high(n), m.negate_low(n))...), clamp);
    const V high = modify_result<typename R::Result>(
        R::eval(operand(n, chunk, m.high_from_high(n), m.negate_high(n))...), clamp);
    const std::uint32_t active = active_bits(exec, chunk);
    store_row(dst, chunk, as<U32>(low), active);
    store_row(dst + kWaveLanes, chunk, as<U32>(high), active);
  }
  return following(i);
}
template <typename R>
const Instruction* run_pair32(Wave& wave, const Instruction& i) {
  return run_pair32<R>(wave, i, std::make_index_sequence<R::kSources>{});
}
/// v_pk_mov_b32: the low result from source 0, the high one from source 1; op_sel chooses halves.
const Instruction* run_pk_mov(Wave& wave, const Instruction& i) {
  const PackedModifiers m{i.extra};
  BroadcastBuffer buffers[2];
  const SourceRows rows[] = {source_rows<u64>(wave, i, 0, buffers[0]),
                             source_rows<u64>(wave, i, 1, buffers[1])};
  std::uint32_t* const dst = wave.row(i.dst);
  const std::uint64_t exec = wave.exec();
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const auto half = [&](int k, bool high) {
      return *reinterpret_cast<const U32*>((high ? rows[k].high : rows[k].low) +
                                           chunk * rows[k].stride);
    };
    const U32 low = half(0, m.low_from_high(0)), high = half(1, m.low_from_high(1));
    store_row(dst, chunk, low, active_bits(exec, chunk));
    store_row(dst + kWaveLanes, chunk, high, active_bits(exec, chunk));
  }
  return following(i);
}

// ---- Mixed precision and dot products -------------------------------------------------------

enum class MixResult : std::uint8_t { f32, f16_low, f16_high };
/// v_fma_mix: each source is f32, or a half of a register when op_sel_hi says f16. neg_hi is abs.
template <MixResult kind>
const Instruction* run_fma_mix(Wave& wave, const Instruction& i) {
  const PackedModifiers m{i.extra};
  BroadcastBuffer buffers[3];
  const SourceRows rows[] = {source_rows<u32>(wave, i, 0, buffers[0]),
                             source_rows<u32>(wave, i, 1, buffers[1]),
                             source_rows<u32>(wave, i, 2, buffers[2])};
  std::uint32_t* const dst = wave.row(i.dst);
  const std::uint64_t exec = wave.exec();
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const auto operand = [&](int k) {
      U32 raw = *reinterpret_cast<const U32*>(rows[k].low + chunk * rows[k].stride);
      F32 value = as<F32>(raw);
      if (m.high_from_high(k))
        value = half_to_float(m.low_from_high(k) ? raw >> 16 : raw & 0xffffu);
      raw = as<U32>(value);
      if (m.negate_high(k)) raw &= 0x7fffffffu;
      if (m.negate_low(k)) raw ^= 0x80000000u;
      return as<F32>(raw);
    };
    F32 result = fma(operand(0), operand(1), operand(2));
    if (m.clamp()) result = modify_result<f32>(result, Modifiers{.clamp = 1});
    U32 bits = as<U32>(result);
    const U32 old = *reinterpret_cast<const U32*>(dst + chunk * kLanes);
    if constexpr (kind == MixResult::f16_low) bits = (old & 0xffff0000u) | float_to_half(result);
    if constexpr (kind == MixResult::f16_high) bits = (old & 0xffffu) | float_to_half(result) << 16;
    store_row(dst, chunk, bits, active_bits(exec, chunk));
  }
  return following(i);
}

/// Integer dot products: `width`-bit elements of both sources, summed onto source 2; with the clamp
/// bit the exact sum saturates.
template <int width, bool is_signed>
const Instruction* run_integer_dot(Wave& wave, const Instruction& i) {
  using Wide = std::conditional_t<is_signed, I64, U64>;
  using Narrow = std::conditional_t<is_signed, I32, U32>;
  const PackedModifiers m{i.extra};
  BroadcastBuffer buffers[3];
  const SourceRows rows[] = {source_rows<u32>(wave, i, 0, buffers[0]),
                             source_rows<u32>(wave, i, 1, buffers[1]),
                             source_rows<u32>(wave, i, 2, buffers[2])};
  std::uint32_t* const dst = wave.row(i.dst);
  const std::uint64_t exec = wave.exec();
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const auto raw = [&](int k) {
      return *reinterpret_cast<const U32*>(rows[k].low + chunk * rows[k].stride);
    };
    const auto widen = [](Narrow v) { return __builtin_convertvector(v, Wide); };
    Wide sum = widen(as<Narrow>(raw(2)));
    for (int element = 0; element < 32 / width; ++element) {
      const auto part = [&](U32 from) {
        return widen(as<Narrow>(from << (32 - width * (element + 1))) >> (32 - width));
      };
      sum += part(raw(0)) * part(raw(1));
    }
    if (m.clamp()) {
      using Limits = std::numeric_limits<Element<Narrow>>;
      sum = larger(smaller(sum, splat<Wide>(Limits::max())), splat<Wide>(Limits::min()));
    }
    store_row(dst, chunk, low_half(as<U64>(sum)), active_bits(exec, chunk));
  }
  return following(i);
}

/// S2 + low * low + high * high, from the left. neg and neg_hi are the signs of the low and of the
/// high halves; S2 has neg's.
const Instruction* run_dot2_f32(Wave& wave, const Instruction& i) {
  const PackedModifiers m{i.extra};
  const Modifiers clamp{.clamp = m.clamp()};
  BroadcastBuffer buffers[3];
  const SourceRows rows[] = {source_rows<u32>(wave, i, 0, buffers[0]),
                             source_rows<u32>(wave, i, 1, buffers[1]),
                             source_rows<u32>(wave, i, 2, buffers[2])};
  std::uint32_t* const dst = wave.row(i.dst);
  const std::uint64_t exec = wave.exec();
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const auto raw = [&](int k) {
      return *reinterpret_cast<const U32*>(rows[k].low + chunk * rows[k].stride);
    };
    const auto low = [&](int k) {
      return half_operand<f16>(raw(k), m.low_from_high(k), m.negate_low(k));
    };
    const auto high = [&](int k) {
      return half_operand<f16>(raw(k), m.high_from_high(k), m.negate_high(k));
    };
    const F32 onto = as<F32>(raw(2) ^ (m.negate_low(2) ? 0x80000000u : 0u));
    const F32 sum = dot_product_halves(low(0), low(1), high(0), high(1), onto);
    store_row(dst, chunk, as<U32>(modify_result<f32>(sum, clamp)), active_bits(exec, chunk));
  }
  return following(i);
}

/// v_mqsad_u32_u8: four masked sums of byte differences, onto four registers.
const Instruction* run_mqsad_u32(Wave& wave, const Instruction& i) {
  BroadcastBuffer buffers[2];
  const SourceRows a = source_rows<u64>(wave, i, 0, buffers[0]),
                   b = source_rows<u32>(wave, i, 1, buffers[1]);
  const bool saturates = i.modifiers.clamp;
  const bool onto_registers = i.src[2].is_vgpr();
  std::uint32_t* const dst = wave.row(i.dst);
  const std::uint64_t exec = wave.exec();
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const auto at = [chunk](const std::uint32_t* row, int stride) {
      return *reinterpret_cast<const U32*>(row + chunk * stride);
    };
    const U64 bytes = join(at(a.low, a.stride), at(a.high, a.stride));
    U32 sums[4];
    for (int n = 0; n < 4; ++n) {
      const U32 difference = absolute_differences<8, true>(low_half(bytes >> std::uint64_t(8 * n)),
                                                           at(b.low, b.stride));
      U32 onto;
      if (onto_registers)
        onto = at(wave.row(i.src[2].index() + static_cast<unsigned>(n)), kLanes);
      else if (i.src[2].kind() == Source::kScalar)
        onto = splat<U32>(wave.s[i.src[2].index() + static_cast<unsigned>(n)]);
      else  // a constant's upper registers are 0, as those of 64 bits
        onto = splat<U32>(n < 2 ? static_cast<std::uint32_t>(i.constant[2] >> (32 * n)) : 0);
      sums[n] = saturates ? saturating_sum(difference, onto) : difference + onto;
    }
    for (int n = 0; n < 4; ++n)
      store_row(dst + n * kWaveLanes, chunk, sums[n], active_bits(exec, chunk));
  }
  return following(i);
}

/// A packed instruction: its element type and operation.
struct PackedRow {
  std::string_view mnemonic;
  Handler handler;
  PackedForm form;
  std::uint8_t source_count;
  OperandType source, result;
  FloatKind source_kind = FloatKind::none, result_kind = FloatKind::none;
  NumberType number = NumberType::none;
  Operation operation = Operation::other;
  bool takes_signs = false, takes_clamp = false;
};
/// The 16-bit instruction R on both halves. Inline constants are in the low half.
template <typename R>
[[nodiscard]] consteval PackedRow pair(std::string_view mnemonic) {
  using Source = typename R::template Source<0>;
  using Chunk = typename Source::Chunk;
  constexpr bool is_float = R::Result::kType == OperandType::f16;
  constexpr bool saturates = kSaturates<R, Chunk, Chunk> || kSaturates<R, Chunk, Chunk, Chunk>;
  constexpr FloatKind kind = is_float ? FloatKind::f16_pair : FloatKind::none;
  return {mnemonic,      run_pair<R>,   PackedForm::halves,
          R::kSources,   Source::kType, OperandType::u32,
          kind,          kind,          R::Result::kNumber,
          R::kOperation, is_float,      is_float || saturates};
}
/// The f32 instruction R on both registers of a pair.
template <typename R>
[[nodiscard]] consteval PackedRow pair32(std::string_view mnemonic) {
  return {mnemonic,
          run_pair32<R>,
          PackedForm::words,
          R::kSources,
          OperandType::u64,
          OperandType::u64,
          FloatKind::f32_pair,
          FloatKind::f32_pair,
          R::Result::kNumber,
          R::kOperation,
          true,
          true};
}
template <MixResult kind>
[[nodiscard]] consteval PackedRow mix(std::string_view mnemonic) {
  constexpr bool half = kind != MixResult::f32;
  constexpr auto type = OperandType::f32;
  return {mnemonic,
          run_fma_mix<kind>,
          kind == MixResult::f32       ? PackedForm::mix
          : kind == MixResult::f16_low ? PackedForm::mix_low
                                       : PackedForm::mix_high,
          3,
          type,
          type,
          FloatKind::mixed,
          half ? FloatKind::f16 : FloatKind::f32,
          half ? NumberType::f16 : NumberType::f32,
          Operation::multiply_add,
          true,
          true};
}
/// Whole registers: the halves, bytes and nibbles are the instruction's own.
template <int width, bool is_signed>
[[nodiscard]] consteval PackedRow dot(std::string_view mnemonic) {
  return {.mnemonic = mnemonic,
          .handler = run_integer_dot<width, is_signed>,
          .form = PackedForm::none,
          .source_count = 3,
          .source = OperandType::u32,
          .result = OperandType::u32,
          .number = NumberType::i32,
          .operation = Operation::dot,
          .takes_clamp = true};
}
constexpr PackedRow kDot2F32{.mnemonic = "v_dot2_f32_f16",
                             .handler = run_dot2_f32,
                             .form = PackedForm::none,
                             .source_count = 3,
                             .source = OperandType::u32,
                             .result = OperandType::f32,
                             .result_kind = FloatKind::f32,
                             .number = NumberType::f32,
                             .operation = Operation::dot,
                             .takes_signs = true,
                             .takes_clamp = true};

constexpr PackedRow kPackedRows[] = {
    pair<v_add_f16>("v_pk_add_f16"),
    pair<v_mul_f16>("v_pk_mul_f16"),
    pair<v_fma_f16>("v_pk_fma_f16"),
    pair<v_min_f16>("v_pk_min_f16"),
    pair<v_max_f16>("v_pk_max_f16"),
    pair<v_add_u16>("v_pk_add_u16"),
    pair<v_sub_u16>("v_pk_sub_u16"),
    pair<v_add_i16>("v_pk_add_i16"),
    pair<v_sub_i16>("v_pk_sub_i16"),
    pair<v_mul_lo_u16>("v_pk_mul_lo_u16"),
    pair<v_mad_u16>("v_pk_mad_u16"),
    pair<v_mad_i16>("v_pk_mad_i16"),
    pair<v_min_u16>("v_pk_min_u16"),
    pair<v_max_u16>("v_pk_max_u16"),
    pair<v_min_i16>("v_pk_min_i16"),
    pair<v_max_i16>("v_pk_max_i16"),
    pair<v_lshlrev_b16>("v_pk_lshlrev_b16"),
    pair<v_lshrrev_b16>("v_pk_lshrrev_b16"),
    pair<v_ashrrev_i16>("v_pk_ashrrev_i16"),
    pair32<v_add_f32>("v_pk_add_f32"),
    pair32<v_mul_f32>("v_pk_mul_f32"),
    pair32<v_fma_f32>("v_pk_fma_f32"),
    {"v_pk_mov_b32", run_pk_mov, PackedForm::moves, 2, OperandType::u64, OperandType::u64},
    mix<MixResult::f32>("v_fma_mix_f32"),
    mix<MixResult::f16_low>("v_fma_mixlo_f16"),
    mix<MixResult::f16_high>("v_fma_mixhi_f16"),
    kDot2F32,
    dot<8, true>("v_dot4_i32_i8"),
    dot<8, false>("v_dot4_u32_u8"),
    dot<4, true>("v_dot8_i32_i4"),
    dot<4, false>("v_dot8_u32_u4"),
    dot<16, true>("v_dot2_i32_i16"),
    dot<16, false>("v_dot2_u32_u16"),
};
static_assert(all_different(kPackedRows));

[[nodiscard]] Row packed_row(const PackedRow& one) {
  Row row;
  row.mnemonic = one.mnemonic;
  row.instruction_class = InstructionClass::valu;
  row.plain = one.handler;
  row.result = one.result;
  for (unsigned n = 0; n < one.source_count; ++n) row.sources[n] = one.source;
  row.source_count = one.source_count;
  row.takes_signs = one.takes_signs;
  row.takes_clamp = one.takes_clamp;
  row.packed = one.form;
  row.operation = one.operation;
  row.number = one.number;
  if (one.form == PackedForm::halves) row.definedness.rule = BitRule::halves;
  FloatKind sources[3] = {};
  std::fill_n(sources, one.source_count, one.source_kind);
  row.float_use = float_use(sources, one.result_kind, one.operation, Rounding::by_result);
  row.float_use.packed = true;
  row.float_use.high_result = one.form == PackedForm::mix_high;
  return row;
}

}  // namespace

void add_packed_rows(RowTable& table) {
  for (const PackedRow& one : kPackedRows) table.add(packed_row(one));

  Row fmac = packed_row(pair<v_fma_f16>("v_pk_fmac_f16"));  // VOP2: both halves in place
  for (OperandType& source : std::span(fmac.sources, 3)) source = OperandType::f16;
  fmac.accumulates = true;
  fmac.takes_signs = true;  // floats accept signs, although VOP2 has no bits for them
  fmac.takes_clamp = false;
  table.add(fmac);

  Row sums;
  sums.mnemonic = "v_mqsad_u32_u8";
  sums.instruction_class = InstructionClass::valu;
  sums.plain = sums.modified = run_mqsad_u32;
  sums.result = sums.sources[2] = OperandType::u128;
  sums.sources[0] = OperandType::u64;
  sums.sources[1] = OperandType::u32;
  sums.source_count = 3;
  sums.takes_clamp = true;
  sums.number = NumberType::i32;
  table.add(sums);
}

}  // namespace margay::MARGAY_HOST_LEVEL
