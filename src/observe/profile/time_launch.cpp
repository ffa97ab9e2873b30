#include "observe/profile/time_launch.h"

#include <algorithm>
#include <map>

#include "exec/workgroup/occupancy.h"
#include "observe/profile/instruction_facts.h"

namespace margay::profile {
namespace {

/// Of the lines that miss L2, the part that the Infinity Cache has: those that another XCD, or the
/// same one earlier, has brought in.
double infinity_cache_hits(const Replay& replay, const Counters& counters, std::size_t tensors) {
  const auto misses = static_cast<double>(counters[Counter::TCC_EA0_RDREQ_sum]);
  double once = 0;
  for (std::size_t n = 0; n < tensors; ++n)
    once += static_cast<double>(replay.touched(n).lines_read);
  return misses <= once ? 0 : 1 - once / misses;
}

}  // namespace

timing::LaunchRecording recording_of(const LaunchRequest& request, Program& program, Replay& replay,
                                     const Counters& counters, double vector_flops,
                                     std::uint64_t counted, std::size_t tensors) {
  using enum Counter;
  timing::LaunchRecording out;
  const Facts& facts = program.facts<InstructionFacts>();
  for (std::uint32_t n = 0; n < facts.count(); ++n)
    out.instructions.push_back(facts.numbered(n).timed);
  const Occupancy fits =
      occupancy(program.gpu().arch(), *request.kernel,
                static_cast<std::uint32_t>(request.block.count()), request.dynamic_lds_bytes);
  out.resident = std::max(1u, fits.workgroups_per_cu);
  out.grid = request.grid.count();
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>> cus;
  for (std::uint32_t x = 0; x < replay.xcds().size(); ++x)
    for (Xcd::Recorded& recorded : replay.xcds()[x]->recorded()) {
      cus[{x, recorded.cu}].push_back(out.workgroups.size());
      out.workgroups.push_back(std::move(*recorded.workgroup));
    }
  for (auto& [place, workgroups] : cus) {
    timing::ComputeUnitRecording& cu = out.cus.emplace_back();
    cu.xcd = place.first;
    cu.cu = place.second;
    std::ranges::sort(workgroups, {}, [&](std::size_t n) { return out.workgroups[n].id; });
    for (const std::size_t n : workgroups) cu.workgroups.push_back(&out.workgroups[n]);
  }
  // Of the whole launch.
  const double scale = static_cast<double>(out.grid) / static_cast<double>(counted);
  const auto count = [&](Counter c) { return scale * static_cast<double>(counters[c]); };
  out.infinity_cache_hits = infinity_cache_hits(replay, counters, tensors);
  const double read = count(TCC_EA0_RDREQ_sum) * kLineBytes * (1 - out.infinity_cache_hits);
  const double written = count(TCC_EA0_WRREQ_sum) * kSectorBytes;
  out.memory_bytes = read + written;
  // L2 holds no more of a whole launch than of a sample that has filled it.
  out.dirty_bytes = static_cast<double>(counters[TCC_ALL_TC_OP_WB_WRITEBACK_sum]) * kLineBytes;
  out.vector_flops = scale * vector_flops;
  constexpr double kOperations = 512;  // what one MOPS counts
  out.f16_flops = kOperations * count(SQ_INSTS_VALU_MFMA_MOPS_F16);
  out.bf16_flops = kOperations * count(SQ_INSTS_VALU_MFMA_MOPS_BF16);
  out.fp8_flops = kOperations * count(SQ_INSTS_VALU_MFMA_MOPS_F8);
  return out;
}

}  // namespace margay::profile
