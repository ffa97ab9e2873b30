// The rules, as facts from two sources: the MI300 ISA guide (tables 11 and 37 of required software
// wait states) and LLVM 19's GCNHazardRecognizer for gfx940. Where they differ the smaller
// requirement applies, so that nothing a compiler emits is reported; each such place is marked.
//
// Two rules give notes instead of errors, because kernels that AMD ships for MI300X break them and
// give correct results:
// - M0 before a load to LDS. LLVM's checkReadM0Hazards pads it (table 11: one wait state); ck_tile
//   (composable_kernel, core/arch/utility.hpp: m0_set_with_memory, m0_inc_with_memory) writes M0 in
//   one inline assembly statement and loads in the next, with nothing between, in its attention
//   kernels.
// - a mask written by v_cmp before v_cndmask. According to LLVM, gfx940 has no interlock for
//   scalars that the VALU writes and reads (GCNSubtarget::hasVDecCoExecHazard); table 11 requires
//   two wait states where the VALU reads them as a constant and none where they are a carry-in,
//   which is similar to a mask. AITER's assembly for gfx942 has the two next to each other in its
//   main loops.
// Matrix results that the VALU reads too early are not tolerated, although AITER's main loops have
// these as well: the same on gfx950 is known to give wrong results (facebookexperimental/triton,
// pull request 3168).
//
// Wait states are counted as in LLVM: every instruction is one, s_nop n is n + 1, and the
// instructions between producer and consumer count.
#include "observe/check/instructions/hazards.h"

#include <algorithm>

#include "exec/program/bind.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"
#include "exec/state/wave.h"
#include "isa/encoding.h"
#include "mfma/instructions/shapes.h"

namespace margay::check {
namespace {

enum Kind : std::uint32_t {
  kValu = 1 << 0,  ///< Vector ALU, matrix instructions not included.
  kMfma = 1 << 1,
  kXdl = 1 << 2,    ///< A matrix instruction on anything but f32 and f64.
  kDgemm = 1 << 3,  ///< On f64.
  kDot = 1 << 4,
  kTranscendental = 1 << 5,
  kPartialWrite = 1 << 6,  ///< Places its result by SDWA or op_sel.
  kDpp = 1 << 7,
  kVmem = 1 << 8,
  kLds = 1 << 9,
  kWideStore = 1 << 10,   ///< Vector memory that reads more than 64 bits of data per lane.
  kReadsLane = 1 << 11,   ///< v_readlane_b32, v_readfirstlane_b32
  kWritesLane = 1 << 12,  ///< v_writelane_b32
  kDivFmas = 1 << 13,
  kFma64 = 1 << 14,
  kSetRegister = 1 << 15,
  kGetRegister = 1 << 16,
  kNeedsM0 = 1 << 17,
  kSalu = 1 << 18,
};

using ScalarMask = std::array<std::uint64_t, 2>;

constexpr bool kTolerated = true;

[[nodiscard]] bool writes_exec(const HazardFacts& f) { return f.scalar_writes[1] >> 62 != 0; }

// ---- Facts ------------------------------------------------------------------------------------

[[nodiscard]] std::uint32_t valu_kinds(const Instruction& i, const RegisterUse& use) {
  const Row& row = *i.row;
  std::uint32_t kind = kValu;
  if (row.operation == Operation::dot) kind |= kDot;
  if (row.operation == Operation::transcendental) kind |= kTranscendental;
  if (row.lane == LaneOperation::write)
    kind |= kWritesLane;
  else if (is_lane_move(row))
    kind |= kReadsLane;
  if (has_fourth_source(row)) kind |= kDivFmas;
  if (row.operation == Operation::multiply_add && row.number == NumberType::f64) kind |= kFma64;
  if (i.modifiers.form == OperandForm::dpp) kind |= kDpp;
  const bool sdwa_part = i.modifiers.form == OperandForm::sdwa && isa::bits(i.extra, 8, 10) != 6;
  if (use.destination.count != 0 && (sdwa_part || (i.modifiers.op_select & 8) != 0))
    kind |= kPartialWrite;
  return kind;
}

[[nodiscard]] std::uint32_t vmem_kinds(const Instruction& i, const RegisterUse& use) {
  const Row& row = *i.row;
  const bool buffer = row.memory.path == MemoryPath::buffer;
  std::uint32_t kind = kVmem;
  // A buffer store whose soffset is an SGPR takes its data earlier.
  if ((row.is_store || row.is_atomic) && use.sources[1].count > 2 &&
      !(buffer && i.src[2].kind() == Source::kScalar))
    kind |= kWideStore;
  if (buffer ? (i.extra & extra::kToLds) != 0 : row.memory.to_lds) kind |= kNeedsM0;
  return kind;
}

[[nodiscard]] std::uint32_t matrix_kinds(const MfmaShape& shape) {
  if (shape.a == MfmaType::f64) return kMfma | kDgemm;
  return shape.a == MfmaType::f32 ? kMfma : kMfma | kXdl;
}

[[nodiscard]] std::uint32_t kinds_of(const Instruction& i, const RegisterUse& use) {
  switch (i.row->instruction_class) {
    case InstructionClass::valu:
      return valu_kinds(i, use);
    case InstructionClass::mfma:
      return matrix_kinds(*i.row->shape);
    case InstructionClass::vmem:
      return vmem_kinds(i, use);
    case InstructionClass::lds:
      return kLds;
    case InstructionClass::salu:
    case InstructionClass::branch:
      return kSalu | (writes(i.row->hardware) ? kSetRegister : 0u) |
             (reads(i.row->hardware) ? kGetRegister : 0u);
    default:
      return reads(i.row->state.m0) ? kNeedsM0 : 0u;
  }
}

// ---- Comparing two instructions ----------------------------------------------------------------

/// The first row that both ranges have.
[[nodiscard]] std::optional<std::uint16_t> overlap(const RegisterRange& a, const RegisterRange& b) {
  const unsigned first = std::max(a.first, b.first);
  const unsigned end = std::min(a.first + a.count, b.first + b.count);
  if (first >= end) return std::nullopt;
  return static_cast<std::uint16_t>(first);
}
[[nodiscard]] std::optional<std::uint16_t> overlap(const RegisterRange& a,
                                                   const HazardFacts& writer) {
  const auto first = overlap(a, writer.results[0]);
  return first ? first : overlap(a, writer.results[1]);
}
[[nodiscard]] std::optional<std::uint16_t> overlap(const ScalarMask& a, const ScalarMask& b) {
  for (unsigned word = 0; word < 2; ++word)
    if (const std::uint64_t both = a[word] & b[word])
      return static_cast<std::uint16_t>(kFirstScalarRow + 64 * word +
                                        static_cast<unsigned>(__builtin_ctzll(both)));
  return std::nullopt;
}
[[nodiscard]] bool same(const RegisterRange& a, const RegisterRange& b) {
  return a.first == b.first && a.count == b.count;
}

/// Checks one consumer against the instructions issued before it, the latest first.
class Judge {
 public:
  Judge(const Instruction& instruction, const HazardFacts& facts)
      : instruction_(instruction), c_(facts) {}

  void producer(const Instruction& instruction, const HazardFacts& facts, unsigned had) {
    producer_ = &instruction;
    had_ = had;
    if (c_.kind & kMfma) read_by_matrix(facts);
    if (c_.kind & (kValu | kVmem | kLds)) read_of_slow_result(facts);
    if (c_.kind & kValu) overwritten_by_valu(facts);
    if (c_.kind & (kValu | kMfma)) any_valu(facts);
    if (c_.kind & kValu) scalars_of_valu(facts);
    if (c_.kind & kVmem && facts.kind & kValu)
      need(5, overlap(c_.scalar_reads, facts.scalar_writes),
           "a scalar register written by the VALU is read by vector memory");
    wave_state(facts);
  }
  [[nodiscard]] const std::optional<Hazard>& worst() const { return worst_; }

 private:
  void need(unsigned needed, std::optional<std::uint16_t> row, std::string_view rule,
            bool is_tolerated = false) {
    if (!row || needed <= had_) return;
    if (worst_ && (is_tolerated || !worst_->is_tolerated) &&
        (is_tolerated != worst_->is_tolerated || needed - had_ <= worst_->needed - worst_->had))
      return;
    worst_ = Hazard{producer_, needed, had_, *row, rule, is_tolerated};
  }
  /// Matrix instructions finish in order: only the latest of those that write (or read) an
  /// operand's registers counts. True the first time.
  [[nodiscard]] bool latest(std::uint32_t bit) {
    const bool first = (seen_ & bit) == 0;
    seen_ |= bit;
    return first;
  }
  enum Seen : std::uint32_t {
    kMatrixSource = 1,
    kDotSource = 16,
    kMatrixResult = 256,
    kDotResult = 1024,
    kMatrixC = 4096
  };

  void read_by_matrix(const HazardFacts& p) {
    if (p.kind & kValu && writes_exec(p))
      need(4, kFirstScalarRow + kExecIndex, "EXEC written by the VALU before a matrix instruction");
    constexpr std::string_view kRules[] = {
        "a matrix result is read as A or B by another matrix instruction",
        "a matrix result is read as A or B by another matrix instruction",
        "a matrix result is read as C by another matrix instruction",
        "a matrix result is read as sparse indices by another matrix instruction"};
    for (unsigned n = 0; n < 4; ++n) {
      const auto row = overlap(c_.sources[n], p);
      if (!row) continue;
      if (p.kind & kValu && !(p.kind & kDot))
        need(2, row, "a VALU result is read by a matrix instruction");
      if (p.kind & kMfma && latest(kMatrixSource << n))
        need(n == 2 ? matrix_to_c(p) : matrix_to_ab(p), row, kRules[n]);
    }
  }
  [[nodiscard]] unsigned matrix_to_c(const HazardFacts& p) const {
    if (same(p.results[0], c_.sources[2])) {
      const bool both_4x4_f64 =
          p.kind & kDgemm && p.passes == 4 && c_.kind & kDgemm && c_.passes == 4;
      return both_4x4_f64 ? 4 : p.passes == 2 ? 2 : 0;
    }
    const MatrixWaits& w = *p.waits;
    if (p.kind & kDgemm) return c_.kind & kXdl ? 0 : p.passes == 8 ? w.f64_16_to_c : w.f64_4_to_c;
    if (p.kind & kXdl) return p.passes + w.xdl_to_c;
    return c_.kind & kXdl ? 0 : p.passes;
  }
  [[nodiscard]] static unsigned matrix_to_ab(const HazardFacts& p) {
    const MatrixWaits& w = *p.waits;
    if (p.kind & kDgemm) return p.passes == 8 ? w.f64_16_to_ab : w.f64_4_to_ab;
    return p.passes + (p.kind & kXdl ? w.xdl_to_ab : w.sgemm_to_ab);
  }

  /// Matrix and dot-product results read by the VALU, vector memory and LDS.
  void read_of_slow_result(const HazardFacts& p) {
    if (!(p.kind & (kMfma | kDot))) return;
    const bool memory = (c_.kind & kValu) == 0;
    for (unsigned n = 0; n < 4; ++n) {
      const auto row = overlap(c_.sources[n], p);
      if (!row) continue;
      if (p.kind & kMfma && latest(kMatrixSource << n)) {
        const unsigned needed =
            memory && p.kind & kDgemm
                ? (p.passes == 8 ? p.waits->f64_16_to_memory : p.waits->f64_4_to_memory)
                : matrix_to_ab(p);
        need(needed, row,
             memory ? "a matrix result is read by a memory instruction"
                    : "a matrix result is read by the VALU");
      }
      if (p.kind & kDot && latest(kDotSource << n)) {
        const bool accumulates = producer_->row == instruction_.row && n == 2;
        need(accumulates ? 0 : 3, row, "a dot product's result is read");
      }
    }
  }
  /// LLVM also keeps loads from overwriting these registers too early; the guide does not require
  /// it.
  void overwritten_by_valu(const HazardFacts& p) {
    for (unsigned n = 0; n < 2; ++n) {
      const RegisterRange& result = c_.results[n];
      if (result.count == 0) continue;
      if (const auto row = overlap(result, p)) {
        if (p.kind & kMfma && latest(kMatrixResult << n))
          need(matrix_to_ab(p), row, "a matrix result is overwritten by the VALU");
        if (p.kind & kDot && latest(kDotResult << n))
          need(producer_->row == instruction_.row ? 0 : 3, row,
               "a dot product's result is overwritten");
      }
      if (!(p.kind & kXdl)) continue;
      if (const auto row = overlap(result, p.sources[2]); row && latest(kMatrixC << n))
        need(p.passes - 1u, row, "C of a matrix instruction is overwritten by the VALU");
    }
    if (c_.kind & kFma64 && p.kind & kDgemm)
      need(2, kNoHazardRow, "an f64 matrix instruction before v_fma_f64");
  }
  /// Consumers on the VALU, matrix instructions included.
  void any_valu(const HazardFacts& p) {
    for (const RegisterRange& source : c_.sources) {
      const auto row = overlap(source, p);
      if (!row) continue;
      if (p.kind & kTranscendental && !(c_.kind & kTranscendental))
        need(1, row, "a transcendental result is read by another kind of instruction");
      if (p.kind & kPartialWrite)
        need(1, row, "a result that SDWA or op_sel placed in part of a register is read");
      if (!(p.kind & (kValu | kMfma))) continue;
      if (c_.kind & kReadsLane) need(1, row, "a VALU result is read by v_readlane");
      // LLVM waits for any kind of producer here; the guide names the VALU.
      if (c_.kind & kDpp) need(2, row, "a VALU result is read by DPP");
    }
    if (p.kind & kWideStore)
      for (const RegisterRange& result : c_.results)
        need(2, overlap(result, p.sources[1]),
             "data of a store wider than 64 bits is overwritten by the VALU");
  }
  void scalars_of_valu(const HazardFacts& p) {
    if (!(p.kind & kValu)) return;
    need(2, overlap(c_.scalar_reads, p.scalar_writes),
         "a scalar register written by the VALU is read by the VALU");
    need(2, overlap(c_.mask_reads, p.scalar_writes),
         "a mask written by the VALU selects lanes' values", kTolerated);
    need(4, overlap(c_.lane_select, p.scalar_writes),
         "a scalar register written by the VALU selects a lane");
    constexpr ScalarMask kVcc = {0, std::uint64_t{3} << (kVccIndex - 64)};
    if (c_.kind & kDivFmas)
      need(4, overlap(kVcc, p.scalar_writes), "VCC written by the VALU is read by v_div_fmas");
    if (!writes_exec(p)) return;
    constexpr std::uint16_t exec = kFirstScalarRow + kExecIndex;
    if (c_.kind & kDpp) need(5, exec, "EXEC written by the VALU before DPP");
    if (c_.kind & (kReadsLane | kWritesLane))
      need(4, exec, "EXEC written by the VALU before v_readlane or v_writelane");
  }
  void wave_state(const HazardFacts& p) {
    if (c_.kind & (kSetRegister | kGetRegister) && p.kind & kSetRegister &&
        c_.hardware_register == p.hardware_register)
      need(2, kNoHazardRow, "a hardware register is used after s_setreg");
    constexpr ScalarMask kM0 = {0, std::uint64_t{1} << (kM0Index - 64)};
    if (c_.kind & kNeedsM0 && p.kind & kSalu)
      need(1, overlap(kM0, p.scalar_writes),
           "M0 written by the SALU is used by a load to LDS or a message",
           (c_.kind & kVmem) != 0 && kTolerated);
  }

  const Instruction& instruction_;
  const HazardFacts& c_;
  const Instruction* producer_ = nullptr;
  unsigned had_ = 0;
  std::uint32_t seen_ = 0;
  std::optional<Hazard> worst_;
};

[[nodiscard]] std::uint64_t mix(std::uint64_t key, const void* pointer) {
  key ^= reinterpret_cast<std::uintptr_t>(pointer);
  key *= 0x9e37'79b9'7f4a'7c15;
  return key ^ key >> 29;
}

}  // namespace

HazardFacts hazard_facts(const Instruction& i, const RegisterUse& use, const MatrixWaits& waits) {
  HazardFacts facts;
  if (i.row == nullptr) return facts;  // could not be decoded
  const Row& row = *i.row;
  facts.waits = &waits;
  facts.kind = kinds_of(i, use);
  if (row.pause == Pause::turns) facts.wait_states = static_cast<std::uint8_t>((i.extra & 15) + 1);
  if (facts.kind & kMfma) facts.passes = row.passes;
  std::ranges::copy(use.sources, facts.sources);
  facts.results[0] = use.destination;
  if (row.lane == LaneOperation::swap) facts.results[1] = use.sources[0];
  facts.scalar_reads = use.scalar_reads;
  facts.scalar_writes = use.scalar_writes;
  if (facts.kind & (kSetRegister | kGetRegister))
    facts.hardware_register = static_cast<std::uint8_t>(i.extra & 63);
  if (facts.kind & kValu) {
    const auto without = [&](const Source& source, unsigned count) {
      for (unsigned n = source.index(); n < source.index() + count; ++n)
        facts.scalar_reads[n / 64] &= ~(std::uint64_t{1} << n % 64);
    };
    // According to the guide, carry-ins need no wait; LLVM waits for them as for other scalars.
    // Masks that select (v_cndmask_b32) are read in the same way.
    const int last = row.source_count - 1;
    const bool mask = last == 2 && row.sources[2] == OperandType::mask;
    if (mask && i.src[2].kind() == Source::kScalar) {
      const auto before = facts.scalar_reads;
      without(i.src[2], 2);
      if (!row.mask_result)
        for (std::size_t n = 0; n < before.size(); ++n)
          facts.mask_reads[n] = before[n] & ~facts.scalar_reads[n];
    }
    const bool lane_select = row.lane == LaneOperation::read || row.lane == LaneOperation::write;
    if (lane_select && i.src[1].kind() == Source::kScalar) {
      const unsigned index = i.src[1].index();
      facts.lane_select[index / 64] = std::uint64_t{1} << index % 64;
    }
  }
  return facts;
}

std::string register_name(unsigned row, unsigned accum_offset) {
  if (row == kNoHazardRow) return "none";
  if (row < kFirstScalarRow)
    return row < accum_offset ? "v" + std::to_string(row)
                              : "a" + std::to_string(row - accum_offset);
  switch (row - kFirstScalarRow) {
    case kVccIndex:
      return "vcc_lo";
    case kVccIndex + 1:
      return "vcc_hi";
    case kM0Index:
      return "m0";
    case kExecIndex:
      return "exec_lo";
    case kExecIndex + 1:
      return "exec_hi";
    default:
      return "s" + std::to_string(row - kFirstScalarRow);
  }
}

/// The key is made of all jumps currently in the window, so that a short loop soon repeats a key.
void HazardWindow::note_branch(const Instruction& target) {
  branches_[branch_count_++ % kEntries] = {next_, &target, count_};
  key_ = 1;
  for (std::uint64_t n = branch_count_; n > 0 && branch_count_ - n < kEntries; --n) {
    const Branch& branch = branches_[(n - 1) % kEntries];
    if (count_ - branch.at >= kHazardWindow) break;
    key_ = mix(mix(key_, branch.from), branch.to);
  }
}

std::optional<Hazard> HazardWindow::judge(const Instruction& instruction, const HazardFacts& facts,
                                          HazardMemo& memo) {
  // The last jump has left the window since: detected here, off the fast path.
  if (count_ - branches_[(branch_count_ - 1) % kEntries].at >= kHazardWindow) key_ = 0;
  if (is_known(memo)) return std::nullopt;
  Judge judge(instruction, facts);
  unsigned had = 0;
  for (std::uint64_t n = count_; n > 0 && had < kHazardWindow; --n) {
    const Entry& entry = entries_[(n - 1) % kEntries];
    judge.producer(*entry.instruction, *entry.facts, had);
    had += entry.facts->wait_states;
  }
  // Violations are never memoised: each is reported.
  if (!judge.worst()) {
    const std::uint64_t latest = __atomic_load_n(&memo.keys[0], __ATOMIC_RELAXED);
    __atomic_store_n(&memo.keys[1], latest, __ATOMIC_RELAXED);
    __atomic_store_n(&memo.keys[0], key_, __ATOMIC_RELAXED);
  }
  return judge.worst();
}

}  // namespace margay::check
