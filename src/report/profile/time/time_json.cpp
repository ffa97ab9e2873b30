#include "report/profile/time/time_json.h"

#include <algorithm>
#include <optional>

#include "gpu/gpu.h"
#include "report/profile/time/line_times.h"
#include "report/profile/time/time_advice.h"
#include "report/profile/time/time_figures.h"
#include "report/profile/time/time_values.h"
#include "report/profile/time/timeline_json.h"

namespace margay::profile {
namespace {

using report::Json;
using report::Node;
using timing::kStalls;

/// Cycles by reason; zeros are left out.
Json stalls_json(const std::array<double, kStalls>& stalls) {
  Json json = Json::object();
  for (unsigned n = 0; n < kStalls; ++n)
    if (stalls[n] != 0) json[std::string(timing::kStallNames[n])] = stalls[n];
  return json;
}

Result<double> as_double(const Node& node) {
  if (!node.json->is_number() || node.json->get<double>() < 0)
    return node.wrong("a number from 0 up");
  return node.json->get<double>();
}
Result<double> decimal(const Node& parent, std::string_view name) {
  return as_double(MARGAY_TRY(parent.field(name)));
}

Result<std::array<double, kStalls>> as_stalls(const Node& parent) {
  std::array<double, kStalls> out{};
  const Node node = MARGAY_TRY(parent.field("stalls"));
  if (!node.json->is_object()) return node.wrong("an object");
  for (unsigned n = 0; n < kStalls; ++n)
    if (node.json->contains(std::string(timing::kStallNames[n])))
      out[n] = MARGAY_TRY(decimal(node, timing::kStallNames[n]));
  return out;
}

struct BusyUnit {
  std::string_view name;
  double timing::Utilisation::* member;
};
constexpr BusyUnit kBusy[] = {{"valu", &timing::Utilisation::valu},
                              {"matrix", &timing::Utilisation::matrix},
                              {"scalar", &timing::Utilisation::scalar},
                              {"lds", &timing::Utilisation::lds},
                              {"vector_cache", &timing::Utilisation::vector_cache},
                              {"l2", &timing::Utilisation::l2},
                              {"infinity_cache", &timing::Utilisation::infinity_cache},
                              {"memory", &timing::Utilisation::memory},
                              {"dispatcher", &timing::Utilisation::dispatcher}};

struct SimdPart {
  std::string_view name;
  double timing::SimdTime::* member;
};
constexpr SimdPart kSimdParts[] = {
    {"work", &timing::SimdTime::work},      {"idle", &timing::SimdTime::idle},
    {"empty", &timing::SimdTime::empty},    {"both", &timing::SimdTime::both},
    {"matrix", &timing::SimdTime::matrix},  {"memory", &timing::SimdTime::memory},
    {"neither", &timing::SimdTime::neither}};

/// Cycles of a site that most sites have none of; zeros are left out.
struct SiteCycles {
  std::string_view name;
  double timing::SiteTime::* member;
};
constexpr SiteCycles kSiteCycles[] = {{"exposed", &timing::SiteTime::exposed},
                                      {"lost", &timing::SiteTime::lost},
                                      {"flight", &timing::SiteTime::flight},
                                      {"unhidden", &timing::SiteTime::unhidden}};

Json elsewhere_json(const std::vector<timing::Elsewhere>& devices) {
  Json json = Json::array();
  for (const timing::Elsewhere& one : devices)
    json.push_back({{"device", one.device},
                    {"us_boost", one.misses_decide ? Json() : Json(one.us_boost)},
                    {"us_sustained", one.misses_decide ? Json() : Json(one.us_sustained)},
                    {"misses_decide", one.misses_decide}});
  return json;
}

Result<timing::Elsewhere> as_elsewhere(const Node& node) {
  timing::Elsewhere out;
  const std::string name = MARGAY_TRY(report::text(node, "device"));
  const auto gpu = std::ranges::find(all_gpus(), name, &Gpu::short_name);
  if (gpu == all_gpus().end()) return MARGAY_TRY(node.field("device")).wrong("a known device");
  out.device = gpu->short_name();
  out.misses_decide = MARGAY_TRY(report::flag(node, "misses_decide"));
  for (const auto& [name, member] : {std::pair{"us_boost", &timing::Elsewhere::us_boost},
                                     std::pair{"us_sustained", &timing::Elsewhere::us_sustained}}) {
    const Node us = MARGAY_TRY(node.field(name));
    if (!out.misses_decide)
      out.*member = MARGAY_TRY(as_double(us));
    else if (!us.json->is_null())
      return us.wrong("null");
  }
  return out;
}

Json figures_json(const KernelProfile& kernel) {
  const timing::KernelTime& time = *kernel.time;
  Json json = Json::object();
  for (const TimeFigure& figure : kTimeFigures)
    json[std::string(figure.name)] = time.*figure.member;
  json["bound"] = timing::bound_name(time.bound);
  json["warm"] = time.warm;
  json["between_workgroups"] = {{"polling", time.between.polling},
                                {"polls_at", time.between.polls_at},
                                {"grid_syncs", time.between.grid_syncs}};
  for (const BusyUnit& unit : kBusy) json["busy"][std::string(unit.name)] = time.busy.*unit.member;
  for (const SimdPart& part : kSimdParts)
    json["simds"][std::string(part.name)] = time.simds.*part.member;
  json["occupancy"] = time.occupancy;
  json["elsewhere"] = elsewhere_json(time.elsewhere);
  json["stalls"] = stalls_json(time.stalls);
  const auto throughput = throughput_of(kernel);
  json["tflops_boost"] = throughput ? Json(throughput->boost) : Json();
  json["tflops_sustained"] = throughput ? Json(throughput->sustained) : Json();
  return json;
}

Result<timing::SiteTime> as_site_time(const Node& node) {
  timing::SiteTime site;
  site.hits = MARGAY_TRY(report::number<std::uint64_t>(node, "hits"));
  site.latency = MARGAY_TRY(decimal(node, "latency"));
  site.stalls = MARGAY_TRY(as_stalls(node));
  for (const SiteCycles& cycles : kSiteCycles)
    if (node.json->contains(std::string(cycles.name)))
      site.*cycles.member = MARGAY_TRY(decimal(node, cycles.name));
  return site;
}

Json site_time_json(const timing::SiteTime& site) {
  Json json = {
      {"hits", site.hits}, {"latency", site.latency}, {"stalls", stalls_json(site.stalls)}};
  for (const SiteCycles& cycles : kSiteCycles)
    if (site.*cycles.member != 0) json[std::string(cycles.name)] = site.*cycles.member;
  return json;
}

/// By address, for the profile of a process; see advice_json() for people's lines.
Json what_ifs_json(const std::vector<timing::WhatIf>& what_ifs) {
  Json json = Json::array();
  for (const timing::WhatIf& what_if : what_ifs) {
    Json sites = Json::array();
    for (const timing::WhatIf::Site& site : what_if.sites)
      sites.push_back({{"vaddr", site.vaddr}, {"share", site.share}});
    json.push_back({{"what", timing::what_if_name(what_if.kind)},
                    {"saves_percent", what_if.saves_percent},
                    {"vgprs", what_if.vgprs},
                    {"sites", std::move(sites)}});
  }
  return json;
}

/// Nothing of a change that only another version tries: names come and go, and the rest can be
/// read.
Result<std::optional<timing::WhatIf>> as_what_if(const Node& node) {
  timing::WhatIf out;
  const std::string name = MARGAY_TRY(report::text(node, "what"));
  unsigned number = 0;
  while (number < timing::kWhatIfs &&
         timing::what_if_name(static_cast<timing::WhatIfKind>(number)) != name)
    ++number;
  if (number == timing::kWhatIfs) return std::optional<timing::WhatIf>{};
  out.kind = static_cast<timing::WhatIfKind>(number);
  const Node saves = MARGAY_TRY(node.field("saves_percent"));
  if (!saves.json->is_number()) return saves.wrong("a number");
  out.saves_percent = saves.json->get<double>();
  if (node.json->contains("vgprs"))
    out.vgprs = MARGAY_TRY(report::number<std::uint32_t>(node, "vgprs"));
  out.sites = MARGAY_TRY(report::list<timing::WhatIf::Site>(
      node, "sites", [](const Node& site) -> Result<timing::WhatIf::Site> {
        return timing::WhatIf::Site{MARGAY_TRY(report::number<std::uint32_t>(site, "vaddr")),
                                    MARGAY_TRY(decimal(site, "share"))};
      }));
  return out;
}

Json advice_json(const KernelProfile& kernel) {
  Json json = Json::array();
  for (const TimeAdvice& advice : time_advice(kernel)) {
    Json lines = Json::array();
    for (const SavedLine& line : advice.lines) {
      lines.push_back({{"file", line.file},
                       {"line", line.line},
                       {"function", line.function},
                       {"share", line.share}});
      if (!line.instruction.empty()) lines.back()["instruction"] = line.instruction;
    }
    json.push_back({{"what", timing::what_if_name(advice.kind)},
                    {"saves_percent", advice.saves_percent},
                    {"is_advice", advice.is_advice},
                    {"what_to_do", advice.what_to_do},
                    {"vgprs", advice.vgprs},
                    {"lines", std::move(lines)}});
  }
  return json;
}

Json document_of(const KernelProfile& kernel) {
  Json json = {{"name", kernel.name},
               {"symbol", kernel.symbol},
               {"grid", kernel.grid},
               {"workgroup", kernel.workgroup},
               {"launches", kernel.launches_seen}};
  json.update(time_summary_json(kernel));
  json["instructions"] = Json::array();
  for (std::size_t n = 0; n < kernel.sites.size(); ++n) {
    Json one = {{"vaddr", kernel.sites[n].vaddr}, {"text", kernel.sites[n].text}};
    one.update(site_time_json(kernel.time->sites[n]));
    json["instructions"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

Json time_summary_json(const KernelProfile& kernel) {
  Json json = figures_json(kernel);
  json["what_if"] = advice_json(kernel);
  json["lines"] = Json::array();
  for (const LineTime& line : line_times(kernel)) {
    Json one = {{"file", line.file}, {"line", line.line}, {"function", line.function}};
    one.update(site_time_json(line.time));
    json["lines"].push_back(std::move(one));
  }
  return json;
}

Json time_json(const KernelProfile& kernel) {
  if (!kernel.time) return nullptr;
  Json json = figures_json(kernel);
  json["what_if"] = what_ifs_json(kernel.time->what_if);
  if (!kernel.time->timeline.empty()) json["timeline"] = timeline_json(kernel.time->timeline);
  json["sites"] = Json::array();
  for (const timing::SiteTime& site : kernel.time->sites)
    json["sites"].push_back(site_time_json(site));
  return json;
}

Result<timing::KernelTime> as_time(const Node& node, std::size_t sites) {
  timing::KernelTime time;
  for (const TimeFigure& figure : kTimeFigures)  // earlier versions did not know the write-back's
    if (figure.member != &timing::KernelTime::write_back_us || node.json->contains(figure.name))
      time.*figure.member = MARGAY_TRY(decimal(node, figure.name));
  const Node busy = MARGAY_TRY(node.field("busy"));
  for (const BusyUnit& unit : kBusy)  // earlier versions did not know the dispatcher's
    if (unit.member != &timing::Utilisation::dispatcher || busy.json->contains(unit.name))
      time.busy.*unit.member = MARGAY_TRY(decimal(busy, unit.name));
  if (node.json->contains("warm")) time.warm = MARGAY_TRY(report::flag(node, "warm"));
  if (node.json->contains("between_workgroups")) {
    const Node between = MARGAY_TRY(node.field("between_workgroups"));
    time.between = {MARGAY_TRY(decimal(between, "polling")),
                    MARGAY_TRY(report::number<std::uint64_t>(between, "polls_at")),
                    MARGAY_TRY(decimal(between, "grid_syncs"))};
  }
  const Node simds = MARGAY_TRY(node.field("simds"));
  for (const SimdPart& part : kSimdParts)
    time.simds.*part.member = MARGAY_TRY(decimal(simds, part.name));
  time.occupancy = MARGAY_TRY(report::list<double>(node, "occupancy", as_double));
  time.elsewhere = MARGAY_TRY(report::list<timing::Elsewhere>(node, "elsewhere", as_elsewhere));
  time.stalls = MARGAY_TRY(as_stalls(node));
  const std::string bound = MARGAY_TRY(report::text(node, "bound"));
  unsigned number = 0;
  while (number < timing::kBounds &&
         timing::bound_name(static_cast<timing::Bound>(number)) != bound)
    ++number;
  if (number == timing::kBounds) return MARGAY_TRY(node.field("bound")).wrong("a known bound");
  time.bound = static_cast<timing::Bound>(number);
  for (const std::optional<timing::WhatIf>& one :
       MARGAY_TRY(report::list<std::optional<timing::WhatIf>>(node, "what_if", as_what_if)))
    if (one) time.what_if.push_back(*one);
  if (node.json->contains("timeline"))
    time.timeline = MARGAY_TRY(as_timeline(MARGAY_TRY(node.field("timeline"))));
  time.sites = MARGAY_TRY(report::list<timing::SiteTime>(node, "sites", as_site_time));
  if (time.sites.size() != sites)
    return MARGAY_TRY(node.field("sites")).wrong("a time for each of the kernel's sites");
  return time;
}

std::string time_document(const Profile& profile) {
  Json kernels = Json::array();
  for (const KernelProfile& kernel : profile.kernels)
    if (kernel.time) kernels.push_back(document_of(kernel));
  const Json document = {
      {"device", profile.device}, {"modelled", true}, {"kernels", std::move(kernels)}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace margay::profile
