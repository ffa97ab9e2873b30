// A worker's side of a session: runs workgroups of the leader's launches.
#pragma once

#include "exec/workgroup/launch_parts.h"
#include "ranks/wire.h"

namespace margay::ranks {

/// Serves one leader until it goes. The process is of no other use: its memory is arranged as the
/// leader's, and it ends with the connection. `name` is how the leader calls this worker. Launches
/// that are observed are refused without `make_observer`.
void serve_leader(Connection connection, unsigned threads, const std::string& name,
                  const MakePartObserver& make_observer);

}  // namespace margay::ranks
