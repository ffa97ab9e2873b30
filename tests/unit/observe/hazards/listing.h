// A run of machine code with what the hazard rules need of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/gfx942/gfx942.h"
#include "isa/decoder.h"
#include "observe/check/instructions/hazards.h"

namespace margay::check::hazard_test {

/// Instructions and facts; both stay where they are once the listing is made.
struct Listing {
  std::vector<Instruction> instructions;
  std::vector<HazardFacts> facts;
  std::vector<std::string> text;

  void add(const Instruction& instruction, std::string text);
  void add(const Listing& other, std::size_t n) { add(other.instructions[n], other.text[n]); }
  [[nodiscard]] std::size_t size() const { return instructions.size(); }
};

/// All of `code`, which is at `vaddr`. AccVGPRs start at row 256. Instructions that are not
/// implemented have no row.
[[nodiscard]] Listing decode(isa::Decoder& decoder, std::span<const std::byte> code,
                             std::uint64_t vaddr = 0);
/// s_nop instructions for that many wait states, at most 16 each.
void add_wait_states(isa::Decoder& decoder, Listing& listing, unsigned count);

/// Issues instructions in their order; the last one's finding.
[[nodiscard]] std::optional<Hazard> run_straight(
    const Listing& listing, const wait_states::Rules& rules = kGfx942.wait_rules);

[[nodiscard]] std::vector<std::byte> read_file(const char* path);

}  // namespace margay::check::hazard_test
