#include "timing/parameters.h"

#include <array>
#include <cstddef>
#include <vector>

namespace margay::timing {
namespace {

/// As for an MI300X, with the clock and the memory of `gpu`.
Parameters of(const Gpu& gpu) {
  constexpr double kMeasured = 4.2e12, kDataSheet = 5.3e12;  // bytes per second, MI300X
  Parameters p;
  p.l2_bytes_per_cycle = 16 * 128 * 0.9;
  p.l2_write_bytes_per_cycle = 16 * 64 * 0.58;
  p.fabric_bytes_per_ns = 9000;
  p.fabric_write_bytes_per_ns = 0.7 * p.fabric_bytes_per_ns;  // as measured on an MI300A
  p.memory_bytes_per_ns = gpu.memory_bytes_per_second * 1e-9 * kMeasured / kDataSheet;
  p.memory_write_bytes_per_ns = 0.95 * p.memory_bytes_per_ns;
  p.host_link_bytes_per_ns = 55;
  p.launch_ns = 2150;
  p.next_launch_ns = 1760;
  p.sustained_watts = 750;
  p.boost_ghz = gpu.clock_hz() * 1e-9;
  // What is known of single machines.
  if (gpu.option == "mi325x") {
    p.sustained_watts = 1000;
    p.f16_watts = 1.49;
    p.bf16_watts = 1.31;
    p.fp8_watts = 0.72;
  }
  if (gpu.option == "mi300a") {
    // MGPUSim's mi300a.csv: vectoradd (two loads for a store) of 8 and 16 M elements, copies of 32
    // to 64 MB (one for one)
    p.fabric_bytes_per_ns = 4900;
    p.fabric_write_bytes_per_ns = 3400;
    p.memory_ns = 344;  // RRZE gpu-latency, 317 MB
    p.arguments_ns = 620;
    p.launch_ns = 3710;            // MGPUSim's mi300a.csv: from event to event, all kernels
    p.memory_bytes_per_ns = 3600;  // the same: vectoradd of 64 M elements
    p.memory_write_bytes_per_ns = 3400;
    p.translated_gib = 1.25;  // the same: vectoradd of 128 M elements and more
    p.untranslated_bytes_per_ns = 2050;
    p.sustained_watts = 760;          // with 550 the fit leaves no power for a stream of HBM
    p.host_link_bytes_per_ns = 57.9;  // the same: copies from the host of 2 to 512 MB
  }
  if (gpu.option == "mi308x") {
    p.boost_ghz = 1.83;  // pyhip, gpu-frequency-probe
    p.sustained_watts = 650;
    p.matrix_ghz = 0.97;
    // As much for each XCD as was measured of an MI300X's eight at best (chips and cheese).
    p.fabric_bytes_per_ns = 11900.0 / 8 * gpu.xcds;
    p.fabric_write_bytes_per_ns = 0.7 * p.fabric_bytes_per_ns;
  }
  return p;
}

using enum Confidence;
constexpr const char* kMatrixWatts =
    "AMD's maximum achievable FLOP/s and their clocks (MI300X, MI325X), with the other terms of "
    "the "
    "fit to RRZE gpu-roofline";
constexpr auto kTable = std::to_array<ParameterInfo>({
    {"turn", "between two instructions of one wave", "cycles",
     "pyhip mfma-valu-coissue (gfx942, s_memtime)", high, &Parameters::turn},
    {"transcendental", "VALU port busy with exp, log, rcp, rsq, sqrt, sin, cos", "cycles",
     "pyhip mfma-valu-coissue", high, &Parameters::transcendental},
    {"conversion", "VALU port busy with a conversion between f32 and integers", "cycles",
     "LLVM's schedule of gfx942 (4 turns; it says so of f16, too, which the MI300 thread trace has "
     "at 1)",
     low, &Parameters::conversion},
    {"vector_after_matrix",
     "from a matrix instruction's last pass to packed f32 and dot products, and to all of the VALU "
     "if it multiplies f32 or f64",
     "cycles", "thread traces of MI308X and MI350X (LLVM pull request 233721); pyhip's sequences",
     high, &Parameters::vector_after_matrix},
    {"scalar_result",
     "from a VALU instruction that writes an SGPR or VCC until a scalar instruction issues",
     "cycles",
     "MI300 thread trace: s_and, s_or and s_movk behind v_cmp, whichever registers they have, are "
     "idle for 7 to 14 cycles that other waves hide, which is half to all of them",
     medium, &Parameters::scalar_result},
    {"fetch",
     "from a wave's asking for 32 bytes of code until they have come from L1I: behind a branch "
     "back, "
     "and when all of one of two fetches has issued",
     "cycles",
     "vcopy's counters on MI300X: 16.0 (SQ_IFETCH_LEVEL, launches with warm code); pyhip's aligned "
     "and misaligned 8-byte instructions (4 and 5 cycles); MGPUSim's mi300a.csv: a trip of fir's "
     "loop takes 17 to 22 cycles more than its instructions",
     medium, &Parameters::fetch},
    {"lds_bus_bytes", "bus between a pair of SIMDs and LDS, each way", "bytes/cycle",
     "rocprofiler-compute documentation, pipeline descriptions", high, &Parameters::lds_bus_bytes},
    {"lds_least_cycles", "an LDS instruction without conflicts, all SIMDs together", "cycles",
     "32 banks; MI300 thread trace (four waves' bursts of ds_read_u16: 1.97)", high,
     &Parameters::lds_least_cycles},
    {"lds_queue", "work that LDS takes ahead", "cycles", "MI300 thread trace, the same bursts", low,
     &Parameters::lds_queue},
    {"lds_latency",
     "from the end of sending until data come back, plus half a cycle per byte of a lane", "cycles",
     "MI300 thread trace of an attention loop; pyhip mem_latency (b32 52, b128 64 with "
     "issue and wait)",
     medium, &Parameters::lds_latency},
    {"barrier_release", "from the last wave's arrival until waves go on", "cycles",
     "MI300 thread trace of an attention loop (mean 36 to 59 with skew; fitted)", low,
     &Parameters::barrier_release},
    {"vector_queue", "vector memory instructions that wait for the TA", "instructions",
     "pyhip vm_cnt: the 24th random load in a row stalls", low, &Parameters::vector_queue},
    {"vector_cache_latency", "load that hits vL1D", "cycles",
     "RRZE gpu-latency (116 to 120 for a step of a chain, 8 of them for issue and wait)", high,
     &Parameters::vector_cache_latency},
    {"l2_latency", "load that hits L2", "cycles",
     "RRZE gpu-latency (201 to 228 for a step of a chain, 8 of them for issue and wait)", high,
     &Parameters::l2_latency},
    {"infinity_cache_ns", "load that hits the Infinity Cache", "ns",
     "RRZE gpu-latency (442 to 530 cycles at 2.1 GHz)", medium, &Parameters::infinity_cache_ns},
    {"memory_ns", "load from HBM", "ns", "RRZE gpu-latency (835 to 890 cycles at 2.1 GHz)", high,
     &Parameters::memory_ns},
    {"scalar_hit_latency", "scalar load that hits", "cycles",
     "MT4G, chips and cheese (48 for a step of a chain, 8 of them for issue and wait)", high,
     &Parameters::scalar_hit_latency},
    {"scalar_l2_latency", "scalar load that L2 serves", "cycles", "assumed as for vector loads",
     low, &Parameters::scalar_l2_latency},
    {"arguments_ns",
     "first scalar load of kernel arguments, for all waves that ask meanwhile; in a loop the "
     "latency of the Infinity Cache",
     "ns",
     "vcopy's counters on MI300A: the scalar caches take no more requests for 930 to 1600 cycles "
     "(SQC_DCACHE_INPUT_VALID_READYB), after about 300 in which they took 31; elsewhere longer by "
     "the latency of HBM",
     low, &Parameters::arguments_ns},
    {"host_arguments_ns", "the same, of arguments in the host's memory (HIP_FORCE_DEV_KERNARG=0)",
     "ns",
     "vcopy's counters on MI300X: 16400 to 17600 cycles in which the scalar caches take no more, "
     "16000 by SQ_INST_LEVEL_SMEM, 12000 to 14000 by SQ_BUSY_CYCLES and SQ_WAVE_CYCLES",
     low, &Parameters::host_arguments_ns},
    {"store_latency", "until a store is counted as done", "cycles",
     "MGPUSim's mi300a.csv: atax of 48 to 128 (340 to 380)", medium, &Parameters::store_latency},
    {"l2_bytes_per_cycle", "L2 reads of an XCD: 16 channels of 128 bytes, 0.9 of them",
     "bytes/cycle", "rocm-libraries, Formocast (L2ReadArbEff)", medium,
     &Parameters::l2_bytes_per_cycle},
    {"l2_write_bytes_per_cycle", "L2 writes of an XCD: 16 channels of 64 bytes, 0.58 of them",
     "bytes/cycle", "rocm-libraries, Formocast (L2WriteArbEff)", medium,
     &Parameters::l2_write_bytes_per_cycle},
    {"cu_l2_bytes_per_cycle", "from L2 to one CU", "bytes/cycle",
     "AMD's CDNA 3 white paper; rocm-libraries, Formocast; MGPUSim's mi300a.csv: spmv with 32 "
     "elements a row",
     high, &Parameters::cu_l2_bytes_per_cycle},
    {"cu_l2_write_bytes_per_cycle", "from one CU to L2", "bytes/cycle", "rocm-libraries, Formocast",
     medium, &Parameters::cu_l2_write_bytes_per_cycle},
    {"bank_fill", "one of the four banks of vL1D busy with a line from L2", "cycles",
     "four banks by address bits 7 and 8: wave-lang's documentation of buffers and swizzle; "
     "MGPUSim's mi300a.csv: atax, whose rows are in one bank, takes 1.8 cycles a line",
     low, &Parameters::bank_fill},
    {"write_buffer", "of L2: dirty lines that wait for the fabric while loads go first",
     "share of L2", "assumed", low, &Parameters::write_buffer},
    {"fabric_bytes_per_ns", "Infinity Cache reads, whole device", "bytes/ns",
     "RRZE gpu-cache, 20 to 270 MB (5.3 to 10.2 TB/s), chips and cheese (11.9); MI308X: "
     "the latter, by its XCDs",
     medium, &Parameters::fabric_bytes_per_ns},
    {"fabric_write_bytes_per_ns", "Infinity Cache writes, whole device", "bytes/ns",
     "MGPUSim's mi300a.csv: vectoradd and copies that fit it; the same share of reads elsewhere",
     low, &Parameters::fabric_write_bytes_per_ns},
    {"memory_bytes_per_ns", "HBM reads, whole device", "bytes/ns", "RRZE gpu-stream (4.2 TB/s)",
     high, &Parameters::memory_bytes_per_ns},
    {"memory_write_bytes_per_ns", "HBM writes, whole device", "bytes/ns", "RRZE gpu-stream (copy)",
     medium, &Parameters::memory_write_bytes_per_ns},
    {"translated_gib", "memory of a launch that the TLBs reach; 0: no limit is known", "GiB",
     "MGPUSim's mi300a.csv: vectoradd of 64 M to 512 M elements", medium,
     &Parameters::translated_gib},
    {"untranslated_bytes_per_ns", "HBM beyond that, reads and writes, whole device", "bytes/ns",
     "the same", medium, &Parameters::untranslated_bytes_per_ns},
    {"workgroup_start", "dispatcher of an XCD, a workgroup of one wave", "cycles",
     "MGPUSim's mi300a.csv: floydwarshall of 512 to 4096 nodes (5.6 to 6.2)", medium,
     &Parameters::workgroup_start},
    {"further_wave", "dispatcher, each further wave of a workgroup", "cycles",
     "RRZE gpu-l2-stream (10 cycles for 16 waves)", low, &Parameters::further_wave},
    {"wave_start", "until a wave's first instruction", "cycles",
     "RRZE gpu-l2-stream (88 with two scalar loads of 48)", low, &Parameters::wave_start},
    {"cold_code", "more until then, for the first waves of code that was not run before", "cycles",
     "MI300 thread trace (first fetch 530)", low, &Parameters::cold_code},
    {"upload_ns", "a copy of few bytes from the host to the device", "ns",
     "MGPUSim's mi300a.csv: copies from the host of 2 to 16 MB, extrapolated; bfs (a copy to and "
     "one from the device for each level) agrees",
     medium, &Parameters::upload_ns},
    {"download_ns", "a copy of few bytes from the device to the host", "ns",
     "the same, copies to the host", medium, &Parameters::download_ns},
    {"host_link_bytes_per_ns", "copies between host and device, each way", "bytes/ns",
     "PCIe 5.0 with 16 lanes: 64 GB/s without headers; MI300A: MGPUSim's mi300a.csv", low,
     &Parameters::host_link_bytes_per_ns},
    {"staged_kib", "the most bytes of pageable memory that are copied by way of a pinned buffer",
     "KiB", "MGPUSim's mi300a.csv: fastwalshtransform, where 1 MB takes longer than 2 MB", medium,
     &Parameters::staged_kib},
    {"staged_bytes_per_ns", "such copies", "bytes/ns",
     "MGPUSim's mi300a.csv: floydwarshall, fastwalshtransform, bfs of 64 KB to 1 MB (2.2 to 4.4)",
     low, &Parameters::staged_bytes_per_ns},
    {"launch_ns", "an empty kernel, from begin to end", "ns", "Formocast (initialCost 2.7 us)", low,
     &Parameters::launch_ns},
    {"next_launch_ns", "the same, behind other work of its stream", "ns",
     "MGPUSim's mi300a.csv: floydwarshall, 38.0 us for 8 passes of one workgroup, 142.5 for 64",
     medium, &Parameters::next_launch_ns},
    {"sustained_watts", "power over seconds", "W",
     "data sheets (MI300X 750, MI325X 1000, MI300A 550 to 760)", medium,
     &Parameters::sustained_watts},
    {"f16_watts", "f16 matrix instructions' power at 1 V", "W per TFLOP/s", kMatrixWatts, low,
     &Parameters::f16_watts},
    {"bf16_watts", "the same of bf16", "W per TFLOP/s", kMatrixWatts, low, &Parameters::bf16_watts},
    {"fp8_watts", "the same of fp8", "W per TFLOP/s", kMatrixWatts, low, &Parameters::fp8_watts},
    {"matrix_ghz", "cycles for which a matrix unit works, over seconds; 0: no limit is known",
     "cycles/ns",
     "pyhip gpu-frequency-probe: MFMA without a pause goes from 1.83 to 1.0 GHz, at 242 W, and "
     "stays above 1.8 if one of 32 cycles comes every 60",
     medium, &Parameters::matrix_ghz},
    {"boost_ghz", "clock of a short kernel", "GHz", "data sheets", high, &Parameters::boost_ghz},
});
static_assert(kTable.size() * sizeof(double) == sizeof(Parameters), "every figure has its source");

}  // namespace

std::string_view confidence_name(Confidence confidence) {
  constexpr std::string_view kNames[] = {"high", "medium", "low"};
  return kNames[static_cast<std::size_t>(confidence)];
}

const Parameters& parameters_of(const Gpu& gpu) {
  static const std::vector<Parameters> all = [] {
    std::vector<Parameters> out;
    for (const Gpu& one : all_gpus()) out.push_back(of(one));
    return out;
  }();
  return all[static_cast<std::size_t>(&gpu - all_gpus().data())];
}

std::span<const ParameterInfo> parameter_table() { return kTable; }

}  // namespace margay::timing
