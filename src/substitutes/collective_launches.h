// Collectives on the device, for the substitute of RCCL: the streams of all ranks wait for each
// other, then each rank runs a kernel of kernels/collectives/collectives.hip, then they wait again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace margay::substitutes {

struct Communicator;

enum class Kind { all_reduce, all_gather, reduce_scatter, broadcast, reduce, split, send, receive };

/// What a rank calls.
struct Call {
  const char* function;  ///< Its name in RCCL.
  Kind kind;
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;  ///< Of elements, as the function counts them.
  int type = 0;           ///< ncclDataType_t
  int operation = 0;      ///< ncclRedOp_t
  int peer = 0;           ///< The root, or who is sent to or received from; of a split the color.
  int key = 0;            ///< Of a split.
  int device = 0;
  void* stream = nullptr;
  Communicator** made = nullptr;  ///< By a split.
};

/// 0: no type of RCCL.
[[nodiscard]] std::size_t size_of_type(int type);
[[nodiscard]] const char* name_of_type(int type);
/// Whether the kernels can reduce it. fp8 they only copy.
[[nodiscard]] bool can_be_reduced(int type);

/// A call for each rank, in their order, which agree; false: HIP refused, and said why.
[[nodiscard]] bool launch_collective(const std::vector<Call>& calls);
/// Of the same size.
[[nodiscard]] bool launch_message(const Call& send, const Call& receive);

}  // namespace margay::substitutes
