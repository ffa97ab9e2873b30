#include "observe/profile/advice.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "observe/profile/machine.h"
#include "observe/profile/metrics.h"
#include "observe/report/words.h"

namespace margay::profile {
namespace {

using enum Counter;
using report::bytes_text;

/// Shares below this are not worth a sentence.
constexpr double kWorthSaying = 0.02;

std::string mnemonic(const Site& site) { return site.text.substr(0, site.text.find(' ')); }

std::string place(const Site& site) {
  if (site.frames.empty() || site.frames.front().line == 0)
    return fmt::format("at {:#x}", site.vaddr);
  const SourceFrame& frame = site.frames.front();
  return fmt::format("at {}:{}", frame.file.substr(frame.file.rfind('/') + 1), frame.line);
}

double sum(const KernelProfile& k, std::initializer_list<Counter> counters) {
  double total = 0;
  for (const Counter c : counters) total += static_cast<double>(k.counters[c]);
  return total;
}

/// "lanes 0, 4, 8 and 12", at most eight of them.
std::string lanes_text(std::uint64_t mask) {
  std::vector<unsigned> lanes;
  for (unsigned lane = 0; lane < 64; ++lane)
    if ((mask >> lane & 1) != 0) lanes.push_back(lane);
  constexpr std::size_t kShown = 8;
  if (lanes.size() > kShown)
    return fmt::format("lanes {} and {} more",
                       fmt::join(lanes.begin(), lanes.begin() + kShown, ", "),
                       lanes.size() - kShown);
  if (lanes.size() < 2) return fmt::format("lane {}", fmt::join(lanes, ""));
  return fmt::format("lanes {} and {}", fmt::join(lanes.begin(), lanes.end() - 1, ", "),
                     lanes.back());
}

/// Instructions of one kind at one line, which conflict in the same way.
struct Conflict {
  const Site* site = nullptr;
  std::uint64_t instructions = 0, executions = 0, conflicting = 0, cycles = 0;
};

void add_lds_conflicts(const KernelProfile& k, std::vector<Advice>& out) {
  const double all = sum(k, {SQ_LDS_IDX_ACTIVE});
  std::map<std::tuple<std::string, std::string, std::uint32_t>, Conflict> conflicts;
  for (const Site& site : k.sites) {
    if (!site.lds || site.lds->conflict_cycles == 0) continue;
    Conflict& c = conflicts[{mnemonic(site), place(site), site.lds->worst_ways}];
    if (c.site == nullptr) c.site = &site;
    ++c.instructions;
    c.executions += site.executions;
    c.conflicting += site.lds->conflicting;
    c.cycles += site.lds->conflict_cycles;
  }
  for (const auto& [key, c] : conflicts) {
    const double share = static_cast<double>(c.cycles) / all;
    if (share < kWorthSaying) continue;
    const LdsUse& use = *c.site->lds;
    Advice advice;
    advice.what = fmt::format(
        "{} {} {} conflicts {} ways: {} meet in bank {}",
        c.conflicting == c.executions
            ? std::string("every")
            : fmt::format("{} of {}", report::quantity_text(static_cast<double>(c.conflicting)),
                          report::quantity_text(static_cast<double>(c.executions))),
        std::get<0>(key), std::get<1>(key), use.worst_ways, lanes_text(use.worst_lanes),
        use.worst_bank);
    advice.why = fmt::format("{:.0f} % of the cycles LDS is busy are lost here", 100 * share);
    advice.fix =
        "pad the rows, or swizzle, so that lanes served together fall into different banks";
    advice.weight = static_cast<double>(c.cycles);
    out.push_back(std::move(advice));
  }
}

void add_memory_use(const KernelProfile& k, std::vector<Advice>& out) {
  double all = 0;
  for (const Site& site : k.sites)
    if (site.memory) all += static_cast<double>(site.memory->sector_bytes);
  std::map<std::pair<std::string, std::string>, std::pair<const Site*, MemoryTraffic>> lines;
  for (const Site& site : k.sites) {
    if (!site.memory || site.is_scratch) continue;
    auto& [first, total] = lines[{mnemonic(site), place(site)}];
    if (first == nullptr) first = &site;
    total += *site.memory;
  }
  for (const auto& [key, entry] : lines) {
    const auto& [site, m] = entry;
    const auto sectors = static_cast<double>(m.sector_bytes);
    if (sectors < kWorthSaying * all) continue;
    const double use = static_cast<double>(m.least_sector_bytes) / sectors;
    if (use < 0.9) {
      Advice advice;
      advice.what = fmt::format("{} {} uses {:.0f} % of the 64-byte sectors it touches", key.first,
                                key.second, 100 * use);
      advice.why = fmt::format(
          "its lanes ask for {}, in {} of sectors: neighbouring lanes do not touch neighbouring "
          "bytes",
          bytes_text(static_cast<double>(m.lane_bytes)), bytes_text(sectors));
      advice.fix = "let consecutive lanes read consecutive elements of a row";
      advice.weight = (sectors - static_cast<double>(m.least_sector_bytes)) / kSectorBytes;
      out.push_back(std::move(advice));
    } else if (site->is_read && m.lane_bytes != 0 &&
               static_cast<double>(m.l2_reads) * kLineBytes >
                   1.5 * static_cast<double>(m.lane_bytes)) {
      Advice advice;
      const double fetched = static_cast<double>(m.l2_reads) * kLineBytes;
      advice.what = fmt::format("{} {} fetches {:.1f} times the bytes it uses from L2", key.first,
                                key.second, fetched / static_cast<double>(m.lane_bytes));
      advice.why =
          "vL1D fetches whole lines of 128 bytes; the rest of each line is wanted later, when the "
          "32 KiB of vL1D have been used for other lines, and is fetched again";
      advice.fix =
          "let a wave load 128 bytes of a row at a time (64 elements of 16 bits), or use what is "
          "left of a line at once";
      advice.weight = (fetched - static_cast<double>(m.lane_bytes)) / kLineBytes;
      out.push_back(std::move(advice));
    }
  }
}

void add_spills(const KernelProfile& k, std::vector<Advice>& out) {
  std::uint64_t accesses = 0, instructions = 0;
  const Site* most = nullptr;
  for (const Site& site : k.sites) {
    if (!site.is_scratch) continue;
    ++instructions;
    accesses += site.executions;
    if (most == nullptr || site.executions > most->executions) most = &site;
  }
  if (most == nullptr) return;
  Advice advice;
  const bool spilled = k.resources.vgpr_spills != 0;
  advice.what =
      fmt::format("{} scratch instructions ran {} times, most often {} ({} times)", instructions,
                  report::quantity_text(static_cast<double>(accesses)), place(*most),
                  report::quantity_text(static_cast<double>(most->executions)));
  advice.why =
      spilled
          ? fmt::format("the compiler spilled {} VGPRs: {} were not enough",
                        k.resources.vgpr_spills, k.resources.vgprs)
          : "a local array is indexed by a variable, or its address is taken, so that it lies in "
            "memory";
  advice.fix = spilled ? "smaller register tiles, or __launch_bounds__ that allows more VGPRs"
                       : "index local arrays by constants (unroll the loop)";
  advice.weight = static_cast<double>(accesses) * 16;
  out.push_back(std::move(advice));
}

void add_tensor_reuse(const KernelProfile& k, std::vector<Advice>& out) {
  for (const TensorTraffic& t : k.tensors) {
    const auto touched = static_cast<double>(t.touched_read_bytes);
    if (touched == 0 || t.name == "other memory") continue;
    const double from_memory = static_cast<double>(t.fabric_read_bytes) / touched;
    if (from_memory < 1.5) continue;
    Advice advice;
    advice.what =
        fmt::format("each byte of {} is fetched {:.1f} times from memory", t.name, from_memory);
    // An XCD has an L2 of its own: what all eight need is fetched eight times at least.
    advice.why = from_memory <= kXcds + 0.5
                     ? "each of the 8 XCDs has its own L2, so what workgroups of several XCDs read "
                       "is fetched by each of them"
                     : "it leaves L2 before all workgroups that need it have read it";
    advice.fix =
        "give workgroups that read the same rows to the same XCD (XCD-aware block order), "
        "close together in time";
    advice.weight = (from_memory - 1) * touched / kLineBytes;
    out.push_back(std::move(advice));
  }
}

void add_shape(const KernelProfile& k, std::vector<Advice>& out) {
  const std::uint64_t groups = std::uint64_t{k.grid[0]} * k.grid[1] * k.grid[2];
  const std::uint64_t items = std::uint64_t{k.workgroup[0]} * k.workgroup[1] * k.workgroup[2];
  constexpr std::uint64_t kCus = kXcds * kCusPerXcd;
  if (groups < kCus)
    out.push_back({fmt::format("only {} of {} CUs get a workgroup", groups, kCus),
                   fmt::format("the grid has {}", report::counted(groups, "workgroup")),
                   "smaller tiles, or split the reduction over workgroups", 0});
  if (items % 64 != 0)
    out.push_back({fmt::format("{} of 64 lanes of the last wave of each workgroup never run",
                               64 - items % 64),
                   fmt::format("a workgroup has {} work-items", items),
                   "make the workgroup a multiple of 64 work-items", 0});
  const double lanes = sum(k, {SQ_ACTIVE_INST_VALU}) == 0
                           ? 64
                           : sum(k, {SQ_THREAD_CYCLES_VALU}) / sum(k, {SQ_ACTIVE_INST_VALU});
  if (lanes < 48)
    out.push_back(
        {fmt::format("{:.0f} of 64 lanes are active in a VALU instruction, on average", lanes),
         "lanes of a wave take different branches, or have nothing to do",
         "let whole waves take the same branch",
         (64 - lanes) / 64 * sum(k, {SQ_ACTIVE_INST_VALU})});
  if (!k.resources.next_step.empty())
    out.push_back({fmt::format("{} {} the kernel to {} per CU ({} waves of 32)", k.resources.limit,
                               k.resources.limit == "LDS" ? "limits" : "limit",
                               report::counted(k.resources.workgroups_per_cu, "workgroup"),
                               k.resources.waves_per_cu),
                   k.resources.next_step, "", 0});
  if (k.resources.code_bytes > kInstructionCacheBytes)
    out.push_back({fmt::format("the code has {}, L1I {}", bytes_text(k.resources.code_bytes),
                               bytes_text(kInstructionCacheBytes)),
                   "a loop that does not fit is fetched from L2 again and again; the counts of L1I "
                   "misses here assume that it fits",
                   "unroll less", 0});
}

}  // namespace

std::vector<Advice> advice_for(const KernelProfile& kernel) {
  std::vector<Advice> out;
  add_lds_conflicts(kernel, out);
  add_memory_use(kernel, out);
  add_spills(kernel, out);
  add_tensor_reuse(kernel, out);
  add_shape(kernel, out);
  std::ranges::sort(out, [](const Advice& a, const Advice& b) {
    return std::tie(b.weight, a.what) < std::tie(a.weight, b.what);
  });
  return out;
}

}  // namespace margay::profile
