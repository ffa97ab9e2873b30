// One workgroup on one host thread: its waves, registers, LDS and scratch, and the order in which
// the waves run. A host thread has one of these and reuses it for all its workgroups.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/program/program.h"
#include "exec/program/turns.h"
#include "exec/state/aligned_buffer.h"
#include "exec/state/wave.h"
#include "exec/workgroup/hostcall.h"
#include "exec/workgroup/launch_request.h"
#include "exec/workgroup/launch_setup.h"
#include "exec/workgroup/observer.h"
#include "exec/workgroup/residents.h"
#include "exec/workgroup/waiting.h"

namespace margay {

/// How a workgroup is run.
struct WorkgroupCompany {
  /// For a kernel that makes calls to the host.
  HostcallBuffer* hostcalls = nullptr;
  /// The launch's other workgroups, with which it takes turns; null if it is the only one.
  Residents* residents = nullptr;
  /// Called periodically while a workgroup runs.
  std::function<void(const Workgroup&)> heartbeat = {};
};

class Workgroup {
 public:
  /// `stop` ends a run early; all references must outlive the workgroup.
  Workgroup(const LaunchRequest& request, Program& program, const Memory& memory,
            const LaunchAddresses& addresses, const std::atomic<bool>& stop,
            WorkgroupCompany company = {});
  ~Workgroup();
  Workgroup(const Workgroup&) = delete;
  Workgroup& operator=(const Workgroup&) = delete;

  /// Sets the initial state of workgroup `id` (x fastest).
  void begin(std::uint64_t id);

  /// Runs the waves in turn, until all have ended. After WorkgroupEnd::waiting it may be called
  /// again.
  template <typename Observer>
  [[nodiscard]] WorkgroupEnd run(Observer& observer);

  /// After WorkgroupEnd::waiting: false while it would only wait again, because nothing that its
  /// waves poll has changed.
  [[nodiscard]] bool is_ready() const;

  /// The observer of this workgroup, or null.
  [[nodiscard]] WorkgroupObserver* observer() const { return observer_.get(); }
  void observe(std::unique_ptr<WorkgroupObserver> observer) { observer_ = std::move(observer); }

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] std::span<Wave> waves() { return waves_; }
  [[nodiscard]] std::span<const Wave> waves() const { return waves_; }
  [[nodiscard]] const WorkgroupState& state() const { return state_; }
  [[nodiscard]] const LaunchRequest& request() const { return request_; }
  [[nodiscard]] Program& program() const { return program_; }
  /// The addresses of the dispatch packet and the arguments.
  [[nodiscard]] const LaunchAddresses& addresses() const { return addresses_; }
  /// The wave that has stopped with a fault.
  [[nodiscard]] const Wave& faulty() const;
  /// Describes the current instructions of the waves.
  [[nodiscard]] std::string where_waves_are() const;
  /// After WorkgroupEnd::deadlock: describes where the waves wait.
  [[nodiscard]] Error deadlock() const;
  /// The instruction at which a wave that has not ended is or waits.
  [[nodiscard]] static const Instruction& where_it_stands(const Wave& wave);

 private:
  /// One turn of each wave, and its result.
  struct Round {
    std::uint32_t running = 0;                ///< Waves that had a turn.
    std::uint32_t ended = 0;                  ///< Waves that have ended.
    std::uint32_t in_grid = 0;                ///< Waves at the grid's barrier.
    bool stopped = false;                     ///< A wave reached a barrier or its end.
    bool opened = false;                      ///< The barrier has opened.
    bool fault = false;                       ///< A wave has Wave::error.
    std::uint64_t executed = 0;               ///< Instructions of all waves.
    std::uint64_t least = ~std::uint64_t{0};  ///< The fewest instructions of a wave that continues.
  };
  template <typename Observer>
  [[nodiscard]] Round take_round(Observer& observer);
  template <typename Observer>
  void take_turn(Wave& wave, std::uint64_t turn, Observer& observer);
  /// After a round: how the run ends, if at all.
  template <typename Observer>
  [[nodiscard]] std::optional<WorkgroupEnd> look_after(const Round& round, Observer& observer);

  /// The activity of the running waves.
  enum class Activity : std::uint8_t {
    work,
    polling,  ///< Each repeats a loop that reads the same places of memory.
    stuck,    ///< And nothing else changes.
    endless,  ///< And its behaviour can never change.
  };
  /// Runs each running wave until it returns to its current instruction, for at most `longest`
  /// instructions.
  template <typename Observer>
  [[nodiscard]] Activity activity(Observer& observer, std::uint32_t longest);
  template <typename Observer>
  [[nodiscard]] Activity activity_of(Wave& wave, Observer& observer, std::uint32_t longest);
  /// The same for a workgroup whose waves have all just passed a barrier: runs it until they pass
  /// it again.
  template <typename Observer>
  [[nodiscard]] Activity activity_across_barriers(Observer& observer, std::uint32_t longest);
  /// Lets the other waves run as many instructions as the wave that is furthest ahead; `before`:
  /// the counts of each before the round.
  template <typename Observer>
  void catch_up(std::span<const std::uint64_t> before, Observer& observer);
  /// The end of the run, or nothing if it continues.
  [[nodiscard]] std::optional<WorkgroupEnd> after(Activity found);
  /// Whether the kernel has loads, atomic or volatile, that see what other workgroups write.
  [[nodiscard]] bool looks_at_others();
  /// A wave that stopped at the grid's barrier, in a launch that has one.
  void arrive_at_grid_barrier(Wave& wave);
  /// Continues waves whose grid barrier has opened.
  void leave_grid_barrier();
  /// Answers waves that call the host, in this workgroup or others; `wave` ran last.
  void answer_calls(Wave& wave);

  /// Of the registers of one wave, with the rows behind them.
  [[nodiscard]] std::size_t dwords_of_wave() const {
    return std::size_t{rows_ + kTemporaryRows + kSpareRows} * kWaveLanes;
  }

  const LaunchRequest& request_;
  Program& program_;
  const LaunchAddresses addresses_;
  const std::atomic<bool>& stop_;
  const WorkgroupCompany company_;
  HostcallBuffer* const hostcalls_;
  Residents* const residents_;
  /// After this many instructions of each wave without a stop, and after this many across barriers,
  /// the waves are checked for waiting. Both grow while the waves do something else.
  std::uint64_t quantum_ = kQuantum, barrier_quantum_ = kQuantum;
  std::uint64_t unstopped_ = 0, across_barriers_ = 0;  ///< Counted so far.
  std::uint64_t since_heartbeat_ = 0;                  ///< Instructions of all waves.
  std::uint32_t long_turns_ = 0;  ///< The number of turns of kQuantum this workgroup has had.
  std::optional<bool> looks_at_others_;  ///< Empty: its kernel was not looked through.
  std::uint64_t grid_phase_ = 0;         ///< The phase that a wave at the grid's barrier waits for.
  bool all_watched_ = false;
  std::vector<WatchedWord>
      watched_;  ///< The addresses polled by the waves that wait for memory; empty: not known.
  std::uint64_t id_ = 0;
  std::uint32_t wave_count_;
  std::uint32_t rows_;
  AlignedBuffer vgprs_;
  std::uint32_t lds_bytes_;
  AlignedBuffer lds_;
  std::uint32_t scratch_per_lane_;
  AlignedBuffer scratch_;
  std::vector<Wave> waves_;
  WorkgroupState state_;
  RangeCache range_cache_;
  std::unique_ptr<WorkgroupObserver> observer_;
};

/// In kernels that may call the host, the number of instructions between checks for calls.
inline constexpr std::uint64_t kHostcallQuantum = 256;

/// The longest loop that is examined for being endless.
inline constexpr std::uint32_t kLongestSpin = 1 << 14;
/// The longest loop that is examined early, in a workgroup that is not known to wait.
inline constexpr std::uint32_t kLongestPoll = 1 << 9;
/// A workgroup's first quantum where workgroups may wait for each other, and where they do.
inline constexpr std::uint64_t kFirstQuantum = 1 << 14, kShortQuantum = 1 << 10;
/// From this quantum on a workgroup yields that looks at what others write.
inline constexpr std::uint64_t kYieldQuantum = 1 << 17;
/// After this many turns of kQuantum any workgroup yields.
inline constexpr std::uint32_t kManyTurns = 64;
/// The longest loop over barriers that is examined.
inline constexpr std::uint32_t kLongestBarrierPoll = 1 << 11;
/// After this many instructions of each wave a workgroup's loops over barriers are first examined:
/// more than most workgroups run.
inline constexpr std::uint64_t kFirstBarrierQuantum = 1 << 16;
/// The number of instructions of a workgroup between two heartbeats.
inline constexpr std::uint64_t kHeartbeat = 1 << 18;

}  // namespace margay
