// What the kernels of collectives.hip are given, for the device and for the host that launches
// them.
#pragma once

namespace margay::collectives {

inline constexpr int kMostRanks = 16;  // as many as there can be virtual devices
inline constexpr int kThreads = 256;

enum Operation { kSum = 0, kProduct = 1, kMaximum = 2, kMinimum = 3, kAverage = 4 };  // ncclRedOp_t

/// Elements 0 to `count` of each `from` are reduced in the order of the ranks; each `to` gets the
/// result.
struct ReduceArguments {
  const void* from[kMostRanks];
  void* to[kMostRanks];
  long count;
  int sources, targets, operation;
};

/// blockIdx.y is the number of the piece that is copied.
struct CopyArguments {
  const void* from[kMostRanks];
  void* to[kMostRanks];
  long bytes[kMostRanks];
};

}  // namespace margay::collectives
