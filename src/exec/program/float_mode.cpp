// Runs one instruction under a MODE other than the usual one, around its handler: denormal inputs
// are flushed in copies of the sources, the host's rounding is set, and the handler's result is
// scaled, clamped, saturated and flushed.
//
// A result is flushed if IEEE rounding gives a denormal. Flushed numbers keep their sign.
#include "exec/program/float_mode.h"

#include <cmath>
#include <cstring>
#include <optional>

#include "exec/program/bind.h"
#include "exec/rows/row_table.h"
#include "exec/state/wave.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace margay {
namespace {

/// Sets the host's rounding, in MODE's encoding, during its lifetime.
class HostRounding {
 public:
  explicit HostRounding(unsigned round) : changed_(round != 0) {
    if (!changed_) return;
#if defined(__SSE__)
    constexpr unsigned kControl[4] = {0, 0x4000, 0x2000, 0x6000};
    before_ = _mm_getcsr();
    _mm_setcsr((before_ & ~0x6000u) | kControl[round]);
#else
    constexpr int kControl[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    before_ = std::fegetround();
    std::fesetround(kControl[round]);
#endif
  }
  ~HostRounding() {
    if (!changed_) return;
#if defined(__SSE__)
    _mm_setcsr(before_);
#else
    std::fesetround(before_);
#endif
  }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;

 private:
  bool changed_;
#if defined(__SSE__)
  unsigned before_ = 0;
#else
  int before_ = 0;
#endif
};
constexpr unsigned kNearest = 0, kUp = 1, kDown = 2, kTowardZero = 3;

unsigned round_of(std::uint32_t mode, FloatRounding rounding) {
  switch (rounding) {
    case FloatRounding::single:
      return mode & 3;
    case FloatRounding::other:
      return mode >> 2 & 3;
    case FloatRounding::nearest:
      break;
  }
  return kNearest;
}

// ---- Formats ----------------------------------------------------------------------------------

/// A binary format in the low bits of 64.
struct Format {
  unsigned width, mantissa;
  [[nodiscard]] constexpr std::uint64_t sign() const { return 1ull << (width - 1); }
  [[nodiscard]] constexpr std::uint64_t quiet() const { return 1ull << (mantissa - 1); }
  [[nodiscard]] constexpr std::uint64_t infinity() const {
    return (sign() - 1) & ~((1ull << mantissa) - 1);
  }
  [[nodiscard]] constexpr std::uint64_t magnitude(std::uint64_t x) const { return x & ~sign(); }
  [[nodiscard]] constexpr bool is_nan(std::uint64_t x) const { return magnitude(x) > infinity(); }
  [[nodiscard]] constexpr bool is_denormal_or_zero(std::uint64_t x) const {
    return (x & infinity()) == 0;
  }
  [[nodiscard]] constexpr std::uint64_t flushed(std::uint64_t x) const {
    return is_denormal_or_zero(x) ? x & sign() : x;
  }
  [[nodiscard]] constexpr std::uint64_t one() const { return infinity() >> 1 & infinity(); }
};
constexpr Format kF16{16, 10}, kF32{32, 23}, kF64{64, 52};

bool is_single(FloatKind kind) { return kind == FloatKind::f32 || kind == FloatKind::f32_pair; }
unsigned registers_of(FloatKind kind) {
  return kind == FloatKind::f64 || kind == FloatKind::f32_pair ? 2 : 1;
}

/// Applies `f` to each number of `kind` in the register or registers of one lane. For f16 both
/// halves are converted: one that the instruction does not read is harmless.
template <typename F>
void for_numbers(FloatKind kind, std::uint32_t& low, std::uint32_t& high, F&& f) {
  switch (kind) {
    case FloatKind::f16:
    case FloatKind::f16_pair:
      low = static_cast<std::uint32_t>(f(kF16, low & 0xffff) | f(kF16, low >> 16) << 16);
      break;
    case FloatKind::f32_pair:
      high = static_cast<std::uint32_t>(f(kF32, high));
      [[fallthrough]];
    case FloatKind::f32:
      low = static_cast<std::uint32_t>(f(kF32, low));
      break;
    case FloatKind::f64: {
      const std::uint64_t out = f(kF64, low | std::uint64_t{high} << 32);
      low = static_cast<std::uint32_t>(out);
      high = static_cast<std::uint32_t>(out >> 32);
      break;
    }
    case FloatKind::none:
    case FloatKind::mixed:
      break;
  }
}

// ---- Denormals of f32 -------------------------------------------------------------------------
// Compilers flush those of f32 alone, and hardly a register has any: a look at all lanes, which the
// host's compiler makes vectors of, is all that most instructions need.

constexpr std::uint32_t kSign = 1u << 31, kExponent = 0x7f80'0000;

bool is_denormal(std::uint32_t x) { return (x & kExponent) == 0 && x << 1 != 0; }
bool has_denormal(const std::uint32_t* row) {
  std::uint32_t found = 0;
  for (unsigned lane = 0; lane < kWaveLanes; ++lane)
    found |= (row[lane] & kExponent) == 0 ? row[lane] << 1 : 0;
  return found != 0;
}
/// In `registers` rows from `row`, of the lanes in `exec`.
void flush_denormals(std::uint32_t* row, unsigned registers, std::uint64_t exec) {
  for (; registers != 0; --registers, row += kWaveLanes) {
    if (!has_denormal(row)) continue;
    for (unsigned lane = 0; lane < kWaveLanes; ++lane)
      if ((exec >> lane & 1) != 0 && (row[lane] & kExponent) == 0) row[lane] &= kSign;
  }
}

// ---- Temporary rows ---------------------------------------------------------------------------
// SDWA and DPP use the first six. Two for each source, two for the result, one for a second result.

constexpr unsigned kSourceRows = 6, kResultRows = 12, kSecondResultRow = 14;
unsigned temporary_row(const Wave& wave, unsigned index) { return wave.vgpr_rows + index; }

// ---- Sources ----------------------------------------------------------------------------------

/// The preparation of the numbers of one source.
struct SourceChange {
  bool flush = false, quiet = false;
  std::uint32_t largest = 0;  ///< f32: larger numbers become this one.
  [[nodiscard]] bool any() const { return flush || more(); }
  /// Something else than flushing.
  [[nodiscard]] bool more() const { return quiet || largest != 0; }
  [[nodiscard]] std::uint64_t operator()(const Format& format, std::uint64_t x) const {
    if (flush) x = format.flushed(x);
    if (quiet && format.is_nan(x)) x |= format.quiet();
    if (largest != 0 && !format.is_nan(x) && format.magnitude(x) > largest)
      x = (x & format.sign()) | largest;
    return x;
  }
};

FloatKind source_kind(const FloatUse& use, const Instruction& i, unsigned n) {
  if (use.sources[n] != FloatKind::mixed) return use.sources[n];
  return i.extra >> (3 + n) & 1 ? FloatKind::f16 : FloatKind::f32;  // op_sel_hi
}

void prepare_source(Wave& wave, Instruction& inner, unsigned n, FloatKind kind,
                    const SourceChange& change) {
  const Source source = inner.src[n];
  const unsigned registers = registers_of(kind);
  const bool only_flushes = is_single(kind) && !change.more();
  if (!source.is_vgpr()) {
    const std::uint64_t value =
        registers == 2 ? scalar_source64(wave, inner, n) : scalar_source(wave, inner, n);
    auto low = static_cast<std::uint32_t>(value), high = static_cast<std::uint32_t>(value >> 32);
    if (only_flushes && !is_denormal(low) && !is_denormal(high)) return;
    for_numbers(kind, low, high, change);
    inner.constant[n] = low | std::uint64_t{high} << 32;
    inner.src[n] = Source::constant();
    return;
  }
  const std::uint32_t* const from = wave.row(source.index());
  if (only_flushes && !has_denormal(from) && (registers == 1 || !has_denormal(from + kWaveLanes)))
    return;
  const unsigned row = temporary_row(wave, kSourceRows + 2 * n);
  std::uint32_t* const to = wave.row(row);
  std::memcpy(to, from, std::size_t{4} * registers * kWaveLanes);
  inner.src[n] = Source::vgpr(row);
  if (only_flushes) {
    flush_denormals(to, registers, ~0ull);
    return;
  }
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
    std::uint32_t unused = 0;
    for_numbers(kind, to[lane], registers == 2 ? to[kWaveLanes + lane] : unused, change);
  }
}

void prepare_sources(Wave& wave, Instruction& inner, const FloatUse& use) {
  for (unsigned n = 0; n < 3; ++n) {
    const FloatKind kind = source_kind(use, inner, n);
    if (kind == FloatKind::none || inner.src[n].kind() == Source::kNone) continue;
    SourceChange change;
    change.flush = !use.ignores_denormals && !keeps_denormal_inputs(wave.mode, is_single(kind));
    // With IEEE off a number takes precedence over a signalling NaN as over a quiet one.
    change.quiet = use.is_min_max && !(wave.mode & mode::kIeee);
    // Numbers that do not fit, including infinities, become the largest number. Source: MI300 ISA
    // guide, section 7.2.
    if (wave.mode & mode::kFp16Overflow) change.largest = use.fp8_largest;
    if (change.any()) prepare_source(wave, inner, n, kind, change);
  }
}

// ---- Results ----------------------------------------------------------------------------------

/// The processing of the handler's results.
struct ResultChange {
  unsigned output = 0;  ///< omod: times 2, times 4, divided by 2.
  bool clamp = false;   ///< To [0, 1]; NaN stays or becomes 0.
  bool keeps_nan = false;
  bool flush = false;
  bool saturates = false;  ///< f16 that overflows is the largest number.
  unsigned round = kNearest;
  [[nodiscard]] bool any() const { return flush || more(); }
  /// Something else than flushing.
  [[nodiscard]] bool more() const { return output != 0 || clamp || saturates; }

  [[nodiscard]] std::uint64_t overflow(const Format& format, std::uint64_t sign) const {
    const bool to_infinity = !saturates && (round == kNearest || round == (sign ? kDown : kUp));
    return sign | (to_infinity ? format.infinity() : format.infinity() - 1);
  }
  /// By a power of two, which is exact except for overflow; a denormal becomes 0, -0 becomes +0.
  [[nodiscard]] std::uint64_t scaled(const Format& format, std::uint64_t x) const {
    if (format.magnitude(x) >= format.infinity()) return x;
    constexpr int kPower[4] = {0, 1, 2, -1};
    const std::uint64_t mantissa = (1ull << format.mantissa) - 1;
    const auto largest = static_cast<int>(format.infinity() >> format.mantissa) - 1;
    if (format.is_denormal_or_zero(x)) return 0;
    const int exponent =
        static_cast<int>((x & format.infinity()) >> format.mantissa) + kPower[output];
    if (exponent < 1) return 0;
    const std::uint64_t sign = x & format.sign();
    if (exponent > largest) return overflow(format, sign);
    return sign | static_cast<std::uint64_t>(exponent) << format.mantissa | (x & mantissa);
  }
  [[nodiscard]] std::uint64_t operator()(const Format& format, std::uint64_t x) const {
    if (output != 0) x = scaled(format, x);
    if (clamp) {
      if (format.is_nan(x)) return keeps_nan ? x : 0;
      x = x & format.sign() ? 0 : x > format.one() ? format.one() : x;
    }
    return flush ? format.flushed(x) : x;
  }
};

const Instruction* run_handler(Wave& wave, const Instruction& inner) {
  const Row& row = *inner.row;
  return (inner.modifiers.any() && row.modified != nullptr ? row.modified : row.plain)(wave, inner);
}

/// Runs the handler with `row` and the following rows as its destination, after copying the
/// destination to them.
const Instruction* run_onto(Wave& wave, const Instruction& inner, unsigned row, unsigned registers,
                            unsigned round) {
  Instruction onto = inner;
  onto.dst = static_cast<std::uint16_t>(row);
  std::memcpy(wave.row(row), wave.row(inner.dst), std::size_t{4} * registers * kWaveLanes);
  const HostRounding rounding(round);
  return run_handler(wave, onto);
}

/// If a result is an infinity and the same result rounded toward zero is not, it is an overflow,
/// not an exact infinity.
void saturate(std::uint32_t& result, std::uint32_t toward_zero) {
  for (const unsigned shift : {0u, 16u}) {
    const std::uint32_t half = result >> shift & 0xffff, other = toward_zero >> shift & 0xffff;
    if (kF16.magnitude(half) == kF16.infinity() && kF16.magnitude(other) != kF16.infinity())
      result = (result & ~(0xffffu << shift)) | other << shift;
  }
}

/// The half of a register that an f16 result leaves unchanged.
std::uint32_t untouched(const FloatUse& use, const Instruction& i) {
  if (use.result != FloatKind::f16) return 0;
  return use.high_result || (i.modifiers.op_select & 8) ? 0xffffu : 0xffff'0000u;
}

const Instruction* run_and_finish(Wave& wave, const Instruction& inner, const FloatUse& use,
                                  const ResultChange& change) {
  const unsigned registers = registers_of(use.result);
  const unsigned row = temporary_row(wave, kResultRows);
  const Instruction* const next = run_onto(wave, inner, row, registers, change.round);
  if (next == nullptr) return nullptr;
  std::uint32_t* const result = wave.row(row);
  if (change.saturates) {
    const unsigned second = temporary_row(wave, kSecondResultRow);
    (void)run_onto(wave, inner, second, 1, kTowardZero);
    for (unsigned lane = 0; lane < kWaveLanes; ++lane)
      saturate(result[lane], wave.row(second)[lane]);
  }
  const std::uint64_t exec = wave.exec();
  const std::uint32_t kept = untouched(use, inner);
  std::uint32_t* const dst = wave.row(inner.dst);
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
    if (!(exec >> lane & 1)) continue;
    std::uint32_t low = result[lane], high = registers == 2 ? result[kWaveLanes + lane] : 0;
    for_numbers(use.result, low, high, change);
    dst[lane] = (low & ~kept) | (result[lane] & kept);
    if (registers == 2) dst[kWaveLanes + lane] = high;
  }
  return next;
}

/// The processing of the result. Removes from the instruction's modifiers what the handler would do
/// otherwise, or too early.
ResultChange result_change(Wave& wave, Instruction& inner, const FloatUse& use) {
  ResultChange change;
  const bool keeps_denormals = keeps_denormal_results(wave.mode, is_single(use.result));
  change.round = round_of(wave.mode, use.rounding);
  change.flush = !keeps_denormals && !use.ignores_denormals;
  change.saturates = (wave.mode & mode::kFp16Overflow) &&
                     (use.result == FloatKind::f16 || use.result == FloatKind::f16_pair);
  // Output modifiers are ignored with IEEE on, or if denormals are kept; handlers always ignore
  // them. Source: MI300 ISA guide, section 6.2.2.
  if (!(wave.mode & mode::kIeee) && !keeps_denormals) change.output = inner.modifiers.output;
  const bool clamps = use.packed ? (inner.extra >> 12 & 1) != 0 : inner.modifiers.clamp;
  change.keeps_nan = !(wave.mode & mode::kDx10Clamp);
  change.clamp = clamps && (change.keeps_nan || change.output != 0 || change.saturates);
  if (change.clamp) {
    inner.modifiers.clamp = 0;
    if (use.packed) inner.extra &= ~(1u << 12);
  }
  return change;
}

}  // namespace

const Instruction* run_row_in_float_mode(Wave& wave, const Instruction& i) {
  const FloatUse& use = i.row->float_use;
  if ((wave.mode & mode::kFp16Overflow) && use.rounds_twice)
    return wave.fault(i,
                      {ErrorCode::not_implemented,
                       std::string(i.row->mnemonic) +
                           " with MODE.FP16_OVFL is not implemented: what it does to the product "
                           "is not documented"});
  Instruction inner = i;
  prepare_sources(wave, inner, use);
  if (use.result == FloatKind::none) {
    const HostRounding rounding(round_of(wave.mode, use.rounding));
    return run_handler(wave, inner) == nullptr ? nullptr : following(i);
  }
  const ResultChange change = result_change(wave, inner, use);
  if (!change.any() || (is_single(use.result) && !change.more())) {
    const HostRounding rounding(change.round);
    if (run_handler(wave, inner) == nullptr) return nullptr;
    if (change.flush) flush_denormals(wave.row(inner.dst), registers_of(use.result), wave.exec());
    return following(i);
  }
  return run_and_finish(wave, inner, use, change) == nullptr ? nullptr : following(i);
}

bool depends_on_mode(const Instruction& i) {
  return i.row != nullptr && (i.row->float_use.any() || i.row->in_float_mode != nullptr);
}

const Instruction* run_in_float_mode(Wave& wave, const Instruction& i) {
  switch (i.modifiers.form) {
    case OperandForm::sdwa:
      return run_sdwa(wave, i);
    case OperandForm::dpp:
      return run_dpp(wave, i);
    case OperandForm::indexed:
      return run_indexed(wave, i);
    case OperandForm::plain:
      break;
  }
  if (i.row->in_float_mode != nullptr) return i.row->in_float_mode(wave, i);
  return run_row_in_float_mode(wave, i);
}

const Instruction* run_skipped(Wave&, const Instruction& i) { return following(i); }

}  // namespace margay
