// The fields of the records of profile.h (see fields.h). Apart from them, because the lists take
// long to compile and few sources go through them.
#pragma once

#include <tuple>

#include "report/profile/fields.h"
#include "report/profile/profile.h"

namespace margay::profile {

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
    fields::count(&MemoryTraffic::lookup_cycles, "lookup_cycles", "",
                  "that vL1D is busy with it, at 64 bytes a cycle"),
    fields::count(&MemoryTraffic::l2_reads, "l2_reads", "l2reads", "of 128 bytes"),
    fields::count(&MemoryTraffic::l2_writes, "l2_writes", "l2writes",
                  "of 64 bytes; atomics as well"),
    fields::count(&MemoryTraffic::l2_hits, "l2_hits", "hits", ""),
    fields::count(&MemoryTraffic::l2_misses, "l2_misses", "misses", ""),
    fields::count(&MemoryTraffic::fabric_read_bytes, "fabric_read_bytes", "fabric", "")};
static_assert(std::tuple_size_v<decltype(kFields<MemoryTraffic>)> * 8 == sizeof(MemoryTraffic));

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
                  "dwords that each of the 32 banks served"),
    fields::later(
        fields::fact(&LdsUse::reached_bytes, "reached_bytes", "",
                     "of the workgroup's LDS, from its beginning to the last byte of a lane"))};

template <>
inline constexpr auto kFields<SiteTraits> = std::tuple{
    fields::fact(&SiteTraits::path, "path", "", "how it comes to memory"),
    fields::fact(&SiteTraits::loads_to_lds, "loads_to_lds", "", "straight, past the registers"),
    fields::fact(&SiteTraits::has_packed_twin, "has_packed_twin", "",
                 "v_pk_* does two of them in the same time"),
    fields::fact(&SiteTraits::vm_wait, "vm_wait", "",
                 "of a wait: how many loads and stores may be left")};

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

}  // namespace margay::profile
