// hipStreamWaitValue and hipStreamWriteValue: a stream that waits for a word of memory, or sets
// one.
#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/memory/memory_range.h"
#include "runtime/process/call.h"
#include "runtime/watch/checking.h"

namespace margay::runtime {
namespace {

/// Source: HIP documentation, "Stream memory operations".
template <typename T>
bool holds(T memory, T value, unsigned comparison, T mask) {
  switch (comparison) {
    case hipStreamWaitValueGte:
      return (memory & mask) >= value;
    case hipStreamWaitValueEq:
      return (memory & mask) == value;
    case hipStreamWaitValueAnd:
      return ((memory & mask) & value) != 0;
    default:
      return static_cast<T>(~((memory & mask) | (value & mask))) != 0;
  }
}

template <typename T>
Outcome check_word(hipStream_t stream, void* at) {
  MARGAY_CHECK(process().streams.check(stream));
  if (reinterpret_cast<std::uintptr_t>(at) % sizeof(T) != 0)
    return refuse(hipErrorInvalidValue, "The address is not a multiple of the word's size.");
  return check_range(process().devices, at, sizeof(T), "word");
}

template <typename T>
Outcome wait_for_value(hipStream_t stream, void* at, T value, unsigned comparison, T mask) {
  constexpr std::chrono::microseconds kLook{50};
  MARGAY_CHECK(check_word<T>(stream, at));
  if (comparison > hipStreamWaitValueNor)
    return refuse(hipErrorInvalidValue, "The comparison is not one of hipStreamWaitValue*.");
  // The writer of the word may have published everything before it.
  process().ordering.stream_waits_for_all(stream);
  const auto reached = [=] {
    return holds<T>(std::atomic_ref(*static_cast<T*>(at)).load(), value, comparison, mask);
  };
  const Work wait = [=]() -> Outcome {
    while (!reached()) std::this_thread::sleep_for(kLook);
    return {};
  };
  return process().captures.on_stream(
      stream, hipGraphNodeTypeHost, wait,
      [&]() -> Answer<Work> { return reached() ? Work{} : wait; }, "hipStreamWaitValue");
}

template <typename T>
Outcome write_value(hipStream_t stream, void* at, T value) {
  MARGAY_CHECK(check_word<T>(stream, at));
  process().ordering.host_waits(stream);  // by the word
  return process().captures.on_stream(stream, hipGraphNodeTypeHost, [=]() -> Outcome {
    if (const auto checking = process().watchers.checking())
      checking->memory().written(reinterpret_cast<std::uint64_t>(at), sizeof value);
    std::atomic_ref(*static_cast<T*>(at)).store(value);
    return {};
  });
}

}  // namespace
}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipStreamWaitValue32(hipStream_t stream, void* at, std::uint32_t value,
                                unsigned int comparison, std::uint32_t mask) {
  return api(__func__, [&] { return wait_for_value(stream, at, value, comparison, mask); });
}
hipError_t hipStreamWaitValue64(hipStream_t stream, void* at, std::uint64_t value,
                                unsigned int comparison, std::uint64_t mask) {
  return api(__func__, [&] { return wait_for_value(stream, at, value, comparison, mask); });
}
hipError_t hipStreamWriteValue32(hipStream_t stream, void* at, std::uint32_t value, unsigned int) {
  return api(__func__, [&] { return write_value(stream, at, value); });
}
hipError_t hipStreamWriteValue64(hipStream_t stream, void* at, std::uint64_t value, unsigned int) {
  return api(__func__, [&] { return write_value(stream, at, value); });
}

}  // extern "C"
