// The hardware counters that the profiler computes, under the names that rocprofiler gives them,
// summed over the whole device.
//
// Names and meanings: rocprofiler-sdk, counter_defs.yaml; rocprofiler-compute's documentation for
// gfx942. Counters that depend on time (busy and wait cycles, latencies, levels) are not here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace margay::profile {

// clang-format off
#define MARGAY_COUNTERS(X) \
  X(SQ_WAVES, "waves started") \
  X(SQ_WAVES_EQ_64, "waves with 64 work-items") \
  X(SQ_WAVES_LT_64, "waves with fewer than 64 work-items") \
  X(SQ_WAVES_LT_48, "waves with fewer than 48 work-items") \
  X(SQ_WAVES_LT_32, "waves with fewer than 32 work-items") \
  X(SQ_WAVES_LT_16, "waves with fewer than 16 work-items") \
  X(SQ_ITEMS, "work-items") \
  X(SQ_INSTS, "instructions of all kinds, per wave") \
  X(SQ_INSTS_VALU, "vector ALU instructions, MFMA included") \
  X(SQ_INSTS_VALU_ADD_F16, "f16 additions and subtractions") \
  X(SQ_INSTS_VALU_MUL_F16, "f16 multiplications") \
  X(SQ_INSTS_VALU_FMA_F16, "f16 multiply-adds") \
  X(SQ_INSTS_VALU_TRANS_F16, "f16 transcendentals") \
  X(SQ_INSTS_VALU_ADD_F32, "f32 additions and subtractions") \
  X(SQ_INSTS_VALU_MUL_F32, "f32 multiplications") \
  X(SQ_INSTS_VALU_FMA_F32, "f32 multiply-adds") \
  X(SQ_INSTS_VALU_TRANS_F32, "f32 transcendentals") \
  X(SQ_INSTS_VALU_ADD_F64, "f64 additions and subtractions") \
  X(SQ_INSTS_VALU_MUL_F64, "f64 multiplications") \
  X(SQ_INSTS_VALU_FMA_F64, "f64 multiply-adds") \
  X(SQ_INSTS_VALU_TRANS_F64, "f64 transcendentals") \
  X(SQ_INSTS_VALU_INT32, "32-bit integer instructions") \
  X(SQ_INSTS_VALU_INT64, "64-bit integer instructions") \
  X(SQ_INSTS_VALU_CVT, "conversions") \
  X(SQ_INSTS_MFMA, "matrix instructions") \
  X(SQ_INSTS_VALU_MFMA_I8, "matrix instructions on i8") \
  X(SQ_INSTS_VALU_MFMA_F8, "matrix instructions on fp8 and bf8") \
  X(SQ_INSTS_VALU_MFMA_F16, "matrix instructions on f16") \
  X(SQ_INSTS_VALU_MFMA_BF16, "matrix instructions on bf16") \
  X(SQ_INSTS_VALU_MFMA_XF32, "matrix instructions on xf32") \
  X(SQ_INSTS_VALU_MFMA_F32, "matrix instructions on f32") \
  X(SQ_INSTS_VALU_MFMA_F64, "matrix instructions on f64") \
  X(SQ_INSTS_VALU_MFMA_MOPS_I8, "i8 matrix operations / 512") \
  X(SQ_INSTS_VALU_MFMA_MOPS_F8, "fp8 and bf8 matrix operations / 512") \
  X(SQ_INSTS_VALU_MFMA_MOPS_F16, "f16 matrix operations / 512") \
  X(SQ_INSTS_VALU_MFMA_MOPS_BF16, "bf16 matrix operations / 512") \
  X(SQ_INSTS_VALU_MFMA_MOPS_XF32, "xf32 matrix operations / 512") \
  X(SQ_INSTS_VALU_MFMA_MOPS_F32, "f32 matrix operations / 512") \
  X(SQ_INSTS_VALU_MFMA_MOPS_F64, "f64 matrix operations / 512") \
  X(SQ_VALU_MFMA_BUSY_CYCLES, "cycles the matrix units are busy, summed over SIMDs") \
  X(SQ_INSTS_SALU, "scalar ALU instructions") \
  X(SQ_INSTS_SMEM, "scalar memory instructions") \
  X(SQ_INSTS_SMEM_NORM, "scalar memory instructions in units of lgkmcnt") \
  X(SQ_INSTS_VMEM, "vector memory instructions, FLAT included") \
  X(SQ_INSTS_VMEM_RD, "vector memory reads") \
  X(SQ_INSTS_VMEM_WR, "vector memory writes and atomics") \
  X(SQ_INSTS_FLAT, "FLAT, GLOBAL and SCRATCH instructions") \
  X(SQ_INSTS_LDS, "LDS instructions") \
  X(SQ_INSTS_BRANCH, "branches") \
  X(SQ_INSTS_SENDMSG, "messages and ends of programs") \
  X(SQ_ACTIVE_INST_ANY, "quad-cycles in which an instruction issues") \
  X(SQ_ACTIVE_INST_VALU, "quad-cycles of VALU instructions") \
  X(SQ_ACTIVE_INST_SCA, "quad-cycles of SALU and SMEM instructions") \
  X(SQ_ACTIVE_INST_LDS, "quad-cycles of LDS instructions") \
  X(SQ_ACTIVE_INST_VMEM, "quad-cycles of buffer instructions") \
  X(SQ_ACTIVE_INST_FLAT, "quad-cycles of FLAT instructions") \
  X(SQ_ACTIVE_INST_MISC, "quad-cycles of branches and messages") \
  X(SQ_INST_CYCLES_SALU, "quad-cycles SALU instructions issue") \
  X(SQ_INST_CYCLES_SMEM, "quad-cycles SMEM instructions issue") \
  X(SQ_INST_CYCLES_VMEM_RD, "quad-cycles vector memory reads issue") \
  X(SQ_INST_CYCLES_VMEM_WR, "quad-cycles vector memory writes issue") \
  X(SQ_THREAD_CYCLES_VALU, "active lanes times quad-cycles of VALU instructions") \
  X(SQ_IFETCH, "instruction fetches of 32 bytes") \
  X(SQ_LDS_IDX_ACTIVE, "cycles LDS serves indexed accesses") \
  X(SQ_LDS_BANK_CONFLICT, "of these, cycles lost to bank conflicts") \
  X(SQ_LDS_ADDR_CONFLICT, "of these, cycles lost to lanes' atomics on one dword") \
  X(SQC_ICACHE_REQ, "L1I requests") \
  X(SQC_ICACHE_HITS, "L1I hits") \
  X(SQC_ICACHE_MISSES, "L1I misses, each line once") \
  X(SQC_DCACHE_REQ, "sL1D requests") \
  X(SQC_DCACHE_HITS, "sL1D hits") \
  X(SQC_DCACHE_MISSES, "sL1D misses") \
  X(SQC_DCACHE_REQ_READ_1, "scalar reads of 1 dword") \
  X(SQC_DCACHE_REQ_READ_2, "scalar reads of 2 dwords") \
  X(SQC_DCACHE_REQ_READ_4, "scalar reads of 4 dwords") \
  X(SQC_DCACHE_REQ_READ_8, "scalar reads of 8 dwords") \
  X(SQC_DCACHE_REQ_READ_16, "scalar reads of 16 dwords") \
  X(SQC_DCACHE_ATOMIC, "scalar atomics") \
  X(SQC_TC_REQ, "requests of L1I and sL1D to L2") \
  X(SQC_TC_INST_REQ, "of these, by L1I") \
  X(SQC_TC_DATA_READ_REQ, "of these, reads by sL1D") \
  X(SQC_TC_DATA_WRITE_REQ, "of these, scalar writes") \
  X(SQC_TC_DATA_ATOMIC_REQ, "of these, scalar atomics") \
  X(SPI_CSN_NUM_THREADGROUPS, "workgroups dispatched") \
  X(SPI_CSN_WAVE, "waves dispatched") \
  X(SPI_VWC_CSC_WR, "VGPR initialisations") \
  X(SPI_SWC_CSC_WR, "SGPR initialisations") \
  X(TA_TOTAL_WAVEFRONTS_sum, "vector memory instructions at TA") \
  X(TA_FLAT_WAVEFRONTS_sum, "FLAT, GLOBAL and SCRATCH instructions at TA") \
  X(TA_FLAT_READ_WAVEFRONTS_sum, "of these, reads") \
  X(TA_FLAT_WRITE_WAVEFRONTS_sum, "of these, writes") \
  X(TA_FLAT_ATOMIC_WAVEFRONTS_sum, "of these, atomics") \
  X(TA_BUFFER_WAVEFRONTS_sum, "buffer instructions at TA") \
  X(TA_BUFFER_READ_WAVEFRONTS_sum, "of these, reads") \
  X(TA_BUFFER_WRITE_WAVEFRONTS_sum, "of these, writes") \
  X(TA_BUFFER_ATOMIC_WAVEFRONTS_sum, "of these, atomics") \
  X(TD_LOAD_WAVEFRONT_sum, "instructions TD answers: reads, writes, atomics") \
  X(TD_STORE_WAVEFRONT_sum, "of these, writes") \
  X(TD_ATOMIC_WAVEFRONT_sum, "of these, atomics") \
  X(TCP_TA_TCP_STATE_READ_sum, "instructions TA hands to TCP") \
  X(TCP_TOTAL_ACCESSES_sum, "thread requests after coalescing") \
  X(TCP_TOTAL_READ_sum, "of these, reads") \
  X(TCP_TOTAL_WRITE_sum, "of these, writes") \
  X(TCP_TOTAL_ATOMIC_WITH_RET_sum, "of these, atomics that return a value") \
  X(TCP_TOTAL_ATOMIC_WITHOUT_RET_sum, "of these, atomics that return nothing") \
  X(TCP_TOTAL_CACHE_ACCESSES_sum, "tag accesses: one for each line of each four lanes") \
  X(TCP_UTCL1_REQUEST_sum, "address translations asked for") \
  X(TCP_TOTAL_WRITEBACK_INVALIDATES_sum, "invalidations of a vL1D") \
  X(TCP_TCC_READ_REQ_sum, "reads of 128 bytes from L2") \
  X(TCP_TCC_WRITE_REQ_sum, "writes of 64 bytes to L2") \
  X(TCP_TCC_ATOMIC_WITH_RET_REQ_sum, "atomics to L2 that return a value") \
  X(TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum, "atomics to L2 that return nothing") \
  X(TCP_TCC_RW_READ_REQ_sum, "of the reads, those of RW memory") \
  X(TCP_TCC_RW_WRITE_REQ_sum, "of the writes, those to RW memory") \
  X(TCP_TCC_RW_ATOMIC_REQ_sum, "of the atomics, those on RW memory") \
  X(TCC_REQ_sum, "L2 requests") \
  X(TCC_READ_sum, "of these, reads") \
  X(TCC_WRITE_sum, "of these, writes") \
  X(TCC_ATOMIC_sum, "of these, atomics") \
  X(TCC_RW_REQ_sum, "of these, on RW memory") \
  X(TCC_UC_REQ_sum, "of these, on uncached memory: kernel arguments") \
  X(TCC_HIT_sum, "L2 hits") \
  X(TCC_MISS_sum, "L2 misses") \
  X(TCC_WRITEBACK_sum, "lines L2 wrote back") \
  X(TCC_NORMAL_WRITEBACK_sum, "of these, because their place was needed") \
  X(TCC_ALL_TC_OP_WB_WRITEBACK_sum, "of these, at the end of the kernel") \
  X(TCC_NORMAL_EVICT_sum, "lines L2 gave up because their place was needed") \
  X(TCC_EA0_RDREQ_sum, "reads of L2 from the fabric") \
  X(TCC_EA0_RDREQ_32B_sum, "of these, 32 bytes wide") \
  X(TCC_BUBBLE_sum, "of these, 128 bytes wide") \
  X(TCC_EA0_RDREQ_DRAM_sum, "of these, of the device's memory") \
  X(TCC_EA0_WRREQ_sum, "writes of L2 to the fabric") \
  X(TCC_EA0_WRREQ_64B_sum, "of these, 64 bytes wide") \
  X(TCC_EA0_WRREQ_DRAM_sum, "of these, to the device's memory") \
  X(TCC_EA0_ATOMIC_sum, "atomics L2 passes on")
// clang-format on

enum class Counter : std::uint16_t {
#define MARGAY_COUNTER_NAME(name, meaning) name,
  MARGAY_COUNTERS(MARGAY_COUNTER_NAME)
#undef MARGAY_COUNTER_NAME
};

struct CounterInfo {
  std::string_view name;
  std::string_view meaning;
};

inline constexpr CounterInfo kCounterInfo[] = {
#define MARGAY_COUNTER_INFO(name, meaning) {#name, meaning},
    MARGAY_COUNTERS(MARGAY_COUNTER_INFO)
#undef MARGAY_COUNTER_INFO
};
inline constexpr std::size_t kCounters = std::size(kCounterInfo);

[[nodiscard]] constexpr const CounterInfo& info(Counter counter) {
  return kCounterInfo[static_cast<std::size_t>(counter)];
}
/// By its name; with or without "_sum".
[[nodiscard]] constexpr std::optional<Counter> find_counter(std::string_view name) {
  for (std::size_t n = 0; n < kCounters; ++n) {
    const std::string_view known = kCounterInfo[n].name;
    if (known == name || (known.ends_with("_sum") && known.substr(0, known.size() - 4) == name))
      return static_cast<Counter>(n);
  }
  return std::nullopt;
}

/// A value for each counter.
class Counters {
 public:
  [[nodiscard]] std::uint64_t& operator[](Counter c) {
    return values_[static_cast<std::size_t>(c)];
  }
  [[nodiscard]] std::uint64_t operator[](Counter c) const {
    return values_[static_cast<std::size_t>(c)];
  }
  Counters& operator+=(const Counters& other) {
    for (std::size_t n = 0; n < kCounters; ++n) values_[n] += other.values_[n];
    return *this;
  }
  friend bool operator==(const Counters&, const Counters&) = default;

 private:
  std::array<std::uint64_t, kCounters> values_{};
};

}  // namespace margay::profile
