// Recognises waves that only repeat themselves: they wait for memory to change, or forever.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/state/instruction.h"
#include "exec/state/wave.h"

namespace margay {

/// A word of memory that a wave polls, with its value before the last poll.
struct WatchedWord {
  std::uint64_t address = 0;  ///< A multiple of 8.
  std::uint64_t value = 0;
  /// Whether its value has changed.
  [[nodiscard]] bool changed() const;
};

/// The registers of a wave and its current instruction.
class WaveSnapshot {
 public:
  explicit WaveSnapshot(const Wave& wave);
  [[nodiscard]] bool same(const Wave& wave) const;

 private:
  const Instruction* next_;
  bool scc_;
  WaveStop stop_;
  std::uint32_t mode_;
  std::vector<std::uint32_t> scalars_, vectors_, kept_;
};

/// The state that waves of a workgroup can change within it: their registers, and LDS.
class Snapshot {
 public:
  explicit Snapshot(std::span<const Wave> waves);
  /// True when all of it is unchanged.
  [[nodiscard]] bool same(std::span<const Wave> waves) const;

 private:
  std::vector<WaveSnapshot> waves_;
  std::vector<std::uint8_t> lds_;
};

/// The addresses of global memory that waves access in one pass through a loop.
class TouchedPlaces {
 public:
  /// The addresses that `i` is about to access. Values are read if `earlier`, which ran without a
  /// fault, accessed the same.
  void add(const Wave& wave, const Instruction& i, const TouchedPlaces& earlier);
  [[nodiscard]] bool any() const { return any_; }
  /// Whether something was stored, other than by an atomic.
  [[nodiscard]] bool stored() const { return stored_; }
  [[nodiscard]] bool same(const TouchedPlaces& other) const {
    return any_ == other.any_ && hash_ == other.hash_;
  }
  /// Empty when there are too many.
  [[nodiscard]] const std::vector<WatchedWord>& words() const { return words_; }

 private:
  /// More than the lanes of a wave that poll a flag each, in a few instructions.
  static constexpr std::size_t kMostWords = 256;

  bool any_ = false, stored_ = false, too_many_ = false;
  std::uint64_t hash_ = 0;
  std::vector<WatchedWord> words_;
};

/// Whether `i`, run by `wave` now, accesses only state of its workgroup: no global memory, no
/// scratch (which a snapshot does not hold), no clock.
[[nodiscard]] bool stays_in_workgroup(const Wave& wave, const Instruction& i);

/// Runs instructions as `Inner` does and records the addresses they access.
template <typename Inner>
class PlaceRecorder {
 public:
  static constexpr bool kEnabled = true;
  PlaceRecorder(Inner& inner, TouchedPlaces& places, const TouchedPlaces& earlier)
      : inner_(inner), places_(places), earlier_(earlier) {}
  const Instruction* step(Wave& wave, const Instruction& i) {
    if (!stays_in_workgroup(wave, i)) {
      left_ = true;
      places_.add(wave, i, earlier_);
    }
    return inner_.step(wave, i);
  }
  template <typename Group>
  void barrier_opens(Group& group) {
    inner_.barrier_opens(group);
  }
  std::uint32_t wave_in_turn(std::uint32_t turn, std::uint32_t waves) {
    return inner_.wave_in_turn(turn, waves);
  }
  std::uint64_t quantum() { return inner_.quantum(); }
  /// Whether an instruction accessed state outside the workgroup.
  [[nodiscard]] bool left() const { return left_; }

 private:
  Inner& inner_;
  TouchedPlaces& places_;
  const TouchedPlaces& earlier_;
  bool left_ = false;
};

}  // namespace margay
