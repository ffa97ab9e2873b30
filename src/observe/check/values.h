// Follows values that nobody ever wrote: from registers, LDS and global memory through registers,
// scratch and matrix instructions to where they matter. Copying such a value is no mistake
// (compilers do it); storing it to global memory, using it as an address, or steering by it is.
//
// One bit per lane and register: a partly written register counts as written. Results of
// instructions that exchange lanes count as written.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "exec/lane_access.h"
#include "exec/wave.h"
#include "observe/check/facts.h"
#include "observe/check/reporter.h"

namespace margay::check {

/// Where a value that nobody wrote comes from.
struct Origin {
  enum class Kind : std::uint8_t { reg, lds, global };
  Kind kind = Kind::reg;
  std::uint8_t lane = 0;
  std::uint32_t vaddr = 0;    ///< The load; registers: none.
  std::uint64_t address = 0;  ///< LDS byte or device address.
  std::uint16_t row = 0;      ///< Of a register.
};

class ValueTracker {
 public:
  ValueTracker(Reporter& reporter, std::uint32_t rows, std::uint32_t scratch_bytes_per_lane,
               std::uint32_t accum_offset);

  void begin(std::uint32_t wave, std::uint64_t lanes);

  /// Rows that hold values nobody wrote.
  [[nodiscard]] const VgprMask& attention() const { return attention_; }
  /// Scalar registers that hold lane masks which such values decided.
  [[nodiscard]] const std::array<std::uint64_t, 2>& scalar_attention() const {
    return scalar_attention_;
  }

  /// An instruction that touches such rows, before it runs.
  void follow(const InstructionFacts& facts, const Wave& wave);
  /// A load, which has been followed, gets values that nobody wrote in these lanes, per register.
  void loaded(const InstructionFacts& facts, const std::array<std::uint64_t, 4>& unwritten,
              const Origin& origin);
  /// Lanes whose data operand (0 or 1) for dword `dword` nobody wrote.
  [[nodiscard]] std::uint64_t unwritten_data(const InstructionFacts& facts, unsigned operand,
                                             unsigned dword) const;
  /// Such data reaches global memory.
  void stored_globally(const InstructionFacts& facts, std::uint64_t lanes);
  void scratch_access(const InstructionFacts& facts, const LaneAccess& access);

 private:
  [[nodiscard]] std::uint64_t of(unsigned row) const { return unwritten_[row]; }
  void set(unsigned row, std::uint64_t lanes, std::uint32_t origin);
  void follow_masks(const InstructionFacts& facts, const Wave& wave);
  void set_mask(unsigned index, std::uint64_t lanes, std::uint32_t origin, unsigned row);
  void follow_matrix(const InstructionFacts& facts);
  void follow_vector(const InstructionFacts& facts, const Wave& wave, std::uint64_t exec);
  [[nodiscard]] std::array<std::uint64_t, 2> halves(const Instruction& i, const RegisterUse& use,
                                                    std::uint64_t all) const;
  [[nodiscard]] std::uint32_t origin_in(RegisterRange range) const;
  void report(const InstructionFacts& facts, RegisterRange rows, std::uint64_t lanes,
              const std::string& use);
  void report(const InstructionFacts& facts, std::uint32_t origin, unsigned row,
              std::uint64_t lanes, const std::string& use);

  Reporter& reporter_;
  std::uint32_t rows_, accum_offset_, wave_ = 0;
  VgprMask attention_{};
  std::array<std::uint64_t, 512> unwritten_{};
  std::array<std::uint32_t, 512> row_origin_{};
  /// A lane mask in scalar registers, by its first one: the lanes whose bit is not to be trusted.
  struct Mask {
    std::uint64_t lanes = 0;
    std::uint32_t origin = 0;
    unsigned row = 0;
  };
  std::array<std::uint64_t, 2> scalar_attention_{};
  std::array<Mask, 128> masks_{};
  std::vector<std::uint64_t> scratch_;  // lanes per dword
  std::vector<std::uint32_t> scratch_origin_;
  std::vector<Origin> origins_;      // [0]: a register
  std::vector<std::uint32_t> told_;  // vaddrs of origins reported for this workgroup's wave
};

}  // namespace margay::check
