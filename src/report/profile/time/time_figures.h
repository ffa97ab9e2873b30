// The figures of a modelled time that are numbers, by the names that all reports and JSON have.
#pragma once

#include <string_view>

#include "timing/launch/device.h"

namespace margay::profile {

struct TimeFigure {
  std::string_view name;
  double timing::KernelTime::* member;
};
inline constexpr TimeFigure kTimeFigures[] = {
    {"cycles", &timing::KernelTime::cycles},
    {"us_boost", &timing::KernelTime::us_boost},
    {"us_sustained", &timing::KernelTime::us_sustained},
    {"boost_ghz", &timing::KernelTime::boost_ghz},
    {"sustained_ghz", &timing::KernelTime::sustained_ghz},
    {"error_percent", &timing::KernelTime::error_percent},
    {"launch_us", &timing::KernelTime::launch_us},
    {"write_back_us", &timing::KernelTime::write_back_us},
    {"tail_us", &timing::KernelTime::tail_us},
    {"sample_length", &timing::KernelTime::sample_length},
    {"flops", &timing::KernelTime::flops},
    {"issue", &timing::KernelTime::issue},
    {"simd_cycles", &timing::KernelTime::simd_cycles},
    {"waves_per_simd", &timing::KernelTime::waves_per_simd},
    {"occupancy_cycles", &timing::KernelTime::occupancy_cycles}};

}  // namespace margay::profile
