#include "report/profile/time/time_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "report/profile/analysis/bounds.h"
#include "report/profile/analysis/contention.h"
#include "report/profile/analysis/metrics.h"
#include "report/profile/kernel_table.h"
#include "report/profile/time/line_times.h"
#include "report/profile/time/time_advice.h"
#include "report/profile/time/time_values.h"

namespace margay::profile {
namespace {

using report::painted;
using timing::kStalls;

std::string us_text(double us) { return report::seconds_text(us * 1e-6); }

std::string rate_text(double tflops) {
  return tflops < 1000 ? fmt::format("{:.3g}", tflops) : fmt::format("{:.0f}", tflops);
}

std::string percent(double part) {
  return fmt::format("{:.0f} %", std::abs(part) < 0.005 ? 0 : 100 * part);  // not "-0 %"
}

/// "WAITCNT 31 %, BARRIER_WAIT 8 %": the largest, of `all`.
std::string stalls_text(const std::array<double, kStalls>& stalls, double all) {
  std::vector<unsigned> order;
  constexpr double kWorthSaying = 0.01;
  for (unsigned n = 0; n < kStalls; ++n)
    if (stalls[n] > kWorthSaying * all) order.push_back(n);
  std::ranges::sort(order, std::ranges::greater{}, [&](unsigned n) { return stalls[n]; });
  std::string out;
  for (const unsigned n : order)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", timing::kStallNames[n],
                       percent(stalls[n] / all));
  return out;
}

/// Without all but the largest.
std::array<double, kStalls> largest(const std::array<double, kStalls>& stalls) {
  std::array<double, kStalls> out{};
  const auto most = std::ranges::max_element(stalls);
  out[static_cast<std::size_t>(most - stalls.begin())] = *most;
  return out;
}

/// What waves do with their time.
std::string waves_text(const timing::KernelTime& t, double all) {
  const std::string stalls = stalls_text(t.stalls, all);
  return fmt::format("issue {}{}{}", percent(t.issue / all), stalls.empty() ? "" : ", ", stalls);
}

std::string busy_text(const timing::Utilisation& busy) {
  return fmt::format(
      "matrix {}, VALU {}, scalar {}, LDS {}, vL1D {}, L2 {}, Infinity Cache {}, HBM {}, "
      "dispatcher {}",
      percent(busy.matrix), percent(busy.valu), percent(busy.scalar), percent(busy.lds),
      percent(busy.vector_cache), percent(busy.l2), percent(busy.infinity_cache),
      percent(busy.memory), percent(busy.dispatcher));
}

/// Where compute units have no work at all. Empty if all have.
std::string idle_text(const KernelProfile& kernel) {
  const unsigned all = kernel.gpu->compute_units();
  const double used = cus_in_use(kernel);
  if (used >= all) return {};
  return fmt::format(
      "{:.0f} of {} compute units, for the grid has {:.0f} workgroups; what is busy is of the "
      "others",
      all - used, all, used);
}

/// Where the workgroups that were watched are shorter or longer than others. Empty if they are not.
std::string sample_text(const timing::KernelTime& t) {
  if (timing::is_like_others(t.sample_length)) return {};
  return fmt::format(
      "a workgroup that was watched has {:.2f} times the instructions of the launch's: what others "
      "take for each of theirs is not known; --all-workgroups replays all",
      t.sample_length);
}

/// Atomics that meet in few places, which the model does not let wait for each other. Empty if
/// none do.
std::string contention_text(const KernelProfile& kernel) {
  std::string out;
  for (const ContendedAtomics& one : contended_atomics(kernel))
    out += fmt::format("{}{} atomics' requests meet in {} of {}", out.empty() ? "" : ", ",
                       report::quantity_text(one.requests), report::bytes_text(one.bytes),
                       kernel.tensors[one.tensor].name);
  if (!out.empty()) out += ": how long they wait for each other is not modelled, it takes longer";
  return out;
}

/// What workgroups do to wait for each other. Empty if they do not.
std::string between_text(const KernelProfile& kernel, const report::TextOptions& options) {
  const timing::BetweenWorkgroups& between = kernel.time->between;
  std::vector<std::string> parts;
  if (between.polling > 0) {
    const auto site = std::ranges::find(kernel.sites, between.polls_at, &Site::vaddr);
    std::string place;
    if (site != kernel.sites.end() && !site->frames.empty())
      place = report::short_place_of(site->frames.front(), options);
    else if (site != kernel.sites.end())
      place = site->text;
    parts.push_back(fmt::format(
        "{} of what waves execute is waiting for what other workgroups write, in a loop at {}: how "
        "often it goes round is the host's, not the device's",
        percent(between.polling), place));
  }
  if (between.grid_syncs > 0)
    parts.push_back(
        fmt::format("each wave has {:.3g} grid barriers or write-backs of L2 (fences of the "
                    "device's scope), which take no time in the model",
                    between.grid_syncs));
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Which of the two times a measured one has to be compared with. Empty if they are the same.
std::string comparison_text(const timing::KernelTime& t) {
  // pyhip's gpu-frequency-probe: dense matrix work keeps the boost clock for about 150 ms.
  constexpr double kSame = 1.03;
  if (t.us_sustained < kSame * t.us_boost) return {};
  return fmt::format(
      "a loop of launches that runs for longer than about 0.15 s with {} (sustained), a launch by "
      "itself with {} (boost)",
      us_text(t.us_sustained), us_text(t.us_boost));
}

/// Which of several launches it is the time of, as far as caches make a difference. Empty if there
/// is one, with cold caches.
std::string launched_text(const KernelProfile& kernel) {
  if (kernel.time->warm) return "timed with the caches that a launch like it has left";
  if (kernel.launches_seen < 2) return {};
  return fmt::format(
      "{} times; this is the first, with cold caches: in a loop they are warm (--warm)",
      kernel.launches_seen);
}

std::string elsewhere_text(const timing::KernelTime& t) {
  std::string out;
  for (const timing::Elsewhere& one : t.elsewhere)
    out +=
        one.misses_decide
            ? fmt::format(
                  "  {:<8}  what misses L2 decides, and other workgroups share it there: run it "
                  "with --device {}\n",
                  one.device, std::ranges::find(all_gpus(), one.device, &Gpu::short_name)->option)
            : fmt::format("  {:<8}  {} at boost clock, {} sustained\n", one.device,
                          us_text(one.us_boost), us_text(one.us_sustained));
  return out;
}

/// What SIMDs do, and what overlaps on them. Empty without such figures.
std::vector<std::string> simd_texts(const timing::KernelTime& t) {
  if (t.simd_cycles == 0) return {};
  const timing::SimdTime& s = t.simds;
  return {fmt::format("work {}, idle while waves wait {}, no wave {}; {:.1f} waves each",
                      percent(s.work), percent(s.idle), percent(s.empty), t.waves_per_simd),
          fmt::format("matrix work and memory {}, only matrix work {}, only memory {}, neither {}",
                      percent(s.both), percent(s.matrix), percent(s.memory), percent(s.neither))};
}

/// How much of what is loaded the caches have, and could have. Empty where nothing is.
std::string caches_text(const KernelProfile& kernel) {
  std::string out;
  const auto add = [&](std::string_view cache, std::string_view is, std::string_view best) {
    const auto rate = value_of(kernel, is), most = value_of(kernel, best);
    if (!rate) return;  // nothing was loaded
    out += fmt::format("{}{} hits {:.0f} %", out.empty() ? "" : ", ", cache, *rate);
    if (most) out += fmt::format(" of at most {:.0f} %", *most);
  };
  add("vL1D", "vl1d_hit_rate", "vl1d_best_hit_rate");
  add("L2", "l2_hit_rate", "l2_best_hit_rate");
  return out;
}

std::string place_of(const LineTime& line, const report::TextOptions& options) {
  std::string place =
      report::short_place_of(SourceFrame{line.function, line.file, line.line, 0}, options);
  if (!place.empty()) return place;
  return line.instruction.empty() ? "without a source line" : line.instruction;
}

}  // namespace

/// Of all wave cycles; less is printed as 0 %.
constexpr double kShown = 0.005;

std::string memory_latency_text(const KernelProfile& kernel, const report::TextOptions& options,
                                bool full) {
  const timing::KernelTime& t = *kernel.time;
  double all = t.issue;
  for (const double stall : t.stalls) all += stall;
  std::vector<LineTime> lines = place_times(kernel);
  std::erase_if(lines, [all](const LineTime& line) { return line.time.flight < kShown * all; });
  std::ranges::stable_sort(lines, std::ranges::greater{},
                           [](const LineTime& line) { return line.time.unhidden; });
  constexpr std::size_t kFew = 4;
  constexpr double kWorthSaying = 0.02;
  std::string out;
  for (const LineTime& line : lines) {
    const bool is_small = line.time.unhidden < kWorthSaying * all;
    if (!full && (is_small || std::ranges::count(out, '\n') == kFew)) break;
    out += fmt::format("  {:>11}  {:>6}  {:>7}  {}\n", percent(line.time.unhidden / all),
                       percent(1 - line.time.unhidden / line.time.flight),
                       percent(line.time.flight / all), place_of(line, options));
  }
  if (out.empty()) return {};
  return "      exposed  hidden   flight  access to memory or LDS (of wave cycles; hidden: of its "
         "flight)\n" +
         out;
}

std::string time_heading(std::string_view what) {
  return fmt::format("  wave cycles  issue   idle  {:<38}  {}\n", "stalled by", what);
}
/// What instructions take of `all` wave cycles and of the SIMDs' time.
std::string time_row(const timing::SiteTime& time, double all, double simd_cycles,
                     std::string_view what) {
  return fmt::format("  {:>11}  {:>5}  {:>5}  {:<38}  {}\n", percent(time.latency / all),
                     percent((time.latency - time.stall()) / all),
                     simd_cycles == 0 ? "" : percent(time.lost / simd_cycles),
                     stalls_text(largest(time.stalls), all), what);
}

/// What instructions of one name take, for code without source lines, which may be unrolled so far
/// that no single one matters. `all`: wave cycles.
std::string time_names_text(const KernelProfile& kernel, double all, bool full) {
  constexpr std::size_t kFew = 6;
  std::string out = time_heading("instructions by name");
  std::size_t rows = 0;
  for (const LineTime& name : name_times(kernel)) {
    const timing::SiteTime& time = name.time;
    if (time.latency < kShown * all || (!full && rows++ == kFew)) break;
    const double each = time.latency / static_cast<double>(std::max<std::uint64_t>(time.hits, 1));
    out += time_row(time, all, kernel.time->simd_cycles,
                    fmt::format("{}, {:.1f} cycles each", name.instruction, each));
  }
  return out;
}

std::string time_lines_text(const KernelProfile& kernel, const report::TextOptions& options,
                            bool full) {
  const std::vector<LineTime> lines = place_times(kernel);
  double all = 0;
  for (const LineTime& line : lines) all += line.time.latency;
  if (all == 0) return {};
  constexpr std::size_t kFew = 8;
  const std::size_t most_shown = full ? lines.size() : std::min(kFew, lines.size());
  const bool are_lines =
      std::ranges::any_of(lines, [](const LineTime& line) { return !line.file.empty(); });
  std::string out = are_lines ? "" : time_names_text(kernel, all, full);
  // Of unrolled code there may be no instruction that matters.
  if (!are_lines && !full && lines[0].time.latency < kShown * all) return out;
  out += time_heading(are_lines ? "line" : "instruction");
  std::size_t shown = 0;
  double left = all;
  for (; shown < most_shown && lines[shown].time.latency >= kShown * all; ++shown) {
    const LineTime& line = lines[shown];
    left -= line.time.latency;
    out += time_row(line.time, all, kernel.time->simd_cycles, place_of(line, options));
  }
  if (full && shown < lines.size())
    out += fmt::format(
        "  {:>11}  of {} with less than {} % each, which --json has\n", percent(left / all),
        report::counted(lines.size() - shown, are_lines ? "line" : "instruction"), 100 * kShown);
  return out;
}

std::string time_advice_text(const KernelProfile& kernel, const report::TextOptions& options,
                             bool full) {
  std::string out;
  for (const TimeAdvice& advice : time_advice(kernel)) {
    if (!advice.is_advice && !full) continue;
    out += fmt::format("  {:>11}  {}", fmt::format("{:+.0f} %", -advice.saves_percent),
                       timing::what_if_name(advice.kind));
    if (!advice.lines.empty()) {
      const SavedLine& line = advice.lines[0];
      const std::string place =
          line.file.empty() ? line.instruction
                            : report::short_place_of(
                                  SourceFrame{line.function, line.file, line.line, 0}, options);
      if (!place.empty()) out += fmt::format(", {} of it at {}", percent(line.share), place);
    }
    out += "\n";
    if (advice.is_advice) out += fmt::format("               {}\n", advice.what_to_do);
  }
  if (out.empty()) return {};
  return "  time that it would take more or less, with\n" + out;
}

std::vector<std::string> time_sentences(const KernelProfile& kernel) {
  const timing::KernelTime& t = *kernel.time;
  double all = t.issue;
  for (const double stall : t.stalls) all += stall;
  std::vector<std::string> out;
  out.push_back(fmt::format(
      "modelled, not measured: {} at {:.2f} GHz ({} cycles); {} sustained, at {:.2f} GHz; "
      "error about {:.0f} %",
      us_text(t.us_boost), t.boost_ghz, report::quantity_text(t.cycles), us_text(t.us_sustained),
      t.sustained_ghz, t.error_percent));
  if (const auto rate = throughput_of(kernel))
    out.push_back(fmt::format("{} TFLOP/s at boost, {} sustained", rate_text(rate->boost),
                              rate_text(rate->sustained)));
  if (const std::string compare = comparison_text(t); !compare.empty())
    out.push_back(fmt::format("compare {}", compare));
  out.push_back(
      fmt::format("bound by {}; busy: {}", timing::bound_name(t.bound), busy_text(t.busy)));
  if (const std::string idle = idle_text(kernel); !idle.empty()) out.push_back("idle: " + idle);
  if (const std::string sample = sample_text(t); !sample.empty())
    out.push_back("sample: " + sample);
  if (const std::string contention = contention_text(kernel); !contention.empty())
    out.push_back("atomics: " + contention);
  if (const std::string between = between_text(kernel, {}); !between.empty())
    out.push_back("between workgroups: " + between);
  if (all > 0) out.push_back("waves: " + waves_text(t, all));
  const std::vector<std::string> simds = simd_texts(t);
  if (!simds.empty()) out.push_back(fmt::format("SIMDs: {}; {}", simds[0], simds[1]));
  return out;
}

namespace {

std::string kernel_text(const KernelProfile& kernel, const report::TextOptions& options, bool full,
                        TimeClock clock) {
  const timing::KernelTime& t = *kernel.time;
  double all = t.issue;
  for (const double stall : t.stalls) all += stall;
  std::string out = painted(report::short_function(kernel.name), report::kBold, options);
  out += fmt::format("   grid {}\n", launch_size(kernel));
  if (!kernel.computes.empty())
    out += fmt::format("  computes  {}\n", report::operations_text(kernel.computes, options));
  const std::string boost = fmt::format("{} at {:.2f} GHz ({} cycles)",
                                        painted(us_text(t.us_boost), report::kBold, options),
                                        t.boost_ghz, report::quantity_text(t.cycles));
  const std::string sustained =
      fmt::format("{} sustained, at {:.2f} GHz",
                  painted(us_text(t.us_sustained), report::kBold, options), t.sustained_ghz);
  const bool boost_first = clock == TimeClock::boost;
  out += fmt::format("  {}; {}; error about {:.0f} %\n", boost_first ? boost : sustained,
                     boost_first ? sustained : boost, t.error_percent);
  if (const auto rate = throughput_of(kernel))
    out += fmt::format("  does      {} TFLOP/s at boost, {} sustained\n", rate_text(rate->boost),
                       rate_text(rate->sustained));
  if (const std::string compare = comparison_text(t); !compare.empty())
    out += fmt::format("  compare   {}\n", compare);
  if (const std::string launched = launched_text(kernel); !launched.empty())
    out += fmt::format("  launched  {}\n", launched);
  out += fmt::format("  bound by  {}\n", timing::bound_name(t.bound));
  out += fmt::format("  busy      {}\n", busy_text(t.busy));
  if (const std::string idle = idle_text(kernel); !idle.empty())
    out += fmt::format("  idle      {}\n", idle);
  if (const std::string sample = sample_text(t); !sample.empty())
    out += fmt::format("  sample    {}\n", sample);
  if (const std::string contention = contention_text(kernel); !contention.empty())
    out += fmt::format("  atomics   {}\n", contention);
  if (const std::string between = between_text(kernel, options); !between.empty())
    out += fmt::format("  between   {}\n", between);
  out += fmt::format("  outside   launch {}, write-back {}, tail {}\n",
                     us_text(t.launch_us - t.write_back_us), us_text(t.write_back_us),
                     us_text(t.tail_us));
  if (all > 0) out += fmt::format("  waves     {}\n", waves_text(t, all));
  const std::vector<std::string> simds = simd_texts(t);
  if (!simds.empty()) out += fmt::format("  SIMDs     {}\n  overlap   {}\n", simds[0], simds[1]);
  if (const std::string caches = caches_text(kernel); !caches.empty())
    out += fmt::format("  caches    {}\n", caches);
  return out + time_lines_text(kernel, options, full) + memory_latency_text(kernel, options, full) +
         time_advice_text(kernel, options, full) + (full ? elsewhere_text(t) : "") + "\n";
}

}  // namespace

std::string time_text(const Profile& profile, const report::TextOptions& options, bool full,
                      TimeClock clock) {
  std::vector<const KernelProfile*> kernels;
  for (const KernelProfile& kernel : profile.kernels)
    if (kernel.time) kernels.push_back(&kernel);
  std::ranges::stable_sort(kernels, std::ranges::greater{},
                           [](const KernelProfile* k) { return k->time->us_boost; });
  std::string out = fmt::format(
      "Modelled, not measured: {}. The first launch of each kernel and size.\n\n", profile.device);
  const bool many = kernels.size() > kKernelsInDetail;
  if (!many || full)
    for (const KernelProfile* const kernel : kernels)
      out += kernel_text(*kernel, options, full, clock);
  if (!many) return out;
  std::vector<KernelCost> costs;
  for (const KernelProfile* const k : kernels) {
    const double us = clock == TimeClock::boost ? k->time->us_boost : k->time->us_sustained;
    costs.push_back({k, us * 1e-6 * static_cast<double>(k->launches_seen),
                     std::string(timing::bound_name(k->time->bound))});
  }
  out += fmt::format("{}, each as often as it was launched (--kernel NAME shows one)\n",
                     report::counted(kernels.size(), "kernel"));
  return out + kernel_table(std::move(costs), "in all", options, full);
}

}  // namespace margay::profile
