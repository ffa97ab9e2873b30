// SDWA (part of a register as operand) and DPP (another lane's register as operand), once for all
// vector instructions: prepare temporary rows, run the row's own handler on them, merge.
// Source: MI300 ISA guide, sections 6.3 (SDWA) and 6.4 (DPP).
#include <cstring>

#include "exec/instructions/sdwa_dpp.h"
#include "exec/program/bind.h"
#include "exec/program/float_mode.h"
#include "exec/rows/row_table.h"
#include "exec/state/wave.h"
#include "isa/encoding.h"

namespace margay {
namespace {

using isa::bits;

/// Temporary rows: two for each of sources 0 and 1, two for the result.
unsigned temporary_row(const Wave& wave, unsigned index) { return wave.vgpr_rows + index; }

const Instruction* run_plain(Wave& wave, const Instruction& inner) {
  if (inner.execute == run_in_float_mode) return run_row_in_float_mode(wave, inner);
  const bool modified = inner.modifiers.any();
  return (modified ? inner.row->modified : inner.row->plain)(wave, inner);
}

}  // namespace

// ---- SDWA -----------------------------------------------------------------------------------

const Instruction* run_sdwa(Wave& wave, const Instruction& i) {
  const std::uint32_t e = i.extra;
  const bool is_compare = i.row->result == OperandType::mask;
  Instruction inner = i;
  const unsigned selections[2] = {bits(e, 16, 18), bits(e, 24, 26)};
  const bool sign_extends[2] = {bits(e, 19, 19) != 0, bits(e, 27, 27) != 0};
  const int explicit_sources = i.row->source_count < 2 || i.src[1].kind() == Source::kNone ? 1 : 2;
  for (int n = 0; n < explicit_sources; ++n) {
    if (is_64_bit(i.row->sources[n])) continue;
    const unsigned row = temporary_row(wave, 2 * static_cast<unsigned>(n));
    std::uint32_t* const to = wave.row(row);
    for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
      const std::uint32_t value = i.src[n].is_vgpr()
                                      ? wave.row(i.src[n].index())[lane]
                                      : scalar_source(wave, i, static_cast<unsigned>(n));
      to[lane] = select_part(value, selections[n], sign_extends[n]);
    }
    inner.src[n] = Source::vgpr(row);
  }
  if (is_compare) {
    if (run_plain(wave, inner) == nullptr) return nullptr;
    return following(i);
  }
  const unsigned result = temporary_row(wave, 4);
  std::uint32_t* const from = wave.row(result);
  std::uint32_t* const dst = wave.row(i.dst);
  const unsigned registers = register_count(i.row->result);
  std::memcpy(from, dst, std::size_t{4} * registers * kWaveLanes);  // v_fmac reads its destination
  if (i.row->accumulates) inner.src[i.row->source_count - 1] = Source::vgpr(result);
  inner.dst = static_cast<std::uint16_t>(result);
  if (run_plain(wave, inner) == nullptr) return nullptr;
  const std::uint64_t exec = wave.exec();
  if (registers == 2) {  // always whole
    for (unsigned lane = 0; lane < 2 * kWaveLanes; ++lane)
      if (exec >> (lane % kWaveLanes) & 1) dst[lane] = from[lane];
    return following(i);
  }
  const unsigned selection = bits(e, 8, 10), unused = bits(e, 11, 12);
  for (unsigned lane = 0; lane < kWaveLanes; ++lane)
    if (exec >> lane & 1) dst[lane] = merge_part(dst[lane], from[lane], selection, unused);
  return following(i);
}

// ---- DPP ------------------------------------------------------------------------------------

namespace {

bool is_known_control(unsigned control) {
  if (control <= 0xff) return true;
  const unsigned group = control & 0x1f0;
  if (group == 0x100 || group == 0x110 || group == 0x120) return (control & 15) != 0;
  if (group == 0x150) return true;
  for (const unsigned known : {0x130u, 0x134u, 0x138u, 0x13cu, 0x140u, 0x141u, 0x142u, 0x143u})
    if (control == known) return true;
  return false;
}

}  // namespace

const Instruction* run_dpp(Wave& wave, const Instruction& i) {
  const std::uint32_t e = i.extra;
  const unsigned control = bits(e, 8, 16);
  if (!is_known_control(control))
    return wave.fault(i, {ErrorCode::not_implemented,
                          "DPP control " + std::to_string(control) + " is not implemented"});
  const bool bound_control = bits(e, 19, 19);
  const unsigned bank_mask = bits(e, 24, 27), row_mask = bits(e, 28, 31);
  const std::uint64_t exec = wave.exec();
  const unsigned registers = is_64_bit(i.row->sources[0]) ? 2 : 1;

  std::uint64_t enabled = 0;
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    if (!(row_mask >> (lane / 16) & 1) || !(bank_mask >> (lane / 4 % 4) & 1)) continue;
    const int from = dpp_source_lane(control, lane);
    const bool valid = from != kNoLane && (exec >> from & 1);
    if (!valid && !bound_control) continue;  // keeps its old value
    enabled |= 1ull << lane;
    for (unsigned r = 0; r < registers; ++r)
      wave.row(temporary_row(wave, r))[lane] = valid ? wave.row(i.src[0].index() + r)[from] : 0;
  }
  Instruction inner = i;
  inner.src[0] = Source::vgpr(temporary_row(wave, 0));
  wave.set_exec(exec & enabled);
  const Instruction* next = run_plain(wave, inner);
  if (!i.row->writes_exec) wave.set_exec(exec);
  return next == nullptr ? nullptr : following(i);
}

}  // namespace margay
