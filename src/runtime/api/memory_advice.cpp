// The HIP calls that set and query advice on managed memory.
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/process/call.h"

namespace margay::runtime {
namespace {

constexpr int kNowhere = Advice::kNowhere;

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

Answer<Range> range_of(const void* pointer, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uint64_t>(pointer);
  if (pointer == nullptr || bytes == 0 || begin + bytes < begin)
    return refuse(hipErrorInvalidValue, "The memory is null or empty.");
  return Range{begin, begin + bytes};
}

Outcome check_place(int device) {
  if (device == hipCpuDeviceId) return {};
  return process().devices.check(device);
}

Outcome advise(const void* pointer, std::size_t bytes, hipMemoryAdvise what, int device) {
  const Range range = MARGAY_TRY(range_of(pointer, bytes));
  const auto change = [&](auto&& how) -> Outcome {
    process().allocator.advice().change(range.begin, range.end, how);
    return {};
  };
  switch (what) {
    case hipMemAdviseSetReadMostly:
    case hipMemAdviseUnsetReadMostly:
      return change([&](Advice& a) { a.read_mostly = what == hipMemAdviseSetReadMostly; });
    case hipMemAdviseSetPreferredLocation:
      MARGAY_CHECK(check_place(device));
      return change([&](Advice& a) { a.preferred = device; });
    case hipMemAdviseUnsetPreferredLocation:
      return change([](Advice& a) { a.preferred = kNowhere; });
    case hipMemAdviseSetAccessedBy:
      MARGAY_CHECK(check_place(device));
      return change([&](Advice& a) { a.accessed_by.insert(device); });
    case hipMemAdviseUnsetAccessedBy:
      return change([&](Advice& a) { a.accessed_by.erase(device); });
    case hipMemAdviseSetCoarseGrain:
    case hipMemAdviseUnsetCoarseGrain:
      return change([&](Advice& a) { a.coarse = what == hipMemAdviseSetCoarseGrain; });
  }
  return refuse(hipErrorInvalidValue, "The advice is not one of hipMemAdvise*.");
}

/// The devices that all parts were advised to be accessed by; kNowhere fills the rest.
void give_devices(const std::vector<Advice>& parts, std::span<int> out) {
  std::ranges::fill(out, kNowhere);
  std::size_t n = 0;
  for (const int device : parts.front().accessed_by)
    if (n < out.size() &&
        std::ranges::all_of(parts, [&](const Advice& a) { return a.accessed_by.contains(device); }))
      out[n++] = device;
}

/// A property that all parts agree on, or `otherwise`.
template <typename Property>
int common(const std::vector<Advice>& parts, Property Advice::* property, int otherwise) {
  const Property first = parts.front().*property;
  const bool same =
      std::ranges::all_of(parts, [&](const Advice& a) { return a.*property == first; });
  return same ? static_cast<int>(first) : otherwise;
}

Outcome attribute(void* data, std::size_t data_bytes, hipMemRangeAttribute what,
                  const void* pointer, std::size_t bytes) {
  const Range range = MARGAY_TRY(range_of(pointer, bytes));
  if (data == nullptr || data_bytes == 0 || data_bytes % sizeof(int) != 0)
    return refuse(hipErrorInvalidValue, "The result is null, or its size is not one of integers.");
  const std::vector<Advice> parts = process().allocator.advice().of(range.begin, range.end);
  if (what == hipMemRangeAttributeAccessedBy) {
    give_devices(parts, {static_cast<int*>(data), data_bytes / sizeof(int)});
    return {};
  }
  if (data_bytes != sizeof(int))
    return refuse(hipErrorInvalidValue, "The result of this attribute is one 32-bit integer.");
  int value = 0;
  switch (what) {
    case hipMemRangeAttributeReadMostly:
      value = common(parts, &Advice::read_mostly, 0);
      break;
    case hipMemRangeAttributePreferredLocation:
      value = common(parts, &Advice::preferred, kNowhere);
      break;
    case hipMemRangeAttributeLastPrefetchLocation:
      value = common(parts, &Advice::prefetched, kNowhere);
      break;
    case hipMemRangeAttributeCoherencyMode:
      value = common(parts, &Advice::coarse, hipMemRangeCoherencyModeIndeterminate);
      break;
    default:
      return refuse(hipErrorInvalidValue, "The attribute is not one of hipMemRangeAttribute*.");
  }
  static_assert(hipMemRangeCoherencyModeFineGrain == 0 && hipMemRangeCoherencyModeCoarseGrain == 1);
  std::memcpy(data, &value, sizeof value);
  return {};
}

}  // namespace

}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipMemAdvise(const void* pointer, std::size_t bytes, hipMemoryAdvise what, int device) {
  return api(__func__, [&] { return advise(pointer, bytes, what, device); });
}
hipError_t hipMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                               hipStream_t stream) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(process().streams.check(stream));
    const Range range = MARGAY_TRY(range_of(pointer, bytes));
    MARGAY_CHECK(check_place(device));
    process().allocator.advice().change(range.begin, range.end,
                                        [&](Advice& a) { a.prefetched = device; });
    return {};
  });
}
hipError_t hipMemRangeGetAttribute(void* data, std::size_t data_bytes, hipMemRangeAttribute what,
                                   const void* pointer, std::size_t bytes) {
  return api(__func__, [&] { return attribute(data, data_bytes, what, pointer, bytes); });
}
hipError_t hipMemRangeGetAttributes(void** data, std::size_t* data_bytes,
                                    hipMemRangeAttribute* attributes, std::size_t count,
                                    const void* pointer, std::size_t bytes) {
  return api(__func__, [&]() -> Outcome {
    if (data == nullptr || data_bytes == nullptr || attributes == nullptr || count == 0)
      return refuse(hipErrorInvalidValue, "A list is a null pointer or empty.");
    for (std::size_t n = 0; n < count; ++n)
      MARGAY_CHECK(attribute(data[n], data_bytes[n], attributes[n], pointer, bytes));
    return {};
  });
}
hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* pointer, std::size_t, unsigned int) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(process().streams.check(stream));
    MARGAY_TRY(range_of(pointer, 1));
    return {};
  });
}

}  // extern "C"
