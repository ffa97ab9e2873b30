#include "ranks/session.h"

#include <fmt/format.h>

#include "ranks/pages/page.h"

namespace margay::ranks {

Result<std::unique_ptr<Session>> Session::open(unsigned rank, const std::string& address,
                                               std::string_view key, const Hello& hello, Say say) {
  Connection connection = MARGAY_TRY(connect_to(address, Role::leader, key));
  const std::chrono::seconds silence(hello.silence);
  connection.set_receive_limit(silence);
  Writer words;
  encode(words, hello);
  MARGAY_CHECK(connection.send(Message::hello, words.data()));
  Bytes payload;
  (void)MARGAY_TRY(connection.receive(payload));
  Reader answer(payload);
  const std::string refusal = answer.get_text();
  const auto threads = answer.get<std::uint32_t>();
  std::string name = answer.get_text();
  if (!refusal.empty() || !answer.ok())
    return fail(ErrorCode::invalid_argument, refusal, name,
                "use hosts of one kind, or set MARGAY_HOST_LEVEL, or use --mfma exact");
  return std::unique_ptr<Session>(
      new Session(rank, std::move(name), threads, std::move(connection), silence, std::move(say)));
}

Session::Session(unsigned rank, std::string name, unsigned threads, Connection connection,
                 std::chrono::seconds silence, Say say)
    : rank_(rank),
      name_(std::move(name)),
      threads_(std::max(1u, threads)),
      silence_(silence),
      say_(std::move(say)),
      connection_(std::move(connection)),
      thread_([this] { serve(); }) {}

Session::~Session() {
  connection_.shut_down();
  thread_.join();
}

void Session::begin(const std::shared_ptr<SpreadLaunch>& launch) {
  const std::lock_guard lock(mutex_);
  if (lost_ || launch_ || !launch->join(rank_)) return;
  launch_ = launch;
  heard_ = Clock::now();
  const LaunchWords& words = launch->words();
  Writer out;
  out.put(words);
  out.put_all(launch->observer_setup());
  if (modules_.insert(words.module).second) out.put_bytes(launch->object().elf());
  // If that fails, the thread notices.
  if (!send(Message::launch, out)) connection_.shut_down();
}

void Session::serve() {
  Bytes payload;
  while (true) {
    if (!connection_.is_readable(std::chrono::milliseconds(500))) {
      if (is_silent())
        return lose(
            {ErrorCode::system, fmt::format("nothing was heard of it for {} s", silence_.count())});
      continue;
    }
    const Result<Message> message = connection_.receive(payload);
    if (!message) return lose(message.error());
    if (heard_.load() != kNever) heard_ = Clock::now();
    if (*message == Message::alive) continue;
    if (!answer(*message, payload))
      return lose({ErrorCode::system, "the connection broke while it was answered"});
  }
}

bool Session::send(Message message, const Writer& words) {
  return connection_.send(message, words.data()).has_value();
}

bool Session::answer(Message message, std::span<const std::byte> payload) {
  std::shared_ptr<SpreadLaunch> launch;
  {
    const std::lock_guard lock(mutex_);
    launch = launch_;
  }
  if (!launch) return false;
  Reader in(payload);
  Writer out;
  switch (message) {
    case Message::check:
      while (!in.at_end()) {
        const auto address = in.get<std::uint64_t>();
        out.put(launch->fingerprints().of(address) == in.get<std::uint64_t>());
      }
      break;
    case Message::fetch: {
      Page page;
      read_page(page_of(in.get<std::uint64_t>()), page);
      out.put(fingerprint(page));
      put_page(out, page);
      break;
    }
    case Message::range: {
      const auto address = in.get<std::uint64_t>();
      out.put(launch->range(address, in.get<std::uint8_t>() != 0));
      break;
    }
    case Message::ask:
      out.put_bytes(launch->answer(in.get_bytes(in.left())));
      break;
    case Message::more:
      out.put(launch->more(rank_));
      break;
    case Message::done:
    case Message::refuse: {
      const std::lock_guard lock(mutex_);
      launch_.reset();
      heard_ = kNever;
      if (message == Message::refuse) {
        (void)launch->left(rank_, in.get_text(), /*is_of_kernel=*/true);
        return in.ok();
      }
      const auto counts = in.get<Counts>();
      const auto observed = in.get_bytes(in.get<std::uint64_t>());
      const auto words = in.get_all<CombinedWord>();
      if (!in.ok()) return false;
      if (!launch->done(rank_, counts, observed, words, in.get_bytes(in.left())))
        (void)launch->left(rank_, "unwanted", /*is_of_kernel=*/false);
      return true;
    }
    default:
      return false;
  }
  launch->count_sent(out.data().size());
  return in.ok() && send(message, out);
}

bool Session::is_silent() const {
  const Clock::time_point heard = heard_;
  return heard != kNever && Clock::now() - heard > silence_;
}

void Session::lose(const Error& error) {
  // A worker that only slept ends, and so does a begin() that waits for it.
  connection_.shut_down();
  const std::lock_guard lock(mutex_);
  lost_ = true;
  heard_ = kNever;
  const std::shared_ptr<SpreadLaunch> launch = std::exchange(launch_, nullptr);
  if (!launch) return;
  const std::string during =
      fmt::format("during launch {} of {}", launch->words().number, launch->kernel());
  const std::uint64_t count = launch->left(rank_, "lost", /*is_of_kernel=*/false);
  const std::string again = count == 0 ? "it had no workgroups"
                            : count == 1
                                ? "its 1 workgroup runs again elsewhere"
                                : fmt::format("its {} workgroups run again elsewhere", count);
  say_(fmt::format("rank {} ({}) was lost {}: {}; {}", rank_, name_, during, error.what, again));
}

}  // namespace margay::ranks
