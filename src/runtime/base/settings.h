// The environment variables of the runtime, read in one place. README.md lists them for users.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "exec/device/device.h"
#include "report/check/tools.h"
#include "report/profile/selection.h"
#include "timing/time_config.h"

namespace margay::runtime {

/// Instruction words to be replaced before the code object is decoded: how `margay mutate` removes
/// a wait, a barrier or a fence.
struct Mutation {
  std::string kernel;                ///< Mangled; the code object that defines it is changed.
  std::uint64_t vaddr = 0;           ///< Of the first word, in the code object's image.
  std::vector<std::uint32_t> words;  ///< The replacement words.
};

/// What `margay check` sets. Without tools no launch is watched.
struct CheckSettings {
  check::ToolSet tools = {};         ///< MARGAY_CHECK=all, or tools separated by commas.
  std::string json = {};             ///< MARGAY_CHECK_JSON=FILE, where %p is the process's id.
  std::uint64_t max_findings = 100;  ///< MARGAY_CHECK_MAX=N: further ones are only counted.
  bool full = false;                 ///< MARGAY_CHECK_FULL=1: nothing is folded.
  std::string suppressions = {};     ///< MARGAY_CHECK_SUPPRESSIONS=FILE
  std::optional<std::uint64_t> adversarial = {};  ///< MARGAY_CHECK_ADVERSARIAL=SEED
  bool leaks = false;                     ///< MARGAY_CHECK_LEAKS=1: allocations alive at the end.
  std::optional<Mutation> mutation = {};  ///< MARGAY_MUTATE=KERNEL@VADDR=WORD[,WORD].
  std::string table = {};                 ///< MARGAY_WATCH_TABLE=FILE: see process_table.h.
};

/// What `margay prof` sets.
struct ProfileSettings {
  bool enabled = false;     ///< MARGAY_PROFILE=1
  std::string json = {};    ///< MARGAY_PROFILE_JSON=FILE, where %p is the process's id.
  std::string kernel = {};  ///< MARGAY_PROFILE_KERNEL=NAME: only kernels with this in their name.
  std::uint64_t traced_workgroups = 0;  ///< MARGAY_PROFILE_TRACE=N: timelines of N.
  profile::Selection launches = {};     ///< MARGAY_PROFILE_LAUNCHES=1,4-6: of each kernel.
  profile::Selection workgroups = {};  ///< MARGAY_PROFILE_WORKGROUPS=64 or 100-163: of each launch.
  bool timed = false;                  ///< MARGAY_PROFILE_TIME=1: with the model of time.
  /// For it: MARGAY_PROFILE_CLOCK=MHZ, MARGAY_PROFILE_ALL_WORKGROUPS=1, MARGAY_PROFILE_WARM=1.
  timing::TimeConfig time = {};
  std::string table = {};  ///< MARGAY_WATCH_TABLE=FILE: see process_table.h.
};

/// Most virtual devices of a process.
inline constexpr unsigned kMaxDevices = 16;

/// What hipEventElapsedTime gives.
enum class EventTime : std::uint8_t {
  host,                     ///< The host's wall time.
  modelled,                 ///< The device's time by the model of time, at boost clock ...
  modelled_sustained,       ///< ... at the clock that the device holds for seconds.
  modelled_warm,            ///< As modelled, with the caches that a launch like it has left ...
  modelled_warm_sustained,  ///< ... at the clock that the device holds.
};
[[nodiscard]] constexpr bool is_sustained(EventTime time) {
  return time == EventTime::modelled_sustained || time == EventTime::modelled_warm_sustained;
}
[[nodiscard]] constexpr bool is_warm(EventTime time) {
  return time == EventTime::modelled_warm || time == EventTime::modelled_warm_sustained;
}
/// The names of MARGAY_EVENT_TIME, in the order of EventTime.
inline constexpr std::array<std::string_view, 5> kEventTimes = {
    "host", "modelled", "modelled-sustained", "modelled-warm", "modelled-warm-sustained"};
[[nodiscard]] std::optional<EventTime> event_time_named(std::string_view name);
[[nodiscard]] constexpr std::string_view name_of(EventTime time) {
  return kEventTimes[static_cast<std::size_t>(time)];
}

/// What `margay run --ranks` sets: the other ranks of the process (src/ranks).
struct RankSettings {
  std::vector<std::string> addresses = {};  ///< MARGAY_RANKS, with commas between.
  std::string key = {};                     ///< MARGAY_RANKS_KEY
  unsigned patience_ms = 3;                 ///< MARGAY_RANKS_AFTER=MS: see ranks/leader.h.
  unsigned silence_s = 30;                  ///< MARGAY_RANKS_SILENCE=S: the same.
};

struct Settings {
  MfmaMode mfma = MfmaMode::exact;  ///< MARGAY_MFMA=exact|fma|fast
  unsigned devices = 1;             ///< MARGAY_DEVICES=N
  unsigned threads = 0;             ///< MARGAY_THREADS=N; 0 is one per host core.
  const Gpu* gpu = &default_gpu();  ///< MARGAY_DEVICE=mi325x and so on; see gpu/machines.
  /// MARGAY_HOST_LEVEL=generic|x86-64-v3|x86-64-v4; empty: the host's best.
  std::string host_level = {};
  EventTime event_time = EventTime::host;  ///< MARGAY_EVENT_TIME
  bool whole_pages = false;                ///< MARGAY_WHOLE_PAGES=1; see DeviceOptions.
  bool stats = false;                      ///< MARGAY_STATS=1: one line per launch.
  bool progress = false;  ///< MARGAY_PROGRESS=1: a line for launches over two seconds.
  bool quiet = false;     ///< MARGAY_QUIET=1: no error sentences on stderr.
  RankSettings ranks = {};
  CheckSettings check = {};
  ProfileSettings profile = {};
};

/// Returns the value of an environment variable, or nothing if it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

/// The process's own environment.
[[nodiscard]] Environment process_environment();

/// A value that is not one of the documented ones is an error, so that a misspelt setting never
/// runs a long job in the wrong mode. Unset and empty variables leave the default.
[[nodiscard]] Result<Settings> read_settings(const Environment& environment);

}  // namespace margay::runtime
