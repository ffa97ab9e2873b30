#include "listing.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "exec/instructions/all_rows.h"
#include "exec/program/bind.h"
#include "gpu/gpu.h"

namespace margay::check::hazard_test {

void Listing::add(const Instruction& instruction, std::string line) {
  instructions.push_back(instruction);
  facts.push_back(hazard_facts(instruction, register_use(instruction)));
  text.push_back(std::move(line));
}

Listing decode(isa::Decoder& decoder, std::span<const std::byte> code, std::uint64_t vaddr) {
  constexpr BindContext kContext{.accum_offset = 256, .vgpr_rows = 512};
  const RowTable& rows = *row_table({}, default_gpu().arch());
  Listing out;
  for (std::size_t at = 0; at + 4 <= code.size();) {
    const auto rest = code.subspan(at);
    Instruction instruction;
    instruction.vaddr = static_cast<std::uint32_t>(vaddr + at);
    std::size_t size = 4;
    if (const auto encoded = decoder.decode(rest, vaddr + at)) {
      size = encoded->size_bytes;
      if (const Row* row = rows.find(encoded->mnemonic))
        if (const auto bound = bind(*encoded, *row, kContext, vaddr + at)) instruction = *bound;
    }
    out.add(instruction, decoder.disassemble(rest, vaddr + at));
    at += size;
  }
  return out;
}

void add_wait_states(isa::Decoder& decoder, Listing& listing, unsigned count) {
  while (count > 0) {
    const unsigned states = std::min(count, 16u);
    const std::uint32_t word = 0xbf80'0000 | (states - 1);
    const Listing nop = decode(decoder, std::as_bytes(std::span(&word, 1)));
    listing.add(nop, 0);
    count -= states;
  }
}

std::optional<Hazard> run_straight(const Listing& listing, const wait_states::Rules& rules) {
  CheckedPaths checked;
  HazardWindow window(rules, checked);
  std::optional<Hazard> last;
  for (std::size_t n = 0; n < listing.size(); ++n) {
    HazardMemo memo;
    last = window.step(listing.instructions[n], listing.facts[n], memo);
  }
  return last;
}

std::vector<std::byte> read_file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::byte> out(bytes.size());
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

}  // namespace margay::check::hazard_test
