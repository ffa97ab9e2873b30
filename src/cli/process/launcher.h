// mpirun and srun start a program several times, on one host or more. What they say in the
// environment of each: Margay needs no library of theirs.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"

namespace margay::cli {

/// This process is one of several that a launcher has started.
struct Launcher {
  std::string name;  ///< "Open MPI", "MPICH", "Slurm".
  unsigned rank = 0, ranks = 1;
  unsigned on_this_host = 0;  ///< Of the ranks; 0 if the launcher does not say.
  std::string job;            ///< The same for all ranks of a run, and for no others; may be empty.

  [[nodiscard]] bool is_on_one_host() const { return on_this_host == ranks; }
  /// By which the ranks find each other (ranks/rendezvous.h): in MARGAY_RANKS_DIR, or in a folder
  /// that all of them have.
  [[nodiscard]] Result<std::filesystem::path> meeting_file() const;
  /// For how long they look for each other: MARGAY_RANKS_WAIT seconds.
  [[nodiscard]] static Result<std::chrono::seconds> patience();
};

/// Nothing without a launcher, if it has started one process only, and with MARGAY_RANKS, which
/// rank 0 sets for its program, and users set to "off" for programs that are many processes by
/// themselves.
[[nodiscard]] std::optional<Launcher> launcher();

/// Of a subcommand that runs in one process: what ranks other than 0 end with at once; rank 0 says
/// so. Nothing without a launcher.
[[nodiscard]] std::optional<int> leave_to_rank_0(std::string_view subcommand);

}  // namespace margay::cli
