// Which instructions generated programs execute, and which they never do.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/workgroup/observer.h"

namespace margay::fuzz {

/// Wave instructions by mnemonic.
using Executions = std::map<std::string_view, std::uint64_t>;

/// Counts what each launch executes, all launches together. One launch at a time, one host thread.
class Coverage final : public LaunchObserver {
 public:
  [[nodiscard]] std::unique_ptr<Watcher> watch(const LaunchRequest& request,
                                               margay::Program& program) override;
  [[nodiscard]] Executions executions() const;

 private:
  friend class CoverageWatcher;
  std::map<const Row*, std::uint64_t> counts_;
};

/// A table: how many of the executor's instructions were reached, by class, and those that were
/// not.
[[nodiscard]] std::string coverage_text(const Executions& executions);
/// The executor's mnemonics that were not reached, sorted.
[[nodiscard]] std::vector<std::string_view> not_reached(const Executions& executions);

}  // namespace margay::fuzz
