#include "report/profile/analysis/metrics.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/profile/analysis/bounds.h"
#include "report/profile/analysis/sums.h"
#include "report/profile/machine.h"

namespace margay::profile {
namespace {

using enum Counter;

std::optional<double> ratio(double above, double below) {
  if (below == 0) return std::nullopt;
  return above / below;
}

double valu_flops(const KernelProfile& k) {
  return 64 * (sum(k, {SQ_INSTS_VALU_ADD_F16, SQ_INSTS_VALU_ADD_F32, SQ_INSTS_VALU_ADD_F64,
                       SQ_INSTS_VALU_MUL_F16, SQ_INSTS_VALU_MUL_F32, SQ_INSTS_VALU_MUL_F64,
                       SQ_INSTS_VALU_TRANS_F16, SQ_INSTS_VALU_TRANS_F32, SQ_INSTS_VALU_TRANS_F64}) +
               2 * sum(k, {SQ_INSTS_VALU_FMA_F16, SQ_INSTS_VALU_FMA_F32, SQ_INSTS_VALU_FMA_F64}));
}

double lds_clean_cycles(const KernelProfile& k) {
  return of(k, SQ_LDS_IDX_ACTIVE) - of(k, SQ_LDS_BANK_CONFLICT);
}

constexpr std::string_view kWave = "Wavefront", kMix = "Instruction Mix",
                           kCompute = "Compute Pipeline", kLds = "Local Data Share (LDS)",
                           kInstruction = "Instruction Cache", kScalar = "Scalar L1 Data Cache",
                           kAddress = "Address Processing Unit and Data Return Path",
                           kVector = "Vector L1 Data Cache", kL2 = "L2 Cache", kMargay = "Margay";

/// A metric that is one counter.
struct Plain {
  std::string_view id, panel, name;
  Counter counter;
};
constexpr Plain kPlain[] = {
    {"waves", kWave, "Total Wavefronts", SQ_WAVES},
    {"smem_instructions", kMix, "SMEM", SQ_INSTS_SMEM},
    {"salu_instructions", kMix, "SALU", SQ_INSTS_SALU},
    {"vmem_instructions", kMix, "VMEM", SQ_INSTS_VMEM},
    {"lds_instructions", kMix, "LDS", SQ_INSTS_LDS},
    {"mfma_instructions", kMix, "MFMA", SQ_INSTS_MFMA},
    {"branch_instructions", kMix, "Branch", SQ_INSTS_BRANCH},
    {"int32_instructions", kMix, "INT32", SQ_INSTS_VALU_INT32},
    {"int64_instructions", kMix, "INT64", SQ_INSTS_VALU_INT64},
    {"f16_add_instructions", kMix, "F16-ADD", SQ_INSTS_VALU_ADD_F16},
    {"f16_mul_instructions", kMix, "F16-MUL", SQ_INSTS_VALU_MUL_F16},
    {"f16_fma_instructions", kMix, "F16-FMA", SQ_INSTS_VALU_FMA_F16},
    {"f16_trans_instructions", kMix, "F16-Trans", SQ_INSTS_VALU_TRANS_F16},
    {"f32_add_instructions", kMix, "F32-ADD", SQ_INSTS_VALU_ADD_F32},
    {"f32_mul_instructions", kMix, "F32-MUL", SQ_INSTS_VALU_MUL_F32},
    {"f32_fma_instructions", kMix, "F32-FMA", SQ_INSTS_VALU_FMA_F32},
    {"f32_trans_instructions", kMix, "F32-Trans", SQ_INSTS_VALU_TRANS_F32},
    {"f64_add_instructions", kMix, "F64-ADD", SQ_INSTS_VALU_ADD_F64},
    {"f64_mul_instructions", kMix, "F64-MUL", SQ_INSTS_VALU_MUL_F64},
    {"f64_fma_instructions", kMix, "F64-FMA", SQ_INSTS_VALU_FMA_F64},
    {"f64_trans_instructions", kMix, "F64-Trans", SQ_INSTS_VALU_TRANS_F64},
    {"conversion_instructions", kMix, "Conversion", SQ_INSTS_VALU_CVT},
    {"mfma_i8_instructions", kMix, "MFMA-I8", SQ_INSTS_VALU_MFMA_I8},
    {"mfma_f8_instructions", kMix, "MFMA-F8", SQ_INSTS_VALU_MFMA_F8},
    {"mfma_f16_instructions", kMix, "MFMA-F16", SQ_INSTS_VALU_MFMA_F16},
    {"mfma_bf16_instructions", kMix, "MFMA-BF16", SQ_INSTS_VALU_MFMA_BF16},
    {"mfma_xf32_instructions", kMix, "MFMA-XF32", SQ_INSTS_VALU_MFMA_XF32},
    {"mfma_f32_instructions", kMix, "MFMA-F32", SQ_INSTS_VALU_MFMA_F32},
    {"mfma_f64_instructions", kMix, "MFMA-F64", SQ_INSTS_VALU_MFMA_F64},
    {"global_read_instructions", kMix, "Global/Generic Read", TA_FLAT_READ_WAVEFRONTS_sum},
    {"global_write_instructions", kMix, "Global/Generic Write", TA_FLAT_WRITE_WAVEFRONTS_sum},
    {"global_atomic_instructions", kMix, "Global/Generic Atomic", TA_FLAT_ATOMIC_WAVEFRONTS_sum},
    {"buffer_read_instructions", kMix, "Spill/Stack Read", TA_BUFFER_READ_WAVEFRONTS_sum},
    {"buffer_write_instructions", kMix, "Spill/Stack Write", TA_BUFFER_WRITE_WAVEFRONTS_sum},
    {"buffer_atomic_instructions", kMix, "Spill/Stack Atomic", TA_BUFFER_ATOMIC_WAVEFRONTS_sum},
    {"lds_index_accesses", kLds, "Index Accesses", SQ_LDS_IDX_ACTIVE},
    {"lds_bank_conflicts", kLds, "Bank Conflict", SQ_LDS_BANK_CONFLICT},
    {"lds_address_conflicts", kLds, "Addr Conflict", SQ_LDS_ADDR_CONFLICT},
    {"l1i_requests", kInstruction, "Req", SQC_ICACHE_REQ},
    {"l1i_hits", kInstruction, "Hits", SQC_ICACHE_HITS},
    {"l1i_misses", kInstruction, "Misses - Non Duplicated", SQC_ICACHE_MISSES},
    {"sl1d_requests", kScalar, "Req", SQC_DCACHE_REQ},
    {"sl1d_hits", kScalar, "Hits", SQC_DCACHE_HITS},
    {"sl1d_misses", kScalar, "Misses - Non Duplicated", SQC_DCACHE_MISSES},
    {"ta_instructions", kAddress, "Total Instructions", TA_TOTAL_WAVEFRONTS_sum},
    {"vl1d_requests", kVector, "Total Req", TCP_TOTAL_ACCESSES_sum},
    {"vl1d_read_requests", kVector, "Read Req", TCP_TOTAL_READ_sum},
    {"vl1d_write_requests", kVector, "Write Req", TCP_TOTAL_WRITE_sum},
    {"vl1d_cache_accesses", kVector, "Cache Accesses", TCP_TOTAL_CACHE_ACCESSES_sum},
    {"vl1d_invalidations", kVector, "Invalidations", TCP_TOTAL_WRITEBACK_INVALIDATES_sum},
    {"vl1d_l2_reads", kVector, "L1-L2 Read", TCP_TCC_READ_REQ_sum},
    {"vl1d_l2_writes", kVector, "L1-L2 Write", TCP_TCC_WRITE_REQ_sum},
    {"l2_requests", kL2, "Req", TCC_REQ_sum},
    {"l2_read_requests", kL2, "Read Req", TCC_READ_sum},
    {"l2_write_requests", kL2, "Write Req", TCC_WRITE_sum},
    {"l2_atomic_requests", kL2, "Atomic Req", TCC_ATOMIC_sum},
    {"l2_hits", kL2, "Hits", TCC_HIT_sum},
    {"l2_misses", kL2, "Misses", TCC_MISS_sum},
    {"l2_writebacks", kL2, "Writeback", TCC_WRITEBACK_sum},
    {"l2_writebacks_internal", kL2, "Writeback (Internal)", TCC_NORMAL_WRITEBACK_sum},
    {"l2_evictions_internal", kL2, "Evict (Internal)", TCC_NORMAL_EVICT_sum},
};

void add_derived(const KernelProfile& k, std::vector<Metric>& out) {
  const MemoryTraffic memory = vector_memory(k);
  const auto add = [&](Metric metric) { out.push_back(metric); };
  add({"instructions_per_wave", kWave, "Instructions per wavefront", "", "SQ_INSTS / SQ_WAVES",
       ratio(of(k, SQ_INSTS), of(k, SQ_WAVES))});
  add({"valu_instructions", kMix, "VALU", "", "SQ_INSTS_VALU - SQ_INSTS_MFMA",
       of(k, SQ_INSTS_VALU) - of(k, SQ_INSTS_MFMA)});
  add({"valu_active_threads", kCompute, "VALU Active Threads", "lanes",
       "SQ_THREAD_CYCLES_VALU / SQ_ACTIVE_INST_VALU",
       ratio(of(k, SQ_THREAD_CYCLES_VALU), of(k, SQ_ACTIVE_INST_VALU))});
  add({"mfma_instruction_cycles", kCompute, "MFMA Instruction Cycles", "cycles",
       "SQ_VALU_MFMA_BUSY_CYCLES / SQ_INSTS_MFMA",
       ratio(of(k, SQ_VALU_MFMA_BUSY_CYCLES), of(k, SQ_INSTS_MFMA))});
  add({"valu_flops", kCompute, "VALU FLOPs", "FLOP", "64 * (ADD + MUL + TRANS + 2 * FMA)",
       valu_flops(k)});
  add({"mfma_flops", kCompute, "MFMA FLOPs", "FLOP", "512 * sum of SQ_INSTS_VALU_MFMA_MOPS_F*",
       512 * sum(k, {SQ_INSTS_VALU_MFMA_MOPS_F8, SQ_INSTS_VALU_MFMA_MOPS_F16,
                     SQ_INSTS_VALU_MFMA_MOPS_BF16, SQ_INSTS_VALU_MFMA_MOPS_XF32,
                     SQ_INSTS_VALU_MFMA_MOPS_F32, SQ_INSTS_VALU_MFMA_MOPS_F64})});
  add({"mfma_iops", kCompute, "MFMA IOPs (Int8)", "IOP", "512 * SQ_INSTS_VALU_MFMA_MOPS_I8",
       512 * of(k, SQ_INSTS_VALU_MFMA_MOPS_I8)});
  const auto per_access = ratio(of(k, SQ_LDS_BANK_CONFLICT), lds_clean_cycles(k));
  add({"lds_bank_conflicts_per_access", kLds, "Bank Conflicts/Access", "conflicts/access",
       "SQ_LDS_BANK_CONFLICT / (SQ_LDS_IDX_ACTIVE - SQ_LDS_BANK_CONFLICT)", per_access});
  add({"lds_bank_conflict_rate", kLds, "Bank Conflict Rate", "%", "3.125 * Bank Conflicts/Access",
       per_access ? std::optional(3.125 * *per_access) : std::nullopt});
  add({"l1i_hit_rate", kInstruction, "Cache Hit Rate", "%",
       "100 * SQC_ICACHE_HITS / (SQC_ICACHE_HITS + SQC_ICACHE_MISSES)",
       ratio(100 * of(k, SQC_ICACHE_HITS), of(k, SQC_ICACHE_HITS) + of(k, SQC_ICACHE_MISSES))});
  add({"sl1d_hit_rate", kScalar, "Cache Hit Rate", "%",
       "100 * SQC_DCACHE_HITS / (SQC_DCACHE_HITS + SQC_DCACHE_MISSES)",
       ratio(100 * of(k, SQC_DCACHE_HITS), of(k, SQC_DCACHE_HITS) + of(k, SQC_DCACHE_MISSES))});
  const auto misses = ratio(100 * l2_requests_of_l1(k), of(k, TCP_TOTAL_CACHE_ACCESSES_sum));
  add({"vl1d_hit_rate", kVector, "Hit rate", "%",
       "100 - 100 * (TCP_TCC_READ_REQ + WRITE_REQ + ATOMIC_REQ) / TCP_TOTAL_CACHE_ACCESSES",
       misses ? std::optional(100 - *misses) : std::nullopt});
  add({"vl1d_coalescing", kVector, "Coalescing", "%",
       "100 * 64 * TA_TOTAL_WAVEFRONTS / (4 * TCP_TOTAL_ACCESSES)",
       ratio(100 * 64 * of(k, TA_TOTAL_WAVEFRONTS_sum), 4 * of(k, TCP_TOTAL_ACCESSES_sum))});
  add({"l2_hit_rate", kL2, "Hit Rate", "%", "100 * TCC_HIT / (TCC_HIT + TCC_MISS)",
       ratio(100 * of(k, TCC_HIT_sum), of(k, TCC_HIT_sum) + of(k, TCC_MISS_sum))});
  add({"fabric_read_bytes", kL2, "L2-Fabric Read", "bytes",
       "128 * TCC_BUBBLE + 64 * (TCC_EA0_RDREQ - TCC_BUBBLE - RDREQ_32B) + 32 * RDREQ_32B",
       fabric_read_bytes(k)});
  add({"fabric_write_bytes", kL2, "L2-Fabric Write", "bytes",
       "64 * TCC_EA0_WRREQ_64B + 32 * (TCC_EA0_WRREQ - TCC_EA0_WRREQ_64B)", fabric_write_bytes(k)});
  add({"coalescing", kMargay, "Sector use", "",
       "sectors of 64 bytes that the lanes' bytes, each counted once, would fill / sectors touched",
       ratio(static_cast<double>(memory.least_sector_bytes),
             static_cast<double>(memory.sector_bytes))});
  add({"requested_bytes", kMargay, "Bytes the lanes ask for", "bytes", "active lanes * width",
       static_cast<double>(memory.lane_bytes)});
  // A second fetch could have been a hit.
  double from_l2 = 0, from_memory = 0;
  for (const TensorTraffic& t : k.tensors) {
    const auto beyond = [](std::uint64_t a, std::uint64_t b) {
      return a > b && b != 0 ? static_cast<double>(a - b) / kLineBytes : 0;
    };
    from_l2 += beyond(t.l2_read_bytes, t.workgroup_read_bytes);
    from_memory += beyond(t.fabric_read_bytes, t.xcd_read_bytes);
  }
  const auto again_l1 = ratio(100 * from_l2, of(k, TCP_TOTAL_CACHE_ACCESSES_sum));
  const auto again_l2 = ratio(100 * from_memory, of(k, TCC_HIT_sum) + of(k, TCC_MISS_sum));
  const auto hits_l2 = ratio(100 * of(k, TCC_HIT_sum), of(k, TCC_HIT_sum) + of(k, TCC_MISS_sum));
  add({"vl1d_best_hit_rate", kMargay, "vL1D hit rate at best", "%",
       "if each workgroup fetched each line that it reads once",
       misses ? std::optional(100 - *misses + *again_l1) : std::nullopt});
  add({"l2_best_hit_rate", kMargay, "L2 hit rate at best", "%",
       "if each XCD fetched each line that it reads once",
       hits_l2 ? std::optional(*hits_l2 + *again_l2) : std::nullopt});
  add({"achieved_waves_per_cu", kMargay, "Achieved occupancy", "waves/CU",
       "waves that the launch has for each CU in use, as far as they fit",
       achieved_waves_per_cu(k)});
  add({"launches", kMargay, "Launches", "", "", static_cast<double>(k.launches)});
  add({"vgprs", kMargay, "VGPRs", "", "architected and accumulation, per lane", k.resources.vgprs});
  add({"sgprs", kMargay, "SGPRs", "", "per wave", k.resources.sgprs});
  add({"lds_bytes", kMargay, "LDS Allocation", "bytes", "static and dynamic, per workgroup",
       k.resources.static_lds_bytes + k.resources.dynamic_lds_bytes});
  add({"scratch_bytes", kMargay, "Scratch Allocation", "bytes", "per lane",
       k.resources.scratch_bytes});
  add({"vgpr_spills", kMargay, "VGPR spills", "", "", k.resources.vgpr_spills});
  add({"waves_per_cu", kMargay, "Theoretical occupancy", "waves/CU", "by registers, LDS and slots",
       k.resources.waves_per_cu});
}

/// The number of single-letter changes from `b` to `a`: for "did you mean".
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<Metric> metrics_of(const KernelProfile& kernel) {
  std::vector<Metric> all;
  for (const Plain& plain : kPlain)
    all.push_back({plain.id, plain.panel, plain.name, "", info(plain.counter).name,
                   of(kernel, plain.counter)});
  add_derived(kernel, all);
  constexpr std::string_view kOrder[] = {kWave,   kMix,     kCompute, kLds, kInstruction,
                                         kScalar, kAddress, kVector,  kL2,  kMargay};
  std::vector<Metric> sorted;
  for (const std::string_view panel : kOrder)
    std::ranges::copy_if(all, std::back_inserter(sorted),
                         [&](const Metric& m) { return m.panel == panel; });
  return sorted;
}

Result<double> value_of(const KernelProfile& kernel, std::string_view name) {
  if (const auto counter = find_counter(name)) return of(kernel, *counter);
  const auto metrics = metrics_of(kernel);
  const auto found = std::ranges::find(metrics, name, &Metric::id);
  if (found != metrics.end()) {
    if (found->value) return *found->value;
    return fail(ErrorCode::not_found, fmt::format("\"{}\" has no value for {}: {} divides by zero",
                                                  name, kernel.name, found->formula));
  }
  std::vector<std::string_view> names;
  for (const Metric& metric : metrics) names.push_back(metric.id);
  for (const CounterInfo& counter : kCounterInfo) names.push_back(counter.name);
  std::ranges::sort(names, {}, [&](std::string_view n) { return std::pair(distance(name, n), n); });
  return fail(ErrorCode::not_found, fmt::format("there is no counter or metric \"{}\"", name), {},
              fmt::format("did you mean {}, {} or {}?", names[0], names[1], names[2]));
}

}  // namespace margay::profile
