// A profile: data only. The collector fills it in (session.h), metrics.h derives values from it,
// text.h, json.h, html.h, trace.h and compare.h print it. profile_fields.h lists the records'
// fields.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "code_object/code_object.h"
#include "gpu/gpu.h"
#include "isa/traits.h"
#include "report/profile/counters.h"
#include "timing/launch/device.h"

namespace margay::profile {

/// Where a request of the vector memory path was served.
struct MemoryTraffic {
  std::uint64_t lane_bytes = 0, accesses = 0, tag_accesses = 0, sector_bytes = 0;
  std::uint64_t least_sector_bytes = 0, misaligned_sector_bytes = 0, inactive_sector_bytes = 0;
  std::uint64_t least_tag_accesses = 0, lookup_cycles = 0;
  std::uint64_t l2_reads = 0, l2_writes = 0, l2_hits = 0, l2_misses = 0, fabric_read_bytes = 0;

  MemoryTraffic& operator+=(const MemoryTraffic& other);
};

/// The bank conflicts of one LDS instruction, over all its executions.
struct LdsUse {
  std::uint64_t cycles = 0, conflict_cycles = 0, address_cycles = 0, conflicting = 0;
  std::uint32_t worst_ways = 1, worst_bank = 0;
  std::uint64_t worst_lanes = 0;
  std::array<std::uint64_t, 32> bank_dwords{};
  std::uint64_t reached_bytes = 0;
};

/// The kind of a site's instruction, as far as a report depends on it.
struct SiteTraits {
  MemoryPath path = MemoryPath::none;
  bool loads_to_lds = false;             ///< Straight, past the registers.
  bool has_packed_twin = false;          ///< v_pk_* does two of them in the same time.
  std::optional<std::uint32_t> vm_wait;  ///< A wait: how many loads and stores may be left.
};

/// What is counted for every instruction: the workers fill it in, launches are added up.
struct SiteFigures {
  std::uint64_t executions = 0, active_lanes = 0, issue_cycles = 0, flops = 0;
};

/// One instruction of the kernel that ran at least once. Of these fields page/html_sites.cpp makes
/// the page's data; of the figures their list does.
struct Site : SiteFigures {
  std::uint64_t vaddr = 0;
  std::string text;
  InstructionClass instruction_class = InstructionClass::other;
  std::vector<SourceFrame> frames;
  std::string function;
  bool is_read = false, is_write = false, is_atomic = false;
  SiteTraits traits;
  std::optional<LdsUse> lds;
  std::optional<MemoryTraffic> memory;
  std::int32_t tensor = -1;  ///< -1: none, or several.

  [[nodiscard]] bool is_scratch() const { return traits.path == MemoryPath::scratch; }
};

/// TensorTraffic::name of what no argument points at.
inline constexpr std::string_view kOtherMemory = "other memory";

/// A pointer among the kernel's arguments and the accesses to its memory.
struct TensorTraffic {
  std::string name, type, element;
  std::uint32_t element_bytes = 0;
  std::optional<std::array<std::uint64_t, 4>> shape;
  std::uint64_t bytes = 0;
  std::uint64_t read_bytes = 0, written_bytes = 0;
  std::uint64_t touched_read_bytes = 0, touched_written_bytes = 0;
  // The minimum that must be read: lines, each counted once for each workgroup, or each XCD, that
  // reads it; and how much of the former the workgroups use, in pieces of 32 bytes.
  std::uint64_t workgroup_read_bytes = 0, workgroup_used_bytes = 0;
  std::uint64_t xcd_read_bytes = 0;
  std::uint64_t l2_read_bytes = 0, l2_written_bytes = 0;
  std::uint64_t fabric_read_bytes = 0, fabric_written_bytes = 0;
};

/// Bytes [begin, begin + bytes) and which waves of the mapped workgroup read and wrote them.
struct TouchedRange {
  std::uint64_t begin = 0, bytes = 0;
  std::uint32_t readers = 0, writers = 0;  ///< Bit n: wave n.
};
/// The parts of LDS or of a tensor that each wave of one workgroup accesses.
struct WaveMap {
  std::int32_t tensor = -1;  ///< Index into KernelProfile::tensors; -1: LDS.
  std::vector<TouchedRange> ranges;
};

/// The activity of a wave of a traced workgroup, in the order of issue.
struct TraceSlice {
  enum class Kind : std::uint8_t { work, wait, barrier };
  Kind kind = Kind::work;
  InstructionClass instruction_class = InstructionClass::other;  ///< Of work.
  std::uint32_t begin = 0, steps = 0;  ///< In instruction steps; see Schedule.
  std::uint32_t instructions = 0;
  std::uint32_t site = 0;              ///< Index into sites: the first instruction.
  std::uint16_t vector_in_flight = 0;  ///< Counted by vmcnt and lgkmcnt when it begins.
  std::uint16_t lds_in_flight = 0;
};
struct WaveTrace {
  std::array<std::uint32_t, 3> workgroup{};
  std::uint32_t wave = 0;
  std::uint32_t launch = 0;
  std::vector<TraceSlice> slices;
};

/// What the compiler says the kernel needs, and what fits on a compute unit (CU).
struct Resources {
  std::uint32_t vgprs = 0, agprs = 0, sgprs = 0;
  std::uint32_t static_lds_bytes = 0, dynamic_lds_bytes = 0, scratch_bytes = 0;
  std::uint32_t vgpr_spills = 0, sgpr_spills = 0;
  std::uint32_t code_bytes = 0;
  std::uint32_t workgroups_per_cu = 0, waves_per_cu = 0, waves_per_simd = 0;
  std::string limit;
  std::string next_step;
};

/// All launches of one kernel with one grid, workgroup and LDS size.
struct KernelProfile {
  const Gpu* gpu = &default_gpu();  ///< What it ran on.
  std::string name;                 ///< Demangled.
  std::string symbol;
  std::vector<SourceFrame> computes;                 ///< Kernel::computes
  std::array<std::uint32_t, 3> grid{}, workgroup{};  ///< In workgroups; in work-items.
  std::uint64_t launches = 0;
  std::uint64_t failed_launches = 0;  ///< Of these; their counters end at the failure.
  std::uint64_t launches_seen = 0;    ///< Including those that were not selected for counting.
  /// 0: all workgroups were counted. Otherwise this many, of all launches together, and counts that
  /// depend on their number were scaled up to all.
  std::uint64_t sampled_workgroups = 0;
  bool instructions_warm = false;  ///< L1I held the code when the first of them began.
  double host_seconds = 0;         ///< Of profiling them on the host; not a GPU's time.
  Resources resources;
  Counters counters;           ///< Summed over the launches.
  std::vector<Counters> xcds;  ///< The TCC_ counters of each XCD.
  std::vector<Site> sites;     ///< By address.
  std::vector<TensorTraffic> tensors;
  std::vector<WaveMap> maps;      ///< Of workgroup (0, 0, 0) of the first launch.
  std::vector<WaveTrace> traces;  ///< Only when asked for.
  /// Modelled, of the first launch; its sites are those above. Only when asked for.
  std::optional<timing::KernelTime> time;
};

/// Text of source lines, by file and line.
using SourceText = std::map<std::string, std::map<std::uint32_t, std::string>>;

struct Profile {
  std::string device;  ///< Gpu::name
  std::string
      schedule;      ///< The order of workgroups and waves for which the cache counters are valid.
  std::string mfma;  ///< exact, fma or fast
  std::string partial = {};  ///< What is missing after an early end, as text.
  SourceText
      sources;  ///< Of the executed lines, as they were at that time; empty if they were not read.
  std::vector<KernelProfile> kernels;  ///< In the order of their first launch.
};

}  // namespace margay::profile
