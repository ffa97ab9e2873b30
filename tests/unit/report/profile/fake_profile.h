// A made-up profile with everything a report shows: a GEMM of eight waves with bank conflicts,
// inlined library code, tensors, maps and timelines; and a kernel whose names try to break out.
#pragma once

#include <fmt/format.h>

#include "report/profile/profile.h"

namespace margay::profile::fake {

inline constexpr const char* kUserFile = "/src/gemm.cpp";
inline constexpr const char* kLibraryFile = "/opt/kittens/include/kittens/shared.cuh";
inline constexpr const char* kLostFile = "/gone/epilogue.h";
inline constexpr const char* kHostileName = "</script><img onerror=alert(1)>\"'&<!--";
inline constexpr std::uint64_t kWorkgroups = 1024, kWaves = 8, kSteps = 128;

/// Adds instructions at rising addresses.
class Code {
 public:
  explicit Code(KernelProfile& kernel) : kernel_(kernel) {}

  Site& add(InstructionClass kind, std::string text, std::uint32_t line, std::uint64_t per_wave) {
    Site& site = kernel_.sites.emplace_back();
    site.vaddr = at_;
    at_ += kind == InstructionClass::salu ? 4 : 8;
    site.text = std::move(text);
    site.instruction_class = kind;
    site.function = kernel_.name;
    if (line != 0) site.frames = {{kernel_.name, kUserFile, line, 5}};
    site.executions = per_wave * kWaves * kWorkgroups;
    site.active_lanes = 64 * site.executions;
    site.issue_cycles = site.executions * (kind == InstructionClass::mfma ? 16 : 4);
    return site;
  }
  void skip(std::uint64_t bytes) { at_ += bytes; }

 private:
  KernelProfile& kernel_;
  std::uint64_t at_ = 0x1a00;
};

inline void add_lds(Site& site, bool is_write, std::uint32_t ways) {
  site.is_read = !is_write;
  site.is_write = is_write;
  site.frames.insert(site.frames.begin() + 1, {"kittens::load<rt_bf<16, 16>>", kLibraryFile, 3, 9});
  LdsUse& use = site.lds.emplace();
  use.cycles = site.executions * 4 * ways;
  use.conflict_cycles = site.executions * 4 * (ways - 1);
  use.conflicting = ways > 1 ? site.executions : 0;
  use.worst_ways = ways;
  use.worst_lanes = ways > 1 ? 0x1111 : 0;
  for (std::size_t n = 0; n < use.bank_dwords.size(); ++n)
    use.bank_dwords[n] = n % ways == 0 ? site.executions * 4 * ways : 0;
}

inline void add_memory(Site& site, bool is_write, std::uint64_t l2_per_execution) {
  site.is_read = !is_write;
  site.is_write = is_write;
  site.traits.path = MemoryPath::global;
  MemoryTraffic& m = site.memory.emplace();
  m.lane_bytes = site.active_lanes * 16;
  m.accesses = site.executions * 16;
  m.tag_accesses = site.executions * 16;
  m.sector_bytes = site.executions * 16 * 64;
  m.lookup_cycles = m.sector_bytes / 64;
  m.least_sector_bytes = m.sector_bytes / (is_write ? 2 : 1);
  (is_write ? m.l2_writes : m.l2_reads) = site.executions * l2_per_execution;
  m.l2_hits = (m.l2_reads + m.l2_writes) * 3 / 4;
  m.l2_misses = m.l2_reads + m.l2_writes - m.l2_hits;
  m.fabric_read_bytes = is_write ? 0 : m.l2_misses * 128;
}

inline void add_gemm_code(KernelProfile& kernel) {
  using enum InstructionClass;
  Code code(kernel);
  code.add(smem, "s_load_dwordx8 s[8:15], s[0:1], 0x0", 4, 1).is_read = true;
  code.add(other, "s_waitcnt lgkmcnt(0)", 4, 1);
  for (int n = 0; n < 12; ++n) code.add(valu, fmt::format("v_lshlrev_b32 v{}, 4, v0", n + 1), 5, 1);
  code.skip(96);
  for (int n = 0; n < 8; ++n)
    add_memory(
        code.add(vmem,
                 fmt::format("global_load_dwordx4 v[{}:{}], v1, s[8:9]", 20 + 4 * n, 23 + 4 * n), 9,
                 kSteps),
        false, 8);
  code.add(other, "s_waitcnt vmcnt(0)", 10, kSteps).traits.vm_wait = 0;
  for (int n = 0; n < 8; ++n)
    add_lds(code.add(lds,
                     fmt::format("ds_write_b128 v2, v[{}:{}] offset:{}", 20 + 4 * n, 23 + 4 * n,
                                 1024 * n),
                     10, kSteps),
            true, 1);
  code.add(other, "s_waitcnt lgkmcnt(0)", 11, kSteps);
  code.add(other, "s_barrier", 11, kSteps);
  for (int n = 0; n < 24; ++n)
    add_lds(
        code.add(lds,
                 fmt::format("ds_read_b64 v[{}:{}], v3 offset:{}", 60 + 2 * n, 61 + 2 * n, 512 * n),
                 13, kSteps),
        false, n % 3 == 0 ? 4 : 1);
  code.add(other, "s_waitcnt lgkmcnt(4)", 14, kSteps);
  for (int n = 0; n < 64; ++n) {
    Site& site =
        code.add(mfma,
                 fmt::format("v_mfma_f32_16x16x16_bf16 a[{0}:{1}], v[60:61], v[62:63], a[{0}:{1}]",
                             4 * n, 4 * n + 3),
                 14, kSteps);
    site.flops = site.executions * 8192;
  }
  code.add(salu, "s_add_i32 s4, s4, -1", 8, kSteps);
  code.add(branch, "s_cbranch_scc1 65301", 8, kSteps);
  for (int n = 0; n < 16; ++n) {
    Site& convert =
        code.add(valu, fmt::format("v_cvt_pk_bf16_f32 v{0}, v{0}, v{1}", 60 + n, 61 + n), 0, 1);
    convert.frames = {{"store_result<float, true>", kLostFile, 31, 3},
                      {kernel.name, kUserFile, 16, 3}};
    convert.active_lanes = convert.executions * 48;
    convert.flops = convert.active_lanes;
  }
  for (int n = 0; n < 4; ++n)
    add_memory(code.add(vmem,
                        fmt::format("global_store_dwordx2 v[4:5], v[{}:{}], s[12:13]", 60 + 2 * n,
                                    61 + 2 * n),
                        16, 1),
               true, 16);
  code.add(other, "s_endpgm", 17, 1);
}

inline void add_gemm_counters(KernelProfile& kernel) {
  using enum Counter;
  Counters& c = kernel.counters;
  c[SQ_WAVES] = c[SQ_WAVES_EQ_64] = kWaves * kWorkgroups;
  for (const Site& site : kernel.sites) {
    c[SQ_INSTS] += site.executions;
    if (site.instruction_class == InstructionClass::mfma) {
      c[SQ_INSTS_MFMA] += site.executions;
      c[SQ_INSTS_VALU_MFMA_BF16] += site.executions;
      c[SQ_INSTS_VALU_MFMA_MOPS_BF16] += site.flops / 512;
      c[SQ_VALU_MFMA_BUSY_CYCLES] += site.issue_cycles;
    }
    if (site.instruction_class == InstructionClass::mfma ||
        site.instruction_class == InstructionClass::valu) {
      c[SQ_INSTS_VALU] += site.executions;
      c[SQ_ACTIVE_INST_VALU] += site.issue_cycles / 4;
    }
    if (site.instruction_class == InstructionClass::valu && site.flops > 0)
      c[SQ_INSTS_VALU_CVT] += site.executions;
    if (site.lds) {
      c[SQ_INSTS_LDS] += site.executions;
      c[SQ_LDS_IDX_ACTIVE] += site.lds->cycles;
      c[SQ_LDS_BANK_CONFLICT] += site.lds->conflict_cycles;
    }
    if (!site.memory) continue;
    const MemoryTraffic& m = *site.memory;
    c[TA_TOTAL_WAVEFRONTS_sum] += site.executions;
    c[TCP_TOTAL_ACCESSES_sum] += m.accesses;
    c[TCP_TOTAL_CACHE_ACCESSES_sum] += m.tag_accesses;
    c[TCP_TCC_READ_REQ_sum] += m.l2_reads;
    c[TCP_TCC_WRITE_REQ_sum] += m.l2_writes;
    c[TCC_REQ_sum] += m.l2_reads + m.l2_writes;
    c[TCC_HIT_sum] += m.l2_hits;
    c[TCC_MISS_sum] += m.l2_misses;
    c[TCC_EA0_RDREQ_sum] += m.fabric_read_bytes / 128;
    c[TCC_BUBBLE_sum] += m.fabric_read_bytes / 128;
    c[TCC_EA0_WRREQ_sum] += m.l2_writes;
    c[TCC_EA0_WRREQ_64B_sum] += m.l2_writes;
  }
  kernel.xcds.resize(8);
  for (std::size_t n = 0; n < 8; ++n) kernel.xcds[n][TCC_REQ_sum] = c[TCC_REQ_sum] / 8 + n;
}

inline TensorTraffic tensor(std::string name, std::string element, std::uint64_t rows,
                            std::uint64_t columns) {
  TensorTraffic t;
  t.name = std::move(name);
  t.type = "kittens::gl<bf16, 1, 1, -1, -1>";
  t.element = std::move(element);
  t.element_bytes = 2;
  t.shape = {1, 1, rows, columns};
  t.bytes = rows * columns * 2;
  return t;
}

/// Waves of a workgroup in two rows of four, each on a part of a tile.
inline WaveMap map_of(std::int32_t tensor, std::uint64_t rows, std::uint64_t row_bytes,
                      std::uint64_t used_bytes, bool is_write) {
  WaveMap map{tensor, {}};
  for (std::uint64_t row = 0; row < rows; ++row)
    for (std::uint64_t quarter = 0; quarter < 4; ++quarter) {
      TouchedRange range{row * row_bytes + quarter * used_bytes / 4, used_bytes / 4, 0, 0};
      const std::uint32_t wave = 1u << ((row * 2 / rows) * 4 + quarter);
      if (is_write)
        range.writers = wave;
      else
        range.readers = quarter % 2 == 0 ? 0x0fu << (row * 2 / rows) * 4 : wave;
      map.ranges.push_back(range);
    }
  return map;
}

inline std::uint32_t site_index(const KernelProfile& kernel, std::string_view text) {
  for (std::uint32_t n = 0; n < kernel.sites.size(); ++n)
    if (kernel.sites[n].text.starts_with(text)) return n;
  return 0;
}

inline void add_traces(KernelProfile& kernel) {
  using Kind = TraceSlice::Kind;
  using enum InstructionClass;
  for (std::uint32_t wave = 0; wave < 2; ++wave) {
    WaveTrace& trace = kernel.traces.emplace_back();
    trace.workgroup = {3, 1, 0};
    trace.wave = wave;
    trace.launch = 2;
    std::uint32_t step = wave;
    const auto add = [&](Kind kind, InstructionClass c, std::string_view text, std::uint32_t count,
                         std::uint32_t steps, std::uint16_t vector, std::uint16_t in_lds) {
      trace.slices.push_back(
          {kind, c, step, steps, count, site_index(kernel, text), vector, in_lds});
      step += steps;
    };
    add(Kind::work, smem, "s_load", 1, 1, 0, 0);
    add(Kind::work, vmem, "global_load", 8, 8, 0, 1);
    add(Kind::wait, other, "s_waitcnt vmcnt(0)", 1, 1, 8, 1);
    add(Kind::work, lds, "ds_write", 8, 8, 0, 0);
    add(Kind::barrier, other, "s_barrier", 1, 37 - wave, 0, 0);
    add(Kind::work, lds, "ds_read", 4, 4, 0, 0);
    add(Kind::work, mfma, "v_mfma", 16, 64, 0, 4);
    add(Kind::work, vmem, "global_store", 1, 1, 0, 0);
  }
}

inline KernelProfile gemm() {
  KernelProfile kernel;
  kernel.name = "void gemm::kernel<gemm::Tile<256, 256, 64>, bf16>(gemm::Arguments<bf16>)";
  kernel.symbol = "_ZN4gemm6kernelE";
  kernel.grid = {1024, 1, 1};
  kernel.workgroup = {512, 1, 1};
  kernel.launches = 1;
  kernel.host_seconds = 3.2;
  kernel.resources = {
      .vgprs = 256,
      .agprs = 128,
      .sgprs = 48,
      .static_lds_bytes = 64 * 1024,
      .code_bytes = 9216,
      .workgroups_per_cu = 1,
      .waves_per_cu = 8,
      .waves_per_simd = 2,
      .limit = "LDS",
      .next_step = "one more workgroup per CU would fit with 32768 bytes of LDS instead of 65536"};
  add_gemm_code(kernel);
  add_gemm_counters(kernel);
  TensorTraffic a = tensor("g.a", "bf16", 8192, 8192), c = tensor("g.c", "bf16", 8192, 8192);
  a.read_bytes = 64 * a.bytes;
  a.touched_read_bytes = a.bytes;
  a.l2_read_bytes = 4 * a.bytes;
  a.fabric_read_bytes = a.bytes * 11 / 10;
  c.written_bytes = c.touched_written_bytes = c.l2_written_bytes = c.fabric_written_bytes = c.bytes;
  kernel.tensors = {a, c};
  kernel.maps = {map_of(-1, 512, 128, 128, false), map_of(0, 256, 16384, 16384, false),
                 map_of(1, 256, 16384, 512, true)};
  for (std::size_t n = 0; n < kernel.maps[0].ranges.size(); ++n)
    kernel.maps[0].ranges[n].writers = 1u << (n / 16 % 8);
  add_traces(kernel);
  return kernel;
}

/// Names that would end the script or the JSON, or become elements, if nothing stopped them.
inline KernelProfile hostile() {
  KernelProfile kernel;
  kernel.name = kHostileName;
  kernel.grid = {4, 1, 1};
  kernel.workgroup = {64, 1, 1};
  kernel.launches = 3;
  kernel.failed_launches = 1;
  kernel.resources.limit = kHostileName;
  Site& site = kernel.sites.emplace_back();
  site.vaddr = 0x100;
  site.text = std::string("v_mov_b32 v0, ") + kHostileName;
  site.instruction_class = InstructionClass::valu;
  site.function = kHostileName;
  site.frames = {{kHostileName, kHostileName, 1, 1}};
  site.executions = 12;
  site.active_lanes = 12 * 64;
  site.issue_cycles = 48;
  kernel.counters[Counter::SQ_INSTS] = 12;
  TensorTraffic& t = kernel.tensors.emplace_back();
  t.name = t.element = t.type = kHostileName;
  t.read_bytes = t.touched_read_bytes = t.l2_read_bytes = t.fabric_read_bytes = 128;
  kernel.maps.push_back({0, {{0, 128, 1, 0}}});
  return kernel;
}

inline Profile profile() {
  Profile out;
  out.device = "AMD Instinct MI325X";
  out.schedule = "workgroups go round robin over the 8 XCDs; memory answers at once";
  out.mfma = "fast";
  out.kernels = {gemm(), hostile()};
  return out;
}

}  // namespace margay::profile::fake
