#include "observe/check/launch_checker.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "code_object/call_chain.h"
#include "exec/stream/stream.h"
#include "observe/check/findings/reporter.h"
#include "observe/check/findings/resolve.h"
#include "observe/check/global/global_races.h"

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
  const bool is_block_program = replicates(request);
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

}  // namespace

LaunchChecker::LaunchChecker(const CheckConfig& config, const Memory& memory, GlobalMemory& global,
                             std::uint64_t number, Show show)
    : config_(config), memory_(memory), global_(global), number_(number), show_(std::move(show)) {}

std::unique_ptr<Watcher> LaunchChecker::watch(const LaunchRequest& request, Program& program) {
  return make(request, program);
}

std::unique_ptr<WorkgroupObserver> LaunchChecker::observe(const LaunchRequest& request,
                                                          Program& program) {
  return std::make_unique<StreamObserver<WorkerChecker>>(make(request, program), program);
}

std::vector<Finding> LaunchChecker::findings(const LaunchRequest& request) {
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

std::vector<BarrierChain> LaunchChecker::barriers() const {
  std::vector<BarrierChain> chains;
  for (const auto& [vaddr, site] : sites_) {
    if (!site.is_barrier) continue;
    CallChain chain = user_first(program_->object().source_at(vaddr));
    chains.push_back({std::move(chain.frames), chain.called});
  }
  return chains;
}

std::vector<UndefinedStore> LaunchChecker::take_stores() {
  // By workgroup: not in the order in which threads and processes have ended.
  std::ranges::sort(stores_, {}, [](const UndefinedStore& store) {
    const auto& id = store.access.workgroup;
    return std::tuple(id[2], id[1], id[0], store.access.vaddr, store.range.begin);
  });
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

Footprint LaunchChecker::touched_by(Operation& operation, const LaunchRequest& request) const {
  if (program_ == nullptr) return {};
  operation.launch = number_;
  operation.kernel = program_->kernel_name();
  operation.module = request.module;
  operation.program = program_;
  operation.releases = means_.releases;
  operation.acquires = means_.acquires;
  return footprint_of(runs_);
}

SyncMeans LaunchChecker::prepare(Program& program) {
  const std::lock_guard lock(mutex_);
  if (program_ == nullptr && config_.has(Tool::racecheck)) means_ = sync_means(program);
  program_ = &program;
  return means_;
}

std::unique_ptr<WorkerChecker> LaunchChecker::make(const LaunchRequest& request, Program& program) {
  const HostRule rule = host_rule(request, memory_, global_);
  const SyncMeans means = prepare(program);
  SyncGraph* const graph = means.global && request.grid.count() > 1 ? &graph_ : nullptr;
  return std::make_unique<WorkerChecker>(WorkerChecker::Launch{
      .config = config_,
      .request = request,
      .program = program,
      .memory = memory_,
      .global = global_,
      .host_rule = rule,
      .number = number_,
      .means = means,
      .graph = graph,
      .collect = [this](WorkerResults results) { collect(std::move(results)); },
      .show = [this](const FindingSet& found) { show(found); },
      .replicates = replicates(request)});
}

void LaunchChecker::show(const FindingSet& found) {
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

void LaunchChecker::collect(WorkerResults results) {
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
void LaunchChecker::add_failure(std::vector<Finding>& findings) {
  if (!failure_) return;
  const std::uint64_t vaddr = failure_->accesses.front().vaddr;
  if (std::ranges::any_of(findings, [&](const Finding& f) {
        return f.tool() == Tool::memcheck && f.severity == Severity::error && !f.accesses.empty() &&
               f.accesses.front().vaddr == vaddr;
      }))
    return;
  findings.push_back(std::move(*failure_));
}

/// A release that is never acquired needs no wait.
void LaunchChecker::credit_releases() {
  const std::vector<bool> is_acquired = graph_.releases_acquired();
  for (const auto& one : release_credits_) {
    const auto site = sites_.find(one.vaddr);
    if (is_acquired[one.release] && site != sites_.end()) site->second.counts.needed(one.credit);
  }
  release_credits_.clear();
}

/// Among several threads, the one of the lowest workgroup is kept.
void LaunchChecker::add_store(UndefinedStore store) {
  const WrittenMap* const map = global_.find(store.range.begin);
  for (UndefinedStore& known : stores_) {
    if (known.access.vaddr != store.access.vaddr || map == nullptr ||
        !map->range().contains(known.range.begin, 1))
      continue;
    known.range.begin = std::min(known.range.begin, store.range.begin);
    known.range.end = std::max(known.range.end, store.range.end);
    known.told |= store.told;
    known.computed |= store.computed;
    if (is_earlier(store.access, known.access)) {
      known.access = std::move(store.access);
      known.read = std::move(store.read);
    }
    return;
  }
  stores_.push_back(std::move(store));
}

}  // namespace margay::check
