// Timelines as Chrome trace events; see trace.h. Format: the Trace Event Format document of
// Chromium's trace viewer; what Perfetto reads of it: its "Other trace formats" page.
#include "report/profile/text/trace.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace margay::profile {
namespace {

using Json = nlohmann::ordered_json;
using Kind = TraceSlice::Kind;

std::string_view mnemonic(const Site& site) {
  const std::string_view text = site.text;
  return text.substr(0, text.find(' '));
}

/// The instructions of a slice. A slice ends with its class, and branches have one of their own:
/// its instructions come one after the other.
std::span<const Site> sites_of(const KernelProfile& kernel, const TraceSlice& slice) {
  const std::span<const Site> all = kernel.sites;
  if (slice.site >= all.size()) return {};
  return all.subspan(slice.site,
                     std::min<std::size_t>(slice.instructions, all.size() - slice.site));
}

/// "LDS reads", "global load": a word for what all of the instructions do, or a wider one.
std::string access_name(std::string_view where, std::string_view read, std::string_view write,
                        std::span<const Site> sites) {
  const auto all = [&](auto&& holds) { return std::ranges::all_of(sites, holds); };
  const std::string_view s = sites.size() > 1 ? "s" : "";
  if (all([](const Site& i) { return i.is_atomic; })) return fmt::format("{} atomic{}", where, s);
  if (all([](const Site& i) { return i.is_read && !i.is_write; }))
    return fmt::format("{} {}{}", where, read, s);
  if (all([](const Site& i) { return i.is_write && !i.is_read; }))
    return fmt::format("{} {}{}", where, write, s);
  return fmt::format("{} access{}", where, s.empty() ? "" : "es");
}

std::string vector_memory_name(std::span<const Site> sites) {
  const Site& first = sites.front();
  // These write LDS as well.
  if (first.traits.loads_to_lds) return sites.size() > 1 ? "loads to LDS" : "load to LDS";
  if (!first.is_read && !first.is_write && !first.is_atomic) return std::string(mnemonic(first));
  return access_name(path_name(first.traits.path), "load", "store", sites);
}

std::string work_name(std::span<const Site> sites, const TraceSlice& slice) {
  std::string name(class_name(slice.instruction_class));
  if (!sites.empty()) {
    const Site& first = sites.front();
    if (slice.instruction_class == InstructionClass::lds) {
      if (first.is_read || first.is_write || first.is_atomic)
        name = access_name("LDS", "read", "write", sites);
      else
        name = mnemonic(first);
    }
    if (slice.instruction_class == InstructionClass::vmem) name = vector_memory_name(sites);
    if (slice.instruction_class == InstructionClass::smem)
      name = access_name("scalar", "load", "store", sites);
    if (slice.instruction_class == InstructionClass::branch ||
        slice.instruction_class == InstructionClass::other)
      name = mnemonic(first);
  }
  return slice.instructions > 1 ? fmt::format("{} x{}", name, slice.instructions) : name;
}

std::string slice_name(std::span<const Site> sites, const TraceSlice& slice) {
  switch (slice.kind) {
    case Kind::wait:
      return sites.empty() ? "s_waitcnt" : sites.front().text;
    case Kind::barrier:
      return fmt::format("s_barrier (waits {} step{})", slice.steps, slice.steps == 1 ? "" : "s");
    case Kind::work:
      break;
  }
  return work_name(sites, slice);
}

std::string_view category(Kind kind) {
  return kind == Kind::wait ? "wait" : kind == Kind::barrier ? "barrier" : "work";
}

/// Without the directory: there are hundreds of thousands of slices.
std::string source_of(const Site& site) {
  if (site.frames.empty() || site.frames.front().line == 0) return "no source line";
  const SourceFrame& frame = site.frames.front();
  return fmt::format("{}:{}", frame.file.substr(frame.file.rfind('/') + 1), frame.line);
}

/// Events, one a line.
class Writer {
 public:
  void add(const Json& event) {
    out_ += out_.empty() ? "" : ",\n";
    // Names come from files and may contain any bytes.
    out_ += event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  std::string out_;
};

void add_wave(const KernelProfile& kernel, const WaveTrace& trace, std::uint32_t process,
              Writer& out) {
  const std::uint32_t thread = trace.wave + 1;  // 0 would be the process itself
  const std::string name = fmt::format("wave {}", trace.wave);
  out.add({{"ph", "M"},
           {"name", "thread_name"},
           {"pid", process},
           {"tid", thread},
           {"args", {{"name", name}}}});
  out.add({{"ph", "M"},
           {"name", "thread_sort_index"},
           {"pid", process},
           {"tid", thread},
           {"args", {{"sort_index", trace.wave}}}});
  // Counters belong to a process; the wave is part of their name.
  const std::string counter = fmt::format("{} in flight", name);
  std::pair<int, int> shown = {-1, -1};
  for (const TraceSlice& slice : trace.slices) {
    const std::span<const Site> sites = sites_of(kernel, slice);
    if (const std::pair<int, int> now = {slice.vector_in_flight, slice.lds_in_flight};
        now != shown) {
      out.add({{"ph", "C"},
               {"name", counter},
               {"pid", process},
               {"ts", slice.begin},
               {"args", {{"vector", now.first}, {"lds", now.second}}}});
      shown = now;
    }
    Json args = {{"instructions", slice.instructions}};
    if (!sites.empty()) {
      args["first"] = sites.front().text;
      args["source"] = source_of(sites.front());
    }
    out.add({{"ph", "X"},
             {"name", slice_name(sites, slice)},
             {"cat", category(slice.kind)},
             {"pid", process},
             {"tid", thread},
             {"ts", slice.begin},
             {"dur", slice.steps},
             {"args", std::move(args)}});
  }
}

// ---- Modelled time: 1 us is a cycle ------------------------------------------------------------

void add_process(std::uint32_t process, const std::string& name, Writer& out) {
  out.add({{"ph", "M"}, {"name", "process_name"}, {"pid", process}, {"args", {{"name", name}}}});
  out.add({{"ph", "M"},
           {"name", "process_sort_index"},
           {"pid", process},
           {"args", {{"sort_index", process}}}});
}
void add_thread(std::uint32_t process, std::uint32_t thread, const std::string& name, Writer& out) {
  out.add({{"ph", "M"},
           {"name", "thread_name"},
           {"pid", process},
           {"tid", thread},
           {"args", {{"name", name}}}});
}

/// Workgroups of compute units: a process for each unit, a thread for each place that a workgroup
/// may have on it.
void add_workgroups(const KernelProfile& kernel, std::uint32_t& processes, Writer& out) {
  using Span = timing::WorkgroupSpan;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const Span*>> cus;
  for (const Span& span : kernel.time->timeline.workgroups)
    cus[{span.xcd, span.cu}].push_back(&span);
  for (auto& [place, spans] : cus) {
    const std::uint32_t process = ++processes;
    add_process(process,
                fmt::format("XCD {} CU {}: workgroups of {}, modelled cycles", place.first,
                            place.second, kernel.name),
                out);
    std::ranges::stable_sort(spans, {}, &Span::begin);
    std::vector<std::uint32_t> free_at;  // by thread
    for (const Span* const span : spans) {
      auto thread =
          std::ranges::find_if(free_at, [&](std::uint32_t at) { return at <= span->begin; });
      if (thread == free_at.end()) {
        thread = free_at.insert(free_at.end(), 0);
        add_thread(process, static_cast<std::uint32_t>(free_at.size()),
                   fmt::format("place {}", free_at.size()), out);
      }
      *thread = span->begin + span->cycles;
      out.add({{"ph", "X"},
               {"name", fmt::format("{}workgroup {}", span->stand_in ? "like " : "", span->id)},
               {"cat", "workgroup"},
               {"pid", process},
               {"tid", thread - free_at.begin() + 1},
               {"ts", span->begin},
               {"dur", span->cycles}});
    }
    const auto occupancy = std::ranges::find_if(
        kernel.time->timeline.occupancy,
        [&](const auto& unit) { return std::pair(unit.xcd, unit.cu) == place; });
    if (occupancy == kernel.time->timeline.occupancy.end()) continue;
    for (const timing::TimelineCount& count : occupancy->waves)
      out.add({{"ph", "C"},
               {"name", "waves per SIMD"},
               {"pid", process},
               {"ts", count.at},
               {"args", {{"waves", static_cast<double>(count.count) / occupancy->simds}}}});
  }
}

/// The site at an address; the end if there is none.
std::span<const Site> site_at(const KernelProfile& kernel, std::uint32_t vaddr,
                              std::uint32_t instructions) {
  const auto found = std::ranges::lower_bound(kernel.sites, vaddr, {}, &Site::vaddr);
  if (found == kernel.sites.end() || found->vaddr != vaddr) return {};
  TraceSlice slice;
  slice.site = static_cast<std::uint32_t>(found - kernel.sites.begin());
  slice.instructions = instructions;
  return sites_of(kernel, slice);
}

void add_modelled_wave(const KernelProfile& kernel, const timing::WaveTimeline& wave,
                       std::uint32_t process, Writer& out) {
  const std::uint32_t thread = wave.wave + 1;
  add_thread(process, thread, fmt::format("wave {} on SIMD {}", wave.wave, wave.simd), out);
  for (const timing::TimelineSlice& slice : wave.slices) {
    const std::span<const Site> sites = site_at(kernel, slice.vaddr, slice.instructions);
    TraceSlice work;
    work.instructions = slice.instructions;
    if (!sites.empty()) work.instruction_class = sites.front().instruction_class;
    Json args = {{"instructions", slice.instructions}};
    if (!sites.empty()) {
      args["first"] = sites.front().text;
      args["source"] = source_of(sites.front());
    }
    out.add({{"ph", "X"},
             {"name",
              slice.stall ? std::string(timing::stall_name(*slice.stall)) : work_name(sites, work)},
             {"cat", slice.stall ? "stall" : "issue"},
             {"pid", process},
             {"tid", thread},
             {"ts", slice.begin},
             {"dur", slice.cycles},
             {"args", std::move(args)}});
  }
  // Counters belong to a process; the wave is part of their name.
  for (const timing::TimelineCount& count : wave.in_flight)
    out.add({{"ph", "C"},
             {"name", fmt::format("wave {} in flight", wave.wave)},
             {"pid", process},
             {"ts", count.at},
             {"args", {{"accesses", count.count}}}});
}

void add_modelled(const KernelProfile& kernel, std::uint32_t& processes, Writer& out) {
  const timing::Timeline& timeline = kernel.time->timeline;
  std::map<std::uint32_t, std::uint32_t> process_of;  // by workgroup
  for (const timing::WaveTimeline& wave : timeline.waves) {
    const auto [at, fresh] = process_of.try_emplace(wave.workgroup, processes + 1);
    const timing::WorkgroupSpan& span = timeline.workgroups[wave.workgroup];
    if (fresh)
      add_process(++processes,
                  fmt::format("workgroup {} on XCD {} CU {} of {}: waves, modelled cycles", span.id,
                              span.xcd, span.cu, kernel.name),
                  out);
    add_modelled_wave(kernel, wave, at->second, out);
  }
  add_workgroups(kernel, processes, out);
}

}  // namespace

std::string trace_of(const Profile& profile) {
  Writer out;
  std::uint32_t processes = 0;
  bool modelled = false;
  for (const KernelProfile& kernel : profile.kernels) {
    // Steps and cycles do not fit on one axis.
    if (kernel.time && !kernel.time->timeline.empty()) {
      add_modelled(kernel, processes, out);
      modelled = true;
      continue;
    }
    std::map<std::tuple<std::uint32_t, std::array<std::uint32_t, 3>>, std::uint32_t> process_of;
    for (const WaveTrace& trace : kernel.traces) {
      const auto [at, fresh] =
          process_of.try_emplace({trace.launch, trace.workgroup}, processes + 1);
      if (fresh) {
        ++processes;
        const auto& [x, y, z] = trace.workgroup;
        out.add({{"ph", "M"},
                 {"name", "process_name"},
                 {"pid", processes},
                 {"args",
                  {{"name", fmt::format("workgroup ({}, {}, {}) of {}, launch {}: instruction "
                                        "steps, not time",
                                        x, y, z, kernel.name, trace.launch)}}}});
        out.add({{"ph", "M"},
                 {"name", "process_sort_index"},
                 {"pid", processes},
                 {"args", {{"sort_index", processes}}}});
      }
      add_wave(kernel, trace, at->second, out);
    }
  }
  const Json about = {
      {"device", profile.device},
      {"schedule", profile.schedule},
      {"unit", modelled ? "1 us is one cycle of the model of time: nothing is measured"
                        : "1 us is one instruction step; there is no time model"}};
  return fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{},\"traceEvents\":[\n{}\n]}}\n",
                     about.dump(-1, ' ', false, Json::error_handler_t::replace), out.text());
}

}  // namespace margay::profile
