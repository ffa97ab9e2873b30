#include "exec/dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <thread>

#include "exec/observer.h"
#include "mfma/mfma.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace margay {
namespace {

using Clock = std::chrono::steady_clock;

/// A wave that does not reach a barrier or its end within so many instructions lets the others of
/// its workgroup run: they may be what it waits for.
constexpr std::uint64_t kQuantum = 1 << 20;
/// Every so many workgroups, one is run with a clock around each instruction.
constexpr std::uint64_t kSampleEvery = 64;
/// Scratch for call stacks whose depth the compiler does not know, bytes per lane.
constexpr std::uint32_t kDynamicStackBytes = 16 * 1024;

std::uint64_t clock_ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
#endif
}

/// Adds up host time by instruction class.
struct TimeShares {
  static constexpr bool kEnabled = true;
  std::array<std::uint64_t, kInstructionClasses> ticks = {};
  std::uint64_t started = 0;
  void before(const Wave&, const Instruction&) { started = clock_ticks(); }
  void after(const Wave&, const Instruction& i) {
    const auto c = i.row == nullptr ? InstructionClass::other : i.row->instruction_class;
    ticks[static_cast<unsigned>(c)] += clock_ticks() - started;
  }
};

/// 64-byte aligned memory that is not initialised.
class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::size_t bytes)
      : bytes_(std::max<std::size_t>(bytes, 64)),
        data_(static_cast<std::uint8_t*>(::operator new(bytes_, std::align_val_t{64}))) {}
  ~AlignedBuffer() { ::operator delete(data_, std::align_val_t{64}); }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  [[nodiscard]] std::uint8_t* data() { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  void fill(std::size_t bytes) {
    auto* const words = reinterpret_cast<std::uint32_t*>(data_);
    std::fill(words, words + bytes / 4, kUninitialised);
  }

 private:
  std::size_t bytes_;
  std::uint8_t* data_;
};

/// What all threads of one launch share.
struct Shared {
  explicit Shared(const DispatchJob& j) : job(j), total(j.request->grid.count()) {}
  const DispatchJob& job;
  const std::uint64_t total;
  /// In the middle of a small launch, or of each run of kSampleEvery.
  const std::uint64_t first_sample = std::min(total, kSampleEvery) / 2;
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::uint64_t failed_workgroup = ~0ull;
  Error error{};
  LaunchReport report;
  TimeShares shares;
};

/// One host thread's workgroup slot.
class Worker {
 public:
  explicit Worker(Shared& shared)
      : shared_(shared),
        job_(shared.job),
        kernel_(*job_.request->kernel),
        wave_count_(static_cast<std::uint32_t>((job_.request->block.count() + kWaveLanes - 1) /
                                               kWaveLanes)),
        rows_(kernel_.descriptor.unified_vgpr_count()),
        vgprs_(std::size_t{wave_count_} * (rows_ + kTemporaryRows) * kWaveLanes * 4),
        lds_bytes_(kernel_.descriptor.group_segment_fixed_size + job_.request->dynamic_lds_bytes),
        lds_(lds_bytes_ + 64),
        scratch_per_lane_(scratch_bytes(kernel_)),
        scratch_(std::size_t{wave_count_} * scratch_per_lane_ * kWaveLanes),
        waves_(wave_count_) {
    group_.memory = job_.memory;
    group_.program = job_.program;
    group_.range_cache = &range_cache_;
    group_.lds = lds_.data();
    group_.lds_bytes = lds_bytes_;
    group_.scratch_bytes_per_lane = scratch_per_lane_;
    group_.mfma = job_.program->mfma();
    for (std::uint32_t n = 0; n < wave_count_; ++n) {
      Wave& wave = waves_[n];
      wave.v = reinterpret_cast<std::uint32_t*>(vgprs_.data()) +
               std::size_t{n} * (rows_ + kTemporaryRows) * kWaveLanes;
      wave.vgpr_rows = rows_;
      wave.group = &group_;
      wave.scratch = scratch_.data() + std::size_t{n} * scratch_per_lane_ * kWaveLanes;
    }
  }

  /// Takes workgroups until none is left; `tell` is called between them by the first thread.
  template <typename Tell>
  void run(Tell&& tell) {
    // Other code on this thread (oneDNN, torch) may have left its own matrix-unit state.
    mfma_thread_begin();
    while (!shared_.stop.load(std::memory_order_relaxed)) {
      const std::uint64_t id = shared_.next.fetch_add(1, std::memory_order_relaxed);
      if (id >= shared_.total) break;
      if (job_.measure_time_shares && id % kSampleEvery == shared_.first_sample)
        run_workgroup(id, shares_);
      else {
        NoObserver none;
        run_workgroup(id, none);
      }
      shared_.done.fetch_add(1, std::memory_order_relaxed);
      tell();
    }
    mfma_thread_end();
    const std::lock_guard lock(shared_.mutex);
    shared_.report.wave_instructions += instructions_;
    shared_.report.mfma_instructions += mfma_instructions_;
    for (unsigned c = 0; c < kInstructionClasses; ++c) shared_.shares.ticks[c] += shares_.ticks[c];
  }

 private:
  static std::uint32_t scratch_bytes(const Kernel& kernel) {
    const std::uint32_t fixed = (kernel.descriptor.private_segment_fixed_size + 3) & ~3u;
    return kernel.uses_dynamic_stack ? fixed + kDynamicStackBytes : fixed;
  }

  template <typename Observer>
  void run_workgroup(std::uint64_t id, Observer& observer) {
    const Dim3& grid = job_.request->grid;
    group_.id[0] = static_cast<std::uint32_t>(id % grid.x);
    group_.id[1] = static_cast<std::uint32_t>(id / grid.x % grid.y);
    group_.id[2] = static_cast<std::uint32_t>(id / grid.x / grid.y);
    lds_.fill((lds_bytes_ + 3) & ~3u);
    vgprs_.fill(vgprs_.size());
    scratch_.fill(scratch_.size());
    for (std::uint32_t n = 0; n < wave_count_; ++n) {
      initialise_wave(waves_[n], *job_.request, group_, job_.addresses, n);
      waves_[n].next = job_.program->entry();
    }
    std::uint32_t ended = 0;
    while (ended < wave_count_) {
      std::uint32_t waiting = 0;
      ended = 0;
      for (Wave& wave : waves_) {
        if (wave.stop == WaveStop::running) run_wave(wave, kQuantum, observer);
        if (wave.stop == WaveStop::fault) return fail_workgroup(id, wave);
        waiting += wave.stop == WaveStop::barrier;
        ended += wave.stop == WaveStop::ended;
      }
      // A barrier waits for every wave that has not ended.
      if (waiting != 0 && waiting + ended == wave_count_)
        for (Wave& wave : waves_)
          if (wave.stop == WaveStop::barrier) wave.stop = WaveStop::running;
      if (shared_.stop.load(std::memory_order_relaxed)) return;
    }
    for (const Wave& wave : waves_) {
      instructions_ += wave.instructions;
      mfma_instructions_ += wave.mfma_instructions;
    }
  }

  void fail_workgroup(std::uint64_t id, const Wave& wave) {
    shared_.stop.store(true, std::memory_order_relaxed);
    const std::lock_guard lock(shared_.mutex);
    if (id >= shared_.failed_workgroup) return;
    shared_.failed_workgroup = id;
    Error error = *wave.error;
    const std::string lane = error.where.empty() ? "" : ", " + error.where;
    error.where =
        fmt::format("{}\n       wave {}{} of workgroup ({}, {}, {}), kernel {}",
                    job_.program->describe(wave.next->vaddr), wave.index_in_group, lane,
                    group_.id[0], group_.id[1], group_.id[2], job_.program->kernel_name());
    shared_.error = std::move(error);
  }

  Shared& shared_;
  const DispatchJob& job_;
  const Kernel& kernel_;
  std::uint32_t wave_count_;
  std::uint32_t rows_;
  AlignedBuffer vgprs_;
  std::uint32_t lds_bytes_;
  AlignedBuffer lds_;
  std::uint32_t scratch_per_lane_;
  AlignedBuffer scratch_;
  std::vector<Wave> waves_;
  WorkgroupState group_;
  RangeCache range_cache_;
  TimeShares shares_;
  std::uint64_t instructions_ = 0;
  std::uint64_t mfma_instructions_ = 0;
};

}  // namespace

Result<LaunchReport> dispatch(const DispatchJob& job) {
  const auto started = Clock::now();
  Shared shared(job);
  shared.report.workgroups = shared.total;
  shared.report.waves = shared.total * ((job.request->block.count() + kWaveLanes - 1) / kWaveLanes);

  const auto threads = static_cast<unsigned>(std::min<std::uint64_t>(job.threads, shared.total));
  {
    std::vector<std::jthread> others;
    for (unsigned n = 1; n < threads; ++n)
      others.emplace_back([&shared] { Worker(shared).run([] {}); });
    auto last_told = started;
    Worker(shared).run([&] {
      if (job.progress == nullptr || !*job.progress) return;
      const auto now = Clock::now();
      if (now - last_told < std::chrono::milliseconds(100)) return;
      last_told = now;
      (*job.progress)(shared.done.load(std::memory_order_relaxed), shared.total);
    });
  }
  if (shared.failed_workgroup != ~0ull) return std::unexpected(std::move(shared.error));

  LaunchReport report = std::move(shared.report);
  report.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  double total_ticks = 0;
  for (const std::uint64_t ticks : shared.shares.ticks) total_ticks += static_cast<double>(ticks);
  if (total_ticks > 0)
    for (unsigned c = 0; c < kInstructionClasses; ++c)
      report.time_shares.emplace_back(class_name(static_cast<InstructionClass>(c)),
                                      static_cast<double>(shared.shares.ticks[c]) / total_ticks);
  return report;
}

}  // namespace margay
