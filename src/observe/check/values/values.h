// Tracks values that were never written, bit by bit: from registers, LDS and global memory through
// registers, lane masks, scratch, lane exchanges and matrix instructions to their use: as an
// address, in a branch or its lane mask, in an atomic, or in memory that is not tracked. Copying
// such a value is not an error (compilers do it, and structures have padding).
//
// For the ALUs see undefined_results.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/program/lane_access.h"
#include "exec/state/aligned_buffer.h"
#include "exec/state/wave.h"
#include "observe/check/findings/reporter.h"
#include "observe/check/instructions/facts.h"
#include "observe/check/instructions/undefined_results.h"
#include "observe/check/values/undefined_bits.h"
#include "observe/check/values/undefined_rows.h"

namespace margay::check {

/// The origin of a value that was never written.
struct Origin {
  enum class Kind : std::uint8_t { reg, lds, global };
  Kind kind = Kind::reg;
  std::uint8_t lane = 0;
  std::uint32_t vaddr = 0;    ///< The load; registers: none.
  std::uint64_t address = 0;  ///< LDS byte or device address.
};

class ValueTracker {
 public:
  ValueTracker(Reporter& reporter, std::uint32_t rows, std::uint32_t scratch_bytes_per_lane,
               std::uint32_t accum_offset);

  void begin(std::uint32_t wave, std::uint64_t lanes);

  /// Rows that hold undefined bits.
  [[nodiscard]] const VgprMask& attention() const { return rows_.attention(); }
  /// Scalar registers that do.
  [[nodiscard]] const std::array<std::uint64_t, 2>& scalar_attention() const {
    return scalar_attention_;
  }
  [[nodiscard]] bool scc_undefined() const { return scc_undefined_; }

  /// An instruction that accesses such registers, before it runs.
  void follow(const InstructionFacts& facts, Wave& wave);

  // ---- Memory; the instruction has been followed ----

  /// The undefined bits of a store's data (operand 0 or 1). False: there are none.
  [[nodiscard]] bool stored_bits(const InstructionFacts& facts, unsigned operand,
                                 const LaneAccess& access, LaneBits& out) const;
  /// A load receives these bits. `first`: the result's register in which they begin.
  void loaded(const InstructionFacts& facts, const LaneAccess& access, const LaneBits& bits,
              unsigned first, const Origin& origin);
  void scalar_loaded(const InstructionFacts& facts, const std::vector<std::uint8_t>& bits,
                     const Origin& origin);
  /// Undefined data reaches global memory, which may be tracked or not.
  struct Stored {
    bool told = false;               ///< The store is a finding of its own.
    bool computed = false;           ///< It was computed from undefined bits, not merely copied.
    const Origin* origin = nullptr;  ///< The load; null: registers.
  };
  Stored stored_globally(const InstructionFacts& facts, const LaneAccess& access,
                         const LaneBits& bits, bool followed);
  /// An atomic changes memory that was never written.
  void atomic_on(const InstructionFacts& facts, const Origin& origin);
  void scratch_access(const InstructionFacts& facts, const LaneAccess& access);

 private:
  /// A VALU operand that is not read from its encoded register.
  struct View;
  void follow_memory(const InstructionFacts& facts, Wave& wave, std::uint64_t exec);
  void follow_scalar_memory(const InstructionFacts& facts);
  void follow_exchange(const InstructionFacts& facts, Wave& wave);
  void follow_vector(const InstructionFacts& facts, Wave& wave, std::uint64_t exec);
  void follow_pairs(const InstructionFacts& facts, std::uint64_t exec);
  [[nodiscard]] bool follow_lane_move(const InstructionFacts& facts, const Wave& wave,
                                      std::uint64_t exec);
  void follow_matrix(const InstructionFacts& facts, const Wave& wave);
  void follow_scalar(const InstructionFacts& facts, Wave& wave);
  void follow_branch(const InstructionFacts& facts, const Wave& wave);
  void write_exec(const InstructionFacts& facts, std::uint64_t undefined, std::uint32_t origin);

  void place(const InstructionFacts& facts, const LaneAccess& access, const LaneBits& bits,
             unsigned first, std::uint32_t origin);
  [[nodiscard]] std::uint64_t lanes_of(RegisterRange range) const {
    std::uint64_t lanes = 0;
    for (unsigned n = 0; n < range.count; ++n) lanes |= rows_.lanes(range.first + n);
    return lanes;
  }
  [[nodiscard]] std::uint64_t scalar_bits(unsigned index, bool pair) const;
  void set_scalar(unsigned index, std::uint64_t bits, bool pair, std::uint32_t origin);
  [[nodiscard]] OperandBits scalar_operand(const Wave& wave, const Instruction& i,
                                           unsigned n) const;
  [[nodiscard]] std::uint32_t scalar_origin(const Instruction& i, unsigned n) const;
  [[nodiscard]] std::uint32_t origin_in(RegisterRange range, std::uint64_t lanes) const;
  [[nodiscard]] std::uint32_t origin_of(const InstructionFacts& facts) const;
  [[nodiscard]] std::uint32_t add_origin(const Origin& origin);
  void define(unsigned row, std::uint64_t lanes) { rows_.define(row, lanes); }

  void report(const InstructionFacts& facts, RegisterRange rows, std::uint64_t lanes, Decides use);
  void report(const InstructionFacts& facts, std::uint32_t origin, std::uint64_t lanes, Decides use,
              Severity severity = Severity::error);

  Reporter& reporter_;
  std::uint32_t accum_offset_, wave_ = 0;
  UndefinedRows rows_;
  // Origins are numbers: twice a row, or twice the number of rows and an index into origins_; plus
  // one for values that were computed and not only moved.
  std::array<std::uint32_t, 512> row_origin_{};
  std::array<std::uint64_t, 2> scalar_attention_{};
  std::array<std::uint32_t, 128> scalar_bits_{}, scalar_origin_{};
  bool scc_undefined_ = false;
  std::uint32_t scc_origin_ = 0;
  std::vector<std::uint64_t> scratch_;  // undefined lanes per byte
  std::vector<std::uint32_t> scratch_origin_;
  std::size_t scratch_used_ = 0;  // bytes that differ from their state after begin()
  PartialBytes scratch_partial_;
  std::vector<Origin> origins_;
  std::vector<std::uint32_t> told_;       // vaddrs of origins reported for this workgroup's wave
  std::unique_ptr<AlignedBuffer> stage_;  // rows for handlers to run on
};

}  // namespace margay::check
