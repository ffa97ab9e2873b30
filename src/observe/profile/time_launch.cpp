#include "observe/profile/time_launch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "exec/workgroup/occupancy.h"
#include "observe/profile/instruction_facts.h"
#include "observe/profile/time/phases.h"

namespace margay::profile {
namespace {

timing::Registers registers_of(const RegisterUse& use) {
  timing::Registers out;
  const auto copy = [](const VgprMask& vector, const std::array<std::uint64_t, 2>& scalar,
                       timing::RegisterMask& to) {
    std::ranges::copy(scalar, std::ranges::copy(vector, to.begin()).out);
  };
  copy(use.reads, use.scalar_reads, out.reads);
  copy(use.writes, use.scalar_writes, out.writes);
  return out;
}

/// What the whole launch read beyond L2, in lines.
struct FarReads {
  double lines = 0;      ///< Each as often as an XCD asked for it.
  double once = 0;       ///< Each once, if it was not in L2.
  double footprint = 0;  ///< Lines that it reads at all.
  double by_xcds = 0;    ///< The same, once for each XCD that reads it.
};

/// `scale`: of the launch to what was watched, workgroups of one XCD or of all.
FarReads far_reads(const Replay& replay, const TensorLines& tensors, const Footprint& footprint,
                   double scale) {
  FarReads out;
  for (std::size_t n = 0; n < tensors.size(); ++n) {
    double lines = 0;
    for (const auto& xcd : replay.xcds())
      lines += scale * static_cast<double>(xcd->tensors()[n].fabric_read_bytes) / kLineBytes;
    out.lines += lines;
    if (n == tensors.unnamed()) {
      out.once += lines;
      out.footprint += lines;
      out.by_xcds += lines;
      continue;
    }
    out.by_xcds += scale * static_cast<double>(replay.touched(n).lines_read_by_xcds);
    out.once += std::min(lines, footprint.lines_read(n));
    out.footprint += footprint.lines_read(n);
  }
  return out;
}

/// Bytes that the whole launch reads or writes.
double touched_bytes(const TensorLines& tensors, const Footprint& footprint) {
  double lines = 0;
  // Most tensors are read or written, or both in the same places.
  for (std::size_t n = 0; n < tensors.unnamed(); ++n)
    lines += std::max(footprint.lines_read(n), footprint.sectors_written(n) / 2);
  return lines * kLineBytes;
}

/// Bytes that the whole launch writes to the fabric, what is written again counted once: the
/// Infinity Cache has it. `scale`: as for far_reads().
double written_once(const Replay& replay, const TensorLines& tensors, const Footprint& footprint,
                    double scale) {
  double bytes = 0;
  for (std::size_t n = 0; n < tensors.size(); ++n) {
    double all = 0;
    for (const auto& xcd : replay.xcds())
      all += scale * static_cast<double>(xcd->tensors()[n].fabric_written_bytes);
    if (n != tensors.unnamed()) all = std::min(all, footprint.sectors_written(n) * kSectorBytes);
    bytes += all;
  }
  return bytes;
}

/// The numbers of the instructions in the order of their places in the code. They are numbered as
/// host threads first executed them, and sums in floating point depend on the order.
std::vector<std::uint32_t> by_place(const Facts& facts) {
  std::vector<std::uint32_t> numbers(facts.count());
  std::iota(numbers.begin(), numbers.end(), 0u);
  std::ranges::stable_sort(numbers, {},
                           [&](std::uint32_t n) { return facts.numbered(n).timed.vaddr; });
  return numbers;
}

void renumber(timing::WorkgroupRecording& workgroup, const std::vector<std::uint32_t>& place_of) {
  for (timing::WaveRecording& wave : workgroup.waves)
    for (std::uint32_t& number : wave.instructions) number = place_of[number];
}

/// What an XCD reads of a tensor.
struct XcdReads {
  double once = 0;    ///< Lines that miss L2, each once.
  double reads = 0;   ///< Lines that vL1Ds ask L2 for.
  double tensor = 0;  ///< Lines of the whole tensor.
};

/// Lines that workgroups of an XCD need not read, if each reads a strip of both `a` and `b`, and
/// they do not form the rectangle of the grid that has the least of both: of a matrix product
/// squares. 0 if they do not read so. `a`: of which they read more. `resident`: workgroups of a
/// compute unit.
double saved_by_rectangles(const XcdReads& a, const XcdReads& b, double workgroups,
                           double resident) {
  if (a.reads == 0 || b.reads == 0 || a.once == 0 || b.once == 0) return 0;
  // Of `rows` times `columns` workgroups each reads one part in `rows` of `a`, and one in `columns`
  // of `b`. Of `b` vL1D has what another workgroup of the compute unit has read. In a stream, where
  // each line is read once, there would be as many columns as workgroups.
  const double rows = workgroups * a.once / a.reads, least_rows = b.reads / b.once;
  constexpr double kSame = 1.25, kSeveral = 2;
  if (rows * kSame < least_rows || rows > kSame * resident * least_rows || rows < 1) return 0;
  if (std::max(least_rows, workgroups / rows) < kSeveral) return 0;  // no two read the same
  const double row = a.once / rows, column = b.once / (workgroups / rows);
  // No more than the grid has.
  const double all_rows = std::max(rows, a.tensor / row),
               all_columns = std::max(workgroups / rows, b.tensor / column);
  const double most_rows = std::min(all_rows, workgroups);
  const double best = std::clamp(std::sqrt(workgroups * column / row),
                                 std::clamp(workgroups / all_columns, 1.0, most_rows), most_rows);
  return std::max(0.0, a.once + b.once - (row * best + column * workgroups / best));
}

/// LaunchRecording::needed_far_lines.
double needed_far_lines(const Replay& replay, const TensorLines& tensors, double workgroups,
                        double resident) {
  double missed = 0, needed = 0;
  const auto used = static_cast<double>(std::ranges::count_if(replay.xcds(), [](const auto& xcd) {
    return std::ranges::any_of(xcd->tensors(),
                               [](const ServedBy& one) { return one.l2_reads != 0; });
  }));
  for (const auto& xcd : replay.xcds()) {
    std::vector<XcdReads> reads;
    for (std::size_t n = 0; n < tensors.size(); ++n) {
      const double lines = static_cast<double>(xcd->tensors()[n].fabric_read_bytes) / kLineBytes;
      missed += lines;
      if (n == tensors.unnamed()) {
        needed += lines;
        continue;
      }
      const double once = std::min(lines, static_cast<double>(xcd->lines_read()[n].count()));
      needed += once;
      reads.push_back({once, static_cast<double>(xcd->tensors()[n].l2_reads),
                       static_cast<double>(tensors.lines(n))});
    }
    std::ranges::sort(reads, std::ranges::greater{}, &XcdReads::once);
    if (reads.size() >= 2)
      needed -= saved_by_rectangles(reads[0], reads[1], workgroups / used, resident);
  }
  return missed > 0 ? std::clamp(needed / missed, 0.0, 1.0) : 1;
}

/// Workgroups that have less than this part of the work of another one end at once: grids are made
/// for the most that there can be to do (experts, persistent kernels), and the rest leaves. They
/// take no part in the bandwidth, and the others' work is not theirs.
constexpr double kLeast = 0.05;

/// LaunchRecording::lengths. `most`: instructions of a workgroup that was recorded.
std::vector<std::uint32_t> lengths_of_working(std::vector<std::uint32_t> lengths, double most) {
  for (std::uint32_t& length : lengths)
    if (length < kLeast * most) length = 0;
  return lengths;
}

/// A number of its own for each execution of each instruction.
std::uint64_t shift_of(std::uint64_t vaddr, std::uint64_t time) {
  const std::uint64_t seed = (vaddr << 32 ^ time) * 6364136223846793005ull + 1442695040888963407ull;
  return (seed ^ seed >> 29) * 0xbf58476d1ce4e5b9ull >> 33;
}

/// The waves of an XCD run alike, and the one that is first misses L2 for the others. On the device
/// it is not always the same one: the others come up with it while it waits. So the bandwidth that
/// the misses of each execution of an instruction take is dealt out anew to the waves that execute
/// it. (That the others wait, too, arrival.h knows.)
void deal_out_misses(const std::vector<RecordedWorkgroup>& workgroups,
                     const std::vector<timing::Instruction>& instructions) {
  std::vector<std::vector<std::vector<timing::MemoryWork*>>> executions(instructions.size());
  for (const RecordedWorkgroup& recorded : workgroups)
    for (timing::WaveRecording& wave : recorded.workgroup->waves) {
      std::vector<std::uint32_t> times(instructions.size());
      std::size_t work = 0;
      for (const std::uint32_t number : wave.instructions) {
        const timing::Instruction& i = instructions[number];
        if (!i.has_work) continue;
        timing::MemoryWork& one = wave.memory[work++];
        if (i.unit == timing::Unit::lds) continue;
        auto& of_site = executions[number];
        const std::uint32_t time = times[number]++;
        if (time >= of_site.size()) of_site.resize(time + 1);
        of_site[time].push_back(&one);
      }
    }
  for (std::size_t number = 0; number < executions.size(); ++number)
    for (std::size_t time = 0; time < executions[number].size(); ++time) {
      auto& waves = executions[number][time];
      const std::size_t shift = shift_of(instructions[number].vaddr, time) % waves.size();
      std::vector<std::pair<std::uint16_t, std::uint16_t>> lines;
      for (const timing::MemoryWork* const work : waves)
        lines.emplace_back(work->l2_lines, work->far_lines);
      for (std::size_t n = 0; n < waves.size(); ++n)
        std::tie(waves[n]->l2_lines, waves[n]->far_lines) = lines[(n + shift) % waves.size()];
    }
}

/// Of a wave's lanes, in an instruction of the VALU.
float active_part(const WatchedWork& watched, std::uint32_t number,
                  const timing::Instruction& timed, const Gpu& gpu) {
  if (!is_vector(timed.unit) || number >= watched.lanes.size()) return 1;
  const WatchedWork::Lanes& lanes = watched.lanes[number];
  if (lanes.executions == 0) return 1;
  return static_cast<float>(lanes.active) /
         static_cast<float>(lanes.executions * gpu.arch().wavefront_size);
}

/// The launch's instructions in the order of their places. Returns the place of each number.
std::vector<std::uint32_t> set_instructions(timing::LaunchRecording& out, const Facts& facts,
                                            const WatchedWork& watched, const Gpu& gpu) {
  const std::vector<std::uint32_t> order = by_place(facts);
  std::vector<std::uint32_t> place_of(order.size());
  out.registers.reserve(order.size());
  for (const std::uint32_t number : order) {
    place_of[number] = static_cast<std::uint32_t>(out.instructions.size());
    out.registers.push_back(registers_of(facts.numbered(number).use));
    out.instructions.push_back(facts.numbered(number).timed);
    out.instructions.back().registers = &out.registers.back();
    out.instructions.back().active_lanes =
        active_part(watched, number, facts.numbered(number).timed, gpu);
  }
  return place_of;
}

void set_residents(timing::LaunchRecording& out, const LaunchRequest& request, const Gpu& gpu) {
  const auto workgroups = [&](std::uint32_t dynamic_lds_bytes) {
    return occupancy(gpu.arch(), *request.kernel, static_cast<std::uint32_t>(request.block.count()),
                     dynamic_lds_bytes)
        .workgroups_per_cu;
  };
  const std::uint32_t lds = request.kernel->lds_bytes + request.dynamic_lds_bytes;
  out.resident = std::max(1u, workgroups(request.dynamic_lds_bytes));
  out.resident_with_twice_the_lds = workgroups(request.dynamic_lds_bytes + lds);
}

/// The workgroups that were recorded.
struct Recorded {
  double most = 0;               ///< Instructions of one.
  std::uint64_t ended = 0;       ///< How many of them ended at once,
  double idle_instructions = 0;  ///< and what they executed together.
};

/// Moves the recorded workgroups to the launch, by compute unit, but for those that ended at once.
Recorded take_workgroups(timing::LaunchRecording& out, Replay& replay,
                         const std::vector<std::uint32_t>& place_of) {
  Recorded recorded;
  for (const auto& xcd : replay.xcds())
    for (const RecordedWorkgroup& one : xcd->recorded())
      recorded.most = std::max(recorded.most, instructions_of(*one.workgroup));
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>> cus;
  for (std::uint32_t x = 0; x < replay.xcds().size(); ++x) {
    for (const RecordedWorkgroup& one : replay.xcds()[x]->recorded())
      renumber(*one.workgroup, place_of);
    deal_out_misses(replay.xcds()[x]->recorded(), out.instructions);
    for (RecordedWorkgroup& one : replay.xcds()[x]->recorded()) {
      if (instructions_of(*one.workgroup) < kLeast * recorded.most) {
        ++recorded.ended;
        recorded.idle_instructions += instructions_of(*one.workgroup);
        continue;
      }
      cus[{x, one.cu}].push_back(out.workgroups.size());
      out.workgroups.push_back(std::move(*one.workgroup));
    }
  }
  for (auto& [place, workgroups] : cus) {
    timing::ComputeUnitRecording& cu = out.cus.emplace_back();
    cu.xcd = place.first;
    cu.cu = place.second;
    std::ranges::sort(workgroups, {}, [&](std::size_t n) { return out.workgroups[n].id; });
    for (const std::size_t n : workgroups) cu.workgroups.push_back(&out.workgroups[n]);
  }
  return recorded;
}

/// How the launch compares to what was watched.
struct Extent {
  bool is_sampled;
  double scale;    ///< Instructions of the launch to those that were watched.
  double working;  ///< Workgroups that were watched, less those that ended at once.
};

/// Sets how many workgroups of which lengths the launch has.
Extent set_workgroups(timing::LaunchRecording& out, const WatchedWork& watched,
                      const Recorded& recorded, const LaunchReport& launch) {
  Extent extent{};
  extent.is_sampled = watched.workgroups != out.grid;
  // Workgroups that were not watched may have more to do, or less.
  extent.scale = extent.is_sampled ? static_cast<double>(launch.wave_instructions) /
                                         static_cast<double>(watched.instructions)
                                   : 1;
  // Of long launches not all of these were recorded.
  const auto count =
      static_cast<double>(std::max<std::size_t>(out.workgroups.size() + recorded.ended, 1));
  const double watched_per_recorded = static_cast<double>(watched.workgroups) / count;
  // All of them, exactly, where none ended at once.
  extent.working = static_cast<double>(watched.workgroups) *
                   (static_cast<double>(out.workgroups.size()) / count);
  out.equivalent_workgroups = extent.scale * extent.working;
  out.workgroup_instructions = (static_cast<double>(watched.instructions) -
                                watched_per_recorded * recorded.idle_instructions) /
                               std::max(extent.working, 1.0);
  double fewest = recorded.most;
  for (const timing::WorkgroupRecording& group : out.workgroups)
    fewest = std::min(fewest, instructions_of(group));
  // Where those that were watched differ by less than by what the others have less to do, some of
  // the others do nothing.
  constexpr double kFewer = 0.02, kExplained = 0.5;
  const double fewer = 1 - out.equivalent_workgroups / static_cast<double>(out.grid);
  const bool others_end = extent.is_sampled && fewer > kFewer &&
                          recorded.most - fewest < kExplained * fewer * out.workgroup_instructions;
  const std::uint64_t grid = out.grid;
  out.lengths = lengths_of_working(watched.lengths, recorded.most);
  if (!extent.is_sampled) {
    out.grid -= recorded.ended;
  } else if (!out.lengths.empty()) {
    out.grid -= static_cast<std::uint64_t>(std::ranges::count(out.lengths, 0u));
    out.equivalent_workgroups =
        std::accumulate(out.lengths.begin(), out.lengths.end(), 0.0) / out.workgroup_instructions;
  } else if (recorded.ended != 0 || others_end) {
    out.grid = static_cast<std::uint64_t>(
        std::llround(std::max(extent.working, out.equivalent_workgroups)));
  }
  out.ended_at_once = grid - std::min(out.grid, grid);
  return extent;
}

void set_phases(timing::LaunchRecording& out, const WatchedWork& watched, double most,
                const std::vector<std::uint32_t>& place_of) {
  std::vector<timing::WorkgroupRecording> probes;
  for (const Probe& probe : watched.probes)
    if (probe.recording != nullptr && probe.instructions >= kLeast * most)
      probes.push_back(*probe.recording);
  for (timing::WorkgroupRecording& probe : probes) renumber(probe, place_of);
  // They come from host threads in any order.
  std::ranges::sort(probes, {}, &timing::WorkgroupRecording::id);
  divide_into_phases(out, std::move(probes));
}

/// What the launch reads and writes beyond L2.
void set_memory(timing::LaunchRecording& out, const Replay& replay, const TensorLines& tensors,
                const WatchedWork& watched, const Extent& extent, const Gpu& gpu) {
  using enum Counter;
  const Footprint footprint =
      extent.is_sampled
          ? Footprint(replay, tensors, watched.probes, watched.sample,
                      {.scale = extent.scale,
                       .watched = extent.working,
                       .others = std::max(0.0, out.equivalent_workgroups - extent.working),
                       .instructions = out.workgroup_instructions})
          : Footprint(replay, tensors);
  const FarReads reads = far_reads(replay, tensors, footprint, extent.scale);
  out.touched_bytes = touched_bytes(tensors, footprint);
  out.needed_far_lines =
      needed_far_lines(replay, tensors, static_cast<double>(watched.workgroups), out.resident);
  const double writes =
      extent.scale * static_cast<double>(watched.counters[TCC_EA0_WRREQ_sum]) * kSectorBytes;
  const double written = std::min(writes, written_once(replay, tensors, footprint, extent.scale));
  const auto room = static_cast<double>(gpu.infinity_cache_bytes);
  const bool has_all = out.is_warm && reads.footprint * kLineBytes + written <= room;
  const double cold = has_all ? 0 : reads.once;
  // Stores that make lines of L2 dirty go there even if no read misses L2.
  out.infinity_cache_hits = has_all ? 1 : reads.lines > 0 ? 1 - cold / reads.lines : 0;
  out.infinity_cache_write_hits = has_all ? 1 : writes > 0 ? 1 - written / writes : 0;
  const double generations =
      static_cast<double>(out.grid) / (static_cast<double>(out.resident) * gpu.compute_units());
  const double sharing = std::min<double>(reads.by_xcds / std::max(reads.footprint, 1.0), gpu.xcds);
  out.infinity_cache_ready =
      has_all    ? 1
      : cold > 0 ? timing::ready_in_infinity_cache(reads.lines / cold, generations, sharing)
                 : 0;
  out.memory_bytes = has_all ? 0 : cold * kLineBytes + written;
  // L2 holds no more of a whole launch than of a sample that has filled it.
  const auto dirty =
      kLineBytes * static_cast<double>(watched.counters[TCC_ALL_TC_OP_WB_WRITEBACK_sum]);
  double l2s = 1;
  if (extent.is_sampled) {
    const double read = kLineBytes * static_cast<double>(watched.counters[TCC_EA0_RDREQ_sum]);
    const double filled = (read + dirty) / gpu.arch().caches.l2_bytes();
    l2s = std::min(extent.scale, gpu.xcds / std::clamp(filled, 1e-9, 1.0));
  }
  out.dirty_bytes = l2s * dirty;
}

void set_operations(timing::LaunchRecording& out, const WatchedWork& watched,
                    const LaunchReport& launch, const Extent& extent) {
  using enum Counter;
  out.vector_flops = extent.scale * watched.vector_flops;
  constexpr double kOperations = 512;  // what one MOPS counts
  // What was not watched may have another share of matrix instructions.
  const auto matrix = static_cast<double>(watched.counters[SQ_INSTS_MFMA]);
  const double matrix_scale = extent.is_sampled && matrix > 0
                                  ? static_cast<double>(launch.mfma_instructions) / matrix
                                  : extent.scale;
  const auto flops = [&](Counter c) {
    return kOperations * matrix_scale * static_cast<double>(watched.counters[c]);
  };
  out.flops = out.vector_flops;
  for (const Counter c :
       {SQ_INSTS_VALU_MFMA_MOPS_I8, SQ_INSTS_VALU_MFMA_MOPS_F8, SQ_INSTS_VALU_MFMA_MOPS_F16,
        SQ_INSTS_VALU_MFMA_MOPS_BF16, SQ_INSTS_VALU_MFMA_MOPS_XF32, SQ_INSTS_VALU_MFMA_MOPS_F32,
        SQ_INSTS_VALU_MFMA_MOPS_F64})
    out.flops += flops(c);
  out.f16_flops = flops(SQ_INSTS_VALU_MFMA_MOPS_F16);
  out.bf16_flops = flops(SQ_INSTS_VALU_MFMA_MOPS_BF16);
  out.fp8_flops = flops(SQ_INSTS_VALU_MFMA_MOPS_F8) + flops(SQ_INSTS_VALU_MFMA_MOPS_I8);
  // A matrix unit at work is taken to draw as much for other types, of which it does less.
  out.bf16_flops += 2 * flops(SQ_INSTS_VALU_MFMA_MOPS_XF32) +
                    8 * flops(SQ_INSTS_VALU_MFMA_MOPS_F32) + 8 * flops(SQ_INSTS_VALU_MFMA_MOPS_F64);
}

}  // namespace

timing::LaunchRecording recording_of(const LaunchRequest& request, Program& program, Replay& replay,
                                     const TensorLines& tensors, const WatchedWork& watched,
                                     const LaunchReport& launch, const timing::TimeConfig& config) {
  timing::LaunchRecording out;
  out.grid = request.grid.count();
  out.is_warm = config.warm;
  out.host_arguments = config.host_arguments;
  const std::vector<std::uint32_t> place_of =
      set_instructions(out, program.facts<InstructionFacts>(), watched, program.gpu());
  set_residents(out, request, program.gpu());
  const Recorded recorded = take_workgroups(out, replay, place_of);
  const Extent extent = set_workgroups(out, watched, recorded, launch);
  if (needs_phases(out, extent.is_sampled)) set_phases(out, watched, recorded.most, place_of);
  set_memory(out, replay, tensors, watched, extent, program.gpu());
  set_operations(out, watched, launch, extent);
  return out;
}

}  // namespace margay::profile
