// See listing.h.
#include "apps/asm/listing.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "isa/control_flow.h"

namespace margay::assembly {
namespace {

using isa::Format;

// An instruction has at most 12 bytes; LLVM's disassembler looks ahead a little further.
constexpr std::uint64_t kDecodeWindowBytes = 20;

LineKind kind_of(const isa::Encoded& encoded, const isa::ControlFlow& flow) {
  if (flow.is_branch) return LineKind::branch;
  if (flow.is_barrier) return LineKind::barrier;
  if (flow.is_wait) return LineKind::wait;
  switch (encoded.format) {
    case Format::sopp:
      return LineKind::other;
    case Format::sop1:
    case Format::sopk:
    case Format::sop2:
    case Format::sopc:
      return LineKind::salu;
    case Format::smem:
      return LineKind::smem;
    case Format::vop1:
    case Format::vop2:
    case Format::vopc:
    case Format::vop3:
    case Format::vop3p:
      return LineKind::valu;
    case Format::mfma:
      return LineKind::mfma;
    case Format::ds:
      return LineKind::lds;
    case Format::flat:
    case Format::global:
    case Format::scratch:
    case Format::mubuf:
    case Format::mtbuf:
      return LineKind::vmem;
    case Format::unknown:
      break;
  }
  return LineKind::other;
}

ListedInstruction list_one(std::span<const std::byte> code, std::uint64_t vaddr,
                           isa::Decoder& decoder) {
  ListedInstruction line;
  line.vaddr = vaddr;
  std::size_t size_bytes = 4;
  if (const auto encoded = decoder.decode(code, vaddr)) {
    size_bytes = encoded->size_bytes;
    line.mnemonic = encoded->mnemonic;
    const isa::ControlFlow flow = isa::control_flow(line.mnemonic);
    line.kind = kind_of(*encoded, flow);
    line.text = decoder.disassemble(code, vaddr);
    line.ends_block = flow.ends_block;
    if (flow.has_displacement) {
      // MI300 ISA guide, SOPP: the target is the next instruction's address + SIMM16 * 4.
      const auto displacement =
          isa::sign_extend(isa::bits(encoded->word, 0, 15), 16) * std::int64_t{4};
      line.has_target = true;
      line.target = vaddr + 4 + static_cast<std::uint64_t>(displacement);
    }
  } else {
    line.kind = LineKind::invalid;
  }
  line.dwords.resize(size_bytes / 4);
  std::memcpy(line.dwords.data(), code.data(), line.dwords.size() * 4);
  if (line.kind == LineKind::invalid) line.text = fmt::format(".long {:#010x}", line.dwords[0]);
  return line;
}

/// Replaces the displacement, which LLVM prints last, by `name`.
void name_target(std::string& text, const std::string& name) {
  const std::size_t before = text.find_last_of(" ,");
  if (before == std::string::npos) return;
  text.replace(before + 1, std::string::npos, name);
}

void name_targets(Listing& listing, const CodeObject& object) {
  std::map<std::uint64_t, int> labels;  // in address order, so that they read from top to bottom
  for (const ListedInstruction& line : listing.instructions) {
    if (line.has_target) labels.emplace(line.target, kNoLabel);
  }
  int next = 0;
  for (ListedInstruction& line : listing.instructions) {
    const auto found = labels.find(line.vaddr);
    if (found == labels.end()) continue;
    line.label = found->second = next++;
  }
  listing.label_sources.resize(static_cast<std::size_t>(next));
  for (ListedInstruction& line : listing.instructions) {
    if (!line.has_target) continue;
    if (const int label = labels[line.target]; label != kNoLabel) {
      name_target(line.text, fmt::format("L{}", label));
      listing.label_sources[static_cast<std::size_t>(label)].push_back(line.vaddr);
    } else if (const Symbol* function = object.function_at(line.target)) {
      const std::uint64_t offset = line.target - function->vaddr;
      name_target(line.text,
                  offset == 0 ? function->name : fmt::format("{}+{:#x}", function->name, offset));
    } else {
      name_target(line.text, fmt::format("{:#x}", line.target));
    }
  }
}

/// [begin, end) of the function at `entry`.
std::pair<std::uint64_t, std::uint64_t> range_of(const CodeObject& object, std::uint64_t entry) {
  const Symbol* function = object.function_at(entry);
  std::uint64_t end = object.executable_range(entry).second;
  if (function != nullptr) {
    end = std::min(end, function->vaddr + function->size_bytes);
  } else {
    for (const Symbol& symbol : object.symbols()) {
      if (symbol.kind == Symbol::Kind::function && symbol.vaddr > entry) {
        end = std::min(end, symbol.vaddr);
      }
    }
  }
  return {entry, std::max(end, entry)};
}

}  // namespace

std::string_view name_of(LineKind kind) {
  switch (kind) {
    case LineKind::valu:
      return "VALU";
    case LineKind::salu:
      return "SALU";
    case LineKind::mfma:
      return "MFMA";
    case LineKind::smem:
      return "SMEM";
    case LineKind::lds:
      return "LDS";
    case LineKind::vmem:
      return "VMEM";
    case LineKind::branch:
      return "branch";
    case LineKind::barrier:
      return "barrier";
    case LineKind::wait:
      return "wait";
    case LineKind::other:
      return "other";
    case LineKind::invalid:
      return "invalid";
  }
  return "other";
}

std::uint64_t code_bytes(const CodeObject& object, std::uint64_t entry_vaddr) {
  const auto [begin, end] = range_of(object, entry_vaddr);
  return end - begin;
}

Listing list_function(const CodeObject& object, std::span<const std::byte> image,
                      std::uint64_t entry_vaddr, isa::Decoder& decoder) {
  Listing listing;
  const auto [begin, end] = range_of(object, entry_vaddr);
  listing.begin = begin;
  listing.end = std::min<std::uint64_t>(end, image.size());
  for (std::uint64_t at = listing.begin; at + 4 <= listing.end;) {
    const std::uint64_t window = std::min(listing.end - at, kDecodeWindowBytes);
    ListedInstruction line = list_one(image.subspan(at, window), at, decoder);
    line.frames = object.source_at(at);
    at += 4 * line.dwords.size();
    listing.instructions.push_back(std::move(line));
  }
  name_targets(listing, object);
  return listing;
}

}  // namespace margay::assembly
