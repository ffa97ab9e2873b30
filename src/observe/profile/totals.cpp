#include "observe/profile/totals.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "code_object/call_chain.h"
#include "gpu/matrix_shapes.h"
#include "observe/profile/resources.h"
#include "report/profile/analysis/contention.h"
#include "report/profile/profile_fields.h"

namespace margay::profile {
namespace {

bool is_l2_counter(std::string_view name) { return name.starts_with("TCC_"); }

Counters l2_counters(const Counters& all) {
  Counters out;
  for (std::size_t n = 0; n < kCounters; ++n)
    if (is_l2_counter(kCounterInfo[n].name)) {
      const auto c = static_cast<Counter>(n);
      out[c] = all[c];
    }
  return out;
}

/// Without types in the debug information a tensor is called by where its pointer is.
std::string argument_name(const TensorArgument& tensor) {
  return tensor.name.empty() ? fmt::format("argument at byte {}", tensor.offset) : tensor.name;
}

/// Scales a count of a sample to all.
class Scale {
 public:
  Scale(std::uint64_t all, std::uint64_t counted)
      : factor_(static_cast<double>(all) / static_cast<double>(counted)) {}

  void each(std::uint64_t& number) const {
    number = static_cast<std::uint64_t>(std::llround(static_cast<double>(number) * factor_));
  }
  void counters(Counters& counters) const {
    for (std::size_t n = 0; n < kCounters; ++n)
      // The same number for each launch.
      if (static_cast<Counter>(n) != Counter::TCP_TOTAL_WRITEBACK_INVALIDATES_sum)
        each(counters[static_cast<Counter>(n)]);
  }
  template <HasFields Record>
  void record(Record& record) const {
    for_each_count([&](std::uint64_t& number) { each(number); }, record);
  }
  void site(Site& site) const {
    record(site);
    if (site.lds) record(*site.lds);
    if (site.memory) record(*site.memory);
  }

 private:
  double factor_;
};

}  // namespace

KernelKey key_of(const LaunchRequest& request) {
  return {request.kernel->name,
          request.kernel->variant,
          {request.grid.x, request.grid.y, request.grid.z},
          {request.block.x, request.block.y, request.block.z},
          request.dynamic_lds_bytes};
}

KernelTotals::SiteTotals& KernelTotals::site_of(const InstructionFacts& facts,
                                                const Program& program) {
  const auto [at, fresh] = sites_.try_emplace(facts.vaddr);
  SiteTotals& totals = at->second;
  if (!fresh) return totals;
  Site& site = totals.site;
  site.vaddr = facts.vaddr;
  site.text = program.instruction_text(facts.vaddr);
  site.instruction_class = facts.instruction_class;
  site.frames = user_first(program.object().source_at(facts.vaddr)).frames;
  site.function = program.function_of(facts.vaddr).first;
  site.is_read = facts.form.is_read;
  site.is_write = facts.form.is_write;
  site.is_atomic = facts.form.is_atomic;
  site.traits.path = facts.form.path;
  site.traits.loads_to_lds = facts.form.to_lds;
  site.traits.has_packed_twin = facts.instruction->row->packed_twin == PackedTwin::exists;
  if (facts.wait.vm != kVmCapacity) site.traits.vm_wait = facts.wait.vm;
  return totals;
}

void KernelTotals::add_worker(WorkerResults&& results, Program& program) {
  first_vaddr_ = program.executable_range().first;
  profile_.counters += results.counters;
  const Facts& known = program.facts<InstructionFacts>();
  for (std::uint32_t number = 0; number < results.sites.size(); ++number) {
    SiteCounts& counts = results.sites[number];
    if (counts.executions == 0) continue;
    const InstructionFacts& facts = known.numbered(number);
    SiteTotals& totals = site_of(facts, program);
    add_counts<SiteFigures>(totals.site, counts);
    totals.site.issue_cycles += counts.executions * facts.quad_cycles * kCyclesPerPass;
    totals.site.flops +=
        counts.active_lanes * facts.flops_per_lane + counts.executions * facts.matrix_flops;
    if (counts.lds != nullptr) {
      totals.lds.merge(*counts.lds);
      totals.has_lds = true;
    }
    if (counts.memory != nullptr) {
      if (!totals.site.memory) totals.site.memory.emplace();
      *totals.site.memory += *counts.memory;
      if (totals.tensor == SiteCounts::kNoTensor)
        totals.tensor = counts.tensor;
      else if (totals.tensor != counts.tensor && counts.tensor != SiteCounts::kNoTensor)
        totals.tensor = SiteCounts::kSeveral;
    }
  }
  lanes_.resize(std::max(lanes_.size(), results.tensors.size()));
  for (std::size_t n = 0; n < results.tensors.size(); ++n) {
    lanes_[n].read_bytes += results.tensors[n].read_bytes;
    lanes_[n].written_bytes += results.tensors[n].written_bytes;
    lanes_[n].workgroup_lines += results.tensors[n].workgroup_lines;
    lanes_[n].workgroup_pieces += results.tensors[n].workgroup_pieces;
  }
  if (!results.maps.empty()) profile_.maps = std::move(results.maps);
  std::ranges::move(results.traces, std::back_inserter(profile_.traces));
}

std::set<std::uint64_t> KernelTotals::code_pieces() const {
  std::set<std::uint64_t> pieces;
  for (const auto& [vaddr, totals] : sites_) pieces.insert(vaddr / kInstructionFillBytes);
  return pieces;
}

void KernelTotals::add_tensors(const std::vector<TensorArgument>& tensors, const Replay& replay) {
  const std::size_t count = tensors.size() + 1;  // the last is memory without a tensor
  if (profile_.tensors.empty()) {
    for (const TensorArgument& tensor : tensors) {
      TensorTraffic& t = profile_.tensors.emplace_back();
      t.name = argument_name(tensor);
      t.type = tensor.type;
      t.element = tensor.element;
      t.element_bytes = tensor.element_bytes;
      t.shape = tensor.shape;
      t.bytes = tensor.range.end - tensor.range.begin;
    }
    profile_.tensors.emplace_back().name = kOtherMemory;
  }
  lanes_.resize(count);
  for (std::size_t n = 0; n < count; ++n) {
    // Later launches may have a different number of arguments; the surplus counts as other memory.
    const bool known = n + 1 < count && n + 1 < profile_.tensors.size();
    TensorTraffic& t = known ? profile_.tensors[n] : profile_.tensors.back();
    t.read_bytes += lanes_[n].read_bytes;
    t.written_bytes += lanes_[n].written_bytes;
    const Touched touched = replay.touched(n);
    t.touched_read_bytes += touched.lines_read * kLineBytes;
    t.touched_written_bytes += touched.sectors_written * kSectorBytes;
    t.xcd_read_bytes += touched.lines_read_by_xcds * kLineBytes;
    t.workgroup_read_bytes += lanes_[n].workgroup_lines * kLineBytes;
    t.workgroup_used_bytes += lanes_[n].workgroup_pieces * (kLineBytes / 4);
    if (known) t.bytes = tensors[n].range.end - tensors[n].range.begin;
    for (const auto& xcd : replay.xcds()) {
      const ServedBy& served = xcd->tensors()[n];
      t.l2_read_bytes += served.l2_reads * kLineBytes;
      t.l2_written_bytes += served.l2_writes * kSectorBytes;
      t.fabric_read_bytes += served.fabric_read_bytes;
      t.fabric_written_bytes += served.fabric_written_bytes;
    }
  }
  lanes_.clear();
}

void KernelTotals::add_launch(const LaunchRequest& request, const Program& program,
                              const Replay& replay, const std::vector<TensorArgument>& tensors,
                              std::uint64_t workgroups_counted, bool code_was_warm,
                              const Result<LaunchReport>& result) {
  const bool first = profile_.launches++ == 0;
  if (!result) ++profile_.failed_launches;
  workgroups_run_ += request.grid.count();
  workgroups_counted_ += workgroups_counted;
  if (result) profile_.host_seconds += result->seconds;
  if (first) {
    profile_.name = program.kernel_name();
    profile_.symbol = key_.symbol;
    profile_.computes = program.computes();
    profile_.grid = key_.grid;
    profile_.workgroup = key_.workgroup;
    profile_.instructions_warm = code_was_warm;
    profile_.gpu = &program.gpu();
    profile_.xcds.resize(replay.xcds().size());
    const Symbol* const code = program.object().function_at(request.kernel->entry_vaddr);
    profile_.resources =
        resources_of(program.gpu().arch(), request,
                     code == nullptr ? 0 : static_cast<std::uint32_t>(code->size_bytes));
  }
  for (std::uint32_t x = 0; x < replay.xcds().size(); ++x) {
    const Xcd& xcd = *replay.xcds()[x];
    profile_.counters += xcd.counters();
    profile_.xcds[x] += l2_counters(xcd.counters());
    xcd.sites().for_each([this](std::size_t place, const ServedBy& served) {
      const auto at = sites_.find(first_vaddr_ + 4 * place);
      if (at == sites_.end() || !at->second.site.memory) return;
      MemoryTraffic& memory = *at->second.site.memory;
      memory.l2_reads += served.l2_reads;
      memory.l2_writes += served.l2_writes;
      memory.l2_hits += served.l2_hits;
      memory.l2_misses += served.l2_misses;
      memory.fabric_read_bytes += served.fabric_read_bytes;
    });
  }
  // Each CU invalidates its vL1D when a kernel begins.
  profile_.counters[Counter::TCP_TOTAL_WRITEBACK_INVALIDATES_sum] += program.gpu().compute_units();
  add_tensors(tensors, replay);
}

void KernelTotals::set_time(timing::KernelTime time,
                            const std::vector<timing::Instruction>& recorded, Program& program) {
  for (std::size_t n = 0; n < recorded.size(); ++n) times_[recorded[n].vaddr] = time.sites[n];
  // Some may only be of probes' workgroups, which are timed, but not counted.
  const Facts& known = program.facts<InstructionFacts>();
  for (std::uint32_t number = 0; number < known.count(); ++number) {
    const InstructionFacts& facts = known.numbered(number);
    const auto timed = times_.find(facts.vaddr);
    if (timed != times_.end() && timed->second.hits != 0) (void)site_of(facts, program);
  }
  time.sites.clear();
  profile_.time = std::move(time);
}

namespace {

/// Workgroups of a sample, and the others, may touch the same lines. No launch touches more of a
/// tensor than there is.
void keep_to_size(TensorTraffic& tensor, std::uint64_t launches) {
  if (tensor.bytes == 0) return;
  const std::uint64_t lines = (tensor.bytes + kLineBytes - 1) / kLineBytes;
  const std::uint64_t most = launches * lines * kLineBytes;
  tensor.touched_read_bytes = std::min(tensor.touched_read_bytes, most);
  tensor.touched_written_bytes = std::min(tensor.touched_written_bytes, most);
}

}  // namespace

KernelProfile KernelTotals::profile() const {
  using enum Counter;
  KernelProfile out = profile_;
  Counters& c = out.counters;
  c[SQC_ICACHE_REQ] = c[SQ_IFETCH];
  c[SQC_ICACHE_HITS] = c[SQC_ICACHE_REQ] - std::min(c[SQC_ICACHE_REQ], c[SQC_ICACHE_MISSES]);
  std::map<std::uint64_t, std::uint32_t> index_of_slot;
  for (const auto& [vaddr, totals] : sites_) {
    index_of_slot[(vaddr - first_vaddr_) / 4] = static_cast<std::uint32_t>(out.sites.size());
    Site& site = out.sites.emplace_back(totals.site);
    if (totals.has_lds) site.lds = totals.lds.use();
    // The last one is memory without a name.
    if (totals.tensor + 1 < out.tensors.size())
      site.tensor = static_cast<std::int32_t>(totals.tensor);
    if (!out.time) continue;
    const auto time = times_.find(vaddr);
    out.time->sites.push_back(time != times_.end() ? time->second : timing::SiteTime{});
  }
  for (WaveTrace& trace : out.traces)
    for (TraceSlice& slice : trace.slices) slice.site = index_of_slot.at(slice.site);
  std::ranges::sort(out.traces, {}, [](const WaveTrace& t) {
    return std::tuple(t.launch, t.workgroup[2], t.workgroup[1], t.workgroup[0], t.wave);
  });
  if (!out.tensors.empty()) {
    const TensorTraffic& rest = out.tensors.back();
    if (rest.l2_read_bytes + rest.l2_written_bytes + rest.fabric_read_bytes +
            rest.fabric_written_bytes ==
        0)
      out.tensors.pop_back();
  }
  if (workgroups_counted_ != 0 && workgroups_counted_ < workgroups_run_) {
    out.sampled_workgroups = workgroups_counted_;
    const Scale scale(workgroups_run_, workgroups_counted_);
    scale.counters(out.counters);
    for (Counters& xcd : out.xcds) scale.counters(xcd);
    for (Site& site : out.sites) scale.site(site);
    for (TensorTraffic& tensor : out.tensors) {
      scale.record(tensor);
      keep_to_size(tensor, out.launches);
    }
  }
  constexpr double kOfContention = 50;  // and the time is one that it cannot take less than
  if (out.time && !contended_atomics(out).empty())
    out.time->error_percent = std::max(out.time->error_percent, kOfContention);
  return out;
}

}  // namespace margay::profile
