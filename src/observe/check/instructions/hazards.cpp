// Wait states are counted as in LLVM: every instruction is one, s_nop n is n + 1, and the
// instructions between producer and consumer count.
#include "observe/check/instructions/hazards.h"

#include <algorithm>
#include <span>

#include "exec/program/bind.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"
#include "exec/state/wave.h"
#include "gpu/matrix_shapes.h"
#include "isa/encoding.h"

namespace margay::check {
namespace {

using namespace wait_states;
using ScalarMask = std::array<std::uint64_t, 2>;

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
  if (buffer ? (i.extra & extra::kToLds) != 0 : row.memory.to_lds) kind |= kLoadToLds;
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
      return reads(i.row->state.m0) ? kMessage : 0u;
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

/// Whether a taken branch leads from `branch` to `target` over an s_branch that is its other way.
/// GCNHazardRecognizer (LLVM 19 to 22) looks from a block back into the whole of the one before it:
/// it counts that s_branch, which does not run, and pads one wait state too few.
[[nodiscard]] bool skips_branch(const Instruction& branch, const Instruction& target) {
  const Instruction* const next = &branch + 1;  // the sentinel is behind a program's last
  return &target != next && branch.row != nullptr && branch.row->flow == Flow::branch_if &&
         next->row != nullptr && next->row->flow == Flow::branch;
}

/// Checks one consumer against the instructions issued before it, the latest first.
class Judge {
 public:
  Judge(const Rules& rules, const Instruction& instruction, const HazardFacts& facts)
      : rules_(rules.rules), instruction_(instruction), c_(facts) {}

  /// `counted`: wait states as LLVM counts them; at least `had`.
  void producer(const Instruction& instruction, const HazardFacts& facts, unsigned had,
                unsigned counted) {
    producer_ = &instruction;
    p_ = &facts;
    had_ = had;
    counted_ = counted;
    for (std::size_t first = 0, end = 0; first < rules_.size(); first = end) {
      while (end < rules_.size() && rules_[end].hazard == rules_[first].hazard) ++end;
      const std::span<const Rule> alternatives = rules_.subspan(first, end - first);
      if (std::ranges::none_of(alternatives, [&](const Rule& rule) { return applies(rule); }))
        continue;
      // Registers by position: a link to no VGPR has one.
      for (unsigned n = 0; n < std::size(c_.sources); ++n) apply(alternatives, n);
    }
  }
  [[nodiscard]] const std::optional<Hazard>& worst() const { return worst_; }

 private:
  void apply(std::span<const Rule> alternatives, unsigned n) {
    for (const Rule& rule : alternatives) {
      if (!applies(rule)) continue;
      const auto row = linked(rule, n);
      if (!row) continue;
      const auto index = static_cast<std::size_t>(rule.hazard);
      if (rule.latest_only && (seen_[index] >> n & 1) != 0) return;
      seen_[index] |= static_cast<std::uint8_t>(1u << n);
      need(rule, rule.states + (rule.plus_passes ? p_->passes : 0), *row);
      return;
    }
  }
  [[nodiscard]] bool applies(const Rule& rule) const {
    return (rule.producer & p_->kind) != 0 && (rule.consumer & c_.kind) != 0 &&
           (rule.except_producer & p_->kind) == 0 && (rule.except_consumer & c_.kind) == 0 &&
           (rule.producer_passes == 0 || rule.producer_passes == p_->passes) &&
           (rule.consumer_passes == 0 || rule.consumer_passes == c_.passes) &&
           (!rule.same_row || producer_->row == instruction_.row);
  }

  /// The register by which the two are linked, the `n`th of its kind.
  [[nodiscard]] std::optional<std::uint16_t> linked(const Rule& rule, unsigned n) const {
    constexpr std::uint16_t kExec = kFirstScalarRow + kExecIndex;
    constexpr ScalarMask kVcc = {0, std::uint64_t{3} << (kVccIndex - 64)};
    constexpr ScalarMask kM0 = {0, std::uint64_t{1} << (kM0Index - 64)};
    switch (rule.link) {
      case Link::source:
        return (rule.sources >> n & 1) != 0 ? overlap(c_.sources[n], *p_) : std::nullopt;
      case Link::same_c:
        return n == 2 && same(p_->results[0], c_.sources[2]) ? overlap(c_.sources[2], *p_)
                                                             : std::nullopt;
      case Link::result:
        return n < 2 ? overlap(c_.results[n], *p_) : std::nullopt;
      case Link::c:
        return n < 2 ? overlap(c_.results[n], p_->sources[2]) : std::nullopt;
      case Link::store_data:
        return n < 2 ? overlap(c_.results[n], p_->sources[1]) : std::nullopt;
      default:
        break;
    }
    if (n != 0) return std::nullopt;
    switch (rule.link) {
      case Link::scalar:
        return overlap(c_.scalar_reads, p_->scalar_writes);
      case Link::selecting_mask:
        return overlap(c_.mask_reads, p_->scalar_writes);
      case Link::lane_number:
        return overlap(c_.lane_select, p_->scalar_writes);
      case Link::vcc:
        return overlap(kVcc, p_->scalar_writes);
      case Link::exec:
        return p_->scalar_writes[1] >> 62 != 0 ? std::optional(kExec) : std::nullopt;
      case Link::m0:
        return overlap(kM0, p_->scalar_writes);
      case Link::hardware_register:
        return c_.hardware_register == p_->hardware_register ? std::optional(kNoHazardRow)
                                                             : std::nullopt;
      default:
        return kNoHazardRow;
    }
  }

  void need(const Rule& rule, int states, std::uint16_t row) {
    if (states <= static_cast<int>(had_)) return;
    const auto needed = static_cast<unsigned>(states);
    const Hazard found{producer_,         needed, had_, row, rule.hazard, rule.is_tolerated,
                       needed <= counted_};
    if (worst_ && (found.is_note() || !worst_->is_note()) &&
        (found.is_note() != worst_->is_note() || needed - had_ <= worst_->needed - worst_->had))
      return;
    worst_ = found;
  }

  const std::span<const Rule> rules_;
  const Instruction& instruction_;
  const HazardFacts& c_;
  const Instruction* producer_ = nullptr;
  const HazardFacts* p_ = nullptr;
  unsigned had_ = 0, counted_ = 0;
  std::array<std::uint8_t, kHazards> seen_{};  // by hazard: registers, by position
  std::optional<Hazard> worst_;
};

[[nodiscard]] std::uint64_t mix(std::uint64_t key, const void* pointer) {
  key ^= reinterpret_cast<std::uintptr_t>(pointer);
  key *= 0x9e37'79b9'7f4a'7c15;
  return key ^ key >> 29;
}

}  // namespace

HazardFacts hazard_facts(const Instruction& i, const RegisterUse& use) {
  HazardFacts facts;
  if (i.row == nullptr) return facts;  // could not be decoded
  const Row& row = *i.row;
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
    if (count_ - branch.at >= reach()) break;
    key_ = mix(mix(key_, branch.from), branch.to);
  }
}

std::optional<Hazard> HazardWindow::judge(const Instruction& instruction, const HazardFacts& facts,
                                          HazardMemo& memo) {
  // The last jump has left the window since: detected here, off the fast path.
  if (count_ - branches_[(branch_count_ - 1) % kEntries].at >= reach()) key_ = 0;
  if (is_known(memo)) return std::nullopt;
  const std::uint64_t path = mix(key_, &instruction);
  if (checked_->contain(path)) return std::nullopt;
  Judge judge(*rules_, instruction, facts);
  unsigned had = 0, skipped = 0;
  const Instruction* following = &instruction;
  for (std::uint64_t n = count_; n > 0 && had < reach(); --n) {
    const Entry& entry = entries_[(n - 1) % kEntries];
    if (skips_branch(*entry.instruction, *following)) ++skipped;
    judge.producer(*entry.instruction, *entry.facts, had, had + skipped);
    had += entry.facts->wait_states;
    following = entry.instruction;
  }
  // Violations are never memoised: each is reported.
  if (!judge.worst()) {
    const std::uint64_t latest = __atomic_load_n(&memo.keys[0], __ATOMIC_RELAXED);
    __atomic_store_n(&memo.keys[1], latest, __ATOMIC_RELAXED);
    __atomic_store_n(&memo.keys[0], key_, __ATOMIC_RELAXED);
    checked_->add(path);
  }
  return judge.worst();
}

}  // namespace margay::check
