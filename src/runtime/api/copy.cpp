// The HIP calls that copy and fill memory. Streams are in order, so the asynchronous forms do the
// work at once.
#include <cstddef>
#include <cstdint>

#include "runtime/process/call.h"

namespace margay::runtime {
namespace {

Outcome copy(void* destination, const void* source, std::size_t bytes, hipMemcpyKind kind,
             hipStream_t stream = nullptr) {
  MARGAY_CHECK(check_kind(kind));
  return process().captures.on_stream(stream, hipGraphNodeTypeMemcpy1D, [=] {
    return process().copies.copy(destination, source, bytes);
  });
}

Outcome copy_2d(void* destination, std::size_t destination_pitch, const void* source,
                std::size_t source_pitch, std::size_t width, std::size_t height, hipMemcpyKind kind,
                hipStream_t stream = nullptr) {
  MARGAY_CHECK(check_kind(kind));
  return process().captures.on_stream(stream, hipGraphNodeTypeMemcpy, [=] {
    return process().copies.copy_rows({destination, destination_pitch, width, height},
                                      {source, source_pitch, width, height});
  });
}

Outcome copy_3d(const hipMemcpy3DParms* p, hipStream_t stream) {
  MARGAY_CHECK(process().streams.check(stream));
  MARGAY_CHECK(check_box(p));
  return process().captures.on_stream(stream, hipGraphNodeTypeMemcpy,
                                      [box = *p] { return process().copies.copy_box(box); });
}

// The structure names memory by type, and only two types exist here: host and device.
Outcome copy_param_2d(const hip_Memcpy2D* p, hipStream_t stream) {
  MARGAY_CHECK(process().streams.check(stream));
  if (p == nullptr) return refuse(hipErrorInvalidValue, "The parameters are a null pointer.");
  if (p->srcArray != nullptr || p->dstArray != nullptr) {
    return refuse(hipErrorNotSupported, "Arrays are not there in Margay.",
                  "Use pitched linear memory from hipMallocPitch.");
  }
  const void* const source = p->srcHost != nullptr ? p->srcHost : p->srcDevice;
  void* const destination = p->dstHost != nullptr ? p->dstHost : p->dstDevice;
  if (source == nullptr || destination == nullptr) {
    return refuse(hipErrorInvalidValue, "The source or the destination is a null pointer.");
  }
  const Rows to{static_cast<std::byte*>(destination) + p->dstY * p->dstPitch + p->dstXInBytes,
                p->dstPitch, p->WidthInBytes, p->Height};
  const Rows from{static_cast<const std::byte*>(source) + p->srcY * p->srcPitch + p->srcXInBytes,
                  p->srcPitch, p->WidthInBytes, p->Height};
  return process().captures.on_stream(stream, hipGraphNodeTypeMemcpy,
                                      [=] { return process().copies.copy_rows(to, from); });
}

/// The kinds that end, or begin, at the device are right.
Outcome check_kind(hipMemcpyKind kind, hipMemcpyKind right) {
  if (kind == right || kind == hipMemcpyDeviceToDevice || kind == hipMemcpyDefault) return {};
  return refuse(hipErrorInvalidMemcpyDirection, "A variable of the device is no host memory.",
                "Use hipMemcpyHostToDevice to write it, hipMemcpyDeviceToHost to read it.");
}

Outcome copy_to_symbol(const void* symbol, const void* source, std::size_t bytes,
                       std::size_t offset, hipMemcpyKind kind, hipStream_t stream = nullptr) {
  MARGAY_CHECK(check_kind(kind, hipMemcpyHostToDevice));
  return copy(MARGAY_TRY(process().registry.in_symbol(symbol, bytes, offset)), source, bytes, kind,
              stream);
}

Outcome copy_from_symbol(void* destination, const void* symbol, std::size_t bytes,
                         std::size_t offset, hipMemcpyKind kind, hipStream_t stream = nullptr) {
  MARGAY_CHECK(check_kind(kind, hipMemcpyDeviceToHost));
  return copy(destination, MARGAY_TRY(process().registry.in_symbol(symbol, bytes, offset)), bytes,
              kind, stream);
}

Outcome copy_peer(void* destination, int destination_device, const void* source, int source_device,
                  std::size_t bytes, hipStream_t stream) {
  MARGAY_CHECK(process().devices.check(destination_device));
  MARGAY_CHECK(process().devices.check(source_device));
  return copy(destination, source, bytes, hipMemcpyDeviceToDevice, stream);
}

template <typename T>
Outcome fill(void* destination, T value, std::size_t count, hipStream_t stream = nullptr) {
  return process().captures.on_stream(stream, hipGraphNodeTypeMemset, [=] {
    return process().copies.fill(destination, value, count);
  });
}

Outcome fill_bytes(void* destination, int value, std::size_t bytes, hipStream_t stream = nullptr) {
  return fill(destination, static_cast<std::uint8_t>(value), bytes, stream);
}

Outcome fill_2d(void* destination, std::size_t pitch, int value, std::size_t width,
                std::size_t height, hipStream_t stream = nullptr) {
  return process().captures.on_stream(stream, hipGraphNodeTypeMemset, [=] {
    return process().copies.fill_rows(destination, pitch, value, width, height);
  });
}

Outcome fill_3d(hipPitchedPtr memory, int value, hipExtent extent, hipStream_t stream = nullptr) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    void* const slice = static_cast<std::byte*>(memory.ptr) + z * memory.ysize * memory.pitch;
    MARGAY_CHECK(fill_2d(slice, memory.pitch, value, extent.width, extent.height, stream));
  }
  return {};
}

/// A fill that is not asynchronous is assumed to be complete when its call returns, although HIP
/// does not require that for device memory.
template <typename Body>
hipError_t filled(const char* call, Body&& body) {
  return api(call, [&]() -> Outcome {
    const SynchronousScope synchronous;
    MARGAY_CHECK(body());
    process().ordering.host_waits(nullptr);
    process().timeline.host_waits(process().timeline.now(process().streams.order_of(nullptr)));
    return {};
  });
}

/// A synchronous call, even if its work follows work in flight.
template <typename Body>
hipError_t complete(const char* call, hipStream_t stream, Body&& body) {
  return api(call, [&]() -> Outcome {
    const SynchronousScope synchronous;
    MARGAY_CHECK(body());
    process().in_flight.wait_for_stream(stream);
    process().ordering.host_waits(stream);
    process().timeline.host_waits(process().timeline.now(process().streams.order_of(stream)));
    return {};
  });
}

}  // namespace

}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  return complete(__func__, nullptr, [&] { return copy(to, from, bytes, kind); });
}
hipError_t hipMemcpy_spt(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  return complete(__func__, nullptr, [&] { return copy(to, from, bytes, kind); });
}
hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream) {
  return api(__func__, [&] { return copy(to, from, bytes, kind, stream); });
}
hipError_t hipMemcpyAsync_spt(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind,
                              hipStream_t stream) {
  return api(__func__, [&] { return copy(to, from, bytes, kind, stream); });
}
hipError_t hipMemcpyWithStream(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind,
                               hipStream_t stream) {
  return complete(__func__, stream, [&] { return copy(to, from, bytes, kind, stream); });
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void* from, std::size_t bytes) {
  return complete(__func__, nullptr, [&] { return copy(to, from, bytes, hipMemcpyHostToDevice); });
}
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, std::size_t bytes) {
  return complete(__func__, nullptr, [&] { return copy(to, from, bytes, hipMemcpyDeviceToHost); });
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, std::size_t bytes) {
  return complete(__func__, nullptr,
                  [&] { return copy(to, from, bytes, hipMemcpyDeviceToDevice); });
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void* from, std::size_t bytes,
                              hipStream_t stream) {
  return api(__func__, [&] { return copy(to, from, bytes, hipMemcpyHostToDevice, stream); });
}
hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, std::size_t bytes,
                              hipStream_t stream) {
  return api(__func__, [&] { return copy(to, from, bytes, hipMemcpyDeviceToHost, stream); });
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, std::size_t bytes,
                              hipStream_t stream) {
  return api(__func__, [&] { return copy(to, from, bytes, hipMemcpyDeviceToDevice, stream); });
}

hipError_t hipMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                       std::size_t width, std::size_t height, hipMemcpyKind kind) {
  return complete(__func__, nullptr,
                  [&] { return copy_2d(to, to_pitch, from, from_pitch, width, height, kind); });
}
hipError_t hipMemcpy2D_spt(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                           std::size_t width, std::size_t height, hipMemcpyKind kind) {
  return complete(__func__, nullptr,
                  [&] { return copy_2d(to, to_pitch, from, from_pitch, width, height, kind); });
}
hipError_t hipMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                            std::size_t from_pitch, std::size_t width, std::size_t height,
                            hipMemcpyKind kind, hipStream_t stream) {
  return api(__func__,
             [&] { return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, stream); });
}
hipError_t hipMemcpy2DAsync_spt(void* to, std::size_t to_pitch, const void* from,
                                std::size_t from_pitch, std::size_t width, std::size_t height,
                                hipMemcpyKind kind, hipStream_t stream) {
  return api(__func__,
             [&] { return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, stream); });
}
hipError_t hipMemcpyParam2D(const hip_Memcpy2D* parameters) {
  return complete(__func__, nullptr, [&] { return copy_param_2d(parameters, nullptr); });
}
hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* parameters, hipStream_t stream) {
  return api(__func__, [&] { return copy_param_2d(parameters, stream); });
}
hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* parameters) {
  return complete(__func__, nullptr, [&] { return copy_param_2d(parameters, nullptr); });
}
hipError_t hipMemcpy3D(const hipMemcpy3DParms* parameters) {
  return complete(__func__, nullptr, [&] { return copy_3d(parameters, nullptr); });
}
hipError_t hipMemcpy3D_spt(const hipMemcpy3DParms* parameters) {
  return complete(__func__, nullptr, [&] { return copy_3d(parameters, nullptr); });
}
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* parameters, hipStream_t stream) {
  return api(__func__, [&] { return copy_3d(parameters, stream); });
}

hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                         std::size_t bytes) {
  return complete(__func__, nullptr,
                  [&] { return copy_peer(to, to_device, from, from_device, bytes, nullptr); });
}
hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                              std::size_t bytes, hipStream_t stream) {
  return api(__func__, [&] { return copy_peer(to, to_device, from, from_device, bytes, stream); });
}

hipError_t hipMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                             std::size_t offset, hipMemcpyKind kind) {
  return complete(__func__, nullptr,
                  [&] { return copy_to_symbol(symbol, from, bytes, offset, kind); });
}
hipError_t hipMemcpyToSymbol_spt(const void* symbol, const void* from, std::size_t bytes,
                                 std::size_t offset, hipMemcpyKind kind) {
  return complete(__func__, nullptr,
                  [&] { return copy_to_symbol(symbol, from, bytes, offset, kind); });
}
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                  std::size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return api(__func__, [&] { return copy_to_symbol(symbol, from, bytes, offset, kind, stream); });
}
hipError_t hipMemcpyToSymbolAsync_spt(const void* symbol, const void* from, std::size_t bytes,
                                      std::size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return api(__func__, [&] { return copy_to_symbol(symbol, from, bytes, offset, kind, stream); });
}
hipError_t hipMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                               hipMemcpyKind kind) {
  return complete(__func__, nullptr,
                  [&] { return copy_from_symbol(to, symbol, bytes, offset, kind); });
}
hipError_t hipMemcpyFromSymbol_spt(void* to, const void* symbol, std::size_t bytes,
                                   std::size_t offset, hipMemcpyKind kind) {
  return complete(__func__, nullptr,
                  [&] { return copy_from_symbol(to, symbol, bytes, offset, kind); });
}
hipError_t hipMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                    std::size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return api(__func__, [&] { return copy_from_symbol(to, symbol, bytes, offset, kind, stream); });
}
hipError_t hipMemcpyFromSymbolAsync_spt(void* to, const void* symbol, std::size_t bytes,
                                        std::size_t offset, hipMemcpyKind kind,
                                        hipStream_t stream) {
  return api(__func__, [&] { return copy_from_symbol(to, symbol, bytes, offset, kind, stream); });
}
hipError_t hipGetSymbolAddress(void** address, const void* symbol) {
  return api(__func__, [&]() -> Outcome {
    if (address == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
    *address = MARGAY_TRY(process().registry.in_symbol(symbol, 0, 0));
    return {};
  });
}
hipError_t hipGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return api(__func__, [&]() -> Outcome {
    if (bytes == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
    *bytes = MARGAY_TRY(process().registry.variable(symbol, Devices::current())).size_bytes;
    return {};
  });
}

hipError_t hipMemset(void* to, int value, std::size_t bytes) {
  return filled(__func__, [&] { return fill_bytes(to, value, bytes); });
}
hipError_t hipMemset_spt(void* to, int value, std::size_t bytes) {
  return filled(__func__, [&] { return fill_bytes(to, value, bytes); });
}
hipError_t hipMemsetAsync(void* to, int value, std::size_t bytes, hipStream_t stream) {
  return api(__func__, [&] { return fill_bytes(to, value, bytes, stream); });
}
hipError_t hipMemsetAsync_spt(void* to, int value, std::size_t bytes, hipStream_t stream) {
  return api(__func__, [&] { return fill_bytes(to, value, bytes, stream); });
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, std::size_t count) {
  return filled(__func__, [&] { return fill(to, std::uint8_t{value}, count); });
}
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, std::size_t count,
                            hipStream_t stream) {
  return api(__func__, [&] { return fill(to, std::uint8_t{value}, count, stream); });
}
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, std::size_t count) {
  return filled(__func__, [&] { return fill(to, std::uint16_t{value}, count); });
}
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, std::size_t count,
                             hipStream_t stream) {
  return api(__func__, [&] { return fill(to, std::uint16_t{value}, count, stream); });
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, std::size_t count) {
  return filled(__func__, [&] { return fill(to, std::int32_t{value}, count); });
}
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, std::size_t count, hipStream_t stream) {
  return api(__func__, [&] { return fill(to, std::int32_t{value}, count, stream); });
}
hipError_t hipMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                       std::size_t height) {
  return filled(__func__, [&] { return fill_2d(to, pitch, value, width, height); });
}
hipError_t hipMemset2D_spt(void* to, std::size_t pitch, int value, std::size_t width,
                           std::size_t height) {
  return filled(__func__, [&] { return fill_2d(to, pitch, value, width, height); });
}
hipError_t hipMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                            std::size_t height, hipStream_t stream) {
  return api(__func__, [&] { return fill_2d(to, pitch, value, width, height, stream); });
}
hipError_t hipMemset2DAsync_spt(void* to, std::size_t pitch, int value, std::size_t width,
                                std::size_t height, hipStream_t stream) {
  return api(__func__, [&] { return fill_2d(to, pitch, value, width, height, stream); });
}
hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent extent) {
  return filled(__func__, [&] { return fill_3d(to, value, extent); });
}
hipError_t hipMemset3D_spt(hipPitchedPtr to, int value, hipExtent extent) {
  return filled(__func__, [&] { return fill_3d(to, value, extent); });
}
hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream) {
  return api(__func__, [&] { return fill_3d(to, value, extent, stream); });
}

}  // extern "C"
