// The HIP calls for streams, events and synchronisation.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "runtime/process/call.h"

namespace margay::runtime {
namespace {

// MI300 streams have three priorities. Source: hipDeviceGetStreamPriorityRange on ROCm (least 1,
// greatest -1).
constexpr int kLeastPriority = 1;
constexpr int kGreatestPriority = -1;

constexpr unsigned kStreamFlags = hipStreamDefault | hipStreamNonBlocking;
constexpr unsigned kEventFlags = hipEventDefault | hipEventBlockingSync | hipEventDisableTiming |
                                 hipEventInterprocess | hipEventReleaseToDevice |
                                 hipEventReleaseToSystem |
                                 0x20000000;  // hipEventDisableSystemFence, from HIP 5.3 on

// The failure of a kernel has been printed by the launch that ran it; synchronising returns the
// code again, because programs check it there.
hipError_t synchronised() {
  const hipError_t interrupted = process().launches.take_interrupted();
  if (interrupted != hipSuccess) return remember(interrupted);
  return remember(process().launches.failure());
}

/// In modelled time.
void host_waits(hipStream_t stream) {
  process().timeline.host_waits(process().timeline.now(process().streams.order_of(stream)));
}
void host_waits_for_event(hipEvent_t handle) {
  const auto event = process().streams.find_event(handle);
  if (event) process().timeline.host_waits((*event)->modelled_time());
}

hipError_t synchronise_stream(const char* call, hipStream_t stream) {
  const hipError_t code = api(call, [&]() -> Outcome {
    MARGAY_CHECK(process().captures.check_not_captured(stream));
    process().in_flight.wait_for_stream(stream);
    process().ordering.host_waits(stream);
    host_waits(stream);
    return {};
  });
  return code != hipSuccess ? code : synchronised();
}
hipError_t synchronise_device() {
  process().in_flight.wait_for_device(Devices::current());
  process().ordering.host_waits_for_device(Devices::current());
  process().timeline.host_waits_for_device(Devices::current());
  return synchronised();
}
/// hipErrorNotReady is an answer, not a failure: it is not remembered.
hipError_t query_stream(const char* call, hipStream_t stream) {
  const hipError_t code = api(call, [&] { return process().captures.check_not_captured(stream); });
  if (code != hipSuccess) return code;
  if (process().in_flight.is_busy(stream)) return hipErrorNotReady;
  process().ordering.host_waits(stream);
  host_waits(stream);
  return synchronised();
}

Outcome check_event(hipEvent_t handle) {
  const auto event = MARGAY_TRY(process().streams.find_event(handle));
  if (event->captured_in() == nullptr) return {};
  return refuse(hipErrorCapturedEvent,
                "The event was recorded in a stream that is being captured: it never happens.");
}
std::shared_ptr<Pending> pending_of(hipEvent_t handle) {
  const auto event = process().streams.find_event(handle);
  auto pending = event ? (*event)->pending.load() : nullptr;
  return pending == nullptr || pending->done() ? nullptr : pending;
}
hipError_t synchronise_event(const char* call, hipEvent_t handle) {
  const hipError_t code = api(call, [&] { return check_event(handle); });
  if (code != hipSuccess) return code;
  if (const auto pending = pending_of(handle)) process().in_flight.wait_for(*pending);
  process().ordering.host_waits_for_event(handle);
  host_waits_for_event(handle);
  return synchronised();
}
hipError_t query_event(const char* call, hipEvent_t handle) {
  const hipError_t code = api(call, [&] { return check_event(handle); });
  if (code != hipSuccess) return code;
  if (pending_of(handle) != nullptr) return hipErrorNotReady;
  process().ordering.host_waits_for_event(handle);
  host_waits_for_event(handle);
  return synchronised();
}

void say_what_modelled_time_is() {
  if (process().devices.quiet() || !process().timeline.first_answer()) return;
  const EventTime time = process().devices.event_time();
  fmt::print(
      stderr,
      "margay: hipEventElapsedTime gives modelled time of the {} at its {} clock, {}: nothing "
      "is measured; the error is about {:.0f} % (docs/time.md).\n",
      process().devices.gpu().name, is_sustained(time) ? "sustained" : "boost",
      is_warm(time) ? "with the caches that a launch like it has left"
                    : "with cold caches (modelled-warm: those of a loop)",
      process().launches.modelled().error_percent());
}

Answer<float> modelled_milliseconds(const ihipEvent_t& start, const ihipEvent_t& stop) {
  const auto begin = start.modelled_time();
  const auto end = stop.modelled_time();
  if (!begin || !end)
    return refuse(hipErrorInvalidHandle,
                  "One of the events was recorded before modelled time was asked for.",
                  "Record both again, or set MARGAY_EVENT_TIME before the program starts.");
  say_what_modelled_time_is();
  return std::chrono::duration<float, std::milli>(*end - *begin).count();
}

Outcome create_stream(hipStream_t* out, unsigned flags, int priority) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The stream is a null pointer.");
  if ((flags & ~kStreamFlags) != 0) {
    return refuse(hipErrorInvalidValue, "The stream flags hold an unknown bit.",
                  "Use hipStreamDefault or hipStreamNonBlocking.");
  }
  *out = process().streams.create(flags, std::clamp(priority, kGreatestPriority, kLeastPriority));
  return {};
}

Outcome create_event(hipEvent_t* out, unsigned flags) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The event is a null pointer.");
  if ((flags & ~kEventFlags) != 0) {
    return refuse(hipErrorInvalidValue, "The event flags hold an unknown bit.");
  }
  // These two as ROCm has them (clr, hip_event.cpp).
  if ((flags & hipEventInterprocess) != 0 && (flags & hipEventDisableTiming) == 0)
    return refuse(hipErrorInvalidValue, "An event for several processes has no time.",
                  "Add hipEventDisableTiming to hipEventInterprocess.");
  constexpr unsigned kBothReleases = hipEventReleaseToDevice | hipEventReleaseToSystem;
  if ((flags & kBothReleases) == kBothReleases)
    return refuse(hipErrorInvalidValue, "An event releases either to the device or to the system.");
  *out = process().streams.create_event(flags);
  return {};
}

Outcome wait_for_event(hipStream_t stream, hipEvent_t event, unsigned flags) {
  constexpr unsigned kExternal = 1;  // hipEventWaitExternal
  if ((flags & ~kExternal) != 0)
    return refuse(hipErrorInvalidValue, "The flags hold an unknown bit.",
                  "Use 0 or hipEventWaitExternal.");
  return process().captures.wait_for_event(stream, event);
}

Outcome call_host_function(hipStream_t stream, hipHostFn_t function, void* argument) {
  if (function == nullptr) return refuse(hipErrorInvalidValue, "The function is a null pointer.");
  return process().captures.on_stream_in_background(stream, [=]() -> Outcome {
    function(argument);
    return {};
  });
}

Outcome call_back(hipStream_t stream, hipStreamCallback_t callback, void* argument,
                  unsigned flags) {
  MARGAY_CHECK(process().streams.check(stream));
  if (callback == nullptr) return refuse(hipErrorInvalidValue, "The callback is a null pointer.");
  if (flags != 0) return refuse(hipErrorInvalidValue, "The callback flags have to be 0.");
  return process().captures.on_stream_in_background(stream, [=]() -> Outcome {
    callback(stream, process().launches.failure(), argument);
    return {};
  });
}

template <typename T>
Outcome read_stream(hipStream_t handle, T* out, T ihipStream_t::* field) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  MARGAY_CHECK(process().streams.check(handle));
  const auto stream = process().streams.find(handle);
  *out = stream == nullptr ? T{} : (*stream).*field;
  return {};
}

}  // namespace

}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipStreamCreate(hipStream_t* stream) {
  return api(__func__, [&] { return create_stream(stream, hipStreamDefault, 0); });
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags) {
  return api(__func__, [&] { return create_stream(stream, flags, 0); });
}

hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned int flags, int priority) {
  return api(__func__, [&] { return create_stream(stream, flags, priority); });
}

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = kLeastPriority;
  if (greatest != nullptr) *greatest = kGreatestPriority;
  return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return api(__func__, [&]() -> Outcome {
    if (is_implicit_stream(stream)) {
      return refuse(hipErrorInvalidHandle, "The null stream and its like cannot be destroyed.");
    }
    MARGAY_CHECK(process().streams.check(stream));
    process().ordering.stream_gone(stream);
    process().in_flight.forget_stream(stream);
    process().streams.remove(stream);
    return {};
  });
}

hipError_t hipStreamSynchronize(hipStream_t stream) { return synchronise_stream(__func__, stream); }
hipError_t hipStreamSynchronize_spt(hipStream_t stream) {
  return synchronise_stream(__func__, stream);
}
hipError_t hipStreamQuery(hipStream_t stream) { return query_stream(__func__, stream); }
hipError_t hipStreamQuery_spt(hipStream_t stream) { return query_stream(__func__, stream); }
hipError_t hipDeviceSynchronize() { return synchronise_device(); }
hipError_t hipCtxSynchronize() { return synchronise_device(); }

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags) {
  return api(__func__, [&] { return wait_for_event(stream, event, flags); });
}
hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned int flags) {
  return api(__func__, [&] { return wait_for_event(stream, event, flags); });
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int* flags) {
  return api(__func__, [&] { return read_stream(stream, flags, &ihipStream_t::flags); });
}
hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned int* flags) {
  return api(__func__, [&] { return read_stream(stream, flags, &ihipStream_t::flags); });
}
hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  return api(__func__, [&] { return read_stream(stream, priority, &ihipStream_t::priority); });
}
hipError_t hipStreamGetPriority_spt(hipStream_t stream, int* priority) {
  return api(__func__, [&] { return read_stream(stream, priority, &ihipStream_t::priority); });
}

int hipGetStreamDeviceId(hipStream_t stream) {
  return static_cast<int>(process().streams.device_of(stream));
}
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  return api(__func__, [&]() -> Outcome {
    if (device == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
    MARGAY_CHECK(process().streams.check(stream));
    *device = static_cast<hipDevice_t>(process().streams.device_of(stream));
    return {};
  });
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* argument,
                                unsigned int flags) {
  return api(__func__, [&] { return call_back(stream, callback, argument, flags); });
}
hipError_t hipStreamAddCallback_spt(hipStream_t stream, hipStreamCallback_t callback,
                                    void* argument, unsigned int flags) {
  return api(__func__, [&] { return call_back(stream, callback, argument, flags); });
}
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* argument) {
  return api(__func__, [&] { return call_host_function(stream, function, argument); });
}
hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t function, void* argument) {
  return api(__func__, [&] { return call_host_function(stream, function, argument); });
}

hipError_t hipEventCreate(hipEvent_t* event) {
  return api(__func__, [&] { return create_event(event, hipEventDefault); });
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned int flags) {
  return api(__func__, [&] { return create_event(event, flags); });
}

hipError_t hipEventDestroy(hipEvent_t event) {
  return api(__func__, [&]() -> Outcome {
    if (auto found = process().streams.find_event(event); !found) {
      // Of one that was destroyed, as ROCm (clr, hip_event.cpp).
      if (event != nullptr) found.error().code = hipErrorContextIsDestroyed;
      return std::unexpected(std::move(found).error());
    }
    process().ordering.event_gone(event);
    process().streams.remove_event(event);
    return {};
  });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return api(__func__, [&] { return process().captures.record_event(event, stream); });
}
hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream) {
  return api(__func__, [&] { return process().captures.record_event(event, stream); });
}
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned int) {
  return api(__func__, [&] { return process().captures.record_event(event, stream); });
}

hipError_t hipEventSynchronize(hipEvent_t event) { return synchronise_event(__func__, event); }

hipError_t hipEventQuery(hipEvent_t event) { return query_event(__func__, event); }

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return api(__func__, [&]() -> Outcome {
    if (milliseconds == nullptr) {
      return refuse(hipErrorInvalidValue, "The result is a null pointer.");
    }
    const auto first = MARGAY_TRY(process().streams.find_event(start));
    const auto last = MARGAY_TRY(process().streams.find_event(stop));
    if (((first->flags | last->flags) & hipEventDisableTiming) != 0) {
      return refuse(hipErrorInvalidHandle,
                    "One of the events was created with hipEventDisableTiming.");
    }
    if (pending_of(start) != nullptr || pending_of(stop) != nullptr)
      return refuse_silently(hipErrorNotReady, "One of the events has not happened yet.");
    const auto begin = first->time();
    const auto end = last->time();
    if (!begin || !end) {
      return refuse(hipErrorInvalidHandle, "One of the events was not recorded.",
                    "Call hipEventRecord for both before asking for the time between them.");
    }
    process().ordering.host_waits_for_event(start);
    process().ordering.host_waits_for_event(stop);
    if (process().timeline.is_on()) {
      *milliseconds = MARGAY_TRY(modelled_milliseconds(*first, *last));
      return {};
    }
    *milliseconds = std::chrono::duration<float, std::milli>(*end - *begin).count();
    return {};
  });
}

}  // extern "C"
