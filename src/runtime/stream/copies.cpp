// See copies.h.
#include "runtime/stream/copies.h"
#include "runtime/watch/checking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace margay::runtime {
namespace {

// Added by HIP 6: a device-to-device copy by the copy engine only.
constexpr int kMemcpyDeviceToDeviceNoCu = 1024;

}  // namespace

Outcome check_kind(hipMemcpyKind kind) {
  const int value = kind;
  if ((value >= hipMemcpyHostToHost && value <= hipMemcpyDefault) ||
      value == kMemcpyDeviceToDeviceNoCu) {
    return {};
  }
  return refuse(hipErrorInvalidMemcpyDirection,
                fmt::format("The copy direction {} is not one of hipMemcpyKind.", value));
}

Outcome check_box(const hipMemcpy3DParms* p) {
  if (p == nullptr) return refuse(hipErrorInvalidValue, "The parameters are a null pointer.");
  MARGAY_CHECK(check_kind(p->kind));
  if (p->srcArray == nullptr && p->dstArray == nullptr) return {};
  return refuse(hipErrorNotSupported, "Arrays are not there in Margay.",
                "Use pitched linear memory from hipMalloc3D.");
}

/// One copy for the checker and the timeline: the state of written bytes is copied with the bytes.
class Copies::Copy {
 public:
  explicit Copy(Copies& copies)
      : timeline_(copies.timeline_),
        checking_(copies.watchers_.checking()),
        touching_(copies.ordering_) {}
  ~Copy() {
    timeline_.copied(to_, from_, bytes_);
    if (checking_ != nullptr) checking_->copied(undefined_);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  void move(void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    to_ = to;
    from_ = from;
    bytes_ += bytes;
    touching_.read(from, bytes);
    touching_.write(to, bytes);
    if (checking_ != nullptr)
      checking_->memory().copied(reinterpret_cast<std::uint64_t>(to),
                                 reinterpret_cast<std::uint64_t>(from), bytes, undefined_);
    std::memmove(to, from, bytes);
  }

 private:
  Timeline& timeline_;
  const void* to_ = nullptr;
  const void* from_ = nullptr;
  std::size_t bytes_ = 0;
  std::shared_ptr<Checking> checking_;
  check::UndefinedCopy undefined_;
  Touching touching_;
};

void Copies::note_written(const void* at, std::size_t bytes, Touching& touching) {
  touching.write(at, bytes);
  if (const auto checking = watchers_.checking())
    checking->memory().written(reinterpret_cast<std::uint64_t>(at), bytes);
}

Outcome Copies::copy(void* to, const void* from, std::size_t bytes) {
  MARGAY_CHECK(check_range(devices_, to, bytes, "destination"));
  MARGAY_CHECK(check_range(devices_, from, bytes, "source"));
  Copy(*this).move(to, from, bytes);
  return {};
}

Outcome Copies::copy_rows(const Rows& destination, const Rows& source) {
  MARGAY_CHECK(check_rows(devices_, destination, "destination"));
  MARGAY_CHECK(check_rows(devices_, source, "source"));
  if (source.width == 0) return {};
  auto* to = static_cast<std::byte*>(const_cast<void*>(destination.pointer));
  const auto* from = static_cast<const std::byte*>(source.pointer);
  Copy copy(*this);
  for (std::size_t row = 0; row < source.height; ++row) {
    copy.move(to + row * destination.pitch, from + row * source.pitch, source.width);
  }
  return {};
}

Outcome Copies::copy_box(const hipMemcpy3DParms& p) {
  MARGAY_CHECK(check_box(&p));
  const auto slice = [&](const hipPitchedPtr& memory, const hipPos& at, std::size_t z) {
    auto* const base = static_cast<std::byte*>(memory.ptr);
    return Rows{base + ((at.z + z) * memory.ysize + at.y) * memory.pitch + at.x, memory.pitch,
                p.extent.width, p.extent.height};
  };
  for (std::size_t z = 0; z < p.extent.depth; ++z) {
    MARGAY_CHECK(copy_rows(slice(p.dstPtr, p.dstPos, z), slice(p.srcPtr, p.srcPos, z)));
  }
  return {};
}

template <typename T>
Outcome Copies::fill(void* destination, T value, std::size_t count) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, sizeof value, &bytes)) {
    return refuse(hipErrorInvalidValue, fmt::format("{} elements do not fit any memory.", count));
  }
  MARGAY_CHECK(check_range(devices_, destination, bytes, "destination"));
  if (bytes == 0) return {};
  auto* const to = static_cast<std::byte*>(destination);
  timeline_.filled(bytes);
  Touching touching(ordering_);
  note_written(to, bytes, touching);
  if constexpr (sizeof value == 1) {
    std::memset(to, value, bytes);
  } else {
    // The destination need not be aligned: copy the pattern, doubling it each time.
    std::memcpy(to, &value, sizeof value);
    for (std::size_t done = sizeof value; done < bytes; done *= 2) {
      std::memcpy(to + done, to, std::min(done, bytes - done));
    }
  }
  return {};
}

template Outcome Copies::fill(void*, std::uint8_t, std::size_t);
template Outcome Copies::fill(void*, std::uint16_t, std::size_t);
template Outcome Copies::fill(void*, std::int32_t, std::size_t);

Outcome Copies::fill_rows(void* destination, std::size_t pitch, int value, std::size_t width,
                          std::size_t height) {
  MARGAY_CHECK(check_rows(devices_, {destination, pitch, width, height}, "destination"));
  timeline_.filled(width * height);
  Touching touching(ordering_);
  for (std::size_t row = 0; width > 0 && row < height; ++row) {
    note_written(static_cast<std::byte*>(destination) + row * pitch, width, touching);
    std::memset(static_cast<std::byte*>(destination) + row * pitch, value, width);
  }
  return {};
}

Outcome Copies::fill_elements(const hipMemsetParams& p) {
  for (std::size_t row = 0; row < std::max<std::size_t>(p.height, 1); ++row) {
    void* const to = static_cast<std::byte*>(p.dst) + row * p.pitch;
    MARGAY_CHECK(p.elementSize == 1   ? fill(to, static_cast<std::uint8_t>(p.value), p.width)
                 : p.elementSize == 2 ? fill(to, static_cast<std::uint16_t>(p.value), p.width)
                                      : fill(to, static_cast<std::int32_t>(p.value), p.width));
  }
  return {};
}

}  // namespace margay::runtime
