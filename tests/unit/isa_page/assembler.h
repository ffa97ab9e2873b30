// LLVM's assembler for gfx942, asked one question: is this line an instruction of that processor?
// The decoder is not enough: its tables are shared by the processors of a family, and it decodes
// instructions of the others too.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"

namespace margay::isa_page {

class Assembler {
 public:
  [[nodiscard]] static Result<Assembler> create();
  Assembler(Assembler&&) noexcept;
  Assembler& operator=(Assembler&&) noexcept;
  ~Assembler();

  [[nodiscard]] bool accepts(const std::string& line) const;

 private:
  struct Impl;
  explicit Assembler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay::isa_page
