#include "report/profile/text/text.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/profile/analysis/advice.h"
#include "report/profile/analysis/bounds.h"
#include "report/profile/analysis/limits.h"
#include "report/profile/analysis/lines.h"
#include "report/profile/analysis/metrics.h"
#include "report/profile/analysis/occupancy_table.h"
#include "report/profile/kernel_table.h"
#include "report/profile/machine.h"
#include "report/profile/text/wrap.h"
#include "report/profile/time/time_text.h"

namespace margay::profile {
namespace {

using report::bytes_text, report::counted, report::painted, report::quantity_text,
    report::seconds_text;

constexpr std::size_t kLinesShown = 6, kAdviceShown = 3, kKernelsShown = 3, kBarWidth = 16;

std::string times(double ratio) {
  return ratio >= 99.5 ? fmt::format("{:.0f}x", ratio) : fmt::format("{:.2f}x", ratio);
}
std::string percent(std::optional<double> value) {
  return value ? fmt::format("{:.1f} %", *value) : std::string("-");
}

std::string bar(double share) {
  const auto width = static_cast<std::size_t>(std::lround(share * kBarWidth));
  return std::string(width == 0 && share > 0 ? 1 : width, '#');
}

/// The end of a name says more than its beginning.
std::string shortened(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : "..." + text.substr(text.size() - (width - 3));
}

class Screen {
 public:
  Screen(const KernelProfile& kernel, const Profile& profile, const TextStyle& style)
      : k_(kernel), profile_(profile), style_(style) {
    for (const Metric& metric : metrics_of(kernel)) metrics_[metric.id] = metric;
  }

  std::string text() {
    title();
    time();
    bounds();
    limit();
    work();
    resources();
    mix();
    lds();
    reuse();
    caches();
    tensors();
    spills();
    lines();
    if (k_.time)
      out_ += "\n" + time_lines_text(k_, style_.options, style_.full) +
              memory_latency_text(k_, style_.options, style_.full) +
              time_advice_text(k_, style_.options, style_.full) + "\n";
    advice();
    if (style_.full) {
      what_if();
      xcds();
      instructions();
      all_metrics();
      counters();
    }
    return std::move(out_);
  }

 private:
  template <typename... A>
  void line(fmt::format_string<A...> format, A&&... values) {
    out_ += fmt::format(format, std::forward<A>(values)...) + "\n";
  }
  void heading(std::string_view name) {
    out_ += painted(fmt::format("  {:<15}", name), report::kBold, style_.options);
  }
  void indent() { out_ += std::string(kIndent, ' '); }
  static constexpr std::size_t kIndent = 17;
  /// A sentence, behind a heading or an indent.
  void say(std::string_view text, std::string_view colour = {}, std::size_t more = 0) {
    const std::string lines = wrapped(text, kIndent + more, kIndent + more + 2);
    out_ += std::string(more, ' ');
    out_ += colour.empty() ? lines : painted(lines, colour, style_.options);
    out_ += "\n";
  }

  [[nodiscard]] double counter(Counter c) const { return static_cast<double>(k_.counters[c]); }
  [[nodiscard]] std::optional<double> metric(std::string_view id) const {
    return metrics_.at(id).value;
  }

  void title() {
    const auto& g = k_.grid;
    const auto& w = k_.workgroup;
    line("{}", painted(report::short_function(k_.name), report::kBold, style_.options));
    if (!k_.computes.empty()) {
      out_ += "  computes ";
      line("{}", wrapped(report::operations_text(k_.computes, style_.options), 11, 11));
    }
    line("  {} of {} x {} x {} workgroups of {} work-items, {}",
         counted(k_.launches, "launch", "launches"), g[0], g[1], g[2],
         std::uint64_t{w[0]} * w[1] * w[2], waves_text(counter(Counter::SQ_WAVES)));
    line("  {}, MFMA {}", profile_.device, profile_.mfma);
    if (k_.launches_seen > k_.launches)
      line("  of {} that there were: the others were not counted",
           counted(k_.launches_seen, "launch", "launches"));
    if (k_.sampled_workgroups != 0)
      line("  a sample of {} workgroups was counted; all numbers are scaled up from it",
           k_.sampled_workgroups);
    if (k_.failed_launches != 0)
      line("  {} of them failed: their counts end where they failed", k_.failed_launches);
    out_ += "\n";
  }

  void time() {
    if (!k_.time) return;
    bool first = true;
    for (const std::string& sentence : time_sentences(k_)) {
      first ? heading("time") : indent();
      first = false;
      say(sentence);
    }
  }

  static std::string waves_text(double waves) {
    return waves == 1 ? "1 wave" : quantity_text(waves) + " waves";
  }

  void limit() {
    const Limit limit = limit_of(k_);
    if (limit.part.empty()) return;
    heading("limit");
    say(limit.what);
    if (limit.meaning.empty()) return;
    indent();
    say(limit.meaning);
  }

  void bounds() {
    const auto bounds = bounds_of(k_);
    heading("needs at least");
    if (bounds.empty()) {
      line("nothing");
      return;
    }
    bool first = true;
    for (const Bound& bound : bounds) {
      if (!first) indent();
      first = false;
      const bool is_bytes = bound.unit == "bytes";
      line("{:<13}{:>9}  {:<{}}  {}{}", part_name(bound.part), seconds_text(bound.seconds),
           bar(bound.seconds / bounds.front().seconds), kBarWidth,
           is_bytes ? bytes_text(bound.amount) : quantity_text(bound.amount) + " cycles",
           bound.part == DevicePart::memory || bound.part == DevicePart::l2 ? "" : " in all");
    }
    indent();
    say("(at its peak rate, evenly spread: limits, not a prediction of time)");
  }

  void work() {
    const auto operations = operations_of(k_);
    if (operations.empty()) return;
    const auto levels = levels_of(k_);
    heading("work");
    std::vector<std::string> parts;
    double total = 0;
    for (const Operations& o : operations) {
      parts.push_back(fmt::format("{}FLOP {}", quantity_text(o.count), o.type));
      total += o.count;
    }
    line("{}", fmt::join(parts, ", "));
    const auto memory = std::ranges::find(levels, std::string_view("memory"), &Level::name);
    if (memory == levels.end()) return;
    const auto& top = *std::ranges::max_element(operations, {}, &Operations::count);
    const double ridge = top.peak_per_second / memory->peak_bytes_per_second;
    const double intensity = total / memory->bytes;
    indent();
    say(fmt::format("{:.3g} FLOP per byte of memory; {} units can do {:.0f} in the time of a byte",
                    intensity, top.type, ridge));
  }

  void resources() {
    const Resources& r = k_.resources;
    heading("occupancy");
    say(fmt::format("theoretical: {} per CU, {} waves of {}, limited by {}",
                    counted(r.workgroups_per_cu, "workgroup"), r.waves_per_cu,
                    k_.gpu->arch().cu.wave_slots(), r.limit));
    if (!r.next_step.empty()) {
      indent();
      say(r.next_step, {}, 2);
    }
    if (const std::string unused = unused_lds(k_); !unused.empty()) {
      indent();
      say(unused, {}, 2);
    }
    const std::uint64_t groups = std::uint64_t{k_.grid[0]} * k_.grid[1] * k_.grid[2];
    indent();
    say(fmt::format("achieved: {} on each CU that has any; the launch has {} for {} CUs",
                    counted(static_cast<std::uint64_t>(achieved_waves_per_cu(k_)), "wave"),
                    counted(groups, "workgroup"), k_.gpu->compute_units()));
    indent();
    say(fmt::format("{} VGPRs{}, {} SGPRs, {} LDS, {} scratch per lane; {} of code", r.vgprs,
                    r.agprs != 0 ? fmt::format(" ({} of them AccVGPRs)", r.agprs) : "", r.sgprs,
                    bytes_text(r.static_lds_bytes + r.dynamic_lds_bytes),
                    bytes_text(r.scratch_bytes), bytes_text(r.code_bytes)));
  }

  void mix() {
    const double waves = std::max(1.0, counter(Counter::SQ_WAVES));
    heading("per wave");
    const auto per_wave = [&](double n) { return quantity_text(n / waves); };
    say(fmt::format(
        "{} instructions: {} VALU, {} MFMA, {} LDS, {} VMEM, {} SMEM, {} SALU, {} branches",
        per_wave(counter(Counter::SQ_INSTS)), per_wave(*metric("valu_instructions")),
        per_wave(counter(Counter::SQ_INSTS_MFMA)), per_wave(counter(Counter::SQ_INSTS_LDS)),
        per_wave(counter(Counter::SQ_INSTS_VMEM)), per_wave(counter(Counter::SQ_INSTS_SMEM)),
        per_wave(counter(Counter::SQ_INSTS_SALU)), per_wave(counter(Counter::SQ_INSTS_BRANCH))));
    indent();
    line("{:.1f} of 64 lanes active in VALU instructions",
         metric("valu_active_threads").value_or(0));
  }

  void lds() {
    if (counter(Counter::SQ_LDS_IDX_ACTIVE) == 0) return;
    heading("LDS");
    const double conflicts = counter(Counter::SQ_LDS_BANK_CONFLICT);
    say(fmt::format(
        "{} cycles, {}", quantity_text(counter(Counter::SQ_LDS_IDX_ACTIVE)),
        conflicts == 0
            ? std::string("no bank conflicts")
            : fmt::format("{} of them bank conflicts: {:.2f} per access, conflict rate {}",
                          quantity_text(conflicts),
                          metric("lds_bank_conflicts_per_access").value_or(0),
                          percent(metric("lds_bank_conflict_rate")))));
  }

  /// How often what is loaded once is used again, on its way from memory to the matrix units.
  void reuse() {
    double loaded = 0, from_lds = 0;
    for (const Site& site : k_.sites) {
      if (site.memory && site.is_read) loaded += static_cast<double>(site.memory->lane_bytes);
      if (site.lds && site.is_read)
        for (const std::uint64_t dwords : site.lds->bank_dwords)
          from_lds += 4 * static_cast<double>(dwords);
    }
    if (loaded == 0 || from_lds == 0) return;
    indent();
    line("each byte that lanes load from global memory is read {} from LDS",
         times(from_lds / loaded));
    const double matrix = metric("mfma_flops").value_or(0) + metric("mfma_iops").value_or(0);
    if (matrix == 0) return;
    indent();
    line("each byte read from LDS feeds {:.3g} matrix operations from registers",
         matrix / from_lds);
  }

  void caches() {
    if (counter(Counter::TCP_TOTAL_CACHE_ACCESSES_sum) == 0) return;
    heading("vL1D");
    say(fmt::format("hit rate {} of at most {}; {} of the sectors' bytes are used",
                    percent(metric("vl1d_hit_rate")), percent(metric("vl1d_best_hit_rate")),
                    percent(100 * metric("coalescing").value_or(0))));
    indent();
    say(fmt::format(
        "(at most: if each workgroup fetched each line that it reads once; Coalescing as "
        "rocprof-compute counts it, by merged lanes: {})",
        percent(metric("vl1d_coalescing"))));
    heading("L2");
    say(fmt::format("hit rate {} of at most {}; {} requests", percent(metric("l2_hit_rate")),
                    percent(metric("l2_best_hit_rate")),
                    quantity_text(counter(Counter::TCC_REQ_sum))));
    indent();
    line("(at most: if each XCD fetched each line that it reads once)");
  }

  void tensors() {
    if (k_.tensors.empty()) return;
    const auto launches = static_cast<double>(k_.launches);
    constexpr std::size_t kName = 26;
    heading("data");
    line("{:>13}{:>10}{:>10}{:>10}{:>10}{:>10}", "", "size", "touched", "lanes", "L2", "memory");
    for (const TensorTraffic& t : k_.tensors) {
      const auto row = [&](std::string_view what, double touched, double lanes, double l2,
                           double memory) {
        if (touched == 0) return;
        line("    {:<{}}{:>10}{:>10}{:>10}{:>10}{:>10}",
             fmt::format("{} {}", what, shortened(t.name, kName - 1 - what.size())), kName,
             t.bytes == 0 ? "?" : bytes_text(static_cast<double>(t.bytes)),
             bytes_text(touched / launches), times(lanes / touched), times(l2 / touched),
             times(memory / touched));
      };
      row("read", static_cast<double>(t.touched_read_bytes), static_cast<double>(t.read_bytes),
          static_cast<double>(t.l2_read_bytes), static_cast<double>(t.fabric_read_bytes));
      row("write", static_cast<double>(t.touched_written_bytes),
          static_cast<double>(t.written_bytes), static_cast<double>(t.l2_written_bytes),
          static_cast<double>(t.fabric_written_bytes));
    }
    indent();
    say("(touched: per launch; the others, how often lanes ask for each byte of it, and how often "
        "it "
        "comes from L2 and from memory)");
  }

  /// Waves per CU with other registers and other LDS.
  void what_if() {
    const OccupancyTable table = occupancy_table(k_);
    const std::uint32_t own_lds = k_.resources.static_lds_bytes + k_.resources.dynamic_lds_bytes;
    out_ += "\n";
    line("  waves per CU, by VGPRs (down) and bytes of LDS per workgroup (across)");
    std::string head = fmt::format("  {:>8}", "");
    for (const std::uint32_t lds : table.lds_bytes)
      head += fmt::format("{:>9}", fmt::format("{}{}", lds, lds == own_lds ? "*" : ""));
    line("{}", head);
    for (std::size_t row = 0; row < table.vgprs.size(); ++row) {
      const std::uint32_t vgprs = table.vgprs[row];
      std::string text = fmt::format(
          "  {:>8}", fmt::format("{}{}", vgprs, vgprs == k_.resources.vgprs ? "*" : ""));
      for (const std::uint32_t waves : table.waves[row]) text += fmt::format("{:>9}", waves);
      line("{}", text);
    }
    line("  (*: the kernel as it is)");
  }

  void spills() {
    const auto has_line = [](const Site& site) {
      return !site.frames.empty() && site.frames.front().line != 0;
    };
    std::map<std::string, std::uint64_t> lines, without;
    for (const Site& site : k_.sites)
      if (site.traits.path == MemoryPath::scratch)
        (has_line(site) ? lines : without)[place(site)] += site.executions;
    // Spills of the compiler may have no line, and be hundreds.
    constexpr std::size_t kShown = 4;
    if (without.size() > kShown && !style_.full) {
      std::uint64_t executions = 0;
      for (const auto& [where, number] : without) executions += number;
      lines[fmt::format("at {} instructions without a source line (--full)", without.size())] =
          executions;
    } else {
      lines.merge(without);
    }
    if (lines.empty()) return;
    heading("scratch");
    bool first = true;
    for (const auto& [where, executions] : lines) {
      if (!first) indent();
      first = false;
      line("{} accesses {}", quantity_text(static_cast<double>(executions)), where);
    }
  }

  [[nodiscard]] std::string place(const Site& site) const {
    const std::string text = site.frames.empty()
                                 ? std::string{}
                                 : report::place_of(site.frames.front(), style_.options.directory);
    return text.empty()
               ? fmt::format("{:#x} in {}", site.vaddr, report::short_function(site.function))
               : text;
  }

  void lines() {
    const auto lines = places_of(k_);
    double all = 0;
    for (const LineTotals& l : lines) all += static_cast<double>(l.issue_cycles);
    if (all == 0) return;
    out_ += painted("  hot lines", report::kBold, style_.options);
    line("{:>11}{:>10}{:>10}  {}", "instr.", "LDS conf.", "from L2", "where");
    constexpr std::size_t kWhere = kColumns - 44;
    const std::size_t shown = style_.full ? lines.size() : std::min(lines.size(), kLinesShown);
    for (std::size_t n = 0; n < shown; ++n) {
      const LineTotals& l = lines[n];
      line("  {:>7.1f} %{:>11}{:>10}{:>10}  {}", 100 * static_cast<double>(l.issue_cycles) / all,
           quantity_text(static_cast<double>(l.instructions)),
           l.lds_conflict_cycles == 0 ? ""
                                      : quantity_text(static_cast<double>(l.lds_conflict_cycles)),
           l.memory.l2_reads == 0 ? ""
                                  : bytes_text(static_cast<double>(l.memory.l2_reads) * kLineBytes),
           where(l, kWhere));
    }
    if (shown < lines.size()) {
      indent();
      const bool is_line =
          std::ranges::any_of(lines, [](const LineTotals& l) { return !l.file.empty(); });
      line("({} more {}: --full)", lines.size() - shown, is_line ? "lines" : "instructions");
    }
  }

  /// Without the directories that make it too long; a whole path where all is shown.
  [[nodiscard]] std::string where(const LineTotals& l, std::size_t width) const {
    if (l.file.empty()) {
      const std::string instruction = instruction_at(k_, l.sites);
      return instruction.empty() ? "(no source line)" : instruction;
    }
    std::string text = report::place_of({l.function, l.file, l.line, 0}, style_.options.directory);
    while (!style_.full && text.size() > width) {
      const std::size_t slash = text.substr(0, text.find(" in ")).find('/', 1);
      if (slash == std::string::npos) break;
      text.erase(0, slash + 1);
    }
    return text;
  }

  void advice() {
    const auto all = advice_for(k_);
    if (all.empty()) return;
    heading("advice");
    const std::size_t shown = style_.full ? all.size() : std::min(all.size(), kAdviceShown);
    for (std::size_t n = 0; n < shown; ++n) {
      if (n != 0) indent();
      say(all[n].what, report::kYellow);
      for (const std::string& text :
           {all[n].why, all[n].fix.empty() ? std::string{} : "fix: " + all[n].fix, all[n].effect}) {
        if (text.empty()) continue;
        indent();
        say(text, {}, 2);
      }
    }
    if (shown < all.size()) {
      indent();
      line("({} more: --full)", all.size() - shown);
    }
  }

  void xcds() {
    out_ += "\n";
    line("  {:<5}{:>14}{:>10}{:>14}{:>14}", "XCD", "L2 requests", "hit rate", "fabric reads",
         "fabric writes");
    for (std::size_t n = 0; n < k_.xcds.size(); ++n) {
      const Counters& c = k_.xcds[n];
      const auto hits = static_cast<double>(c[Counter::TCC_HIT_sum]);
      const auto all = hits + static_cast<double>(c[Counter::TCC_MISS_sum]);
      line("  {:<5}{:>14}{:>10}{:>14}{:>14}", n, c[Counter::TCC_REQ_sum],
           all == 0 ? "-" : percent(100 * hits / all), c[Counter::TCC_EA0_RDREQ_sum],
           c[Counter::TCC_EA0_WRREQ_sum]);
    }
  }

  void instructions() {
    out_ += "\n";
    line("  instructions");
    line("  {:>8} {:>12} {:>6} {:>10} {:>9} {:>9}  {}", "address", "executions", "lanes",
         "LDS cyc.", "sectors", "L2 hits", "instruction");
    for (const Site& site : k_.sites) {
      const auto per = [&](double n) {
        return n == 0 ? std::string{}
                      : fmt::format("{:.4g}", n / static_cast<double>(site.executions));
      };
      const MemoryTraffic m = site.memory.value_or(MemoryTraffic{});
      line("  {:>8x} {:>12} {:>6} {:>10} {:>9} {:>9}  {:<44} {}", site.vaddr, site.executions,
           per(static_cast<double>(site.active_lanes)),
           site.lds ? per(static_cast<double>(site.lds->cycles)) : "",
           per(static_cast<double>(m.sector_bytes) / kSectorBytes),
           m.l2_reads + m.l2_writes == 0
               ? ""
               : fmt::format("{:.0f} %", 100 * static_cast<double>(m.l2_hits) /
                                             static_cast<double>(m.l2_hits + m.l2_misses)),
           site.text, site.frames.empty() ? "" : place(site));
    }
  }

  void all_metrics() {
    std::string_view panel;
    for (const Metric& m : metrics_of(k_)) {
      if (m.panel != panel) {
        panel = m.panel;
        out_ += "\n";
        line("  {}", painted(panel, report::kBold, style_.options));
      }
      line("  {:<32} {:>16} {:<10} {:<30} {}", m.name,
           m.value ? fmt::format("{:.6g}", *m.value) : "-", m.unit, m.id, m.formula);
    }
  }

  void counters() {
    out_ += "\n";
    line("  {}", painted("Counters, summed over the device and all launches", report::kBold,
                         style_.options));
    for (std::size_t n = 0; n < kCounters; ++n)
      line("  {:<38} {:>16}  {}", kCounterInfo[n].name, k_.counters[static_cast<Counter>(n)],
           kCounterInfo[n].meaning);
  }

  const KernelProfile& k_;
  const Profile& profile_;
  const TextStyle& style_;
  std::map<std::string_view, Metric> metrics_;
  std::string out_;
};

double longest_bound(const KernelProfile& kernel) {
  const auto bounds = bounds_of(kernel);
  return bounds.empty() ? 0 : bounds.front().seconds;
}

}  // namespace

std::string text_of(const KernelProfile& kernel, const Profile& profile, const TextStyle& style) {
  return Screen(kernel, profile, style).text();
}

std::string text_of(const Profile& profile, const TextStyle& style) {
  std::vector<const KernelProfile*> kernels;
  for (const KernelProfile& kernel : profile.kernels) kernels.push_back(&kernel);
  std::ranges::sort(kernels, [](const KernelProfile* a, const KernelProfile* b) {
    return std::pair(-longest_bound(*a), a->name) < std::pair(-longest_bound(*b), b->name);
  });
  std::string out;
  if (!profile.partial.empty())
    out += painted("partial profile", report::kBold, style.options) +
           fmt::format(": {}\n\n", profile.partial);
  const bool many = kernels.size() > kKernelsInDetail;
  const std::size_t shown = style.full ? kernels.size()
                            : many     ? 0
                                       : std::min(kernels.size(), kKernelsShown);
  for (std::size_t n = 0; n < shown; ++n) {
    if (n != 0) out += "\n";
    out += text_of(*kernels[n], profile, style);
  }
  std::vector<KernelCost> costs;
  for (std::size_t n = many ? 0 : shown; n < kernels.size(); ++n)
    costs.push_back({kernels[n], longest_bound(*kernels[n]), {}});
  if (costs.empty()) return out;
  out += many ? fmt::format("{}{} (--kernel NAME shows one)\n", shown == 0 ? "" : "\n",
                            counted(costs.size(), "kernel"))
              : "\nother kernels (--kernel NAME shows one)\n";
  out += kernel_table(std::move(costs), "at least", style.options, style.full);
  return out;
}

}  // namespace margay::profile
