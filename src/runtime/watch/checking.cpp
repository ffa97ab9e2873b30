// See checking.h; and the C functions by which a program or a binding drives the checker itself.
#include "runtime/watch/checking.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <mutex>

#include "report/check/json.h"
#include "report/check/report.h"
#include "runtime/process/runtime.h"
#include "runtime/stream/ordering.h"

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

Answer<std::shared_ptr<Checking>> Checking::create(const CheckSettings& settings, bool prints) {
  check::Suppressions suppressions;
  if (!settings.suppressions.empty())
    suppressions = MARGAY_TRY(check::read_suppressions(settings.suppressions));
  std::shared_ptr<Checking> checking(new Checking(settings, std::move(suppressions), prints));
  if (!settings.json.empty() || !settings.table.empty())
    checking->kept_ = MARGAY_TRY(KeptReport::create(settings.json, settings.table));
  return checking;
}

Checking::Checking(const CheckSettings& settings, check::Suppressions suppressions, bool prints)
    : settings_(settings),
      prints_(prints),
      session_({settings.tools, settings.adversarial}, std::move(suppressions)),
      printer_(text_options(settings), settings.max_findings) {
  session_.memory().set_registered([](std::uint64_t address) {
    const auto record = Runtime::instance().allocations().find(address);
    return record && record->kind == MemoryKind::registered;
  });
}

void Checking::print(const std::string& text) const {
  if (!prints_ || text.empty()) return;
  std::fputs(text.c_str(), stderr);
}

Result<LaunchReport> Checking::launch(Device& device, const LaunchRequest& request,
                                      const check::Session::Launcher& launcher) {
  if (kept_) kept_->launch_begins(readable_name(request.kernel->name));
  check::Session::Checked checked =
      session_.launch(device, request, kept_ ? [this] { keep(true); } : std::function<void()>{},
                      current_operation(), launcher);
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

using namespace margay;           // NOLINT: the exported functions below are its C face
using namespace margay::runtime;  // NOLINT

namespace {

/// What the last margayCheck call has to say; one stretch at a time, so one of each is enough.
struct Answers {
  std::mutex mutex;
  std::string error, report;
};
Answers& answers() {
  static auto* const all = new Answers();  // outlives every thread
  return *all;
}

/// "tools=all;adversarial=7"
Result<CheckSettings> parse_options(std::string_view options) {
  CheckSettings settings;
  settings.tools = MARGAY_TRY(check::parse_tools("all"));
  while (!options.empty()) {
    const auto end = std::min(options.find(';'), options.size());
    const std::string_view option = options.substr(0, end);
    options.remove_prefix(std::min(end + 1, options.size()));
    const auto equals = option.find('=');
    const std::string_view name = option.substr(0, equals);
    const std::string value(equals == option.npos ? "" : option.substr(equals + 1));
    if (name == "tools") {
      settings.tools = MARGAY_TRY(check::parse_tools(value));
    } else if (name == "adversarial" && !value.empty() &&
               value.find_first_not_of("0123456789") == value.npos && value.size() < 20) {
      settings.adversarial = std::stoull(value);
    } else if (!option.empty()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("the checker has no option \"{}\"", option), "margayCheckBegin",
                  "give tools=LIST and adversarial=SEED, with ; between");
    }
  }
  return settings;
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

int margayCheckBegin(const char* options) {
  const std::lock_guard lock(answers().mutex);
  auto begun = [&]() -> Outcome {
    const CheckSettings settings = MARGAY_TRY(parse_options(options == nullptr ? "" : options));
    return Runtime::instance().begin_checking(
        MARGAY_TRY(Checking::create(settings, /*prints=*/false)));
  }();
  answers().error = begun ? std::string{} : begun.error().error.text();
  return begun ? 0 : 1;
}

const char* margayCheckError(void) { return answers().error.c_str(); }

const char* margayCheckEnd(void) {
  const std::lock_guard lock(answers().mutex);
  const std::shared_ptr<Checking> checking = Runtime::instance().end_checking();
  if (checking == nullptr) {
    answers().error = "no check has been begun";
    return nullptr;
  }
  answers().report = check::json_of(checking->finish(nullptr));
  return answers().report.c_str();
}

/// Where a tensor is in host memory and what its shape is: kittens::gl tells when it is made.
void margayDescribeTensor(const void* data, std::size_t batch, std::size_t depth, std::size_t rows,
                          std::size_t columns, std::size_t element_bytes) {
  if (data == nullptr) return;
  // A check begins with the device, and the first tensor may be made before anything uses that.
  // What keeps the device from being created is reported by the call that needs it.
  static_cast<void>(Runtime::instance().device());
  const std::shared_ptr<Checking> checking = Runtime::instance().checking();
  const std::shared_ptr<Profiling> profiling = Runtime::instance().profiling();
  if (checking == nullptr && profiling == nullptr) return;
  Tensor tensor;
  tensor.range.begin = reinterpret_cast<std::uint64_t>(data);
  tensor.range.end = tensor.range.begin + batch * depth * rows * columns * element_bytes;
  tensor.shape = {batch, depth, rows, columns};
  tensor.element_bytes = static_cast<std::uint32_t>(element_bytes);
  if (tensor.range.end <= tensor.range.begin) return;
  if (checking != nullptr) checking->memory().tensors().describe(tensor);
  if (profiling != nullptr) profiling->tensors().describe(tensor);
}

#pragma GCC visibility pop

}  // extern "C"
