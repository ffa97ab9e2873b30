// Facts about a program's instructions for one part of Margay: created per instruction on first
// use, stored with the program (Program::facts), and shared by all host threads and launches.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "exec/state/instruction.h"

namespace margay {

class AnyFactsTable {
 public:
  virtual ~AnyFactsTable() = default;
};

/// `Facts` is constructed from an instruction that has a row, and a number: instructions are
/// numbered from 0 in the order of their first use. It is the same for all copies of the code, and
/// immutable except for members that it guards itself.
template <typename Facts>
class FactsTable final : public AnyFactsTable {
 public:
  /// For code in [begin, end) of the image.
  FactsTable(std::uint64_t begin, std::uint64_t end)
      : begin_(begin),
        slots_(static_cast<std::atomic<Facts*>*>(
            std::calloc((end - begin) / 4 + 1, sizeof(std::atomic<Facts*>)))) {
    if (slots_ == nullptr) throw std::bad_alloc();
  }

  [[nodiscard]] Facts& of(const Instruction& i) {
    std::atomic<Facts*>& slot = slots_[(i.vaddr - begin_) / 4];
    Facts* const known = slot.load(std::memory_order_acquire);
    return known != nullptr ? *known : make(i, slot);
  }
  /// The number of facts created so far.
  [[nodiscard]] std::uint32_t count() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::uint32_t>(made_.size());
  }
  /// The facts with a number.
  [[nodiscard]] Facts& numbered(std::uint32_t number) const {
    const std::lock_guard lock(mutex_);
    return *made_[number];
  }

 private:
  Facts& make(const Instruction& i, std::atomic<Facts*>& slot) {
    const std::lock_guard lock(mutex_);
    if (Facts* const known = slot.load(std::memory_order_relaxed); known != nullptr) return *known;
    made_.push_back(std::make_unique<Facts>(i, static_cast<std::uint32_t>(made_.size())));
    slot.store(made_.back().get(), std::memory_order_release);
    return *made_.back();
  }

  struct Free {
    void operator()(std::atomic<Facts*>* slots) const { std::free(slots); }
  };
  const std::uint64_t begin_;
  /// A launch runs little of a large code object: pages that it does not use are never allocated.
  std::unique_ptr<std::atomic<Facts*>[], Free> slots_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Facts>> made_;
};

}  // namespace margay
