#include "observe/profile/parts.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/program/program.h"
#include "observe/observer_kind.h"

namespace margay::timing {

auto members(Is<WaveRecording> auto& wave) { return std::tie(wave.instructions, wave.memory); }
auto members(Is<WorkgroupRecording> auto& workgroup) {
  return std::tie(workgroup.id, workgroup.waves);
}

}  // namespace margay::timing

namespace margay::profile {

// ---- What travels ---------------------------------------------------------------------------

auto members(Is<TensorRanges> auto& tensors) { return std::tie(tensors.host, tensors.seen); }
auto members(Is<LaunchPlan> auto& plan) {
  return std::tie(plan.number, plan.first, plan.traced_workgroups, plan.sample, plan.timed,
                  plan.warm, plan.probes);
}
static void encode(Writer& out, const Selection& selection) {
  encode(out, selection.ranges());
  out.put(selection.step());
}
static void decode(Reader& in, Selection& selection) {
  auto ranges = decode<std::vector<Selection::Range>>(in);
  selection = Selection(std::move(ranges), in.get<std::uint64_t>());
}
auto members(Is<WaveMap> auto& map) { return std::tie(map.tensor, map.ranges); }
auto members(Is<WaveTrace> auto& trace) {
  return std::tie(trace.workgroup, trace.wave, trace.launch, trace.slices);
}

namespace {

constexpr std::uint32_t kNoNumber = ~0u;

void put(Writer& out, const std::vector<LineSet>& sets) {
  out.put(static_cast<std::uint64_t>(sets.size()));
  for (const LineSet& set : sets) set.put(out);
}
std::vector<LineSet> get_line_sets(Reader& in) {
  std::vector<LineSet> sets(in.get_count(sizeof(std::uint64_t)));
  for (LineSet& set : sets) set = LineSet::get(in);
  return sets;
}

// ---- The results of a worker ----------------------------------------------------------------

// Instructions are numbered in the order of their first use, which is each process's own: they
// travel by address.
void put(Writer& out, const WorkerResults& results, const Facts& facts) {
  out.put(results.counters);
  const auto sites = static_cast<std::uint64_t>(std::ranges::count_if(
      results.sites, [](const SiteCounts& site) { return site.executions != 0; }));
  out.put(sites);
  for (std::uint32_t number = 0; number < results.sites.size(); ++number) {
    const SiteCounts& site = results.sites[number];
    if (site.executions == 0) continue;
    out.put(facts.numbered(number).vaddr);
    out.put(static_cast<const SiteFigures&>(site));
    out.put(site.lds != nullptr);
    if (site.lds != nullptr) out.put(site.lds->use());
    out.put(site.memory != nullptr);
    if (site.memory != nullptr) out.put(*site.memory);
    out.put(static_cast<std::uint64_t>(site.tensor));
  }
  out.put_all(results.tensors);
  encode(out, results.maps);
  encode(out, results.traces);
  out.put_all(results.lengths);
  out.put(static_cast<std::uint64_t>(results.probes.size()));
  for (const Probe& probe : results.probes) {
    out.put(probe.workgroup);
    out.put(probe.instructions);
    put(out, probe.read);
    put(out, probe.written);
    out.put(probe.recording != nullptr);
    if (probe.recording != nullptr) encode(out, *probe.recording);
  }
}

/// This process's number of the instruction at an address.
std::uint32_t number_at(Program& program, std::uint32_t vaddr) {
  const auto [begin, end] = program.executable_range();
  if (vaddr < begin || vaddr >= end) return kNoNumber;
  const Instruction* const i = program.at_address(program.base_address() + vaddr, CodeCopy::usual);
  if (i == nullptr || i->row == nullptr) return kNoNumber;
  return program.facts<InstructionFacts>().of(*i).number;
}

/// Null: it names an instruction that is not among `numbers`: of instructions here, by those there.
std::shared_ptr<timing::WorkgroupRecording> get_recording(
    Reader& in, const std::vector<std::uint32_t>& numbers) {
  auto recording = std::make_shared<timing::WorkgroupRecording>();
  decode(in, *recording);
  for (timing::WaveRecording& wave : recording->waves) {
    for (std::uint32_t& number : wave.instructions) {
      if (number >= numbers.size()) return nullptr;
      number = numbers[number];
    }
  }
  return recording;
}

/// `numbers`: as for get_recording().
std::optional<WorkerResults> get_worker(Reader& in, Program& program,
                                        const std::vector<std::uint32_t>& numbers) {
  WorkerResults results;
  results.counters = in.get<Counters>();
  for (std::uint64_t left = in.get_count(sizeof(SiteFigures)); left > 0; --left) {
    const std::uint32_t number = number_at(program, in.get<std::uint32_t>());
    if (number == kNoNumber) return {};
    if (number >= results.sites.size()) results.sites.resize(number + 1);
    SiteCounts& site = results.sites[number];
    static_cast<SiteFigures&>(site) = in.get<SiteFigures>();
    if (in.get<bool>()) site.lds = std::make_unique<LdsPatterns>(in.get<LdsUse>());
    if (in.get<bool>()) site.memory = std::make_unique<MemoryTraffic>(in.get<MemoryTraffic>());
    site.tensor = in.get<std::uint64_t>();
  }
  results.tensors = in.get_all<LaneTraffic>();
  decode(in, results.maps);
  decode(in, results.traces);
  results.lengths = in.get_all<WorkgroupLength>();
  results.probes.resize(in.get_count(sizeof(std::uint64_t)));
  for (Probe& probe : results.probes) {
    probe.workgroup = in.get<std::uint64_t>();
    probe.instructions = in.get<std::uint64_t>();
    probe.read = get_line_sets(in);
    probe.written = get_line_sets(in);
    if (!in.get<bool>()) continue;
    probe.recording = get_recording(in, numbers);
    if (probe.recording == nullptr) return {};
  }
  if (!in.ok()) return {};
  return results;
}

// ---- The results of an XCD ------------------------------------------------------------------

void put(Writer& out, const XcdResults& results) {
  out.put(results.counters);
  // Most dwords of the code have no memory instruction.
  std::vector<std::pair<std::uint64_t, ServedBy>> sites;  // by slot
  results.sites.for_each(
      [&](std::size_t place, const ServedBy& served) { sites.emplace_back(place, served); });
  encode(out, sites);
  out.put_all(results.tensors);
  put(out, results.lines_read);
  put(out, results.sectors_written);
  out.put(static_cast<std::uint64_t>(results.recorded.size()));
  for (const RecordedWorkgroup& recorded : results.recorded) {
    out.put(recorded.cu);
    encode(out, *recorded.workgroup);
  }
  out.put(results.sqcs_used);
}

/// `numbers`: as for get_recording().
std::optional<XcdResults> get_xcd(Reader& in, std::size_t sites,
                                  const std::vector<std::uint32_t>& numbers) {
  XcdResults results;
  results.counters = in.get<Counters>();
  results.sites = ServedSites(sites);
  for (std::uint64_t left = in.get_count(sizeof(ServedBy)); left > 0; --left) {
    const auto slot = in.get<std::uint64_t>();
    if (slot >= sites) return {};
    results.sites[slot] = in.get<ServedBy>();
  }
  results.tensors = in.get_all<ServedBy>();
  results.lines_read = get_line_sets(in);
  results.sectors_written = get_line_sets(in);
  results.recorded.resize(in.get_count(sizeof(std::uint64_t)));
  for (RecordedWorkgroup& recorded : results.recorded) {
    recorded.cu = in.get<std::uint32_t>();
    recorded.workgroup = get_recording(in, numbers);
    if (recorded.workgroup == nullptr) return {};
  }
  results.sqcs_used = in.get<std::uint32_t>();
  if (!in.ok()) return {};
  return results;
}

// ---- Here and there -------------------------------------------------------------------------

class Parts final : public LaunchParts {
 public:
  explicit Parts(LaunchProfiler& profiler) : profiler_(profiler) {}

  [[nodiscard]] Bytes setup() const override {
    Writer out;
    out.put(ObserverKind::profiler);
    encode_each(out, std::tie(profiler_.tensors(), profiler_.plan()));
    return out.data();
  }
  [[nodiscard]] std::uint64_t stride() const override { return profiler_.replay()->xcds().size(); }
  /// Where the caches see an address.
  [[nodiscard]] Bytes answer(std::span<const std::byte> question) override {
    Reader in(question);
    const auto piece = profiler_.addresses().piece_of(in.get<std::uint64_t>());
    Writer out;
    encode_each(out, std::tie(piece.range, piece.shift));
    return out.data();
  }
  [[nodiscard]] bool add(std::span<const std::byte> results) override {
    Program& program = profiler_.program();
    const auto& xcds = profiler_.replay()->xcds();
    Reader in(results);
    std::vector<std::uint32_t> numbers;
    for (const std::uint32_t vaddr : in.get_all<std::uint32_t>()) {
      numbers.push_back(number_at(program, vaddr));
      if (numbers.back() == kNoNumber) return false;
    }
    std::vector<WorkerResults> workers;
    for (std::uint64_t left = in.get_count(); left > 0; --left) {
      auto worker = get_worker(in, program, numbers);
      if (!worker) return false;
      const auto tensors = profiler_.lines().unnamed();
      if (!std::ranges::all_of(worker->probes, [&](const Probe& probe) {
            return probe.read.size() == tensors && probe.written.size() == tensors;
          }))
        return false;
      workers.push_back(*std::move(worker));
    }
    std::vector<std::pair<std::uint32_t, XcdResults>> replayed;
    for (std::uint64_t left = in.get_count(); left > 0; --left) {
      const auto xcd = in.get<std::uint32_t>();
      auto counted = get_xcd(in, xcds.empty() ? 0 : xcds.front()->sites().count(), numbers);
      if (!counted || xcd >= xcds.size() ||
          counted->tensors.size() != xcds[xcd]->tensors().size() ||
          counted->lines_read.size() != xcds[xcd]->lines_read().size() ||
          counted->sectors_written.size() != xcds[xcd]->sectors_written().size())
        return false;
      replayed.emplace_back(xcd, *std::move(counted));
    }
    if (!in.ok() || !in.at_end()) return false;
    for (WorkerResults& worker : workers) profiler_.collect(std::move(worker));
    for (auto& [xcd, counted] : replayed) profiler_.replay()->adopt(xcd, std::move(counted));
    return true;
  }

 private:
  LaunchProfiler& profiler_;
};

class ProfiledPart final : public PartObserver {
 public:
  ProfiledPart(TensorRanges tensors, LaunchPlan plan, const PartOfLaunch& part)
      : ask_(part.ask),
        addresses_([this](std::uint64_t address) { return ask(address); }),
        profiler_(addresses_, std::move(tensors), std::move(plan)) {}

  [[nodiscard]] std::unique_ptr<Watcher> watch(const LaunchRequest& request,
                                               Program& program) override {
    return profiler_.watch(request, program);
  }
  [[nodiscard]] std::unique_ptr<WorkgroupObserver> observe(const LaunchRequest& request,
                                                           Program& program) override {
    return profiler_.observe(request, program);
  }
  [[nodiscard]] Bytes results() override {
    Writer out;
    if (profiler_.replay() == nullptr) {  // no workgroup came here
      for (int n = 0; n < 3; ++n) out.put(std::uint64_t{0});
      return out.data();
    }
    const Facts& facts = profiler_.program().facts<InstructionFacts>();
    std::vector<std::uint32_t> vaddrs;
    for (std::uint32_t n = 0; n < facts.count(); ++n) vaddrs.push_back(facts.numbered(n).vaddr);
    out.put_all(vaddrs);
    out.put(static_cast<std::uint64_t>(profiler_.results().size()));
    for (const WorkerResults& results : profiler_.results()) put(out, results, facts);
    profiler_.replay()->finish(0);  // code is fetched where it is known what was fetched before
    const auto& xcds = profiler_.replay()->xcds();
    out.put(static_cast<std::uint64_t>(
        std::ranges::count_if(xcds, [](const auto& xcd) { return xcd->any(); })));
    for (std::uint32_t n = 0; n < xcds.size(); ++n) {
      if (!xcds[n]->any()) continue;
      out.put(n);
      put(out, xcds[n]->take_results());
    }
    return out.data();
  }

 private:
  [[nodiscard]] DeviceAddresses::Piece ask(std::uint64_t address) const {
    Writer question;
    question.put(address);
    const Bytes answer = ask_(question.data());
    Reader in(answer);
    DeviceAddresses::Piece piece;
    decode_each(in, std::tie(piece.range, piece.shift));
    return piece;
  }

  const std::function<Bytes(std::span<const std::byte>)> ask_;
  DeviceAddresses addresses_;
  LaunchProfiler profiler_;
};

}  // namespace

LaunchParts* SharedLaunchProfiler::parts(const LaunchRequest& request, Program& program) {
  prepare(request, program);
  if (parts_ == nullptr) parts_ = std::make_unique<Parts>(*this);
  return parts_.get();
}

std::unique_ptr<PartObserver> make_part_observer(Reader& setup, const PartOfLaunch& part) {
  TensorRanges tensors;
  LaunchPlan plan;
  decode_each(setup, std::tie(tensors, plan));
  if (!setup.ok() || tensors.host.size() != tensors.seen.size()) return nullptr;
  return std::make_unique<ProfiledPart>(std::move(tensors), std::move(plan), part);
}

}  // namespace margay::profile
