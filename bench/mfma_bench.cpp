// ns per matrix instruction, per mode and host level, one by one and in groups. Operands are
// standard normal; the groups are a 4x4 block of accumulators over two steps of k, as a GEMM kernel
// issues them. 16x16x16 is 8192 FLOP, 32x32x8 is 16384.
//
//   mfma_bench --benchmark_filter=16x16x16_bf16
#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "mfma/mfma.h"

namespace margay {
namespace {

constexpr int kLanes = 64;
constexpr int kTile = 4;   // accumulators per side of the group's block
constexpr int kSteps = 2;  // of k in a group

struct alignas(64) Registers {
  std::uint32_t words[512 * kLanes];
  std::uint32_t* row(int number) { return words + number * kLanes; }
};

/// Standard normal values, their magnitudes, or with a bf16 denormal in every hundredth dword.
enum class Values { normal, positive, blemished };

void fill(std::uint32_t* rows, int count, MfmaType type, std::mt19937& random, Values values) {
  std::normal_distribution<float> normal;
  const auto value = [&] {
    return values == Values::positive ? std::abs(normal(random)) : normal(random);
  };
  for (int n = 0; n < count * kLanes; ++n) {
    const auto upper = [&] { return std::bit_cast<std::uint32_t>(value()) >> 16; };
    const auto half = [&] {  // rounds toward zero; the values are far from f16's ends
      const auto bits = std::bit_cast<std::uint32_t>(value());
      const std::uint32_t exponent = bits >> 23 & 255;
      return exponent < 113 ? 0u
                            : (bits >> 16 & 0x8000) | (exponent - 112) << 10 | (bits >> 13 & 0x3ff);
    };
    switch (type) {
      case MfmaType::bf16:
        rows[n] = upper() | upper() << 16;
        if (values == Values::blemished && random() % 100 == 0)
          rows[n] = (rows[n] & 0xffff0000) | 1;
        break;
      case MfmaType::f16:
        rows[n] = half() | half() << 16;
        break;
      case MfmaType::f32:
      case MfmaType::xf32:
        rows[n] = std::bit_cast<std::uint32_t>(value());
        break;
      case MfmaType::fp8:
      case MfmaType::bf8:
        rows[n] = (random() & 0x9f9f9f9f) | 0x20202020;
        break;
      default:
        rows[n] = static_cast<std::uint32_t>(random()) & 0xbfffffff;
        break;
    }
  }
}

struct Case {
  Registers registers;
  std::vector<MfmaStep> steps;
  int result_rows;

  void clear_results() {
    std::memset(registers.row(32), 0, static_cast<std::size_t>(result_rows) * kLanes * 4);
  }
  Case(const MfmaShape& shape, Values values) {
    std::mt19937 random(1);
    fill(registers.row(0), 32, shape.a, random, values);
    result_rows = std::min(kTile * kTile * static_cast<int>(shape.d_registers), 480);
    clear_results();
    for (int step = 0; step < kSteps; ++step)
      for (int i = 0; i < kTile; ++i)
        for (int j = 0; j < kTile; ++j) {
          const int d = 32 + (i * kTile + j) * shape.d_registers % 480;
          steps.push_back({.d = d,
                           .a = (step * kTile + i) * shape.a_registers,
                           .b = 16 + (step * kTile + j) * shape.b_registers,
                           .c = d});
        }
  }
};

void run(benchmark::State& state, const MfmaShape& shape, MfmaMode mode, std::string_view level,
         bool grouped, Values values) {
  const auto data = std::make_unique<Case>(shape, values);
  const MfmaKernel kernel = mfma_kernel(shape, mode, level);
  const auto prepared = prepare_mfma_run(shape, kernel, data->steps);
  std::uint32_t* const rows = data->registers.row(0);
  mfma_thread_begin();
  std::size_t rounds = 0;
  for (auto _ : state) {
    if (grouped)
      prepared->execute(rows);
    else
      for (const MfmaStep& step : data->steps) kernel.run(operands_of(step, rows));
    // Sums of the same products grow as fast as k, others as its square root: after 16 steps C is
    // as large as that of a GEMM after 256.
    if (++rounds % (16 / kSteps) == 0) data->clear_results();
  }
  mfma_thread_end();
  const auto instructions = static_cast<double>(data->steps.size());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(data->steps.size()));
  state.counters["ns/instruction"] =
      benchmark::Counter(instructions * 1e-9, benchmark::Counter::kIsIterationInvariantRate |
                                                  benchmark::Counter::kInvert);
}

void add_benchmarks() {
  constexpr std::pair<MfmaMode, const char*> modes[] = {
      {MfmaMode::exact, "exact"}, {MfmaMode::fma, "fma"}, {MfmaMode::fast, "fast"}};
  for (const MfmaShape& shape : kMfmaShapes)
    for (const std::string_view level : mfma_levels())
      for (const auto& [mode, name] : modes)
        for (const bool grouped : {false, true}) {
          const std::string text = std::string(shape.mnemonic.substr(7)) + "/" + name + "/" +
                                   std::string(level) + (grouped ? "/group" : "/single");
          benchmark::RegisterBenchmark(
              text.c_str(), [&shape, mode = mode, level, grouped](benchmark::State& state) {
                run(state, shape, mode, level, grouped, Values::normal);
              });
          const auto add = [&](const char* name, Values values) {
            benchmark::RegisterBenchmark((text + name).c_str(), [&shape, mode = mode, level,
                                                                 values](benchmark::State& state) {
              run(state, shape, mode, level, false, values);
            });
          };
          if (mode != MfmaMode::exact || grouped) continue;
          add("/positive", Values::positive);
          if (shape.a == MfmaType::bf16) add("/blemished", Values::blemished);
        }
}

}  // namespace
}  // namespace margay

int main(int argc, char** argv) {
  margay::add_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
