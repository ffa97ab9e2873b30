// See process.h.
#include "runtime/process/process.h"

#include <pthread.h>

#include <cstdlib>
#include <mutex>

#include "runtime/device/interrupts.h"

namespace margay::runtime {

Process& process() {
  static Process* const one = new Process();
  return *one;
}

Process::Process()
    : devices(watchers, host, {.is_registered = is_registered(), .on_watched = [this] {
                                 std::atexit([] { process().finish_watching(); });
                                 std::at_quick_exit([] { process().finish_watching(); });
                                 end_watched_process_by_signals([this] { finish_interrupted(); });
                               }}) {
  pthread_atfork(nullptr, nullptr, [] { process().begin_again(); });
}

IsRegistered Process::is_registered() {
  return [this](std::uint64_t address) {
    const auto record = allocator.table().find(address);
    return record && record->kind == MemoryKind::registered;
  };
}

void Process::begin_again() {
  launches.begin_again();
  host.begin_again();
  in_flight.begin_again();
  timeline.begin_again();
  interrupts_after_fork();
  watchers.begin_again();
}

void Process::finish_interrupted() {
  // The findings of a launch are complete when it has ended.
  const std::unique_lock paused = launches.paused();
  // The program had no chance to free its memory.
  watchers.end_all().finish(nullptr);
}

void Process::finish_watching() {
  // A signal's thread writes the report and ends the process with the signal's code.
  stay_if_ending();
  watchers.end_all().finish(devices.memory_if_made());
}

Outcome Process::reset_device() {
  const unsigned device = Devices::current();
  in_flight.wait_for_device(device);
  ordering.host_waits_for_all();
  launches.forget_failure();
  devices.peers(device) = 0;
  devices.flags() = hipDeviceScheduleAuto;
  streams.remove_all(device);
  // An event belongs to no device here.
  if (devices.count() == 1) streams.remove_all_events();
  return allocator.free_all(device);
}

}  // namespace margay::runtime
