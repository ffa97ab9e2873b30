// Writing; see json.h. Reading is in json_parse.cpp.
#include "report/profile/json/json.h"

#include <map>
#include <set>
#include <tuple>

#include <nlohmann/json.hpp>

#include "report/json_node.h"
#include "report/profile/analysis/advice.h"
#include "report/profile/analysis/metrics.h"
#include "report/profile/analysis/occupancy_table.h"
#include "report/text_file.h"

namespace margay::profile {
namespace {

using report::Json;

/// Source positions are written once and named by number: an inlined call chain is long, and
/// thousands of instructions share it.
class Frames {
 public:
  [[nodiscard]] Json numbers(const std::vector<SourceFrame>& frames) {
    Json list = Json::array();
    for (const SourceFrame& frame : frames) {
      const auto [at, fresh] = known_.try_emplace(
          std::tuple(frame.function, frame.file, frame.line, frame.column), known_.size());
      if (fresh) all_.push_back(report::frame_json(frame));
      list.push_back(at->second);
    }
    return list;
  }
  [[nodiscard]] Json take() { return std::move(all_); }

 private:
  std::map<std::tuple<std::string, std::string, std::uint32_t, std::uint32_t>, std::size_t> known_;
  Json all_ = Json::array();
};

Json memory_json(const MemoryTraffic& m) {
  return {{"lane_bytes", m.lane_bytes},
          {"accesses", m.accesses},
          {"tag_accesses", m.tag_accesses},
          {"sector_bytes", m.sector_bytes},
          {"least_sector_bytes", m.least_sector_bytes},
          {"misaligned_sector_bytes", m.misaligned_sector_bytes},
          {"inactive_sector_bytes", m.inactive_sector_bytes},
          {"least_tag_accesses", m.least_tag_accesses},
          {"l2_reads", m.l2_reads},
          {"l2_writes", m.l2_writes},
          {"l2_hits", m.l2_hits},
          {"l2_misses", m.l2_misses},
          {"fabric_read_bytes", m.fabric_read_bytes}};
}

Json lds_json(const LdsUse& use) {
  Json lanes = Json::array();
  for (unsigned lane = 0; lane < 64; ++lane)
    if ((use.worst_lanes >> lane & 1) != 0) lanes.push_back(lane);
  return {{"cycles", use.cycles},
          {"conflict_cycles", use.conflict_cycles},
          {"address_cycles", use.address_cycles},
          {"conflicting", use.conflicting},
          {"worst_ways", use.worst_ways},
          {"worst_bank", use.worst_bank},
          {"worst_lanes", std::move(lanes)},
          {"bank_dwords", use.bank_dwords}};
}

Json traits_json(const SiteTraits& traits) {
  return {{"path", path_name(traits.path)},
          {"loads_to_lds", traits.loads_to_lds},
          {"has_packed_twin", traits.has_packed_twin},
          {"vm_wait", traits.vm_wait ? Json(*traits.vm_wait) : Json(nullptr)}};
}

Json site_json(const Site& site, Frames& frames) {
  Json json = {{"vaddr", site.vaddr},
               {"text", site.text},
               {"class", class_name(site.instruction_class)},
               {"function", site.function},
               {"frames", frames.numbers(site.frames)},
               {"executions", site.executions},
               {"active_lanes", site.active_lanes},
               {"issue_cycles", site.issue_cycles},
               {"flops", site.flops},
               {"is_read", site.is_read},
               {"is_write", site.is_write},
               {"is_atomic", site.is_atomic},
               {"is_scratch", site.traits.path == MemoryPath::scratch},
               {"instruction", traits_json(site.traits)}};
  json["lds"] = site.lds ? lds_json(*site.lds) : Json(nullptr);
  json["memory"] = site.memory ? memory_json(*site.memory) : Json(nullptr);
  json["tensor"] = site.tensor < 0 ? Json(nullptr) : Json(site.tensor);
  return json;
}

Json tensor_json(const TensorTraffic& t) {
  return {{"name", t.name},
          {"type", t.type},
          {"element", t.element},
          {"element_bytes", t.element_bytes},
          {"shape", t.shape ? Json(*t.shape) : Json(nullptr)},
          {"bytes", t.bytes},
          {"read_bytes", t.read_bytes},
          {"written_bytes", t.written_bytes},
          {"touched_read_bytes", t.touched_read_bytes},
          {"touched_written_bytes", t.touched_written_bytes},
          {"workgroup_read_bytes", t.workgroup_read_bytes},
          {"workgroup_used_bytes", t.workgroup_used_bytes},
          {"xcd_read_bytes", t.xcd_read_bytes},
          {"l2_read_bytes", t.l2_read_bytes},
          {"l2_written_bytes", t.l2_written_bytes},
          {"fabric_read_bytes", t.fabric_read_bytes},
          {"fabric_written_bytes", t.fabric_written_bytes}};
}

Json map_json(const WaveMap& map) {
  Json ranges = Json::array();
  for (const TouchedRange& r : map.ranges)
    ranges.push_back(Json::array({r.begin, r.bytes, r.readers, r.writers}));
  return {{"tensor", map.tensor < 0 ? Json(nullptr) : Json(map.tensor)},
          {"ranges", std::move(ranges)}};
}

Json trace_json(const WaveTrace& trace) {
  Json slices = Json::array();
  for (const TraceSlice& s : trace.slices)
    slices.push_back(Json::array({static_cast<unsigned>(s.kind),
                                  static_cast<unsigned>(s.instruction_class), s.begin, s.steps,
                                  s.instructions, s.site, s.vector_in_flight, s.lds_in_flight}));
  return {{"workgroup", trace.workgroup},
          {"wave", trace.wave},
          {"launch", trace.launch},
          {"slices", std::move(slices)}};
}

Json resources_json(const Resources& r) {
  return {{"vgprs", r.vgprs},
          {"agprs", r.agprs},
          {"sgprs", r.sgprs},
          {"static_lds_bytes", r.static_lds_bytes},
          {"dynamic_lds_bytes", r.dynamic_lds_bytes},
          {"scratch_bytes", r.scratch_bytes},
          {"vgpr_spills", r.vgpr_spills},
          {"sgpr_spills", r.sgpr_spills},
          {"code_bytes", r.code_bytes},
          {"workgroups_per_cu", r.workgroups_per_cu},
          {"waves_per_cu", r.waves_per_cu},
          {"waves_per_simd", r.waves_per_simd},
          {"limit", r.limit},
          {"next_step", r.next_step}};
}

Json counters_json(const Counters& counters, std::string_view prefix = "") {
  Json json = Json::object();
  for (std::size_t n = 0; n < kCounters; ++n)
    if (kCounterInfo[n].name.starts_with(prefix))
      json[std::string(kCounterInfo[n].name)] = counters[static_cast<Counter>(n)];
  return json;
}

template <typename T, typename Write>
Json list_json(const std::vector<T>& values, Write&& write) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(write(value));
  return list;
}

Json limit_json(const Limit& limit) {
  return {{"part", limit.part}, {"what", limit.what}, {"meaning", limit.meaning}};
}

Json advice_json(const Advice& a) {
  return {{"what", a.what}, {"why", a.why}, {"fix", a.fix}, {"effect", a.effect}, {"gain", a.gain}};
}

Json occupancy_json(const OccupancyTable& table) {
  return {{"vgprs", table.vgprs}, {"lds_bytes", table.lds_bytes}, {"waves_per_cu", table.waves}};
}

Json kernel_json(const KernelProfile& k, Frames& frames) {
  Json metrics = Json::object();
  for (const Metric& metric : metrics_of(k))
    metrics[std::string(metric.id)] = metric.value ? Json(*metric.value) : Json(nullptr);
  return {{"name", k.name},
          {"symbol", k.symbol},
          {"grid", k.grid},
          {"workgroup", k.workgroup},
          {"launches", k.launches},
          {"failed_launches", k.failed_launches},
          {"launches_seen", k.launches_seen},
          {"sampled_workgroups", k.sampled_workgroups},
          {"instructions_warm", k.instructions_warm},
          {"host_seconds", k.host_seconds},
          {"resources", resources_json(k.resources)},
          {"counters", counters_json(k.counters)},
          {"metrics", std::move(metrics)},
          {"limit", limit_json(limit_of(k))},
          {"advice", list_json(advice_for(k), advice_json)},
          {"occupancy_table", occupancy_json(occupancy_table(k))},
          {"xcds", list_json(k.xcds, [](const Counters& c) { return counters_json(c, "TCC_"); })},
          {"tensors", list_json(k.tensors, tensor_json)},
          {"sites", list_json(k.sites, [&](const Site& s) { return site_json(s, frames); })},
          {"maps", list_json(k.maps, map_json)},
          {"traces", list_json(k.traces, trace_json)}};
}

}  // namespace

std::string json_of(const Profile& profile) {
  Frames frames;
  Json kernels =
      list_json(profile.kernels, [&](const KernelProfile& k) { return kernel_json(k, frames); });
  Json sources = Json::object();
  for (const auto& [file, lines] : profile.sources)
    for (const auto& [line, text] : lines) sources[file][std::to_string(line)] = text;
  Json document = {{"version", kJsonVersion},       {"device", profile.device},
                   {"schedule", profile.schedule},  {"mfma", profile.mfma},
                   {"sources", std::move(sources)}, {"frames", frames.take()},
                   {"kernels", std::move(kernels)}};
  if (!profile.partial.empty()) document["partial"] = profile.partial;
  // Names come from files and may hold any bytes.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status write_profile(const Profile& profile, const std::string& path) {
  return report::write_text(json_of(profile), path);
}

void keep_sources(Profile& profile, const SourceReader& read) {
  std::map<std::string, std::set<std::uint32_t>> used;
  for (const KernelProfile& kernel : profile.kernels)
    for (const Site& site : kernel.sites)
      if (!site.frames.empty() && site.frames.front().line != 0)
        used[site.frames.front().file].insert(site.frames.front().line);
  for (const auto& [file, lines] : used) {
    const auto text = read(file);
    if (!text) continue;
    for (const std::uint32_t line : lines)
      if (line <= text->size()) profile.sources[file][line] = (*text)[line - 1];
  }
}

void merge(Profile& into, Profile other) {
  if (into.kernels.empty()) {
    into = std::move(other);
    return;
  }
  for (auto& [file, lines] : other.sources) into.sources[file].merge(lines);
  if (!other.partial.empty())
    into.partial += (into.partial.empty() ? "" : "; ") + std::move(other.partial);
  for (KernelProfile& kernel : other.kernels) into.kernels.push_back(std::move(kernel));
}

}  // namespace margay::profile
