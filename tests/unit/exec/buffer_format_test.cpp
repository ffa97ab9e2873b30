// Data formats of buffers: every pair of data and number format, loads and stores of every width
// and D16, against formats taken apart by their names and numbers worked out in double.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "buffer_bench.h"
#include "exec/program/lane_access.h"

namespace margay::buffer_test {
namespace {

using testing::HasSubstr;
using Random = std::mt19937_64;

constexpr const char* kDataNames[16] = {"invalid",     "8",          "16",          "8_8",
                                        "32",          "16_16",      "10_11_11",    "11_11_10",
                                        "10_10_10_2",  "2_10_10_10", "8_8_8_8",     "32_32",
                                        "16_16_16_16", "32_32_32",   "32_32_32_32", "reserved"};
constexpr const char* kNumberNames[8] = {"unorm", "snorm", "uscaled",  "sscaled",
                                         "uint",  "sint",  "reserved", "float"};

/// Widths of the components, X first: names begin with the most significant one.
std::vector<unsigned> widths(unsigned data) {
  std::vector<unsigned> out;
  if (data == 0 || data == 15) return out;
  const std::string name = kDataNames[data];
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    out.insert(out.begin(), static_cast<unsigned>(std::stoul(name.substr(at, end - at))));
    at = end + 1;
  }
  return out;
}
unsigned bytes_of(unsigned data) {
  unsigned bits = 0;
  for (const unsigned width : widths(data)) bits += width;
  return bits / 8;
}
/// LLVM's list of merged formats has these.
bool exists(unsigned data, unsigned number) {
  if (data == 0 || data == 15 || number == 6) return false;
  const std::string name = kDataNames[data];
  const bool is_float = number == 7;
  if (name.starts_with("32")) return number >= 4;
  if (name.starts_with("8") || name == "10_10_10_2" || name == "2_10_10_10") return !is_float;
  return true;
}

// ---- Small floats, by search among all of them ----------------------------------------------

/// The value of a float of five exponent bits, without sign; field 31 not included.
double value_of(std::uint32_t bits, unsigned mantissa_bits) {
  const std::uint32_t mantissa = bits % (1u << mantissa_bits), exponent = bits >> mantissa_bits;
  const double unit = 1.0 / (1u << mantissa_bits);
  if (exponent == 0) return mantissa * unit / 16384;
  double value = 1 + mantissa * unit;
  for (unsigned e = 15; e < exponent; ++e) value *= 2;
  for (unsigned e = exponent; e < 15; ++e) value /= 2;
  return value;
}
const std::vector<double>& all_values(unsigned mantissa_bits) {
  static std::map<unsigned, std::vector<double>> cache;
  std::vector<double>& values = cache[mantissa_bits];
  if (values.empty())
    for (std::uint32_t bits = 0; bits < 31u << mantissa_bits; ++bits)
      values.push_back(value_of(bits, mantissa_bits));
  return values;
}
/// Bits of the small float for a magnitude: truncated, or nearest with ties to even.
std::uint32_t to_small(double magnitude, unsigned mantissa_bits, bool truncate) {
  const std::uint32_t infinity = 31u << mantissa_bits;
  if (std::isnan(magnitude)) return infinity | 1u << (mantissa_bits - 1);
  if (std::isinf(magnitude)) return infinity;
  const auto& values = all_values(mantissa_bits);
  const auto above = std::upper_bound(values.begin(), values.end(), magnitude);
  const auto below = static_cast<std::uint32_t>(above - values.begin()) - 1;
  if (truncate || values[below] == magnitude) return below;
  const double next = above == values.end() ? 65536.0 : *above;
  const double down = magnitude - values[below], up = next - magnitude;
  if (up < down || (up == down && below % 2)) return below + 1;
  return below;
}
std::uint32_t to_half(double value, bool truncate) {
  return to_small(std::fabs(value), 10, truncate) | (std::signbit(value) ? 0x8000u : 0u);
}
double from_half(std::uint32_t bits) {
  double value = (bits & 0x7c00) != 0x7c00 ? value_of(bits & 0x7fff, 10)
                 : bits & 0x3ff            ? static_cast<double>(NAN)
                                           : static_cast<double>(INFINITY);
  return bits & 0x8000 ? -value : value;
}
std::uint32_t float_bits(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}
bool is_nan(std::uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }
bool is_half_nan(std::uint32_t bits) { return (bits & 0x7fff) > 0x7c00; }

// ---- One component ----------------------------------------------------------------------------

std::int64_t as_signed(std::uint64_t raw, unsigned width) {
  return raw >> (width - 1) & 1 ? static_cast<std::int64_t>(raw) - (std::int64_t{1} << width)
                                : static_cast<std::int64_t>(raw);
}

/// What a register gets; nothing where it is not known.
std::optional<std::uint32_t> loaded(std::uint64_t raw, unsigned width, unsigned number, bool d16) {
  const std::string name = kNumberNames[number];
  const std::int64_t with_sign = as_signed(raw, width);
  if (name == "uint") {
    if (d16 && raw > 0xffff) return std::nullopt;
    return static_cast<std::uint32_t>(raw);
  }
  if (name == "sint") {
    if (d16 && (with_sign < -32768 || with_sign > 32767)) return std::nullopt;
    return static_cast<std::uint32_t>(with_sign) & (d16 ? 0xffffu : ~0u);
  }
  if (name == "float" && width == 32) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(raw));
    return d16 ? to_half(value, true) : static_cast<std::uint32_t>(raw);
  }
  double value = 0;
  if (name == "unorm") value = static_cast<double>(raw) / ((1u << width) - 1);
  if (name == "snorm")
    value = std::max(-1.0, static_cast<double>(with_sign) / ((1u << (width - 1)) - 1));
  if (name == "uscaled") value = static_cast<double>(raw);
  if (name == "sscaled") value = static_cast<double>(with_sign);
  if (name == "float" && width == 16) value = from_half(static_cast<std::uint32_t>(raw));
  if (name == "float" && width < 16) {
    const std::uint32_t mantissa = raw & ((1u << (width - 5)) - 1);
    value = raw >> (width - 5) != 31 ? value_of(static_cast<std::uint32_t>(raw), width - 5)
            : mantissa               ? static_cast<double>(NAN)
                                     : static_cast<double>(INFINITY);
  }
  return d16 ? to_half(value, false) : float_bits(value);
}

/// The inverse: what memory gets of a register.
std::optional<std::uint64_t> stored(std::uint32_t in, unsigned width, unsigned number, bool d16) {
  const std::string name = kNumberNames[number];
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  if (name == "uint") return in <= mask ? std::optional<std::uint64_t>(in) : std::nullopt;
  if (name == "sint") {
    const std::int64_t value = d16 ? as_signed(in, 16) : as_signed(in, 32);
    const std::int64_t limit = std::int64_t{1} << (width - 1);
    if (value < -limit || value >= limit) return std::nullopt;
    return static_cast<std::uint64_t>(value) & mask;
  }
  const double value = d16 ? from_half(in) : std::bit_cast<float>(in);
  if (name == "float") {
    if (width == 32) return d16 ? float_bits(value) : in;
    if (width == 16) return d16 ? in : to_half(value, true);
    return value < 0 ? 0 : to_small(std::fabs(value), width - 5, true);
  }
  const bool with_sign = name[0] == 's';
  const auto most = static_cast<double>(with_sign ? mask >> 1 : mask);
  if (name.ends_with("norm")) {
    if (std::isnan(value)) return 0;
    const double scaled = std::clamp(value, with_sign ? -1.0 : 0.0, 1.0) * most;
    double whole = std::floor(scaled);
    const double rest = scaled - whole;
    if (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2.0) != 0)) whole += 1;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(whole)) & mask;
  }
  const double least = with_sign ? -most - 1 : 0;
  if (!(value >= least && value <= most) || value != std::floor(value)) return std::nullopt;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & mask;
}

// ---- Whole instructions -------------------------------------------------------------------------

constexpr const char* kSuffixes[] = {"x", "xy", "xyz", "xyzw"};

std::uint64_t component(const std::uint8_t* element, const std::vector<unsigned>& w, unsigned n) {
  unsigned first = 0;
  for (unsigned k = 0; k < n; ++k) first += w[k];
  std::uint64_t raw = 0;
  for (unsigned bit = 0; bit < w[n]; ++bit)
    raw |= std::uint64_t{element[(first + bit) / 8] >> (first + bit) % 8 & 1u} << bit;
  return raw;
}
void set_component(std::uint8_t* element, const std::vector<unsigned>& w, unsigned n,
                   std::uint64_t raw) {
  unsigned first = 0;
  for (unsigned k = 0; k < n; ++k) first += w[k];
  for (unsigned bit = 0; bit < w[n]; ++bit) {
    std::uint8_t& byte = element[(first + bit) / 8];
    const unsigned shift = (first + bit) % 8;
    byte = static_cast<std::uint8_t>((byte & ~(1u << shift)) | (raw >> bit & 1) << shift);
  }
}

struct Case {
  unsigned data, number, components;
  bool d16, typed;
  [[nodiscard]] std::string mnemonic(const char* direction) const {
    return std::string(typed ? "tbuffer_" : "buffer_") + direction + "_format_" +
           (d16 ? "d16_" : "") + kSuffixes[components - 1];
  }
  [[nodiscard]] std::string text() const {
    return std::string(kDataNames[data]) + " " + kNumberNames[number] + " " + mnemonic("");
  }
};
std::vector<Case> cases() {
  std::vector<Case> out;
  for (unsigned data = 0; data < 16; ++data)
    for (unsigned number = 0; number < 8; ++number)
      for (unsigned components = 1; components <= 4; ++components)
        for (unsigned kind = 0; kind < 4; ++kind)
          if (exists(data, number))
            out.push_back({data, number, components, kind % 2 != 0, kind / 2 != 0});
  return out;
}

class BufferFormats : public testing::Test {
 protected:
  /// An element per lane; typed instructions find another format in the descriptor.
  Fields set(const Case& c) {
    d_.base = reinterpret_cast<std::uint64_t>(bench_.block);
    d_.stride = 16;
    d_.num_records = 64;
    d_.data_format = c.typed ? 1 : c.data;
    d_.number_format = c.typed ? 0 : c.number;
    bench_.set(d_);
    for (unsigned lane = 0; lane < 64; ++lane) bench_.wave.row(kAddress)[lane] = lane;
    return {.idxen = true, .data_format = c.data, .number_format = c.number};
  }
  [[nodiscard]] std::uint32_t got(const Case& c, unsigned n, unsigned lane) {
    if (!c.d16) return bench_.wave.row(kData + n)[lane];
    return bench_.wave.row(kData + n / 2)[lane] >> (n % 2 * 16) & 0xffff;
  }
  static bool same(const Case& c, std::uint32_t a, std::uint32_t b) {
    if (a == b) return true;
    if (c.number != 7) return false;
    return c.d16 ? is_half_nan(a) && is_half_nan(b) : is_nan(a) && is_nan(b);
  }

  Random random_{9};
  Descriptor d_;
  BufferBench bench_;
};

TEST_F(BufferFormats, Load) {
  std::size_t checked = 0;
  for (const Case& c : cases())
    for (int round = 0; round < 8; ++round) {
      const Fields f = set(c);
      const auto w = widths(c.data);
      for (unsigned lane = 0; lane < 64; ++lane)
        for (unsigned n = 0; n < w.size(); ++n) {
          std::uint64_t raw = random_() & ((std::uint64_t{1} << w[n]) - 1);
          if (random_() % 4 == 0) raw = random_() % 2 ? raw >> (w[n] / 2) : raw | 1u << (w[n] - 1);
          if (c.d16 && w[n] == 32 && c.number == 4) raw &= 0xffff;
          if (c.d16 && w[n] == 32 && c.number == 5)
            raw = static_cast<std::uint32_t>(as_signed(raw & 0xffff, 16));
          set_component(bench_.block + 16 * lane, w, n, raw);
        }
      std::fill_n(bench_.wave.row(kData), 4 * 64, 0xdeadbeef);
      ASSERT_EQ(bench_.run(c.mnemonic("load"), f), "") << c.text();
      for (unsigned lane = 0; lane < 64; ++lane) {
        for (unsigned n = 0; n < c.components; ++n) {
          std::uint32_t expected = 0;
          if (n < w.size())
            expected = *loaded(component(bench_.block + 16 * lane, w, n), w[n], c.number, c.d16);
          ASSERT_TRUE(same(c, got(c, n, lane), expected))
              << c.text() << " component " << n << " is " << std::hex << got(c, n, lane) << ", not "
              << expected << ", of "
              << component(bench_.block + 16 * lane, w,
                           std::min<unsigned>(n, static_cast<unsigned>(w.size()) - 1));
          ++checked;
        }
        // What an odd number of halves leaves of the last register is 0.
        if (c.d16 && c.components % 2) ASSERT_EQ(got(c, c.components, lane), 0u) << c.text();
      }
    }
  EXPECT_GT(checked, 500'000u);
}

TEST_F(BufferFormats, Store) {
  std::size_t unknown = 0, checked = 0;
  for (const Case& c : cases()) {
    const auto w = widths(c.data);
    if (c.components < w.size()) continue;
    for (int round = 0; round < 8; ++round) {
      const Fields f = set(c);
      std::vector<std::uint8_t> expected(64 * 16, 0x5a);
      std::memset(bench_.block, 0x5a, 64 * 16);
      // One value in most rounds is what the documents say nothing of.
      const unsigned bad = round == 0 ? static_cast<unsigned>(random_() % 64) : 64;
      bool stops = false;
      for (unsigned lane = 0; lane < 64; ++lane)
        for (unsigned n = 0; n < c.components; ++n) {
          const unsigned width = n < w.size() ? w[n] : 32;
          std::uint32_t in;
          do {
            in = static_cast<std::uint32_t>(random_());
            if (c.number < 2 && random_() % 2)
              in = float_bits(static_cast<double>(random_() % 4000) / 1500 - 1.3);
            if (c.number == 2 || c.number == 3)
              in = float_bits(static_cast<double>(as_signed(random_() & 0xfff, 12)));
            if (c.number == 4) in &= 0xffffffffu >> (32 - width);
            if (c.number == 5) in = static_cast<std::uint32_t>(as_signed(in, 32) >> (32 - width));
            if (c.d16)
              in = c.number == 4 || c.number == 5 ? in & 0xffff
                   : c.number == 7                ? static_cast<std::uint32_t>(random_()) & 0xffff
                                                  : to_half(std::bit_cast<float>(in), false);
          } while (n < w.size() && lane != bad && !stored(in, width, c.number, c.d16));
          if (!c.d16) {
            bench_.wave.row(kData + n)[lane] = in;
          } else {
            std::uint32_t& word = bench_.wave.row(kData + n / 2)[lane];
            word = n % 2 ? (word & 0xffff) | in << 16 : (word & 0xffff0000) | in;
          }
          if (n >= w.size()) continue;
          const auto raw = stored(in, width, c.number, c.d16);
          stops |= !raw;
          set_component(&expected[16 * lane], w, n, raw.value_or(0));
        }
      unknown += stops;
      const std::string problem = bench_.run(c.mnemonic("store"), f);
      if (stops) {
        ASSERT_THAT(problem, HasSubstr("not documented")) << c.text();
        continue;
      }
      ASSERT_EQ(problem, "") << c.text();
      for (unsigned lane = 0; lane < 64; ++lane)
        for (unsigned n = 0; n < 16; ++n) {
          // All NaNs are equivalent.
          if (c.number == 7 && bench_.block[16 * lane + n] != expected[16 * lane + n]) {
            const unsigned part = w[0] == 32 ? n / 4 : w[0] == 16 ? n / 2 : 0;
            const auto a = component(bench_.block + 16 * lane, w, part);
            if (w[0] == 16 && is_half_nan(static_cast<std::uint32_t>(a))) continue;
            if (w[0] == 32 && is_nan(static_cast<std::uint32_t>(a))) continue;
          }
          ASSERT_EQ(bench_.block[16 * lane + n], expected[16 * lane + n])
              << c.text() << " lane " << lane << " byte " << n;
          ++checked;
        }
    }
  }
  EXPECT_GT(unknown, 5u);
  EXPECT_GT(checked, 500'000u);
}

// Values anyone can look up.
TEST_F(BufferFormats, Examples) {
  const auto load = [&](unsigned data, unsigned number, std::uint32_t word) {
    const Fields f = set({data, number, 4, false, true});
    std::memcpy(bench_.block, &word, 4);
    EXPECT_EQ(bench_.run("tbuffer_load_format_xyzw", f), "");
    std::array<float, 4> out{};
    for (unsigned n = 0; n < 4; ++n) out[n] = std::bit_cast<float>(bench_.wave.row(kData + n)[0]);
    return out;
  };
  using Four = std::array<float, 4>;
  EXPECT_EQ(load(10, 0, 0xff0080ff), (Four{1, 128 / 255.0f, 0, 1}));   // R8G8B8A8_UNORM
  EXPECT_EQ(load(10, 1, 0x807f8140), (Four{64 / 127.0f, -1, 1, -1}));  // R8G8B8A8_SNORM
  EXPECT_EQ(load(9, 0, 0xc00ffc00), (Four{0, 1, 0, 1}));               // R10G10B10A2_UNORM
  EXPECT_EQ(load(6, 7, 0x702003c0), (Four{1, 2, 0.5f, 0}));            // R11G11B10_FLOAT
  EXPECT_EQ(load(5, 7, 0xc0003c00), (Four{1, -2, 0, 0}));              // R16G16_FLOAT
}

TEST_F(BufferFormats, DstSelChoosesComponents) {
  for (int round = 0; round < 400; ++round) {
    const unsigned integer = random_() % 2;
    const Case c{10, integer ? 4u : 0u, 4, random_() % 2 != 0, false};
    for (std::uint32_t& select : d_.dst_sel) {
      constexpr std::uint32_t kValid[] = {0, 1, 4, 5, 6, 7};
      select = kValid[random_() % 6];
    }
    const Fields f = set(c);
    d_.num_records = 60;  // the last lanes are out of range
    bench_.set(d_);
    for (unsigned n = 0; n < 64 * 16; ++n) bench_.block[n] = static_cast<std::uint8_t>(random_());
    ASSERT_EQ(bench_.run(c.mnemonic("load"), f), "");
    for (unsigned lane = 0; lane < 64; ++lane)
      for (unsigned n = 0; n < 4; ++n) {
        const std::uint32_t one = integer ? 1 : c.d16 ? 0x3c00 : 0x3f800000;
        std::uint32_t expected = d_.dst_sel[n] == 1 ? one : 0;
        if (d_.dst_sel[n] >= 4 && lane < 60)
          expected = *loaded(bench_.block[16 * lane + d_.dst_sel[n] - 4], 8, c.number, c.d16);
        ASSERT_EQ(got(c, n, lane), expected) << "lane " << lane << " component " << n;
      }
  }
  // Stores: each component of memory from the one that names it.
  d_.dst_sel[0] = 6, d_.dst_sel[1] = 5, d_.dst_sel[2] = 4, d_.dst_sel[3] = 7;  // BGRA
  const Fields f = set({10, 4, 4, false, false});
  for (unsigned n = 0; n < 4; ++n) std::fill_n(bench_.wave.row(kData + n), 64, 10 + n);
  ASSERT_EQ(bench_.run("buffer_store_format_xyzw", f), "");
  EXPECT_EQ(std::vector<int>(bench_.block + 16, bench_.block + 20),
            (std::vector<int>{12, 11, 10, 13}));
}

TEST_F(BufferFormats, WhatIsNotThereStops) {
  for (unsigned data = 0; data < 16; ++data)
    for (unsigned number = 0; number < 8; ++number) {
      if (exists(data, number)) continue;
      const Fields f = set({data, number, 1, false, true});
      EXPECT_THAT(bench_.run("tbuffer_load_format_x", f), HasSubstr("does not exist"));
    }
  Fields f = set({10, 4, 4, false, false});
  d_.dst_sel[2] = 3;
  bench_.set(d_);
  EXPECT_EQ(bench_.run("buffer_load_format_xyzw", f), "dst_sel 3 is reserved");
  d_.dst_sel[2] = 1;
  bench_.set(d_);
  EXPECT_THAT(bench_.run("buffer_store_format_xyzw", f), HasSubstr("leaves one out"));
  d_.dst_sel[2] = 5;
  bench_.set(d_);
  EXPECT_THAT(bench_.run("buffer_store_format_xyzw", f), HasSubstr("names one twice"));
  d_.dst_sel[2] = 6;
  bench_.set(d_);
  EXPECT_THAT(bench_.run("buffer_store_format_xy", f), HasSubstr("fewer components"));
  f = set({4, 4, 1, true, false});
  std::memset(bench_.block, 0x7f, 64 * 16);
  EXPECT_THAT(bench_.run("buffer_load_format_d16_x", f), HasSubstr("does not fit"));
}

TEST_F(BufferFormats, D16HiUsesTheUpperHalf) {
  const Fields f = set({1, 0, 1, true, false});
  for (unsigned lane = 0; lane < 64; ++lane)
    bench_.block[16 * lane] = static_cast<std::uint8_t>(lane * 4);
  ASSERT_EQ(bench_.run("buffer_load_format_d16_hi_x", f), "");
  for (unsigned lane = 0; lane < 64; ++lane)
    ASSERT_EQ(bench_.wave.row(kData)[lane], *loaded(lane * 4, 8, 0, true) << 16);
  std::fill_n(bench_.wave.row(kData), 64, 0x3c00'7e00u);
  ASSERT_EQ(bench_.run("buffer_store_format_d16_hi_x", f), "");
  EXPECT_EQ(bench_.block[16 * 5], 255);
}

TEST_F(BufferFormats, StraightToLds) {
  Fields f = set({3, 0, 1, false, false});
  d_.num_records = 50;
  bench_.set(d_);
  f.lds = true;
  f.offset = 8;
  bench_.wave.s[kM0Index] = 256;
  bench_.lds.fill(0xee);
  for (unsigned n = 0; n < 64 * 16 + 8; ++n) bench_.block[n] = static_cast<std::uint8_t>(random_());
  ASSERT_EQ(bench_.run("buffer_load_format_x", f), "");
  for (unsigned lane = 0; lane < 64; ++lane) {
    std::uint32_t word;
    std::memcpy(&word, &bench_.lds[256 + 8 + 4 * lane], 4);
    ASSERT_EQ(word, lane < 50 ? *loaded(bench_.block[16 * lane + 8], 8, 0, false) : 0) << lane;
  }
}

// All or nothing, also in raw buffers; and observers receive the format's size.
TEST_F(BufferFormats, RangeIsOfTheWholeElement) {
  for (const unsigned data : {4u, 10u, 12u, 13u, 14u}) {
    const Case c{data, 4, 4, false, false};
    Fields f = set(c);
    f.idxen = false;
    f.offen = true;
    d_.stride = 0;
    d_.num_records = 1000;
    bench_.set(d_);
    for (unsigned lane = 0; lane < 64; ++lane) bench_.wave.row(kAddress)[lane] = 750 + 4 * lane;
    std::memset(bench_.block, 0x11, 2048);
    ASSERT_EQ(bench_.run("buffer_load_format_xyzw", f), "");
    LaneAccesses told;
    lane_accesses(bench_.wave, bench_.instruction, memory_form(bench_.instruction), told);
    ASSERT_EQ(told.count, 1u);
    EXPECT_EQ(told.access[0].bytes, bytes_of(data));
    for (unsigned lane = 0; lane < 64; ++lane) {
      const bool inside = 750 + 4 * lane + bytes_of(data) <= 1000;
      ASSERT_EQ(bench_.wave.row(kData)[lane] != 0, inside) << kDataNames[data] << " lane " << lane;
      ASSERT_EQ(told.access[0].active >> lane & 1, inside) << lane;
    }
  }
}

}  // namespace
}  // namespace margay::buffer_test
