// The handling of running launches when a signal requests the end of the process.
//
// A program with the default action for SIGINT is killed by it, with or without a launch. One that
// handles it (Python) could not continue before the launch is over: therefore running launches are
// stopped as well, and the program's own handler runs as always. A watched process with the default
// action for SIGINT, SIGTERM or SIGHUP stops its launches, writes its report, and is then killed by
// the signal; by a second one, half a second later or more, at once.
#pragma once

#include <cstdint>
#include <functional>

namespace margay::runtime {

/// `stop` stops launches; `finish` writes the report. Both run on a separate thread. Only the first
/// call has an effect.
void prepare_interrupts(std::function<void()> stop);
void end_watched_process_by_signals(std::function<void()> finish);

/// The number of interrupts so far, so that a launch can detect one during its run.
[[nodiscard]] std::uint64_t interrupts();
/// True once a signal ends this process: no launch begins any more.
[[nodiscard]] bool is_ending();
/// Does not return once a signal ends this process. Called with no lock that the report needs.
void stay_if_ending();

/// During its lifetime, a SIGINT that the program handles stops launches as well.
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
