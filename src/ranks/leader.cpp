#include "ranks/leader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/host_level.h"
#include "exec/program/program.h"
#include "exec/workgroup/launch_parts.h"
#include "ranks/pages/page.h"

namespace margay::ranks {
namespace {

unsigned threads_of(const DeviceOptions& device) {
  return device.threads != 0 ? device.threads : std::max(1u, std::thread::hardware_concurrency());
}

LaunchShare alone(const std::string& why) {
  return {.source = nullptr, .alone = "ranks=1 alone=" + why};
}

}  // namespace

Leader::Leader(LeaderOptions options) : options_(std::move(options)), process_(getpid()) {}

Leader::~Leader() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  for (const auto& session : sessions_) session->shut_down();
  if (inviter_.joinable()) inviter_.join();
}

LaunchShare Leader::share(const SpreadableLaunch& launch, const DeviceOptions& device) {
  // Its connections and threads belong to the parent.
  if (getpid() != process_) return alone("forked");
  const LaunchRequest& request = launch.request;
  const std::lock_guard lock(mutex_);
  const auto kernels = request.module->object().kernels();
  LaunchWords words;
  words.number = ++launches_;
  words.module = number_of(request.module);
  words.kernel = static_cast<std::uint32_t>(request.kernel - kernels.data());
  const KernelKey key(words.module, words.kernel);
  if (std::string why = why_this_launch_is_alone(launch); !why.empty()) return alone(why);
  auto known = talks_.find(key);
  if (known == talks_.end()) known = talks_.emplace(key, talk_of(launch.program)).first;
  if (const CodeTalk& talk = known->second; !talk.why_alone.empty()) return alone(talk.why_alone);
  // Observers see what an atomic finds in memory.
  if (launch.observed && known->second.combines) return alone("atomics");
  std::shared_ptr<Experience>& experience = experiences_[key];
  if (!experience) experience = std::make_shared<Experience>();
  if (const std::string why = experience->why_alone(); !why.empty()) return alone(why);
  if (!connected_) connect(launch, device);
  if (sessions_.empty()) return alone("no-workers");
  words.base_address = request.module->base_address();
  words.grid = request.grid;
  words.block = request.block;
  words.dynamic_lds_bytes = request.dynamic_lds_bytes;
  words.stack_bytes = request.stack_bytes;
  words.device = request.device;
  words.visible_devices = request.visible_devices;
  words.addresses = launch.addresses;
  const std::uint64_t workgroups = request.grid.count();
  const std::uint64_t wanted = launch.parts != nullptr ? launch.parts->stride() : 1;
  words.stride = wanted <= 1 ? workgroups : std::min(wanted, workgroups);
  auto shared = std::make_shared<SpreadLaunch>(launch, words, weights_, experience);
  next_ = shared;
  next_at_ =
      Clock::now() + (long_.contains(key) ? std::chrono::milliseconds(0) : options_.patience);
  has_next_ = true;
  changed_.notify_all();
  return {.source = shared, .alone = {}};
}

std::uint64_t Leader::number_of(const std::shared_ptr<LoadedModule>& module) {
  auto& [known, number] = modules_[module->base_address()];
  if (known.lock() != module) {
    known = module;
    number = ++last_module_;
  }
  return number;
}

void Leader::connect(const SpreadableLaunch& launch, const DeviceOptions& device) {
  connected_ = true;
  if (!can_read_pages()) {
    options_.say("this host forbids process_vm_readv(), so that launches stay on rank 0");
    return;
  }
  Hello hello;
  hello.gpu = device.gpu->option;
  hello.mfma = device.mfma;
  // The results of the other modes do not depend on the level.
  if (device.mfma == MfmaMode::fast) {
    hello.level = device.host_level.empty() ? std::string(best_host_level()) : device.host_level;
    hello.fast_method = fast_method(hello.level);
  }
  hello.arena = launch.memory.arena();
  hello.silence = static_cast<std::uint32_t>(options_.silence.count());
  weights_ = {threads_of(device)};
  for (const std::string& address : options_.addresses) {
    // Ranks are numbered as given; those that cannot be used have nothing to do.
    const auto rank = static_cast<unsigned>(weights_.size());
    auto session = Session::open(rank, address, options_.key, hello, options_.say);
    if (!session) {
      options_.say(fmt::format("rank {} is not used: {}", rank, session.error().text()));
      continue;
    }
    weights_.push_back((*session)->threads());
    sessions_.push_back(*std::move(session));
  }
  if (!sessions_.empty()) inviter_ = std::thread([this] { invite(); });
}

void Leader::invite() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (!has_next_) {
      changed_.wait(lock);
    } else if (Clock::now() < next_at_) {
      changed_.wait_until(lock, next_at_);
    } else {
      has_next_ = false;
      const std::shared_ptr<SpreadLaunch> launch = next_.lock();
      if (!launch) continue;
      long_.emplace(launch->words().module, launch->words().kernel);
      lock.unlock();
      for (const auto& session : sessions_) session->begin(launch);
      lock.lock();
    }
  }
}

}  // namespace margay::ranks
