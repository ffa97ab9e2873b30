// Kernels, resources, tensors, maps and counters for the page; see html_data.h.
#include "report/profile/page/html_data.h"

#include "report/profile/analysis/bounds.h"
#include "report/profile/analysis/limits.h"
#include "report/profile/analysis/metrics.h"
#include "report/profile/analysis/occupancy_table.h"
#include "report/profile/machine.h"
#include "report/profile/time/time_json.h"

namespace margay::profile {
namespace {

/// Four numbers for each range, one after the other: maps are the largest part of a page.
Json map_json(const WaveMap& map) {
  Json ranges = Json::array();
  for (const TouchedRange& range : map.ranges) {
    ranges.push_back(range.begin);
    ranges.push_back(range.bytes);
    ranges.push_back(range.readers);
    ranges.push_back(range.writers);
  }
  return {{"tensor", map.tensor}, {"ranges", std::move(ranges)}};
}

Json roofline_json(const KernelProfile& kernel) {
  Json operations = Json::array(), levels = Json::array(), bounds = Json::array();
  for (const Operations& o : operations_of(kernel))
    operations.push_back({{"type", o.type}, {"count", o.count}, {"peak", o.peak_per_second}});
  for (const Level& level : levels_of(kernel))
    levels.push_back(
        {{"name", level.name}, {"bytes", level.bytes}, {"peak", level.peak_bytes_per_second}});
  for (const Bound& b : bounds_of(kernel))
    bounds.push_back({{"part", part_name(b.part)},
                      {"amount", b.amount},
                      {"unit", b.unit},
                      {"peak", b.peak_per_second},
                      {"seconds", b.seconds}});
  return {{"operations", std::move(operations)},
          {"levels", std::move(levels)},
          {"bounds", std::move(bounds)}};
}

Json metrics_json(const KernelProfile& kernel) {
  Json out = Json::array();
  for (const Metric& metric : metrics_of(kernel)) {
    Json value;
    if (metric.value) value = *metric.value;
    out.push_back({{"id", metric.id},
                   {"panel", metric.panel},
                   {"name", metric.name},
                   {"unit", metric.unit},
                   {"formula", metric.formula},
                   {"value", std::move(value)}});
  }
  return out;
}

/// In the order of the page's "counters": values alone; for those of L2 the XCDs' as well.
void add_counters(const KernelProfile& kernel, Json& out) {
  Json values = Json::array(), xcds = Json::object();
  for (std::size_t n = 0; n < kCounters; ++n) {
    const auto counter = static_cast<Counter>(n);
    values.push_back(kernel.counters[counter]);
    if (!info(counter).name.starts_with("TCC_") || kernel.counters[counter] == 0) continue;
    Json each = Json::array();
    for (const Counters& xcd : kernel.xcds) each.push_back(xcd[counter]);
    if (!each.empty()) xcds[std::string(info(counter).name)] = std::move(each);
  }
  out["counters"] = std::move(values);
  out["xcds"] = std::move(xcds);
}

Json advice_json(const std::vector<Advice>& list) {
  Json out = Json::array();
  for (const Advice& advice : list)
    out.push_back({{"what", advice.what},
                   {"why", advice.why},
                   {"fix", advice.fix},
                   {"effect", advice.effect}});
  return out;
}

Json kernel_json(const KernelProfile& kernel, const Adviser& adviser, StringTable& strings,
                 UsedLines& used) {
  Json out = {{"name", kernel.name},
              {"symbol", kernel.symbol},
              {"grid", kernel.grid},
              {"workgroup", kernel.workgroup},
              {"launches", kernel.launches},
              {"failed", kernel.failed_launches},
              {"warm", kernel.instructions_warm},
              {"host_seconds", kernel.host_seconds},
              {"resources", page_record(kernel.resources)}};
  out.update(roofline_json(kernel));
  out["advised"] = static_cast<bool>(adviser);
  out["advice"] = adviser ? advice_json(adviser(kernel)) : Json::array();
  const Limit limit = limit_of(kernel);
  out["limit"] = {{"part", limit.part}, {"what", limit.what}, {"meaning", limit.meaning}};
  const OccupancyTable table = occupancy_table(kernel);
  out["occupancy_table"] = {
      {"vgprs", table.vgprs}, {"lds_bytes", table.lds_bytes}, {"waves_per_cu", table.waves}};
  out["time"] = kernel.time ? time_summary_json(kernel) : Json();
  out["unused_lds"] = unused_lds(kernel);
  out["achieved_waves"] = achieved_waves_per_cu(kernel);
  out["sampled"] = kernel.sampled_workgroups;
  Json tensors = Json::array(), maps = Json::array();
  for (const TensorTraffic& tensor : kernel.tensors) tensors.push_back(page_record(tensor));
  for (const WaveMap& map : kernel.maps) maps.push_back(map_json(map));
  out["tensors"] = std::move(tensors);
  out["maps"] = std::move(maps);
  add_sites(kernel, strings, used, out);
  out["metrics"] = metrics_json(kernel);
  add_counters(kernel, out);
  return out;
}

Json machine_json(const Gpu& gpu) {
  const ComputeUnit& cu = gpu.arch().cu;
  return {{"cus", gpu.compute_units()},      {"simds", cu.simds},
          {"slots", cu.wave_slots_per_simd}, {"lds", cu.lds_bytes},
          {"l2_read_bytes", kLineBytes},     {"l2_write_bytes", kSectorBytes}};
}

}  // namespace

Json page_data(const Profile& profile, const SourceReader& source, const Adviser& adviser) {
  StringTable strings;
  UsedLines used;
  Json kernels = Json::array(), counters = Json::array(), classes = Json::array();
  for (const KernelProfile& kernel : profile.kernels)
    kernels.push_back(kernel_json(kernel, adviser, strings, used));
  for (const CounterInfo& counter : kCounterInfo)
    counters.push_back({{"name", counter.name}, {"meaning", counter.meaning}});
  for (unsigned n = 0; n < kInstructionClasses; ++n)
    classes.push_back(class_name(static_cast<InstructionClass>(n)));
  Json sources = Json::object();
  for (const auto& [file, lines] : used) {
    const auto text = source ? source(file) : std::nullopt;
    sources[std::to_string(strings.index(file))] =
        text ? source_pieces(*text, lines) : Json(nullptr);
  }
  return {
      {"device", profile.device},
      {"schedule", profile.schedule},
      {"mfma", profile.mfma},
      {"partial", profile.partial},
      {"machine", machine_json(profile.kernels.empty() ? default_gpu() : *profile.kernels[0].gpu)},
      {"counters", std::move(counters)},
      {"classes", std::move(classes)},
      {"strings", strings.strings()},
      {"sources", std::move(sources)},
      {"kernels", std::move(kernels)}};
}

}  // namespace margay::profile
