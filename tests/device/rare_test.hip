// LDS and scalar instructions that compilers make rarely or never, written in assembly: against
// what the ISA guide's pseudo-code gives, computed here lane by lane.
#include <bit>
#include <cmath>

#include "judge.h"

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
constexpr u32 kLanes = 64, kWords = 2048;

/// What a kernel leaves: LDS, and four registers of each lane.
struct State {
  u32 lds[kWords];
  u32 result[kLanes][4];
};

#if defined(__HIP_DEVICE_COMPILE__)
#define DEVICE_CODE(...) __VA_ARGS__
#else
#define DEVICE_CODE(...)
#endif
/// A kernel of one wave whose LDS starts as `state->lds`. `code` uses lane, lds (a byte offset), a,
/// b, c (inputs of this lane) and sets d (four registers).
#define LDS_KERNEL(name, ...)                                                        \
  __global__ void name(State* state, const u64* as, const u64* bs) {                 \
    __shared__ u32 memory[kWords];                                                   \
    const u32 lane = threadIdx.x;                                                    \
    for (u32 n = lane; n < kWords; n += kLanes) memory[n] = state->lds[n];           \
    __syncthreads();                                                                 \
    const auto lds = static_cast<u32>(reinterpret_cast<std::uintptr_t>(&memory[0])); \
    const u64 a = as[lane], b = bs[lane];                                            \
    (void)lds, (void)a, (void)b;                                                     \
    u32 d[4] = {};                                                                   \
    DEVICE_CODE(__VA_ARGS__)                                                         \
    __syncthreads();                                                                 \
    for (u32 n = lane; n < kWords; n += kLanes) state->lds[n] = memory[n];           \
    for (u32 n = 0; n < 4; ++n) state->result[lane][n] = d[n];                       \
  }
#define TWO(d, value) (d[0] = static_cast<u32>(value), d[1] = static_cast<u32>((value) >> 32))

LDS_KERNEL(mask_or32,
           asm volatile("ds_mskor_rtn_b32 %0, %1, %2, %3 offset:8\n s_waitcnt lgkmcnt(0)" : "=&v"(
                            d[0]) : "v"(lds + 12 * lane),
                        "v"(u32(a)), "v"(u32(b)) : "memory");
           asm volatile("ds_mskor_b32 %0, %1, %2 offset:12\n s_waitcnt lgkmcnt(0)" ::"v"(lds +
                                                                                         12 * lane),
                        "v"(u32(b)), "v"(u32(a)) : "memory");)
LDS_KERNEL(mask_or64, u64 old; asm volatile(
               "ds_mskor_rtn_b64 %0, %1, %2, %3 offset:8\n ds_mskor_b64 %1, %3, %2 offset:16\n "
               "s_waitcnt lgkmcnt(0)" : "=&v"(old) : "v"(lds + 24 * lane),
               "v"(a), "v"(b) : "memory");
           TWO(d, old);)
LDS_KERNEL(wrap,
           asm volatile("ds_wrap_rtn_b32 %0, %1, %2, %3 offset:4\n s_waitcnt lgkmcnt(0)" : "=&v"(
                            d[0]) : "v"(lds + 8 * lane),
                        "v"(u32(a)), "v"(u32(b)) : "memory");)
LDS_KERNEL(conditional_exchange, u64 old;
           asm volatile("ds_condxchg32_rtn_b64 %0, %1, %2 offset:11\n s_waitcnt lgkmcnt(0)" : "=&v"(
                            old) : "v"(lds + 8 * lane),
                        "v"(a) : "memory");
           TWO(d, old);)
LDS_KERNEL(
    exchange_two32, u64 old; asm volatile(
        "ds_wrxchg2_rtn_b32 %0, %1, %2, %3 offset0:1 offset1:130\n s_waitcnt lgkmcnt(0)" : "=&v"(
            old) : "v"(lds + 8 * lane),
        "v"(u32(a)), "v"(u32(b)) : "memory");
    TWO(d, old);)
LDS_KERNEL(
    exchange_two64, typedef u32 Four __attribute__((ext_vector_type(4))); Four old; asm volatile(
        "ds_wrxchg2st64_rtn_b64 %0, %1, %2, %3 offset0:2 offset1:0\n s_waitcnt lgkmcnt(0)" : "=&v"(
            old) : "v"(lds + 8 * lane),
        "v"(a), "v"(b) : "memory");
    for (int n = 0; n < 4; ++n) d[n] = old[n];)
LDS_KERNEL(packed_add,
           asm volatile("ds_pk_add_rtn_f16 %0, %2, %3\n ds_pk_add_rtn_bf16 %1, %2, %4 offset:4\n "
                        "ds_pk_add_f16 %2, %3 offset:8\n ds_pk_add_bf16 %2, %4 offset:12\n "
                        "s_waitcnt lgkmcnt(0)" : "=&v"(d[0]),
                        "=&v"(d[1]) : "v"(lds + 16 * lane), "v"(u32(a)), "v"(u32(b)) : "memory");)
LDS_KERNEL(counters,
           if (lane % 3 != 1) asm volatile(
               "s_mov_b32 m0, %2\n s_nop 0\n ds_append %0 offset:16\n ds_consume %1 offset:20\n "
               "s_waitcnt lgkmcnt(0)" : "=&v"(d[0]),
               "=&v"(d[1]) : "s"(lds + 64) : "memory");)
LDS_KERNEL(
    by_lane,
    if (lane % 5 != 2) asm volatile(
        "s_mov_b32 m0, %1\n s_nop 0\n ds_read_addtid_b32 %0 offset:32\n s_waitcnt lgkmcnt(0)\n "
        "ds_write_addtid_b32 %2 offset:1024\n s_waitcnt lgkmcnt(0)" : "=&v"(d[0]) : "s"(lds + 4),
        "v"(u32(a)) : "memory");)
LDS_KERNEL(
    swizzles,
    asm volatile("ds_swizzle_b32 %0, %4 offset:0xe000\n ds_swizzle_b32 %1, %4 offset:0xe010\n "
                 "ds_swizzle_b32 %2, %4 offset:0xc021\n ds_swizzle_b32 %3, %4 offset:0xc420\n "
                 "s_waitcnt lgkmcnt(0)" : "=&v"(d[0]),
                 "=&v"(d[1]), "=&v"(d[2]), "=&v"(d[3]) : "v"(lane));)

struct Inputs {
  std::vector<u64> a, b;
  State before{}, expected{};
};
/// Random inputs; `edit` may change them before `expected` starts as what was before.
template <typename Edit>
Inputs inputs(Edit edit) {
  Inputs in;
  judge::Random random(11);
  for (u32 n = 0; n < kLanes; ++n) {
    in.a.push_back(random.next());
    in.b.push_back(random.next());
  }
  for (u32& word : in.before.lds) word = static_cast<u32>(random.next());
  edit(in);
  in.expected = in.before;
  return in;
}
void judge_kernel(void (*kernel)(State*, const u64*, const u64*), const Inputs& in) {
  judge::Buffer<State> state({in.before});
  judge::Buffer<u64> a(in.a), b(in.b);
  kernel<<<1, kLanes>>>(state.get(), a.get(), b.get());
  const State got = state.read()[0];
  for (u32 n = 0; n < kWords; ++n) ASSERT_EQ(got.lds[n], in.expected.lds[n]) << "LDS dword " << n;
  for (u32 lane = 0; lane < kLanes; ++lane)
    for (u32 n = 0; n < 4; ++n)
      ASSERT_EQ(got.result[lane][n], in.expected.result[lane][n])
          << "lane " << lane << ", register " << n;
}
u64 get64(const State& s, u32 word) { return s.lds[word] | u64{s.lds[word + 1]} << 32; }
void put64(State& s, u32 word, u64 value) {
  s.lds[word] = static_cast<u32>(value);
  s.lds[word + 1] = static_cast<u32>(value >> 32);
}
void result64(State& s, u32 lane, u32 at, u64 value) {
  s.result[lane][at] = static_cast<u32>(value);
  s.result[lane][at + 1] = static_cast<u32>(value >> 32);
}
constexpr auto unchanged = [](Inputs&) {};

TEST(Lds, mask_or) {
  Inputs in = inputs(unchanged);
  for (u32 lane = 0; lane < kLanes; ++lane) {
    u32& word = in.expected.lds[3 * lane + 2];
    in.expected.result[lane][0] = word;
    word = (word & ~static_cast<u32>(in.a[lane])) | static_cast<u32>(in.b[lane]);
    // The last one is the next lane's first; each lane's two do not meet within an instruction.
  }
  for (u32 lane = 0; lane < kLanes; ++lane) {
    u32& word = in.expected.lds[3 * lane + 3];
    word = (word & ~static_cast<u32>(in.b[lane])) | static_cast<u32>(in.a[lane]);
  }
  judge_kernel(mask_or32, in);
  in = inputs(unchanged);
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u32 at = 6 * lane + 2;
    const u64 old = get64(in.expected, at);
    result64(in.expected, lane, 0, old);
    put64(in.expected, at, (old & ~in.a[lane]) | in.b[lane]);
    put64(in.expected, at + 2, (get64(in.expected, at + 2) & ~in.b[lane]) | in.a[lane]);
  }
  judge_kernel(mask_or64, in);
}

TEST(Lds, wrap) {
  Inputs in = inputs([](Inputs& i) {
    for (u32 lane = 0; lane < kLanes; ++lane)
      i.a[lane] = lane % 3 == 0 ? i.before.lds[2 * lane + 1] : i.a[lane];  // just as far
  });
  for (u32 lane = 0; lane < kLanes; ++lane) {
    u32& word = in.expected.lds[2 * lane + 1];
    const auto back = static_cast<u32>(in.a[lane]), on = static_cast<u32>(in.b[lane]);
    in.expected.result[lane][0] = word;
    word = word >= back ? word - back : word + on;
  }
  judge_kernel(wrap, in);
}

TEST(Lds, conditional_exchange) {
  Inputs in = inputs(unchanged);
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u32 at = 2 * lane + 2;  // 8 * lane + 11, rounded down to 8
    result64(in.expected, lane, 0, get64(in.expected, at));
    for (u32 n = 0; n < 2; ++n) {
      const auto data = static_cast<u32>(in.a[lane] >> (32 * n));
      if (data >> 31) in.expected.lds[at + n] = data & 0x7fffffff;
    }
  }
  judge_kernel(conditional_exchange, in);
}

TEST(Lds, exchange_of_two) {
  Inputs in = inputs(unchanged);
  for (u32 lane = 0; lane < kLanes; ++lane) {
    u32 &first = in.expected.lds[2 * lane + 1], &second = in.expected.lds[2 * lane + 130];
    in.expected.result[lane][0] = first;
    in.expected.result[lane][1] = second;
    first = static_cast<u32>(in.a[lane]);
    second = static_cast<u32>(in.b[lane]);
  }
  judge_kernel(exchange_two32, in);
  in = inputs(unchanged);
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u32 first = 2 * lane + 2 * 64 * 2, second = 2 * lane;
    result64(in.expected, lane, 0, get64(in.expected, first));
    result64(in.expected, lane, 2, get64(in.expected, second));
    put64(in.expected, first, in.a[lane]);
    put64(in.expected, second, in.b[lane]);
  }
  judge_kernel(exchange_two64, in);
}

/// Halves of small numbers, whose sums are exact in f16; and quarters for bf16.
u32 two_halves(u32 n) {
  const auto bits = [](double x) {
    return u32{__builtin_bit_cast(std::uint16_t, static_cast<_Float16>(x))};
  };
  return bits(n * 0.5) | bits(-3.0 * n) << 16;
}
u32 two_bfloats(u32 n) {
  const auto bits = [](float x) { return __builtin_bit_cast(u32, x) >> 16; };
  return bits(static_cast<float>(n) * 0.25f) | bits(static_cast<float>(n) - 40) << 16;
}
u32 bfloat_sum(u32 a, u32 b) {
  u32 out = 0;
  for (int shift = 0; shift < 32; shift += 16) {
    const auto value = [shift](u32 w) { return __builtin_bit_cast(float, (w >> shift) << 16); };
    const u32 bits = __builtin_bit_cast(u32, value(a) + value(b));
    EXPECT_EQ(bits & 0xffff, 0u);  // exact
    out |= bits >> 16 << shift;
  }
  return out;
}
u32 half_sum(u32 a, u32 b) {
  u32 out = 0;
  for (int shift = 0; shift < 32; shift += 16) {
    const auto value = [shift](u32 w) {
      return static_cast<double>(
          judge::from_bits<_Float16>(static_cast<std::uint16_t>(w >> shift)));
    };
    const auto sum = static_cast<_Float16>(value(a) + value(b));
    out |= u32{__builtin_bit_cast(std::uint16_t, sum)} << shift;
  }
  return out;
}
TEST(Lds, packed_add) {
  Inputs in = inputs([](Inputs& i) {
    for (u32 lane = 0; lane < kLanes; ++lane) {
      i.a[lane] = two_halves(lane);
      i.b[lane] = two_bfloats(lane);
      for (u32 n = 0; n < 4; ++n)
        i.before.lds[4 * lane + n] = n % 2 == 0 ? two_halves(lane + n + 5) : two_bfloats(lane + n);
    }
  });
  for (u32 lane = 0; lane < kLanes; ++lane) {
    u32* const word = &in.expected.lds[4 * lane];
    in.expected.result[lane][0] = word[0];
    in.expected.result[lane][1] = word[1];
    for (u32 n = 0; n < 4; ++n)
      word[n] = n % 2 == 0 ? half_sum(word[n], static_cast<u32>(in.a[lane]))
                           : bfloat_sum(word[n], static_cast<u32>(in.b[lane]));
  }
  judge_kernel(packed_add, in);
}

TEST(Lds, counters) {
  Inputs in = inputs(unchanged);
  u32 active = 0;
  for (u32 lane = 0; lane < kLanes; ++lane) active += lane % 3 != 1;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if (lane % 3 == 1) continue;
    in.expected.result[lane][0] = in.before.lds[20];
    in.expected.result[lane][1] = in.before.lds[21];
  }
  in.expected.lds[20] += active;
  in.expected.lds[21] -= active;
  judge_kernel(counters, in);
}

TEST(Lds, addresses_by_lane) {
  Inputs in = inputs(unchanged);
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if (lane % 5 == 2) continue;
    in.expected.result[lane][0] = in.before.lds[9 + lane];
    in.expected.lds[257 + lane] = static_cast<u32>(in.a[lane]);
  }
  judge_kernel(by_lane, in);
}

TEST(Lds, swizzles_of_the_guide) {
  // The lists of the guide, which count lanes from 1.
  constexpr u32 kReversed[] = {0x1,  0x11, 0x9,  0x19, 0x5,  0x15, 0xd,  0x1d, 0x3,  0x13, 0xb,
                               0x1b, 0x7,  0x17, 0xf,  0x1f, 0x2,  0x12, 0xa,  0x1a, 0x6,  0x16,
                               0xe,  0x1e, 0x4,  0x14, 0xc,  0x1c, 0x8,  0x18, 0x10, 0x20};
  constexpr u32 kReversed16[] = {0x1,  0x9,  0x5,  0xd,  0x3,  0xb,  0x7,  0xf,  0x2,  0xa,  0x6,
                                 0xe,  0x4,  0xc,  0x8,  0x10, 0x11, 0x19, 0x15, 0x1d, 0x13, 0x1b,
                                 0x17, 0x1f, 0x12, 0x1a, 0x16, 0x1e, 0x14, 0x1c, 0x18, 0x20};
  Inputs in = inputs(unchanged);
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u32 half = lane & 32, at = lane & 31;
    in.expected.result[lane][0] = half + kReversed[at] - 1;
    in.expected.result[lane][1] = half + kReversed16[at] - 1;
    // Mask 1, left by one: 1, 4, 3, 6, 5, 8 ... 1f, 2; mask 0, right by one: 20, 1, 2 ... 1f.
    in.expected.result[lane][2] = half + (at % 2 == 0 ? at : (at + 2) % 32);
    in.expected.result[lane][3] = half + (at + 31) % 32;
  }
  judge_kernel(swizzles, in);
}

// ---- Scalar -----------------------------------------------------------------------------------

__global__ void quad_masks(const u64* in, u64* out, u32 count) {
  for (u32 n = 0; n < count; ++n) {
    u32 narrow = 0, narrow_any = 0, any = 0;
    u64 wide = 0;
    (void)narrow, (void)narrow_any, (void)any, (void)wide, (void)in;
    DEVICE_CODE(const auto scalar =
                    [](u64 x) {
                      return u64{
                          static_cast<u32>(__builtin_amdgcn_readfirstlane(static_cast<int>(x)))};
                    };
                const u64 value = scalar(in[n]) | scalar(in[n] >> 32) << 32;
                asm volatile("s_quadmask_b32 %0, %2\n s_cselect_b32 %1, 1, 0" : "=&s"(narrow),
                             "=s"(narrow_any) : "s"(static_cast<u32>(value)) : "scc");
                asm volatile("s_quadmask_b64 %0, %2\n s_cselect_b32 %1, 1, 0" : "=&s"(wide),
                             "=s"(any) : "s"(value) : "scc");)
    out[n] = wide | u64{narrow} << 16 | u64{any} << 32 | u64{narrow_any} << 33;
  }
}
TEST(Scalar, quad_masks) {
  std::vector<u64> in = {0, 1, 0x8000000000000000, 0x0010000001000000, ~u64{0}};
  judge::Random random(12);
  for (int n = 0; n < 100; ++n) in.push_back(random.next() & random.next() & random.next());
  judge::Buffer<u64> from(in), to(in.size());
  quad_masks<<<1, 1>>>(from.get(), to.get(), static_cast<u32>(in.size()));
  const auto got = to.read();
  for (std::size_t n = 0; n < in.size(); ++n) {
    u64 mask = 0;
    for (int quad = 0; quad < 16; ++quad) mask |= u64{(in[n] >> (4 * quad) & 15) != 0} << quad;
    const u64 low = mask & 0xff;
    EXPECT_EQ(got[n], mask | low << 16 | u64{mask != 0} << 32 | u64{low != 0} << 33) << in[n];
  }
}

__global__ void relative_registers(u64* out) {
  u64 read32 = 0, read64 = 0, written = 0, pair = 0;
  u32 outside = 0;
  (void)read32, (void)read64, (void)written, (void)outside, (void)pair;
  DEVICE_CODE(asm volatile("s_mov_b32 s40, 0x1111\n s_mov_b32 s41, 0x2222\n s_mov_b32 s42, 0x3333\n"
                           "s_mov_b32 s43, 0x4444\n s_mov_b32 s44, 0\n s_mov_b32 s45, 0\n"
                           "s_mov_b32 m0, 3\n s_nop 0\n"
                           "s_movrels_b32 %0, s40\n"  // s43
                           "s_mov_b32 m0, 2\n s_nop 0\n"
                           "s_movrels_b64 %1, s[40:41]\n"        // s[42:43]
                           "s_movreld_b64 s[42:43], s[40:41]\n"  // to s[44:45]
                           "s_mov_b64 %4, s[44:45]\n"
                           "s_mov_b32 m0, 1\n s_nop 0\n"
                           "s_movreld_b32 s44, s42\n"  // to s45
                           "s_mov_b64 %2, s[44:45]\n"
                           "s_mov_b32 m0, 99\n s_nop 0\n"
                           "s_movreld_b32 s44, 77\n"  // out of range: nothing
                           "s_mov_b32 s0, 0x5555\n"
                           "s_movrels_b32 %3, s44\n"  // out of range: s0
                           : "=&s"(*reinterpret_cast<u32*>(&read32)),
                           "=&s"(read64), "=&s"(written), "=&s"(outside), "=&s"(pair)::"s0", "s40",
                           "s41", "s42", "s43", "s44", "s45");)
  out[0] = read32;
  out[1] = read64;
  out[2] = written;
  out[3] = outside;
  out[4] = pair;
}
TEST(Scalar, registers_by_m0) {
  judge::Buffer<u64> out(5);
  relative_registers<<<1, 1>>>(out.get());
  const auto got = out.read();
  EXPECT_EQ(got[0] & 0xffffffff, 0x4444u);
  EXPECT_EQ(got[1], 0x4444'0000'3333u);
  EXPECT_EQ(got[2], 0x3333'0000'1111u);
  EXPECT_EQ(got[3], 0x5555u);
  EXPECT_EQ(got[4], 0x2222'0000'1111u);
}

/// Both sides of a fork run, the smaller first, each lane on its own; then EXEC is restored.
__global__ void forks(u64 condition, u32* out) {
  u32 to_address = 0, relative = 0;
  (void)condition, (void)to_address, (void)relative;
#define FORK(instruction)                                                                 \
  "s_mov_b64 s[26:27], exec\n s_mov_b64 s[20:21], %1\n s_mov_b32 s24, 0\n"                \
  "s_mov_b32 s25, 0\n v_mov_b32 %0, 0\n" instruction                                      \
  "s_add_u32 s25, s25, 1\n v_add_u32 %0, %0, 1\n v_lshl_add_u32 %0, s25, 8, %0\n"         \
  "s_branch join%=\n"                                                                     \
  "pass%=: s_add_u32 s25, s25, 1\n v_add_u32 %0, %0, 2\n v_lshl_add_u32 %0, s25, 8, %0\n" \
  "join%=: s_cbranch_join s24\n"                                                          \
  "s_mov_b64 exec, s[26:27]\n v_add_u32 %0, %0, 16\n"
#define FORK_CLOBBERS \
  "s0", "s1", "s2", "s3", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "scc", "memory"
  DEVICE_CODE(
      asm volatile(FORK("s_cbranch_i_fork s[20:21], pass%=\n") : "=&v"(relative) : "s"(
          condition) : FORK_CLOBBERS);
      asm volatile(FORK(
          "s_getpc_b64 s[22:23]\n"
          "base%=: s_add_u32 s22, s22, pass%=-base%=\n"
          "s_addc_u32 s23, s23, 0\n"
          "s_cbranch_g_fork s[20:21], s[22:23]\n") : "=&v"(to_address) : "s"(condition) : FORK_CLOBBERS);)
  out[2 * threadIdx.x] = relative;
  out[2 * threadIdx.x + 1] = to_address;
}
TEST(Scalar, forks) {
  for (const u64 condition :
       {u64{0}, ~u64{0}, u64{0xfffff}, ~u64{0xfffff}, u64{0xaaaaaaaaaaaaaaaa}}) {
    judge::Buffer<u32> out(2 * kLanes);
    forks<<<1, kLanes>>>(condition, out.get());
    const auto got = out.read();
    const int passing = std::popcount(condition);
    // The smaller side goes first; of two equal ones the passing side.
    const bool pass_first = passing <= 32;
    for (u32 lane = 0; lane < kLanes; ++lane) {
      const bool passes = condition >> lane & 1;
      const bool alone = passing == 0 || passing == 64;
      const u32 turn = alone || passes == pass_first ? 1 : 2;
      const u32 expected = (passes ? 2 : 1) + 16 + (turn << 8);
      ASSERT_EQ(got[2 * lane], expected) << std::hex << condition << ", lane " << lane;
      ASSERT_EQ(got[2 * lane + 1], expected) << std::hex << condition << ", lane " << lane;
    }
  }
}

/// The debugger's conditions are clear, nothing is killed or halted by 0, and 1 ends the wave.
__global__ void ends(u32* out) {
  out[0] = 1;
  DEVICE_CODE(asm volatile("s_cbranch_cdbguser skip%=\n s_cbranch_cdbgsys skip%=\n"
                           "s_cbranch_cdbgsys_or_user skip%=\n s_cbranch_cdbgsys_and_user skip%=\n"
                           "s_setkill 0\n s_sethalt 0\n s_setvskip 0, 0\n ds_nop\n"
                           "global_store_dword %0, %1, off offset:4\n skip%=:\n"
                           "s_waitcnt vmcnt(0)" ::"v"(out),
                           "v"(2) : "memory");
              asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)\n s_setkill 1" :: : "memory");)
  out[2] = 3;
}
__global__ void ends_ordered(u32* out) {
  out[0] = 4;
  DEVICE_CODE(
      asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)\n s_endpgm_ordered_ps_done" :: : "memory");)
  out[1] = 5;
}
TEST(Scalar, ends_of_a_wave) {
  judge::Buffer<u32> out(3);
  ends<<<1, 1>>>(out.get());
  EXPECT_EQ(out.read(), (std::vector<u32>{1, 2, 0}));
  ends_ordered<<<1, 1>>>(out.get());
  EXPECT_EQ(out.read(), (std::vector<u32>{4, 2, 0}));
}

}  // namespace
