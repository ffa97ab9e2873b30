#include "cli/process/launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace margay::cli {
namespace {

std::string text_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<unsigned> number_of(const char* name) {
  const std::string text = text_of(name);
  unsigned out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return out;
}

std::optional<Launcher> read(const char* name, const char* rank, const char* ranks,
                             const char* on_this_host) {
  const auto number = number_of(rank), count = number_of(ranks);
  if (!number || !count || *number >= *count) return {};
  return Launcher{name, *number, *count, number_of(on_this_host).value_or(0), ""};
}

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

std::optional<Launcher> found() {
  if (auto out = read("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                      "OMPI_COMM_WORLD_LOCAL_SIZE")) {
    // Random bits of each run; version 5 has its own name for it.
    out->job = text_of("OMPI_MCA_orte_precondition_transports");
    if (out->job.empty()) out->job = text_of("PMIX_NAMESPACE");
    // It becomes part of a file's name; version 5 has an @ in it.
    for (char& c : out->job)
      if (!is_of_name(c)) c = '_';
    return out;
  }
  if (number_of("MPI_LOCALNRANKS")) return read("MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS");
  // Of a batch script, which is not a step, srun has started one process.
  if (!text_of("SLURM_STEP_ID").empty()) {
    auto out = read("Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "");
    if (!out) return {};
    out->job = text_of("SLURM_JOB_ID") + "." + text_of("SLURM_STEP_ID");
    if (text_of("SLURM_STEP_NUM_NODES") == "1") out->on_this_host = out->ranks;
    return out;
  }
  return {};
}

}  // namespace

std::optional<Launcher> launcher() {
  // Set by rank 0 for its program, which may start margay again, or to "off" by the user.
  if (std::getenv("MARGAY_RANKS") != nullptr) return {};
  auto out = found();
  if (!out || out->ranks == 1) return {};
  if (const std::string job = text_of("MARGAY_RANKS_JOB"); !job.empty()) out->job = job;
  return out;
}

Result<std::filesystem::path> Launcher::meeting_file() const {
  std::string id = job;
  if (id.empty()) {
    if (!is_on_one_host())
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} does not say which ranks belong to one run", name), {},
                  "set MARGAY_RANKS_JOB to a name of this run on all hosts: "
                  "mpirun -genv MARGAY_RANKS_JOB run1 ...");
    id = fmt::format("of-{}", getppid());  // the launcher's process, of all ranks of a host
  }
  if (!std::ranges::all_of(id, is_of_name))
    return fail(ErrorCode::invalid_argument,
                fmt::format("MARGAY_RANKS_JOB is {}, which is no part of a file's name", id), {},
                "use letters, digits, '-', '_' and '.'");
  std::error_code error;
  std::filesystem::path folder = text_of("MARGAY_RANKS_DIR");
  if (folder.empty())
    folder = is_on_one_host() ? std::filesystem::temp_directory_path(error)
                              : std::filesystem::current_path(error);
  if (error) return fail(ErrorCode::system, "no folder for ranks to meet: " + error.message());
  return folder / fmt::format(".margay-ranks-{}-{}", getuid(), id);
}

Result<std::chrono::seconds> Launcher::patience() {
  constexpr unsigned kDefault = 60;
  const std::string text = text_of("MARGAY_RANKS_WAIT");
  if (text.empty()) return std::chrono::seconds(kDefault);
  const auto seconds = number_of("MARGAY_RANKS_WAIT");
  if (!seconds || *seconds == 0)
    return fail(ErrorCode::invalid_argument,
                fmt::format("MARGAY_RANKS_WAIT is {}, which is no number of seconds", text));
  return std::chrono::seconds(*seconds);
}

std::optional<int> leave_to_rank_0(std::string_view subcommand) {
  const auto started = launcher();
  if (!started) return {};
  if (started->rank != 0) return 0;
  // Also for what the program starts.
  setenv("MARGAY_RANKS", "off", 1);
  fmt::print(stderr,
             "margay {}: runs in one process, on rank 0; the other {} ranks of {} have nothing to "
             "do (MARGAY_RANKS=off makes each a run of its own)\n",
             subcommand, started->ranks - 1, started->name);
  return {};
}

}  // namespace margay::cli
