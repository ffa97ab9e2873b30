// Who gives a launch's host threads their next workgroup when other processes run a part of them.
// Without one, the threads count.
#pragma once

#include <cstdint>
#include <string>

namespace margay {

/// What others have done of a launch.
struct ElsewhereReport {
  std::uint64_t workgroups = 0;
  std::uint64_t wave_instructions = 0;
  std::uint64_t mfma_instructions = 0;
  /// For a line of statistics: key=value pairs. Not empty when ranks are in use.
  std::string text;
};

/// Safe to use from several threads.
class WorkgroupSource {
 public:
  virtual ~WorkgroupSource() = default;
  /// The next workgroup to run here, each once; the number of workgroups, or more, when all have
  /// been run, here or elsewhere. Waits while others may still give some back.
  [[nodiscard]] virtual std::uint64_t next() = 0;
  /// A workgroup waits for memory to change. False: then nothing can be run here; else all that are
  /// left run here.
  [[nodiscard]] virtual bool found_waiting() = 0;
  /// No more are wanted: the launch failed or was interrupted. next() returns at once.
  virtual void stop() = 0;
  /// What was done elsewhere so far.
  [[nodiscard]] virtual ElsewhereReport report() const = 0;
};

}  // namespace margay
