#include "apps/fuzz/ranks.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/process/ranks.h"

namespace margay::fuzz {
namespace {

/// A batch takes seconds; a rank that needs so long is lost.
constexpr std::chrono::minutes kPatience{10};

Result<BatchResult> ask(ranks::Connection& connection, std::uint64_t batch, bool& lost) {
  lost = true;
  Writer out;
  out.put(batch);
  MARGAY_CHECK(connection.send(ranks::Message::run, out.data()));
  Bytes payload;
  (void)MARGAY_TRY(connection.receive(payload));
  Reader in(payload);
  const std::string error = in.get_text();
  const auto result = in.get<BatchResult>();
  if (!in.ok()) return fail(ErrorCode::system, "half an answer");
  lost = false;
  if (!error.empty()) return fail(ErrorCode::system, error);
  return result;
}

void serve_connection(ranks::Connection connection, const CampaignSettings& settings,
                      unsigned job) {
  auto runner = runner_of(settings, std::to_string(job));
  Bytes payload;
  while (connection.receive(payload)) {
    Reader in(payload);
    const auto batch = in.get<std::uint64_t>();
    if (!in.ok()) return;
    const auto result = runner ? run_batch(*runner, settings, batch)
                               : Result<BatchResult>(std::unexpected(runner.error()));
    Writer out;
    out.put_text(result ? "" : result.error().text());
    out.put(result.value_or(BatchResult{}));
    if (!connection.send(ranks::Message::ran, out.data())) return;
  }
}

}  // namespace

Result<RemoteRanks> RemoteRanks::gather(const cli::Launcher& launcher, unsigned jobs) {
  const std::string key = MARGAY_TRY(ranks::new_key());
  RemoteRanks out;
  out.ranks_ = MARGAY_TRY(cli::gather_ranks(launcher, key));
  for (const ranks::Joined& joined : out.ranks_)
    for (unsigned job = 0; job < jobs; ++job) {
      const auto connection = std::make_shared<ranks::Connection>(
          MARGAY_TRY(ranks::connect_to(joined.address, ranks::Role::leader, key)));
      connection->set_receive_limit(kPatience);
      const std::string name = fmt::format("rank {} ({})", joined.rank, joined.name);
      out.batches_.emplace_back([connection, name](std::uint64_t batch, bool& lost) {
        auto result = ask(*connection, batch, lost);
        if (lost)
          fmt::print(stderr, "margay fuzz: {} was lost: {}; its cases run again elsewhere\n", name,
                     result.error().what);
        return result;
      });
    }
  return out;
}

Status serve_batches(const cli::Launcher& launcher, const CampaignSettings& settings) {
  std::atomic<bool> stop = false;
  std::atomic<unsigned> jobs = 0;
  return cli::serve_rank_0(launcher, stop, [&](ranks::Connection connection) {
    serve_connection(std::move(connection), settings, jobs++);
  });
}

}  // namespace margay::fuzz
