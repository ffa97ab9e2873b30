// Runs single memory instructions, encoded, decoded and bound as in a program, on a wave whose
// registers and memory that the test fills and checks.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "exec/instructions/all_rows.h"
#include "exec/program/bind.h"
#include "exec/state/memory.h"
#include "exec/state/wave.h"
#include "gpu/gfx942/gfx942.h"
#include "gpu/gpu.h"
#include "isa/decoder.h"

namespace margay::buffer_test {

inline constexpr std::size_t kBlockBytes = 1 << 22;
inline constexpr unsigned kAddress = 0, kData = 4, kResource = 8, kSoffset = 12;
inline constexpr std::uint32_t kLdsBytes = 4096, kScratchBytes = 64;

/// A V# as the guide's table has it.
struct Descriptor {
  std::uint64_t base = 0;
  std::uint32_t stride = 0, num_records = 0;
  bool swizzle = false, add_tid = false;
  std::uint32_t dst_sel[4] = {4, 5, 6, 7};
  std::uint32_t number_format = 7, data_format = 4, element_size = 1, index_stride = 0, type = 0;

  [[nodiscard]] std::array<std::uint32_t, 4> words() const {
    std::array<std::uint32_t, 4> w{};
    w[0] = static_cast<std::uint32_t>(base);
    w[1] = static_cast<std::uint32_t>(base >> 32) | stride << 16 | (swizzle ? 1u << 31 : 0);
    w[2] = num_records;
    for (unsigned n = 0; n < 4; ++n) w[3] |= dst_sel[n] << (3 * n);
    w[3] |= number_format << 12 | data_format << 15 | element_size << 19 | index_stride << 21 |
            (add_tid ? 1u << 23 : 0) | type << 30;
    return w;
  }
};

/// The fields of an instruction other than its opcode and registers.
struct Fields {
  std::uint32_t offset = 0;
  bool offen = false, idxen = false, sc0 = false, lds = false;
  std::uint32_t data_format = 1, number_format = 0;  ///< MTBUF
};

class BufferBench {
 public:
  explicit BufferBench(const char* level = "") : rows_(row_table(level, default_gpu().arch())) {
    auto decoder = isa::Decoder::create(kGfx942);
    auto memory = Memory::create(4 * kBlockBytes);
    if (!decoder || !memory) return;
    decoder_ = std::move(*decoder);
    memory_ = std::move(*memory);
    block = static_cast<std::uint8_t*>(*memory_->allocate(kBlockBytes, "buffer"));
    group_.memory = memory_.get();
    group_.range_cache = &ranges_;
    group_.lds = lds.data();
    group_.lds_bytes = kLdsBytes;
    group_.scratch_bytes_per_lane = kScratchBytes;
    wave.scratch = scratch.data();
    wave.v = v_.data();
    wave.vgpr_rows = 32;
    wave.group = &group_;
    wave.set_exec(~0ull);
    find_opcodes();
  }
  BufferBench(const BufferBench&) = delete;

  void set(const Descriptor& d) {
    const auto words = d.words();
    std::memcpy(&wave.s[kResource], words.data(), sizeof words);
  }
  /// Empty, or the sentence of the fault.
  std::string run(const std::string& mnemonic, const Fields& f) {
    std::uint64_t word = opcodes_.at(mnemonic);
    const bool typed = mnemonic.starts_with("tbuffer");
    word |= f.offset | std::uint64_t{f.offen} << 12 | std::uint64_t{f.idxen} << 13 |
            std::uint64_t{f.sc0} << 14 | std::uint64_t{f.lds} << 16;
    if (typed) word |= std::uint64_t{f.data_format} << 19 | std::uint64_t{f.number_format} << 23;
    word |= (kAddress | std::uint64_t{f.lds ? 0 : kData} << 8 | (kResource / 4) << 16 |
             std::uint64_t{kSoffset} << 24)
            << 32;
    return run_word(mnemonic, word);
  }
  std::string run_word(const std::string& mnemonic, std::uint64_t word) {
    std::array<std::byte, 20> code{};
    std::memcpy(code.data(), &word, sizeof word);
    const auto encoded = decoder_->decode(code, 0);
    if (!encoded || encoded->mnemonic != mnemonic) return "does not decode to " + mnemonic;
    const auto bound =
        bind(*encoded, *rows_->find(mnemonic), {.accum_offset = 256, .vgpr_rows = 32}, 0);
    if (!bound) return bound.error().what;
    instruction = *bound;
    wave.stop = WaveStop::running;
    wave.error.reset();
    const Instruction* const next = instruction.execute(wave, instruction);
    if (wave.stop == WaveStop::fault) return wave.error->what;
    return next == &instruction + 1 ? "" : "went somewhere else";
  }
  [[nodiscard]] bool usable() const { return rows_ != nullptr && block != nullptr; }

  Wave wave;
  Instruction instruction;  ///< The last one.
  std::uint8_t* block = nullptr;
  alignas(64) std::array<std::uint8_t, kLdsBytes> lds{};
  alignas(64) std::array<std::uint8_t, kScratchBytes * 64> scratch{};

 private:
  void find_opcodes() {
    for (const auto& [prefix, low, count] :
         {std::tuple{0b111000ull, 18u, 128u}, std::tuple{0b111010ull, 15u, 16u}})
      for (std::uint64_t op = 0; op < count; ++op) {
        const std::uint64_t word = prefix << 26 | op << low;
        std::array<std::byte, 20> code{};
        std::memcpy(code.data(), &word, sizeof word);
        if (const auto encoded = decoder_->decode(code, 0))
          opcodes_.emplace(std::string(encoded->mnemonic), word);
      }
  }

  const RowTable* rows_;
  std::unique_ptr<isa::Decoder> decoder_;
  std::unique_ptr<Memory> memory_;
  RangeCache ranges_;
  WorkgroupState group_;
  std::map<std::string, std::uint64_t> opcodes_;
  alignas(64) std::array<std::uint32_t, (32 + kTemporaryRows) * kWaveLanes> v_{};
};

}  // namespace margay::buffer_test
