// The parts of an observed launch that run in other processes (src/ranks): each of them observes
// its workgroups in the same way, and what it found is added to what was found here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/bytes.h"
#include "exec/workgroup/observer.h"

namespace margay {

class Memory;

/// Here, of the observer of a launch. Safe to use from several threads.
class LaunchParts {
 public:
  virtual ~LaunchParts() = default;
  /// What another process needs to make its observer.
  [[nodiscard]] virtual Bytes setup() const = 0;
  /// Workgroups n, n + stride() ... are observed in one process, together; 1: each by itself.
  [[nodiscard]] virtual std::uint64_t stride() const = 0;
  /// A question of an observer there.
  [[nodiscard]] virtual Bytes answer(std::span<const std::byte> question) = 0;
  /// Adds all that was observed in a process; false, and nothing is added, if it is invalid.
  [[nodiscard]] virtual bool add(std::span<const std::byte> results) = 0;
};

/// In the other process: observes its part of one launch.
class PartObserver : public LaunchObserver {
 public:
  /// For LaunchParts::add(), when the workgroups have ended.
  [[nodiscard]] virtual Bytes results() = 0;
};

/// What an observer in another process is made of; all of it outlives the observer.
struct PartOfLaunch {
  const LaunchRequest& request;  ///< Without arguments.
  Program& program;
  const Memory& memory;
  /// LaunchParts::answer(), from any thread.
  std::function<Bytes(std::span<const std::byte> question)> ask;
};
/// Makes the observer for a LaunchParts::setup(); null if it is not known.
using MakePartObserver = std::function<std::unique_ptr<PartObserver>(
    std::span<const std::byte> setup, const PartOfLaunch& part)>;

}  // namespace margay
