#include "exec/workgroup/hostcall.h"

#include <bit>

namespace margay {
namespace {

/// One for every wave that can be resident on the device, rounded up to a power of two: the device
/// library does not check whether the stack of free packets is empty.
constexpr std::uint64_t kPackets = 16384;
constexpr std::uint64_t kIndexMask = kPackets - 1;
constexpr std::uint32_t kReadyBit = 1;
constexpr std::uint32_t kLanes = 64;

/// The part of an HSA signal that the device library touches; with no mailbox it sends no
/// interrupt. Source: HSA runtime, amd_hsa_signal.h.
struct Signal {
  std::int64_t kind = 1;
  std::int64_t value = 0;
  std::uint64_t event_mailbox = 0;
  std::uint32_t event_id = 0;
  std::uint32_t reserved[9] = {};
};
static_assert(sizeof(Signal) == 64);

}  // namespace

struct HostcallBuffer::PacketHeader {
  std::uint64_t next;  ///< The next packet on the same stack: an index with a tag above it, or 0.
  std::uint64_t active_lanes;
  std::uint32_t service;
  std::uint32_t control;
};

struct HostcallBuffer::Payload {
  std::uint64_t slots[kLanes][8];
};

struct HostcallBuffer::Buffer {
  PacketHeader* headers;
  Payload* payloads;
  Signal* doorbell;
  std::uint64_t free_stack;
  std::uint64_t ready_stack;
  std::uint64_t index_mask;
};

namespace {

constexpr std::size_t kSignalOffset = 64;
constexpr std::size_t kHeadersOffset = kSignalOffset + sizeof(Signal);

}  // namespace

Result<std::unique_ptr<HostcallBuffer>> HostcallBuffer::create(Memory& memory,
                                                               const HostService& service) {
  static_assert(sizeof(Buffer) <= kSignalOffset && std::has_single_bit(kPackets));
  const std::size_t bytes = kHeadersOffset + kPackets * (sizeof(PacketHeader) + sizeof(Payload));
  void* const block =
      MARGAY_TRY(memory.allocate(bytes, std::string(kLabel), {.device = 0, .shared = true}));
  return std::unique_ptr<HostcallBuffer>(
      new HostcallBuffer(memory, service, static_cast<std::byte*>(block)));
}

HostcallBuffer::HostcallBuffer(Memory& memory, const HostService& service, std::byte* block)
    : memory_(memory),
      service_(service),
      block_(block),
      buffer_(new(block) Buffer),
      headers_(reinterpret_cast<PacketHeader*>(block + kHeadersOffset)),
      payloads_(
          reinterpret_cast<Payload*>(block + kHeadersOffset + kPackets * sizeof(PacketHeader))) {
  buffer_->headers = headers_;
  buffer_->payloads = payloads_;
  buffer_->doorbell = new (block + kSignalOffset) Signal;
  buffer_->index_mask = kIndexMask;
  reset();
}

HostcallBuffer::~HostcallBuffer() { (void)memory_.free(block_); }

std::uint64_t HostcallBuffer::address() const { return reinterpret_cast<std::uint64_t>(buffer_); }

void HostcallBuffer::reset() {
  // 0 ends a stack, so the reference to packet 0 carries a tag from the beginning.
  constexpr std::uint64_t kFirst = kPackets;
  for (std::uint64_t n = 0; n < kPackets; ++n)
    headers_[n].next = n + 1 == kPackets ? 0 : kFirst + n + 1;
  buffer_->free_stack = kFirst;
  buffer_->ready_stack = 0;
}

bool HostcallBuffer::pending() const {
  return std::atomic_ref(buffer_->ready_stack).load(std::memory_order_relaxed) != 0;
}

Status HostcallBuffer::serve() {
  const std::lock_guard lock(mutex_);
  std::uint64_t at = std::atomic_ref(buffer_->ready_stack).exchange(0, std::memory_order_acquire);
  // The oldest packet is the deepest.
  std::uint64_t oldest = 0;
  while (at != 0) {
    std::uint64_t& next = headers_[at & kIndexMask].next;
    const std::uint64_t deeper = next;
    next = oldest;
    oldest = at;
    at = deeper;
  }
  while (oldest != 0) {
    PacketHeader& header = headers_[oldest & kIndexMask];
    // Its wave may push the packet again as soon as it is answered.
    const std::uint64_t later = header.next;
    MARGAY_CHECK(answer(header, payloads_[oldest & kIndexMask]));
    oldest = later;
  }
  return {};
}

Status HostcallBuffer::answer(PacketHeader& header, Payload& payload) {
  for (std::uint64_t lanes = header.active_lanes; lanes != 0; lanes &= lanes - 1)
    MARGAY_CHECK(service_(header.service, payload.slots[std::countr_zero(lanes)]));
  std::atomic_ref(header.control).fetch_and(~kReadyBit, std::memory_order_release);
  return {};
}

}  // namespace margay
