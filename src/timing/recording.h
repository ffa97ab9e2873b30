// What the model replays: the instructions of a kernel, and which of them each wave executed. Made
// while a kernel runs (observe/profile), or by hand in tests.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace margay::timing {

/// What executes an instruction.
enum class Unit : std::uint8_t {
  valu,
  transcendental,
  conversion,  ///< Between f32 and integers.
  packed,      ///< v_pk_* on f32 and dot products: the VALU when the matrix unit is idle.
  matrix,
  salu,
  branch,
  scalar_memory,
  lds,
  vector_memory,
  message,  ///< s_sendmsg and other messages.
  wait,     ///< s_waitcnt.
  barrier,
  idle,      ///< s_nop: `turns` issue turns.
  sleep,     ///< s_sleep: `turns` issue turns.
  priority,  ///< s_setprio: to `turns`.
  end,
};
inline constexpr unsigned kUnits = 17;
/// Whether each active lane has its own work: not of matrices, nor of memory.
[[nodiscard]] constexpr bool is_vector(Unit unit) { return unit <= Unit::packed; }

/// The rows of the VGPR file, 512 bits, then the scalar registers, 128.
using RegisterMask = std::array<std::uint64_t, 10>;
struct Registers {
  RegisterMask reads{}, writes{};
};
[[nodiscard]] inline bool has_scalars(const RegisterMask& mask) { return (mask[8] | mask[9]) != 0; }

/// An instruction of the program, without its operands' values.
struct Instruction {
  std::uint32_t vaddr = 0;
  std::uint8_t bytes = 4;
  Unit unit = Unit::valu;
  /// Issue turns of 4 cycles: a matrix instruction's passes; see Unit for others.
  std::uint16_t turns = 1;
  bool holds_vector = false;  ///< A matrix instruction on f32 or f64: no VALU works meanwhile.
  bool counts_vm = false, counts_lgkm = false;
  bool has_work = false;  ///< Each execution has a MemoryWork.
  bool is_store = false;  ///< Memory: sends data, returns none.
  bool is_atomic = false;
  bool is_scratch = false;   ///< Of a lane's own memory: spills, and arrays with an index.
  bool sees_others = false;  ///< A load, atomic or volatile, of what other workgroups write.
  bool syncs_grid = false;   ///< A barrier of the grid, or a write-back of L2.
  /// Memory: bytes that each lane sends (without the address) and gets.
  std::uint8_t lane_bytes_out = 0, lane_bytes_in = 0;
  /// s_waitcnt: how many may be outstanding.
  std::uint8_t wait_vm = 63, wait_lgkm = 15;
  const Registers* registers = nullptr;  ///< In LaunchRecording::registers; null: not known.
  /// VALU: of a wave's lanes, the part that is active, on average over the executions.
  float active_lanes = 1;
};

/// Of vL1D. Address bits 7 and 8 say which one a line is in.
inline constexpr unsigned kVectorCacheBanks = 4;

/// Where the lines of a load come from, the nearest first.
enum class Level : std::uint8_t { vector_cache, l2, memory };

/// What one execution of a memory instruction asks of the memory system.
struct MemoryWork {
  std::uint16_t cycles = 0;     ///< LDS: passes over the banks. Vector memory: of the TA and vL1D.
  std::uint16_t conflicts = 0;  ///< Of them, because of bank or address conflicts.
  std::uint16_t l2_lines = 0;   ///< Requests that go to L2: lines read, sectors written.
  /// Of them, those that miss L2; of stores also those that hit a line which has to be written
  /// back.
  std::uint16_t far_lines = 0;
  /// Scalar loads: which lines of the kernel's arguments. Bit 0 is the dispatch packet, 1 to 6 the
  /// first lines, 7 all others.
  std::uint8_t argument_lines = 0;
  /// Vector loads: the most of the lines from L2 that go to one bank of vL1D.
  std::uint8_t bank_lines = 0;
  /// Loads: the farthest level from which a line that is not among the above is on its way for
  /// another wave. (Of scalar loads the nearest one is the scalar cache.)
  Level awaited = Level::vector_cache;
};

struct WaveRecording {
  std::vector<std::uint32_t> instructions;  ///< By number, as executed.
  std::vector<MemoryWork> memory;           ///< Of each memory instruction among them, in order.
};

struct WorkgroupRecording {
  std::uint64_t id = 0;
  std::vector<WaveRecording> waves;
};

/// Over its waves.
[[nodiscard]] inline double instructions_of(const WorkgroupRecording& group) {
  double sum = 0;
  for (const WaveRecording& wave : group.waves)
    sum += static_cast<double>(wave.instructions.size());
  return sum;
}

/// As many times the workgroups that a compute unit has room for are replayed of a launch that was
/// recorded in part: then it has found its pace.
inline constexpr std::uint32_t kGenerations = 3;

/// The workgroups that one compute unit runs.
struct ComputeUnitRecording {
  std::uint32_t xcd = 0, cu = 0;
  std::vector<const WorkgroupRecording*> workgroups;  ///< In the order in which they begin.
  /// Of a launch in phases: instructions of a workgroup of its phase, on average.
  double phase_instructions = 0;
};

/// Of lines that are read `times` times by L2s, over `generations` of workgroups, each line by
/// `sharing` XCDs: the part of these reads that finds them in the Infinity Cache. XCDs that share a
/// line in one generation ask for it at about the same time; an XCD that reads it again does so
/// later.
[[nodiscard]] constexpr double ready_in_infinity_cache(double times, double generations,
                                                       double sharing) {
  const double together =
      std::clamp(times / std::max(1.0, generations), 1.0, std::max(1.0, sharing));
  return 1 - std::min(1.0, together / std::max(1.0, times));
}

/// A launch as it was recorded.
struct LaunchRecording {
  std::vector<Instruction> instructions;
  std::vector<Registers> registers;            ///< By number of the instruction.
  std::vector<WorkgroupRecording> workgroups;  ///< All, or a sample.
  std::vector<WorkgroupRecording> probes;      ///< Further ones, which only `cus` names.
  /// Of the workgroups that were recorded. Of a sample that is not like the rest of the launch each
  /// has workgroups like those of a part of the launch (observe/profile/time/phases.h).
  std::vector<ComputeUnitRecording> cus;
  std::uint64_t grid = 0;           ///< Workgroups of the launch that have work.
  std::uint64_t ended_at_once = 0;  ///< The others.
  /// As many workgroups like the recorded ones have the launch's work.
  double equivalent_workgroups = 0;
  /// Instructions of one of those, over its waves, on average; 0: as many as the recorded ones
  /// have.
  double workgroup_instructions = 0;
  /// Instructions of each workgroup that the launch ran, also of those that were not recorded, 0 of
  /// those that ended at once; empty if they are not known.
  std::vector<std::uint32_t> lengths;
  bool host_arguments = false;  ///< See TimeConfig.
  bool is_warm = false;         ///< A launch like this one went before.
  std::uint32_t resident = 1;   ///< Workgroups that a compute unit has room for.
  /// The same if each had twice the LDS; 0: there is not as much.
  std::uint32_t resident_with_twice_the_lds = 1;
  /// Of the lines that loads miss in L2, the part that would have to if each XCD loaded a line
  /// once, and had workgroups that share as much as can be.
  double needed_far_lines = 1;
  double touched_bytes = 0;        ///< Memory that the whole launch reads or writes, once.
  double memory_bytes = 0;         ///< Of the whole launch, read from and written to HBM.
  double infinity_cache_hits = 0;  ///< Part of the lines that loads miss in L2.
  /// Of what stores send beyond L2, and atomics miss there: the part that was written before.
  double infinity_cache_write_hits = 0;
  /// The part that it had before the workgroups of the time came: of others, which several XCDs
  /// load together, HBM sends one, and all wait for it.
  double infinity_cache_ready = 0;
  double dirty_bytes = 0;  ///< That L2 writes back at the end.
  [[nodiscard]] bool is_whole() const { return workgroups.size() == grid; }
  [[nodiscard]] bool has_phases() const {
    return !cus.empty() && cus.front().phase_instructions > 0;
  }
  double flops = 0;  ///< Of all types.
  double vector_flops = 0, f16_flops = 0, bf16_flops = 0, fp8_flops = 0;
};

/// Calls visit(number of the instruction, its work) for each execution of a memory instruction by
/// `workgroups`, which are WorkgroupRecordings.
template <typename Visit>
void for_each_access(const std::vector<Instruction>& instructions, auto& workgroups, Visit visit) {
  for (auto& group : workgroups)
    for (auto& wave : group.waves) {
      std::size_t work = 0;
      for (const std::uint32_t n : wave.instructions)
        if (instructions[n].has_work) visit(n, wave.memory[work++]);
    }
}

}  // namespace margay::timing
