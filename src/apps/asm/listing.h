// One function of a code object as a list of instructions with everything that `margay asm` prints
// for each: address, text with named branch targets, kind, source position. Pure: neither prints
// nor reads files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "code_object/code_object.h"
#include "isa/decoder.h"

namespace margay::assembly {

/// The kinds of instructions that a listing highlights.
enum class LineKind : std::uint8_t {
  valu,
  salu,
  mfma,
  smem,
  lds,
  vmem,
  branch,
  barrier,
  wait,
  other,
  invalid,  ///< Bytes that are not an instruction.
};
[[nodiscard]] std::string_view name_of(LineKind kind);

inline constexpr int kNoLabel = -1;

struct ListedInstruction {
  std::uint64_t vaddr = 0;
  std::vector<std::uint32_t> dwords;  ///< The encoding.
  std::string_view mnemonic;          ///< Without encoding suffix; empty when invalid.
  std::string text;                   ///< As assembled; a branch target inside is named ("L2").
  LineKind kind = LineKind::other;
  bool ends_block = false;          ///< Control flow may or does leave here.
  int label = kNoLabel;             ///< The number of the label before it.
  bool has_target = false;          ///< A direct branch or call.
  std::uint64_t target = 0;         ///< Its target.
  std::vector<SourceFrame> frames;  ///< Innermost first; empty: no line table.
};

struct Listing {
  std::uint64_t begin = 0, end = 0;  ///< The function's addresses.
  std::vector<ListedInstruction> instructions;
  /// Addresses of the branches that go to each label.
  std::vector<std::vector<std::uint64_t>> label_sources;
};

/// The function whose entry is `entry_vaddr`; `image` is the code object's loaded image.
[[nodiscard]] Listing list_function(const CodeObject& object, std::span<const std::byte> image,
                                    std::uint64_t entry_vaddr, isa::Decoder& decoder);

/// Bytes of that function's code: to the end of its symbol or, without one, to the next function.
[[nodiscard]] std::uint64_t code_bytes(const CodeObject& object, std::uint64_t entry_vaddr);

}  // namespace margay::assembly
