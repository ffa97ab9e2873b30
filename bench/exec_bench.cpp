// Wave instructions per second on one host core, by kind of instruction. `items_per_second` counts
// the instructions of the kind; loop control adds 4 to every 64.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "code_object/bundle/find_image.h"
#include "code_object/code_object.h"
#include "exec/device/device.h"
#include "gpu/gfx942/gfx942.h"

namespace {

using namespace margay;

constexpr int kRounds = 200;
constexpr std::uint32_t kBlock = 256;

template <typename T>
T value_or_exit(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.error().text().c_str());
  std::exit(1);
}

Device& device() {
  static const std::unique_ptr<Device> one = value_or_exit(Device::create({.threads = 1}));
  return *one;
}
const std::shared_ptr<LoadedModule>& module() {
  static const std::shared_ptr<LoadedModule> one = [] {
    std::ifstream file(MARGAY_BENCH_KERNELS, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)),
                                  std::istreambuf_iterator<char>());
    std::vector<std::byte> image(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) image[i] = static_cast<std::byte>(bytes[i]);
    return value_or_exit(
        device().load(value_or_exit(CodeObject::parse(value_or_exit(find_image(image, kGfx942))))));
  }();
  return one;
}

void run(benchmark::State& state, const char* name) {
  struct {
    void* out;
    int rounds;
  } arguments{value_or_exit(device().memory().allocate(1 << 20, "out")), kRounds};
  LaunchRequest request;
  request.module = module();
  request.kernel = module()->object().find_kernel(name);
  request.block = {kBlock, 1, 1};
  request.dynamic_lds_bytes = 16 * 1024;
  request.arguments = std::as_bytes(std::span(&arguments, 1));
  if (request.kernel == nullptr) {
    state.SkipWithError("no such kernel");
    return;
  }
  for (auto _ : state)
    benchmark::DoNotOptimize(value_or_exit(device().launch(request)).wave_instructions);
  state.SetItemsProcessed(state.iterations() * kRounds * 64 * (kBlock / 64));
}

#define MARGAY_EXEC_BENCH(kernel) \
  BENCHMARK_CAPTURE(run, kernel, #kernel)->Unit(benchmark::kMillisecond)
MARGAY_EXEC_BENCH(valu_fma_f32);
MARGAY_EXEC_BENCH(valu_add_u32);
MARGAY_EXEC_BENCH(valu_pk_fma_f32);
MARGAY_EXEC_BENCH(valu_pk_fma_f16);
MARGAY_EXEC_BENCH(salu_add_u32);
MARGAY_EXEC_BENCH(lds_read_b64);
MARGAY_EXEC_BENCH(lds_read_b64_spread);
MARGAY_EXEC_BENCH(lds_read_b64_rows);
MARGAY_EXEC_BENCH(lds_read_b128);
MARGAY_EXEC_BENCH(global_load_x4);

}  // namespace

BENCHMARK_MAIN();
