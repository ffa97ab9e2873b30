// Where buffer instructions read and write: every combination of offen, idxen, add_tid, stride and
// swizzling with random descriptors, against the formulas of the MI300 ISA guide (sections 9.1.5
// and 9.1.8), written down here a second time.
#include <gtest/gtest.h>

#include <optional>

#include "buffer_bench.h"
#include "exec/instructions/all_rows.h"
#include "exec/program/lane_access.h"

namespace margay::buffer_test {
namespace {

using Random = std::mt19937_64;

/// Stores and atomics stay in the first bytes of the block.
constexpr std::size_t kSeen = 1 << 16;

struct Access {
  Descriptor d;
  Fields f;
  std::uint32_t soffset = 0;
  std::array<std::uint32_t, 64> index{}, offset{};
};

/// Where lane's byte 0 is, or nothing when it is out of range. `inside`: how many of its bytes are
/// in range, counted in dwords from the front (raw buffers, loads and stores of several dwords).
std::optional<std::uint64_t> place(const Access& a, unsigned lane, unsigned bytes, bool by_dword,
                                   unsigned& inside) {
  const std::uint64_t thread = a.d.add_tid ? lane : 0;
  const std::uint64_t index = (a.f.idxen ? a.index[lane] : 0) + thread;
  const std::uint64_t offset = (a.f.offen ? a.offset[lane] : 0) + a.f.offset;
  const std::uint64_t stride = a.d.stride | (a.d.add_tid ? a.d.data_format << 14 : 0);
  std::uint64_t in_buffer = index * stride + offset;
  // Swizzling moves records; without an index there is one.
  const bool swizzled = a.d.swizzle && stride != 0 && (a.f.idxen || a.d.add_tid);
  if (swizzled) {
    const std::uint64_t element = 2u << a.d.element_size, indices = 8u << a.d.index_stride;
    const std::uint64_t index_msb = index / indices, index_lsb = index % indices;
    const std::uint64_t offset_msb = offset / element, offset_lsb = offset % element;
    in_buffer =
        (index_msb * stride + offset_msb * element) * indices + index_lsb * element + offset_lsb;
  }
  inside = bytes;
  const std::uint64_t address = a.d.base + a.soffset + in_buffer;
  if (a.d.add_tid && !a.f.idxen) return address;  // private
  if (stride != 0 && a.f.idxen) {                 // structured
    if (index >= a.d.num_records) return std::nullopt;
    return address;
  }
  // Raw; soffset is taken off the size.
  const std::int64_t limit = std::int64_t{a.d.num_records} - a.soffset;
  const auto fits = [&](unsigned end) {
    return static_cast<std::int64_t>(in_buffer + end) <= limit;
  };
  if (fits(bytes)) return address;
  if (!by_dword || bytes <= 4 || !fits(4)) return std::nullopt;
  inside = 4;
  while (fits(inside + 4)) inside += 4;
  return address;
}

/// Any descriptor and fields whose accesses of `bytes` stay in the block; no two lanes overlap
/// without an index.
Access random_access(Random& random, const BufferBench& bench, unsigned bytes,
                     bool long_strides = false) {
  Access a;
  a.d.base = reinterpret_cast<std::uint64_t>(bench.block) + (random() % 8) * 64;
  a.f.idxen = random() % 2;
  a.f.offen = random() % 2;
  a.d.add_tid = random() % 3 == 0;
  a.d.swizzle = random() % 2;
  const unsigned least = bytes <= 2 ? 0 : bytes <= 4 ? 1 : bytes <= 8 ? 2 : 3;
  a.d.element_size = least + static_cast<unsigned>(random() % (4 - least));
  a.d.index_stride = random() % 4;
  const unsigned element = 2u << a.d.element_size;
  a.d.stride = random() % 4 == 0 ? 0 : element * (1 + static_cast<unsigned>(random() % 4));
  if (a.d.add_tid) a.d.data_format = long_strides && random() % 2;  // bits 17:14 of the stride
  if (a.d.add_tid && a.d.swizzle && a.d.data_format != 0) a.d.index_stride = 0;
  a.soffset = static_cast<std::uint32_t>(random() % 16 * 16);
  const unsigned step = bytes <= 4 ? bytes : bytes == 8 ? 8 : 16;
  a.f.offset = static_cast<std::uint32_t>(random() % 4 * step);
  const bool raw = !a.f.idxen && !a.d.add_tid;
  a.d.num_records = static_cast<std::uint32_t>(random() % (raw || a.d.stride == 0 ? 1600 : 50));
  std::array<std::uint32_t, 64> order{};
  for (unsigned n = 0; n < 64; ++n) order[n] = n;
  std::shuffle(order.begin(), order.end(), random);
  for (unsigned lane = 0; lane < 64; ++lane) {
    a.index[lane] = static_cast<std::uint32_t>(random() % 60);
    // In a swizzled record an access is in one element.
    a.offset[lane] = a.d.swizzle && a.d.stride != 0 && !raw
                         ? static_cast<std::uint32_t>(random() % (a.d.stride / step + 1)) * step
                         : order[lane] * 16 + static_cast<std::uint32_t>(random() % 3) * step % 16;
  }
  if (a.d.swizzle && step > element && !raw) a.d.swizzle = false;
  return a;
}

void put(BufferBench& bench, const Access& a) {
  bench.set(a.d);
  bench.wave.s[kSoffset] = a.soffset;
  unsigned row = kAddress;
  if (a.f.idxen) std::memcpy(bench.wave.row(row++), a.index.data(), 256);
  if (a.f.offen) std::memcpy(bench.wave.row(row), a.offset.data(), 256);
}

class BufferAddress : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    // Each instruction-set level of the host has its own code; this host may lack the highest.
    if (row_table(GetParam(), default_gpu().arch()) == nullptr)
      GTEST_SKIP() << "this host or this build does not have " << GetParam();
    ASSERT_TRUE(bench_.usable());
    for (std::size_t n = 0; n < kBlockBytes; ++n)
      bench_.block[n] = static_cast<std::uint8_t>(random_());
  }
  void fill_data() {
    for (unsigned n = 0; n < 8 * 64; ++n)
      bench_.wave.row(kData)[n] = static_cast<std::uint32_t>(random_());
    bench_.wave.set_exec(random_() % 2 ? ~0ull : random_());
  }
  [[nodiscard]] bool active(unsigned lane) const { return bench_.wave.exec() >> lane & 1; }
  /// Observers receive the accesses of the instruction.
  void expect_told(const Access& a, unsigned bytes) {
    static LaneAccesses told;
    lane_accesses(bench_.wave, bench_.instruction, memory_form(bench_.instruction), told);
    ASSERT_EQ(told.count, 1u);
    for (unsigned lane = 0; lane < 64; ++lane) {
      unsigned inside = 0;
      const auto at = place(a, lane, bytes, false, inside);
      ASSERT_EQ(told.access[0].active >> lane & 1, active(lane) && at) << lane;
      if (active(lane) && at) ASSERT_EQ(told.access[0].at[lane], *at) << lane;
    }
  }
  static std::string text(const Access& a) {
    return "stride " + std::to_string(a.d.stride) + " records " + std::to_string(a.d.num_records) +
           " swizzle " + std::to_string(a.d.swizzle) + " add_tid " + std::to_string(a.d.add_tid) +
           " idxen " + std::to_string(a.f.idxen) + " offen " + std::to_string(a.f.offen) +
           " soffset " + std::to_string(a.soffset);
  }

  Random random_{7};
  BufferBench bench_{GetParam()};
};

TEST_P(BufferAddress, OfLoads) {
  struct Load {
    const char* name;
    unsigned bytes;
    bool with_sign;
  };
  constexpr Load kLoads[] = {{"ubyte", 1, false},    {"sbyte", 1, true},    {"ushort", 2, false},
                             {"sshort", 2, true},    {"dword", 4, false},   {"dwordx2", 8, false},
                             {"dwordx3", 12, false}, {"dwordx4", 16, false}};
  int out_of_range = 0, partial = 0;
  for (int round = 0; round < 3000; ++round) {
    const Load& load = kLoads[round % 8];
    const Access a = random_access(random_, bench_, load.bytes, true);
    fill_data();
    put(bench_, a);
    std::array<std::uint32_t, 4 * 64> expected{};
    std::memcpy(expected.data(), bench_.wave.row(kData), sizeof expected);
    for (unsigned lane = 0; lane < 64; ++lane) {
      if (!active(lane)) continue;
      unsigned inside = 0;
      const auto at = place(a, lane, load.bytes, true, inside);
      out_of_range += !at;
      partial += at && inside < load.bytes;
      std::uint8_t value[16] = {};
      if (at) std::memcpy(value, reinterpret_cast<const void*>(*at), inside);
      if (load.bytes < 4) {
        std::uint32_t word = load.bytes == 1 ? value[0] : value[0] | value[1] << 8;
        if (load.with_sign && value[load.bytes - 1] & 0x80) word |= ~0u << (8 * load.bytes);
        expected[lane] = word;
      } else {
        for (unsigned d = 0; d < load.bytes / 4; ++d)
          std::memcpy(&expected[d * 64 + lane], value + 4 * d, 4);
      }
    }
    ASSERT_EQ(bench_.run(std::string("buffer_load_") + load.name, a.f), "") << text(a);
    for (unsigned n = 0; n < 4 * 64; ++n)
      ASSERT_EQ(bench_.wave.row(kData)[n], expected[n])
          << load.name << " register " << n / 64 << " lane " << n % 64 << ": " << text(a);
    expect_told(a, load.bytes);
  }
  EXPECT_GT(out_of_range, 10000);
  EXPECT_GT(partial, 50);
}

TEST_P(BufferAddress, OfStores) {
  struct Store {
    const char* name;
    unsigned bytes;
  };
  constexpr Store kStores[] = {{"byte", 1},    {"short", 2},    {"dword", 4},
                               {"dwordx2", 8}, {"dwordx3", 12}, {"dwordx4", 16}};
  std::vector<std::uint8_t> expected(kSeen);
  for (int round = 0; round < 1500; ++round) {
    const Store& store = kStores[round % 6];
    const Access a = random_access(random_, bench_, store.bytes);
    fill_data();
    put(bench_, a);
    std::memcpy(expected.data(), bench_.block, kSeen);
    for (unsigned lane = 0; lane < 64; ++lane) {
      unsigned inside = 0;
      const auto at = active(lane) ? place(a, lane, store.bytes, true, inside) : std::nullopt;
      if (!at) continue;
      std::uint32_t value[4];
      for (unsigned d = 0; d < 4; ++d) value[d] = bench_.wave.row(kData + d)[lane];
      const std::size_t where = *at - reinterpret_cast<std::uint64_t>(bench_.block);
      ASSERT_LT(where + 16, kSeen);
      std::memcpy(&expected[where], value, inside);
    }
    ASSERT_EQ(bench_.run(std::string("buffer_store_") + store.name, a.f), "") << text(a);
    ASSERT_EQ(std::memcmp(bench_.block, expected.data(), kSeen), 0)
        << store.name << ": " << text(a);
    expect_told(a, store.bytes);
  }
}

TEST_P(BufferAddress, OfAtomics) {
  int missed = 0;
  for (int round = 0; round < 2000; ++round) {
    const bool wide = round % 2, swap = round % 4 >= 2;
    const unsigned bytes = wide ? 8 : 4;
    Access a = random_access(random_, bench_, bytes);
    a.f.sc0 = random_() % 2;
    fill_data();
    put(bench_, a);
    std::vector<std::uint8_t> memory(bench_.block, bench_.block + kSeen);
    std::array<std::uint32_t, 4 * 64> expected{};
    std::memcpy(expected.data(), bench_.wave.row(kData), sizeof expected);
    const auto data = [&](unsigned first, unsigned lane) {
      const std::uint32_t* const low = bench_.wave.row(kData + first) + lane;
      return wide ? low[0] | std::uint64_t{low[64]} << 32 : std::uint64_t{low[0]};
    };
    for (unsigned lane = 0; lane < 64; ++lane) {
      if (!active(lane)) continue;
      unsigned inside = 0;
      const auto at = place(a, lane, bytes, false, inside);
      std::uint64_t old = 0;
      missed += !at;
      if (at) {
        const std::size_t where = *at - reinterpret_cast<std::uint64_t>(bench_.block);
        ASSERT_LT(where + 8, kSeen);
        std::memcpy(&old, &memory[where], bytes);
        if (swap && random_() % 2) {  // let it match
          for (unsigned d = 0; d < bytes / 4; ++d)
            bench_.wave.row(kData + bytes / 4 + d)[lane] = expected[(bytes / 4 + d) * 64 + lane] =
                static_cast<std::uint32_t>(old >> (32 * d));
        }
        std::uint64_t result = old + data(0, lane);
        if (swap) result = data(bytes / 4, lane) == old ? data(0, lane) : old;
        std::memcpy(&memory[where], &result, bytes);
      }
      if (a.f.sc0)
        for (unsigned d = 0; d < bytes / 4; ++d)
          expected[d * 64 + lane] = static_cast<std::uint32_t>(old >> (32 * d));
    }
    const std::string name = std::string(swap ? "cmpswap" : "add") + (wide ? "_x2" : "");
    ASSERT_EQ(bench_.run("buffer_atomic_" + name, a.f), "") << text(a);
    ASSERT_EQ(std::memcmp(bench_.block, memory.data(), memory.size()), 0) << name << text(a);
    for (unsigned n = 0; n < 4 * 64; ++n)
      ASSERT_EQ(bench_.wave.row(kData)[n], expected[n])
          << name << " register " << n / 64 << " lane " << n % 64 << ": " << text(a);
  }
  EXPECT_GT(missed, 1000);
}

INSTANTIATE_TEST_SUITE_P(HostLevels, BufferAddress,
                         testing::Values("generic", "x86-64-v3", "x86-64-v4"));

/// As HipKittens makes them: rows of less than 16 KiB, the bits of both swizzles, and byte offsets.
TEST_P(BufferAddress, WithoutAnIndexNothingIsSwizzled) {
  Descriptor d;
  d.base = reinterpret_cast<std::uint64_t>(bench_.block);
  d.num_records = 2048;
  const std::array<std::uint32_t, 4> plain = d.words();
  auto words = plain;
  words[1] |= (256u | 0x4000u | 0x8000u) << 16;
  words[3] = 0x00110000;
  for (const bool swizzles : {false, true}) {
    std::memcpy(&bench_.wave.s[kResource], swizzles ? words.data() : plain.data(), 16);
    bench_.wave.s[kSoffset] = 64;
    for (unsigned lane = 0; lane < 64; ++lane) bench_.wave.row(kAddress)[lane] = lane * 32;
    ASSERT_EQ(bench_.run("buffer_load_dwordx4", {.offset = 16, .offen = true}), "");
    for (unsigned lane = 0; lane < 64; ++lane)
      for (unsigned n = 0; n < 4; ++n) {
        const unsigned at = 80 + lane * 32 + 4 * n;
        std::uint32_t word = 0;
        if (at + 4 <= 2048) std::memcpy(&word, bench_.block + at, 4);
        ASSERT_EQ(bench_.wave.row(kData + n)[lane], word) << lane;
      }
  }
}

// ---- Descriptors ------------------------------------------------------------------------------

class BufferDescriptor : public testing::Test {
 protected:
  Descriptor valid() {
    Descriptor d;
    d.base = reinterpret_cast<std::uint64_t>(bench_.block);
    d.num_records = 4096;
    return d;
  }
  std::string load(const Descriptor& d, bool idxen = false) {
    bench_.set(d);
    return bench_.run("buffer_load_dword", {.idxen = idxen});
  }
  BufferBench bench_;
};

TEST_F(BufferDescriptor, OfZerosIsABufferOfNoBytes) {
  std::fill_n(&bench_.wave.s[kResource], 4, 0u);
  bench_.wave.row(kData)[3] = 7;
  EXPECT_EQ(bench_.run("buffer_load_dword", {}), "");
  EXPECT_EQ(bench_.wave.row(kData)[3], 0u);
  EXPECT_EQ(bench_.run("buffer_store_dword", {}), "");
  EXPECT_EQ(bench_.run("buffer_load_format_xy", {.idxen = true}), "");
  EXPECT_EQ(bench_.run("tbuffer_load_format_x", {.data_format = 1}), "");
}

TEST_F(BufferDescriptor, ThatIsNoneStops) {
  Descriptor d = valid();
  EXPECT_EQ(load(d), "");
  d.data_format = 0;
  EXPECT_EQ(load(d),
            "the buffer descriptor in s[8:11] has the data format INVALID: to the hardware it is "
            "unbound, and reads 0");
  d = valid();
  d.type = 2;
  EXPECT_EQ(load(d), "the buffer descriptor in s[8:11] is of type 2, which is no buffer");
  d = valid();
  d.swizzle = true;
  d.stride = 16;
  d.element_size = 0;
  EXPECT_EQ(load(d, true),
            "the buffer descriptor in s[8:11] is swizzled with a stride of 16 and elements of 2 "
            "bytes, which does not allow accesses of 4 bytes");
  EXPECT_EQ(load(d), "") << "without an index nothing is swizzled";
  d.element_size = 1;
  EXPECT_EQ(load(d, true), "");
  d.stride = 18;
  EXPECT_NE(load(d, true), "");
  EXPECT_EQ(load(d), "");
  // Where the lane is added to the index, the data format is part of the stride.
  d = valid();
  d.add_tid = true;
  d.stride = 4;
  d.data_format = 0;
  EXPECT_EQ(load(d), "");
}

}  // namespace
}  // namespace margay::buffer_test
