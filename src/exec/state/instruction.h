// The executor's form of an instruction: decoded once per kernel, 64 bytes, run many times.
#pragma once

#include <cstdint>

#include "isa/traits.h"

namespace margay {

struct Wave;
struct Instruction;
struct Row;

/// Runs one instruction and returns the next one, or null when the wave stops (see Wave::stop).
using Handler = const Instruction* (*)(Wave&, const Instruction&);

/// The location of a source value. VGPRs are rows of the wave's unified file (AccVGPRs are already
/// offset by the kernel's accum_offset); scalars are indices into Wave::s; constants are in the
/// instruction.
struct Source {
  std::uint16_t bits = kNone;
  static constexpr std::uint16_t kVgpr = 0x0000, kScalar = 0x4000, kConstant = 0x8000,
                                 kNone = 0xc000;
  static constexpr Source vgpr(unsigned row) { return {static_cast<std::uint16_t>(row)}; }
  static constexpr Source scalar(unsigned index) {
    return {static_cast<std::uint16_t>(kScalar | index)};
  }
  static constexpr Source constant() { return {kConstant}; }
  [[nodiscard]] constexpr std::uint16_t kind() const { return bits & 0xc000; }
  [[nodiscard]] constexpr unsigned index() const { return bits & 0x3fff; }
  [[nodiscard]] constexpr bool is_vgpr() const { return kind() == kVgpr; }
};

inline constexpr std::uint16_t kNoRegister = 0xffff;

/// How a vector instruction obtains its operands.
enum class OperandForm : std::uint8_t { plain, sdwa, dpp, indexed };

/// Input and output modifiers of VOP3 (and of SDWA and DPP, in the same places).
struct Modifiers {
  std::uint16_t negate : 3 = 0;  ///< Bit n: source n.
  std::uint16_t absolute : 3 = 0;
  std::uint16_t op_select : 4 = 0;  ///< Upper half of source 0, 1, 2, destination (16-bit types).
  std::uint16_t output : 2 = 0;     ///< 1: times 2, 2: times 4, 3: divided by 2.
  std::uint16_t clamp : 1 = 0;
  OperandForm form : 2 = OperandForm::plain;
  [[nodiscard]] bool any() const { return negate || absolute || op_select || output || clamp; }
};

struct alignas(64) Instruction {
  Handler execute = nullptr;
  const Row* row = nullptr;          ///< Its mnemonic, types and class.
  std::uint64_t constant[3] = {};    ///< Constant sources, at the width of their operand.
  std::uint32_t vaddr = 0;           ///< Address in the code object's image.
  std::int32_t offset = 0;           ///< Memory: byte offset. Branch: target, in instructions.
  std::uint32_t extra = 0;           ///< Format-specific bits; see bind.cpp.
  std::uint16_t dst = kNoRegister;   ///< Destination row, or scalar index for scalar formats.
  std::uint16_t sdst = kNoRegister;  ///< Scalar index of a lane-mask or SGPR result.
  Source src[3];
  Modifiers modifiers;
};
static_assert(sizeof(Instruction) == 64, "one cache line per instruction");

}  // namespace margay
