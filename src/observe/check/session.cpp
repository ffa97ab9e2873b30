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
#include "exec/workgroup/hostcall.h"
#include "observe/check/findings/barrier_place.h"
#include "observe/check/global/host_memory.h"
#include "observe/check/parts.h"
#include "report/check/group.h"

namespace margay::check {
namespace {

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
  SharedLaunchChecker checker(config_, device.memory(), memory_, number,
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
  // What barriers order is racecheck's to say.
  const bool knows_barriers = config_.has(Tool::synccheck) && config_.has(Tool::racecheck);
  std::vector<Finding> advice;
  for (const auto& [key, known] : sites_) {
    Site site = known.site;
    site.executions = known.counts.executions;
    site.ordered = known.counts.ordered;
    site.completed = known.counts.completed;
    for (std::size_t n = 0; n < 2; ++n) site.loosest[n] = known.counts.loosest[n];
    report.sites.push_back(std::move(site));
    if (known.counts.executions != 0 && known.counts.helped == 0 &&
        (known.site.is_barrier ? knows_barriers : config_.has(Tool::waitcheck)) &&
        is_the_users(known.site) && !needed.contains(statement_of(known.site)))
      advice.push_back(advice_of(known));
  }
  report.suppressed = suppressed_ + take_out(advice, suppressions_);
  std::ranges::move(advice, std::back_inserter(report.findings));
  return report;
}

}  // namespace margay::check
