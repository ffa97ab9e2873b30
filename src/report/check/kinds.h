// The kinds of findings: each with its name, the tool that finds it, and what it means. The names
// are stable: suppressions, JSON and tests use them. docs/check.md lists the same (kinds_test).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace margay::check {

/// The five checks; also the names of `margay check --tool`.
enum class Tool : std::uint8_t { memcheck, racecheck, initcheck, synccheck, waitcheck };
inline constexpr std::size_t kToolCount = 5;
[[nodiscard]] constexpr std::string_view tool_name(Tool tool) {
  constexpr std::array<std::string_view, kToolCount> names = {"memcheck", "racecheck", "initcheck",
                                                              "synccheck", "waitcheck"};
  return names[static_cast<std::size_t>(tool)];
}

enum class FindingKind : std::uint8_t {
  out_of_bounds,
  use_after_free,
  lds_out_of_bounds,
  scratch_out_of_bounds,
  misaligned,
  launch_refused,
  launch_interrupted,
  launch_failed,
  pageable_memory,
  leak,
  read_after_write,
  write_after_read,
  write_after_write,
  global_race,
  stream_race,
  host_write_before_sync,
  uninitialised_register,
  uninitialised_lds,
  uninitialised_global,
  uninitialised_copy,
  host_write,
  barrier_not_reached,
  barrier_divergent_lanes,
  deadlock,
  barrier_never_needed,
  read_before_wait,
  write_before_wait,
  lds_read_before_wait,
  missing_wait_states,
  wait_never_needed,
};

struct KindInfo {
  FindingKind kind;
  Tool tool;
  std::string_view name;
  std::string_view meaning;
};

/// In the order of FindingKind.
inline constexpr KindInfo kKinds[] = {
    {FindingKind::out_of_bounds, Tool::memcheck, "out-of-bounds",
     "global memory outside every allocation"},
    {FindingKind::use_after_free, Tool::memcheck, "use-after-free",
     "global memory of an allocation that was freed"},
    {FindingKind::lds_out_of_bounds, Tool::memcheck, "lds-out-of-bounds",
     "beyond the workgroup's LDS"},
    {FindingKind::scratch_out_of_bounds, Tool::memcheck, "scratch-out-of-bounds",
     "beyond the wave's scratch"},
    {FindingKind::misaligned, Tool::memcheck, "misaligned",
     "an address that the instruction cannot take, or takes slowly"},
    {FindingKind::launch_refused, Tool::memcheck, "launch-refused",
     "a launch that failed, so that the kernel did not run"},
    {FindingKind::launch_interrupted, Tool::memcheck, "launch-interrupted",
     "a launch that was stopped, so that some workgroups were not checked"},
    {FindingKind::launch_failed, Tool::memcheck, "launch-failed",
     "a kernel that an instruction stopped"},
    {FindingKind::pageable_memory, Tool::memcheck, "pageable-memory",
     "a kernel that accesses host memory HIP knows nothing of"},
    {FindingKind::leak, Tool::memcheck, "leak", "memory that was never freed"},
    {FindingKind::read_after_write, Tool::racecheck, "read-after-write",
     "LDS read that nothing orders behind a write"},
    {FindingKind::write_after_read, Tool::racecheck, "write-after-read",
     "LDS written with nothing that orders it behind a read"},
    {FindingKind::write_after_write, Tool::racecheck, "write-after-write",
     "LDS written twice with nothing that orders the two"},
    {FindingKind::global_race, Tool::racecheck, "global-race",
     "unordered accesses of waves or workgroups to global memory"},
    {FindingKind::stream_race, Tool::racecheck, "stream-race",
     "unordered operations of different streams on the same memory"},
    {FindingKind::host_write_before_sync, Tool::racecheck, "host-write-before-sync",
     "host code that changed what an asynchronous copy may still use"},
    {FindingKind::uninitialised_register, Tool::initcheck, "uninitialised-register",
     "a register that was never written decides something"},
    {FindingKind::uninitialised_lds, Tool::initcheck, "uninitialised-lds",
     "LDS that was never written decides something"},
    {FindingKind::uninitialised_global, Tool::initcheck, "uninitialised-global",
     "global memory that was never written decides something"},
    {FindingKind::uninitialised_copy, Tool::initcheck, "uninitialised-copy",
     "undefined device memory is copied to the host"},
    {FindingKind::host_write, Tool::initcheck, "host-write",
     "memory of hipMalloc that the host filled through its pointer"},
    {FindingKind::barrier_not_reached, Tool::synccheck, "barrier-not-reached",
     "a barrier that not all waves reach"},
    {FindingKind::barrier_divergent_lanes, Tool::synccheck, "barrier-divergent-lanes",
     "a barrier that not all lanes of a wave reach"},
    {FindingKind::deadlock, Tool::synccheck, "deadlock", "waves that wait forever"},
    {FindingKind::barrier_never_needed, Tool::synccheck, "barrier-never-needed",
     "advice: a barrier that ordered nothing in this run"},
    {FindingKind::read_before_wait, Tool::waitcheck, "read-before-wait",
     "a register read before its load was waited for"},
    {FindingKind::write_before_wait, Tool::waitcheck, "write-before-wait",
     "a register overwritten before its load was waited for"},
    {FindingKind::lds_read_before_wait, Tool::waitcheck, "lds-read-before-wait",
     "LDS read before the load straight to it was waited for"},
    {FindingKind::missing_wait_states, Tool::waitcheck, "missing-wait-states",
     "two instructions with too few wait states between them"},
    {FindingKind::wait_never_needed, Tool::waitcheck, "wait-never-needed",
     "advice: a wait that ordered nothing in this run"},
};
inline constexpr std::size_t kKindCount = std::size(kKinds);
static_assert(
    [] {
      for (std::size_t n = 0; n < kKindCount; ++n)
        if (static_cast<std::size_t>(kKinds[n].kind) != n) return false;
      return true;
    }(),
    "kKinds is in the order of FindingKind");

[[nodiscard]] constexpr const KindInfo& info(FindingKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}
[[nodiscard]] constexpr std::string_view kind_name(FindingKind kind) { return info(kind).name; }

}  // namespace margay::check
