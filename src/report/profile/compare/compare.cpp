#include "report/profile/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/profile/analysis/bounds.h"
#include "report/profile/analysis/metrics.h"
#include "report/profile/compare/compare_lines.h"
#include "report/profile/text/wrap.h"
#include "report/profile/time/time_values.h"
#include "report/words.h"

namespace margay::profile {
namespace {

using report::painted;

constexpr std::size_t kShownMetrics = 14;

/// How far apart two numbers are, by ratio: 1 is twice or half.
double change(double a, double b) {
  if (a == b) return 0;
  if (a == 0 || b == 0) return 64;
  return std::abs(std::log2(std::abs(b) / std::abs(a)));
}

std::string ratio_text(double a, double b) {
  if (a == b) return "=";
  if (a == 0) return "new";
  if (b == 0) return "gone";
  return b / a >= 99.5 || b / a < 0.01 ? fmt::format("{:.2g}x", b / a)
                                       : fmt::format("{:.2f}x", b / a);
}

}  // namespace

/// For percentages the difference is more informative than the ratio.
std::string change_text(const Difference& d) {
  return d.unit == "%" ? fmt::format("{:+.1f}", d.b - d.a) : ratio_text(d.a, d.b);
}

std::string value_text(const Difference& d, double value) {
  if (d.unit == "s") return report::seconds_text(value);
  if (d.unit == "bytes") return report::bytes_text(value);
  if (d.unit == "%") return fmt::format("{:.1f} %", value);
  return std::abs(value) < 1000 && value != std::round(value) ? fmt::format("{:.3g}", value)
                                                              : report::quantity_text(value);
}

namespace {

std::vector<Difference> compare_bounds(const KernelProfile& a, const KernelProfile& b) {
  std::map<std::string, Difference> parts;
  const auto add = [&](const KernelProfile& k, double Difference::* side) {
    for (const Bound& bound : bounds_of(k)) {
      Difference& d = parts[std::string(part_name(bound.part))];
      d.what = part_name(bound.part);
      d.unit = "s";
      d.*side = bound.seconds / static_cast<double>(k.launches);
    }
  };
  add(a, &Difference::a);
  add(b, &Difference::b);
  std::vector<Difference> out;
  for (auto& [part, d] : parts) {
    d.seconds = d.b - d.a;
    out.push_back(std::move(d));
  }
  std::ranges::sort(out, [](const Difference& x, const Difference& y) {
    return std::pair(-std::abs(x.seconds), x.what) < std::pair(-std::abs(y.seconds), y.what);
  });
  return out;
}

/// Counts are compared per launch; rates as they are.
bool is_count(const Metric& metric) {
  return metric.formula.starts_with("S") || metric.formula.starts_with("T") ||
                 metric.unit == "FLOP" || metric.unit == "IOP" || metric.unit == "bytes"
             ? metric.formula.find('/') == std::string_view::npos || metric.unit == "FLOP"
             : false;
}

/// Equal changes are ordered by how much they explain.
int importance(const Metric& metric) {
  static const std::map<std::string_view, int> kFirst = {{"lds_bank_conflicts_per_access", 0},
                                                         {"coalescing", 0},
                                                         {"vl1d_hit_rate", 1},
                                                         {"l2_hit_rate", 1},
                                                         {"fabric_read_bytes", 1},
                                                         {"mfma_instructions", 1},
                                                         {"instructions_per_wave", 1},
                                                         {"lds_bank_conflicts", 1}};
  const auto found = kFirst.find(metric.id);
  return found == kFirst.end() ? 2 : found->second;
}

std::vector<Difference> compare_metrics(const KernelProfile& a, const KernelProfile& b) {
  const auto of_a = metrics_of(a), of_b = metrics_of(b);
  struct Ranked {
    int importance;
    double change;
    Difference difference;
  };
  static const std::set<std::string_view> kShownElsewhere = {
      "launches", "vgprs", "sgprs", "lds_bytes", "scratch_bytes", "vgpr_spills", "waves_per_cu"};
  std::vector<Ranked> ranked;
  for (std::size_t n = 0; n < of_a.size(); ++n) {
    const Metric& m = of_a[n];
    if (kShownElsewhere.contains(m.id) || (!m.value && !of_b[n].value)) continue;
    Difference d;
    d.what = m.panel == "Margay" || m.panel.size() > 24 ? std::string(m.name)
                                                        : fmt::format("{}: {}", m.panel, m.name);
    d.unit = m.unit;
    d.a = m.value.value_or(0) / (is_count(m) ? static_cast<double>(a.launches) : 1);
    d.b = of_b[n].value.value_or(0) / (is_count(m) ? static_cast<double>(b.launches) : 1);
    const double by = change(d.a, d.b);
    if (by > 0.01) ranked.push_back({importance(m), by, std::move(d)});
  }
  std::ranges::sort(ranked, [](const Ranked& x, const Ranked& y) {
    return std::tuple(x.importance, -x.change, x.difference.what) <
           std::tuple(y.importance, -y.change, y.difference.what);
  });
  std::vector<Difference> out;
  for (Ranked& r : ranked) out.push_back(std::move(r.difference));
  return out;
}

std::vector<Difference> compare_resources(const KernelProfile& a, const KernelProfile& b) {
  const Resources &x = a.resources, &y = b.resources;
  const auto product = [](const std::array<std::uint32_t, 3>& s) {
    return static_cast<double>(s[0]) * s[1] * s[2];
  };
  std::vector<Difference> all = {
      {"workgroups", "", product(a.grid), product(b.grid)},
      {"work-items per workgroup", "", product(a.workgroup), product(b.workgroup)},
      {"VGPRs", "", double(x.vgprs), double(y.vgprs)},
      {"SGPRs", "", double(x.sgprs), double(y.sgprs)},
      {"LDS per workgroup", "bytes", double(x.static_lds_bytes + x.dynamic_lds_bytes),
       double(y.static_lds_bytes + y.dynamic_lds_bytes)},
      {"scratch per lane", "bytes", double(x.scratch_bytes), double(y.scratch_bytes)},
      {"spilled VGPRs", "", double(x.vgpr_spills), double(y.vgpr_spills)},
      {"waves per CU", "", double(x.waves_per_cu), double(y.waves_per_cu)},
      {"code", "bytes", double(x.code_bytes), double(y.code_bytes)}};
  std::erase_if(all, [](const Difference& d) { return d.a == d.b; });
  return all;
}

bool both_timed(const KernelProfile& a, const KernelProfile& b) { return a.time && b.time; }

std::vector<Difference> compare_time(const KernelProfile& a, const KernelProfile& b) {
  if (!both_timed(a, b)) return {};
  const timing::KernelTime &x = *a.time, &y = *b.time;
  std::vector<Difference> out = {
      {"cycles", "", x.cycles, y.cycles},
      {"time at boost clock", "s", x.us_boost * 1e-6, y.us_boost * 1e-6},
      {"time at sustained clock", "s", x.us_sustained * 1e-6, y.us_sustained * 1e-6},
      {"error of the model, about", "%", x.error_percent, y.error_percent}};
  if (x.simd_cycles != 0 && y.simd_cycles != 0) {
    constexpr std::pair<const char*, double timing::SimdTime::*> kParts[] = {
        {"SIMDs: work", &timing::SimdTime::work},
        {"SIMDs: idle while waves wait", &timing::SimdTime::idle},
        {"SIMDs: no wave", &timing::SimdTime::empty},
        {"matrix work and memory at the same time", &timing::SimdTime::both}};
    for (const auto& [what, part] : kParts)
      out.push_back({what, "%", 100 * x.simds.*part, 100 * y.simds.*part});
    out.push_back({"waves per SIMD, mean", "", x.waves_per_simd, y.waves_per_simd});
  }
  const std::size_t ranked = out.size();
  const auto add = [&](std::string what, auto&& cycles) {
    out.push_back({std::move(what), "", attributed(x, cycles(x)), attributed(y, cycles(y))});
  };
  add("cycles: issue", [](const timing::KernelTime& t) { return t.issue; });
  for (unsigned n = 0; n < timing::kStalls; ++n)
    add(fmt::format("cycles: {}", timing::kStallNames[n]),
        [n](const timing::KernelTime& t) { return t.stalls[n]; });
  std::erase_if(out, [](const Difference& d) { return d.a == 0 && d.b == 0; });
  std::ranges::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(ranked), out.end(),
                           std::greater{}, [](const Difference& d) { return std::abs(d.b - d.a); });
  return out;
}

/// What the model says, and whether it can tell them apart.
std::string time_verdict(const KernelProfile& a, const KernelProfile& b) {
  const timing::KernelTime &x = *a.time, &y = *b.time;
  const double error = std::max(x.error_percent, y.error_percent);
  const double change_percent = 100 * std::abs(y.us_boost / x.us_boost - 1);
  std::string text = fmt::format(
      "Modelled, not measured: A takes {} (bound by {}), B {} ({}): {} that of A, error about "
      "{:.0f} %",
      report::seconds_text(x.us_boost * 1e-6), timing::bound_name(x.bound),
      report::seconds_text(y.us_boost * 1e-6), timing::bound_name(y.bound),
      ratio_text(x.us_boost, y.us_boost), error);
  if (change_percent < error)
    text += "; a difference below the error counts only between versions of one kernel";
  return text + ". ";
}

std::string verdict(const KernelProfile& a, const KernelProfile& b) {
  const auto of_a = bounds_of(a), of_b = bounds_of(b);
  if (of_a.empty() || of_b.empty()) return "one of them does nothing";
  const double before = of_a.front().seconds / double(a.launches);
  const double after = of_b.front().seconds / double(b.launches);
  std::string text = both_timed(a, b) ? time_verdict(a, b) : std::string{};
  text += fmt::format("A is limited by {} ({} per launch at least), B by {} ({}): the limit is {}",
                      part_name(of_a.front().part), report::seconds_text(before),
                      part_name(of_b.front().part), report::seconds_text(after),
                      before == after ? "the same" : ratio_text(before, after) + " that of A");
  double work_a = 0, work_b = 0;
  for (const Operations& o : operations_of(a)) work_a += o.count / double(a.launches);
  for (const Operations& o : operations_of(b)) work_b += o.count / double(b.launches);
  if (change(work_a, work_b) > 0.05)
    text += fmt::format(". They do not do the same work: {} FLOP and {}",
                        report::quantity_text(work_a), report::quantity_text(work_b));
  return text;
}

/// By the model, or else at least.
double seconds_of(const KernelProfile& k) {
  if (k.time) return k.time->us_boost * 1e-6;
  const auto bounds = bounds_of(k);
  return bounds.empty() ? 0 : bounds.front().seconds;
}

const KernelProfile* longest(const Profile& profile) {
  const auto found = std::ranges::max_element(profile.kernels, {}, seconds_of);
  return found == profile.kernels.end() ? nullptr : &*found;
}

Result<const KernelProfile*> named(const Profile& profile, const std::string& name) {
  std::string names;
  for (const KernelProfile& k : profile.kernels) {
    if (report::is_in_name(name, k.name)) return &k;
    names += (names.empty() ? "" : ", ") + report::short_function(k.name);
  }
  return fail(ErrorCode::not_found, fmt::format("no kernel has \"{}\" in its name", name), {},
              names.empty() ? "no kernel ran" : "there are: " + names);
}

nlohmann::ordered_json differences_json(const std::vector<Difference>& all) {
  auto list = nlohmann::ordered_json::array();
  for (const Difference& d : all)
    list.push_back(
        {{"what", d.what}, {"unit", d.unit}, {"a", d.a}, {"b", d.b}, {"seconds", d.seconds}});
  return list;
}

}  // namespace

Comparison compare(const KernelProfile& a, const KernelProfile& b, const SourceText& text_a,
                   const SourceText& text_b) {
  return {verdict(a, b),         compare_time(a, b),      compare_bounds(a, b),
          compare_metrics(a, b), compare_resources(a, b), compare_lines(a, b, text_a, text_b)};
}

Result<Pair> choose_kernels(const Profile& a, const Profile& b, const std::string& kernel_a,
                            const std::string& kernel_b) {
  if (a.kernels.empty() || b.kernels.empty())
    return fail(ErrorCode::not_found,
                fmt::format("{} ran no kernel", a.kernels.empty() ? "A" : "B"));
  Pair pair;
  if (!kernel_a.empty()) pair.a = MARGAY_TRY(named(a, kernel_a));
  if (!kernel_b.empty()) pair.b = MARGAY_TRY(named(b, kernel_b));
  if (pair.a == nullptr && pair.b == nullptr) {
    // The same kernel in both, the one that takes longest in A if there are several.
    double best = -1;
    for (const KernelProfile& k : a.kernels)
      for (const KernelProfile& other : b.kernels) {
        const double seconds = seconds_of(k);
        if (k.name != other.name || seconds <= best) continue;
        best = seconds;
        pair = {&k, &other};
      }
  }
  if (pair.a == nullptr) pair.a = longest(a);
  if (pair.b == nullptr) pair.b = longest(b);
  return pair;
}

std::string text_of(const Comparison& comparison, const Pair& kernels,
                    const report::TextOptions& options) {
  std::string out;
  const auto line = [&](std::string text) { out += text + "\n"; };
  const auto heading = [&](char letter, const KernelProfile& k) {
    // Peak rates are the device's, so it matters if the devices differ.
    line(fmt::format(
        "{}  {}{}", letter, painted(report::short_function(k.name), report::kBold, options),
        kernels.a->gpu == kernels.b->gpu ? std::string{}
                                         : fmt::format("  (on an {})", k.gpu->short_name())));
  };
  heading('A', *kernels.a);
  heading('B', *kernels.b);
  line("\n" + wrapped(comparison.verdict, 0, 0) + "\n");
  const auto table = [&](std::string_view title, const std::vector<Difference>& all,
                         std::size_t most) {
    if (all.empty()) return;
    line(painted(fmt::format("{:<49}{:>11}{:>11}{:>9}", title, "A", "B", "B/A"), report::kBold,
                 options));
    for (std::size_t n = 0; n < std::min(all.size(), most); ++n) {
      const Difference& d = all[n];
      line(fmt::format("  {:<47}{:>11}{:>11}{:>9}", d.what, value_text(d, d.a), value_text(d, d.b),
                       change_text(d)));
    }
    if (all.size() > most) line(fmt::format("  ({} more: --json)", all.size() - most));
    out += "\n";
  };
  table("modelled time, first launch", comparison.time, comparison.time.size());
  table("needs at least, per launch", comparison.bounds, comparison.bounds.size());
  table("what the compiler made of it", comparison.resources, comparison.resources.size());
  table("counters and metrics, per launch", comparison.metrics, kShownMetrics);
  if (!comparison.lines.empty()) {
    line(painted("lines that changed most", report::kBold, options));
    for (const std::string& text : comparison.lines) line(text);
  }
  return out;
}

std::string json_of(const Comparison& comparison, const Pair& kernels) {
  const nlohmann::ordered_json document = {{"version", 1},
                                           {"a", kernels.a->name},
                                           {"b", kernels.b->name},
                                           {"verdict", comparison.verdict},
                                           {"time", differences_json(comparison.time)},
                                           {"bounds", differences_json(comparison.bounds)},
                                           {"resources", differences_json(comparison.resources)},
                                           {"metrics", differences_json(comparison.metrics)},
                                           {"lines", comparison.lines}};
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace margay::profile
