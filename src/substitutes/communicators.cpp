#include "substitutes/communicators.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <tuple>

namespace margay::substitutes {
namespace {

using Seconds = std::chrono::seconds;
constexpr Seconds kPatience{30};    // then stderr says for whom a rank waits
constexpr Seconds kTimeToJoin{60};  // ranks of other processes never do

std::string in_words(int rank, const Call& call) {
  std::string words = "rank " + std::to_string(rank) + " calls " + call.function + " with " +
                      std::to_string(call.count) + " elements of " + name_of_type(call.type);
  constexpr const char* kOperations[] = {"sum", "prod", "max", "min", "avg"};
  switch (call.kind) {
    case Kind::all_reduce:
    case Kind::reduce_scatter:
      return words + ", " + kOperations[call.operation];
    case Kind::reduce:
      return words + ", " + kOperations[call.operation] + ", root " + std::to_string(call.peer);
    case Kind::broadcast:
      return words + ", root " + std::to_string(call.peer);
    case Kind::split:
      return "rank " + std::to_string(rank) + " calls " + call.function;
    default:
      return words;
  }
}

bool agree(const Call& a, const Call& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == Kind::split) return true;
  return std::tie(a.count, a.type, a.operation, a.peer) ==
         std::tie(b.count, b.type, b.operation, b.peer);
}

std::size_t bytes(const Call& call) { return call.count * size_of_type(call.type); }

}  // namespace

Answer World::join(int rank, int device) {
  const std::lock_guard lock(mutex_);
  Member& member = members_[static_cast<std::size_t>(rank)];
  if (member.device != -1)
    return {kInvalidArgument, "there is a rank " + std::to_string(rank) + " already"};
  for (std::size_t other = 0; other < members_.size(); ++other)
    if (members_[other].device == device)
      return {kInvalidUsage, "ranks " + std::to_string(other) + " and " + std::to_string(rank) +
                                 " are both on device " + std::to_string(device) +
                                 "; call hipSetDevice before, each rank needs a device of its own"};
  member.device = device;
  finished_.notify_all();
  return {};
}

bool World::all_joined() const {
  return std::ranges::all_of(members_, [](const Member& m) { return m.device != -1; });
}

void World::leave(int rank) {
  const std::lock_guard lock(mutex_);
  members_[static_cast<std::size_t>(rank)].left = true;
  const Answer gone{kRemoteError, "the communicator of rank " + std::to_string(rank) +
                                      " was destroyed before it called what others wait for"};
  std::vector<std::shared_ptr<Made>> failed;
  std::erase_if(collectives_, [&](const auto& entry) {
    const bool waits = !entry.second->arrived[static_cast<std::size_t>(rank)];
    if (waits) failed.push_back(entry.second);
    return waits;
  });
  std::erase_if(messages_, [&](const auto& entry) {
    const bool waits = entry.first.first == rank || entry.first.second == rank;
    if (waits) failed.insert(failed.end(), entry.second.begin(), entry.second.end());
    return waits;
  });
  for (const auto& made : failed) finish(made, gone);
}

int World::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void World::finish(const std::shared_ptr<Made>& made, Answer answer) {
  made->done = true;
  made->answer = std::move(answer);
  if (made->answer.status != kSuccess) failure_ = made->answer.status;
  finished_.notify_all();
}

std::shared_ptr<Made> World::make(int rank, const Call& call) {
  const std::lock_guard lock(mutex_);
  const bool message = call.kind == Kind::send || call.kind == Kind::receive;
  return message ? make_message(rank, call) : make_collective(rank, call);
}

std::shared_ptr<Made> World::began(int rank, const Call& call) {
  auto made = std::make_shared<Made>();
  made->calls.resize(members_.size());
  made->arrived.resize(members_.size());
  made->calls[static_cast<std::size_t>(rank)] = call;
  made->arrived[static_cast<std::size_t>(rank)] = true;
  return made;
}

std::shared_ptr<Made> World::make_collective(int rank, const Call& call) {
  const std::uint64_t number = members_[static_cast<std::size_t>(rank)].collectives++;
  std::shared_ptr<Made>& entry = collectives_[number];
  if (entry == nullptr) {
    entry = began(rank, call);
  } else {
    entry->calls[static_cast<std::size_t>(rank)] = call;
    entry->arrived[static_cast<std::size_t>(rank)] = true;
  }
  const std::shared_ptr<Made> made = entry;
  // A rank that has left, or calls another function, will never agree: all get the error at once.
  for (int other = 0; other < ranks(); ++other) {
    const auto at = static_cast<std::size_t>(other);
    if (made->arrived[at] && !agree(made->calls[at], call)) {
      const int first = std::min(rank, other), second = std::max(rank, other);
      finish(made, {kInvalidArgument,
                    in_words(first, made->calls[static_cast<std::size_t>(first)]) + ", and " +
                        in_words(second, made->calls[static_cast<std::size_t>(second)]) +
                        ": the ranks of a communicator must call the same, in the same order"});
      return made;
    }
    if (members_[at].left && !made->arrived[at] && !made->done)
      finish(made, {kRemoteError, "the communicator of rank " + std::to_string(other) +
                                      " was destroyed, so it cannot take part"});
  }
  if (!made->done && std::ranges::all_of(made->arrived, [](bool b) { return b; }))
    finish(made, execute(made->calls));
  if (std::ranges::all_of(made->arrived, [](bool b) { return b; })) collectives_.erase(number);
  return made;
}

std::shared_ptr<Made> World::make_message(int rank, const Call& call) {
  const bool sends = call.kind == Kind::send;
  const int sender = sends ? rank : call.peer, receiver = sends ? call.peer : rank;
  Messages& waiting = messages_[{sender, receiver}];
  const auto end_of = [](const Made& made) {
    const auto at = std::ranges::find(made.arrived, true) - made.arrived.begin();
    return made.calls[static_cast<std::size_t>(at)];
  };
  auto made = began(rank, call);
  if (members_[static_cast<std::size_t>(call.peer)].left) {
    finish(made, {kRemoteError, "the communicator of rank " + std::to_string(call.peer) +
                                    " was destroyed, so it cannot take part"});
    return made;
  }
  if (waiting.empty() || end_of(*waiting.front()).kind == call.kind) {
    waiting.push_back(made);
    return made;
  }
  const std::shared_ptr<Made> other = waiting.front();
  waiting.pop_front();
  const Call& send = sends ? call : end_of(*other);
  const Call& receive = sends ? end_of(*other) : call;
  Answer answer;
  if (bytes(send) != bytes(receive))
    answer = {kInvalidArgument, in_words(sender, send) + ", and " + in_words(receiver, receive) +
                                    ": what is sent and what is received must have the same size"};
  else if (!launch_message(send, receive))
    answer = {kHipError, "the virtual device refused the copy of a message; it said why"};
  finish(other, answer);
  finish(made, answer);
  return made;
}

Answer World::execute(const std::vector<Call>& calls) const {
  if (calls.front().kind == Kind::split) return split(calls);
  if (launch_collective(calls)) return {};
  return {kHipError, std::string("the virtual device refused the work of ") +
                         calls.front().function + "; it said why"};
}

Answer World::split(const std::vector<Call>& calls) const {
  std::map<int, std::vector<std::pair<int, int>>> parts;  // key and rank, by color
  for (int rank = 0; rank < ranks(); ++rank) {
    const Call& call = calls[static_cast<std::size_t>(rank)];
    *call.made = nullptr;
    if (call.peer >= 0) parts[call.peer].emplace_back(call.key, rank);
  }
  for (auto& [color, part] : parts) {
    std::ranges::sort(part);
    const auto world = std::make_shared<World>(static_cast<int>(part.size()));
    for (int rank = 0; rank < world->ranks(); ++rank) {
      const Call& call =
          calls[static_cast<std::size_t>(part[static_cast<std::size_t>(rank)].second)];
      if (Answer answer = world->join(rank, call.device); answer.status != kSuccess) return answer;
      *call.made = new Communicator{world, rank, call.device};
    }
  }
  return {};
}

std::string World::missing(const Made& made) const {
  std::string words;
  for (int rank = 0; rank < ranks(); ++rank)
    if (!made.arrived[static_cast<std::size_t>(rank)])
      words += (words.empty() ? "" : ", ") + std::to_string(rank);
  return words;
}

Answer World::wait_for(const std::shared_ptr<Made>& made) {
  std::unique_lock lock(mutex_);
  const auto done = [&] { return made->done; };
  if (finished_.wait_for(lock, kPatience, done)) return made->answer;
  const auto& call = made->calls[static_cast<std::size_t>(std::ranges::find(made->arrived, true) -
                                                          made->arrived.begin())];
  const bool message = call.kind == Kind::send || call.kind == Kind::receive;
  const std::string others = message ? std::to_string(call.peer) : missing(*made);
  std::fprintf(stderr,
               "margay: %s waits since %d s for rank %s of %d; where one thread has several ranks, "
               "it calls between ncclGroupStart and ncclGroupEnd\n",
               call.function, static_cast<int>(kPatience.count()), others.c_str(), ranks());
  if (!finished_.wait_for(lock, kTimeToJoin - kPatience, [&] { return done() || all_joined(); }))
    finish(made, {kInvalidUsage, std::string(call.function) + " waited " +
                                     std::to_string(kTimeToJoin.count()) +
                                     " s for ranks that have no communicator in this process: " +
                                     "ranks in several processes are not served"});
  finished_.wait(lock, done);
  return made->answer;
}

}  // namespace margay::substitutes
