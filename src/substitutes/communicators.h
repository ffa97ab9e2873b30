// Communicators of the substitute of RCCL: the ranks of one process, and how their calls find each
// other. A call waits, on the host, until all ranks have made theirs: the last one launches the
// work of all, in the order of the ranks, so that each run launches the same.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "substitutes/collective_launches.h"

namespace margay::substitutes {

// ncclResult_t
enum Status {
  kSuccess = 0,
  kHipError = 1,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6
};

struct Answer {
  int status = kSuccess;
  std::string words;  ///< What is wrong; empty if nothing is.
};

/// A call that was made, of one rank or of all.
struct Made {
  std::vector<Call> calls;    // by rank
  std::vector<bool> arrived;  // likewise
  bool done = false;
  Answer answer;
};

/// The ranks of a communicator. Safe to use from their threads.
class World {
 public:
  explicit World(int ranks) : members_(static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] int ranks() const { return static_cast<int>(members_.size()); }
  [[nodiscard]] Answer join(int rank, int device);
  /// What waits for this rank fails.
  void leave(int rank);

  /// Does not wait. If it is the last to arrive, the work of all is launched.
  [[nodiscard]] std::shared_ptr<Made> make(int rank, const Call& call);
  [[nodiscard]] Answer wait_for(const std::shared_ptr<Made>& made);
  /// Of a collective that failed, since then.
  [[nodiscard]] int failure() const;

 private:
  struct Member {
    int device = -1;  ///< -1: it has not joined.
    bool left = false;
    std::uint64_t collectives = 0;  ///< That it has called.
  };
  using Messages = std::deque<std::shared_ptr<Made>>;

  std::shared_ptr<Made> make_collective(int rank, const Call& call);
  std::shared_ptr<Made> make_message(int rank, const Call& call);
  std::shared_ptr<Made> began(int rank, const Call& call);
  void finish(const std::shared_ptr<Made>& made, Answer answer);
  [[nodiscard]] Answer execute(const std::vector<Call>& calls) const;
  [[nodiscard]] Answer split(const std::vector<Call>& calls) const;
  [[nodiscard]] std::string missing(const Made& made) const;
  [[nodiscard]] bool all_joined() const;

  mutable std::mutex mutex_;
  std::condition_variable finished_;
  std::vector<Member> members_;
  std::map<std::uint64_t, std::shared_ptr<Made>> collectives_;
  // By sender and receiver: those whose other end is not there yet, all sends or all receives.
  std::map<std::pair<int, int>, Messages> messages_;
  int failure_ = kSuccess;
};

/// What a program calls ncclComm_t.
struct Communicator {
  std::shared_ptr<World> world;
  int rank;
  int device;
};

}  // namespace margay::substitutes
