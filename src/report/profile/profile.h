// What a profile is: data only. The collector fills it in (session.h), metrics.h derives from it,
// text.h, json.h, html.h, trace.h and compare.h show it.
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

namespace margay::profile {

/// Where a request of the vector memory path was served.
struct MemoryTraffic {
  std::uint64_t lane_bytes = 0;          ///< Bytes that active lanes asked for.
  std::uint64_t accesses = 0;            ///< TCP_TOTAL_ACCESSES: thread requests after coalescing.
  std::uint64_t tag_accesses = 0;        ///< TCP_TOTAL_CACHE_ACCESSES.
  std::uint64_t sector_bytes = 0;        ///< 64 bytes for each sector an instruction touches.
  std::uint64_t least_sector_bytes = 0;  ///< The same, if its lanes' bytes were side by side.
  // Of what is touched beyond that:
  std::uint64_t misaligned_sector_bytes = 0;  ///< Rows begin or end inside a sector.
  std::uint64_t inactive_sector_bytes = 0;    ///< Lanes between are switched off.
  std::uint64_t least_tag_accesses = 0;       ///< One for each four lanes.
  std::uint64_t l2_reads = 0;                 ///< Of 128 bytes.
  std::uint64_t l2_writes = 0;                ///< Of 64 bytes; atomics as well.
  std::uint64_t l2_hits = 0;
  std::uint64_t l2_misses = 0;
  std::uint64_t fabric_read_bytes = 0;

  MemoryTraffic& operator+=(const MemoryTraffic& o) {
    lane_bytes += o.lane_bytes;
    accesses += o.accesses;
    tag_accesses += o.tag_accesses;
    sector_bytes += o.sector_bytes;
    least_sector_bytes += o.least_sector_bytes;
    misaligned_sector_bytes += o.misaligned_sector_bytes;
    inactive_sector_bytes += o.inactive_sector_bytes;
    least_tag_accesses += o.least_tag_accesses;
    l2_reads += o.l2_reads;
    l2_writes += o.l2_writes;
    l2_hits += o.l2_hits;
    l2_misses += o.l2_misses;
    fabric_read_bytes += o.fabric_read_bytes;
    return *this;
  }
};

/// The bank conflicts of one LDS instruction.
struct LdsUse {
  std::uint64_t cycles = 0;           ///< SQ_LDS_IDX_ACTIVE.
  std::uint64_t conflict_cycles = 0;  ///< SQ_LDS_BANK_CONFLICT.
  std::uint64_t address_cycles = 0;   ///< SQ_LDS_ADDR_CONFLICT.
  std::uint64_t conflicting = 0;      ///< Executions with any bank conflict.
  std::uint32_t worst_ways = 1;       ///< Distinct dwords of one bank in one lane group.
  std::uint32_t worst_bank = 0;       ///< Where: the bank, and a lane for each of the dwords.
  std::uint64_t worst_lanes = 0;
  std::array<std::uint64_t, 32> bank_dwords{};  ///< Dwords each bank served.
};

/// What the instruction of a site is, as far as a report depends on it.
struct SiteTraits {
  MemoryPath path = MemoryPath::none;
  bool loads_to_lds = false;             ///< Straight, past the registers.
  bool has_packed_twin = false;          ///< v_pk_* does two of them in the same time.
  std::optional<std::uint32_t> vm_wait;  ///< A wait: how many loads and stores may be left.
};

/// One instruction of the kernel that ran at least once.
struct Site {
  std::uint64_t vaddr = 0;  ///< In the code object's image.
  std::string text;         ///< As the disassembler prints it.
  InstructionClass instruction_class = InstructionClass::other;
  std::vector<SourceFrame> frames;  ///< The user's line first.
  std::string function;             ///< That the code belongs to, demangled.
  std::uint64_t executions = 0;     ///< By waves.
  std::uint64_t active_lanes = 0;   ///< Summed over the executions.
  std::uint64_t issue_cycles = 0;   ///< Cycles it takes from its waves: 4, MFMA all its passes.
  std::uint64_t flops = 0;          ///< Operations of active lanes; MFMA: of the matrices.
  bool is_read = false, is_write = false, is_atomic = false;
  SiteTraits traits;
  std::optional<LdsUse> lds;
  std::optional<MemoryTraffic> memory;
  std::int32_t tensor = -1;  ///< Index into KernelProfile::tensors; -1: none, or several.
};

/// TensorTraffic::name of what no argument points at.
inline constexpr std::string_view kOtherMemory = "other memory";

/// A pointer among the kernel's arguments and what became of the memory behind it.
struct TensorTraffic {
  std::string name;                                   ///< "g.a"; or kOtherMemory.
  std::string type;                                   ///< "kittens::gl<...>", or empty.
  std::string element;                                ///< "bf16", or empty.
  std::uint32_t element_bytes = 0;                    ///< 0: not known.
  std::optional<std::array<std::uint64_t, 4>> shape;  ///< Batch, depth, rows, columns.
  std::uint64_t bytes = 0;                            ///< In the last launch, as far as is known.
  std::uint64_t read_bytes = 0, written_bytes = 0;    ///< By active lanes.
  std::uint64_t touched_read_bytes = 0;  ///< In lines of 128 bytes, each counted once per launch.
  std::uint64_t touched_written_bytes = 0;  ///< In sectors of 64 bytes.
  // The least that can be read: lines, each counted once for each workgroup, or each XCD, that
  // reads it; and how much of the former the workgroups use, in pieces of 32 bytes.
  std::uint64_t workgroup_read_bytes = 0, workgroup_used_bytes = 0;
  std::uint64_t xcd_read_bytes = 0;
  std::uint64_t l2_read_bytes = 0, l2_written_bytes = 0;          ///< Between vL1D and L2.
  std::uint64_t fabric_read_bytes = 0, fabric_written_bytes = 0;  ///< Between L2 and memory.
};

/// Bytes [begin, begin + bytes) and which waves of the mapped workgroup read and wrote them.
struct TouchedRange {
  std::uint64_t begin = 0, bytes = 0;
  std::uint32_t readers = 0, writers = 0;  ///< Bit n: wave n.
};
/// Which wave of one workgroup touches which part of LDS or of a tensor.
struct WaveMap {
  std::int32_t tensor = -1;  ///< Index into KernelProfile::tensors; -1: LDS.
  std::vector<TouchedRange> ranges;
};

/// What a wave of a traced workgroup did, in the order of issue.
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

/// What the compiler says the kernel needs, and what fits.
struct Resources {
  std::uint32_t vgprs = 0, agprs = 0, sgprs = 0;  ///< VGPRs: architected and accumulation.
  std::uint32_t static_lds_bytes = 0, dynamic_lds_bytes = 0, scratch_bytes = 0;
  std::uint32_t vgpr_spills = 0, sgpr_spills = 0;
  std::uint32_t code_bytes = 0;
  std::uint32_t workgroups_per_cu = 0, waves_per_cu = 0, waves_per_simd = 0;
  std::string limit;  ///< "VGPRs", "LDS" ...
  /// What one more workgroup per CU would take; empty when nothing the kernel can change limits it.
  std::string next_step;
};

/// All launches of one kernel with one grid, workgroup and LDS size.
struct KernelProfile {
  const Gpu* gpu = &default_gpu();  ///< What it ran on.
  std::string name;                 ///< Demangled.
  std::string symbol;
  std::array<std::uint32_t, 3> grid{}, workgroup{};  ///< In workgroups; in work-items.
  std::uint64_t launches = 0;
  std::uint64_t failed_launches = 0;  ///< Of these; their counters end where they failed.
  std::uint64_t launches_seen = 0;    ///< With those that were not chosen to be counted.
  /// 0: all workgroups were counted. Otherwise this many, of all launches together, and what
  /// depends on how many there are was scaled up from them to all.
  std::uint64_t sampled_workgroups = 0;
  bool instructions_warm = false;  ///< L1I held the code when the first of them began.
  double host_seconds = 0;         ///< What profiling them took here. Says nothing of a GPU.
  Resources resources;
  Counters counters;           ///< Summed over the launches.
  std::vector<Counters> xcds;  ///< The TCC_ counters of each XCD.
  std::vector<Site> sites;     ///< By address.
  std::vector<TensorTraffic> tensors;
  std::vector<WaveMap> maps;      ///< Of workgroup (0, 0, 0) of the first launch.
  std::vector<WaveTrace> traces;  ///< Only when asked for.
};

/// Text of source lines, by file and line.
using SourceText = std::map<std::string, std::map<std::uint32_t, std::string>>;

struct Profile {
  std::string device;        ///< Gpu::name
  std::string schedule;      ///< For which order of workgroups and waves the cache counters hold.
  std::string mfma;          ///< exact, fma or fast
  std::string partial = {};  ///< What it lacks because the program ended early, in words; or empty.
  SourceText
      sources;  ///< Of the lines that ran, as they were then; empty where they were not read.
  std::vector<KernelProfile> kernels;  ///< In the order of their first launch.
};

}  // namespace margay::profile
