// Every figure that the model of time depends on, for one device: value, unit, source, and how far
// it can be trusted. parameters.cpp is the table; docs/time.md is made from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "gpu/gpu.h"

namespace margay::timing {

/// Cycles are those of the compute units, unless a name says nanoseconds.
struct Parameters {
  double turn = 4;                 ///< Between two instructions of one wave.
  double transcendental = 16;      ///< VALU port.
  double conversion = 16;          ///< VALU port, between f32 and integers.
  double vector_after_matrix = 8;  ///< From its last pass; see Instruction::holds_vector.
  double scalar_result = 16;       ///< Until the SALU may read what the VALU writes to an SGPR.
  double fetch = 16;               ///< Until a wave has 32 bytes of code that it asks for.

  double lds_bus_bytes = 64;    ///< Per cycle and pair of SIMDs, each way.
  double lds_least_cycles = 2;  ///< Per instruction, all SIMDs together.
  double lds_queue = 16;        ///< Cycles of work that LDS takes ahead.
  double lds_latency = 40;      ///< From the end of sending, plus half a cycle per byte of a lane.
  double barrier_release = 10;

  double vector_queue = 16;  ///< Instructions that wait for the TA of a CU.
  double vector_cache_latency = 112;
  double l2_latency = 205;
  double infinity_cache_ns = 230;
  double memory_ns = 410;
  double scalar_hit_latency = 40;
  double scalar_l2_latency = 200;
  double arguments_ns = 690;        ///< Kernel arguments, in the device's memory.
  double host_arguments_ns = 6500;  ///< In the host's, on devices that do not share it.
  double store_latency = 350;       ///< Until L2 has taken a store.

  double l2_bytes_per_cycle = 0;  ///< Per XCD, reads.
  double l2_write_bytes_per_cycle = 0;
  double cu_l2_bytes_per_cycle = 128;  ///< Per CU, reads.
  double cu_l2_write_bytes_per_cycle = 64;
  double bank_fill = 2;            ///< Of one bank of vL1D, with a line from L2.
  double write_buffer = 0.5;       ///< Part of L2 that dirty lines may fill before stores wait.
  double fabric_bytes_per_ns = 0;  ///< Whole device: Infinity Cache, reads.
  double fabric_write_bytes_per_ns = 0;
  double memory_bytes_per_ns = 0;  ///< Whole device: HBM, reads.
  double memory_write_bytes_per_ns = 0;
  double translated_gib = 0;             ///< Memory that the TLBs reach; 0: no limit is known.
  double untranslated_bytes_per_ns = 0;  ///< Whole device: HBM beyond that, reads and writes.

  double workgroup_start = 5.6;  ///< Of the XCD's dispatcher, for a workgroup of one wave.
  double further_wave = 0.3;     ///< Of the dispatcher, for each further wave.
  /// Of the dispatcher of an XCD, for a workgroup.
  [[nodiscard]] double dispatch_cycles(double waves) const {
    return workgroup_start + further_wave * (std::max(1.0, waves) - 1);
  }
  double wave_start = 4;      ///< Until its first instruction.
  double cold_code = 500;     ///< More for the first waves, if the code was not run before.
  double launch_ns = 0;       ///< Of an empty kernel, begin to end.
  double next_launch_ns = 0;  ///< The same, behind other work of its stream.
  double sustained_watts = 0;
  /// Of matrix instructions, for each TFLOP/s at 1 V.
  double f16_watts = 1.34, bf16_watts = 1.15, fp8_watts = 0.63;
  double matrix_ghz = 0;  ///< Cycles that matrix units work for seconds, per ns; 0: no limit known.
  double boost_ghz = 0;
  double upload_ns = 13000;           ///< A copy of few bytes from the host to the device.
  double download_ns = 19000;         ///< And back.
  double host_link_bytes_per_ns = 0;  ///< Copies between host and device, each way.
  double staged_kib = 1024;           ///< Up to this, pageable memory is copied twice:
  double staged_bytes_per_ns = 3.5;   ///< Both copies.
};

/// How a figure was come by.
enum class Confidence : std::uint8_t { high, medium, low };
[[nodiscard]] std::string_view confidence_name(Confidence confidence);

/// One row of the table in docs/time.md.
struct ParameterInfo {
  std::string_view name, meaning, unit, source;
  Confidence confidence;
  double Parameters::* member;
};

[[nodiscard]] const Parameters& parameters_of(const Gpu& gpu);
[[nodiscard]] std::span<const ParameterInfo> parameter_table();

}  // namespace margay::timing
