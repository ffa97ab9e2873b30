// The set of live objects of one handle type. A handle that a program passes back is looked up here
// before use, so that a destroyed or foreign handle is an error rather than dereferenced.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace margay::runtime {

template <typename T>
class HandleTable {
 public:
  T* add(std::shared_ptr<T> object) {
    T* const handle = object.get();
    const std::lock_guard lock(mutex_);
    objects_.emplace(handle, std::move(object));
    return handle;
  }

  /// The object, kept alive for the caller even if another thread destroys the handle meanwhile.
  [[nodiscard]] std::shared_ptr<T> find(const void* handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  /// Removes the handle from the table; null if it was not in it.
  std::shared_ptr<T> remove(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  template <typename Predicate>
  void remove_if(Predicate&& doomed) {
    const std::lock_guard lock(mutex_);
    std::erase_if(objects_, [&](const auto& entry) { return doomed(*entry.second); });
  }

  void clear() {
    std::unordered_map<const void*, std::shared_ptr<T>> doomed;
    const std::lock_guard lock(mutex_);
    doomed.swap(objects_);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<T>> objects_;
};

}  // namespace margay::runtime
