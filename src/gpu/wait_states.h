// Software wait states, as data: the pairs of instructions of a processor between which a program
// must place independent instructions or s_nop, because the hardware does not interlock them. Each
// processor has its list of rules; observe/check/instructions/hazards.cpp applies it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace margay::wait_states {

/// The kinds of instructions that rules tell apart: bits; an instruction may have several.
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
  kLoadToLds = 1 << 17,  ///< Its address in LDS is from M0.
  kMessage = 1 << 18,    ///< Sends what is in M0.
  kSalu = 1 << 19,
};

/// What goes wrong without the wait states. The words are report/check/wait_text.h's.
enum class Hazard : std::uint8_t {
  exec_before_matrix,
  valu_to_matrix,
  matrix_to_ab,
  matrix_to_c,
  matrix_to_indices,
  matrix_to_memory,
  matrix_to_valu,
  dot_result_read,
  matrix_result_overwritten,
  dot_result_overwritten,
  matrix_c_overwritten,
  f64_matrix_before_fma,
  transcendental_to_other,
  part_result_read,
  valu_to_readlane,
  valu_to_dpp,
  store_data_overwritten,
  valu_scalar_to_valu,
  valu_mask_selects,
  valu_scalar_selects_lane,
  vcc_to_div_fmas,
  exec_before_dpp,
  exec_before_lane_move,
  valu_scalar_to_memory,
  hardware_register_set,
  m0_to_load,
  m0_to_message,
};
inline constexpr std::size_t kHazards = 27;

/// How the consumer must depend on the producer.
enum class Link : std::uint8_t {
  none,               ///< In no way: the two kinds are enough.
  source,             ///< It reads a VGPR that the producer writes, as one of Rule::sources.
  same_c,             ///< Its C is the producer's result, neither more nor less.
  result,             ///< It writes a VGPR that the producer writes,
  c,                  ///< or that the producer reads as C,
  store_data,         ///< or stores.
  scalar,             ///< It reads a scalar register that the producer writes,
  selecting_mask,     ///< as a mask that selects lanes' values (v_cndmask_b32),
  lane_number,        ///< or as the number of a lane.
  vcc,                ///< The producer writes VCC,
  exec,               ///< EXEC,
  m0,                 ///< or M0.
  hardware_register,  ///< Both access the same one.
};

/// VGPR sources by position: of matrix instructions A, B, C and sparse indices.
inline constexpr std::uint8_t kSourceA = 1, kSourceB = 2, kSourceC = 4, kSourceIndices = 8,
                              kAnySource = 15;

/// The rules for one hazard are adjacent, and alternatives: for each register the first that holds
/// decides.
struct Rule {
  Hazard hazard{};
  std::uint32_t producer = 0, consumer = 0;                ///< Each is of one of these kinds,
  std::uint32_t except_producer = 0, except_consumer = 0;  ///< and of none of these.
  std::uint8_t producer_passes = 0, consumer_passes = 0;   ///< Matrix; 0: any number.
  Link link = Link::none;
  std::uint8_t sources = kAnySource;
  bool same_row = false;     ///< Both are the same instruction with other operands.
  bool plus_passes = false;  ///< The producer's passes in addition to `states`.
  std::int8_t states = 0;    ///< Wait states that are needed; 0: the hardware interlocks.
  /// Producers of these kinds finish in order: only the latest that the register depends on counts.
  bool latest_only = false;
  /// LLVM pads it, or would; shipped kernels omit it and are correct on the hardware.
  bool is_tolerated = false;
};

struct Rules {
  std::span<const Rule> rules;
  unsigned longest = 0;  ///< The most wait states that any rule requires.

  constexpr Rules() = default;
  /// `most_passes`: of the processor's matrix instructions.
  constexpr Rules(std::span<const Rule> all, unsigned most_passes) : rules(all) {
    for (const Rule& rule : all)
      longest = std::max(longest,
                         static_cast<unsigned>(rule.states + (rule.plus_passes ? most_passes : 0)));
  }
};

}  // namespace margay::wait_states
