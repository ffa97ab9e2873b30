// The bank conflicts of one LDS instruction over all its executions. A kernel repeats a few
// patterns of addresses, shifted as a whole, many times; each is computed once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "observe/profile/lds/lds_banks.h"
#include "report/profile/profile.h"

namespace margay::profile {

class LdsPatterns {
 public:
  LdsPatterns() = default;
  /// As counted elsewhere.
  explicit LdsPatterns(const LdsUse& use) : use_(use) {}
  /// One execution. A second address of each lane is `second_offset` bytes from the first; 0: there
  /// is none.
  void add(const LdsAccess& access, std::int64_t second_offset);
  void merge(const LdsPatterns& other);
  [[nodiscard]] const LdsUse& use() const { return use_; }

 private:
  static constexpr std::size_t kKept = 4;
  struct Pattern {
    std::uint64_t active = 0;
    alignas(64) std::array<std::uint32_t, 64> relative{};  ///< To the first lane's dword.
    std::int64_t reach = 0;  ///< From the first lane's dword to one past the last byte of a lane.
    LdsCost cost;            ///< With banks counted from the first lane's.
  };
  void charge(const Pattern& pattern, std::uint64_t base);
  void note_worst(const LdsUse& other);

  std::vector<std::unique_ptr<Pattern>> patterns_;
  std::size_t next_ = 0;  ///< The entry that the next new one replaces.
  LdsUse use_;
};

}  // namespace margay::profile
