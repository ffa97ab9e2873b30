// See streams.h.
#include "runtime/stream/streams.h"

#include <thread>
#include <utility>

#include "runtime/device/devices.h"

namespace margay::runtime {

hipStream_t Streams::create(unsigned flags, int priority) {
  auto stream = std::make_shared<ihipStream_t>();
  stream->number = ++last_number_;
  stream->flags = flags;
  stream->device = Devices::current();
  stream->priority = priority;
  return streams_.add(std::move(stream));
}

std::shared_ptr<ihipStream_t> Streams::find(hipStream_t handle) const {
  return is_implicit_stream(handle) ? nullptr : streams_.find(handle);
}

void Streams::remove_all(unsigned device) {
  streams_.remove_if([&](const ihipStream_t& stream) { return stream.device == device; });
}

Outcome Streams::check(hipStream_t handle) const {
  if (is_implicit_stream(handle) || streams_.find(handle) != nullptr) return {};
  return refuse(hipErrorContextIsDestroyed,
                "The stream was destroyed, or is not a stream of this program.",
                "Pass a stream that hipStreamCreate gave, before hipStreamDestroy.");
}

unsigned Streams::device_of(hipStream_t handle) const {
  const auto stream = find(handle);
  return stream == nullptr ? Devices::current() : stream->device;
}

Order Streams::order_of(hipStream_t handle) const {
  const auto stream = find(handle);
  Order order{.stream = handle,
              .device = stream == nullptr ? Devices::current() : stream->device,
              .thread = {},
              .waits_for_null = false};
  if (handle == hipStreamPerThread) {
    order.thread = std::this_thread::get_id();
    order.waits_for_null = true;
  } else if (is_implicit_stream(handle)) {
    order.stream = nullptr;
  } else if (stream != nullptr) {
    order.waits_for_null = (stream->flags & hipStreamNonBlocking) == 0;
  }
  return order;
}

hipEvent_t Streams::create_event(unsigned flags) {
  return events_.add(std::make_shared<ihipEvent_t>(flags));
}

Answer<std::shared_ptr<ihipEvent_t>> Streams::find_event(hipEvent_t handle) const {
  std::shared_ptr<ihipEvent_t> event = events_.find(handle);
  if (event == nullptr) {
    return refuse(hipErrorInvalidHandle,
                  "The event was destroyed, or is not an event of this program.",
                  "Pass an event that hipEventCreate gave, before hipEventDestroy.");
  }
  return event;
}

}  // namespace margay::runtime
