// A profile: data only. The collector fills it in (session.h), metrics.h derives values from it,
// text.h, json.h, html.h, trace.h and compare.h print it.
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
#include "report/profile/fields.h"
#include "timing/device.h"

namespace margay::profile {

/// Where a request of the vector memory path was served.
struct MemoryTraffic {
  std::uint64_t lane_bytes = 0, accesses = 0, tag_accesses = 0, sector_bytes = 0;
  std::uint64_t least_sector_bytes = 0, misaligned_sector_bytes = 0, inactive_sector_bytes = 0;
  std::uint64_t least_tag_accesses = 0;
  std::uint64_t l2_reads = 0, l2_writes = 0, l2_hits = 0, l2_misses = 0, fabric_read_bytes = 0;

  MemoryTraffic& operator+=(const MemoryTraffic& other);
};
template <>
inline constexpr auto kFields<MemoryTraffic> = std::tuple{
    fields::count(&MemoryTraffic::lane_bytes, "lane_bytes", "lanes", "that active lanes asked for"),
    fields::count(&MemoryTraffic::accesses, "accesses", "accesses",
                  "TCP_TOTAL_ACCESSES: thread requests after coalescing"),
    fields::count(&MemoryTraffic::tag_accesses, "tag_accesses", "tags", "TCP_TOTAL_CACHE_ACCESSES"),
    fields::count(&MemoryTraffic::sector_bytes, "sector_bytes", "sectors",
                  "64 for each sector that an instruction touches"),
    fields::count(&MemoryTraffic::least_sector_bytes, "least_sector_bytes", "least",
                  "the same, if its lanes' bytes, each once, were side by side"),
    fields::count(&MemoryTraffic::misaligned_sector_bytes, "misaligned_sector_bytes", "",
                  "of what is more: rows begin or end inside a sector"),
    fields::count(&MemoryTraffic::inactive_sector_bytes, "inactive_sector_bytes", "",
                  "lanes between are switched off"),
    fields::count(&MemoryTraffic::least_tag_accesses, "least_tag_accesses", "",
                  "one for each four lanes"),
    fields::count(&MemoryTraffic::l2_reads, "l2_reads", "l2reads", "of 128 bytes"),
    fields::count(&MemoryTraffic::l2_writes, "l2_writes", "l2writes",
                  "of 64 bytes; atomics as well"),
    fields::count(&MemoryTraffic::l2_hits, "l2_hits", "hits", ""),
    fields::count(&MemoryTraffic::l2_misses, "l2_misses", "misses", ""),
    fields::count(&MemoryTraffic::fabric_read_bytes, "fabric_read_bytes", "fabric", "")};
static_assert(std::tuple_size_v<decltype(kFields<MemoryTraffic>)> * 8 == sizeof(MemoryTraffic));
inline MemoryTraffic& MemoryTraffic::operator+=(const MemoryTraffic& other) {
  add_counts(*this, other);
  return *this;
}

/// The bank conflicts of one LDS instruction, over all its executions.
struct LdsUse {
  std::uint64_t cycles = 0, conflict_cycles = 0, address_cycles = 0, conflicting = 0;
  std::uint32_t worst_ways = 1, worst_bank = 0;
  std::uint64_t worst_lanes = 0;
  std::array<std::uint64_t, 32> bank_dwords{};
};
template <>
inline constexpr auto kFields<LdsUse> = std::tuple{
    fields::count(&LdsUse::cycles, "cycles", "cycles",
                  "that LDS is busy with it: SQ_LDS_IDX_ACTIVE"),
    fields::count(&LdsUse::conflict_cycles, "conflict_cycles", "conflict",
                  "of these, lost to bank conflicts: SQ_LDS_BANK_CONFLICT"),
    fields::count(&LdsUse::address_cycles, "address_cycles", "address",
                  "of these, lost to lanes' atomics on one dword: SQ_LDS_ADDR_CONFLICT"),
    fields::count(&LdsUse::conflicting, "conflicting", "conflicting",
                  "executions with any bank conflict"),
    fields::fact(&LdsUse::worst_ways, "worst_ways", "ways",
                 "most distinct dwords of one bank that were wanted at once; 1: no conflict"),
    fields::fact(&LdsUse::worst_bank, "worst_bank", "bank", "where that was"),
    fields::lanes(&LdsUse::worst_lanes, "worst_lanes", "lanes", "a lane for each of these dwords"),
    fields::count(&LdsUse::bank_dwords, "bank_dwords", "banks",
                  "dwords that each of the 32 banks served")};

/// The kind of a site's instruction, as far as a report depends on it.
struct SiteTraits {
  MemoryPath path = MemoryPath::none;
  bool loads_to_lds = false;             ///< Straight, past the registers.
  bool has_packed_twin = false;          ///< v_pk_* does two of them in the same time.
  std::optional<std::uint32_t> vm_wait;  ///< A wait: how many loads and stores may be left.
};
template <>
inline constexpr auto kFields<SiteTraits> = std::tuple{
    fields::fact(&SiteTraits::path, "path", "", "how it comes to memory"),
    fields::fact(&SiteTraits::loads_to_lds, "loads_to_lds", "", "straight, past the registers"),
    fields::fact(&SiteTraits::has_packed_twin, "has_packed_twin", "",
                 "v_pk_* does two of them in the same time"),
    fields::fact(&SiteTraits::vm_wait, "vm_wait", "",
                 "of a wait: how many loads and stores may be left")};

/// What is counted for every instruction: the workers fill it in, launches are added up.
struct SiteFigures {
  std::uint64_t executions = 0, active_lanes = 0, issue_cycles = 0, flops = 0;
};
template <>
inline constexpr auto kFields<SiteFigures> =
    std::tuple{fields::count(&SiteFigures::executions, "executions", "n", "by waves"),
               fields::count(&SiteFigures::active_lanes, "active_lanes", "lanes",
                             "summed over the executions"),
               fields::count(&SiteFigures::issue_cycles, "issue_cycles", "cycles",
                             "that it takes from its waves: 4, MFMA all its passes"),
               fields::count(&SiteFigures::flops, "flops", "flops",
                             "operations of active lanes; MFMA: of the matrices")};
static_assert(std::tuple_size_v<decltype(kFields<SiteFigures>)> * 8 == sizeof(SiteFigures));

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
template <>
inline constexpr auto kFields<Site> = std::tuple_cat(
    std::tuple{
        fields::fact(&Site::vaddr, "vaddr", "", "in the code object's image"),
        fields::fact(&Site::text, "text", "", "as the disassembler prints it"),
        fields::fact(&Site::instruction_class, "class", "", "\"VALU\", \"MFMA\", \"LDS\" ..."),
        fields::fact(&Site::function, "function", "", "that the code belongs to, demangled"),
        fields::fact(&Site::frames, "frames", "",
                     "the source line first, then what it is inlined in and calls")},
    kFields<SiteFigures>,
    std::tuple{
        fields::fact(&Site::is_read, "is_read", "", ""),
        fields::fact(&Site::is_write, "is_write", "", ""),
        fields::fact(&Site::is_atomic, "is_atomic", "", ""),
        fields::derived(&Site::is_scratch, "is_scratch", ""),
        fields::later(fields::fact(&Site::traits, "instruction", "", "what the instruction is")),
        fields::fact(&Site::lds, "lds", "", ""), fields::fact(&Site::memory, "memory", "", ""),
        fields::fact(&Site::tensor, "tensor", "",
                     "index into the kernel's tensors, if it touches one")});

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
template <>
inline constexpr auto kFields<TensorTraffic> = std::tuple{
    fields::fact(&TensorTraffic::name, "name", "name",
                 "\"g.a\"; \"other memory\" for what no argument points at"),
    fields::fact(&TensorTraffic::type, "type", "type", "\"kittens::gl<...>\", or empty"),
    fields::fact(&TensorTraffic::element, "element", "element", "\"bf16\", or empty"),
    fields::fact(&TensorTraffic::element_bytes, "element_bytes", "element_bytes", "0: not known"),
    fields::fact(&TensorTraffic::shape, "shape", "shape", "batch, depth, rows, columns"),
    fields::fact(&TensorTraffic::bytes, "bytes", "bytes", "in the last launch, as far as is known"),
    fields::count(&TensorTraffic::read_bytes, "read_bytes", "read", "that active lanes asked for"),
    fields::count(&TensorTraffic::written_bytes, "written_bytes", "written", "by active lanes"),
    fields::count(&TensorTraffic::touched_read_bytes, "touched_read_bytes", "touched_read",
                  "lines of 128 bytes, each counted once per launch"),
    fields::count(&TensorTraffic::touched_written_bytes, "touched_written_bytes", "touched_written",
                  "sectors of 64 bytes, each counted once per launch"),
    fields::later(fields::count(&TensorTraffic::workgroup_read_bytes, "workgroup_read_bytes", "",
                                "lines, each counted once for each workgroup that reads it")),
    fields::later(fields::count(&TensorTraffic::workgroup_used_bytes, "workgroup_used_bytes", "",
                                "what the workgroups use of these lines, in pieces of 32 bytes")),
    fields::later(fields::count(&TensorTraffic::xcd_read_bytes, "xcd_read_bytes", "",
                                "lines, each counted once for each XCD that reads it")),
    fields::count(&TensorTraffic::l2_read_bytes, "l2_read_bytes", "l2_read", "between vL1D and L2"),
    fields::count(&TensorTraffic::l2_written_bytes, "l2_written_bytes", "l2_written", ""),
    fields::count(&TensorTraffic::fabric_read_bytes, "fabric_read_bytes", "memory_read",
                  "between L2 and memory"),
    fields::count(&TensorTraffic::fabric_written_bytes, "fabric_written_bytes", "memory_written",
                  "")};

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
template <>
inline constexpr auto kFields<Resources> = std::tuple{
    fields::fact(&Resources::vgprs, "vgprs", "vgprs",
                 "per lane; architected and accumulation VGPRs together"),
    fields::fact(&Resources::agprs, "agprs", "agprs", "of these, accumulation VGPRs"),
    fields::fact(&Resources::sgprs, "sgprs", "sgprs", "per wave"),
    fields::fact(&Resources::static_lds_bytes, "static_lds_bytes", "static_lds", "per workgroup"),
    fields::fact(&Resources::dynamic_lds_bytes, "dynamic_lds_bytes", "dynamic_lds",
                 "per workgroup"),
    fields::fact(&Resources::scratch_bytes, "scratch_bytes", "scratch", "per lane"),
    fields::fact(&Resources::vgpr_spills, "vgpr_spills", "vgpr_spills", "registers"),
    fields::fact(&Resources::sgpr_spills, "sgpr_spills", "sgpr_spills", "registers"),
    fields::fact(&Resources::code_bytes, "code_bytes", "code", ""),
    fields::fact(&Resources::workgroups_per_cu, "workgroups_per_cu", "workgroups_per_cu", ""),
    fields::fact(&Resources::waves_per_cu, "waves_per_cu", "waves_per_cu", ""),
    fields::fact(&Resources::waves_per_simd, "waves_per_simd", "waves_per_simd", ""),
    fields::fact(&Resources::limit, "limit", "limit",
                 "what keeps more workgroups from a CU: \"VGPRs\", \"LDS\" ..."),
    fields::fact(&Resources::next_step, "next_step", "next_step",
                 "what one more workgroup per CU would take; may be empty")};

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
