// 64-byte aligned memory that is not initialised, for registers, LDS and scratch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

namespace margay {

class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::size_t bytes)
      : bytes_(std::max<std::size_t>(bytes, 64)),
        data_(static_cast<std::uint8_t*>(::operator new(bytes_, std::align_val_t{64}))) {}
  ~AlignedBuffer() { ::operator delete(data_, std::align_val_t{64}); }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  [[nodiscard]] std::uint8_t* data() { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  /// Sets the first `bytes` (a multiple of 4) to copies of `word`.
  void fill(std::size_t bytes, std::uint32_t word) {
    auto* const words = reinterpret_cast<std::uint32_t*>(data_);
    std::fill(words, words + bytes / 4, word);
  }

 private:
  std::size_t bytes_;
  std::uint8_t* data_;
};

}  // namespace margay
