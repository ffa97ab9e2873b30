// See launch.h.
#include "runtime/launch/launch.h"

#include <fmt/format.h>

#include <utility>

#include "runtime/base/names.h"
#include "runtime/launch/arguments.h"
#include "runtime/watch/checking.h"

namespace margay::runtime {

std::uint64_t& LaunchCall::data_of_thread() {
  static thread_local std::uint64_t data = 0;
  return data;
}

LaunchRequest Launcher::request_of(const LaunchCall& call, std::span<const std::byte> arguments) {
  LaunchRequest request;
  request.module = call.function->module;
  request.kernel = call.function->kernel;
  const CallSize& size = call.size;
  request.grid = {size.grid.x, size.grid.y, size.grid.z};
  request.block = {size.block.x, size.block.y, size.block.z};
  request.dynamic_lds_bytes = static_cast<std::uint32_t>(size.dynamic_lds_bytes);
  request.arguments = arguments;
  request.cooperative = size.cooperative;
  request.device = call.function->device;
  request.stack_bytes = static_cast<std::uint32_t>(devices_.limits(request.device).stack_bytes);
  request.visible_devices =
      std::uint64_t{1} << request.device | devices_.peers(request.device).load();
  return request;
}

std::optional<LaunchTime> Launcher::modelled(const LaunchRequest& request) const {
  if (!timeline_.is_on() || launches_.purpose() == Launches::Purpose::memory) return std::nullopt;
  return launches_.time_of(request);
}

Outcome Launcher::run(const LaunchCall& call, std::span<const std::byte> arguments) {
  MARGAY_CHECK(captures_.record_if_given(call.start));
  const ModelledTimes::OfData of_data(call.data);
  const LaunchRequest request = request_of(call, arguments);
  MARGAY_CHECK(launches_.run(request, current_operation()));
  timeline_.launched(modelled(request), request.grid.count());
  return captures_.record_if_given(call.stop);
}

Answer<Work> Launcher::start(const LaunchCall& call, std::span<const std::byte> arguments) {
  MARGAY_CHECK(captures_.record_if_given(call.start));
  const ModelledTimes::OfData of_data(call.data);
  const LaunchRequest request = request_of(call, arguments);
  Work rest = MARGAY_TRY(launches_.start(request, current_operation()));
  if (rest)
    return [this, rest = std::move(rest), stop = call.stop, time = modelled(request),
            workgroups = request.grid.count()]() -> Outcome {
      MARGAY_CHECK(rest());
      timeline_.launched(time, workgroups);
      return captures_.record_if_given(stop);
    };
  timeline_.launched(modelled(request), request.grid.count());
  MARGAY_CHECK(captures_.record_if_given(call.stop));
  return Work{};
}

Answer<Launcher::Arguments> Launcher::checked_arguments(const LaunchCall& call) {
  const Kernel& kernel = *call.function->kernel;
  MARGAY_CHECK(check_launch(kernel, devices_.gpu(), call.size));
  if (call.parameters != nullptr && call.buffer != nullptr) {
    return refuse(
        hipErrorInvalidValue,
        fmt::format("The launch of {} passes its arguments twice.", readable_name(kernel.name)),
        "Pass either kernelParams or extra.");
  }
  return call.buffer != nullptr
             ? copy_arguments(kernel, call.buffer, devices_.quiet() ? nullptr : &short_buffers_)
             : pack_arguments(kernel, call.parameters);
}

Answer<Work> Launcher::prepare(const LaunchCall& call) {
  return [this, call, arguments = MARGAY_TRY(checked_arguments(call))] {
    return run(call, arguments);
  };
}

Outcome Launcher::check_device(const LaunchCall& call) const {
  MARGAY_CHECK(streams_.check(call.stream));
  const unsigned device = streams_.device_of(call.stream);
  if (device == call.function->device) return {};
  return refuse(hipErrorInvalidHandle,
                fmt::format("The module of {} was loaded on device {}, and the launch is for "
                            "device {}.",
                            readable_name(call.function->name), call.function->device, device),
                "Load the module on each device that is to run it.");
}

void Launcher::tell_checker(const std::string& kernel, const Refusal& refusal) {
  // A check begins with the device.
  static_cast<void>(devices_.get());
  if (const auto checking = watchers_.checking()) checking->launch_refused(kernel, refusal.error);
}

Outcome Launcher::launch(const LaunchCall& call) {
  const auto arguments = [&]() -> Answer<Arguments> {
    MARGAY_CHECK(check_device(call));
    return checked_arguments(call);
  }();
  if (!arguments) {
    tell_checker(readable_name(call.function->kernel->name), arguments.error());
    return std::unexpected(arguments.error());
  }
  return captures_.on_stream(
      call.stream, hipGraphNodeTypeKernel,
      [this, call, arguments = *arguments] { return run(call, arguments); },
      [this, call, arguments = *arguments] { return start(call, arguments); },
      call.function->readable);
}

}  // namespace margay::runtime
