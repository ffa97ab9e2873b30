// How the ranks that a launcher (mpirun, srun) has started find each other. Rank 0 writes a key and
// where it listens to a file that only its user can read. The others read it, connect, and say
// where they listen themselves. A file needs no library of the launcher, and works between hosts
// that share a folder, as clusters do.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ranks/wire.h"

namespace margay::ranks {

struct Meeting {
  std::filesystem::path file;
  std::chrono::milliseconds patience = std::chrono::seconds(60);
};

/// A rank that has come.
struct Joined {
  unsigned rank = 0;
  std::string name;     ///< Of its host.
  std::string address;  ///< For connect_to().
  Connection owner;     ///< It serves as long as this is open.
};

/// Rank 0: waits for ranks 1 to `ranks` - 1. Those that came in time, by number. `waits` is called
/// once, with a sentence, if that takes seconds.
[[nodiscard]] Result<std::vector<Joined>> gather(
    const Meeting& meeting, const std::string& key, unsigned ranks,
    const std::function<void(const std::string&)>& waits);

/// Another rank, called `name`, that listens: tells rank 0. The key.
[[nodiscard]] Result<std::string> join(const Meeting& meeting, unsigned rank,
                                       const std::string& name, const Listener& listener);

}  // namespace margay::ranks
