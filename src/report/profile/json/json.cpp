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
#include "report/profile/profile_fields.h"
#include "report/profile/time/time_json.h"
#include "report/text_file.h"

namespace margay::profile {
namespace {

using report::Json;

/// Source positions are written once and referenced by number: an inlined call chain is long, and
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

/// Any record that lists its fields.
class Records {
 public:
  explicit Records(Frames& frames) : frames_(frames) {}

  template <HasFields Record>
  [[nodiscard]] Json operator()(const Record& record) {
    Json out = Json::object();
    for_each_field<Record>([&](const auto& field) {
      Json& place = out[std::string(field.name)];
      if constexpr (requires { field.function; })
        place = (record.*field.function)();
      else if (field.kind == FieldKind::lanes)
        place = lanes(record.*field.member);
      else
        place = value(record.*field.member);
    });
    return out;
  }

 private:
  /// Of a field of another kind it is never asked for.
  template <typename T>
  [[nodiscard]] static Json lanes(const T& mask) {
    Json list = Json::array();
    if constexpr (std::is_same_v<T, std::uint64_t>)
      for (unsigned lane = 0; lane < 64; ++lane)
        if ((mask >> lane & 1) != 0) list.push_back(lane);
    return list;
  }
  template <typename T>
  [[nodiscard]] Json value(const T& value) {
    if constexpr (HasFields<T>)
      return (*this)(value);
    else
      return Json(value);
  }
  template <typename T>
  [[nodiscard]] Json value(const std::optional<T>& value) {
    return value ? this->value(*value) : Json(nullptr);
  }
  /// An index; below 0 there is none.
  [[nodiscard]] Json value(std::int32_t index) { return index < 0 ? Json(nullptr) : Json(index); }
  [[nodiscard]] Json value(InstructionClass one) { return class_name(one); }
  [[nodiscard]] Json value(MemoryPath path) { return path_name(path); }
  [[nodiscard]] Json value(const std::vector<SourceFrame>& list) { return frames_.numbers(list); }

  Frames& frames_;
};

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

Json kernel_json(const KernelProfile& k, Records& records) {
  Json metrics = Json::object();
  for (const Metric& metric : metrics_of(k))
    metrics[std::string(metric.id)] = metric.value ? Json(*metric.value) : Json(nullptr);
  Json json = {
      {"name", k.name},
      {"symbol", k.symbol},
      {"grid", k.grid},
      {"workgroup", k.workgroup},
      {"launches", k.launches},
      {"failed_launches", k.failed_launches},
      {"launches_seen", k.launches_seen},
      {"sampled_workgroups", k.sampled_workgroups},
      {"instructions_warm", k.instructions_warm},
      {"host_seconds", k.host_seconds},
      {"resources", records(k.resources)},
      {"counters", counters_json(k.counters)},
      {"metrics", std::move(metrics)},
      {"limit", limit_json(limit_of(k))},
      {"advice", list_json(advice_for(k), advice_json)},
      {"occupancy_table", occupancy_json(occupancy_table(k))},
      {"xcds", list_json(k.xcds, [](const Counters& c) { return counters_json(c, "TCC_"); })},
      {"tensors", list_json(k.tensors, records)},
      {"sites", list_json(k.sites, records)},
      {"maps", list_json(k.maps, map_json)},
      {"traces", list_json(k.traces, trace_json)}};
  if (!k.computes.empty()) json["computes"] = list_json(k.computes, report::frame_json);
  if (k.time) json["time"] = time_json(k);
  return json;
}

}  // namespace

std::string json_of(const Profile& profile) {
  Frames frames;
  Records records(frames);
  Json kernels =
      list_json(profile.kernels, [&](const KernelProfile& k) { return kernel_json(k, records); });
  Json sources = Json::object();
  for (const auto& [file, lines] : profile.sources)
    for (const auto& [line, text] : lines) sources[file][std::to_string(line)] = text;
  Json document = {{"version", kJsonVersion},       {"device", profile.device},
                   {"schedule", profile.schedule},  {"mfma", profile.mfma},
                   {"sources", std::move(sources)}, {"frames", frames.take()},
                   {"kernels", std::move(kernels)}};
  if (!profile.partial.empty()) document["partial"] = profile.partial;
  // Names come from files and may contain any bytes.
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
