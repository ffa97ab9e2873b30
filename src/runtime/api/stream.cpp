// See stream.h; and the HIP calls for streams, events and synchronisation.
#include "runtime/stream/stream.h"

#include <algorithm>

#include "runtime/graph/graph.h"
#include "runtime/process/runtime.h"
#include "runtime/stream/in_flight.h"
#include "runtime/stream/ordering.h"

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

// The failure of a kernel has been printed by the launch that ran it; synchronising says the code
// again, because there a program looks for it.
hipError_t synchronised() {
  const hipError_t interrupted = Runtime::instance().take_interrupted();
  if (interrupted != hipSuccess) return remember(interrupted);
  return remember(Runtime::instance().launch_failure());
}

hipError_t synchronise_stream(const char* call, hipStream_t stream) {
  const hipError_t code = api(call, [&]() -> Outcome {
    MARGAY_CHECK(check_not_captured(stream));
    wait_for_stream(stream);
    order_host_waits(stream);
    return {};
  });
  return code != hipSuccess ? code : synchronised();
}
hipError_t synchronise_device() {
  wait_for_device(Runtime::current_device());
  order_host_waits_for_device(Runtime::current_device());
  return synchronised();
}
/// hipErrorNotReady is an answer, not a failure: it is not remembered.
hipError_t query_stream(const char* call, hipStream_t stream) {
  const hipError_t code = api(call, [&] { return check_not_captured(stream); });
  if (code != hipSuccess) return code;
  if (!before_next(stream).empty()) return hipErrorNotReady;
  order_host_waits(stream);
  return synchronised();
}

Outcome check_event(hipEvent_t handle) {
  const auto event = MARGAY_TRY(find_event(handle));
  if (event->captured_in() == nullptr) return {};
  return refuse(hipErrorCapturedEvent,
                "The event was recorded in a stream that is being captured: it never happens.");
}
std::shared_ptr<Pending> pending_of(hipEvent_t handle) {
  const auto event = Runtime::instance().events().find(handle);
  auto pending = event == nullptr ? nullptr : event->pending.load();
  return pending == nullptr || pending->done() ? nullptr : pending;
}
hipError_t synchronise_event(const char* call, hipEvent_t handle) {
  const hipError_t code = api(call, [&] { return check_event(handle); });
  if (code != hipSuccess) return code;
  if (const auto pending = pending_of(handle)) pending->wait();
  order_host_waits_for_event(handle);
  return synchronised();
}
hipError_t query_event(const char* call, hipEvent_t handle) {
  const hipError_t code = api(call, [&] { return check_event(handle); });
  if (code != hipSuccess) return code;
  if (pending_of(handle) != nullptr) return hipErrorNotReady;
  order_host_waits_for_event(handle);
  return synchronised();
}

Outcome create_stream(hipStream_t* out, unsigned flags, int priority) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The stream is a null pointer.");
  if ((flags & ~kStreamFlags) != 0) {
    return refuse(hipErrorInvalidValue, "The stream flags hold an unknown bit.",
                  "Use hipStreamDefault or hipStreamNonBlocking.");
  }
  static std::atomic<unsigned> last_number = 0;
  auto stream = std::make_shared<ihipStream_t>();
  stream->number = ++last_number;
  stream->flags = flags;
  stream->device = Runtime::current_device();
  stream->priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  *out = Runtime::instance().streams().add(std::move(stream));
  return {};
}

Outcome create_event(hipEvent_t* out, unsigned flags) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The event is a null pointer.");
  if ((flags & ~kEventFlags) != 0) {
    return refuse(hipErrorInvalidValue, "The event flags hold an unknown bit.");
  }
  *out = Runtime::instance().events().add(std::make_shared<ihipEvent_t>(flags));
  return {};
}

Outcome call_host_function(hipStream_t stream, hipHostFn_t function, void* argument) {
  if (function == nullptr) return refuse(hipErrorInvalidValue, "The function is a null pointer.");
  return on_stream_in_background(stream, [=]() -> Outcome {
    function(argument);
    return {};
  });
}

Outcome call_back(hipStream_t stream, hipStreamCallback_t callback, void* argument,
                  unsigned flags) {
  MARGAY_CHECK(check_stream(stream));
  if (callback == nullptr) return refuse(hipErrorInvalidValue, "The callback is a null pointer.");
  if (flags != 0) return refuse(hipErrorInvalidValue, "The callback flags have to be 0.");
  return on_stream_in_background(stream, [=]() -> Outcome {
    callback(stream, Runtime::instance().launch_failure(), argument);
    return {};
  });
}

template <typename T>
Outcome read_stream(hipStream_t handle, T* out, T ihipStream_t::* field) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  MARGAY_CHECK(check_stream(handle));
  *out = is_implicit_stream(handle) ? T{} : (*Runtime::instance().streams().find(handle)).*field;
  return {};
}

}  // namespace

Outcome check_stream(hipStream_t stream) {
  if (is_implicit_stream(stream) || Runtime::instance().streams().find(stream)) return {};
  return refuse(hipErrorContextIsDestroyed,
                "The stream was destroyed, or is not a stream of this program.",
                "Pass a stream that hipStreamCreate gave, before hipStreamDestroy.");
}

unsigned device_of(hipStream_t handle) {
  const auto stream =
      is_implicit_stream(handle) ? nullptr : Runtime::instance().streams().find(handle);
  return stream == nullptr ? Runtime::current_device() : stream->device;
}

Answer<std::shared_ptr<ihipEvent_t>> find_event(hipEvent_t handle) {
  std::shared_ptr<ihipEvent_t> event = Runtime::instance().events().find(handle);
  if (event == nullptr) {
    return refuse(hipErrorInvalidHandle,
                  "The event was destroyed, or is not an event of this program.",
                  "Pass an event that hipEventCreate gave, before hipEventDestroy.");
  }
  return event;
}

Outcome record_if_given(hipEvent_t handle) {
  if (handle == nullptr) return {};
  MARGAY_TRY(find_event(handle))->record();
  order_recorded(handle);
  return {};
}

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
    MARGAY_CHECK(check_stream(stream));
    order_stream_gone(stream);
    forget_stream(stream);
    Runtime::instance().streams().remove(stream);
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

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int) {
  return api(__func__, [&] { return wait_for_event(stream, event); });
}
hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned int) {
  return api(__func__, [&] { return wait_for_event(stream, event); });
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

int hipGetStreamDeviceId(hipStream_t stream) { return static_cast<int>(device_of(stream)); }
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  return api(__func__, [&]() -> Outcome {
    if (device == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
    MARGAY_CHECK(check_stream(stream));
    *device = static_cast<hipDevice_t>(device_of(stream));
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
    MARGAY_TRY(find_event(event));
    order_event_gone(event);
    Runtime::instance().events().remove(event);
    return {};
  });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return api(__func__, [&] { return record_event(event, stream); });
}
hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream) {
  return api(__func__, [&] { return record_event(event, stream); });
}
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned int) {
  return api(__func__, [&] { return record_event(event, stream); });
}

hipError_t hipEventSynchronize(hipEvent_t event) { return synchronise_event(__func__, event); }

hipError_t hipEventQuery(hipEvent_t event) { return query_event(__func__, event); }

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return api(__func__, [&]() -> Outcome {
    if (milliseconds == nullptr) {
      return refuse(hipErrorInvalidValue, "The result is a null pointer.");
    }
    const auto first = MARGAY_TRY(find_event(start));
    const auto last = MARGAY_TRY(find_event(stop));
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
    order_host_waits_for_event(start);
    order_host_waits_for_event(stop);
    *milliseconds = std::chrono::duration<float, std::milli>(*end - *begin).count();
    return {};
  });
}

}  // extern "C"
