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
  /// The launch's other workgroups, with which it takes turns; null where it is the only one.
  Residents* residents = nullptr;
  /// Called now and then while a workgroup runs.
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

  /// Sets everything to what workgroup `id` (x fastest) finds when it starts.
  void begin(std::uint64_t id);

  /// Runs the waves in turn, until all have ended. After WorkgroupEnd::waiting it may be called
  /// again.
  template <typename Observer>
  [[nodiscard]] WorkgroupEnd run(Observer& observer);

  /// After WorkgroupEnd::waiting: false while it would only wait again, because nothing that its
  /// waves look at has changed.
  [[nodiscard]] bool is_ready() const;

  /// Who watches what runs here; null: nobody.
  [[nodiscard]] WorkgroupObserver* observer() const { return observer_.get(); }
  void observe(std::unique_ptr<WorkgroupObserver> observer) { observer_ = std::move(observer); }

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] std::span<Wave> waves() { return waves_; }
  [[nodiscard]] std::span<const Wave> waves() const { return waves_; }
  [[nodiscard]] const WorkgroupState& state() const { return state_; }
  [[nodiscard]] const LaunchRequest& request() const { return request_; }
  [[nodiscard]] Program& program() const { return program_; }
  /// Where the dispatch packet and the arguments lie.
  [[nodiscard]] const LaunchAddresses& addresses() const { return addresses_; }
  /// The wave that has stopped with a fault.
  [[nodiscard]] const Wave& faulty() const;
  /// At which instructions the waves are, in words.
  [[nodiscard]] std::string where_waves_are() const;
  /// After WorkgroupEnd::deadlock: who waits where, in words.
  [[nodiscard]] Error deadlock() const;
  /// The instruction at which a wave that has not ended is or waits.
  [[nodiscard]] static const Instruction& where_it_stands(const Wave& wave);

 private:
  /// One turn of each wave, and what came of it.
  struct Round {
    std::uint32_t running = 0;                ///< Waves that had a turn.
    std::uint32_t ended = 0;                  ///< Waves that have ended.
    std::uint32_t in_grid = 0;                ///< Waves at the grid's barrier.
    bool stopped = false;                     ///< A wave came to a barrier or to its end.
    bool opened = false;                      ///< The barrier has opened.
    bool fault = false;                       ///< A wave has Wave::error.
    std::uint64_t executed = 0;               ///< Instructions of all waves.
    std::uint64_t least = ~std::uint64_t{0};  ///< Of a wave that goes on, the fewest.
  };
  template <typename Observer>
  [[nodiscard]] Round take_round(Observer& observer);
  template <typename Observer>
  void take_turn(Wave& wave, std::uint64_t turn, Observer& observer);
  /// After a round: how the run ends, if it does.
  template <typename Observer>
  [[nodiscard]] std::optional<WorkgroupEnd> look_after(const Round& round, Observer& observer);

  /// What the running waves do.
  enum class Activity : std::uint8_t {
    work,
    polling,  ///< Each repeats a loop that reads the same places of memory.
    stuck,    ///< And nothing else changes.
    endless,  ///< And nothing it does can ever change.
  };
  /// Runs each running wave until it comes back to where it is, for `longest` instructions at
  /// most.
  template <typename Observer>
  [[nodiscard]] Activity activity(Observer& observer, std::uint32_t longest);
  template <typename Observer>
  [[nodiscard]] Activity activity_of(Wave& wave, Observer& observer, std::uint32_t longest);
  /// The same for a workgroup all of whose waves stand behind a barrier that has just opened: runs
  /// it until they do so again.
  template <typename Observer>
  [[nodiscard]] Activity activity_across_barriers(Observer& observer, std::uint32_t longest);
  /// Lets the other waves do as many instructions as the one that has run ahead the furthest;
  /// `before`: how many each had done.
  template <typename Observer>
  void catch_up(std::span<const std::uint64_t> before, Observer& observer);
  /// What comes of it; nothing when the run goes on.
  [[nodiscard]] std::optional<WorkgroupEnd> after(Activity found);
  /// A wave that stopped at the grid's barrier, in a launch that has one.
  void arrive_at_grid_barrier(Wave& wave);
  /// Lets waves go on whose grid barrier has opened.
  void leave_grid_barrier();
  /// Answers waves that call the host, be they of this workgroup or not; `wave` ran last.
  void answer_calls(Wave& wave);

  const LaunchRequest& request_;
  Program& program_;
  const LaunchAddresses addresses_;
  const std::atomic<bool>& stop_;
  const WorkgroupCompany company_;
  HostcallBuffer* const hostcalls_;
  Residents* const residents_;
  /// After so many instructions of each wave without a stop, and after so many across barriers, it
  /// is looked whether they only wait. Both grow while the waves do other than wait.
  std::uint64_t quantum_ = kQuantum, barrier_quantum_ = kQuantum;
  std::uint64_t unstopped_ = 0, across_barriers_ = 0;  ///< Counted so far.
  std::uint64_t since_heartbeat_ = 0;                  ///< Instructions of all waves.
  std::uint32_t long_turns_ = 0;  ///< How many of kQuantum this workgroup has had.
  std::uint64_t grid_phase_ = 0;  ///< What a wave at the grid's barrier waits for the end of.
  bool all_watched_ = false;
  std::vector<WatchedWord> watched_;  ///< Of the waves that wait for memory; empty: not known.
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

/// In kernels that may call the host, how many instructions run before it is looked whether one
/// waits for an answer.
inline constexpr std::uint64_t kHostcallQuantum = 256;

/// The longest loop that is examined for being endless.
inline constexpr std::uint32_t kLongestSpin = 1 << 14;
/// The longest that is looked for early, in a workgroup that is not known to wait.
inline constexpr std::uint32_t kLongestPoll = 1 << 9;
/// A workgroup's first quantum where workgroups may wait for each other, and where they do.
inline constexpr std::uint64_t kFirstQuantum = 1 << 14, kShortQuantum = 1 << 10;
/// After so many turns of kQuantum a workgroup that was never seen to wait gives way as well: it
/// may wait in a way that is not recognised.
inline constexpr std::uint32_t kManyTurns = 64;
/// The same across barriers.
inline constexpr std::uint32_t kLongestBarrierPoll = 1 << 11;
/// After so many instructions of each wave a workgroup's loops over barriers are looked at first:
/// more than most workgroups run.
inline constexpr std::uint64_t kFirstBarrierQuantum = 1 << 16;
/// How many instructions of a workgroup there are between two heartbeats.
inline constexpr std::uint64_t kHeartbeat = 1 << 18;

}  // namespace margay
