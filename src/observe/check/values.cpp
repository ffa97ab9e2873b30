#include "observe/check/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "exec/row_table.h"
#include "mfma/shapes.h"

namespace margay::check {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

}  // namespace

ValueTracker::ValueTracker(Reporter& reporter, std::uint32_t rows,
                           std::uint32_t scratch_bytes_per_lane, std::uint32_t accum_offset)
    : reporter_(reporter),
      rows_(std::min(rows, 512u)),
      accum_offset_(accum_offset),
      scratch_(scratch_bytes_per_lane / 4),
      scratch_origin_(scratch_bytes_per_lane / 4) {}

void ValueTracker::begin(std::uint32_t wave, std::uint64_t lanes) {
  wave_ = wave;
  origins_.assign(1, {});
  told_.clear();
  attention_ = {};
  scalar_attention_ = {};
  for (unsigned row = 0; row < rows_; ++row) set(row, kAll, 0);
  // v0 holds the work-item's ids. Source: LLVM, AMDGPU backend, initial kernel execution state.
  set(0, ~lanes, 0);
  std::ranges::fill(scratch_, kAll);
  std::ranges::fill(scratch_origin_, 0);
}

void ValueTracker::set(unsigned row, std::uint64_t lanes, std::uint32_t origin) {
  unwritten_[row] = lanes;
  row_origin_[row] = origin;
  const std::uint64_t bit = 1ull << (row % 64);
  if (lanes != 0)
    attention_[row / 64] |= bit;
  else
    attention_[row / 64] &= ~bit;
}

std::uint32_t ValueTracker::origin_in(RegisterRange range) const {
  for (unsigned n = 0; n < range.count; ++n)
    if (of(range.first + n) != 0 && row_origin_[range.first + n] != 0)
      return row_origin_[range.first + n];
  return 0;
}

// ---- Through registers ----------------------------------------------------------------------

void ValueTracker::follow(const InstructionFacts& facts, const Wave& wave) {
  const std::uint64_t exec = facts.use.ignores_exec ? kAll : wave.exec();
  follow_masks(facts, wave);
  if (facts.action == Action::matrix) return follow_matrix(facts);
  const auto instruction_class = facts.instruction->row->instruction_class;
  if (instruction_class != InstructionClass::vmem && instruction_class != InstructionClass::lds)
    return follow_vector(facts, wave, exec);
  // Memory: the address here; data with the access itself.
  const RegisterRange address = facts.use.sources[0];
  std::uint64_t lanes = 0;
  for (unsigned n = 0; n < address.count; ++n) lanes |= of(address.first + n);
  if ((lanes & exec) != 0 && facts.form.path != MemoryForm::Path::none)
    report(facts, address, lanes & exec, "it is used as an address");
  // Atomics that return, and lane exchanges, give written values; loads say so in loaded().
  for (unsigned n = 0; n < facts.use.destination.count; ++n) {
    const unsigned row = facts.use.destination.first + n;
    set(row, of(row) & ~exec, row_origin_[row]);
  }
}

void ValueTracker::follow_vector(const InstructionFacts& facts, const Wave& wave,
                                 std::uint64_t exec) {
  const Instruction& i = *facts.instruction;
  const std::string_view name = i.row->mnemonic;
  const RegisterUse& use = facts.use;
  std::uint64_t source[4] = {};
  std::uint64_t all = 0;
  std::uint32_t origin = 0;
  for (unsigned n = 0; n < 4; ++n) {
    for (unsigned r = 0; r < use.sources[n].count; ++r) source[n] |= of(use.sources[n].first + r);
    all |= source[n];
    if (source[n] != 0 && origin == 0) origin = origin_in(use.sources[n]);
  }
  if (name == "v_readfirstlane_b32") {
    const std::uint64_t first = wave.exec() & (~wave.exec() + 1);
    if ((all & first) != 0)
      report(facts, use.sources[0], first, "it is moved to a scalar register");
    return;
  }
  if (name == "v_writelane_b32") {
    const unsigned lane = scalar_source(wave, i, 1) & 63;
    const unsigned row = use.destination.first;
    return set(row, of(row) & ~(1ull << lane), row_origin_[row]);
  }
  if (name == "v_swap_b32") {
    const unsigned a = use.destination.first, b = use.sources[0].first;
    const std::uint64_t was_a = of(a), was_b = of(b);
    const std::uint32_t origin_a = row_origin_[a], origin_b = row_origin_[b];
    set(a, (was_a & ~exec) | (was_b & exec), origin_b);
    return set(b, (was_b & ~exec) | (was_a & exec), origin_a);
  }
  if (use.crosses_lanes) all = 0;
  if (i.row->result == OperandType::mask) {  // a comparison
    unsigned row = 0;
    for (const RegisterRange& range : use.sources)
      for (unsigned r = 0; r < range.count; ++r)
        if (of(range.first + r) != 0) row = range.first + r;
    if (i.row->writes_exec && (all & exec) != 0)
      return report(facts, origin, row, all & exec, "it decides which lanes go on");
    return set_mask(i.sdst, all & exec, origin, row);
  }
  if (name == "v_cndmask_b32" && i.src[2].kind() == Source::kScalar) {
    const std::uint64_t chosen = wave.scalar64(i.src[2].index());
    all = (source[1] & chosen) | (source[0] & ~chosen);
  }
  std::array<std::uint64_t, 2> results = {all, all};
  if (use.destination.count == 2 && all != 0) results = halves(i, use, all);
  for (unsigned n = 0; n < use.destination.count; ++n) {
    const unsigned row = use.destination.first + n;
    const std::uint64_t unwritten = results[std::min(n, 1u)] & exec;
    set(row, (of(row) & ~exec) | unwritten, unwritten != 0 ? origin : row_origin_[row]);
  }
}

// Compilers leave the upper half of a 64-bit operand undefined where only the lower half of the
// result is used, and one half of a packed operation.
std::array<std::uint64_t, 2> ValueTracker::halves(const Instruction& i, const RegisterUse& use,
                                                  std::uint64_t all) const {
  const std::string_view name = i.row->mnemonic;
  if (name.starts_with("v_pk_")) {
    const std::uint32_t select[2] = {i.extra & 7, i.extra >> 3 & 7};
    std::array<std::uint64_t, 2> out{};
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned n = 0; n < 3; ++n)
        if (i.src[n].is_vgpr()) out[half] |= of(i.src[n].index() + (select[half] >> n & 1));
    if (name == "v_pk_mov_b32")  // the lower result is a half of source 0, the upper of source 1
      for (unsigned half = 0; half < 2; ++half)
        out[half] = i.src[half].is_vgpr() ? of(i.src[half].index() + (select[0] >> half & 1)) : 0;
    return out;
  }
  const bool low_needs_low = name == "v_mad_u64_u32" || name == "v_mad_i64_i32" ||
                             name == "v_lshl_add_u64" || name == "v_lshlrev_b64" ||
                             name == "v_mov_b64";
  if (!low_needs_low) return {all, all};
  std::uint64_t low = 0;
  for (const RegisterRange& source : use.sources)
    if (source.count != 0) low |= of(source.first);
  std::uint64_t high = all;
  if (name == "v_mov_b64" && use.sources[0].count == 2) high = of(use.sources[0].first + 1);
  return {low, high};
}

// A comparison's mask is followed to the branch or the change of EXEC that it decides directly.
// What is put together from several masks is not followed: compilers evaluate both sides of && at
// once.
void ValueTracker::follow_masks(const InstructionFacts& facts, const Wave& wave) {
  const RegisterUse& use = facts.use;
  const bool decides = contains(use.scalar_writes, kExecIndex) ||
                       facts.instruction->row->instruction_class == InstructionClass::branch;
  for (unsigned index = 0; index < masks_.size(); ++index) {
    if (!contains(scalar_attention_, index)) continue;
    const Mask& mask = masks_[index];
    if (decides && contains(use.scalar_reads, index) && (mask.lanes & wave.exec()) != 0)
      report(facts, mask.origin, mask.row, mask.lanes & wave.exec(), "it decides a branch");
    const Mask known = mask;
    if (contains(use.scalar_writes, index) || contains(use.scalar_writes, index + 1))
      set_mask(index, 0, 0, 0);
    // What precedes a branch that all lanes take together: the mask of the active lanes.
    const Instruction& i = *facts.instruction;
    if (i.row->mnemonic == "s_and_b64" && contains(use.scalar_reads, index) &&
        contains(use.scalar_reads, kExecIndex) && !decides)
      set_mask(i.sdst, known.lanes & wave.exec(), known.origin, known.row);
  }
}

void ValueTracker::set_mask(unsigned index, std::uint64_t lanes, std::uint32_t origin,
                            unsigned row) {
  if (index >= masks_.size()) return;
  masks_[index] = {lanes, origin, row};
  const std::uint64_t bit = 1ull << (index % 64);
  if (lanes != 0)
    scalar_attention_[index / 64] |= bit;
  else
    scalar_attention_[index / 64] &= ~bit;
}

// D(i, j) depends on row i of A, column j of B and on C(i, j). Element layouts: see shapes.h. For
// one block of 16 x 16 or 32 x 32 f32 or i32 that is followed exactly; for the others any unwritten
// element of A or B is taken to reach all of D.
void ValueTracker::follow_matrix(const InstructionFacts& facts) {
  const RegisterUse& use = facts.use;
  std::uint64_t in[2] = {};
  for (unsigned n = 0; n < 2; ++n)
    for (unsigned r = 0; r < use.sources[n].count; ++r) in[n] |= of(use.sources[n].first + r);
  std::uint32_t origin = 0;
  for (const RegisterRange& range : use.sources)
    if (origin == 0) origin = origin_in(range);
  const MfmaShape& shape = *facts.instruction->row->shape;
  const bool exact = shape.blocks == 1 && shape.m >= 16 && shape.a != MfmaType::f64;
  std::uint64_t rows = 0, columns = 0;  // bit i: row i of A, column j of B
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
    if (in[0] >> lane & 1) rows |= 1ull << (lane % shape.m);
    if (in[1] >> lane & 1) columns |= 1ull << (lane % shape.m);
  }
  const RegisterRange c = use.sources[2], d = use.destination;
  std::array<std::uint64_t, 32> result{};
  for (unsigned r = 0; r < d.count && r < result.size(); ++r) {
    std::uint64_t lanes = r < c.count ? of(c.first + r) : 0;
    if (!exact && (in[0] | in[1]) != 0) lanes = kAll;
    for (unsigned lane = 0; exact && (rows | columns) != 0 && lane < kWaveLanes; ++lane) {
      const unsigned row =
          shape.m == 32 ? 8 * (r / 4) + 4 * (lane / 32) + r % 4 : 4 * (lane / 16) + r;
      if ((rows >> row & 1) || (columns >> (lane % shape.m) & 1)) lanes |= 1ull << lane;
    }
    result[r] = lanes;
  }
  for (unsigned r = 0; r < d.count && r < result.size(); ++r) set(d.first + r, result[r], origin);
}

// ---- To and from memory ---------------------------------------------------------------------

void ValueTracker::loaded(const InstructionFacts& facts,
                          const std::array<std::uint64_t, 4>& unwritten, const Origin& origin) {
  std::uint32_t index = 0;
  for (unsigned n = 0; n < facts.use.destination.count && n < 4; ++n) {
    const unsigned row = facts.use.destination.first + n;
    if (unwritten[n] != 0 && index == 0) {
      index = static_cast<std::uint32_t>(origins_.size());
      // A loop loads from the same place again and again.
      for (std::uint32_t known = 1; known < origins_.size(); ++known)
        if (origins_[known].vaddr == origin.vaddr) index = known;
      if (index == origins_.size()) origins_.push_back(origin);
    }
    if (unwritten[n] != 0) set(row, of(row) | unwritten[n], index);
  }
}

std::uint64_t ValueTracker::unwritten_data(const InstructionFacts& facts, unsigned operand,
                                           unsigned dword) const {
  const RegisterRange data = facts.use.sources[1 + operand];
  return dword < data.count ? of(data.first + dword) : 0;
}

void ValueTracker::stored_globally(const InstructionFacts& facts, std::uint64_t lanes) {
  const RegisterRange data = facts.use.sources[1];
  std::uint64_t unwritten = 0;
  for (unsigned n = 0; n < data.count; ++n) unwritten |= of(data.first + n);
  if ((unwritten & lanes) != 0)
    report(facts, data, unwritten & lanes, "it is stored to global memory");
}

void ValueTracker::scratch_access(const InstructionFacts& facts, const LaneAccess& access) {
  const unsigned dwords = (access.bytes + 3u) / 4;
  std::array<std::uint64_t, 4> unwritten{};
  std::uint32_t origin = 0;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t bit = 1ull << lane;
    for (unsigned d = 0; d < dwords; ++d) {
      const std::uint64_t slot = access.at[lane] / 4 + d;
      if (slot >= scratch_.size()) continue;  // memcheck tells
      if (access.is_write) {
        const std::uint64_t data = unwritten_data(facts, 0, d);
        scratch_[slot] = (scratch_[slot] & ~bit) | (data & bit);
        if (data & bit) scratch_origin_[slot] = origin_in(facts.use.sources[1]);
      } else if (scratch_[slot] & bit) {
        unwritten[d] |= bit;
        origin = scratch_origin_[slot];
      }
    }
  }
  if (access.is_write) return;
  for (unsigned n = 0; n < facts.use.destination.count && n < 4; ++n) {
    const unsigned row = facts.use.destination.first + n;
    set(row, (of(row) & ~access.active) | unwritten[n], origin);
  }
}

// ---- Findings -------------------------------------------------------------------------------

void ValueTracker::report(const InstructionFacts& facts, RegisterRange rows, std::uint64_t lanes,
                          const std::string& use) {
  unsigned row = rows.first;
  while (row + 1 < static_cast<unsigned>(rows.first + rows.count) && (of(row) & lanes) == 0) ++row;
  report(facts, origin_in(rows), row, lanes, use);
}

void ValueTracker::report(const InstructionFacts& facts, std::uint32_t index, unsigned row,
                          std::uint64_t lanes, const std::string& use) {
  const Origin& origin = origins_[index];
  const auto wave = static_cast<std::int32_t>(wave_);
  const std::int32_t lane = std::countr_zero(lanes);
  Finding f;
  f.tool = Tool::initcheck;
  if (index == 0) {
    f.kind = "uninitialised-register";
    const std::string name = register_name(row, accum_offset_);
    if (reporter_.repeat(f.tool, f.kind, facts.vaddr, kNoVaddr, name)) return;
    f.message = fmt::format("{} was never written in {} of the wave's lanes; {}", name,
                            std::popcount(lanes), use);
    f.accesses = {reporter_.access("use", facts.vaddr, wave, lane)};
    f.hint = "give the variable a value on every path that reaches this line";
    return reporter_.add(std::move(f), name);
  }
  // One finding per load: what came of it, once per wave, is enough.
  if (std::ranges::find(told_, origin.vaddr) != told_.end()) return;
  told_.push_back(origin.vaddr);
  const bool lds = origin.kind == Origin::Kind::lds;
  f.kind = lds ? "uninitialised-lds" : "uninitialised-global";
  if (reporter_.repeat(f.tool, f.kind, origin.vaddr, facts.vaddr)) return;
  f.message = lds ? fmt::format("LDS byte {:#06x} is read but nobody has written a value to it; {}",
                                origin.address, use)
                  : fmt::format("global memory at {:#x} is read but nobody has written it; {}",
                                origin.address, use);
  f.accesses = {reporter_.access("read", origin.vaddr, wave, origin.lane),
                reporter_.access("use", facts.vaddr, wave, lane)};
  f.hint =
      lds ? "is every row and column of the tile stored before it is read, and was what is stored "
            "there ever written? A group that is "
            "larger than the workgroup stores only a part"
          : "fill the buffer (hipMemset, hipMemcpy, a kernel) before it is read";
  reporter_.add(std::move(f));
}

}  // namespace margay::check
