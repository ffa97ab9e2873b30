#include "exec/device/dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>

#include "exec/device/host_threads.h"
#include "exec/device/resident_queue.h"
#include "exec/rows/row_table.h"
#include "exec/state/host_floats.h"
#include "exec/workgroup/observer.h"
#include "exec/workgroup/workgroup_run.h"
#include "mfma/mfma.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace margay {
namespace {

using Clock = std::chrono::steady_clock;

/// One of this many workgroups is run with a clock around each instruction.
constexpr std::uint64_t kSampleEvery = 64;
/// After this many workgroups, the duration of the launch is checked.
constexpr std::uint64_t kLookEvery = 16;
std::uint64_t clock_ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
#endif
}

/// What two looks at the clock take by themselves.
std::uint64_t ticks_of_clock() {
  static const std::uint64_t least = [] {
    std::uint64_t ticks = ~std::uint64_t{0};
    for (int n = 0; n < 100; ++n) {
      const std::uint64_t started = clock_ticks();
      ticks = std::min(ticks, clock_ticks() - started);
    }
    return ticks;
  }();
  return least;
}

/// Adds up host time by instruction class, of instructions executed as without it.
struct TimeShares : NoObserver {
  static constexpr bool kEnabled = true;
  std::array<std::uint64_t, kInstructionClasses> ticks = {};
  const std::uint64_t of_clock = ticks_of_clock();
  const Instruction* step(Wave& wave, const Instruction& i) {
    const std::uint64_t started = clock_ticks();
    const Instruction* const next = i.execute(wave, i);
    const auto c = i.row == nullptr ? InstructionClass::other : i.row->instruction_class;
    const std::uint64_t taken = clock_ticks() - started;
    ticks[static_cast<unsigned>(c)] += taken - std::min(taken, of_clock);
    return next;
  }
};

/// State shared by all threads of one launch.
struct Shared {
  explicit Shared(const DispatchJob& j)
      : job(j),
        total(j.request->grid.count()),
        residents(total, j.resident_limit,
                  {.alone = j.observer != nullptr,
                   .patience = j.options->patience,
                   .source = j.share.source.get()}) {
    report.workgroups = total;
    report.waves = total * ((j.request->block.count() + kWaveLanes - 1) / kWaveLanes);
  }
  /// Reports that the launch takes long. `group` is one of its workgroups, which has begun.
  void look_at_length(const Workgroup& group) {
    const DeviceOptions& options = *job.options;
    if (!options.on_long_launch || told_of_length.load(std::memory_order_relaxed)) return;
    const auto length = Clock::now() - started;
    if (length < options.long_launch || told_of_length.exchange(true)) return;
    options.on_long_launch({.kernel = job.program->kernel_name(),
                            .seconds = std::chrono::duration<double>(length).count(),
                            .workgroups_done = done.load(std::memory_order_relaxed),
                            .workgroups = total,
                            .where = group.where_waves_are()});
  }

  const DispatchJob job;
  const Clock::time_point started = Clock::now();
  const std::uint64_t total;
  /// In the middle of a small launch, or of each run of kSampleEvery.
  const std::uint64_t first_sample = std::min(total, kSampleEvery) / 2;
  Residents residents;
  ResidentQueue queue{residents};
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> told_of_length{false};
  std::atomic<bool> stop{false};
  std::mutex mutex;  // guards the members below
  std::condition_variable one_has_ended;
  std::size_t ended_others = 0;  // host threads in addition to the launch's first
  std::uint64_t failed_workgroup = ~0ull;
  bool interrupted = false;
  Error error{};
  LaunchReport report;
  TimeShares shares;
};

/// One host thread's part of a launch.
class Worker {
 public:
  explicit Worker(Shared& shared) : shared_(shared), job_(shared.job) {}

  /// Runs workgroups until none is left, or, with `may_leave`, until all remaining ones wait for
  /// the host (then it returns true); the first thread calls `tell` between them.
  template <typename Tell>
  [[nodiscard]] bool run(bool may_leave, Tell&& tell) {
    job_.memory->set_view(job_.request->device, job_.request->visible_devices);
    // Other code on this thread (oneDNN, torch) may have left its own matrix-unit state.
    mfma_thread_begin();
    const UsualHostFloats floats;
    constexpr std::chrono::microseconds kPause{100};  // yields the core to the host's own threads
    bool left = false;
    while (!shared_.stop.load(std::memory_order_relaxed) && take_next()) {
      const WorkgroupEnd end = run_workgroup();
      if (end == WorkgroupEnd::waiting) {
        if (job_.share.source && !job_.share.source->found_waiting()) {
          give_up();
          break;
        }
        shared_.look_at_length(*group_);
        shared_.queue.put_aside(std::move(group_));
        if (!shared_.residents.only_host_can_help()) continue;
        left = may_leave;
        if (left) break;
        std::this_thread::sleep_for(kPause);
        continue;
      }
      shared_.residents.end();
      if (end == WorkgroupEnd::done) shared_.done.fetch_add(1, std::memory_order_relaxed);
      tell();
    }
    mfma_thread_end();
    const std::lock_guard lock(shared_.mutex);
    shared_.report.wave_instructions += instructions_;
    shared_.report.mfma_instructions += mfma_instructions_;
    for (unsigned c = 0; c < kInstructionClasses; ++c) shared_.shares.ticks[c] += shares_.ticks[c];
    return left;
  }

 private:
  /// Makes the next workgroup to run group_; false when there is none.
  [[nodiscard]] bool take_next() {
    ResidentQueue::Next next = shared_.queue.next();
    if (auto* const group = std::get_if<std::unique_ptr<Workgroup>>(&next)) {
      group_ = std::move(*group);
      return true;
    }
    const auto* const id = std::get_if<std::uint64_t>(&next);
    if (id == nullptr) return false;
    if (!group_) {
      group_ = std::make_unique<Workgroup>(
          *job_.request, *job_.program, *job_.memory, job_.addresses, shared_.stop,
          WorkgroupCompany{
              .hostcalls = job_.hostcalls,
              .residents = &shared_.residents,
              .heartbeat = [&shared = shared_](const Workgroup& g) { shared.look_at_length(g); }});
      if (job_.observer != nullptr)
        group_->observe(job_.observer->observe(*job_.request, *job_.program));
    }
    group_->begin(*id);
    if (group_->observer() != nullptr) group_->observer()->begin(*group_);
    if (*id % kLookEvery == 0) shared_.look_at_length(*group_);
    return true;
  }

  [[nodiscard]] WorkgroupEnd run_workgroup() {
    WorkgroupEnd end;
    if (group_->observer() != nullptr) {
      end = group_->observer()->run(*group_);
    } else if (job_.options->measure_time_shares &&
               group_->id() % kSampleEvery == shared_.first_sample) {
      end = group_->run(shares_);
    } else {
      NoObserver none;
      end = group_->run(none);
    }
    if (end == WorkgroupEnd::waiting) {
      if (shared_.residents.barrier().missing() == 0) return end;
      end = WorkgroupEnd::deadlock;
    }
    if (group_->observer() != nullptr) group_->observer()->end(*group_, end);
    if (end == WorkgroupEnd::fault) fail_workgroup(fault_of(group_->faulty()));
    if (end == WorkgroupEnd::deadlock) fail_workgroup(deadlock());
    for (const Wave& wave : group_->waves()) {
      instructions_ += wave.instructions;
      mfma_instructions_ += wave.mfma_instructions;
    }
    return end;
  }

  [[nodiscard]] std::string workgroup_text() const {
    const auto& id = group_->state().id;
    return fmt::format("workgroup ({}, {}, {}), kernel {}", id[0], id[1], id[2],
                       job_.program->kernel_name());
  }
  [[nodiscard]] Error fault_of(const Wave& wave) const {
    Error error = *wave.error;
    const std::string lane = error.where.empty() ? "" : ", " + error.where;
    error.where =
        fmt::format("{}\n       wave {}{} of {}", job_.program->describe(wave.next->vaddr),
                    wave.index_in_group, lane, workgroup_text());
    return error;
  }
  [[nodiscard]] Error deadlock() const {
    Error error = group_->deadlock();
    error.where += "\n       in " + workgroup_text();
    return error;
  }
  /// The launch ends as if it was interrupted.
  void give_up() {
    shared_.stop.store(true, std::memory_order_relaxed);
    job_.share.source->stop();
    const std::lock_guard lock(shared_.mutex);
    shared_.interrupted = true;
  }
  void fail_workgroup(Error error) {
    shared_.stop.store(true, std::memory_order_relaxed);
    if (job_.share.source) job_.share.source->stop();
    const std::lock_guard lock(shared_.mutex);
    if (group_->id() >= shared_.failed_workgroup) return;
    shared_.failed_workgroup = group_->id();
    shared_.error = std::move(error);
  }

  Shared& shared_;
  const DispatchJob& job_;
  std::unique_ptr<Workgroup> group_;  // the running one, or a finished one to be reused
  TimeShares shares_;
  std::uint64_t instructions_ = 0;
  std::uint64_t mfma_instructions_ = 0;
};

}  // namespace

struct Dispatch::Impl : Shared {
  using Shared::Shared;
  bool was_left = false;  // progress callbacks stop after a launch is detached
  std::vector<std::shared_ptr<HostTask>> others;
};

Dispatch::Dispatch(const DispatchJob& job) : impl_(std::make_unique<Impl>(job)) {
  const auto threads = static_cast<unsigned>(std::min<std::uint64_t>(job.threads, impl_->total));
  for (unsigned n = 1; n < threads; ++n)
    impl_->others.push_back(post_to_host_thread([impl = impl_.get()] {
      (void)Worker(*impl).run(false, [] {});
      const std::lock_guard lock(impl->mutex);
      ++impl->ended_others;
      impl->one_has_ended.notify_all();
    }));
}
Dispatch::~Dispatch() {
  for (const auto& other : impl_->others) other->settle();
}

bool Dispatch::run(bool may_leave) {
  Impl& launch = *impl_;
  auto last_told = launch.started;
  const bool tells = launch.job.options->progress && !launch.was_left;
  launch.was_left = may_leave;
  const bool left = Worker(launch).run(may_leave, [&] {
    if (!tells) return;
    const auto now = Clock::now();
    if (now - last_told < std::chrono::milliseconds(100)) return;
    last_told = now;
    const std::uint64_t elsewhere =
        launch.job.share.source ? launch.job.share.source->report().workgroups : 0;
    launch.job.options->progress(launch.done.load(std::memory_order_relaxed) + elsewhere,
                                 launch.total);
  });
  if (left) return false;
  // The workgroups that other threads still run may also wait for the host later.
  constexpr std::chrono::milliseconds kLook{5};
  std::erase_if(launch.others, [](const auto& other) { return other->take_back(); });
  std::unique_lock lock(launch.mutex);
  while (launch.ended_others != launch.others.size()) {
    if (may_leave && launch.residents.only_host_can_help()) return false;
    launch.one_has_ended.wait_for(lock, kLook);
  }
  return true;
}

void Dispatch::interrupt() {
  const std::lock_guard lock(impl_->mutex);
  impl_->interrupted = true;
  impl_->stop.store(true, std::memory_order_relaxed);
  if (impl_->job.share.source) impl_->job.share.source->stop();
}

Result<LaunchReport> Dispatch::report() {
  Impl& launch = *impl_;
  if (launch.failed_workgroup != ~0ull) return std::unexpected(std::move(launch.error));
  const ElsewhereReport elsewhere =
      launch.job.share.source ? launch.job.share.source->report() : ElsewhereReport{};
  if (const std::uint64_t done = launch.done.load() + elsewhere.workgroups;
      launch.interrupted && done < launch.total)
    return fail(
        ErrorCode::interrupted,
        fmt::format("the launch was interrupted after {} of {} workgroups", done, launch.total),
        "kernel " + launch.job.program->kernel_name());
  LaunchReport report = std::move(launch.report);
  report.wave_instructions += elsewhere.wave_instructions;
  report.mfma_instructions += elsewhere.mfma_instructions;
  report.ranks = launch.job.share.source ? elsewhere.text : launch.job.share.alone;
  report.seconds = std::chrono::duration<double>(Clock::now() - launch.started).count();
  double total_ticks = 0;
  for (const std::uint64_t ticks : launch.shares.ticks) total_ticks += static_cast<double>(ticks);
  if (total_ticks > 0)
    for (unsigned c = 0; c < kInstructionClasses; ++c)
      report.time_shares.emplace_back(class_name(static_cast<InstructionClass>(c)),
                                      static_cast<double>(launch.shares.ticks[c]) / total_ticks);
  return report;
}

}  // namespace margay
