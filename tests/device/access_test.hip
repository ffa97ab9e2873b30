// Memory instructions by mnemonic, in assembly: atomics of LDS, by aperture, global and of buffers,
// with and without result; loads and stores of parts of a register. Against what the ISA guide's
// pseudo-code gives, computed here lane by lane.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "judge.h"

namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
constexpr u32 kLanes = 64;

typedef u32 Four __attribute__((ext_vector_type(4)));
typedef u32 Three __attribute__((ext_vector_type(3)));
#if defined(__HIP_DEVICE_COMPILE__)
#define DEVICE_CODE(...) __VA_ARGS__
__device__ u32 uniform(u64 x) {
  return static_cast<u32>(__builtin_amdgcn_readfirstlane(static_cast<int>(x)));
}
/// Raw bytes, out-of-range accesses excluded.
__device__ Four buffer_of(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return {uniform(address), uniform(address >> 32), 1 << 20, 0x00020000};
}
__device__ u32 lds_address(const void* memory) {
  return static_cast<u32>(reinterpret_cast<std::uintptr_t>(memory));
}
#else
#define DEVICE_CODE(...)
#endif

/// One lane's operands, and what it sees: memory before, in each space, and behind two operations.
template <typename W>
struct Lane {
  W memory, first, second;
};
template <typename W>
struct Seen {
  W old[4], after[4];  ///< LDS or global, flat, buffer.
};

/// The first operation returns what was there; the second, with other data, does not.
#define LDS_ATOMIC(operation, type, W)                                                             \
  __global__ void lds_##operation##_##type(const Lane<W>* lanes, Seen<W>* seen) {                  \
    __shared__ W memory[kLanes];                                                                   \
    const Lane<W> lane = lanes[threadIdx.x];                                                       \
    W old{};                                                                                       \
    memory[threadIdx.x] = lane.memory;                                                             \
    __syncthreads();                                                                               \
    DEVICE_CODE(asm volatile(                                                                      \
                    "ds_" #operation "_rtn_" #type " %0, %1, %2 offset:8\n s_waitcnt lgkmcnt(0)\n" \
                    "ds_" #operation "_" #type " %1, %3 offset:8\n s_waitcnt lgkmcnt(0)" : "=&v"(  \
                        old) : "v"(lds_address(&memory[threadIdx.x]) - 8),                         \
                    "v"(lane.first), "v"(lane.second) : "memory");)                                \
    __syncthreads();                                                                               \
    seen[threadIdx.x].old[0] = old;                                                                \
    seen[threadIdx.x].after[0] = memory[threadIdx.x];                                              \
  }
#define GLOBAL_ATOMIC(operation, W, BUFFER)                                                        \
  __global__ void global_##operation(const Lane<W>* lanes, W* memory, Seen<W>* seen) {             \
    const Lane<W> lane = lanes[threadIdx.x];                                                       \
    W global{}, flat{}, buffer = lane.first;                                                       \
    W* const at = memory + 3 * threadIdx.x;                                                        \
    for (int n = 0; n < 3; ++n) at[n] = lane.memory;                                               \
    (void)at;                                                                                      \
    DEVICE_CODE(asm volatile("s_waitcnt vmcnt(0)\n global_atomic_" #operation                      \
                             " %0, %1, %2, off sc0\n"                                              \
                             "s_waitcnt vmcnt(0)\n global_atomic_" #operation " %1, %3, off\n"     \
                             "s_waitcnt vmcnt(0)" : "=&v"(global) : "v"(at),                       \
                             "v"(lane.first), "v"(lane.second) : "memory");                        \
                asm volatile("flat_atomic_" #operation " %0, %1, %2 sc0\n"                         \
                             "s_waitcnt vmcnt(0) lgkmcnt(0)\n flat_atomic_" #operation " %1, %3\n" \
                             "s_waitcnt vmcnt(0) lgkmcnt(0)" : "=&v"(flat) : "v"(at + 1),          \
                             "v"(lane.first), "v"(lane.second) : "memory");                        \
                BUFFER(asm volatile("buffer_atomic_" #operation " %0, %1, %2, 0 offen sc0\n"       \
                                    "s_waitcnt vmcnt(0)\n"                                         \
                                    "buffer_atomic_" #operation " %3, %1, %2, 0 offen\n"           \
                                    "s_waitcnt vmcnt(0)" : "+&v"(buffer) : "v"(                    \
                                        u32((3 * threadIdx.x + 2) * sizeof(W))),                   \
                                    "s"(buffer_of(memory)), "v"(lane.second) : "memory");))        \
    Seen<W>& s = seen[threadIdx.x];                                                                \
    s.old[0] = global;                                                                             \
    s.old[1] = flat;                                                                               \
    s.old[2] = buffer;                                                                             \
    for (int n = 0; n < 3; ++n) s.after[n] = __atomic_load_n(&at[n], __ATOMIC_RELAXED);            \
  }
#define WITH_BUFFER(...) __VA_ARGS__
#define WITHOUT_BUFFER(...)

template <typename W>
std::vector<Lane<W>> lanes_of(const std::function<W(judge::Random&)>& operand) {
  judge::Random random(41);
  std::vector<Lane<W>> lanes;
  for (u32 n = 0; n < kLanes; ++n) {
    Lane<W> lane{operand(random), operand(random), operand(random)};
    if (n % 5 == 0) lane.first = lane.memory;
    if (n % 7 == 0) lane.second = lane.first;
    lanes.push_back(lane);
  }
  return lanes;
}
template <typename W>
void expect_seen(const char* name, const std::vector<Lane<W>>& lanes,
                 const std::vector<Seen<W>>& seen, int spaces, auto operation) {
  for (u32 n = 0; n < kLanes; ++n) {
    const W once = operation(lanes[n].memory, lanes[n].first);
    const W twice = operation(once, lanes[n].second);
    for (int space = 0; space < spaces; ++space) {
      ASSERT_EQ(seen[n].old[space], lanes[n].memory)
          << name << " does not return what was there, lane " << n << ", space " << space;
      ASSERT_EQ(seen[n].after[space], twice)
          << std::hex << name << " on 0x" << lanes[n].memory << " with 0x" << lanes[n].first
          << " and 0x" << lanes[n].second << ", lane " << n << ", space " << space;
    }
  }
}
template <typename W>
void expect_lds(const char* name, void (*kernel)(const Lane<W>*, Seen<W>*),
                const std::function<W(judge::Random&)>& operand, auto operation) {
  const auto lanes = lanes_of<W>(operand);
  judge::Buffer<Lane<W>> in(lanes);
  judge::Buffer<Seen<W>> seen(kLanes);
  kernel<<<1, kLanes>>>(in.get(), seen.get());
  expect_seen<W>(name, lanes, seen.read(), 1, operation);
}
template <typename W>
void expect_global(const char* name, void (*kernel)(const Lane<W>*, W*, Seen<W>*), int spaces,
                   const std::function<W(judge::Random&)>& operand, auto operation) {
  const auto lanes = lanes_of<W>(operand);
  judge::Buffer<Lane<W>> in(lanes);
  judge::Buffer<W> memory(3 * kLanes);
  judge::Buffer<Seen<W>> seen(kLanes);
  kernel<<<1, kLanes>>>(in.get(), memory.get(), seen.get());
  expect_seen<W>(name, lanes, seen.read(), spaces, operation);
}

template <typename W>
W integers(judge::Random& random) {
  const u64 r = random.next();
  return static_cast<W>(r % 3 == 0 ? random.next() % 8 : random.next());
}
/// Of moderate size, as bits: sums are exact.
template <typename W, typename F>
W floats(judge::Random& random) {
  const F x = static_cast<F>(static_cast<i64>(random.next() % 4096) - 2048) / 8;
  return judge::from_bits<W>(__builtin_bit_cast(judge::Bits<F>, x));
}
float f32(u32 bits) { return judge::from_bits<float>(bits); }
double f64(u64 bits) { return judge::from_bits<double>(bits); }
u32 bits_of(float x) { return __builtin_bit_cast(u32, x); }
u64 bits_of(double x) { return __builtin_bit_cast(u64, x); }

#define LDS(operation, type, W, operand, ...)                              \
  LDS_ATOMIC(operation, type, W)                                           \
  TEST(Lds, operation##_##type) {                                          \
    expect_lds<W>(#operation "_" #type, lds_##operation##_##type, operand, \
                  [](W m, W d) -> W { return __VA_ARGS__; });              \
  }
#define INTEGER_LDS(operation, type, W, ...) LDS(operation, type, W, integers<W>, __VA_ARGS__)
// The guide's names: m is memory, d the data.
INTEGER_LDS(add, u32, u32, m + d)
INTEGER_LDS(add, u64, u64, m + d)
INTEGER_LDS(sub, u32, u32, m - d)
INTEGER_LDS(sub, u64, u64, m - d)
INTEGER_LDS(rsub, u32, u32, d - m)
INTEGER_LDS(rsub, u64, u64, d - m)
INTEGER_LDS(inc, u32, u32, m >= d ? 0 : m + 1)
INTEGER_LDS(inc, u64, u64, m >= d ? 0 : m + 1)
INTEGER_LDS(dec, u32, u32, m == 0 || m > d ? d : m - 1)
INTEGER_LDS(dec, u64, u64, m == 0 || m > d ? d : m - 1)
INTEGER_LDS(min, i32, u32, i32(d) < i32(m) ? d : m)
INTEGER_LDS(min, i64, u64, i64(d) < i64(m) ? d : m)
INTEGER_LDS(max, i32, u32, i32(d) > i32(m) ? d : m)
INTEGER_LDS(max, i64, u64, i64(d) > i64(m) ? d : m)
INTEGER_LDS(min, u32, u32, std::min(m, d))
INTEGER_LDS(min, u64, u64, std::min(m, d))
INTEGER_LDS(max, u32, u32, std::max(m, d))
INTEGER_LDS(max, u64, u64, std::max(m, d))
INTEGER_LDS(and, b32, u32, m& d)
INTEGER_LDS(and, b64, u64, m& d)
INTEGER_LDS(or, b32, u32, m | d)
INTEGER_LDS(or, b64, u64, m | d)
INTEGER_LDS(xor, b32, u32, m ^ d)
INTEGER_LDS(xor, b64, u64, m ^ d)
#define FLOAT_LDS(operation, type, W, F, ...) LDS(operation, type, W, (floats<W, F>), __VA_ARGS__)
FLOAT_LDS(min, f32, u32, float, bits_of(std::min(f32(m), f32(d))))
FLOAT_LDS(max, f32, u32, float, bits_of(std::max(f32(m), f32(d))))
FLOAT_LDS(min, f64, u64, double, bits_of(std::min(f64(m), f64(d))))
FLOAT_LDS(max, f64, u64, double, bits_of(std::max(f64(m), f64(d))))

#define GLOBAL(operation, W, operand, BUFFER, spaces, ...)            \
  GLOBAL_ATOMIC(operation, W, BUFFER)                                 \
  TEST(Global, operation) {                                           \
    expect_global<W>(#operation, global_##operation, spaces, operand, \
                     [](W m, W d) -> W { return __VA_ARGS__; });      \
  }
#define INTEGER_GLOBAL(operation, ...)                                                 \
  GLOBAL(operation, u32, integers<u32>, WITH_BUFFER, 3, INTEGER_##operation(u32, i32)) \
  GLOBAL(operation##_x2, u64, integers<u64>, WITH_BUFFER, 3, INTEGER_##operation(u64, i64))
#define INTEGER_add(U, I) m + d
#define INTEGER_sub(U, I) m - d
#define INTEGER_smin(U, I) I(d) < I(m) ? d : m
#define INTEGER_smax(U, I) I(d) > I(m) ? d : m
#define INTEGER_umin(U, I) std::min(m, d)
#define INTEGER_umax(U, I) std::max(m, d)
#define INTEGER_and(U, I) m& d
#define INTEGER_or(U, I) m | d
#define INTEGER_xor(U, I) m ^ d
#define INTEGER_inc(U, I) m >= d ? 0 : m + 1
#define INTEGER_dec(U, I) m == 0 || m > d ? d : m - 1
#define INTEGER_swap(U, I) d
INTEGER_GLOBAL(add)
INTEGER_GLOBAL(sub)
INTEGER_GLOBAL(smin)
INTEGER_GLOBAL(smax)
INTEGER_GLOBAL(umin)
INTEGER_GLOBAL(umax)
INTEGER_GLOBAL(and)
INTEGER_GLOBAL(or)
INTEGER_GLOBAL(xor)
INTEGER_GLOBAL(inc)
INTEGER_GLOBAL(dec)
#undef INTEGER_swap
#define INTEGER_swap(U, I) ((void)m, d)
INTEGER_GLOBAL(swap)
GLOBAL(add_f32, u32, (floats<u32, float>), WITH_BUFFER, 3, bits_of(f32(m) + f32(d)))
GLOBAL(add_f64, u64, (floats<u64, double>), WITH_BUFFER, 3, bits_of(f64(m) + f64(d)))
GLOBAL(min_f64, u64, (floats<u64, double>), WITH_BUFFER, 3, bits_of(std::min(f64(m), f64(d))))
GLOBAL(max_f64, u64, (floats<u64, double>), WITH_BUFFER, 3, bits_of(std::max(f64(m), f64(d))))

/// Two small f16 or bf16 numbers, whose sums are exact.
u32 two_halves(judge::Random& random) {
  const auto half = [&random] {
    const auto x = static_cast<_Float16>(static_cast<int>(random.next() % 512) - 256);
    return u32{__builtin_bit_cast(u16, x)};
  };
  return half() | half() << 16;
}
u32 two_bfloats(judge::Random& random) {
  const auto bfloat = [&random] {
    return bits_of(static_cast<float>(static_cast<int>(random.next() % 64) - 32)) >> 16;
  };
  return bfloat() | bfloat() << 16;
}
u32 half_sums(u32 m, u32 d) {
  u32 out = 0;
  for (int shift = 0; shift < 32; shift += 16) {
    const auto value = [shift](u32 w) {
      return static_cast<double>(judge::from_bits<_Float16>(u16(w >> shift)));
    };
    const auto sum = static_cast<_Float16>(value(m) + value(d));
    out |= u32{__builtin_bit_cast(u16, sum)} << shift;
  }
  return out;
}
u32 bfloat_sums(u32 m, u32 d) {
  u32 out = 0;
  for (int shift = 0; shift < 32; shift += 16) {
    const auto value = [shift](u32 w) { return f32(w >> shift << 16); };
    out |= bits_of(value(m) + value(d)) >> 16 << shift;
  }
  return out;
}
GLOBAL(pk_add_f16, u32, two_halves, WITH_BUFFER, 3, half_sums(m, d))
GLOBAL(pk_add_bf16, u32, two_bfloats, WITHOUT_BUFFER, 2, bfloat_sums(m, d))

/// Compare and swap: the low part of data goes to memory if the high part equals the old value; LDS
/// has them as two operands, the other way round.
template <typename W>
struct Swaps {
  W old[8], after[8];
};
#define COMPARE_AND_SWAP(name, W, Pair, suffix, b, f)                                             \
  __global__ void name(const Lane<W>* lanes, W* memory, Swaps<W>* out) {                          \
    __shared__ W lds[4][kLanes];                                                                  \
    const Lane<W> lane = lanes[threadIdx.x];                                                      \
    W* const at = memory + 3 * threadIdx.x;                                                       \
    for (int n = 0; n < 3; ++n) at[n] = lane.memory;                                              \
    for (int n = 0; n < 4; ++n) lds[n][threadIdx.x] = lane.memory;                                \
    __syncthreads();                                                                              \
    W old[5] = {};                                                                                \
    Pair pair = {lane.second, lane.first};                                                        \
    (void)pair, (void)at;                                                                         \
    DEVICE_CODE(                                                                                  \
        const u32 to = lds_address(&lds[0][threadIdx.x]);                                         \
        asm volatile("s_waitcnt vmcnt(0)\n global_atomic_cmpswap" suffix " %0, %1, %2, off sc0\n" \
                     "s_waitcnt vmcnt(0)" : "=&v"(old[0]) : "v"(at),                              \
                     "v"(pair) : "memory");                                                       \
        asm volatile("flat_atomic_cmpswap" suffix " %0, %1, %2 sc0\n"                             \
                     "s_waitcnt vmcnt(0) lgkmcnt(0)" : "=&v"(old[1]) : "v"(at + 1),               \
                     "v"(pair) : "memory");                                                       \
        asm volatile(                                                                             \
            "ds_cmpst_rtn_" b " %0, %2, %3, %4\n ds_cmpst_rtn_" f " %1, %2, %3, %4 offset:%5\n"   \
            "ds_cmpst_" b " %2, %3, %4 offset:%6\n ds_cmpst_" f " %2, %3, %4 offset:%7\n"         \
            "s_waitcnt lgkmcnt(0)" : "=&v"(old[3]),                                               \
            "=&v"(old[4]) : "v"(to), "v"(lane.first), "v"(lane.second), "n"(sizeof(W) * kLanes),  \
            "n"(2 * sizeof(W) * kLanes), "n"(3 * sizeof(W) * kLanes) : "memory");                 \
        asm volatile(                                                                             \
            "buffer_atomic_cmpswap" suffix " %0, %1, %2, 0 offen sc0\n"                           \
            "s_waitcnt vmcnt(0)" : "+&v"(pair) : "v"(u32((3 * threadIdx.x + 2) * sizeof(W))),     \
            "s"(buffer_of(memory)) : "memory");)                                                  \
    old[2] = pair[0];                                                                             \
    __syncthreads();                                                                              \
    Swaps<W>& s = out[threadIdx.x];                                                               \
    for (int n = 0; n < 5; ++n) s.old[n] = old[n];                                                \
    for (int n = 0; n < 3; ++n) s.after[n] = __atomic_load_n(&at[n], __ATOMIC_RELAXED);           \
    for (int n = 0; n < 4; ++n) s.after[3 + n] = lds[n][threadIdx.x];                             \
  }
typedef u32 Pair32 __attribute__((ext_vector_type(2)));
typedef u64 Pair64 __attribute__((ext_vector_type(2)));
COMPARE_AND_SWAP(compare_and_swap32, u32, Pair32, "", "b32", "f32")
COMPARE_AND_SWAP(compare_and_swap64, u64, Pair64, "_x2", "b64", "f64")
template <typename W, typename F>
void expect_swaps(void (*kernel)(const Lane<W>*, W*, Swaps<W>*)) {
  const auto lanes = lanes_of<W>(floats<W, F>);  // some of which are equal
  judge::Buffer<Lane<W>> in(lanes);
  judge::Buffer<W> memory(3 * kLanes);
  judge::Buffer<Swaps<W>> out(kLanes);
  kernel<<<1, kLanes>>>(in.get(), memory.get(), out.get());
  const auto got = out.read();
  int swapped = 0;
  for (u32 n = 0; n < kLanes; ++n) {
    const bool same = lanes[n].memory == lanes[n].first;
    swapped += same;
    for (int way = 0; way < 5; ++way) ASSERT_EQ(got[n].old[way], lanes[n].memory) << n << way;
    for (int way = 0; way < 7; ++way)
      ASSERT_EQ(got[n].after[way], same ? lanes[n].second : lanes[n].memory) << n << way;
  }
  EXPECT_GT(swapped, 5);
  EXPECT_LT(swapped, 60);
}
TEST(Global, compare_and_swap) {
  expect_swaps<u32, float>(compare_and_swap32);
  expect_swaps<u64, double>(compare_and_swap64);
}

/// Exchanges of LDS, which have a form with result only.
__global__ void exchanges(u64* memory, const u64* data, u64* old) {
  __shared__ u64 lds[8 * kLanes];
  const u32 lane = threadIdx.x;
  for (u32 n = 0; n < 8; ++n) lds[8 * lane + n] = memory[8 * lane + n];
  __syncthreads();
  const u64 a = data[2 * lane], b = data[2 * lane + 1];
  u32 one = 0;
  u64 two = 0, pair32 = 0;
  Four pair64{};
  (void)a, (void)b;
  // One lane at a time: 64 dwords apart may be another lane's.
  for (u32 turn = 0; turn < kLanes; ++turn) {
    if (turn != lane) continue;
    DEVICE_CODE(const u32 at = lds_address(&lds[4 * lane]); asm volatile(
                    "ds_wrxchg_rtn_b32 %0, %4, %5\n ds_wrxchg_rtn_b64 %1, %4, %7 offset:8\n"
                    "s_waitcnt lgkmcnt(0)\n"
                    "ds_wrxchg2st64_rtn_b32 %2, %4, %5, %6 offset0:1 offset1:2\n"
                    "ds_wrxchg2_rtn_b64 %3, %4, %7, %8 offset0:2 offset1:3\n"
                    "s_waitcnt lgkmcnt(0)" : "=&v"(one),
                    "=&v"(two), "=&v"(pair32), "=&v"(pair64) : "v"(at), "v"(u32(a)), "v"(u32(b)),
                    "v"(a), "v"(b) : "memory");)
  }
  __syncthreads();
  for (u32 n = 0; n < 8; ++n) memory[8 * lane + n] = lds[8 * lane + n];
  u64* const mine = old + 5 * lane;
  mine[0] = one;
  mine[1] = two;
  mine[2] = pair32;
  mine[3] = pair64[0] | u64{pair64[1]} << 32;
  mine[4] = pair64[2] | u64{pair64[3]} << 32;
}
TEST(Lds, exchanges) {
  judge::Random random(42);
  std::vector<u64> memory(8 * kLanes), data(2 * kLanes);
  for (u64& word : memory) word = random.next();
  for (u64& word : data) word = random.next();
  judge::Buffer<u64> in_out(memory), from(data), old(5 * kLanes);
  exchanges<<<1, kLanes>>>(in_out.get(), from.get(), old.get());
  const auto got = old.read();
  std::vector<u32> lds(16 * kLanes);
  std::memcpy(lds.data(), memory.data(), memory.size() * 8);
  const auto exchange32 = [&](u32 at, u64 value) {
    return u64{std::exchange(lds[at], static_cast<u32>(value))};
  };
  const auto exchange64 = [&](u32 at, u64 value) {
    return exchange32(at, value) | exchange32(at + 1, value >> 32) << 32;
  };
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u64 a = data[2 * lane], b = data[2 * lane + 1];
    const u32 at = 8 * lane;  // dwords
    EXPECT_EQ(got[5 * lane], exchange32(at, a));
    EXPECT_EQ(got[5 * lane + 1], exchange64(at + 2, a));
    const u64 low = exchange32(at + 64, a);
    EXPECT_EQ(got[5 * lane + 2], low | exchange32(at + 128, b) << 32);
    EXPECT_EQ(got[5 * lane + 3], exchange64(at + 4, a));
    EXPECT_EQ(got[5 * lane + 4], exchange64(at + 6, b));
  }
  std::vector<u32> after(16 * kLanes);
  std::memcpy(after.data(), in_out.read().data(), after.size() * 4);
  EXPECT_EQ(after, lds);
}

// Loads of bytes and shorts into one half of a register, whose other half stays; stores of the
// upper half; three dwords. Behind them those of one, two and four dwords, and stores of lower
// parts.
constexpr u32 kBytes = 56;  ///< Of memory per lane.
constexpr u32 kLoads = 10;
struct Parts {
  u32 loaded[kLoads];
  u32 three[3];
  u32 whole[7];
  u8 memory[kBytes];
};
constexpr u32 kBefore = 0x5a5b5c5d;

#define LOAD(at, code, to, extra) \
  asm volatile(code "\n s_waitcnt vmcnt(0) lgkmcnt(0)" : "+&v"(p.loaded[at]) : "v"(to), extra)
#define KEEP_WHOLE                                                              \
  p.whole[0] = one;                                                             \
  p.whole[1] = static_cast<u32>(two), p.whole[2] = static_cast<u32>(two >> 32); \
  for (int n = 0; n < 4; ++n) p.whole[3 + n] = four[n]
#define LOAD_WHOLE(into, code, to, extra) \
  asm volatile(code "\n s_waitcnt vmcnt(0) lgkmcnt(0)" : "=&v"(into) : "v"(to), extra : "memory")
#define STORE(from, code, to, extra) \
  asm volatile(code "\n s_waitcnt vmcnt(0) lgkmcnt(0)" ::"v"(to), "v"(from), extra : "memory")
/// `between` goes between registers and offset; `extra` is one more operand, %2, %3 of stores.
#define LOADS(space, between, to, extra)                                          \
  LOAD(0, space "_load_ubyte_d16 %0, %1" between " offset:1", to, extra);         \
  LOAD(1, space "_load_ubyte_d16_hi %0, %1" between " offset:2", to, extra);      \
  LOAD(2, space "_load_sbyte_d16 %0, %1" between " offset:3", to, extra);         \
  LOAD(3, space "_load_sbyte_d16_hi %0, %1" between " offset:4", to, extra);      \
  LOAD(4, space "_load_short_d16 %0, %1" between " offset:6", to, extra);         \
  LOAD(5, space "_load_short_d16_hi %0, %1" between " offset:2", to, extra);      \
  LOAD(6, space "_load_ubyte %0, %1" between " offset:5", to, extra);             \
  LOAD(7, space "_load_sbyte %0, %1" between " offset:7", to, extra);             \
  LOAD(8, space "_load_sshort %0, %1" between " offset:4", to, extra);            \
  LOAD(9, space "_load_ushort %0, %1" between " offset:6", to, extra);            \
  LOAD_WHOLE(one, space "_load_dword %0, %1" between " offset:24", to, extra);    \
  LOAD_WHOLE(two, space "_load_dwordx2 %0, %1" between " offset:32", to, extra);  \
  LOAD_WHOLE(four, space "_load_dwordx4 %0, %1" between " offset:40", to, extra); \
  asm volatile(space "_load_dwordx3 %0, %1" between                               \
                     " offset:4\n"                                                \
                     "s_waitcnt vmcnt(0) lgkmcnt(0)"                              \
               : "=&v"(three)                                                     \
               : "v"(to), extra                                                   \
               : "memory")
#define STORES(space, order, between, to, extra)                             \
  KEEP_WHOLE;                                                                \
  asm volatile(space "_store_byte_d16_hi " order between " offset:1\n" space \
                     "_store_short_d16_hi " order between                    \
                     " offset:2\n"                                           \
                     "s_waitcnt vmcnt(0) lgkmcnt(0)" ::"v"(to),              \
               "v"(data), extra                                              \
               : "memory");                                                  \
  asm volatile(space "_store_dwordx3 " order between                         \
                     " offset:12\n"                                          \
                     "s_waitcnt vmcnt(0) lgkmcnt(0)" ::"v"(to),              \
               "v"(three), extra                                             \
               : "memory");                                                  \
  two = data | u64{three[0]} << 32;                                          \
  four = Four{data, three[0], three[1], three[2]};                           \
  STORE(data, space "_store_dword " order between " offset:24", to, extra);  \
  STORE(data, space "_store_byte " order between " offset:28", to, extra);   \
  STORE(data, space "_store_short " order between " offset:30", to, extra);  \
  STORE(two, space "_store_dwordx2 " order between " offset:32", to, extra); \
  STORE(four, space "_store_dwordx4 " order between " offset:40", to, extra)

/// `begin` and `end` make memory that the code between them can address.
#define PARTS(name, begin, code, end)                                      \
  __global__ void parts_##name(u8* memory, const u32* words, Parts* out) { \
    u8* const bytes = memory + kBytes * threadIdx.x;                       \
    const u32 data = words[threadIdx.x];                                   \
    (void)data, (void)bytes;                                               \
    Parts p{};                                                             \
    for (u32 & word : p.loaded) word = kBefore;                            \
    Three three{};                                                         \
    [[maybe_unused]] u32 one = 0;                                          \
    [[maybe_unused]] u64 two = 0;                                          \
    [[maybe_unused]] Four four{};                                          \
    begin;                                                                 \
    DEVICE_CODE(code)                                                      \
    end;                                                                   \
    for (int n = 0; n < 3; ++n) p.three[n] = three[n];                     \
    out[threadIdx.x] = p;                                                  \
  }
#define GLOBAL_MEMORY asm volatile("" ::: "memory")
#define COPY_BACK \
  for (u32 n = 0; n < kBytes; ++n) p.memory[n] = static_cast<volatile u8*>(bytes)[n]
PARTS(global, GLOBAL_MEMORY, LOADS("global", ", off", bytes, "v"(0));
      STORES("global", "%0, %1", ", off", bytes, "v"(0));, COPY_BACK)
PARTS(flat, GLOBAL_MEMORY, LOADS("flat", "", bytes, "v"(0));
      STORES("flat", "%0, %1", "", bytes, "v"(0));, COPY_BACK)
PARTS(buffer, GLOBAL_MEMORY, const u32 to = kBytes * threadIdx.x; const Four d = buffer_of(memory);
      LOADS("buffer", ", %2, 0 offen", to, "s"(d));
      STORES("buffer", "%1, %0", ", %2, 0 offen", to, "s"(d));, COPY_BACK)
#define PRIVATE_MEMORY                                  \
  alignas(4) u8 local[kBytes];                          \
  for (u32 n = 0; n < kBytes; ++n) local[n] = bytes[n]; \
  asm volatile("" ::"v"(local) : "memory")
#define FROM_PRIVATE \
  for (u32 n = 0; n < kBytes; ++n) p.memory[n] = static_cast<volatile u8*>(local)[n]
#define PRIVATE_ADDRESS ((__attribute__((address_space(5))) u8*)local)
PARTS(scratch, PRIVATE_MEMORY, LOADS("scratch", ", off", PRIVATE_ADDRESS, "v"(0));
      STORES("scratch", "%0, %1", ", off", PRIVATE_ADDRESS, "v"(0));, FROM_PRIVATE)
#define LDS_MEMORY                                      \
  alignas(16) __shared__ u8 lds[kBytes * kLanes];       \
  u8* const local = lds + kBytes * threadIdx.x;         \
  for (u32 n = 0; n < kBytes; ++n) local[n] = bytes[n]; \
  __syncthreads()
#define LDS_LOAD(at, code)                    \
  asm volatile(code "\n s_waitcnt lgkmcnt(0)" \
               : "+&v"(p.loaded[at])          \
               : "v"(lds_address(local))      \
               : "memory")
PARTS(lds, LDS_MEMORY, LDS_LOAD(0, "ds_read_u8_d16 %0, %1 offset:1");
      LDS_LOAD(1, "ds_read_u8_d16_hi %0, %1 offset:2");
      LDS_LOAD(2, "ds_read_i8_d16 %0, %1 offset:3");
      LDS_LOAD(3, "ds_read_i8_d16_hi %0, %1 offset:4");
      LDS_LOAD(4, "ds_read_u16_d16 %0, %1 offset:6");
      LDS_LOAD(5, "ds_read_u16_d16_hi %0, %1 offset:2"); LDS_LOAD(6, "ds_read_u8 %0, %1 offset:5");
      LDS_LOAD(7, "ds_read_i8 %0, %1 offset:7"); LDS_LOAD(8, "ds_read_i16 %0, %1 offset:4");
      LDS_LOAD(9, "ds_read_u16 %0, %1 offset:6");
      LOAD_WHOLE(one, "ds_read_b32 %0, %1 offset:24", lds_address(local), "v"(0));
      LOAD_WHOLE(two, "ds_read_b64 %0, %1 offset:32", lds_address(local), "v"(0));
      LOAD_WHOLE(four, "ds_read2_b64 %0, %1 offset0:5 offset1:6", lds_address(local), "v"(0));
      asm volatile("ds_read_b96 %0, %1 offset:4\n s_waitcnt lgkmcnt(0)" : "=&v"(three) : "v"(
          lds_address(local)) : "memory");
      KEEP_WHOLE;
      asm volatile("ds_write_b8_d16_hi %0, %1 offset:1\n ds_write_b16_d16_hi %0, %1 offset:2\n"
                   "ds_write_b96 %0, %2 offset:12\n s_waitcnt lgkmcnt(0)" ::"v"(lds_address(local)),
                   "v"(data), "v"(three) : "memory");
      asm volatile("ds_write_b32 %0, %1 offset:24\n ds_write_b8 %0, %1 offset:28\n"
                   "ds_write_b16 %0, %1 offset:30\n ds_write_b64 %0, %2 offset:32\n"
                   "ds_write2_b64 %0, %2, %3 offset0:5 offset1:6\n s_waitcnt lgkmcnt(0)" ::"v"(
                       lds_address(local)),
                   "v"(data), "v"(data | u64{three[0]} << 32),
                   "v"(three[1] | u64{three[2]} << 32) : "memory");
      , FROM_PRIVATE)

void expect_parts(const char* name, void (*kernel)(u8*, const u32*, Parts*)) {
  judge::Random random(43);
  std::vector<u8> memory(kBytes * kLanes);
  for (u8& byte : memory) byte = static_cast<u8>(random.next());
  std::vector<u32> data(kLanes);
  for (u32& word : data) word = static_cast<u32>(random.next());
  judge::Buffer<u8> in_out(memory);
  judge::Buffer<u32> words(data);
  judge::Buffer<Parts> out(kLanes);
  kernel<<<1, kLanes>>>(in_out.get(), words.get(), out.get());
  const auto got = out.read();
  for (u32 lane = 0; lane < kLanes; ++lane) {
    u8* const m = memory.data() + kBytes * lane;
    const auto half = [&](u32 at) { return u32{m[at]} | u32{m[at + 1]} << 8; };
    const auto word = [&](u32 at) { return half(at) | half(at + 2) << 16; };
    const auto with_sign = [&](u32 at) {
      return static_cast<u32>(static_cast<std::int8_t>(m[at]));
    };
    // The other half becomes 0: an MI325X has ECC on its registers (MI300 ISA guide, 9.1.6).
    const u32 expected[kLoads] = {
        m[1],
        u32{m[2]} << 16,
        with_sign(3) & 0xffff,
        with_sign(4) << 16,
        half(6),
        half(2) << 16,
        m[5],
        with_sign(7),
        static_cast<u32>(static_cast<std::int16_t>(half(4))),
        half(6),
    };
    for (u32 n = 0; n < kLoads; ++n)
      ASSERT_EQ(got[lane].loaded[n], expected[n]) << name << " load " << n << ", lane " << lane;
    for (u32 n = 0; n < 3; ++n) ASSERT_EQ(got[lane].three[n], word(4 + 4 * n)) << name << n;
    const u32 whole[7] = {word(24), word(32), word(36), word(40), word(44), word(48), word(52)};
    for (u32 n = 0; n < 7; ++n) ASSERT_EQ(got[lane].whole[n], whole[n]) << name << " dword " << n;
    const u32 four[4] = {data[lane], word(4), word(8), word(12)};
    std::memcpy(m + 24, four, 4);
    std::memcpy(m + 28, four, 1);
    std::memcpy(m + 30, four, 2);
    std::memcpy(m + 32, four, 8);
    std::memcpy(m + 40, four, 16);
    std::memmove(m + 12, m + 4, 12);  // the three dwords are stored behind
    m[1] = static_cast<u8>(data[lane] >> 16);
    m[2] = static_cast<u8>(data[lane] >> 16);
    m[3] = static_cast<u8>(data[lane] >> 24);
    for (u32 n = 0; n < kBytes; ++n)
      ASSERT_EQ(got[lane].memory[n], m[n]) << name << " byte " << n << ", lane " << lane;
  }
}
TEST(Parts, global) { expect_parts("global", parts_global); }
TEST(Parts, flat) { expect_parts("flat", parts_flat); }
TEST(Parts, buffer) { expect_parts("buffer", parts_buffer); }
TEST(Parts, scratch) { expect_parts("scratch", parts_scratch); }
TEST(Parts, lds) { expect_parts("lds", parts_lds); }

/// Two 64-bit words, 64 words apart; and loads of parts straight to LDS, a dword per lane from M0
/// on.
__global__ void into_lds(const u8* memory, u32* out) {
  __shared__ u64 lds[3 * kLanes];
  const u32 lane = threadIdx.x;
  for (u32 n = 0; n < 3; ++n) lds[n * kLanes + lane] = 0;
  __syncthreads();
  (void)memory;
  DEVICE_CODE(
      asm volatile("ds_write2st64_b64 %0, %1, %2 offset0:2 offset1:1\n s_waitcnt lgkmcnt(0)" ::"v"(
                       lds_address(&lds[lane])),
                   "v"(u64{lane} << 40 | 1), "v"(u64{lane} << 36 | 2) : "memory");)
  __syncthreads();
  for (u32 n = 0; n < 3; ++n) {
    out[2 * (n * kLanes + lane)] = static_cast<u32>(lds[n * kLanes + lane]);
    out[2 * (n * kLanes + lane) + 1] = static_cast<u32>(lds[n * kLanes + lane] >> 32);
  }
  __syncthreads();
  DEVICE_CODE(const u32 base = uniform(lds_address(&lds[0]));
              const u8* const at = memory + 3 * lane; const u8* const even = memory + 2 * lane;
              const u8* const word = memory + 4 * lane;
              asm volatile("s_mov_b32 m0, %0\n s_nop 0\n global_load_lds_ubyte %1, off\n"
                           "s_add_u32 m0, m0, 0x100\n s_nop 0\n global_load_lds_sbyte %1, off\n"
                           "s_add_u32 m0, m0, 0x100\n s_nop 0\n global_load_lds_ushort %2, off\n"
                           "s_add_u32 m0, m0, 0x100\n s_nop 0\n global_load_lds_sshort %2, off\n"
                           "s_add_u32 m0, m0, 0x100\n s_nop 0\n global_load_lds_dword %3, off\n"
                           "s_waitcnt vmcnt(0)" ::"s"(base),
                           "v"(at), "v"(even), "v"(word) : "memory", "scc");)
  __syncthreads();
  for (u32 n = 0; n < 5; ++n)
    out[6 * kLanes + n * kLanes + lane] =
        static_cast<volatile u32*>(reinterpret_cast<u32*>(lds))[n * kLanes + lane];
}
TEST(Parts, into_lds) {
  judge::Random random(44);
  std::vector<u8> memory(4 * kLanes);
  for (u8& byte : memory) byte = static_cast<u8>(random.next());
  judge::Buffer<u8> in(memory);
  judge::Buffer<u32> out(11 * kLanes);
  into_lds<<<1, kLanes>>>(in.get(), out.get());
  const auto got = out.read();
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const auto pair = [&](u32 n) {
      return got[2 * (n * kLanes + lane)] | u64{got[2 * (n * kLanes + lane) + 1]} << 32;
    };
    EXPECT_EQ(pair(0), 0u);
    EXPECT_EQ(pair(1), u64{lane} << 36 | 2);
    EXPECT_EQ(pair(2), u64{lane} << 40 | 1);
    const u32 byte = memory[3 * lane], half = memory[2 * lane] | memory[2 * lane + 1] << 8;
    const auto loaded = [&](u32 n) { return got[(6 + n) * kLanes + lane]; };
    EXPECT_EQ(loaded(0), byte);
    EXPECT_EQ(loaded(1), static_cast<u32>(static_cast<std::int8_t>(byte)));
    EXPECT_EQ(loaded(2), half);
    EXPECT_EQ(loaded(3), static_cast<u32>(static_cast<std::int16_t>(half)));
    u32 word = 0;
    std::memcpy(&word, memory.data() + 4 * lane, 4);
    EXPECT_EQ(loaded(4), word);
  }
}

}  // namespace
