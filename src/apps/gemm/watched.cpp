// See watching.h.
#include "apps/gemm/watching.h"

#include <utility>

#include "observe/profile/session.h"
#include "runtime/watch/checking.h"
#include "runtime/watch/watch.h"

namespace margay::gemm {
namespace {

profile::ProfileConfig timed() {
  profile::ProfileConfig config;
  config.timed = true;
  return config;
}

class Watchers final : public Watching {
 public:
  Watchers(runtime::Watch watch, std::optional<runtime::Mutation> mutation, bool model)
      : watch_(std::move(watch)), mutation_(std::move(mutation)) {
    if (model) model_.emplace(timed());
  }

  void allocated(std::uint64_t address, std::uint64_t bytes) override {
    if (watch_.checking != nullptr) watch_.checking->memory().allocated(address, bytes);
  }
  Status change(const LoadedModule& module) override {
    return mutation_ ? runtime::mutate(module, *mutation_) : Status{};
  }
  Result<LaunchReport> launch(Device& device, const LaunchRequest& request) override {
    const profile::Session::Run run = [&](LaunchObserver* observer) {
      return watch_.launch(device, request, nullptr, observer);
    };
    return model_ ? model_->launch(device, request, run) : run(nullptr);
  }
  void finish() override { watch_.finish(nullptr); }
  std::optional<Modelled> modelled() override {
    if (!model_) return {};
    const auto time = model_->profile().kernels.front().time;
    if (!time) return {};
    return Modelled{.cycles = time->cycles,
                    .us_boost = time->us_boost,
                    .us_sustained = time->us_sustained,
                    .boost_ghz = time->boost_ghz,
                    .sustained_ghz = time->sustained_ghz,
                    .error_percent = time->error_percent,
                    .bound = std::string(timing::bound_name(time->bound))};
  }

 private:
  const runtime::Watch watch_;
  const std::optional<runtime::Mutation> mutation_;
  std::optional<profile::Session> model_;
};

}  // namespace

Result<std::unique_ptr<Watching>> watching(const runtime::Settings& settings, bool model, char**) {
  if (!wants_watching(settings, model)) return nullptr;
  auto watch = runtime::Watch::create(settings);
  if (!watch) return std::unexpected(std::move(watch).error().error);
  return std::make_unique<Watchers>(std::move(*watch), settings.check.mutation, model);
}

}  // namespace margay::gemm
