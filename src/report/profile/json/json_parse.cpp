// Reading; see json.h.
#include <algorithm>
#include <charconv>
#include <concepts>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/json_node.h"
#include "report/profile/json/json.h"
#include "report/profile/profile_fields.h"
#include "report/profile/time/time_json.h"
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

/// Any record that lists its fields. What files of earlier versions lack keeps its initial value.
class Records {
 public:
  explicit Records(const std::vector<SourceFrame>& frames) : frames_(frames) {}

  template <HasFields Record>
  [[nodiscard]] Result<Record> read(const Node& node) const {
    Record record;
    Status status;
    for_each_field<Record>([&]<typename Entry>(const Entry& field) {
      if constexpr (requires { field.member; }) {
        if (!status || (field.later && !contains(node, field.name))) return;
        status = read_field(node, field, record.*field.member);
      }
    });
    MARGAY_CHECK(status);
    return record;
  }

 private:
  static bool contains(const Node& node, std::string_view name) {
    return node.json->is_object() && node.json->contains(std::string(name));
  }
  template <typename Entry, typename T>
  [[nodiscard]] Status read_field(const Node& node, const Entry& field, T& out) const {
    const Node at = MARGAY_TRY(node.field(field.name));
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      if (field.kind == FieldKind::lanes) return read_lanes(at, out);
    }
    if constexpr (std::is_same_v<T, InstructionClass>)
      out = MARGAY_TRY(named<T>(node, field.name, kInstructionClasses, class_name));
    else if constexpr (std::is_same_v<T, MemoryPath>)
      out = MARGAY_TRY(named<T>(node, field.name, kMemoryPaths, path_name));
    else
      return read_value(at, out);
    return {};
  }
  [[nodiscard]] static Status read_lanes(const Node& node, std::uint64_t& out) {
    const auto known = MARGAY_TRY(elements<std::uint32_t>(node, as_number<std::uint32_t>));
    for (const std::uint32_t lane : known) {
      if (lane >= 64) return node.wrong("lanes from 0 to 63");
      out |= 1ull << lane;
    }
    return {};
  }

  template <std::unsigned_integral T>
  [[nodiscard]] Status read_value(const Node& node, T& out) const {
    out = MARGAY_TRY(as_number<T>(node));
    return {};
  }
  [[nodiscard]] Status read_value(const Node& node, bool& out) const {
    if (!node.json->is_boolean()) return node.wrong("true or false");
    out = node.json->get<bool>();
    return {};
  }
  [[nodiscard]] Status read_value(const Node& node, std::string& out) const {
    out = MARGAY_TRY(as_text(node));
    return {};
  }
  /// An index; null: there is none.
  [[nodiscard]] Status read_value(const Node& node, std::int32_t& out) const {
    if (!node.json->is_null()) out = MARGAY_TRY(as_number<std::int32_t>(node));
    return {};
  }
  template <std::size_t kSize>
  [[nodiscard]] Status read_value(const Node& node, std::array<std::uint64_t, kSize>& out) const {
    out = MARGAY_TRY((tuple_of<kSize, std::uint64_t>(node)));
    return {};
  }
  template <typename T>
  [[nodiscard]] Status read_value(const Node& node, std::optional<T>& out) const {
    if (node.json->is_null()) return {};
    return read_value(node, out.emplace());
  }
  [[nodiscard]] Status read_value(const Node& node, std::vector<SourceFrame>& out) const {
    for (const auto number : MARGAY_TRY(elements<std::size_t>(node, as_number<std::size_t>))) {
      if (number >= frames_.size()) return node.wrong("numbers of the document's frames");
      out.push_back(frames_[number]);
    }
    return {};
  }
  template <HasFields Record>
  [[nodiscard]] Status read_value(const Node& node, Record& out) const {
    out = MARGAY_TRY(read<Record>(node));
    return {};
  }

  const std::vector<SourceFrame>& frames_;
};

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

/// Missing counters are 0, so that a later version may have more of them.
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

/// For a grid or a workgroup: no component is 0.
Result<std::array<std::uint32_t, 3>> size_of(const Node& node, std::string_view name) {
  const auto size = MARGAY_TRY(triple(node, name));
  if (std::ranges::find(size, 0u) != size.end())
    return MARGAY_TRY(node.field(name)).wrong("three numbers from 1 up");
  return size;
}

Result<KernelProfile> as_kernel(const Node& node, const Records& records) {
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
  if (node.json->contains("computes"))
    k.computes = MARGAY_TRY(list<SourceFrame>(node, "computes", as_frame));
  k.grid = MARGAY_TRY(size_of(node, "grid"));
  k.workgroup = MARGAY_TRY(size_of(node, "workgroup"));
  const Node seconds = MARGAY_TRY(node.field("host_seconds"));
  if (!seconds.json->is_number()) return seconds.wrong("a number");
  k.host_seconds = seconds.json->get<double>();
  k.resources = MARGAY_TRY(records.read<Resources>(MARGAY_TRY(node.field("resources"))));
  k.counters = MARGAY_TRY(as_counters(MARGAY_TRY(node.field("counters"))));
  k.xcds = MARGAY_TRY(list<Counters>(node, "xcds", as_counters));
  k.tensors = MARGAY_TRY(list<TensorTraffic>(
      node, "tensors", [&](const Node& one) { return records.read<TensorTraffic>(one); }));
  k.sites = MARGAY_TRY(
      list<Site>(node, "sites", [&](const Node& one) { return records.read<Site>(one); }));
  k.maps = MARGAY_TRY(list<WaveMap>(node, "maps", as_map));
  k.traces = MARGAY_TRY(list<WaveTrace>(node, "traces", as_trace));
  if (node.json->contains("time"))
    k.time = MARGAY_TRY(as_time(MARGAY_TRY(node.field("time")), k.sites.size()));
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
  if (parsed.is_object() && parsed.contains("modelled") && !parsed.contains("version"))
    return fail(
        ErrorCode::invalid_argument,
        "This is a report of margay time, which has times but no counters.", {},
        "margay prof --time --json FILE writes both; margay compare --time takes commands.");
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
  if (parsed.contains("partial")) profile.partial = MARGAY_TRY(text(document, "partial"));
  const auto frames = MARGAY_TRY(list<SourceFrame>(document, "frames", as_frame));
  // Files of earlier versions have none.
  if (const auto sources = parsed.find("sources"); sources != parsed.end())
    profile.sources = MARGAY_TRY(as_sources(MARGAY_TRY(document.field("sources"))));
  const Records records(frames);
  profile.kernels = MARGAY_TRY(list<KernelProfile>(
      document, "kernels", [&](const Node& kernel) { return as_kernel(kernel, records); }));
  const Gpu* const gpu = gpu_named(profile.device);
  // A process that launched nothing had no device.
  if (gpu == nullptr && !(profile.device.empty() && profile.kernels.empty()))
    return fail(ErrorCode::invalid_argument,
                fmt::format("The profile is of \"{}\", a device that this program does not know.",
                            profile.device),
                {}, fmt::format("The devices are {}.", gpu_options()));
  for (KernelProfile& kernel : profile.kernels) kernel.gpu = gpu;
  return profile;
}

Result<Profile> read_profile(const std::string& path) {
  Result<Profile> profile = parse_profile(MARGAY_TRY(report::read_text(path)));
  if (!profile) profile.error().where = path;
  return profile;
}

}  // namespace margay::profile
