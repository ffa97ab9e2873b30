#include "report/profile/time/time_values.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "report/profile/time/time_figures.h"

namespace margay::profile {

double attributed(const timing::KernelTime& time, double wave_cycles) {
  double all = time.issue;
  for (const double stall : time.stalls) all += stall;
  return all == 0 ? 0 : time.cycles * wave_cycles / all;
}

std::optional<Throughput> throughput_of(const KernelProfile& kernel) {
  const double flops = kernel.time->flops;
  if (flops == 0) return std::nullopt;
  return Throughput{flops * 1e-6 / kernel.time->us_boost, flops * 1e-6 / kernel.time->us_sustained};
}

Result<double> time_value_of(const KernelProfile& kernel, std::string_view name) {
  if (!kernel.time)
    return fail(ErrorCode::not_found, fmt::format("{} has no modelled time", kernel.name), {},
                "begin the profile with time=1");
  const auto* const figure = std::ranges::find(kTimeFigures, name, &TimeFigure::name);
  if (figure != std::end(kTimeFigures)) return (*kernel.time).*(figure->member);
  const auto throughput = throughput_of(kernel);
  if (name == "tflops_boost" || name == "tflops_sustained") {
    if (throughput) return name == "tflops_boost" ? throughput->boost : throughput->sustained;
    return fail(ErrorCode::not_found, fmt::format("{} does no operations on numbers", kernel.name));
  }
  std::string names;
  for (const TimeFigure& one : kTimeFigures) names += fmt::format("time.{}, ", one.name);
  return fail(ErrorCode::not_found, fmt::format("there is no modelled figure \"{}\"", name), {},
              "there are: " + names + "time.tflops_boost, time.tflops_sustained");
}

}  // namespace margay::profile
