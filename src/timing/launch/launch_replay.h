// Replays what was recorded of a launch, as a whole or in part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "timing/compute_unit.h"
#include "timing/launch/schedule.h"
#include "timing/time_config.h"

namespace margay::timing {

struct ReplayedLaunch {
  double cycles = 0;    ///< Of the compute units, without launch and write-back.
  double mean = 0;      ///< Of them, over all compute units that work.
  double active = 0;    ///< Compute units that work at the same time and share what is shared.
  double dispatch = 0;  ///< Cycles of the dispatchers, without which there is no workgroup.
  Busy busy;
  double cu_cycles = 0;  ///< Sum over the compute units that were replayed.
  std::vector<SiteTime> sites;
  // With latencies; see KernelTime.
  SimdTime simds;
  double waves_per_simd = 0;
  std::vector<double> occupancy;
  double occupancy_cycles = 0;
};

/// Replays compute units of a launch on a device.
class LaunchReplay {
 public:
  /// On `host_threads`, which make no difference to the result.
  LaunchReplay(const LaunchRecording& launch, const Gpu& gpu, const Parameters& parameters,
               unsigned host_threads);
  /// The launch on another device: workgroups are dealt out anew to its compute units.
  [[nodiscard]] LaunchReplay on(const Gpu& gpu, const Parameters& parameters) const;

  /// Of a launch that was recorded whole: every compute unit; of others as many as are needed for
  /// a mean. `latencies`: see Watch.
  [[nodiscard]] ReplayedLaunch all(double ghz, const TimeConfig& config) const;
  /// A few of them, to compare clocks and changes with each other.
  [[nodiscard]] ReplayedLaunch few(double ghz, const Change& change = {}) const;
  /// Over time, of those that all() replays; with the waves of `traced` workgroups. `active`: as
  /// all() found.
  [[nodiscard]] Timeline timeline(double ghz, double active, std::uint64_t traced) const;

  [[nodiscard]] const Parameters& parameters() const { return parameters_; }
  [[nodiscard]] const Gpu& gpu() const { return gpu_; }
  /// Whether the order makes a difference in which workgroups begin that were not all recorded.
  [[nodiscard]] bool is_uneven() const { return is_uneven_; }

 private:
  /// Compute units that tell the time of all.
  [[nodiscard]] std::vector<std::size_t> enough(double most = TimeConfig().most_instructions) const;
  /// What one of `active` compute units gets.
  [[nodiscard]] Share share(double ghz, double active) const;
  [[nodiscard]] Occupants occupants(const Change& change) const;
  /// `cus` here and below: indices of LaunchRecording::cus.
  /// How many workgroups like those that a replay of these units has, have as much to do as one
  /// of the launch: a triangle's first rows are short, and workgroups that were not watched may
  /// have less to do.
  [[nodiscard]] double work_of_one(const std::vector<std::size_t>& cus,
                                   const Occupants& occupants) const;
  /// Of a launch in phases: how much there is to do in one of them, of the mean of `cus`.
  [[nodiscard]] double part_of_phase(std::size_t cu, const std::vector<std::size_t>& cus) const;
  /// What one compute unit of a launch that was recorded in part takes, on average over `cus`, with
  /// `workgroups` of them. `times`: replays with `occupants`.
  [[nodiscard]] double cycles_of(double workgroups, const std::vector<std::size_t>& cus,
                                 const std::vector<ComputeUnitTime>& times,
                                 const Occupants& occupants) const;
  /// Where all workgroups begin at once and those of an XCD were recorded: how much longer than the
  /// mean the slowest compute unit takes, for which the launch waits; else 1.
  [[nodiscard]] double slowest_of(const std::vector<std::size_t>& cus,
                                  const std::vector<ComputeUnitTime>& times,
                                  const Occupants& occupants) const;
  [[nodiscard]] std::vector<ComputeUnitTime> times_of(const std::vector<std::size_t>& cus,
                                                      const Occupants& occupants,
                                                      const Share& share, const Change& change,
                                                      bool latencies) const;
  /// How many times as long the last compute unit works as it would if all workgroups had as much
  /// to do.
  [[nodiscard]] double imbalance(const std::vector<std::size_t>& cus, const Occupants& occupants,
                                 const Share& share, const Change& change) const;
  /// Of a launch in part whose workgroups each have a compute unit: how long the longest one takes,
  /// and how long they take on average.
  struct Lives {
    double longest = 0, mean = 0;
  };
  [[nodiscard]] Lives lives(const Share& share, const Change& change) const;
  /// Of a compute unit with room for `resident` workgroups.
  [[nodiscard]] Speeds speeds(std::uint32_t resident, const Share& share) const;
  /// All workgroups, those that end at once included.
  [[nodiscard]] double dispatch_cycles(const Change& change) const;
  [[nodiscard]] ReplayedLaunch replayed(const std::vector<std::size_t>& cus, double ghz,
                                        const Change& change, bool latencies) const;
  [[nodiscard]] ReplayedLaunch replayed_by(double active, const std::vector<std::size_t>& cus,
                                           double ghz, const Change& change, bool latencies) const;
  /// The compute unit that has most to do.
  [[nodiscard]] std::size_t longest() const;
  /// As many, spread evenly, as have about `most` instructions to replay.
  [[nodiscard]] std::vector<std::size_t> some(
      double most, std::size_t most_units = static_cast<std::size_t>(-1)) const;

  const LaunchRecording& launch_;
  const Gpu& gpu_;
  const Parameters& parameters_;
  const unsigned host_threads_;
  std::vector<ComputeUnitRecording> cus_;
  double active_ = 1;        ///< Compute units that work.
  double most_ = 1;          ///< Workgroups of the one that has most.
  double least_ = 1;         ///< Of the others: as many, or one less.
  double instructions_ = 0;  ///< Of a workgroup, over its waves, on average.
  bool is_uneven_ = false;   ///< Workgroups of a launch that was recorded in part.
  bool are_alike_ = false;   ///< Compute units that were recorded have as much to do.
  /// By room for workgroups, units that are replayed, and Change::longest_first. Clocks and other
  /// changes make no difference that matters.
  mutable std::map<std::tuple<std::uint32_t, std::size_t, bool>, double> imbalances_;
};

}  // namespace margay::timing
