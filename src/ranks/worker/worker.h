// A worker's side of a session: runs workgroups of the leader's launches.
#pragma once

#include "ranks/wire.h"

namespace margay::ranks {

/// Serves one leader until it goes. The process is of no other use: its memory is arranged as the
/// leader's, and it ends with the connection. `name` is how the leader calls this worker.
void serve_leader(Connection connection, unsigned threads, const std::string& name);

}  // namespace margay::ranks
