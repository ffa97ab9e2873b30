// `margay run -- CMD...`: starts any program so that its libamdhip64 is the virtual device. The
// options travel as environment variables, which the runtime reads when its device is first used.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/ranks.h"
#include "cli/process/start.h"

namespace margay::cli {

int run_main(std::span<char*> arguments) {
  const CommandLine line = split_command(
      arguments, {.always = {"--device", "--mfma", "--threads", "--event-time", "--ranks"}});

  CLI::App app{"Runs a HIP program or script against the virtual GPU.", "margay run"};
  app.footer(
      "  margay run -- ./saxpy\n  margay run --mfma fast --stats -- python3 bench.py\n"
      "  margay run --device mi300x -- ./saxpy\n"
      "  margay run --ranks 4 -- ./saxpy\n"
      "  mpirun -n 8 margay run -- ./saxpy\n"
      "  margay run --event-time modelled -- python3 autotune.py    (docs/time.md)");
  std::string mfma, device;
  unsigned threads = 0;
  std::string event_time;
  std::optional<unsigned> ranks;
  bool stats = false;
  add_device_options(app, device, mfma, threads);
  app.add_option("--event-time", event_time,
                 "what hipEventElapsedTime gives: host (default), or the device's time by a model, "
                 "modelled (at boost clock) or modelled-sustained; modelled-warm and "
                 "modelled-warm-sustained have the warm caches of a launch in a loop")
      ->check(CLI::IsMember(
          {"host", "modelled", "modelled-sustained", "modelled-warm", "modelled-warm-sustained"}))
      ->type_name("TIME");
  add_ranks_option(app, ranks);
  add_whole_pages_option(app);
  app.add_flag("--stats", stats, "print what the launches did when the program ends");
  if (const auto code = read_own_words(app, line, "run")) return *code;

  const Result<Install> install = find_runtime();
  if (!install) return report("run", install.error());
  setenv("LD_LIBRARY_PATH", library_path(*install).c_str(), 1);
  if (const std::string path = python_path(*install); !path.empty())
    setenv("PYTHONPATH", path.c_str(), 1);
  if (!device.empty()) setenv("MARGAY_DEVICE", device.c_str(), 1);
  if (!mfma.empty()) setenv("MARGAY_MFMA", mfma.c_str(), 1);
  if (threads != 0) setenv("MARGAY_THREADS", std::to_string(threads).c_str(), 1);
  if (!event_time.empty()) setenv("MARGAY_EVENT_TIME", event_time.c_str(), 1);
  const auto worked = share_launches(*install, ranks, threads);
  if (!worked) return report("run", worked.error());
  if (*worked) return **worked;
  if (stats) setenv("MARGAY_STATS", "1", 1);
  // A long launch shows its progress, unless the user has disabled it.
  if (isatty(STDERR_FILENO) != 0) setenv("MARGAY_PROGRESS", "1", /*overwrite=*/0);

  std::vector<char*> words(line.command.begin(), line.command.end());
  words.push_back(nullptr);
  execvp(words[0], words.data());
  return report("run", cannot_start(words[0], errno));
}

}  // namespace margay::cli
