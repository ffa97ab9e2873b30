// What becomes of running launches when a signal asks the process to end.
//
// A program that leaves SIGINT alone dies of it, launch or not. One that handles it (Python) would
// not get on before the launch is over: while launches run they are stopped as well, and the
// program's own handler runs as always. A watched process that leaves SIGINT, SIGTERM or SIGHUP
// alone stops its launches, writes its report, and then dies of the signal.
#pragma once

#include <cstdint>
#include <functional>

namespace margay::runtime {

/// `stop` has launches stopped; `finish` writes the report. Both run on a thread of their own. Only
/// the first call has an effect.
void prepare_interrupts(std::function<void()> stop);
void end_watched_process_by_signals(std::function<void()> finish);

/// How many interrupts there have been, so that a launch can tell whether one met it.
[[nodiscard]] std::uint64_t interrupts();
/// True once a signal ends this process: no launch begins any more.
[[nodiscard]] bool is_ending();
/// Does not return once a signal ends this process. Called with no lock that the report needs.
void stay_if_ending();

/// As long as one lives, a SIGINT that the program handles stops launches as well.
class StoppedByInterrupt {
 public:
  StoppedByInterrupt();
  StoppedByInterrupt(const StoppedByInterrupt&) = delete;
  StoppedByInterrupt& operator=(const StoppedByInterrupt&) = delete;
  ~StoppedByInterrupt();
};

/// In the child after fork(), which has none of its parent's threads.
void interrupts_after_fork();

}  // namespace margay::runtime
