// `margay devices`: the machines that --device and MARGAY_DEVICE choose from.
#include <cstdlib>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "gpu/gpu.h"

namespace margay::cli {

int devices_main(std::span<char*> arguments) {
  CLI::App app{"Lists the virtual devices. * is the one that programs find.", "margay devices"};
  app.footer("  margay run --device mi300x -- ./saxpy\n  MARGAY_DEVICE=mi300a ./saxpy");
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  const char* const chosen = std::getenv("MARGAY_DEVICE");
  const auto in_use = find_gpu(chosen == nullptr ? "" : chosen);
  if (!in_use) {
    Error error = in_use.error();
    error.where = "MARGAY_DEVICE";
    return report("devices", error);
  }
  fmt::print("  {:<8}{:<22}{:<11}{:>5}{:>6}{:>11}  {:<7}{:>9}{:>10}\n", "NAME", "DEVICE",
             "PROCESSOR", "XCDs", "CUs", "MEMORY", "", "TB/s", "CLOCK");
  for (const Gpu& gpu : all_gpus())
    fmt::print("{} {:<8}{:<22}{:<11}{:>5}{:>6}{:>7} GiB  {:<7}{:>9.1f}{:>6} MHz\n",
               &gpu == *in_use ? '*' : ' ', gpu.option, gpu.name, gpu.arch().processor, gpu.xcds,
               gpu.compute_units(), gpu.memory_bytes >> 30, gpu.memory_kind,
               gpu.memory_bytes_per_second / 1e12, gpu.clock_khz / 1000);
  return kExitOk;
}

}  // namespace margay::cli
