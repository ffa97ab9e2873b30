// A worker's process: waits for leaders, and makes a process of its own for each of them, so that
// one that ends badly takes nothing with it.
#pragma once

#include <string>

#include "exec/workgroup/launch_parts.h"
#include "ranks/wire.h"

namespace margay::ranks {

struct ServerOptions {
  int descriptor = -1;  ///< Of a socket that listens.
  std::string key;
  unsigned threads = 1;
  std::string name;                     ///< How leaders call this rank.
  MakePartObserver make_observer = {};  ///< For launches that are observed.
};

/// Starts the program again, once, with the addresses of its own memory away from where programs
/// have theirs. Leaders' memory is used at the leaders' addresses.
void move_out_of_the_way(char** arguments);

/// Returns when all owners (Role::owner) have gone, or none came within a minute.
[[nodiscard]] Status serve(const ServerOptions& options);

}  // namespace margay::ranks
