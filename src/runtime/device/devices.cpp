// See devices.h.
#include "runtime/device/devices.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "ranks/leader.h"
#include "runtime/device/interrupts.h"
#include "runtime/watch/checking.h"
#include "runtime/watch/profiling.h"

namespace margay::runtime {
namespace {

thread_local unsigned current_device = 0;

}  // namespace

Devices::Devices(Watchers& watchers, HostSide& host, Hooks hooks)
    : watchers_(watchers),
      host_(host),
      hooks_(std::move(hooks)),
      settings_(read_settings(process_environment())),
      event_time_(settings_ ? settings_->event_time : EventTime::host) {}

Devices::~Devices() = default;

unsigned Devices::current() { return current_device; }
void Devices::set_current(unsigned device) { current_device = device; }

Outcome Devices::check(int device) const {
  if (const Error* const error = settings_error())
    return std::unexpected(Refusal(hipErrorNotInitialized, *error));
  if (device >= 0 && static_cast<unsigned>(device) < count()) return {};
  return refuse(
      hipErrorInvalidDevice,
      count() == 1
          ? fmt::format("There is no device {}; the only device is number 0.", device)
          : fmt::format("There is no device {}; there are {}, from number 0.", device, count()),
      count() == 1 ? "MARGAY_DEVICES=8 makes eight." : "");
}

Answer<Device*> Devices::make() {
  if (!settings_) return std::unexpected(Refusal(hipErrorNotInitialized, settings_.error()));
  const std::lock_guard lock(mutex_);
  if (device_ != nullptr) return device_.get();
  DeviceOptions options;
  options.gpu = settings_->gpu;
  options.mfma = settings_->mfma;
  options.devices = settings_->devices;
  options.threads = settings_->threads;
  options.host_level = settings_->host_level;
  options.whole_pages = settings_->whole_pages;
  host_.connect(options, *settings_);
  options.host_service = [this](std::uint32_t service, std::span<std::uint64_t, 8> slots) {
    return host_.serve(device_->memory(), service, slots);
  };
  if (!settings_->ranks.addresses.empty()) {
    leader_ = std::make_unique<ranks::Leader>(
        ranks::LeaderOptions{.addresses = settings_->ranks.addresses,
                             .key = settings_->ranks.key,
                             .patience = std::chrono::milliseconds(settings_->ranks.patience_ms),
                             .silence = std::chrono::seconds(settings_->ranks.silence_s),
                             .say = [this](const std::string& sentence) {
                               if (!quiet())
                                 std::fputs(("margay: " + sentence + "\n").c_str(), stderr);
                             }});
    options.spread = [this](const SpreadableLaunch& launch) {
      return leader_->share(launch, device_->options());
    };
  }
  const Watch watch = MARGAY_TRY(Watch::create(*settings_, hooks_.is_registered));
  device_ = MARGAY_TRY(Device::create(std::move(options)));
  prepare_interrupts([device = device_.get()] { device->interrupt(); });
  if (watch.any()) {
    watchers_.set(watch);
    hooks_.on_watched();
  }
  made_.store(device_.get(), std::memory_order_release);
  return device_.get();
}

Memory* Devices::memory_if_made() const {
  Device* const made = made_.load(std::memory_order_acquire);
  return made == nullptr ? nullptr : &made->memory();
}

Answer<std::shared_ptr<LoadedModule>> Devices::load(CodeObject object, unsigned ordinal) {
  Device* const device = MARGAY_TRY(get());
  std::shared_ptr<LoadedModule> module = MARGAY_TRY(device->load(std::move(object), ordinal));
  if (const auto& mutation = settings_->check.mutation) MARGAY_CHECK(mutate(*module, *mutation));
  return module;
}

}  // namespace margay::runtime
