// ValueTracker: loads, stores and lane exchanges.
#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/program/bind.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"
#include "observe/check/values/values.h"

namespace margay::check {
namespace {

bool converts(const Instruction& i) {
  return i.row->instruction_class == InstructionClass::vmem &&
         i.row->memory.path == MemoryPath::buffer && (i.extra & extra::kFormatted) != 0;
}

}  // namespace

void ValueTracker::follow_memory(const InstructionFacts& facts, Wave& wave, std::uint64_t exec) {
  const Instruction& i = *facts.instruction;
  const RegisterUse& use = facts.use;
  if (facts.form.path == MemoryForm::Path::none) return follow_exchange(facts, wave);
  if ((lanes_of(use.sources[0]) & exec) != 0)
    report(facts, use.sources[0], lanes_of(use.sources[0]) & exec, Decides::address);
  const bool scalars = (use.scalar_reads[0] & scalar_attention_[0]) != 0 ||
                       (use.scalar_reads[1] & scalar_attention_[1]) != 0;
  if (scalars && exec != 0) {
    std::uint32_t origin = 0;
    for (unsigned index = 0; index < scalar_bits_.size(); ++index)
      if (contains(use.scalar_reads, index) && scalar_bits_[index] != 0)
        origin = scalar_origin_[index];
    report(facts, origin, exec & (0 - exec), Decides::address);
  }
  if (i.row->is_atomic)
    for (unsigned n = 1; n < 3; ++n)
      if ((lanes_of(use.sources[n]) & exec) != 0)
        report(facts, use.sources[n], lanes_of(use.sources[n]) & exec, Decides::atomic);
  for (unsigned n = 0; n < use.destination.count; ++n) define(use.destination.first + n, exec);
}

void ValueTracker::follow_scalar_memory(const InstructionFacts& facts) {
  const Instruction& i = *facts.instruction;
  const std::uint32_t origin = origin_of(facts);
  bool address = false;
  for (unsigned n = 0; n < 2; ++n)
    if (i.src[n].kind() == Source::kScalar)
      for (unsigned r = 0; r < (n == 1 ? 1u : i.row->memory.scalar_buffer ? 4u : 2u); ++r)
        address |= scalar_bits(i.src[n].index() + r, false) != 0;
  if (address)
    report(facts, origin, 1, Decides::address);
  else if (i.row->is_atomic && origin != 0)
    report(facts, origin, 1, Decides::atomic);
  else if (i.row->is_store && origin != 0)
    report(facts, origin, 1, Decides::store);
  for (unsigned index = 0; index < scalar_bits_.size(); ++index)
    if (contains(facts.use.scalar_writes, index)) set_scalar(index, 0, false, 0);
}

// Lanes exchange registers through the LDS crossbar. The executor's own handler moves the undefined
// bits like the values, on separate rows.
void ValueTracker::follow_exchange(const InstructionFacts& facts, Wave& wave) {
  const Instruction& i = *facts.instruction;
  if (!facts.use.crosses_lanes || facts.use.destination.count != 1) return;
  const bool swizzle = i.row->memory.exchange == LaneExchange::swizzle;
  const RegisterRange data = facts.use.sources[swizzle ? 0 : 1];
  const std::uint64_t exec = wave.exec();
  constexpr unsigned kRows = 3;
  alignas(64) std::array<std::uint32_t, kRows * kWaveLanes> rows{};
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
    rows[(swizzle ? 0 : kWaveLanes) + lane] = rows_.bits(data.first, lane);
    if (!swizzle) rows[lane] = wave.row(facts.use.sources[0].first)[lane];
  }
  Wave stage;
  stage.v = rows.data();
  stage.set_exec(exec);
  stage.group = wave.group;
  stage.vgpr_rows = kRows;
  Instruction inner = i;
  inner.src[0] = Source::vgpr(0);
  inner.src[1] = Source::vgpr(1);
  inner.dst = 2;
  if (i.execute(stage, inner) == nullptr) return;
  const std::uint64_t named = swizzle ? 0 : lanes_of(facts.use.sources[0]) & exec;
  const std::uint32_t origin = origin_of(facts);
  // The result if a lane's index is undefined: for ds_permute all lanes are undefined.
  const bool push = i.row->memory.exchange == LaneExchange::push && named != 0;
  for (std::uint64_t rest = exec; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const bool unknown = push || (named >> lane & 1) != 0;
    const std::uint32_t undefined = unknown ? ~0u : rows[2 * kWaveLanes + lane];
    rows_.set(i.dst, lane, undefined);
    if (undefined != 0) row_origin_[i.dst] = origin;
  }
}

// ---- Stores ---------------------------------------------------------------------------------

bool ValueTracker::stored_bits(const InstructionFacts& facts, unsigned operand,
                               const LaneAccess& access, LaneBits& out) const {
  const RegisterRange data = facts.use.sources[1 + operand];
  out.lanes = lanes_of(data) & access.active;
  if (out.lanes == 0) return false;
  const Instruction& i = *facts.instruction;
  const bool whole = converts(i);  // a format converts the bytes
  const bool upper = i.row->memory.part.upper;
  for (std::uint64_t rest = out.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    auto& bytes = out.bytes[lane];
    bytes = {};
    for (unsigned d = 0; d < data.count && d < 4; ++d) {
      std::uint32_t undefined = rows_.bits(data.first + d, lane);
      if (upper) undefined >>= 16;
      std::memcpy(&bytes[4 * d], &undefined, 4);
    }
    if (whole) bytes.fill(0xff);
    if (std::all_of(bytes.begin(), bytes.begin() + std::min<unsigned>(access.bytes, 16),
                    [](std::uint8_t byte) { return byte == 0; }))
      out.lanes &= ~(1ull << lane);
  }
  return out.lanes != 0;
}

ValueTracker::Stored ValueTracker::stored_globally(const InstructionFacts& facts,
                                                   const LaneAccess& access, const LaneBits& bits,
                                                   bool followed) {
  // Lanes whose stored data is entirely undefined, and lanes that store bytes with both undefined
  // and defined bits: neither is a structure's padding.
  std::uint64_t whole = 0, mixed = 0;
  const unsigned count = std::min<unsigned>(access.bytes, 16);
  for (std::uint64_t rest = bits.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    bool all = true, some = false;
    for (unsigned n = 0; n < count; ++n) {
      all &= bits.bytes[lane][n] == 0xff;
      some |= bits.bytes[lane][n] != 0 && bits.bytes[lane][n] != 0xff;
    }
    if (all) whole |= 1ull << lane;
    if (some) mixed |= 1ull << lane;
  }
  const RegisterRange data = facts.use.sources[1];
  Stored out;
  bool from_global = true;
  for (unsigned n = 0; n < data.count; ++n) {
    if ((rows_.lanes(data.first + n) & bits.lanes) == 0) continue;
    const std::uint32_t number = row_origin_[data.first + n];
    out.computed |= (number & 1) != 0;
    const std::uint32_t index = number / 2;
    if (index >= row_origin_.size()) out.origin = &origins_[index - row_origin_.size()];
    from_global &= out.origin != nullptr && out.origin->kind == Origin::Kind::global;
  }
  if (!out.computed) mixed = 0;
  const std::uint64_t wrong = whole | mixed;
  // Copies from one tracked allocation to another are checked where they are used, and so is what
  // is handed to other workgroups: the last one of a chain hands on a sum that is never read.
  if (wrong != 0 && !(followed && (from_global || facts.agent_scope))) {
    out.told = true;
    report(facts, data, wrong, Decides::store);
  } else if (!followed && bits.lanes != 0) {
    report(facts, origin_in(data, bits.lanes), bits.lanes, Decides::part_of_store, Severity::note);
  }
  return out;
}

// ---- Loads ----------------------------------------------------------------------------------

void ValueTracker::loaded(const InstructionFacts& facts, const LaneAccess& access,
                          const LaneBits& bits, unsigned first, const Origin& origin) {
  if ((bits.lanes & access.active) != 0) place(facts, access, bits, first, add_origin(origin));
}

void ValueTracker::place(const InstructionFacts& facts, const LaneAccess& access,
                         const LaneBits& bits, unsigned first, std::uint32_t origin) {
  const RegisterRange to = facts.use.destination;
  const std::uint64_t lanes = bits.lanes & access.active;
  const Instruction& i = *facts.instruction;
  const RegisterPart form = i.row->memory.part;
  const bool whole = converts(i);
  const std::uint32_t number = origin | (whole ? 1 : 0);
  for (std::uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    std::array<std::uint8_t, 16> bytes = bits.bytes[lane];
    std::fill(bytes.begin() + std::min<unsigned>(access.bytes, 16), bytes.end(), 0);
    for (unsigned d = 0; d < 4 && first + d < to.count; ++d) {
      std::uint32_t undefined;
      std::memcpy(&undefined, &bytes[4 * d], 4);
      if (access.bytes < 4 && form.is_signed) {
        const unsigned unused = 32 - 8 * access.bytes;
        undefined = static_cast<std::uint32_t>(static_cast<std::int32_t>(undefined << unused) >>
                                               static_cast<int>(unused));
        if (form.half) undefined &= 0xffff;
      }
      if (form.upper) undefined <<= 16;
      if (whole) undefined = ~0u;
      if (undefined == 0) continue;
      const unsigned row = to.first + first + d;
      rows_.set(row, lane, undefined);
      row_origin_[row] = number;
    }
  }
}

void ValueTracker::scalar_loaded(const InstructionFacts& facts,
                                 const std::vector<std::uint8_t>& bits, const Origin& origin) {
  const unsigned first = facts.instruction->sdst;
  const std::uint32_t number = add_origin(origin);
  for (unsigned n = 0; n < bits.size() / 4; ++n) {
    std::uint32_t undefined;
    std::memcpy(&undefined, &bits[4 * n], 4);
    if (undefined != 0) set_scalar(first + n, undefined, false, number);
  }
}

// ---- Scratch --------------------------------------------------------------------------------

void ValueTracker::scratch_access(const InstructionFacts& facts, const LaneAccess& access) {
  LaneBits bits;
  if (access.is_write && !stored_bits(facts, 0, access, bits)) bits.lanes = 0;
  const std::uint32_t data_origin =
      access.is_write ? origin_in(facts.use.sources[1], bits.lanes) : 0;
  std::uint64_t read_lanes = 0;
  std::uint32_t origin = 0;
  const unsigned count = std::min<unsigned>(access.bytes, 16);
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t bit = 1ull << lane;
    const bool has_bits = (bits.lanes & bit) != 0;
    if (!access.is_write) bits.bytes[lane] = {};
    for (unsigned n = 0; n < count; ++n) {
      const std::uint64_t at = access.at[lane] + n;
      if (at >= scratch_.size()) break;  // memcheck reports it
      if (access.is_write) {
        const std::uint8_t undefined = has_bits ? bits.bytes[lane][n] : 0;
        scratch_[at] = undefined != 0 ? scratch_[at] | bit : scratch_[at] & ~bit;
        scratch_partial_.set(64 * at + lane, undefined == 0 ? 0xff : undefined);
        if (undefined != 0) scratch_origin_[at / 4] = data_origin;
        scratch_used_ = std::max<std::size_t>(scratch_used_, at + 1);
      } else if ((scratch_[at] & bit) != 0) {
        bits.bytes[lane][n] = scratch_partial_.of(64 * at + lane);
        read_lanes |= bit;
        origin = scratch_origin_[at / 4];
      }
    }
  }
  if (access.is_write || read_lanes == 0) return;
  bits.lanes = read_lanes;
  place(facts, access, bits, 0, origin);
}

}  // namespace margay::check
