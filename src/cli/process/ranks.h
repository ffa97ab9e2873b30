// The other ranks of a program: processes that run workgroups of its launches (src/ranks). They end
// when the program and all that inherited from it have ended.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/process/install.h"
#include "cli/process/launcher.h"
#include "ranks/rendezvous.h"

namespace margay::cli {

/// Of a subcommand whose program may use other ranks: those of --ranks, if it is given, or those
/// that a launcher has started, with `threads` host threads each (0: an equal part of the cores).
/// Sets this process's environment for the program. A rank other than 0 works until rank 0's
/// program has ended: then its exit code is returned.
[[nodiscard]] Result<std::optional<int>> share_launches(const Install& install,
                                                        std::optional<unsigned> ranks,
                                                        unsigned threads);

/// Starts `ranks` - 1 workers on this machine, with `threads` host threads each (0: an equal part
/// of the cores), and sets this process's environment for a program that uses them.
[[nodiscard]] Status start_workers(const Install& install, unsigned ranks, unsigned threads);

/// Host threads of a rank: the cores that the launcher has bound it to, or its part of all.
[[nodiscard]] unsigned threads_of_rank(const Launcher& launcher);

/// Rank 0 of `launcher`: the other ranks. Those that do not come are named on stderr.
[[nodiscard]] Result<std::vector<ranks::Joined>> gather_ranks(const Launcher& launcher,
                                                              const std::string& key);
/// Another rank, that listens: the key.
[[nodiscard]] Result<std::string> join_rank_0(const Launcher& launcher,
                                              const ranks::Listener& listener);

/// Another rank: calls `serve` in a thread of its own for each connection that rank 0 opens, until
/// that has ended. `stop` becomes true then. All in a process of its own: a launcher would end the
/// campaign when one of its processes is lost.
using Serve = std::function<void(ranks::Connection connection)>;
[[nodiscard]] Status serve_rank_0(const Launcher& launcher, std::atomic<bool>& stop,
                                  const Serve& serve);

/// Rank 0 of `launcher`: waits for the other ranks and sets this process's environment for a
/// program that uses them. Ranks that do not come are named on stderr.
[[nodiscard]] Status lead(const Launcher& launcher, unsigned threads);
/// Another rank: runs workgroups until rank 0's program has ended. The exit code.
[[nodiscard]] Result<int> work_for_rank_0(const Install& install, const Launcher& launcher,
                                          unsigned threads);

}  // namespace margay::cli
