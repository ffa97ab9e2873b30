// The state behind the HIP calls of this process: one object owns all layers and connects them.
#pragma once

#include "runtime/base/errors.h"
#include "runtime/base/handle_table.h"
#include "runtime/device/devices.h"
#include "runtime/device/host_side.h"
#include "runtime/device/launches.h"
#include "runtime/graph/capture.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/graph_memory.h"
#include "runtime/launch/launch.h"
#include "runtime/memory/allocator.h"
#include "runtime/memory/memory_pool.h"
#include "runtime/module/module.h"
#include "runtime/module/registry.h"
#include "runtime/module/rtc_compile.h"
#include "runtime/stream/copies.h"
#include "runtime/stream/in_flight.h"
#include "runtime/stream/ordering.h"
#include "runtime/stream/streams.h"
#include "runtime/stream/timeline.h"
#include "runtime/watch/answers.h"
#include "runtime/watch/watch.h"

namespace margay::runtime {

/// All members are thread-safe; each depends only on those above it.
struct Process {
  Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Implements hipDeviceReset for the current device: frees what HIP calls allocated on it, drops
  /// its streams, clears a failed launch.
  [[nodiscard]] Outcome reset_device();
  /// For a checker: whether the program registered the host memory at an address.
  [[nodiscard]] IsRegistered is_registered();
  /// The dependencies of loading modules.
  [[nodiscard]] CodeContext code() { return {devices, functions, described}; }

  Watchers watchers;
  CheckAnswers check_answers;
  ProfileAnswers profile_answers;
  HostSide host;
  Devices devices;
  Launches launches{devices, watchers, host};

  Allocator allocator{devices, watchers};
  MemoryPools pools;

  HandleTable<ihipModuleSymbol_t> functions;
  DescribedKernels described;
  HandleTable<ihipModule_t> modules;
  Registry registry{code()};
  HandleTable<_hiprtcProgram> programs;

  Streams streams;
  Ordering ordering{watchers, devices, allocator.table(), streams};
  Timeline timeline{devices, allocator.table()};
  WorkInFlight in_flight{devices, host, launches, streams, ordering, timeline};
  Copies copies{devices, watchers, ordering, timeline};

  Graphs graphs{ordering};
  Captures captures{streams, ordering, in_flight, timeline, graphs};
  GraphMemory graph_memory{allocator};

  Launcher launcher{devices, watchers, launches, streams, captures, timeline};

 private:
  void begin_again();         // in the child of a fork()
  void finish_watching();     // at the end of the process
  void finish_interrupted();  // the same when a signal ends it
};

/// The instance of this process, for the exported functions. Never destroyed: clang's generated
/// destructors call it after all of ours have run.
[[nodiscard]] Process& process();

}  // namespace margay::runtime
