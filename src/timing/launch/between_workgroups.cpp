#include "timing/launch/between_workgroups.h"

#include <map>
#include <span>

namespace margay::timing {
namespace {

/// A loop that polls is short.
constexpr std::size_t kLongest = 32;

/// Where the lanes' addresses come from: but for EXEC, which a loop with lanes that have left it
/// changes.
RegisterMask without_exec(RegisterMask mask) {
  constexpr std::uint64_t kExec = std::uint64_t{3} << 62;  // scalar registers 126 and 127
  mask[9] &= ~kExec;
  return mask;
}

/// Whether `trip`, from one execution of a load to the next, waits for the load's place to change.
bool only_polls(const LaunchRecording& launch, std::span<const std::uint32_t> trip) {
  const Instruction& load = launch.instructions[trip.front()];
  if (load.registers == nullptr) return false;
  const RegisterMask address = without_exec(load.registers->reads);
  for (const std::uint32_t number : trip) {
    const Instruction& i = launch.instructions[number];
    if (i.has_work && &i != &load) return false;
    if (i.registers == nullptr) return false;
    for (std::size_t word = 0; word < address.size(); ++word)
      if ((i.registers->writes[word] & address[word]) != 0) return false;
  }
  return true;
}

}  // namespace

BetweenWorkgroups between_workgroups(const LaunchRecording& launch) {
  BetweenWorkgroups out;
  double all = 0, waves = 0;
  std::map<std::uint32_t, std::size_t> polled;  // instructions, by the load
  for (const WorkgroupRecording& group : launch.workgroups)
    for (const WaveRecording& wave : group.waves) {
      std::map<std::uint32_t, std::size_t> last;  // executions of such loads
      all += static_cast<double>(wave.instructions.size());
      ++waves;
      for (std::size_t n = 0; n < wave.instructions.size(); ++n) {
        const std::uint32_t number = wave.instructions[n];
        const Instruction& i = launch.instructions[number];
        if (i.syncs_grid) ++out.grid_syncs;
        if (!i.sees_others) continue;
        const auto [before, is_first] = last.try_emplace(number, n);
        if (!is_first && n - before->second <= kLongest &&
            only_polls(launch,
                       std::span(wave.instructions).subspan(before->second, n - before->second)))
          polled[number] += n - before->second;
        before->second = n;
      }
    }
  std::size_t most = 0;
  for (const auto& [number, instructions] : polled) {
    out.polling += static_cast<double>(instructions) / all;
    if (instructions <= most) continue;
    most = instructions;
    out.polls_at = launch.instructions[number].vaddr;
  }
  if (waves > 0) out.grid_syncs /= waves;
  return out;
}

}  // namespace margay::timing
