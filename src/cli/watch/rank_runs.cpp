#include "cli/watch/rank_runs.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>

#include "cli/process/ranks.h"
#include "report/check/json.h"

namespace margay::cli {
namespace {

/// A rank that does not answer for so much longer than its run may take is lost.
constexpr double kLate = 60;  // seconds

void serve_connection(ranks::Connection connection, const Install& install,
                      const CheckOptions& options, const std::vector<std::string>& command,
                      const std::atomic<bool>& stop) {
  Bytes payload;
  while (connection.receive(payload)) {
    Reader in(payload);
    RunOrder order;
    order.limit_seconds = in.get<double>();
    while (!in.at_end()) {
      std::string name = in.get_text();
      order.environment.emplace_back(std::move(name), in.get_text());
    }
    if (!in.ok()) return;
    const auto result = run_here(install, options, command, order, stop);
    Writer out;
    out.put_text(result ? "" : result.error().text());
    if (result) {
      out.put(result->end);
      out.put_text(check::json_of(result->report));
    }
    if (!connection.send(ranks::Message::ran, out.data())) return;
  }
}

}  // namespace

Result<RunResult> run_here(const Install& install, const CheckOptions& options,
                           const std::vector<std::string>& command, const RunOrder& order,
                           const std::atomic<bool>& stop) {
  ChildPlan plan;
  plan.command = command;
  plan.environment = order.environment;
  plan.silent = true;
  plan.limit = std::chrono::duration<double>(order.limit_seconds);
  plan.stop = &stop;
  CheckedRun run = MARGAY_TRY(run_checked(install, options, std::move(plan)));
  if (!run.reports.unreadable.empty()) return std::unexpected(run.reports.unreadable.front());
  return RunResult{run.end, std::move(run.reports.merged)};
}

Result<RunResult> RemoteRuns::run(const RunOrder& order, bool& lost) {
  lost = true;
  connection_.set_receive_limit(
      std::chrono::seconds(static_cast<std::int64_t>(order.limit_seconds + kLate)));
  Writer out;
  out.put(order.limit_seconds);
  for (const auto& [name, value] : order.environment) {
    out.put_text(name);
    out.put_text(value);
  }
  MARGAY_CHECK(connection_.send(ranks::Message::run, out.data()));
  Bytes payload;
  (void)MARGAY_TRY(connection_.receive(payload));
  Reader in(payload);
  if (const std::string error = in.get_text(); !error.empty()) {
    lost = false;
    return fail(ErrorCode::system, fmt::format("{}: {}", name_, error));
  }
  RunResult result;
  result.end = in.get<ChildEnd>();
  const std::string report = in.get_text();
  if (!in.ok()) return fail(ErrorCode::system, "half an answer");
  result.report = MARGAY_TRY(check::parse_report(report));
  lost = false;
  return result;
}

Result<RankRuns> RankRuns::gather(const Launcher& launcher, unsigned jobs) {
  const std::string key = MARGAY_TRY(ranks::new_key());
  RankRuns out;
  out.ranks_ = MARGAY_TRY(gather_ranks(launcher, key));
  for (const ranks::Joined& joined : out.ranks_)
    for (unsigned job = 0; job < jobs; ++job)
      out.remotes_.emplace_back(
          MARGAY_TRY(ranks::connect_to(joined.address, ranks::Role::leader, key)),
          fmt::format("rank {} ({})", joined.rank, joined.name));
  return out;
}

Status serve_runs(const Launcher& launcher, const Install& install, const CheckOptions& options,
                  const std::vector<std::string>& command) {
  std::atomic<bool> stop = false;
  return serve_rank_0(launcher, stop, [&](ranks::Connection connection) {
    serve_connection(std::move(connection), install, options, command, stop);
  });
}

}  // namespace margay::cli
