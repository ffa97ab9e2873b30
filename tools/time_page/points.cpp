#include "points.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "timing/compute_unit.h"

namespace margay::time_page {
namespace {

using timing::Instruction;
using timing::Unit;

constexpr unsigned kTrips = 500;

/// Cycles from trip to trip of waves that each execute `trip` over and over: of a run of twice as
/// many trips without what the shorter one took, so that the start is not counted.
template <typename Fill>
double cycles_per_trip(const std::vector<Instruction>& instructions, unsigned waves, Fill&& fill) {
  const Gpu& gpu = default_gpu();
  double cycles[2];
  for (unsigned run = 0; run < 2; ++run) {
    timing::WorkgroupRecording group;
    group.waves.resize(waves);
    for (timing::WaveRecording& wave : group.waves)
      for (unsigned n = 0; n < (run + 1) * kTrips; ++n) fill(wave, n);
    const timing::ComputeUnitRecording cu{0, 0, {&group}};
    cycles[run] = timing::replay(cu, instructions, {1}, gpu, timing::parameters_of(gpu), {}).cycles;
  }
  return (cycles[1] - cycles[0]) / kTrips;
}

/// v: VALU, e: exp, p: packed f32, M: 16x16x16 bf16.
Instruction instruction_of(char letter) {
  Instruction i;
  if (letter == 'e') i.unit = Unit::transcendental;
  if (letter == 'p') i.unit = Unit::packed;
  if (letter == 'M') i.unit = Unit::matrix, i.turns = 4;
  return i;
}

double sequence(std::string_view letters) {
  std::vector<Instruction> instructions;
  for (const char letter : letters) instructions.push_back(instruction_of(letter));
  return cycles_per_trip(instructions, 1, [&](timing::WaveRecording& wave, unsigned) {
    for (std::uint32_t n = 0; n < letters.size(); ++n) wave.instructions.push_back(n);
  });
}

/// Two waves on one SIMD. While one executes a thousand of `anchor`, the other executes as many
/// times `letters`; then they change roles. Cycles for each of the thousand.
double two_waves(char anchor, std::string_view letters) {
  constexpr unsigned kRun = 1000, kSwaps = 10;
  std::vector<Instruction> instructions{instruction_of(anchor), {.unit = Unit::barrier}};
  for (const char letter : letters) instructions.push_back(instruction_of(letter));
  const Gpu& gpu = default_gpu();
  timing::WorkgroupRecording group;
  group.waves.resize(gpu.arch().cu.simds + 1);  // the first and the last share a SIMD
  const auto run = [&](timing::WaveRecording& wave, bool is_anchor) {
    for (unsigned n = 0; n < kRun; ++n)
      if (is_anchor)
        wave.instructions.push_back(0);
      else
        for (std::uint32_t k = 0; k < letters.size(); ++k) wave.instructions.push_back(2 + k);
    wave.instructions.push_back(1);
  };
  for (unsigned swap = 0; swap < kSwaps; ++swap) {
    run(group.waves.front(), swap % 2 == 0);
    run(group.waves.back(), swap % 2 != 0);
  }
  const timing::ComputeUnitRecording cu{0, 0, {&group}};
  return timing::replay(cu, instructions, {1}, gpu, timing::parameters_of(gpu), {}).cycles /
         (kRun * kSwaps);
}

/// Lane n reads dword n * stride; four waves, of which each waits for the eighth read before.
double lds_stride(unsigned ways) {
  Instruction read, wait, scalar;
  read.unit = Unit::lds;
  read.counts_lgkm = read.has_work = true;
  read.lane_bytes_in = 4;
  wait.unit = Unit::wait;
  wait.wait_lgkm = 8;
  scalar.unit = Unit::salu;
  constexpr unsigned kWaves = 4;
  return cycles_per_trip({read, wait, scalar}, kWaves,
                         [&](timing::WaveRecording& wave, unsigned n) {
                           wave.instructions.insert(wave.instructions.end(), {0, 1, 2});
                           // The loop's own instructions: 3.2 turns for a read.
                           if (n % 5 == 0) wave.instructions.push_back(2);
                           wave.memory.push_back({.cycles = static_cast<std::uint16_t>(2 * ways)});
                         }) /
         kWaves;
}

std::string words_of(std::string_view letters) {
  std::string out;
  for (std::size_t n = 0; n < letters.size();) {
    std::size_t same = n;
    while (same < letters.size() && letters[same] == letters[n]) ++same;
    if (!out.empty()) out += ", ";
    if (same - n > 1) out += std::to_string(same - n) + ' ';
    out += letters[n] == 'v'   ? "VALU"
           : letters[n] == 'e' ? "exp"
           : letters[n] == 'p' ? "packed f32"
                               : "MFMA";
    n = same;
  }
  return out;
}

}  // namespace

std::vector<Point> points() {
  constexpr std::pair<const char*, double> kSequences[] = {
      {"v", 4.01},    {"e", 16.0},      {"Mv", 16.0},      {"Mvv", 16.0},
      {"Mvvv", 16.0}, {"Mvvvv", 20.03}, {"Me", 20.056},    {"Mee", 36.0},
      {"Mp", 28.0},   {"Mpp", 32.0},    {"Mppp", 36.0},    {"Mpppp", 40.0},
      {"ev", 20.0},   {"ee", 32.0},     {"MvvvMe", 36.05}, {"MMvvve", 48.05}};
  std::vector<Point> out;
  for (const auto& [letters, cycles] : kSequences)
    out.push_back({"co-issue", words_of(letters), cycles, sequence(letters),
                   "tingqli/pyhip 649e124, mfma-valu-coissue.md"});
  struct TwoWaves {
    char anchor;
    const char* letters;
    double cycles;
  };
  constexpr TwoWaves kTwoWaves[] = {
      {'M', "v", 16.01},  {'M', "vv", 16.01}, {'M', "vvv", 16.02}, {'M', "vvvv", 19.99},
      {'M', "e", 20.02},  {'M', "ee", 35.99}, {'M', "eee", 51.99}, {'M', "eeee", 67.99},
      {'M', "p", 20.99},  {'M', "pp", 25.99}, {'M', "ppp", 30.99}, {'M', "pppp", 35.99},
      {'e', "v", 20.008}, {'e', "e", 32.008}, {'e', "p", 20.51}};
  for (const TwoWaves& two : kTwoWaves)
    out.push_back({"co-issue of two waves",
                   words_of({&two.anchor, 1}) + " | " + words_of(two.letters), two.cycles,
                   two_waves(two.anchor, two.letters),
                   "tingqli/pyhip 649e124, mfma-valu-coissue.md"});
  for (unsigned stride = 1; stride <= 18; ++stride) {
    unsigned ways = 1;
    while (stride % (2 * ways) == 0 && ways < 32) ways *= 2;
    out.push_back({"LDS stride", std::to_string(stride), std::max(3.2, 2.0 * ways),
                   lds_stride(ways), "tingqli/pyhip 649e124, archive/bank-conflict"});
  }
  return out;
}

}  // namespace margay::time_page
