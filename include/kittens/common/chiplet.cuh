// Workgroup order for a GPU made of several dies.
#pragma once

#include "config.cuh"

namespace kittens {

/// The hardware deals consecutive workgroup ids round the dies, one each. This renumbers them so
/// that every die gets runs of `chunk` consecutive ids, whose data then meets in that die's L2.
/// Ids of the last, incomplete round stay as they are. Bijective on [0, num_workgroups).
KITTENS_HD constexpr int chiplet_transform_chunked(int workgroup_id, int num_workgroups,
                                                   int num_xcds, int chunk) {
  const int round = num_xcds * chunk;
  const int limit = num_workgroups / round * round;
  if (workgroup_id >= limit) return workgroup_id;
  const int xcd = workgroup_id % num_xcds;
  const int within_xcd = workgroup_id / num_xcds;
  return within_xcd / chunk * round + xcd * chunk + within_xcd % chunk;
}

}  // namespace kittens
