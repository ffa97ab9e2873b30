#include "report/profile/analysis/advice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gpu/occupancy.h"
#include "report/profile/analysis/advice_memory.h"
#include "report/profile/analysis/metrics.h"
#include "report/profile/analysis/occupancy_table.h"
#include "report/profile/machine.h"
#include "report/words.h"

namespace margay::profile {

using report::bytes_text;

namespace {

using enum Counter;

double sum(const KernelProfile& k, std::initializer_list<Counter> counters) {
  double total = 0;
  for (const Counter c : counters) total += static_cast<double>(k.counters[c]);
  return total;
}

double of_matrix(const KernelProfile& k) { return sum(k, {SQ_VALU_MFMA_BUSY_CYCLES}); }
/// Cycles of the vector ALU, without matrix instructions.
double of_vector(const KernelProfile& k) {
  return 4 * sum(k, {SQ_ACTIVE_INST_VALU}) - of_matrix(k);
}

// ---- LDS --------------------------------------------------------------------------------------

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

/// Instructions of one kind at one line with the same conflicts.
struct Conflict {
  const Site* site = nullptr;
  std::uint64_t executions = 0, conflicting = 0, cycles = 0;
};

void add_lds_conflicts(AdviceList& list) {
  const double all = sum(list.kernel(), {SQ_LDS_IDX_ACTIVE});
  std::map<std::tuple<std::string, std::string, std::uint32_t>, Conflict> conflicts;
  for (const Site& site : list.kernel().sites) {
    if (!site.lds || site.lds->conflict_cycles == 0) continue;
    Conflict& c = conflicts[{mnemonic_of(site), place_of_site(site), site.lds->worst_ways}];
    if (c.site == nullptr) c.site = &site;
    c.executions += site.executions;
    c.conflicting += site.lds->conflicting;
    c.cycles += site.lds->conflict_cycles;
  }
  for (const auto& [key, c] : conflicts) {
    const LdsUse& use = *c.site->lds;
    list.add(
        fmt::format(
            "{} {} {} conflicts {} ways: {} meet in bank {}",
            c.conflicting == c.executions
                ? std::string("every")
                : fmt::format("{} of {}", report::quantity_text(static_cast<double>(c.conflicting)),
                              report::quantity_text(static_cast<double>(c.executions))),
            std::get<0>(key), std::get<1>(key), use.worst_ways, lanes_text(use.worst_lanes),
            use.worst_bank),
        fmt::format("{:.0f} % of the cycles LDS is busy are lost here",
                    all == 0 ? 0 : 100 * static_cast<double>(c.cycles) / all),
        "pad the rows, or swizzle, so that lanes served together fall into different banks",
        {{DevicePart::lds, static_cast<double>(c.cycles)}});
  }
}

// ---- Scratch ----------------------------------------------------------------------------------

void add_spills(AdviceList& list) {
  const KernelProfile& k = list.kernel();
  std::uint64_t accesses = 0, instructions = 0;
  MemoryTraffic memory;
  const Site* most = nullptr;
  for (const Site& site : k.sites) {
    if (site.traits.path != MemoryPath::scratch) continue;
    ++instructions;
    accesses += site.executions;
    if (site.memory) memory += *site.memory;
    if (most == nullptr || site.executions > most->executions) most = &site;
  }
  if (most == nullptr) return;
  const bool spilled = k.resources.vgpr_spills != 0;
  list.add(
      fmt::format("{} ran {} times, most often {} ({} times)",
                  report::counted(instructions, "scratch instruction"),
                  report::quantity_text(static_cast<double>(accesses)), place_of_site(*most),
                  report::quantity_text(static_cast<double>(most->executions))),
      spilled ? fmt::format("the compiler spilled {}: {} were not enough",
                            report::counted(k.resources.vgpr_spills, "VGPR"), k.resources.vgprs)
              : "a local array is indexed by a variable, or its address is taken, so that it is in "
                "memory",
      spilled ? "smaller register tiles, or __launch_bounds__ that allows more VGPRs"
              : "index local arrays by constants (unroll the loop)",
      {{DevicePart::vector_cache, static_cast<double>(memory.lookup_cycles)},
       {DevicePart::l2, static_cast<double>(memory.l2_reads + memory.l2_writes) * kLineBytes},
       {DevicePart::memory, static_cast<double>(memory.fabric_read_bytes)}},
      /*always=*/true);
}

// ---- Vector ALU -------------------------------------------------------------------------------

void add_vector_alu(AdviceList& list) {
  const KernelProfile& k = list.kernel();
  double single = 0, most = 0;
  const Site* site_of_most = nullptr;
  for (const Site& site : k.sites) {
    if (!site.traits.has_packed_twin) continue;
    const auto cycles = static_cast<double>(site.issue_cycles);
    single += cycles;
    if (cycles > most) {
      most = cycles;
      site_of_most = &site;
    }
  }
  if (site_of_most != nullptr && list.limits().is_longest(DevicePart::vector_alu))
    list.add(
        fmt::format("{:.0f} % of the vector ALU's cycles are f32 arithmetic on one element, most "
                    "of them {} {}",
                    100 * single / of_vector(k), mnemonic_of(*site_of_most),
                    place_of_site(*site_of_most)),
        "v_pk_add_f32, v_pk_mul_f32 and v_pk_fma_f32 take as long for two",
        "work on float2, or let each lane do two independent elements",
        {{DevicePart::vector_alu, single / 2}});
  const double busy = sum(k, {SQ_ACTIVE_INST_VALU});
  const double lanes = busy == 0 ? 64 : sum(k, {SQ_THREAD_CYCLES_VALU}) / busy;
  if (lanes < 48)
    list.add(fmt::format("{:.0f} of 64 lanes are active in a VALU instruction, on average", lanes),
             "lanes of a wave take different branches, or have nothing to do",
             "let whole waves take the same branch",
             {{DevicePart::vector_alu, (64 - lanes) / 64 * of_vector(k)}});
}

// ---- Shape ------------------------------------------------------------------------------------

/// The savings of all CUs, for parts that each of them has. A wave waits equally long on any CU.
std::vector<Limits::Saving> of_all_cus(const AdviceList& list, double used) {
  std::vector<Limits::Saving> out;
  for (const Limits::Part& part : list.limits().parts()) {
    double share = 1 - used;
    if (part.part == DevicePart::memory || part.part == DevicePart::l2) continue;
    if (part.part == DevicePart::load_latency) {
      const double rounds = load_latency_of(list.kernel())->rounds;
      share = 1 - std::max(1.0, rounds * used) / rounds;
    }
    out.push_back({part.part, share * part.seconds * part.peak_per_second});
  }
  return out;
}

void add_grid(AdviceList& list) {
  const KernelProfile& k = list.kernel();
  const std::uint64_t groups = std::uint64_t{k.grid[0]} * k.grid[1] * k.grid[2];
  const std::uint64_t items = std::uint64_t{k.workgroup[0]} * k.workgroup[1] * k.workgroup[2];
  const std::uint64_t waves = groups * ((items + 63) / 64);
  const std::uint64_t cus = k.gpu->compute_units();
  if (groups < cus) {
    const bool loops = std::ranges::any_of(
        k.sites, [&](const Site& site) { return site.executions > 2 * waves * k.launches; });
    const bool tiles = k.counters[SQ_INSTS_MFMA] != 0;
    const double used = static_cast<double>(groups) / static_cast<double>(cus);
    const auto savings = of_all_cus(list, used);
    list.add(fmt::format("only {} of {} CUs get a workgroup", groups, cus),
             list.limits().effect_of(savings).gain < kWorthSaying
                 ? fmt::format("{:.0f} times as many workgroups would take as long", 1 / used)
                 : fmt::format("the grid has {}", report::counted(groups, "workgroup")),
             tiles        ? "smaller tiles, or split the reduction over workgroups"
             : loops      ? "spread what its loops do over more workgroups"
             : items > 64 ? "smaller workgroups, or more work in one launch"
                          : "more work in one launch",
             savings, /*always=*/true);
  }
  if (items % 64 != 0) {
    const double idle =
        static_cast<double>(64 - items % 64) / static_cast<double>((items + 63) / 64 * 64);
    list.add(
        fmt::format("{} of 64 lanes of the last wave of each workgroup never run", 64 - items % 64),
        fmt::format("a workgroup has {} work-items", items),
        "make the workgroup a multiple of 64 work-items",
        {{DevicePart::vector_alu, idle * of_vector(k)},
         {DevicePart::scalar_issue, idle * 4 * sum(k, {SQ_ACTIVE_INST_SCA})}});
  }
  if (k.resources.code_bytes > k.gpu->arch().caches.instruction_bytes)
    list.add(
        fmt::format("the code has {}, L1I {}", bytes_text(k.resources.code_bytes),
                    bytes_text(k.gpu->arch().caches.instruction_bytes)),
        "a loop that does not fit is fetched from L2 again and again; the counts of L1I misses "
        "here assume that it fits",
        "unroll less", {}, /*always=*/true);
}

// ---- Latency ----------------------------------------------------------------------------------

void add_latency(AdviceList& list) {
  const KernelProfile& k = list.kernel();
  const auto latency = load_latency_of(k);
  if (!latency || !list.limits().is_longest(DevicePart::load_latency)) return;
  const double waves = latency->waves_per_cu;
  // More would run only if more are waiting.
  const Resources& r = k.resources;
  const std::uint64_t groups = std::uint64_t{k.grid[0]} * k.grid[1] * k.grid[2];
  if (!r.next_step.empty() && groups > std::uint64_t{k.gpu->compute_units()} * r.workgroups_per_cu)
    list.add(fmt::format("{} {} the kernel to {} per CU ({} of {})", r.limit,
                         r.limit == name_of(OccupancyLimit::lds) ? "limits" : "limit",
                         report::counted(r.workgroups_per_cu, "workgroup"),
                         report::counted(r.waves_per_cu, "wave"), k.gpu->arch().cu.wave_slots()),
             r.next_step, unused_lds(k),
             {{DevicePart::load_latency, latency->seconds / (r.workgroups_per_cu + 1)}});
  list.add(
      fmt::format("a wave has {} in flight when it waits for a load, a CU {} in {}",
                  bytes_text(latency->wave_bytes), bytes_text(waves * latency->wave_bytes),
                  report::counted(static_cast<std::uint64_t>(waves), "wave")),
      fmt::format("its loads take {:.0f} cycles on average even on an idle device",
                  latency->cycles),
      "issue more loads before the first of them is used: unroll, load the next tile early, load "
      "16 bytes a lane",
      {{DevicePart::load_latency,
        latency->seconds * (1 - std::max(1.0, latency->batches / 2) / latency->batches)}});
}

// ---- The limit --------------------------------------------------------------------------------

std::string vector_alu_mix(const KernelProfile& k) {
  const double all = of_vector(k);
  const std::pair<double, std::string_view> kinds[] = {
      {4 * sum(k, {SQ_INSTS_VALU_ADD_F16, SQ_INSTS_VALU_MUL_F16, SQ_INSTS_VALU_FMA_F16,
                   SQ_INSTS_VALU_ADD_F32, SQ_INSTS_VALU_MUL_F32, SQ_INSTS_VALU_FMA_F32,
                   SQ_INSTS_VALU_ADD_F64, SQ_INSTS_VALU_MUL_F64, SQ_INSTS_VALU_FMA_F64}),
       "floating-point arithmetic"},
      {16 * sum(k, {SQ_INSTS_VALU_TRANS_F16, SQ_INSTS_VALU_TRANS_F32, SQ_INSTS_VALU_TRANS_F64}),
       "transcendentals, which take four times as long"},
      {4 * sum(k, {SQ_INSTS_VALU_INT32, SQ_INSTS_VALU_INT64}), "integers"},
      {4 * sum(k, {SQ_INSTS_VALU_CVT}), "conversions"}};
  std::vector<std::string> parts;
  double rest = all;
  for (const auto& [cycles, name] : kinds) {
    rest -= cycles;
    if (cycles > 0.01 * all) parts.push_back(fmt::format("{:.0f} % {}", 100 * cycles / all, name));
  }
  if (rest > 0.01 * all)
    parts.push_back(fmt::format("{:.0f} % moves, compares and others", 100 * rest / all));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string meaning_of(const KernelProfile& k, DevicePart part) {
  if (part == DevicePart::memory) {
    double touched = 0, moved = 0;
    for (const TensorTraffic& t : k.tensors) {
      touched += static_cast<double>(t.touched_read_bytes + t.touched_written_bytes);
      moved += static_cast<double>(t.fabric_read_bytes + t.fabric_written_bytes);
    }
    double read = 0, used = 0;
    for (const TensorTraffic& t : k.tensors) {
      read += static_cast<double>(t.workgroup_read_bytes);
      used += static_cast<double>(t.workgroup_used_bytes);
    }
    if (used < 0.9 * read)
      return fmt::format("{:.0f} % of the bytes that are read are used", 100 * used / read);
    if (touched == 0 || moved <= 1.1 * touched)
      return "each byte moves once: fewer bytes make it faster (narrower types, more done with "
             "what is "
             "in registers), nothing else does";
    return fmt::format("each byte moves {:.2f} times; once is the least", moved / touched);
  }
  if (part == DevicePart::matrix_units)
    return "all else has to hide behind them; fewer or narrower matrix operations make it faster";
  if (part == DevicePart::vector_alu) return "of its cycles: " + vector_alu_mix(k);
  if (part == DevicePart::lds)
    return "fewer bytes through LDS make it faster: more reuse in registers, 16 bytes a lane";
  if (part == DevicePart::vector_cache)
    return "it takes a sector of 64 bytes each cycle: fewer sectors, and more reuse in LDS or "
           "registers, make it faster";
  if (part == DevicePart::l2)
    return "requests of up to 128 bytes: more reuse in LDS or registers makes it faster";
  if (part == DevicePart::scalar_issue)
    return "scalar arithmetic and loads: fewer instructions make it faster";
  if (part == DevicePart::load_latency)
    return "an estimate: waves wait for loads, and there are too few of either to keep a part busy";
  return {};
}

}  // namespace

Limit limit_of(const KernelProfile& kernel) {
  const Limits limits(kernel);
  if (limits.empty()) return {};
  const Limits::Part& first = limits.longest();
  Limit out;
  out.part = part_name(first.part);
  out.what = fmt::format("{} the limit with {}", with_verb(first.part),
                         report::seconds_text(first.seconds));
  if (limits.parts().size() > 1) {
    const Limits::Part& next = limits.parts()[1];
    out.what += fmt::format("; {} next with {:.0f} % of that", with_verb(next.part),
                            100 * next.seconds / first.seconds);
  }
  out.meaning = meaning_of(kernel, first.part);
  return out;
}

std::vector<Advice> advice_for(const KernelProfile& kernel) {
  AdviceList list(kernel);
  add_lds_conflicts(list);
  advise_on_memory(list);
  add_spills(list);
  advise_on_reuse(list);
  add_vector_alu(list);
  add_grid(list);
  add_latency(list);
  return list.take();
}

}  // namespace margay::profile
