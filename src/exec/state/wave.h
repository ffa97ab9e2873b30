// The state of one wave, and of the workgroup it belongs to, as instructions see it.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"
#include "exec/state/instruction.h"
#include "exec/state/memory.h"
#include "isa/operand.h"
#include "mfma/instructions/mode.h"

namespace margay {

class Program;
struct LaneAccesses;

/// Indices into Wave::s that instructions name by role.
inline constexpr unsigned kVccIndex = 106, kM0Index = 124, kExecIndex = 126;
inline constexpr unsigned kScalarRegisters = 128;
/// Rows after a wave's VGPRs that the executor may use while one instruction runs.
inline constexpr unsigned kTemporaryRows = 16;
/// Rows after those, for what is overwritten while matrix instructions wait
/// (exec/instructions/matrix/groups.cpp).
inline constexpr unsigned kSpareRows = 96;

/// Generic (flat) addresses whose upper half is one of these mean LDS and scratch. They are above
/// every address a Linux process can have.
inline constexpr std::uint32_t kSharedApertureHigh = 0x0001'0000;
inline constexpr std::uint32_t kPrivateApertureHigh = 0x0002'0000;

/// The initial contents of registers and LDS: a NaN in f32, bf16 and f16, so that a missing
/// initialisation shows in the result.
inline constexpr std::uint32_t kUninitialised = 0xfffa'fffa;

enum class WaveStop : std::uint8_t { running, barrier, grid_barrier, ended, fault };

/// The global ranges one host thread found accessible during a launch. Asking Memory is a locked
/// look-up, or, for host memory, a walk through the process's mappings.
struct RangeCache {
  std::vector<AddressRange> ranges;
  std::vector<AddressRange> read_only;  ///< Host memory, at least part of which is read-only.
};

/// State shared by the waves of one workgroup.
struct WorkgroupState {
  RangeCache* range_cache = nullptr;
  const Memory* memory = nullptr;
  Program* program = nullptr;
  std::uint8_t* lds = nullptr;
  std::uint32_t lds_bytes = 0;  ///< Allocated: static + dynamic, as requested.
  std::uint32_t scratch_bytes_per_lane = 0;
  std::uint32_t id[3] = {};
  MfmaMode mfma = MfmaMode::exact;
  bool gives_way =
      false;  ///< Waves end their turn before they rewrite LDS; see exec/program/turns.h.
  bool observed = false;  ///< Every instruction is to be seen by an observer.
};

/// Where a load instruction of a wave read when it was last executed: lane 0's address.
struct LoadStream {
  std::uint32_t vaddr = 0;  ///< Of the instruction.
  std::uint64_t at = 0;
};

struct Wave {
  std::uint32_t* v = nullptr;  ///< Rows of 64 lanes; see Source::vgpr.
  /// SGPRs, VCC, M0 and EXEC by their encodings; the tail lets wide accesses at the end stay
  /// inside.
  alignas(64) std::uint32_t s[kScalarRegisters + 16] = {};
  bool scc = false;
  WaveStop stop = WaveStop::running;
  std::uint32_t mode = 0;             ///< The MODE register.
  std::uint32_t vgpr_rows = 0;        ///< Rows the kernel owns; kTemporaryRows and kSpareRows
                                      ///< follow them.
  const Instruction* next = nullptr;  ///< Where to continue after a stop.
  const Instruction* gave_way_at = nullptr;  ///< See exec/program/turns.h.
  WorkgroupState* group = nullptr;
  std::uint8_t* scratch = nullptr;               ///< Swizzled: see scratch_offset().
  std::array<AddressRange, 4> ranges = {};       ///< Recently found accessible global ranges.
  AddressRange read_only = {};                   ///< The same of host memory that may only be read.
  std::array<LoadStream, 32> load_streams = {};  ///< By the instructions' addresses.
  std::uint64_t instructions = 0;
  std::uint64_t mfma_instructions = 0;
  std::uint32_t index_in_group = 0;
  std::unique_ptr<Error> error;  ///< Set with stop == fault.
  /// Those of the instruction that runs, if they have been computed for its watchers: handlers take
  /// them from here (instructions/addresses.h). Null: not watched.
  LaneAccesses* accesses = nullptr;

  [[nodiscard]] std::uint64_t scalar64(unsigned index) const {
    std::uint64_t value;
    std::memcpy(&value, &s[index], 8);
    return value;
  }
  void set_scalar64(unsigned index, std::uint64_t value) { std::memcpy(&s[index], &value, 8); }
  [[nodiscard]] std::uint64_t exec() const { return scalar64(kExecIndex); }
  void set_exec(std::uint64_t value) { set_scalar64(kExecIndex, value); }
  [[nodiscard]] std::uint32_t* row(unsigned index) { return v + std::size_t{index} * kWaveLanes; }

  /// Stops the wave with an error at `instruction`; the place is filled in by the dispatcher.
  const Instruction* fault(const Instruction& instruction, Error what) {
    stop = WaveStop::fault;
    next = &instruction;
    error = std::make_unique<Error>(std::move(what));
    return nullptr;
  }
};

[[nodiscard]] inline const Instruction* following(const Instruction& instruction) {
  return &instruction + 1;
}

/// A 32-bit scalar source.
[[nodiscard]] inline std::uint32_t scalar_source(const Wave& wave, const Instruction& i,
                                                 unsigned n) {
  return i.src[n].kind() == Source::kScalar ? wave.s[i.src[n].index()]
                                            : static_cast<std::uint32_t>(i.constant[n]);
}
/// A 64-bit scalar source.
[[nodiscard]] inline std::uint64_t scalar_source64(const Wave& wave, const Instruction& i,
                                                   unsigned n) {
  return i.src[n].kind() == Source::kScalar ? wave.scalar64(i.src[n].index()) : i.constant[n];
}

}  // namespace margay
