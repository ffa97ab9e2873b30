// The checker's interface for HIP calls: launches run under it, and the host's operations on memory
// are reported to it. Its findings are printed when a launch ends; the report is written at the
// end.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "observe/check/session.h"
#include "report/check/text.h"
#include "runtime/base/errors.h"
#include "runtime/base/settings.h"
#include "runtime/watch/is_registered.h"
#include "runtime/watch/kept_report.h"

namespace margay::runtime {

/// Changes a loaded code object according to MARGAY_MUTATE, if it defines the named kernel.
[[nodiscard]] Status mutate(const LoadedModule& module, const Mutation& mutation);

/// "tools=all;adversarial=7": the options of a program that begins a check itself.
[[nodiscard]] Result<CheckSettings> parse_check_options(std::string_view text);

class Checking {
 public:
  /// Reads the suppressions. `prints`: findings go to stderr as they occur.
  [[nodiscard]] static Answer<std::shared_ptr<Checking>> create(const CheckSettings& settings,
                                                                bool prints,
                                                                IsRegistered is_registered);

  /// `operation`: the launch's place in the order of streams, if that is tracked. `launcher`: see
  /// check::Session::launch().
  [[nodiscard]] Result<LaunchReport> launch(Device& device, const LaunchRequest& request,
                                            const std::shared_ptr<check::Operation>& operation,
                                            const check::Session::Launcher& launcher = {});
  void launch_refused(const std::string& kernel, const Error& error);
  /// Device memory was allocated, or is about to be freed. `host_writes`: without a call.
  void allocated(std::uint64_t address, std::uint64_t bytes, bool host_writes);
  void freed(std::uint64_t address, std::uint64_t bytes);
  /// The host has copied memory; the copy was reported to memory().
  void copied(const check::UndefinedCopy& copy);
  [[nodiscard]] check::GlobalMemory& memory() { return session_.memory(); }
  /// The order of streams (stream/ordering.h), if it is tracked.
  [[nodiscard]] bool follows_streams() const { return session_.follows_streams(); }
  [[nodiscard]] check::StreamRaces& streams() { return session_.streams(); }
  /// A copy or fill has accessed memory.
  void touched(const Memory& memory, const std::shared_ptr<check::Operation>& operation,
               const check::Footprint& footprint);
  /// By streams().
  void found(std::vector<check::Finding> findings);

  /// The end of the checked section: leaks (if `memory` is given) and the report.
  [[nodiscard]] check::Report finish(Memory* memory);
  /// Prints the advice and writes the JSON file that the settings name, at the end of the process.
  void write(const check::Report& report);
  /// In the child after fork(): previous findings are reported by the parent.
  [[nodiscard]] Status begin_again();

 private:
  Checking(const CheckSettings& settings, check::Suppressions suppressions, bool prints);
  void print(const std::string& text) const;
  /// Prints findings from outside of a launch, and keeps them.
  void show(const std::vector<check::Finding>& found);
  void keep(bool urgent);

  const CheckSettings settings_;
  const bool prints_;
  check::Session session_;
  check::FindingPrinter printer_;
  std::unique_ptr<KeptReport> kept_;  // if the process is watched from outside
};

}  // namespace margay::runtime
