#include "exec/stream/watcher.h"

#include <algorithm>

namespace margay {

Watchers::Watchers(std::vector<std::unique_ptr<Watcher>> all) : all_(std::move(all)) {
  for (const auto& one : all_)
    if (one->executes()) executor_ = one.get();
}

bool Watchers::begin(Workgroup& group) {
  watching_.clear();
  for (const auto& one : all_)
    if (one->begin(group)) watching_.push_back(one.get());
  return !watching_.empty();
}
void Watchers::end(Workgroup& group, WorkgroupEnd how) {
  for (const auto& one : all_) {
    if (std::ranges::find(watching_, one.get()) != watching_.end())
      one->end(group, how);
    else
      one->pass(group);
  }
}
void Watchers::pass(const Workgroup& group) {
  for (const auto& one : all_) one->pass(group);
}
void Watchers::reach(const Executed& event) {
  for (Watcher* const one : watching_) one->reach(event);
}
void Watchers::admit(const Executed& event) {
  for (Watcher* const one : watching_) one->admit(event);
}
void Watchers::issue(const Executed& event) {
  for (Watcher* const one : watching_) one->issue(event);
}
const Instruction* Watchers::execute(const Executed& event) {
  return executor_ != nullptr && std::ranges::find(watching_, executor_) != watching_.end()
             ? executor_->execute(event)
             : Watcher::execute(event);
}
void Watchers::jump(const Wave& wave, const Instruction& next) {
  for (Watcher* const one : watching_) one->jump(wave, next);
}
void Watchers::barrier_opens(Workgroup& group) {
  for (Watcher* const one : watching_) one->barrier_opens(group);
}
void Watchers::time_passes() {
  for (Watcher* const one : watching_) one->time_passes();
}
std::uint64_t Watchers::quantum() {
  std::uint64_t shortest = kQuantum;
  for (Watcher* const one : watching_) shortest = std::min(shortest, one->quantum());
  return shortest;
}
std::uint32_t Watchers::wave_in_turn(std::uint32_t turn, std::uint32_t waves) {
  return executor_ != nullptr ? executor_->wave_in_turn(turn, waves) : turn;
}

std::unique_ptr<Watcher> JointObserver::watch(const LaunchRequest& request, Program& program) {
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (LaunchObserver* const one : all_) watchers.push_back(one->watch(request, program));
  return std::make_unique<Watchers>(std::move(watchers));
}

}  // namespace margay
