// An array of zero bytes, whose pages are allocated when they are first accessed.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace margay::profile {

/// Of objects that are valid when all of their bytes are zero.
template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  explicit ZeroedArray(std::size_t count)
      : count_(count), data_(static_cast<T*>(std::calloc(count, sizeof(T)))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + count_; }

  /// Allocates its whole pages at once, which is several times as fast as one by one. On kernels
  /// that cannot (Linux before 5.14) it does nothing.
  void allocate_pages() {
    constexpr std::size_t kPage = 4096;
    void* first = data();
    std::size_t bytes = count_ * sizeof(T);
    if (std::align(kPage, kPage, first, bytes) == nullptr) return;
    (void)madvise(first, bytes / kPage * kPage, kPopulateWrite);
  }

 private:
  static constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which old headers lack
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  std::size_t count_;
  std::unique_ptr<T[], Free> data_;
};

}  // namespace margay::profile
