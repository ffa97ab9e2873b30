#include "observe/check/session.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "base/fork.h"
#include "code_object/call_chain.h"
#include "code_object/demangle.h"
#include "exec/stream/stream.h"
#include "exec/workgroup/hostcall.h"
#include "observe/check/findings/barrier_place.h"
#include "observe/check/findings/reporter.h"
#include "observe/check/findings/resolve.h"
#include "observe/check/global/host_memory.h"
#include "observe/check/worker.h"
#include "report/check/group.h"

namespace margay::check {
namespace {

std::array<std::uint32_t, 3> workgroup_id(const LaunchRequest& request, std::uint64_t linear) {
  const Dim3& grid = request.grid;
  return {static_cast<std::uint32_t>(linear % grid.x),
          static_cast<std::uint32_t>(linear / grid.x % grid.y),
          static_cast<std::uint32_t>(linear / grid.x / grid.y)};
}

Access access_of(const Run& run, const LaunchRequest& request) {
  Access a;
  a.role = run.is_atomic ? Role::atomic : run.is_write ? Role::write : Role::read;
  a.wave = run.wave;
  a.lane = run.lane;
  a.workgroup = workgroup_id(request, run.workgroup);
  a.vaddr = run.vaddr;
  return a;
}

Finding finding_of(const Conflict& conflict, const LaunchRequest& request) {
  Finding f;
  f.kind = FindingKind::global_race;
  const bool benign = conflict.same_value;
  f.severity = benign ? Severity::note : Severity::error;
  f.accesses = {access_of(conflict.first, request), access_of(conflict.second, request)};
  // Both are visible to others, but not both to other workgroups.
  const bool narrow = conflict.first.scope != Scope::none && conflict.second.scope != Scope::none;
  f.message = say<Says::workgroups_race>(conflict.begin, conflict.end - conflict.begin,
                                         f.accesses[0].role, f.accesses[1].role, benign, narrow);
  f.detail = {say<Says::any_order>()};
  const bool both_write = conflict.first.is_write && conflict.second.is_write;
  // A block program has no fences of its own.
  const bool is_block_program = !request.kernel->variant.empty();
  if (is_block_program || (both_write && !narrow && !benign))
    f.fix = Fix::own_part;
  else if (narrow)
    f.fix = Fix::agent_scope;
  else if (benign)
    f.fix = Fix::one_writer;
  else
    f.fix = Fix::hand_over;
  f.count = conflict.count;
  return f;
}

/// Collects the results of the workers of one launch.
class LaunchChecker final : public LaunchObserver {
 public:
  using Show = std::function<void(std::vector<Finding>)>;
  /// `show` periodically receives the workers' findings so far; it may be empty.
  LaunchChecker(const CheckConfig& config, const Memory& memory, GlobalMemory& global,
                std::uint64_t number, Show show)
      : config_(config),
        memory_(memory),
        global_(global),
        number_(number),
        show_(std::move(show)) {}

  [[nodiscard]] std::unique_ptr<Watcher> watch(const LaunchRequest& request,
                                               Program& program) override {
    return make(request, program);
  }
  [[nodiscard]] std::unique_ptr<WorkgroupObserver> observe(const LaunchRequest& request,
                                                           Program& program) override {
    return std::make_unique<StreamObserver<WorkerChecker>>(make(request, program), program);
  }

  /// After the launch.
  [[nodiscard]] std::vector<Finding> findings(const LaunchRequest& request) {
    if (program_ == nullptr) return {};
    if (config_.has(Tool::racecheck))
      for (const Conflict& conflict : conflicts_between_workgroups(
               runs_, graph_, [this](const Run& run) { return stands_in_memory(run, memory_); })) {
        if (starts_a_swap(conflict.first, conflict.second, runs_)) continue;
        Finding f = finding_of(conflict, request);
        f.launch = number_;
        f.kernel = program_->kernel_name();
        findings_.add(std::move(f), conflict.first.workgroup, ~0ull,
                      conflict.same_value ? "workgroups, same value" : "workgroups");
      }
    credit_releases();
    auto sorted = findings_.take_sorted();
    std::erase_if(sorted, [&](const Finding& f) { return !config_.has(f.tool()); });
    add_failure(sorted);
    for (Finding& f : sorted)
      f.moves = f.fix == Fix::barrier && f.accesses.size() > 1 &&
                moving_.contains(f.accesses[0].vaddr) && moving_.contains(f.accesses[1].vaddr);
    resolve(sorted, *program_);
    return sorted;
  }
  /// The locations of the executed barriers, with lines.
  [[nodiscard]] std::vector<BarrierChain> barriers() const {
    std::vector<BarrierChain> chains;
    for (const auto& [vaddr, site] : sites_) {
      if (!site.is_barrier) continue;
      CallChain chain = user_first(program_->object().source_at(vaddr));
      chains.push_back({std::move(chain.frames), chain.called});
    }
    return chains;
  }
  [[nodiscard]] const std::map<std::uint64_t, WorkerResults::SiteResult>& sites() const {
    return sites_;
  }
  [[nodiscard]] const Program* program() const { return program_; }
  /// The instructions that stored undefined values in tracked memory.
  [[nodiscard]] std::vector<UndefinedStore> take_stores() {
    for (UndefinedStore& store : stores_) {
      store.launch = number_;
      store.kernel = program_->kernel_name();
      std::vector<Finding> one(1);
      one[0].accesses = {std::move(store.read), std::move(store.access)};
      resolve(one, *program_);
      store.read = std::move(one[0].accesses[0]);
      store.access = std::move(one[0].accesses[1]);
    }
    return std::move(stores_);
  }
  /// The launch's place in the order of streams, and its accesses; call after findings().
  [[nodiscard]] Footprint touched_by(Operation& operation, const LaunchRequest& request) const {
    if (program_ == nullptr) return {};
    operation.launch = number_;
    operation.kernel = program_->kernel_name();
    operation.module = request.module;
    operation.program = program_;
    operation.releases = means_.releases;
    operation.acquires = means_.acquires;
    return footprint_of(runs_);
  }
  /// Allocations that the host has written through its pointer.
  [[nodiscard]] const std::vector<AddressRange>& host_written() const { return host_written_; }
  /// The arguments that point to unregistered host memory that the kernel accessed.
  [[nodiscard]] const std::vector<HostArgument>& host_arguments() const { return host_arguments_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kShowEvery{500};

  [[nodiscard]] std::unique_ptr<WorkerChecker> make(const LaunchRequest& request,
                                                    Program& program) {
    const HostRule rule = host_rule(request, memory_, global_);
    SyncMeans means;
    {
      const std::lock_guard lock(mutex_);
      if (program_ == nullptr && config_.has(Tool::racecheck)) means_ = sync_means(program);
      program_ = &program;
      means = means_;
    }
    SyncGraph* const graph = means.global && request.grid.count() > 1 ? &graph_ : nullptr;
    return std::make_unique<WorkerChecker>(
        WorkerChecker::Launch{config_, request, program, memory_, global_, rule, number_, means,
                              graph, [this](WorkerResults results) { collect(std::move(results)); },
                              [this](const FindingSet& found) { show(found); }});
  }

  void show(const FindingSet& found) {
    if (!show_ || found.size() == 0) return;
    const std::lock_guard lock(mutex_);
    if (Clock::now() < next_show_) return;
    std::vector<Finding> fresh = found.not_in(shown_);
    std::erase_if(fresh, [&](const Finding& f) { return !config_.has(f.tool()); });
    if (!fresh.empty()) {
      shown_.merge(FindingSet(found));
      resolve(fresh, *program_);
      show_(std::move(fresh));
    }
    next_show_ = Clock::now() + kShowEvery;
  }
  void collect(WorkerResults results) {
    const std::lock_guard lock(mutex_);
    findings_.merge(std::move(results.findings));
    if (runs_.empty())
      runs_ = std::move(results.runs);
    else
      runs_.insert(runs_.end(), results.runs.begin(), results.runs.end());
    release_credits_.insert(release_credits_.end(), results.release_credits.begin(),
                            results.release_credits.end());
    for (UndefinedStore& store : results.undefined_stores) add_store(std::move(store));
    if (results.failure && (!failure_ || results.failed_workgroup < failed_workgroup_)) {
      failure_ = std::move(results.failure);
      failed_workgroup_ = results.failed_workgroup;
    }
    moving_.insert(results.moving.begin(), results.moving.end());
    host_written_.insert(host_written_.end(), results.host_written.begin(),
                         results.host_written.end());
    for (const HostArgument& argument : results.host_arguments)
      if (argument.is_used && std::ranges::find(host_arguments_, argument.offset,
                                                &HostArgument::offset) == host_arguments_.end())
        host_arguments_.push_back(argument);
    for (const auto& site : results.sites) {
      const auto [at, fresh] = sites_.try_emplace(site.vaddr, site);
      if (!fresh) at->second.counts.merge(site.counts);
    }
  }

  /// An instruction that stopped the kernel is an error with any selection of tools, unless a
  /// finding reports it already: memcheck's, for an access that faults.
  void add_failure(std::vector<Finding>& findings) {
    if (!failure_) return;
    const std::uint64_t vaddr = failure_->accesses.front().vaddr;
    if (std::ranges::any_of(findings, [&](const Finding& f) {
          return f.tool() == Tool::memcheck && f.severity == Severity::error &&
                 !f.accesses.empty() && f.accesses.front().vaddr == vaddr;
        }))
      return;
    findings.push_back(std::move(*failure_));
  }

  /// A release that is never acquired needs no wait.
  void credit_releases() {
    const std::vector<bool> is_acquired = graph_.releases_acquired();
    for (const auto& one : release_credits_) {
      const auto site = sites_.find(one.vaddr);
      if (is_acquired[one.release] && site != sites_.end()) site->second.counts.needed(one.credit);
    }
    release_credits_.clear();
  }

  /// Among several threads, the one of the lowest workgroup is kept.
  void add_store(UndefinedStore store) {
    const WrittenMap* const map = global_.find(store.range.begin);
    for (UndefinedStore& known : stores_) {
      if (known.access.vaddr != store.access.vaddr || map == nullptr ||
          !map->range().contains(known.range.begin, 1))
        continue;
      known.range.begin = std::min(known.range.begin, store.range.begin);
      known.range.end = std::max(known.range.end, store.range.end);
      known.told |= store.told;
      known.computed |= store.computed;
      const auto place = [](const Access& a) {
        return std::tuple(a.workgroup[2], a.workgroup[1], a.workgroup[0]);
      };
      if (place(store.access) < place(known.access)) {
        known.access = std::move(store.access);
        known.read = std::move(store.read);
      }
      return;
    }
    stores_.push_back(std::move(store));
  }

  const CheckConfig& config_;
  const Memory& memory_;
  GlobalMemory& global_;
  std::uint64_t number_;
  const Show show_;
  std::mutex mutex_;
  Clock::time_point next_show_ = Clock::now() + kShowEvery;
  FindingSet shown_;
  const Program* program_ = nullptr;
  SyncMeans means_;
  SyncGraph graph_;
  FindingSet findings_;
  std::vector<UndefinedStore> stores_;
  std::vector<AddressRange> host_written_;
  std::vector<HostArgument> host_arguments_;
  std::set<std::uint64_t> moving_;
  std::optional<Finding> failure_;
  std::uint64_t failed_workgroup_ = 0;
  std::vector<WorkerResults::ReleaseCredit> release_credits_;
  std::vector<Run> runs_;
  std::map<std::uint64_t, WorkerResults::SiteResult> sites_;
};

/// The same finding in another launch: the same cause, or the same code and the same kind.
FindingIdentity identity(const Finding& f) {
  FindingIdentity of;
  of.tool = f.tool();
  of.severity = f.severity;
  of.kernel = f.kernel;
  of.cause = f.cause;
  if (!f.cause.empty()) return of;
  of.kind = f.kind;
  for (const Access& access : f.accesses) of.vaddrs.push_back(access.vaddr);
  if (f.accesses.empty() || f.accesses.front().vaddr == kNoVaddr) of.message = f.message;
  return of;
}

/// No error gives the reason, but the rest must not be regarded as checked.
Finding interrupted(const std::string& kernel, const Error& error) {
  Finding f;
  f.kind = FindingKind::launch_interrupted;
  f.severity = Severity::note;
  f.kernel = kernel;
  f.message = say<Says::launch_interrupted>(error.what);
  return f;
}

/// The runtime's own allocations in device memory, by their labels; includes the heap of device
/// code, whose parts are managed by the device library.
StreamRaces::Places places_in(const Memory& memory) {
  const auto is_internal = [&memory](std::uint64_t address) {
    const std::optional<Allocation> found = memory.find(address);
    constexpr std::array<std::string_view, 5> kInternal = {
        "cooperative launch", "heap", HostcallBuffer::kLabel, "kernel arguments",
        "malloc in device code"};
    return found && std::ranges::find(kInternal, found->label) != kInternal.end();
  };
  const auto is_host_visible = [&memory, is_internal](std::uint64_t address) {
    if (!memory.in_arena(address)) return true;
    const std::optional<Allocation> found = memory.find(address);
    return found && found->placement.shared && !is_internal(address);
  };
  return {is_internal, is_host_visible};
}

/// With any tools: a kernel that did not run has not been checked.
Finding refused(const std::string& kernel, const Error& error) {
  Finding f;
  f.kind = FindingKind::launch_refused;
  f.kernel = kernel;
  f.message = say<Says::launch_refused>(error.what);
  if (error.hint.empty())
    f.fix = Fix::launch_code;
  else
    f.fix_arguments = {error.hint};
  return f;
}

}  // namespace

Session::Checked Session::launch(Device& device, const LaunchRequest& request,
                                 std::function<void()> has_more,
                                 const std::shared_ptr<Operation>& operation,
                                 const Launcher& launcher) {
  std::uint64_t number;
  {
    const std::lock_guard lock(mutex_);
    number = ++launches_;
  }
  const auto show = [&](std::vector<Finding> findings) {
    {
      const std::lock_guard lock(mutex_);
      // They are reported at the end, when the barriers are known.
      const std::uint64_t suppressed = suppressed_;
      findings = grouped(std::move(findings), {});
      suppressed_ = suppressed;
      std::erase_if(findings, [&](const Finding& f) { return known_.contains(identity(f)); });
      std::ranges::move(findings, std::back_inserter(in_launch_));
    }
    has_more();
  };
  LaunchChecker checker(config_, device.memory(), memory_, number,
                        has_more ? show : LaunchChecker::Show{});
  Checked out{launcher ? launcher(request, checker) : device.launch(request, &checker), {}};
  std::vector<Finding> found = checker.findings(request);
  if (operation != nullptr && follows_streams())
    std::ranges::move(streams_.touched(operation, checker.touched_by(*operation, request),
                                       places_in(device.memory())),
                      std::back_inserter(found));
  if (checker.program() != nullptr) {
    memory_.stored(checker.take_stores());
    for (const AddressRange& range : checker.host_written())
      memory_.written(range.begin, range.end - range.begin);
    if (config_.has(Tool::memcheck))
      for (Finding& note : unregistered_memory(request, checker.host_arguments())) {
        note.launch = number;
        note.kernel = checker.program()->kernel_name();
        found.push_back(std::move(note));
      }
    if (!out.result && out.result.error().code == ErrorCode::interrupted) {
      found.push_back(interrupted(checker.program()->kernel_name(), out.result.error()));
      found.back().launch = number;
    }
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(in_launch_, [&](const Finding& f) { return f.launch == number; });
  // Refused before anything ran: programs often do not check the error.
  if (!out.result && checker.program() == nullptr) {
    Finding finding = refused(code_object::demangled(request.kernel->name), out.result.error());
    finding.launch = number;
    out.fresh = keep(grouped({std::move(finding)}, {}));
    return out;
  }
  out.fresh = keep(grouped(std::move(found), checker.barriers()));
  for (const auto& [vaddr, result] : checker.sites()) {
    const auto [at, is_new] =
        sites_.try_emplace({request.kernel->name + request.kernel->variant, vaddr});
    KnownSite& known = at->second;
    known.counts.merge(result.counts);
    if (!is_new) continue;
    const Program& program = *checker.program();
    known.site.kernel = request.kernel->name;
    known.site.vaddr = vaddr;
    known.site.word = program.word_at(vaddr);
    known.site.is_barrier = result.is_barrier;
    known.site.is_fence = result.is_fence;
    known.site.instruction = program.instruction_text(vaddr);
    known.site.frames = user_first(program.object().source_at(vaddr)).frames;
  }
  return out;
}

std::vector<Finding> Session::grouped(std::vector<Finding> findings,
                                      const std::vector<BarrierChain>& barriers) {
  suppressed_ += take_out(findings, suppressions_);
  place_barriers(findings, barriers, sources_);
  group_by_cause(findings);
  // Wait states concern authors of assembly: they must not hide findings that concern everyone.
  std::vector<Finding> last;
  for (Finding& finding : findings)
    if (finding.fix == Fix::wait_states) last.push_back(std::move(finding));
  std::erase_if(findings, [](const Finding& f) { return f.fix == Fix::wait_states; });
  std::ranges::move(last, std::back_inserter(findings));
  return findings;
}

std::vector<Finding> Session::keep(std::vector<Finding> findings) {
  std::vector<Finding> fresh;
  for (Finding& finding : findings) {
    const auto [at, is_new] = known_.try_emplace(identity(finding), findings_.size());
    if (!is_new) {
      findings_[at->second].count += finding.count;
      continue;
    }
    findings_.push_back(finding);
    fresh.push_back(std::move(finding));
  }
  return fresh;
}

std::vector<Finding> Session::launch_refused(const std::string& kernel, const Error& error) {
  const std::lock_guard lock(mutex_);
  Finding f = refused(kernel, error);
  f.launch = launches_ + 1;
  return keep(grouped({std::move(f)}, {}));
}

std::vector<Finding> Session::copied(const UndefinedCopy& copy) {
  if (!config_.has(Tool::initcheck)) return {};
  std::vector<Finding> found = undefined_copy(copy, memory_);
  const std::lock_guard lock(mutex_);
  for (Finding& f : found) f.launch = launches_;
  return keep(grouped(std::move(found), {}));
}

std::vector<Finding> Session::touched(const Memory& memory,
                                      const std::shared_ptr<Operation>& operation,
                                      const Footprint& footprint) {
  return add(streams_.touched(operation, footprint, places_in(memory)));
}

std::vector<Finding> Session::add(std::vector<Finding> found) {
  if (found.empty()) return found;
  const std::lock_guard lock(mutex_);
  return keep(grouped(std::move(found), {}));
}

void Session::begin_again() {
  begin_again_after_fork(streams_);
  begin_again_after_fork(mutex_);
  begin_again_after_fork(findings_);
  begin_again_after_fork(in_launch_);
  begin_again_after_fork(known_);
  begin_again_after_fork(sites_);
  launches_ = suppressed_ = 0;
}

std::vector<Finding> Session::leaks(Memory& memory, bool as_errors) {
  const std::lock_guard lock(mutex_);
  if (!config_.has(Tool::memcheck)) return {};
  std::vector<Finding> found;
  std::uint64_t count = 0, bytes = 0;
  memory.for_each_live([&](const Allocation& allocation) {
    if (!allocation.label.starts_with("hip")) return;  // code objects etc. are ours
    const std::uint64_t size = allocation.range.end - allocation.range.begin;
    ++count;
    bytes += size;
    if (!as_errors) return;
    Finding& f = found.emplace_back();
    f.kind = FindingKind::leak;
    f.message = say<Says::not_freed>(allocation.serial, allocation.label, size);
    f.fix = Fix::free_memory;
  });
  if (!as_errors && count != 0) {
    Finding& f = found.emplace_back();
    f.kind = FindingKind::leak;
    f.severity = Severity::note;
    f.message = say<Says::some_not_freed>(count, bytes);
    f.fix = Fix::list_leaks;
  }
  return keep(grouped(std::move(found), {}));
}

// ---- The report -----------------------------------------------------------------------------

/// Whether the user's own statement contains the wait or barrier. Users cannot remove those that
/// the compiler or a library inserted.
bool Session::is_the_users(const Site& site) {
  if (site.is_fence || site.frames.empty() || site.frames.front().line == 0) return false;
  const SourceText* const source = sources_.find(site.frames.front().file);
  if (source == nullptr) return false;
  const std::string text = statement_at(*source, site.frames.front().line);
  const auto spells = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(
        words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
  };
  return site.is_barrier ? spells({"__syncthreads", "s_barrier"}) : spells({"s_waitcnt"});
}

Finding Session::advice_of(const KnownSite& known) const {
  Finding f;
  f.severity = Severity::advice;
  f.kind =
      known.site.is_barrier ? FindingKind::barrier_never_needed : FindingKind::wait_never_needed;
  f.message = say<Says::never_ordered>(known.site.instruction, known.counts.executions);
  f.kernel = known.site.kernel;
  Access a;
  a.role = known.site.is_barrier ? Role::barrier : Role::wait;
  a.vaddr = known.site.vaddr;
  a.instruction = known.site.instruction;
  a.frames = known.site.frames;
  f.accesses = {std::move(a)};
  f.count = known.counts.executions;
  return f;
}

Report Session::report() {
  const std::lock_guard lock(mutex_);
  Report report;
  report.tools = names_of(config_.tools);
  report.adversarial = config_.adversarial.has_value();
  report.seed = config_.adversarial.value_or(0);
  report.launches = launches_;
  report.findings = findings_;
  std::ranges::copy(in_launch_, std::back_inserter(report.findings));
  report.in_launch = in_launch_.size();
  // One statement may have become many instructions: unrolled, inlined in several places, in
  // several instances of a template. It can only be removed as a whole.
  const auto statement_of = [](const Site& site) {
    const SourceFrame& frame = site.frames.front();
    return std::tuple(std::string_view(frame.file), frame.line, site.is_barrier);
  };
  std::set<std::tuple<std::string_view, std::uint32_t, bool>> needed;
  for (const auto& [key, known] : sites_)
    if (known.counts.helped != 0 && !known.site.frames.empty())
      needed.insert(statement_of(known.site));
  std::vector<Finding> advice;
  for (const auto& [key, known] : sites_) {
    Site site = known.site;
    site.executions = known.counts.executions;
    site.ordered = known.counts.ordered;
    site.completed = known.counts.completed;
    for (std::size_t n = 0; n < 2; ++n) site.loosest[n] = known.counts.loosest[n];
    report.sites.push_back(std::move(site));
    if (known.counts.executions != 0 && known.counts.helped == 0 &&
        config_.has(known.site.is_barrier ? Tool::synccheck : Tool::waitcheck) &&
        is_the_users(known.site) && !needed.contains(statement_of(known.site)))
      advice.push_back(advice_of(known));
  }
  report.suppressed = suppressed_ + take_out(advice, suppressions_);
  std::ranges::move(advice, std::back_inserter(report.findings));
  return report;
}

}  // namespace margay::check
