#include "report/profile/time/measured.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace margay::profile {

Result<double> parse_microseconds(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"ns", 1e-3}};
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const auto* const known =
      std::ranges::find(kUnits, unit, &std::pair<std::string_view, double>::first);
  if (failure != std::errc{} || known == std::end(kUnits) || !std::isfinite(value) || value <= 0)
    return fail(ErrorCode::invalid_argument, "not a time: \"" + std::string(text) + "\"", {},
                "write 118us, 0.118ms or 1.2e-4s");
  return value * known->second;
}

std::string measured_text(const KernelProfile& kernel, double measured_us) {
  const timing::KernelTime& time = *kernel.time;
  const auto off = [&](double us) { return 100 * (us - measured_us) / measured_us; };
  const double boost = off(time.us_boost), sustained = off(time.us_sustained);
  // A measured loop runs at a clock between the two.
  const bool is_between = (boost <= 0) != (sustained <= 0) || boost == 0 || sustained == 0;
  const double least = is_between ? 0 : std::min(std::abs(boost), std::abs(sustained));
  std::string out = fmt::format(
      "  measured  {:.4g} us; the model is off by {:+.0f} % at the boost clock, {:+.0f} % "
      "at the sustained one\n",
      measured_us, boost, sustained);
  out += least <= time.error_percent
             ? fmt::format("            within the {:.0f} % of error that it states\n",
                           time.error_percent)
             : fmt::format(
                   "            MORE than the {:.0f} % of error that it states: do not rely "
                   "on the reasons above\n",
                   time.error_percent);
  return out;
}

}  // namespace margay::profile
