// Reading; see json.h.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/json_node.h"
#include "report/profile/json/json.h"
#include "report/text_file.h"

namespace margay::profile {
namespace {

using namespace report;  // NOLINT: the readers of json_node.h

/// Reads fields of one object into variables of any unsigned type; the first failure is kept.
class Fields {
 public:
  explicit Fields(const Node& node) : node_(node) {}
  template <typename T>
  Fields& number(std::string_view name, T& out) {
    return keep(report::number<T>(node_, name), out);
  }
  Fields& text(std::string_view name, std::string& out) {
    return keep(report::text(node_, name), out);
  }
  Fields& flag(std::string_view name, bool& out) { return keep(report::flag(node_, name), out); }
  [[nodiscard]] Status status() const { return status_; }

 private:
  template <typename R, typename T>
  Fields& keep(R&& result, T& out) {
    if (!result) {
      if (status_) status_ = std::unexpected(std::move(result).error());
    } else {
      out = *std::forward<R>(result);
    }
    return *this;
  }
  const Node& node_;
  Status status_;
};

template <std::size_t kSize, typename T>
Result<std::array<T, kSize>> tuple_of(const Node& node) {
  std::array<T, kSize> out{};
  if (!node.json->is_array() || node.json->size() != kSize)
    return node.wrong(fmt::format("an array of {} numbers", kSize));
  for (std::size_t n = 0; n < kSize; ++n) out[n] = MARGAY_TRY(as_number<T>(node.at(n)));
  return out;
}

Result<MemoryTraffic> as_memory(const Node& node) {
  MemoryTraffic m;
  MARGAY_CHECK(Fields(node)
                   .number("lane_bytes", m.lane_bytes)
                   .number("accesses", m.accesses)
                   .number("tag_accesses", m.tag_accesses)
                   .number("sector_bytes", m.sector_bytes)
                   .number("least_sector_bytes", m.least_sector_bytes)
                   .number("misaligned_sector_bytes", m.misaligned_sector_bytes)
                   .number("inactive_sector_bytes", m.inactive_sector_bytes)
                   .number("least_tag_accesses", m.least_tag_accesses)
                   .number("l2_reads", m.l2_reads)
                   .number("l2_writes", m.l2_writes)
                   .number("l2_hits", m.l2_hits)
                   .number("l2_misses", m.l2_misses)
                   .number("fabric_read_bytes", m.fabric_read_bytes)
                   .status());
  return m;
}

Result<LdsUse> as_lds(const Node& node) {
  LdsUse use;
  MARGAY_CHECK(Fields(node)
                   .number("cycles", use.cycles)
                   .number("conflict_cycles", use.conflict_cycles)
                   .number("address_cycles", use.address_cycles)
                   .number("conflicting", use.conflicting)
                   .number("worst_ways", use.worst_ways)
                   .number("worst_bank", use.worst_bank)
                   .status());
  for (const auto lane :
       MARGAY_TRY(list<std::uint32_t>(node, "worst_lanes", as_number<std::uint32_t>))) {
    if (lane >= 64) return MARGAY_TRY(node.field("worst_lanes")).wrong("lanes from 0 to 63");
    use.worst_lanes |= 1ull << lane;
  }
  use.bank_dwords =
      MARGAY_TRY((tuple_of<32, std::uint64_t>(MARGAY_TRY(node.field("bank_dwords")))));
  return use;
}

Result<InstructionClass> as_class(const Node& node) {
  return named<InstructionClass>(node, "class", kInstructionClasses, class_name);
}

Result<SiteTraits> as_traits(const Node& node) {
  SiteTraits traits;
  MARGAY_CHECK(Fields(node)
                   .flag("loads_to_lds", traits.loads_to_lds)
                   .flag("has_packed_twin", traits.has_packed_twin)
                   .status());
  traits.path = MARGAY_TRY(named<MemoryPath>(node, "path", kMemoryPaths, path_name));
  const Node wait = MARGAY_TRY(node.field("vm_wait"));
  if (!wait.json->is_null()) traits.vm_wait = MARGAY_TRY(as_number<std::uint32_t>(wait));
  return traits;
}

Result<Site> as_site(const Node& node, const std::vector<SourceFrame>& frames) {
  Site site;
  MARGAY_CHECK(Fields(node)
                   .number("vaddr", site.vaddr)
                   .text("text", site.text)
                   .text("function", site.function)
                   .number("executions", site.executions)
                   .number("active_lanes", site.active_lanes)
                   .number("issue_cycles", site.issue_cycles)
                   .number("flops", site.flops)
                   .flag("is_read", site.is_read)
                   .flag("is_write", site.is_write)
                   .flag("is_atomic", site.is_atomic)
                   .status());
  // Files of earlier versions have none.
  if (node.json->contains("instruction"))
    site.traits = MARGAY_TRY(as_traits(MARGAY_TRY(node.field("instruction"))));
  site.instruction_class = MARGAY_TRY(as_class(node));
  for (const auto number : MARGAY_TRY(list<std::size_t>(node, "frames", as_number<std::size_t>))) {
    if (number >= frames.size())
      return MARGAY_TRY(node.field("frames")).wrong("numbers of the document's frames");
    site.frames.push_back(frames[number]);
  }
  const Node lds = MARGAY_TRY(node.field("lds"));
  if (!lds.json->is_null()) site.lds = MARGAY_TRY(as_lds(lds));
  const Node memory = MARGAY_TRY(node.field("memory"));
  if (!memory.json->is_null()) site.memory = MARGAY_TRY(as_memory(memory));
  site.tensor = MARGAY_TRY(number_or<std::int32_t>(node, "tensor", -1));
  return site;
}

Result<TensorTraffic> as_tensor(const Node& node) {
  TensorTraffic t;
  MARGAY_CHECK(Fields(node)
                   .text("name", t.name)
                   .text("type", t.type)
                   .text("element", t.element)
                   .number("element_bytes", t.element_bytes)
                   .number("bytes", t.bytes)
                   .number("read_bytes", t.read_bytes)
                   .number("written_bytes", t.written_bytes)
                   .number("touched_read_bytes", t.touched_read_bytes)
                   .number("touched_written_bytes", t.touched_written_bytes)
                   .number("workgroup_read_bytes", t.workgroup_read_bytes)
                   .number("workgroup_used_bytes", t.workgroup_used_bytes)
                   .number("xcd_read_bytes", t.xcd_read_bytes)
                   .number("l2_read_bytes", t.l2_read_bytes)
                   .number("l2_written_bytes", t.l2_written_bytes)
                   .number("fabric_read_bytes", t.fabric_read_bytes)
                   .number("fabric_written_bytes", t.fabric_written_bytes)
                   .status());
  const Node shape = MARGAY_TRY(node.field("shape"));
  if (!shape.json->is_null()) t.shape = MARGAY_TRY((tuple_of<4, std::uint64_t>(shape)));
  return t;
}

Result<TouchedRange> as_range(const Node& node) {
  const auto [begin, bytes, readers, writers] = MARGAY_TRY((tuple_of<4, std::uint64_t>(node)));
  if (readers > UINT32_MAX || writers > UINT32_MAX) return node.wrong("a range and 32 waves");
  return TouchedRange{begin, bytes, static_cast<std::uint32_t>(readers),
                      static_cast<std::uint32_t>(writers)};
}

Result<WaveMap> as_map(const Node& node) {
  WaveMap map;
  map.tensor = MARGAY_TRY(number_or<std::int32_t>(node, "tensor", -1));
  map.ranges = MARGAY_TRY(list<TouchedRange>(node, "ranges", as_range));
  return map;
}

Result<TraceSlice> as_slice(const Node& node) {
  const auto n = MARGAY_TRY((tuple_of<8, std::uint32_t>(node)));
  if (n[0] > 2 || n[1] >= kInstructionClasses || n[6] > UINT16_MAX || n[7] > UINT16_MAX)
    return node.wrong("a slice of a trace");
  TraceSlice slice;
  slice.kind = static_cast<TraceSlice::Kind>(n[0]);
  slice.instruction_class = static_cast<InstructionClass>(n[1]);
  slice.begin = n[2];
  slice.steps = n[3];
  slice.instructions = n[4];
  slice.site = n[5];
  slice.vector_in_flight = static_cast<std::uint16_t>(n[6]);
  slice.lds_in_flight = static_cast<std::uint16_t>(n[7]);
  return slice;
}

Result<WaveTrace> as_trace(const Node& node) {
  WaveTrace trace;
  trace.workgroup = MARGAY_TRY(triple(node, "workgroup"));
  MARGAY_CHECK(Fields(node).number("wave", trace.wave).number("launch", trace.launch).status());
  trace.slices = MARGAY_TRY(list<TraceSlice>(node, "slices", as_slice));
  return trace;
}

Result<Resources> as_resources(const Node& node) {
  Resources r;
  MARGAY_CHECK(Fields(node)
                   .number("vgprs", r.vgprs)
                   .number("agprs", r.agprs)
                   .number("sgprs", r.sgprs)
                   .number("static_lds_bytes", r.static_lds_bytes)
                   .number("dynamic_lds_bytes", r.dynamic_lds_bytes)
                   .number("scratch_bytes", r.scratch_bytes)
                   .number("vgpr_spills", r.vgpr_spills)
                   .number("sgpr_spills", r.sgpr_spills)
                   .number("code_bytes", r.code_bytes)
                   .number("workgroups_per_cu", r.workgroups_per_cu)
                   .number("waves_per_cu", r.waves_per_cu)
                   .number("waves_per_simd", r.waves_per_simd)
                   .text("limit", r.limit)
                   .text("next_step", r.next_step)
                   .status());
  return r;
}

/// Counters that are not there are 0, so that a later version may have more of them.
Result<Counters> as_counters(const Node& node) {
  if (!node.json->is_object()) return node.wrong("an object");
  Counters counters;
  for (const auto& [name, value] : node.json->items()) {
    const auto counter = find_counter(name);
    if (!counter) continue;
    counters[*counter] = MARGAY_TRY(as_number<std::uint64_t>(MARGAY_TRY(node.field(name))));
  }
  return counters;
}

/// Of a grid or a workgroup: nothing of it is 0.
Result<std::array<std::uint32_t, 3>> size_of(const Node& node, std::string_view name) {
  const auto size = MARGAY_TRY(triple(node, name));
  if (std::ranges::find(size, 0u) != size.end())
    return MARGAY_TRY(node.field(name)).wrong("three numbers from 1 up");
  return size;
}

Result<KernelProfile> as_kernel(const Node& node, const std::vector<SourceFrame>& frames) {
  KernelProfile k;
  MARGAY_CHECK(Fields(node)
                   .text("name", k.name)
                   .text("symbol", k.symbol)
                   .number("launches", k.launches)
                   .number("failed_launches", k.failed_launches)
                   .number("launches_seen", k.launches_seen)
                   .number("sampled_workgroups", k.sampled_workgroups)
                   .flag("instructions_warm", k.instructions_warm)
                   .status());
  // Reports divide by them.
  if (k.launches == 0) return MARGAY_TRY(node.field("launches")).wrong("at least 1");
  k.grid = MARGAY_TRY(size_of(node, "grid"));
  k.workgroup = MARGAY_TRY(size_of(node, "workgroup"));
  const Node seconds = MARGAY_TRY(node.field("host_seconds"));
  if (!seconds.json->is_number()) return seconds.wrong("a number");
  k.host_seconds = seconds.json->get<double>();
  k.resources = MARGAY_TRY(as_resources(MARGAY_TRY(node.field("resources"))));
  k.counters = MARGAY_TRY(as_counters(MARGAY_TRY(node.field("counters"))));
  k.xcds = MARGAY_TRY(list<Counters>(node, "xcds", as_counters));
  k.tensors = MARGAY_TRY(list<TensorTraffic>(node, "tensors", as_tensor));
  k.sites = MARGAY_TRY(
      list<Site>(node, "sites", [&](const Node& site) { return as_site(site, frames); }));
  k.maps = MARGAY_TRY(list<WaveMap>(node, "maps", as_map));
  k.traces = MARGAY_TRY(list<WaveTrace>(node, "traces", as_trace));
  const bool maps_fit = std::ranges::all_of(k.maps, [&](const WaveMap& map) {
    return map.tensor < static_cast<std::int64_t>(k.tensors.size());
  });
  if (!maps_fit) return MARGAY_TRY(node.field("maps")).wrong("maps of the kernel's tensors");
  for (const Site& site : k.sites)
    if (site.tensor >= static_cast<std::int64_t>(k.tensors.size()))
      return MARGAY_TRY(node.field("sites")).wrong("sites of the kernel's tensors");
  for (const WaveTrace& trace : k.traces)
    for (const TraceSlice& slice : trace.slices)
      if (slice.site >= k.sites.size())
        return MARGAY_TRY(node.field("traces")).wrong("traces of the kernel's sites");
  return k;
}

Result<SourceText> as_sources(const Node& node) {
  if (!node.json->is_object()) return node.wrong("an object");
  SourceText out;
  for (const auto& [file, lines] : node.json->items()) {
    const Node of_file = MARGAY_TRY(node.field(file));
    if (!of_file.json->is_object()) return of_file.wrong("an object");
    for (const auto& [number, text] : of_file.json->items()) {
      std::uint32_t line = 0;
      const char* const end = number.data() + number.size();
      if (std::from_chars(number.data(), end, line).ptr != end || number.empty() ||
          !text.is_string())
        return of_file.wrong("texts by line number");
      out[file][line] = text.get<std::string>();
    }
  }
  return out;
}

}  // namespace

Result<Profile> parse_profile(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded())
    return fail(ErrorCode::invalid_argument, "The profile is not JSON, or is cut off.");
  const Node document{&parsed, {}};
  const int version = MARGAY_TRY(number<int>(document, "version"));
  if (version != kJsonVersion)
    return fail(ErrorCode::invalid_argument,
                fmt::format("The profile has version {}; this program reads version {}.", version,
                            kJsonVersion),
                {}, "Use the margay that belongs to the libamdhip64 which wrote it.");
  Profile profile;
  MARGAY_CHECK(Fields(document)
                   .text("device", profile.device)
                   .text("schedule", profile.schedule)
                   .text("mfma", profile.mfma)
                   .status());
  const Gpu* const gpu = gpu_named(profile.device);
  if (gpu == nullptr)
    return fail(ErrorCode::invalid_argument,
                fmt::format("The profile is of \"{}\", a device that this program does not know.",
                            profile.device),
                {}, fmt::format("The devices are {}.", gpu_options()));
  if (parsed.contains("partial")) profile.partial = MARGAY_TRY(text(document, "partial"));
  const auto frames = MARGAY_TRY(list<SourceFrame>(document, "frames", as_frame));
  // Files of earlier versions have none.
  if (const auto sources = parsed.find("sources"); sources != parsed.end())
    profile.sources = MARGAY_TRY(as_sources(MARGAY_TRY(document.field("sources"))));
  profile.kernels = MARGAY_TRY(list<KernelProfile>(
      document, "kernels", [&](const Node& kernel) { return as_kernel(kernel, frames); }));
  for (KernelProfile& kernel : profile.kernels) kernel.gpu = gpu;
  return profile;
}

Result<Profile> read_profile(const std::string& path) {
  Result<Profile> profile = parse_profile(MARGAY_TRY(report::read_text(path)));
  if (!profile) profile.error().where = path;
  return profile;
}

}  // namespace margay::profile
