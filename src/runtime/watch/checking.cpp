// See checking.h.
#include "runtime/watch/checking.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>

#include "report/check/json.h"
#include "report/check/report.h"
#include "runtime/base/names.h"
#include "runtime/watch/options.h"

namespace margay::runtime {
namespace {

std::uint64_t errors_in(std::span<const check::Finding> findings) {
  return check::tally(findings).errors;
}

check::TextOptions text_options(const CheckSettings& settings) {
  check::TextOptions options = check::stderr_text_options();
  options.full = settings.full;
  return options;
}

}  // namespace

Status mutate(const LoadedModule& module, const Mutation& mutation) {
  const CodeObject& object = module.object();
  if (object.find_kernel(mutation.kernel) == nullptr) return {};
  const std::size_t bytes = mutation.words.size() * sizeof mutation.words[0];
  if (!object.is_executable(mutation.vaddr) || mutation.vaddr + bytes > object.image_bytes())
    return fail(ErrorCode::invalid_argument,
                fmt::format("MARGAY_MUTATE names {:#x}, which is no code of the code object that "
                            "defines {}",
                            mutation.vaddr, mutation.kernel));
  std::memcpy(reinterpret_cast<void*>(module.base_address() + mutation.vaddr),
              mutation.words.data(), bytes);
  return {};
}

Result<CheckSettings> parse_check_options(std::string_view text) {
  CheckSettings settings;
  settings.tools = MARGAY_TRY(check::parse_tools("all"));
  const WatchOption options[] = {
      {"tools",
       [&](const std::string& value) -> Result<WatchOption::Taken> {
         settings.tools = MARGAY_TRY(check::parse_tools(value));
         return WatchOption::Taken::yes;
       }},
      {"adversarial",
       [&](const std::string& value) -> Result<WatchOption::Taken> {
         return take_number(value, settings.adversarial.emplace());
       }},
  };
  MARGAY_CHECK(read_watch_options(
      text, options,
      {"the checker", "margayCheckBegin", "give tools=LIST and adversarial=SEED, with ; between"}));
  return settings;
}

Answer<std::shared_ptr<Checking>> Checking::create(const CheckSettings& settings, bool prints,
                                                   IsRegistered is_registered) {
  check::Suppressions suppressions;
  if (!settings.suppressions.empty())
    suppressions = MARGAY_TRY(check::read_suppressions(settings.suppressions));
  std::shared_ptr<Checking> checking(new Checking(settings, std::move(suppressions), prints));
  checking->session_.memory().set_registered(std::move(is_registered));
  if (!settings.json.empty() || !settings.table.empty())
    checking->kept_ = MARGAY_TRY(KeptReport::create(settings.json, settings.table));
  return checking;
}

Checking::Checking(const CheckSettings& settings, check::Suppressions suppressions, bool prints)
    : settings_(settings),
      prints_(prints),
      session_({settings.tools, settings.adversarial}, std::move(suppressions)),
      printer_(text_options(settings), settings.max_findings) {}

void Checking::print(const std::string& text) const {
  if (!prints_ || text.empty()) return;
  std::fputs(text.c_str(), stderr);
}

Result<LaunchReport> Checking::launch(Device& device, const LaunchRequest& request,
                                      const std::shared_ptr<check::Operation>& operation,
                                      const check::Session::Launcher& launcher) {
  if (kept_) kept_->launch_begins(readable_name(request.kernel->name));
  check::Session::Checked checked =
      session_.launch(device, request, kept_ ? [this] { keep(true); } : std::function<void()>{},
                      operation, launcher);
  print(printer_.findings(checked.fresh));
  if (kept_) kept_->launch_ended(errors_in(checked.fresh));
  keep(!checked.fresh.empty());
  return std::move(checked.result);
}

void Checking::launch_refused(const std::string& kernel, const Error& error) {
  show(session_.launch_refused(kernel, error));
}

void Checking::show(const std::vector<check::Finding>& found) {
  if (found.empty()) return;
  print(printer_.findings(found));
  if (kept_) kept_->found(errors_in(found));
  keep(true);
}

void Checking::keep(bool urgent) {
  if (kept_) kept_->keep(urgent, [this] { return check::json_of(session_.report()); });
}

void Checking::allocated(std::uint64_t address, std::uint64_t bytes, bool host_writes) {
  if (!host_writes) memory().allocated(address, bytes);
  if (follows_streams()) streams().allocated(address, bytes);
}

void Checking::freed(std::uint64_t address, std::uint64_t bytes) {
  if (follows_streams()) streams().freed(address, bytes);
  memory().freed(address);
}

void Checking::copied(const check::UndefinedCopy& copy) {
  if (copy.missing != 0) show(session_.copied(copy));
}

void Checking::touched(const Memory& memory, const std::shared_ptr<check::Operation>& operation,
                       const check::Footprint& footprint) {
  show(session_.touched(memory, operation, footprint));
}

void Checking::found(std::vector<check::Finding> findings) {
  if (!findings.empty()) show(session_.add(std::move(findings)));
}

check::Report Checking::finish(Memory* memory) {
  if (memory != nullptr) show(session_.leaks(*memory, settings_.leaks));
  return session_.report();
}

void Checking::write(const check::Report& report) {
  print(printer_.advice(report.findings));
  if (kept_) kept_->end([&] { return check::json_of(report); });
}

Status Checking::begin_again() {
  session_.begin_again();
  return kept_ ? kept_->begin_again() : Status{};
}

}  // namespace margay::runtime
