// LLVM's own reading of line tables, to compare ours with. Kept apart because LLVM's DWARF
// headers do not compile as C++23.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace margay::test {

struct LlvmFrame {
  std::string function;  ///< Without arguments; empty when LLVM has none.
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

class LlvmLines {
 public:
  /// `elf` must be sound.
  explicit LlvmLines(std::vector<std::byte> elf);
  ~LlvmLines();

  /// Innermost frame first.
  [[nodiscard]] std::vector<LlvmFrame> frames_at(std::uint64_t vaddr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay::test
