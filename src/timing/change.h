// What a replay leaves out, or changes, to say what that would save.
#pragma once

namespace margay::timing {

struct Change {
  bool no_bank_conflicts = false;
  bool no_l2_misses = false;
  double far_lines = 1;  ///< Of the lines that loads miss in L2, the part that still does.
  /// Each access takes as many lines as its bytes fill, and a lookup in vL1D for each.
  bool perfect_coalescing = false;
  bool no_scratch = false;  ///< Accesses to scratch are not there: no spills, no indexed arrays.
  double compulsory_far_lines = 0;  ///< With it, the least part of far_lines that is left of loads.
  bool no_barrier_skew = false;     ///< Waves do not wait at barriers.
  /// Every other barrier is not there: two LDS buffers or larger steps, which take twice the LDS.
  bool half_the_barriers = false;
  bool no_memory_waits = false;  ///< Waits for memory are over at once: all latency is hidden.
  /// Loads are issued when their wave executed the same instruction the time before.
  bool loads_ahead = false;
  /// Waits for loads to registers are where these are used; others stay where they are.
  bool waits_at_use = false;
  /// VALU instructions take the part of their time that is the part of the lanes which are active:
  /// fewer waves, whose lanes all are, would do the same work.
  bool all_lanes_active = false;
  double lds_speed = 1;                ///< Of LDS, bus and banks.
  unsigned additional_workgroups = 0;  ///< That a compute unit has room for.
  double dispatch_speed = 1;           ///< Of the dispatchers that start workgroups.
  bool longest_first = false;          ///< Workgroups that have more to do begin earlier.
};

}  // namespace margay::timing
