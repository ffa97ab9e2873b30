// The fuzzer on several ranks, which a launcher (mpirun, srun) has started: rank 0 hands out
// batches of cases, which seed and number determine.
#pragma once

#include <vector>

#include "apps/fuzz/runner/campaign.h"
#include "cli/process/launcher.h"
#include "ranks/rendezvous.h"

namespace margay::fuzz {

/// Rank 0: the other ranks, while this exists.
class RemoteRanks {
 public:
  /// `jobs`: batches of a rank at the same time.
  [[nodiscard]] static Result<RemoteRanks> gather(const cli::Launcher& launcher, unsigned jobs);
  [[nodiscard]] const std::vector<RemoteBatches>& batches() const { return batches_; }

 private:
  std::vector<ranks::Joined> ranks_;
  std::vector<RemoteBatches> batches_;
};

/// Another rank: runs batches until rank 0 has ended.
[[nodiscard]] Status serve_batches(const cli::Launcher& launcher, const CampaignSettings& settings);

}  // namespace margay::fuzz
