// The rules compared with LLVM's hazard recognizer, on random sequences (sequences.py): what it put
// out is silent here, and with one of its wait states less the instruction behind is reported.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "exec/program/bind.h"
#include "exec/rows/row_table.h"
#include "exec/state/wave.h"
#include "gpu/gfx942/gfx942.h"
#include "listing.h"
#include "report/check/hazard_text.h"

namespace margay::check::hazard_test {
namespace {

bool is_nop(const Listing& listing, std::size_t n) {
  return listing.instructions[n].row->mnemonic == "s_nop";
}

/// The sequences, each without its s_endpgm.
const std::vector<Listing>& sequences() {
  static const std::vector<Listing> result = [] {
    const auto decoder = isa::Decoder::create(kGfx942);
    EXPECT_TRUE(decoder);
    const Listing all = decode(**decoder, read_file(MARGAY_HAZARD_SEQUENCES));
    std::vector<Listing> out(1);
    for (std::size_t n = 0; n < all.size(); ++n) {
      EXPECT_NE(all.instructions[n].row, nullptr) << all.text[n];
      if (all.text[n] == "s_endpgm")
        out.emplace_back();
      else
        out.back().add(all, n);
    }
    // In front of the first block LLVM puts 256 bytes of s_nop, to preload kernel arguments.
    out.front() = Listing();
    return out;
  }();
  return result;
}

std::string text_of(const Listing& listing) {
  std::string out;
  for (const std::string& line : listing.text) out += "\n  " + line;
  return out;
}

TEST(HazardsAgainstLlvm, ItsOutputIsSilent) {
  std::size_t instructions = 0;
  int shown = 0;
  for (const Listing& sequence : sequences()) {
    CheckedPaths checked;
    HazardWindow window(kGfx942.wait_rules, checked);
    for (std::size_t n = 0; n < sequence.size(); ++n) {
      HazardMemo memo;
      const auto found = window.step(sequence.instructions[n], sequence.facts[n], memo);
      if (found && shown++ < 10)
        ADD_FAILURE() << sequence.text[n] << ": " << hazard_text(found->hazard) << ", "
                      << found->needed << " needed, " << found->had
                      << " there:" << text_of(sequence);
      ++instructions;
    }
  }
  EXPECT_GT(instructions, 20000u);
}

// ---- One wait state less ------------------------------------------------------------------------

/// What LLVM waits for and the rules do not, with the reason.
enum class Excuse : std::uint8_t {
  none,
  load_over_slow_result,  ///< Loads that overwrite a matrix or dot result, or a matrix C: the
                          ///< guide's table has the VALU only.
  exec_before_memory,     ///< EXEC written by the VALU, then vector memory: not in the guide.
  carry_in,               ///< The guide says that a carry-in needs none.
  load_to_lds_as_valu,    ///< LLVM holds loads to LDS for VALU instructions.
  packed_as_partial,      ///< LLVM takes op_sel_hi of VOP3P for the destination's op_sel.
  overwrites_part,        ///< Not read but overwritten: the guide names reads only.
  dpp_after_load,         ///< The guide names the VALU; a load's s_waitcnt is missing anyway.
  old_value_kept,         ///< What v_writelane_b32 and DPP leave as it was counts as read to LLVM.
};

template <std::size_t words>
bool meet(const std::array<std::uint64_t, words>& a, const std::array<std::uint64_t, words>& b) {
  for (std::size_t word = 0; word < words; ++word)
    if (a[word] & b[word]) return true;
  return false;
}

/// What a matrix instruction or a dot product holds on to: its result, and C.
VgprMask slow_rows(const Instruction& i, const RegisterUse& use) {
  VgprMask rows{};
  const bool matrix = i.row->instruction_class == InstructionClass::mfma;
  if (!matrix && !i.row->mnemonic.starts_with("v_dot")) return rows;
  rows = use.writes;
  const RegisterRange c = use.sources[2];
  for (unsigned row = c.first; matrix && row < c.first + c.count; ++row)
    rows[row / 64] |= 1ull << row % 64;
  return rows;
}

/// Whether the result goes to a part of a register that SDWA or op_sel names.
bool places_part(const Instruction& i) {
  if (i.row->instruction_class != InstructionClass::valu) return false;
  return i.modifiers.form == OperandForm::sdwa ? isa::bits(i.extra, 8, 10) != 6
                                               : (i.modifiers.op_select & 8) != 0;
}

Excuse excuse_for_pair(const Instruction& producer, const Instruction& consumer, unsigned had) {
  const RegisterUse made = register_use(producer), use = register_use(consumer);
  const std::string_view name = producer.row->mnemonic;
  const InstructionClass kind = consumer.row->instruction_class;
  const bool valu = producer.row->instruction_class == InstructionClass::valu;
  const bool vmem = kind == InstructionClass::vmem;
  const bool to_lds = vmem && consumer.row->is_load && use.destination.count == 0;
  if ((vmem || kind == InstructionClass::lds) && meet(use.writes, slow_rows(producer, made)))
    return Excuse::load_over_slow_result;
  if (vmem && valu && had < 5 && contains(made.scalar_writes, kExecIndex))
    return Excuse::exec_before_memory;
  if (consumer.row->mnemonic.starts_with("v_addc") && valu && had < 2 &&
      meet(made.scalar_writes, use.scalar_reads))
    return Excuse::carry_in;
  const bool adjacent_result = had == 0 && meet(made.writes, use.reads);
  if (adjacent_result && to_lds && valu) return Excuse::load_to_lds_as_valu;
  const bool packed = name.starts_with("v_pk_");
  if (adjacent_result && packed) return Excuse::packed_as_partial;
  // LLVM 22 waits so that an instruction that keeps the rest of a register computes its check bits
  // from all of it, and waits for the others as well (consumesDstSelForwardingOperand). What clang
  // 19 compiles has no such wait.
  if (had == 0 && (packed || places_part(producer)) && meet(made.writes, use.writes))
    return Excuse::overwrites_part;
  if (consumer.execute == run_dpp && !valu && had < 2 && meet(made.writes, use.reads))
    return Excuse::dpp_after_load;
  if (use.merges_destination && had < 2 && meet(made.writes, use.writes))
    return Excuse::old_value_kept;
  return Excuse::none;
}

/// Why LLVM's wait before the last instruction of `listing` is not one of ours; independent of the
/// rules' own code.
Excuse excuse_for(const Listing& listing) {
  const std::size_t last = listing.size() - 1;
  unsigned had = 0;
  for (std::size_t n = last; n-- > 0;) {
    const Excuse excuse = excuse_for_pair(listing.instructions[n], listing.instructions[last], had);
    if (excuse != Excuse::none) return excuse;
    had += listing.facts[n].wait_states;
  }
  return Excuse::none;
}

TEST(HazardsAgainstLlvm, OneWaitStateLessIsReported) {
  const auto decoder = isa::Decoder::create(kGfx942);
  std::map<std::string_view, int> reported;
  std::map<Excuse, int> excused;
  int shown = 0, removed = 0;
  for (const Listing& sequence : sequences()) {
    Listing so_far;
    for (std::size_t n = 0; n < sequence.size(); ++n) {
      unsigned inserted = 0;
      for (; n < sequence.size() && is_nop(sequence, n); ++n)
        inserted += sequence.facts[n].wait_states;
      if (n == sequence.size()) break;
      if (inserted != 0) {
        Listing shorter = so_far;
        add_wait_states(**decoder, shorter, inserted - 1);
        shorter.add(sequence, n);
        ++removed;
        if (const auto found = run_straight(shorter)) {
          ++reported[hazard_text(found->hazard)];
          EXPECT_EQ(found->needed - found->had, 1u)
              << hazard_text(found->hazard) << text_of(shorter);
        } else if (const Excuse excuse = excuse_for(shorter); excuse != Excuse::none) {
          ++excused[excuse];
        } else if (shown++ < 10) {
          ADD_FAILURE() << "one wait state less is not reported:" << text_of(shorter);
        }
      }
      add_wait_states(**decoder, so_far, inserted);
      so_far.add(sequence, n);
    }
  }
  std::string counts;
  for (const auto& [rule, count] : reported) counts += fmt::format("{:6} {}\n", count, rule);
  for (const auto& [excuse, count] : excused)
    counts += fmt::format("{:6} not reported, excuse {}\n", count, static_cast<int>(excuse));
  EXPECT_EQ(shown, 0) << counts;
  RecordProperty("counts", counts);
  EXPECT_GT(removed, 2000) << counts;
  EXPECT_GE(reported.size(), 20u) << counts;
}

}  // namespace
}  // namespace margay::check::hazard_test
