// What MODE means to each instruction, from its row: the operands' types and, where types do not
// tell, the mnemonic.
#include <algorithm>
#include <string_view>

#include "exec/float_mode.h"
#include "exec/row_table.h"
#include "mfma/mfma.h"

namespace margay {
namespace {

FloatKind kind_of(OperandType type) {
  switch (type) {
    case OperandType::f16:
      return FloatKind::f16;
    case OperandType::f32:
      return FloatKind::f32;
    case OperandType::f64:
      return FloatKind::f64;
    default:
      return FloatKind::none;
  }
}

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

FloatRounding rounding_of(FloatKind kind) {
  switch (kind) {
    case FloatKind::none:
      return FloatRounding::nearest;
    case FloatKind::f32:
    case FloatKind::f32_pair:
      return FloatRounding::single;
    default:
      return FloatRounding::other;
  }
}

/// Those whose result does not follow MODE's rounding: named for their own, or approximations, of
/// whose rounding the guide says nothing (they are within an ulp or so).
bool rounds_by_itself(std::string_view name) {
  return starts_with_any(
      name, {"v_rndne_", "v_floor_", "v_ceil_", "v_trunc_", "v_cvt_pkrtz_", "v_rcp_", "v_rsq_",
             "v_sqrt_", "v_exp_", "v_log_", "v_sin_", "v_cos_", "v_dot2"});
}

/// Operands of packed instructions, whose rows say registers rather than numbers.
void packed_kinds(const Row& row, FloatUse& use) {
  const std::string_view name = row.mnemonic;
  use.packed = true;
  if (name.starts_with("v_fma_mix")) {
    for (FloatKind& source : use.sources) source = FloatKind::mixed;
    use.result = name.ends_with("f32") ? FloatKind::f32 : FloatKind::f16;
    use.high_result = name == "v_fma_mixhi_f16";
    return;
  }
  const FloatKind kind = name.ends_with("_f16")   ? FloatKind::f16_pair
                         : name.ends_with("_f32") ? FloatKind::f32_pair
                                                  : FloatKind::none;
  for (unsigned n = 0; n < 3; ++n) use.sources[n] = n < row.source_count ? kind : FloatKind::none;
  use.result = kind;
}

FloatUse vector_use(const Row& row) {
  const std::string_view name = row.mnemonic;
  FloatUse use;
  if (row.is_lane_operation) return use;
  // Classes are those of the bits: this is how a program asks for denormals.
  if (name.contains("cmp_class") || name.contains("cmpx_class")) return use;
  // Moves bits, though its operands may be negated as numbers.
  if (name == "v_cndmask_b32") return use;
  for (unsigned n = 0; n < 3 && n < row.source_count; ++n) use.sources[n] = kind_of(row.sources[n]);
  use.result = kind_of(row.result);
  if (starts_with_any(name, {"v_pk_", "v_fma_mix"})) packed_kinds(row, use);
  if (name.starts_with("v_cvt_pkrtz_")) use.result = FloatKind::f16_pair;
  if (name.starts_with("v_cvt_pk_f32_")) use.result = FloatKind::f32_pair;
  if (name.starts_with("v_dot2") && use.result == FloatKind::f32) {
    use.packed = name == "v_dot2_f32_f16";
    use.ignores_denormals = true;
  }
  if (starts_with_any(name, {"v_cvt_pk_fp8_", "v_cvt_sr_fp8_"})) use.fp8_largest = 0x43700000;
  if (starts_with_any(name, {"v_cvt_pk_bf8_", "v_cvt_sr_bf8_"})) use.fp8_largest = 0x47600000;
  use.is_min_max = starts_with_any(name, {"v_min", "v_max", "v_med3_", "v_pk_min_", "v_pk_max_"});
  use.rounds_twice = name.ends_with("_f16") && starts_with_any(name, {"v_mad", "v_mac"});

  use.rounding = rounding_of(use.result);
  // Numbers made into integers by MODE's rounding, which is that of the source's format.
  if (name.contains("norm_") || name.contains("pknorm") ||
      starts_with_any(name, {"v_cvt_pk_u8_", "v_cvt_pkaccum_u8_"}))
    use.rounding = rounding_of(use.sources[0]);
  if (rounds_by_itself(name)) use.rounding = FloatRounding::nearest;
  return use;
}

/// f32 matrix instructions flush A and B as MODE says, and neither C nor D; all others neither.
/// They round to nearest even. Source: MI300 ISA guide, section 7.3 (the text; its table has MODE
/// for the whole instruction).
FloatUse matrix_use(const Row& row) {
  FloatUse use;
  if (row.shape->a == MfmaType::f32) use.sources[0] = use.sources[1] = FloatKind::f32;
  return use;
}

}  // namespace

FloatUse float_use(const Row& row) {
  if (row.instruction_class == InstructionClass::valu) return vector_use(row);
  if (row.instruction_class == InstructionClass::mfma) return matrix_use(row);
  return {};
}

}  // namespace margay
