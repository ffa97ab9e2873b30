#include "ranks/pages/combined.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <type_traits>

namespace margay::ranks {
namespace {

template <typename T>
T combined(Combine how, T old, T before, T after) {
  using Signed = std::make_signed_t<T>;
  const auto as_signed = [](T value) { return static_cast<Signed>(value); };
  switch (how) {
    case Combine::none:
      break;
    case Combine::sum:
      return old + (after - before);
    case Combine::bit_and:
      return old & after;
    case Combine::bit_or:
      return old | after;
    case Combine::bit_xor:
      return old ^ after ^ before;
    case Combine::signed_min:
      return as_signed(after) < as_signed(old) ? after : old;
    case Combine::signed_max:
      return as_signed(after) > as_signed(old) ? after : old;
    case Combine::unsigned_min:
      return std::min(old, after);
    case Combine::unsigned_max:
      return std::max(old, after);
  }
  return after;
}

template <typename T>
void apply_to(const CombinedWord& word) {
  std::atomic_ref<T> cell(*reinterpret_cast<T*>(word.address));
  const T before = static_cast<T>(word.before), after = static_cast<T>(word.after);
  T old = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(
      old, old == before ? after : combined(word.how, old, before, after))) {
  }
}

/// An address that differs from all words'.
constexpr std::uint64_t kNoPage = ~std::uint64_t{0};

}  // namespace

bool is_valid(const CombinedWord& word) {
  return word.how > Combine::none && word.how <= kLastCombine &&
         (word.bytes == 4 || word.bytes == 8) && word.address % word.bytes == 0;
}

void apply(const CombinedWord& word) {
  word.bytes == 8 ? apply_to<std::uint64_t>(word) : apply_to<std::uint32_t>(word);
}

void NotedWords::note(Combine how, unsigned bytes, std::span<const std::uint64_t> addresses,
                      std::uint64_t lanes) {
  const Kind kind{how, static_cast<std::uint8_t>(bytes)};
  const std::lock_guard lock(mutex_);
  if (how == Combine::none) mixed_ = true;
  std::uint64_t page = kNoPage;
  Kinds* kinds = nullptr;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t address = addresses[static_cast<std::size_t>(std::countr_zero(lanes))];
    if (address % bytes != 0) continue;  // it will be a fault
    if (page_of(address) != page) {
      page = page_of(address);
      std::unique_ptr<Kinds>& of_page = pages_[page];
      if (!of_page) of_page = std::make_unique<Kinds>();
      kinds = of_page.get();
    }
    for (std::uint64_t n = 0; n < bytes / 4; ++n) {
      // The second half of a word is no word of its own.
      const Kind half = n == 0 ? kind : Kind{Combine::none, kind.bytes};
      Kind& known = (*kinds)[(address - page) / 4 + n];
      if (known.bytes == 0)
        known = half;
      else if (known != half)
        mixed_ = true;
    }
  }
}

void NotedWords::take(std::uint64_t page, std::span<std::byte, kPageBytes> before,
                      std::span<const std::byte, kPageBytes> now, std::vector<CombinedWord>& out) {
  const std::lock_guard lock(mutex_);
  const auto found = pages_.find(page);
  if (found == pages_.end()) return;
  for (std::size_t n = 0; n < found->second->size(); ++n) {
    const Kind kind = (*found->second)[n];
    if (kind.how == Combine::none) continue;
    CombinedWord word{.address = page + n * 4, .how = kind.how, .bytes = kind.bytes};
    std::memcpy(&word.before, &before[n * 4], kind.bytes);
    std::memcpy(&word.after, &now[n * 4], kind.bytes);
    if (word.before == word.after) continue;
    std::memcpy(&before[n * 4], &now[n * 4], kind.bytes);
    out.push_back(word);
  }
}

void NotedWords::clear() {
  const std::lock_guard lock(mutex_);
  pages_.clear();
  mixed_ = false;
}

}  // namespace margay::ranks
