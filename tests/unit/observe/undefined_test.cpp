// ValueTracker compared with the instructions themselves: every one of the ALUs, of the lane
// exchanges and of the matrix unit runs twice with undefined bits changed. A bit of any register
// that comes out otherwise depends on them, and must be called undefined. Of moves, bitwise
// operations and permutations every bit that is called undefined must differ at least once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "exec/instructions/all_rows.h"
#include "exec/program/bind.h"
#include "exec/state/wave.h"
#include "gpu/gpu.h"
#include "gpu/matrix_shapes.h"
#include "observe/check/values/values.h"

namespace margay::check {
namespace {

constexpr unsigned kRows = 128, kScalars = 24, kFlips = 40;
constexpr unsigned kResult = 64, kScalarResult = 16;

/// Registers: values, or which of their bits are undefined.
struct Registers {
  alignas(64) std::array<std::uint32_t, (kRows + kTemporaryRows) * kWaveLanes> v{};
  std::array<std::uint32_t, kScalarRegisters> s{};
  bool scc = false;
};

const Row& row_named(std::string_view name) {
  return *row_table("", default_gpu().arch())->find(name);
}

/// A tracker whose state is set and read through operations of a kernel.
class Subject {
 public:
  explicit Subject(const Registers& undefined) : tracker_(reporter_, kRows, 0, kRows) {
    tracker_.begin(0, ~0ull);
    Instruction load;
    load.row = &row_named("global_load_dwordx4");
    for (unsigned row = 0; row < kRows; ++row) clear(row);
    for (unsigned row = 0; row < kRows; row += 4) {
      LaneBits bits;
      bits.lanes = ~0ull;
      for (unsigned lane = 0; lane < kWaveLanes; ++lane)
        for (unsigned d = 0; d < 4; ++d)
          std::memcpy(&bits.bytes[lane][4 * d], &undefined.v[(row + d) * kWaveLanes + lane], 4);
      tracker_.loaded(facts(load, row), access(), bits, 0, {.kind = Origin::Kind::lds, .vaddr = 1});
    }
    Instruction scalar_load;
    scalar_load.row = &row_named("s_load_dword");
    for (unsigned n = 0; n < kScalarRegisters; ++n) {
      if (undefined.s[n] == 0) continue;
      std::vector<std::uint8_t> bits(4);
      std::memcpy(bits.data(), &undefined.s[n], 4);
      scalar_load.sdst = static_cast<std::uint16_t>(n);
      tracker_.scalar_loaded(facts(scalar_load, 0), bits, {.kind = Origin::Kind::lds, .vaddr = 1});
    }
  }
  /// SCC becomes undefined by a comparison.
  void scc_from(unsigned index, Wave& wave) {
    Instruction compare;
    compare.row = &row_named("s_bitcmp1_b32");
    compare.execute = compare.row->plain;
    compare.src[0] = Source::scalar(index);
    compare.src[1] = Source::constant();
    follow(compare, wave);
  }

  void follow(const Instruction& i, Wave& wave) { tracker_.follow(InstructionFacts(i, 0), wave); }
  [[nodiscard]] Registers undefined(Wave& wave) {
    Registers out;
    Instruction store;
    store.row = &row_named("global_store_dwordx4");
    for (unsigned row = 0; row < kRows; row += 4) {
      LaneBits bits;
      InstructionFacts f = facts(store, 0);
      f.use.sources[1] = {static_cast<std::uint16_t>(row), 4};
      if (!tracker_.stored_bits(f, 0, access(), bits)) continue;
      for (unsigned lane = 0; lane < kWaveLanes; ++lane)
        for (unsigned d = 0; (bits.lanes >> lane & 1) != 0 && d < 4; ++d)
          std::memcpy(&out.v[(row + d) * kWaveLanes + lane], &bits.bytes[lane][4 * d], 4);
    }
    out.scc = tracker_.scc_undefined();
    // A scalar is inspected in a vector register.
    for (unsigned n = 0; n < kExecIndex; ++n) {
      if (!contains(tracker_.scalar_attention(), n)) continue;
      Instruction move;
      move.row = &row_named("v_mov_b32");
      move.execute = move.row->plain;
      move.src[0] = Source::scalar(n);
      move.dst = 0;
      follow(move, wave);
      LaneBits bits;
      InstructionFacts f = facts(store, 0);
      f.use.sources[1] = {0, 1};
      LaneAccess a = access();
      a.bytes = 4;
      if (tracker_.stored_bits(f, 0, a, bits) && (bits.lanes & wave.exec()) != 0)
        std::memcpy(&out.s[n], bits.bytes[std::countr_zero(wave.exec())].data(), 4);
    }
    return out;
  }

 private:
  static InstructionFacts facts(const Instruction& i, unsigned destination) {
    InstructionFacts f;
    f.instruction = &i;
    f.use.destination = {static_cast<std::uint16_t>(destination), 4};
    return f;
  }
  static LaneAccess access() {
    LaneAccess a;
    a.bytes = 16;
    a.active = ~0ull;
    return a;
  }
  void clear(unsigned row) {
    Instruction zero;
    zero.row = &row_named("v_mov_b32");
    zero.src[0] = Source::constant();
    zero.dst = static_cast<std::uint16_t>(row);
    Wave wave;
    wave.set_exec(~0ull);
    follow(zero, wave);
  }

  Reporter reporter_{1, "kernel"};
  ValueTracker tracker_;
};

using Random = std::mt19937_64;

std::uint32_t random_undefined(Random& random) {
  switch (random() % 8) {
    case 0:
      return ~0u;
    case 1:
      return 0xffu << (8 * (random() % 4));
    case 2:
      return 0xffffu << (16 * (random() % 2));
    case 3:
      return static_cast<std::uint32_t>(random() & random());
    default:
      return 0;
  }
}
std::uint32_t random_value(Random& random) {
  constexpr std::uint32_t kSpecial[] = {0,          1,          2,          0xffffffff, 0x80000000,
                                        0x7fffffff, 0x3f800000, 0x40490fdb, 0x3c003c00, 0x0c0c0c0c};
  switch (random() % 4) {
    case 0:
      return kSpecial[random() % std::size(kSpecial)];
    case 1:
      return static_cast<std::uint32_t>(random() % 40);
    default:
      return static_cast<std::uint32_t>(random());
  }
}

/// One instruction with random operands, or none where the row takes no part.
std::optional<Instruction> random_instruction(const Row& row, Random& random) {
  Instruction i;
  i.row = &row;
  i.execute = row.plain;
  const std::string_view name = row.mnemonic;
  const auto pick = [&](unsigned n, bool vector) {
    const bool pair = is_64_bit(row.sources[n]);
    if (row.sources[n] == OperandType::mask) {
      i.src[n] = Source::scalar(random() % 2 ? kVccIndex : 8);
      return;
    }
    i.constant[n] = random_value(random);
    const auto kind = random() % 8;
    i.src[n] = vector && kind < 6 ? Source::vgpr(static_cast<unsigned>(random() % 4) * 4 + 4 * n)
               : kind < 7         ? Source::scalar(static_cast<unsigned>(random() % 4) * 2)
                                  : Source::constant();
    if (pair && i.src[n].kind() == Source::kScalar && name.starts_with("v_pk_"))
      i.src[n] = Source::vgpr(4 * n);
    if (name.starts_with("v_pk_") && !i.src[n].is_vgpr()) i.src[n] = Source::vgpr(4 * n);
  };
  if (row.instruction_class == InstructionClass::salu) {
    if (name.starts_with("s_movrel") || name.starts_with("s_set") || name.starts_with("s_get") ||
        name.ends_with("exec_b64"))
      return std::nullopt;
    for (unsigned n = 0; n < row.source_count && n < 3; ++n) pick(n, false);
    if (row.result != OperandType::none || name.starts_with("s_cmov") ||
        name.starts_with("s_bitset"))
      i.sdst = kScalarResult;
    if (name == "s_addk_i32" || name == "s_mulk_i32") i.src[0] = Source::scalar(kScalarResult);
    return i;
  }
  if (row.instruction_class != InstructionClass::valu) return std::nullopt;
  for (unsigned n = 0; n < row.source_count && n < 3; ++n)
    pick(n, row.lane == LaneOperation::none || n == 0);
  if (row.scalar_result || row.mask_result) i.sdst = kScalarResult;
  if (!row.scalar_result && row.result != OperandType::mask && row.result != OperandType::none)
    i.dst = kResult;
  if (row.writes_exec) return std::nullopt;
  if (row.accumulates || row.keeps_rest) i.src[row.source_count - 1] = Source::vgpr(kResult);
  if (name == "v_writelane_b32") {
    i.src[0] = Source::scalar(2);
    i.src[1] = Source::constant();
  }
  if (name == "v_swap_b32" || name.starts_with("v_accvgpr")) i.src[0] = Source::vgpr(4);
  if (name == "v_readfirstlane_b32" || name == "v_readlane_b32") i.src[0] = Source::vgpr(4);
  if (name.starts_with("v_pk_") || name.starts_with("v_fma_mix") || name.starts_with("v_dot")) {
    if (name != "v_pk_fmac_f16" && !name.ends_with("c_f32_f16") && !name.starts_with("v_dot"))
      i.extra = static_cast<std::uint32_t>(random() & 0x3f);
    else
      i.extra = 7u << 3;
    return i;
  }
  // SDWA and DPP: of instructions that are of VOP1, VOP2 or VOPC, more or less.
  const bool short_form = row.source_count <= 2 && row.lane == LaneOperation::none &&
                          register_count(row.result) == 1 && !is_64_bit(row.sources[0]) &&
                          !is_64_bit(row.sources[1]) && row.result != OperandType::none;
  if (short_form && !row.mask_result && random() % 3 == 0) {
    i.src[0] = Source::vgpr(4);
    if (random() % 2 == 0) {
      i.modifiers.form = OperandForm::sdwa;
      i.execute = run_sdwa;
      i.extra = static_cast<std::uint32_t>(random() % 7) << 16 |
                static_cast<std::uint32_t>(random() % 7) << 24 |
                static_cast<std::uint32_t>(random() % 7) << 8 |
                static_cast<std::uint32_t>(random() % 3) << 11 |
                static_cast<std::uint32_t>(random() % 2) << 19 |
                static_cast<std::uint32_t>(random() % 2) << 27;
    } else {
      constexpr unsigned kControls[] = {0x1b,  0xb1,  0x101, 0x111, 0x12f,
                                        0x13c, 0x140, 0x142, 0x152};
      i.modifiers.form = OperandForm::dpp;
      i.execute = run_dpp;
      i.extra = kControls[random() % std::size(kControls)] << 8 |
                static_cast<std::uint32_t>(random() % 2) << 19 |
                (random() % 2 ? 0xff000000u : static_cast<std::uint32_t>(random()) & 0xff000000u);
    }
    return i;
  }
  if (row.takes_halves && row.modified != nullptr && random() % 2 == 0) {
    i.modifiers.op_select = static_cast<std::uint16_t>(random() & 15);
    i.execute = row.modified;
  }
  return i;
}

/// Whether each bit of the result comes from single bits of the operands, so that what is undefined
/// can be known to the bit. By the instruction's name and what the ISA says it does, whatever the
/// tracker takes it for.
bool is_exact(std::string_view mnemonic) {
  constexpr std::string_view kOperations[] = {
      "mov",  "movk", "accvgpr_read", "accvgpr_write", "accvgpr_mov", "not",     "and",
      "nand", "or",   "nor",          "xor",           "xnor",        "andn2",   "orn2",
      "or3",  "sext", "perm",         "bfrev",         "brev",        "pack_lh", "pack_hh"};
  std::string_view operation = mnemonic.substr(2);
  // The types: _b32, _i32_i16, _b32_b16
  for (auto at = operation.rfind('_');
       at != operation.npos && at + 1 < operation.size() &&
       operation.find_first_of("0123456789", at) != operation.npos &&
       std::string_view("biuf").contains(operation[at + 1]);
       at = operation.rfind('_'))
    operation = operation.substr(0, at);
  return std::ranges::find(kOperations, operation) != std::end(kOperations);
}

struct Counts {
  std::uint64_t undefined = 0, changed = 0, instructions = 0;
};

class Judge {
 public:
  explicit Judge(std::uint64_t seed) : random_(seed) { group_.mfma = MfmaMode::fma; }

  Registers values, undefined;
  std::uint64_t exec = ~0ull;

  void fill() {
    for (std::uint32_t& value : values.v) value = random_value(random_);
    for (std::uint32_t& value : values.s) value = random_value(random_);
    undefined = {};
    // Some rows in all lanes, so that whole registers are defined, too.
    for (unsigned row = 0; row < kRows; ++row)
      if (random_() % 2 == 0)
        for (unsigned lane = 0; lane < kWaveLanes; ++lane)
          undefined.v[row * kWaveLanes + lane] = random_undefined(random_);
    for (unsigned n = 0; n < kScalars; ++n) undefined.s[n] = random_undefined(random_);
    undefined.s[kVccIndex] = random_undefined(random_);
    undefined.s[kVccIndex + 1] = random_undefined(random_);
    exec = random_() % 2 ? ~0ull : random_() | 1ull << 5;
    undefined.scc = (undefined.s[kScalars - 1] & 1) != 0;
  }
  void judge(const Instruction& i, bool exact, Counts& counts) {
    Wave wave;
    Registers start = values;
    load(wave, start);
    Subject subject(undefined);
    subject.scc_from(kScalars - 1, wave);
    load(wave, start);
    subject.follow(i, wave);
    ASSERT_EQ(std::memcmp(start.v.data(), values.v.data(), 4 * start.v.size()), 0)
        << i.row->mnemonic << ": following it changed a register";
    Registers base = values;
    ASSERT_NO_FATAL_FAILURE(run(i, base));
    load(wave, base);
    const Registers said = subject.undefined(wave);
    Registers seen;
    for (unsigned flip = 0; flip < kFlips; ++flip) {
      Registers other = values;
      for (std::size_t n = 0; n < std::size_t{kRows} * kWaveLanes; ++n)
        other.v[n] ^= static_cast<std::uint32_t>(random_()) & undefined.v[n];
      for (unsigned n = 0; n < kExecIndex; ++n)
        other.s[n] ^= static_cast<std::uint32_t>(random_()) & undefined.s[n];
      if (undefined.scc) other.scc = random_() % 2;
      ASSERT_NO_FATAL_FAILURE(run(i, other));
      for (std::size_t n = 0; n < std::size_t{kRows} * kWaveLanes; ++n)
        seen.v[n] |= other.v[n] ^ base.v[n];
      for (unsigned n = 0; n < kExecIndex; ++n) seen.s[n] |= other.s[n] ^ base.s[n];
      seen.scc |= other.scc != base.scc;
    }
    compare(i, exact, said, seen, counts);
  }

  Random random_;

 private:
  void load(Wave& wave, Registers& registers) {
    wave.v = registers.v.data();
    std::memcpy(wave.s, registers.s.data(), sizeof registers.s);
    wave.scc = registers.scc;
    wave.vgpr_rows = kRows;
    wave.group = &group_;
    wave.set_exec(exec);
  }
  void run(const Instruction& i, Registers& registers) {
    Wave wave;
    load(wave, registers);
    ASSERT_NE(i.execute(wave, i), nullptr) << i.row->mnemonic;
    std::memcpy(registers.s.data(), wave.s, sizeof registers.s);
    registers.scc = wave.scc;
  }
  void compare(const Instruction& i, bool exact, const Registers& said, const Registers& seen,
               Counts& counts) {
    ++counts.instructions;
    const auto where = [&](std::size_t n, std::string_view what) {
      return fmt::format(
          "{} form {} extra {:#x} op_sel {:#x} {} {} lane {}: said {:#x}, changed {:#x}; sources "
          "{:#x} {:#x} {:#x}, exec {:#x}",
          i.row->mnemonic, static_cast<int>(i.modifiers.form), i.extra,
          static_cast<unsigned>(i.modifiers.op_select), what, n / kWaveLanes, n % kWaveLanes,
          said.v[n], seen.v[n], i.src[0].bits, i.src[1].bits, i.src[2].bits, exec);
    };
    for (std::size_t n = kWaveLanes; n < std::size_t{kRows} * kWaveLanes; ++n) {
      counts.undefined += static_cast<unsigned>(std::popcount(said.v[n]));
      counts.changed += static_cast<unsigned>(std::popcount(seen.v[n]));
      ASSERT_EQ(seen.v[n] & ~said.v[n], 0u) << "missed: " << where(n, "row");
      if (exact) ASSERT_EQ(said.v[n], seen.v[n]) << "false: " << where(n, "row");
    }
    for (unsigned n = 0; n < kExecIndex; ++n) {
      ASSERT_EQ(seen.s[n] & ~said.s[n], 0u) << fmt::format(
          "missed: {} s{}: said {:#x}, changed {:#x}", i.row->mnemonic, n, said.s[n], seen.s[n]);
      if (exact) ASSERT_EQ(said.s[n], seen.s[n]) << "false: " << i.row->mnemonic << " s" << n;
    }
    ASSERT_LE(seen.scc, said.scc) << "missed: SCC of " << i.row->mnemonic;
  }

  WorkgroupState group_;
};

std::vector<const Row*> rows_of(InstructionClass wanted) {
  std::map<std::string_view, const Row*> sorted;
  row_table("", default_gpu().arch())->for_each([&](const Row& row) {
    if (row.instruction_class == wanted && row.plain != nullptr) sorted[row.mnemonic] = &row;
  });
  std::vector<const Row*> out;
  for (const auto& [name, row] : sorted) out.push_back(row);
  return out;
}

void judge_alu(InstructionClass kind, unsigned rounds, std::size_t fewest) {
  std::size_t judged = 0;
  unsigned failed = 0;
  for (const Row* const row : rows_of(kind)) {
    Judge judge(0x5eed + judged);
    Counts counts;
    for (unsigned n = 0; n < rounds; ++n) {
      const auto i = random_instruction(*row, judge.random_);
      if (!i) break;
      judge.fill();
      // What an undefined selector chooses may be alike.
      if (row->mnemonic == "v_perm_b32") {
        if (i->src[2].is_vgpr())
          std::fill_n(&judge.undefined.v[i->src[2].index() * kWaveLanes], kWaveLanes, 0);
        else
          judge.undefined.s = {};
        judge.undefined.scc = false;
      }
      // x & ~x is 0 for any x.
      const bool twice = i->src[0].bits == i->src[1].bits || i->src[0].bits == i->src[2].bits ||
                         i->src[1].bits == i->src[2].bits;
      judge.judge(*i, is_exact(row->mnemonic) && (row->source_count < 2 || !twice), counts);
      if (testing::Test::HasFatalFailure() && ++failed > 30) return;
    }
    judged += counts.instructions != 0;
  }
  EXPECT_GE(judged, fewest);
}

TEST(Undefined, VectorInstructionsAreFollowed) { judge_alu(InstructionClass::valu, 6, 380); }
TEST(Undefined, ScalarInstructionsAreFollowed) { judge_alu(InstructionClass::salu, 24, 100); }

TEST(Undefined, LaneExchangesAreFollowed) {
  for (const char* name : {"ds_bpermute_b32", "ds_permute_b32", "ds_swizzle_b32"}) {
    Judge judge(77);
    Counts counts;
    for (unsigned round = 0; round < 20; ++round) {
      judge.fill();
      Instruction i;
      i.row = &row_named(name);
      i.execute = i.row->plain;
      i.src[0] = Source::vgpr(4);
      i.src[1] = Source::vgpr(8);
      i.dst = kResult;
      i.offset = static_cast<std::int32_t>(
          std::string_view(name) == "ds_swizzle_b32" ? judge.random_() & 0xffff : 4);
      // Half of the time every lane's index is defined.
      if (round % 2 == 0)
        for (unsigned lane = 0; lane < kWaveLanes; ++lane)
          judge.undefined.v[4 * kWaveLanes + lane] = 0;
      ASSERT_NO_FATAL_FAILURE(judge.judge(i, round % 2 == 0, counts));
    }
    EXPECT_GT(counts.changed, 0u) << name;
  }
}

// A product with 0, and a sum that rounds what changed away, hide a dependence: so only what
// changes must be undefined, and that few elements too many are is held by values.kernels.
TEST(Undefined, MatrixInstructionsAreFollowed) {
  std::size_t judged = 0;
  for (const Row* const row : rows_of(InstructionClass::mfma)) {
    Judge judge(1000 + judged);
    Counts counts;
    for (unsigned round = 0; round < 2; ++round) {
      judge.fill();
      judge.exec = ~0ull;
      Instruction i;
      i.row = row;
      i.execute = row->plain;
      i.src[0] = Source::vgpr(4);
      i.src[1] = Source::vgpr(16);
      i.src[2] = Source::vgpr(row->shape->sparse ? 24u : 32u);
      i.dst = kResult;
      // A few undefined elements alone.
      judge.undefined = {};
      const bool in_a = round == 0;
      const unsigned lane = static_cast<unsigned>(judge.random_() % 64);
      judge.undefined.v[(in_a ? 4u : 16u) * kWaveLanes + lane] = ~0u;
      judge.undefined.v[(row->shape->sparse ? kResult : 32u) * kWaveLanes + 7] = ~0u;
      for (unsigned n = 0; row->shape->sparse && n < kWaveLanes; ++n)
        judge.values.v[24 * kWaveLanes + n] = 0x44444444;
      ASSERT_NO_FATAL_FAILURE(judge.judge(i, false, counts));
    }
    EXPECT_GT(counts.changed, 0u) << row->mnemonic;
    EXPECT_LT(counts.undefined, 32u * 64 * 32)
        << row->mnemonic << ": everything is called undefined";
    ++judged;
  }
  EXPECT_GE(judged, 50u);
}

}  // namespace
}  // namespace margay::check
