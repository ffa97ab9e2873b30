// Calls from a kernel to the host: how device-side printf, assert and malloc reach it.
//
// The device library's side (__ockl_hostcall_internal) takes a packet off a stack of free ones,
// fills it, pushes it on a stack of ready ones, adds to a doorbell signal and waits until the host
// clears the packet's ready bit. Here the host thread that runs the wave is the host: it
// periodically checks the ready stack while the wave runs. Source: the LLVM IR of ockl.bc (ROCm
// device libraries 5.2; the protocol is that of every later release) for the structures; the names
// of the services from ROCm clr, device/devhostcall.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/error.h"
#include "exec/state/memory.h"
#include "exec/workgroup/launch_request.h"

namespace margay {

class HostcallBuffer {
 public:
  /// Of its memory.
  static constexpr std::string_view kLabel = "host calls";
  /// `service` must outlive the buffer.
  [[nodiscard]] static Result<std::unique_ptr<HostcallBuffer>> create(Memory& memory,
                                                                      const HostService& service);
  ~HostcallBuffer();
  HostcallBuffer(const HostcallBuffer&) = delete;
  HostcallBuffer& operator=(const HostcallBuffer&) = delete;

  /// What a kernel finds in hidden_hostcall_buffer.
  [[nodiscard]] std::uint64_t address() const;
  /// Makes every packet free again: a launch that was stopped may have left some behind.
  void reset();
  /// True when a wave waits for an answer.
  [[nodiscard]] bool pending() const;
  /// Answers all ready packets. An error means that a call could not be answered.
  [[nodiscard]] Status serve();

 private:
  struct Buffer;
  struct PacketHeader;
  struct Payload;

  HostcallBuffer(Memory& memory, const HostService& service, std::byte* block);
  [[nodiscard]] Status answer(PacketHeader& header, Payload& payload);

  Memory& memory_;
  const HostService& service_;
  std::byte* const block_;
  Buffer* const buffer_;
  PacketHeader* const headers_;
  Payload* const payloads_;
  std::mutex mutex_;  // one thread at a time answers, so that what it prints is not mixed
};

}  // namespace margay
