// Scalar instructions by mnemonic, in assembly: result and SCC against what the ISA guide's
// pseudo-code gives, computed here.
#include <algorithm>
#include <bit>
#include <functional>

#include "judge.h"

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

/// The results of an instruction: its destination and SCC.
struct Outcome {
  u64 result = 0;
  u32 scc = 0;
};
constexpr u32 kEither = 2;  // SCC where the guide can be read in two ways

#if defined(__HIP_DEVICE_COMPILE__)
#define DEVICE_CODE(...) __VA_ARGS__
__device__ u64 uniform(u64 x) {
  const auto half = [](u64 y) {
    return u64{static_cast<u32>(__builtin_amdgcn_readfirstlane(static_cast<int>(y)))};
  };
  return half(x) | half(x >> 32) << 32;
}
#else
#define DEVICE_CODE(...)
#endif

/// A kernel of one lane, over all inputs; SCC is set before as bit 0 of c. `code` is assembly: %0
/// is the result, which starts as c, %2 is a and %3 is b.
#define SCALAR(name, R, A, B, code)                                                             \
  __global__ void name(const u64* as, const u64* bs, const u64* cs, Outcome* out, u32 count) {  \
    for (u32 n = 0; n < count; ++n) {                                                           \
      R result = 0;                                                                             \
      u32 scc = 0;                                                                              \
      (void)as, (void)bs, (void)cs;                                                             \
      DEVICE_CODE(result = static_cast<R>(uniform(cs[n])); asm volatile(                        \
                      "s_bitcmp1_b32 %4, 0\n" code "\n s_cselect_b32 %1, 1, 0" : "+&s"(result), \
                      "=&s"(scc) : "s"(static_cast<A>(uniform(as[n]))),                         \
                      "s"(static_cast<B>(uniform(bs[n]))),                                      \
                      "s"(static_cast<u32>(uniform(cs[n]))) : "scc");)                          \
      out[n] = {result, scc};                                                                   \
    }                                                                                           \
  }

struct Inputs {
  u64 a, b, c;
};
/// The corners of 32 and 64 bits with each other, and random ones.
std::vector<Inputs> inputs() {
  std::vector<u64> corners;
  for (const u64 x : {u64{0}, u64{1}, u64{2}, u64{31}, u64{32}, u64{63}, u64{0x7fffffff},
                      u64{0x80000000}, u64{0xffffffff}, u64{0x100000000}, u64{0x7fffffffffffffff},
                      u64{1} << 63, ~u64{0}, u64{0x00050003}, u64{0x0010000c}, u64{0x00200000}})
    corners.push_back(x);
  std::vector<Inputs> all;
  for (const u64 a : corners)
    for (const u64 b : corners) all.push_back({a, b, (a >> 3) ^ b ^ all.size()});
  judge::Random random(21);
  for (int n = 0; n < 300; ++n) all.push_back({random.next(), random.next(), random.next()});
  for (int n = 0; n < 100; ++n)
    all.push_back({random.next() >> random.next() % 64, random.next() % 80, random.next()});
  return all;
}

using Kernel = void (*)(const u64*, const u64*, const u64*, Outcome*, u32);
void expect_outcomes(const char* name, Kernel kernel, int bits,
                     const std::function<Outcome(u64, u64, u64, u32)>& reference) {
  std::vector<u64> a, b, c;
  for (const Inputs& in : inputs()) {
    a.push_back(in.a);
    b.push_back(in.b);
    c.push_back(in.c);
  }
  judge::Buffer<u64> as(a), bs(b), cs(c);
  judge::Buffer<Outcome> out(a.size());
  kernel<<<1, 1>>>(as.get(), bs.get(), cs.get(), out.get(), static_cast<u32>(a.size()));
  const auto got = out.read();
  const u64 mask = bits == 64 ? ~u64{0} : 0xffffffff;
  for (std::size_t n = 0; n < a.size(); ++n) {
    const Outcome expected = reference(a[n], b[n], c[n], static_cast<u32>(c[n] & 1));
    ASSERT_EQ(got[n].result, expected.result & mask)
        << name << std::hex << " of 0x" << a[n] << ", 0x" << b[n] << ", before 0x" << c[n];
    if (expected.scc == kEither) continue;
    ASSERT_EQ(got[n].scc, expected.scc)
        << "SCC of " << name << std::hex << " of 0x" << a[n] << ", 0x" << b[n];
  }
}

/// TWO, ONE: instructions of two operands and of one; what they give from a, b, the old result c
/// and the old SCC, as an Outcome.
#define JUDGED(name, bits, ...)                                                                \
  TEST(Scalar, name) {                                                                         \
    expect_outcomes(#name, kernel_##name, bits,                                                \
                    []([[maybe_unused]] u64 a, [[maybe_unused]] u64 b, [[maybe_unused]] u64 c, \
                       [[maybe_unused]] u32 scc) -> Outcome { __VA_ARGS__; });                 \
  }
#define TWO(name, R, A, B, bits, ...)                 \
  SCALAR(kernel_##name, R, A, B, #name " %0, %2, %3") \
  JUDGED(name, bits, __VA_ARGS__)
#define ONE(name, R, A, bits, ...)                  \
  SCALAR(kernel_##name, R, A, u32, #name " %0, %2") \
  JUDGED(name, bits, __VA_ARGS__)
#define COMPARE(name, A, B, condition)              \
  SCALAR(kernel_##name, u64, A, B, #name " %2, %3") \
  JUDGED(name, 64, return {c, (condition) ? 1u : 0u})
u32 low(u64 x) { return static_cast<u32>(x); }
i32 signed_low(u64 x) { return static_cast<i32>(x); }
Outcome nonzero32(u64 x) { return {x, low(x) != 0}; }
Outcome nonzero64(u64 x) { return {x, x != 0}; }

// Bits.
TWO(s_and_b32, u32, u32, u32, 32, return nonzero32(a & b))
TWO(s_and_b64, u64, u64, u64, 64, return nonzero64(a & b))
TWO(s_or_b32, u32, u32, u32, 32, return nonzero32(a | b))
TWO(s_or_b64, u64, u64, u64, 64, return nonzero64(a | b))
TWO(s_xor_b32, u32, u32, u32, 32, return nonzero32(a ^ b))
TWO(s_xor_b64, u64, u64, u64, 64, return nonzero64(a ^ b))
TWO(s_andn2_b64, u64, u64, u64, 64, return nonzero64(a & ~b))
TWO(s_orn2_b64, u64, u64, u64, 64, return nonzero64(a | ~b))
TWO(s_andn2_b32, u32, u32, u32, 32, return nonzero32(a & ~b))
TWO(s_nand_b32, u32, u32, u32, 32, return nonzero32(~(a & b)))
TWO(s_nand_b64, u64, u64, u64, 64, return nonzero64(~(a & b)))
TWO(s_nor_b32, u32, u32, u32, 32, return nonzero32(~(a | b)))
TWO(s_nor_b64, u64, u64, u64, 64, return nonzero64(~(a | b)))
TWO(s_orn2_b32, u32, u32, u32, 32, return nonzero32(a | ~b))
TWO(s_xnor_b32, u32, u32, u32, 32, return nonzero32(~(a ^ b)))
TWO(s_xnor_b64, u64, u64, u64, 64, return nonzero64(~(a ^ b)))
ONE(s_not_b32, u32, u32, 32, return nonzero32(~a))
ONE(s_not_b64, u64, u64, 64, return nonzero64(~a))
ONE(s_bcnt0_i32_b32, u32, u32, 32, return nonzero32(32 - std::popcount(low(a))))
ONE(s_bcnt1_i32_b32, u32, u32, 32, return nonzero32(std::popcount(low(a))))
ONE(s_bcnt1_i32_b64, u32, u64, 32, return nonzero32(std::popcount(a)))
ONE(s_bcnt0_i32_b64, u32, u64, 32, return nonzero32(64 - std::popcount(a)))
TWO(s_bfm_b32, u32, u32, u32, 32, return {((u64{1} << (a & 31)) - 1) << (b & 31), scc})
TWO(s_bfm_b64, u64, u32, u32, 64, return {((u64{1} << (a & 63)) - 1) << (b & 63), scc})
ONE(s_bitset0_b32, u32, u32, 32, return {c & ~(u64{1} << (a & 31)), scc})
ONE(s_bitset1_b32, u32, u32, 32, return {c | u64{1} << (a & 31), scc})
ONE(s_bitset0_b64, u64, u32, 64, return {c & ~(u64{1} << (a & 63)), scc})
ONE(s_bitset1_b64, u64, u32, 64, return {c | u64{1} << (a & 63), scc})
ONE(s_bitreplicate_b64_b32, u64, u32, 64, u64 out = 0;
    for (int n = 0; n < 32; ++n) out |= (a >> n & 1) * 3 << 2 * n; return {out, scc})
ONE(s_brev_b32, u32, u32, 32, u64 out = 0;
    for (int n = 0; n < 32; ++n) out |= (a >> n & 1) << (31 - n); return {out, scc})
ONE(s_brev_b64, u64, u64, 64, u64 out = 0;
    for (int n = 0; n < 64; ++n) out |= (a >> n & 1) << (63 - n); return {out, scc})
ONE(s_ff0_i32_b32, u32, u32, 32,
    return {static_cast<u64>(low(~a) == 0 ? -1 : std::countr_zero(low(~a))), scc})
ONE(s_ff0_i32_b64, u32, u64, 32,
    return {static_cast<u64>(~a == 0 ? -1 : std::countr_zero(~a)), scc})
ONE(s_ff1_i32_b32, u32, u32, 32,
    return {static_cast<u64>(low(a) == 0 ? -1 : std::countr_zero(low(a))), scc})
ONE(s_ff1_i32_b64, u32, u64, 32, return {static_cast<u64>(a == 0 ? -1 : std::countr_zero(a)), scc})
ONE(s_flbit_i32_b32, u32, u32, 32,
    return {static_cast<u64>(low(a) == 0 ? -1 : std::countl_zero(low(a))), scc})
ONE(s_flbit_i32, u32, u32, 32,
    const u32 x = signed_low(a) < 0 ? ~low(a) : low(a);  // how many bits are as the sign
    return {static_cast<u64>(x == 0 ? -1 : std::countl_zero(x)), scc})
ONE(s_flbit_i32_i64, u32, u64, 32, const u64 x = static_cast<i64>(a) < 0 ? ~a : a;
    return {static_cast<u64>(x == 0 ? -1 : std::countl_zero(x)), scc})
ONE(s_flbit_i32_b64, u32, u64, 32,
    return {static_cast<u64>(a == 0 ? -1 : std::countl_zero(a)), scc})
ONE(s_wqm_b32, u32, u32, 32, u64 out = 0;
    for (int n = 0; n < 32; n += 4) out |= u64{(a >> n & 15) != 0 ? 15u : 0u} << n;
    return nonzero32(out))
ONE(s_wqm_b64, u64, u64, 64, u64 out = 0;
    for (int n = 0; n < 64; n += 4) out |= u64{(a >> n & 15) != 0 ? 15u : 0u} << n;
    return nonzero64(out))
ONE(s_quadmask_b32, u32, u32, 32, u64 out = 0;
    for (int n = 0; n < 8; ++n) out |= u64{(a >> 4 * n & 15) != 0} << n; return nonzero32(out))
ONE(s_quadmask_b64, u64, u64, 64, u64 out = 0;
    for (int n = 0; n < 16; ++n) out |= u64{(a >> 4 * n & 15) != 0} << n; return nonzero64(out))
ONE(s_sext_i32_i8, u32, u32, 32, return {(a & 0xff) | (a & 0x80 ? 0xffffff00 : 0), scc})
ONE(s_sext_i32_i16, u32, u32, 32, return {(a & 0xffff) | (a & 0x8000 ? 0xffff0000 : 0), scc})
TWO(s_pack_ll_b32_b16, u32, u32, u32, 32, return {(a & 0xffff) | (b & 0xffff) << 16, scc})
TWO(s_pack_lh_b32_b16, u32, u32, u32, 32, return {(a & 0xffff) | (b & 0xffff0000), scc})
TWO(s_pack_hh_b32_b16, u32, u32, u32, 32, return {(a >> 16 & 0xffff) | (b & 0xffff0000), scc})

/// Bit fields: the second operand is offset and width.
u64 field(u64 x, u32 from, u32 width, bool with_sign, u32 bits) {
  if (width == 0) return 0;
  u64 out = 0;
  for (u32 n = 0; n < bits; ++n) {
    // What is beyond the field, or beyond the operand, is the sign or 0.
    const u32 at = from + std::min(n, width - 1);
    const bool beyond = n >= width || from + n >= bits;
    const u64 bit = x >> std::min(at, bits - 1) & 1;
    out |= (beyond ? (with_sign ? bit : 0) : bit) << n;
  }
  return out;
}
TWO(s_bfe_u32, u32, u32, u32, 32, return nonzero32(field(a, b & 31, b >> 16 & 0x7f, false, 32)))
TWO(s_bfe_i32, u32, u32, u32, 32, return nonzero32(field(a, b & 31, b >> 16 & 0x7f, true, 32)))
TWO(s_bfe_u64, u64, u64, u32, 64, return nonzero64(field(a, b & 63, b >> 16 & 0x7f, false, 64)))
TWO(s_bfe_i64, u64, u64, u32, 64, return nonzero64(field(a, b & 63, b >> 16 & 0x7f, true, 64)))

// Arithmetic.
ONE(s_abs_i32, u32, u32, 32, return nonzero32(signed_low(a) < 0 ? 0 - a : a))
TWO(s_absdiff_i32, u32, u32, u32, 32,
    const u64 d = static_cast<u64>(i64{signed_low(a)} - i64{signed_low(b)});
    // The difference wraps before its sign goes.
    return nonzero32(signed_low(d) < 0 ? 0 - d : d))
/// SCC of signed sums and differences: the true one is beyond 32 bits.
Outcome signed_outcome(i64 exact) {
  return {static_cast<u64>(exact), exact < -(i64{1} << 31) || exact >= i64{1} << 31};
}
TWO(s_add_u32, u32, u32, u32, 32, const u64 sum = u64{low(a)} + low(b);
    return {sum, sum >> 32 != 0})
TWO(s_addc_u32, u32, u32, u32, 32, const u64 sum = u64{low(a)} + low(b) + scc;
    return {sum, sum >> 32 != 0})
TWO(s_add_i32, u32, u32, u32, 32, return signed_outcome(i64{signed_low(a)} + signed_low(b)))
TWO(s_sub_i32, u32, u32, u32, 32, return signed_outcome(i64{signed_low(a)} - signed_low(b)))
/// SCC: the first operand was taken. Which of two that are equal, the guide does not say.
#define EXTREME(name, of, op)                                             \
  TWO(name, u32, u32, u32, 32, if (low(a) == low(b)) return {a, kEither}; \
      return {of(a) op of(b) ? a : b, of(a) op of(b)})
EXTREME(s_min_i32, signed_low, <)
EXTREME(s_min_u32, low, <)
EXTREME(s_max_i32, signed_low, >)
EXTREME(s_max_u32, low, >)
TWO(s_mul_i32, u32, u32, u32, 32, return {u64{low(a)} * low(b), scc})
TWO(s_mul_hi_u32, u32, u32, u32, 32, return {u64{low(a)} * low(b) >> 32, scc})
TWO(s_lshl_b32, u32, u32, u32, 32, return nonzero32(a << (b & 31)))
TWO(s_lshl_b64, u64, u64, u32, 64, return nonzero64(a << (b & 63)))
TWO(s_lshr_b32, u32, u32, u32, 32, return nonzero32(low(a) >> (b & 31)))
TWO(s_lshr_b64, u64, u64, u32, 64, return nonzero64(a >> (b & 63)))
TWO(s_ashr_i32, u32, u32, u32, 32, return nonzero32(static_cast<u32>(signed_low(a) >> (b & 31))))
TWO(s_sub_u32, u32, u32, u32, 32, return {a - b, low(a) < low(b)})
TWO(s_subb_u32, u32, u32, u32, 32, return {a - b - scc, u64{low(a)} < u64{low(b)} + scc})
TWO(s_mul_hi_i32, u32, u32, u32, 32,
    return {static_cast<u64>(i64{signed_low(a)} * i64{signed_low(b)}) >> 32, scc})
TWO(s_ashr_i64, u64, u64, u32, 64,
    return nonzero64(static_cast<u64>(static_cast<i64>(a) >> (b & 63))))
TWO(s_lshl1_add_u32, u32, u32, u32, 32, const u64 x = (u64{low(a)} << 1) + low(b);
    return {x, x >> 32 != 0})
TWO(s_lshl2_add_u32, u32, u32, u32, 32, const u64 x = (u64{low(a)} << 2) + low(b);
    return {x, x >> 32 != 0})
TWO(s_lshl3_add_u32, u32, u32, u32, 32, const u64 x = (u64{low(a)} << 3) + low(b);
    return {x, x >> 32 != 0})
TWO(s_lshl4_add_u32, u32, u32, u32, 32, const u64 x = (u64{low(a)} << 4) + low(b);
    return {x, x >> 32 != 0})

// Conditions.
ONE(s_cmov_b32, u32, u32, 32, return {scc ? a : c, scc})
ONE(s_cmov_b64, u64, u64, 64, return {scc ? a : c, scc})
TWO(s_cselect_b32, u32, u32, u32, 32, return {scc ? a : b, scc})
TWO(s_cselect_b64, u64, u64, u64, 64, return {scc ? a : b, scc})
ONE(s_mov_b32, u32, u32, 32, return {a, scc})
ONE(s_mov_b64, u64, u64, 64, return {a, scc})
COMPARE(s_cmp_eq_u32, u32, u32, low(a) == low(b))
COMPARE(s_cmp_lg_u32, u32, u32, low(a) != low(b))
COMPARE(s_cmp_gt_u32, u32, u32, low(a) > low(b))
COMPARE(s_cmp_lt_u32, u32, u32, low(a) < low(b))
COMPARE(s_cmp_eq_u64, u64, u64, a == b)
COMPARE(s_cmp_lg_u64, u64, u64, a != b)
COMPARE(s_cmp_eq_i32, u32, u32, low(a) == low(b))
COMPARE(s_cmp_lg_i32, u32, u32, low(a) != low(b))
COMPARE(s_cmp_ge_i32, u32, u32, signed_low(a) >= signed_low(b))
COMPARE(s_cmp_gt_i32, u32, u32, signed_low(a) > signed_low(b))
COMPARE(s_cmp_le_i32, u32, u32, signed_low(a) <= signed_low(b))
COMPARE(s_cmp_lt_i32, u32, u32, signed_low(a) < signed_low(b))
COMPARE(s_cmp_ge_u32, u32, u32, low(a) >= low(b))
COMPARE(s_cmp_le_u32, u32, u32, low(a) <= low(b))
COMPARE(s_bitcmp0_b32, u32, u32, (a >> (b & 31) & 1) == 0)
COMPARE(s_bitcmp1_b32, u32, u32, (a >> (b & 31) & 1) == 1)
COMPARE(s_bitcmp0_b64, u64, u32, (a >> (b & 63) & 1) == 0)
COMPARE(s_bitcmp1_b64, u64, u32, (a >> (b & 63) & 1) == 1)

/// With a 16-bit constant, which is extended by its sign for i32 and by zeros for u32.
#define CONSTANT(name, label, constant, ...)                                                    \
  SCALAR(kernel_##label, u32, u32, u32, "s_mov_b32 %0, %2\n" #name " %0, " #constant)           \
  TEST(Scalar, label) {                                                                         \
    expect_outcomes(#label, kernel_##label, 32,                                                 \
                    []([[maybe_unused]] u64 a, u64, u64, [[maybe_unused]] u32 scc) -> Outcome { \
                      __VA_ARGS__;                                                              \
                    });                                                                         \
  }
#define COMPARE_CONSTANT(operation, op)                                                           \
  CONSTANT(s_cmpk_##operation##_i32, cmpk_##operation##_i32_minus, 0xffff,                        \
           return {a, signed_low(a) op - 1})                                                      \
  CONSTANT(s_cmpk_##operation##_i32, cmpk_##operation##_i32, 31, return {a, signed_low(a) op 31}) \
  CONSTANT(s_cmpk_##operation##_u32, cmpk_##operation##_u32_large, 0xffff,                        \
           return {a, low(a) op 0xffffu})                                                         \
  CONSTANT(s_cmpk_##operation##_u32, cmpk_##operation##_u32, 31, return {a, low(a) op 31u})
COMPARE_CONSTANT(eq, ==)
COMPARE_CONSTANT(lg, !=)
COMPARE_CONSTANT(gt, >)
COMPARE_CONSTANT(ge, >=)
COMPARE_CONSTANT(lt, <)
COMPARE_CONSTANT(le, <=)
CONSTANT(s_movk_i32, movk_i32, 0x8001, return {0xffff8001, scc})
CONSTANT(s_addk_i32, addk_i32, 0x7fff, return signed_outcome(i64{signed_low(a)} + 0x7fff))
CONSTANT(s_addk_i32, addk_i32_minus, 0x8001, return signed_outcome(i64{signed_low(a)} - 0x7fff))
CONSTANT(s_mulk_i32, mulk_i32, 0x8001, return {a * 0xffff8001, scc})
CONSTANT(s_cmovk_i32, cmovk_i32, 0x8001, return {scc ? 0xffff8001 : a, scc})

// EXEC. The old one is the result; the new one is what the operation gives, and SCC says whether
// any lane is left. `after` is EXEC behind the instruction.
#define EXEC(name)                                                                           \
  __global__ void name(u64 before, u64 operand, u64* out) {                                  \
    u64 old = 0, after = 0;                                                                  \
    u32 scc = 0;                                                                             \
    (void)before, (void)operand;                                                             \
    DEVICE_CODE(                                                                             \
        u64 saved; asm volatile(                                                             \
            "s_mov_b64 %3, exec\n s_mov_b64 exec, %4\n" #name " %0, %5\n"                    \
            "s_cselect_b32 %2, 1, 0\n s_mov_b64 %1, exec\n s_mov_b64 exec, %3" : "=&s"(old), \
            "=&s"(after), "=&s"(scc), "=&s"(saved) : "s"(before), "s"(operand) : "scc");)    \
    out[0] = old;                                                                            \
    out[1] = after;                                                                          \
    out[2] = scc;                                                                            \
  }
EXEC(s_and_saveexec_b64)
EXEC(s_or_saveexec_b64)
EXEC(s_xor_saveexec_b64)
EXEC(s_andn2_saveexec_b64)
EXEC(s_andn1_saveexec_b64)
EXEC(s_nand_saveexec_b64)
EXEC(s_nor_saveexec_b64)
EXEC(s_orn1_saveexec_b64)
EXEC(s_orn2_saveexec_b64)
EXEC(s_xnor_saveexec_b64)
EXEC(s_andn1_wrexec_b64)
EXEC(s_andn2_wrexec_b64)
TEST(Scalar, exec) {
  struct Case {
    const char* name;
    void (*kernel)(u64, u64, u64*);
    bool saves;  // or the result is the new EXEC
    u64 (*operation)(u64 exec, u64 operand);
  };
  const Case cases[] = {
      {"s_and_saveexec_b64", s_and_saveexec_b64, true, [](u64 e, u64 s) { return s & e; }},
      {"s_or_saveexec_b64", s_or_saveexec_b64, true, [](u64 e, u64 s) { return s | e; }},
      {"s_xor_saveexec_b64", s_xor_saveexec_b64, true, [](u64 e, u64 s) { return s ^ e; }},
      {"s_andn2_saveexec_b64", s_andn2_saveexec_b64, true, [](u64 e, u64 s) { return s & ~e; }},
      {"s_andn1_saveexec_b64", s_andn1_saveexec_b64, true, [](u64 e, u64 s) { return ~s & e; }},
      {"s_nand_saveexec_b64", s_nand_saveexec_b64, true, [](u64 e, u64 s) { return ~(s & e); }},
      {"s_nor_saveexec_b64", s_nor_saveexec_b64, true, [](u64 e, u64 s) { return ~(s | e); }},
      {"s_orn1_saveexec_b64", s_orn1_saveexec_b64, true, [](u64 e, u64 s) { return ~s | e; }},
      {"s_orn2_saveexec_b64", s_orn2_saveexec_b64, true, [](u64 e, u64 s) { return s | ~e; }},
      {"s_xnor_saveexec_b64", s_xnor_saveexec_b64, true, [](u64 e, u64 s) { return ~(s ^ e); }},
      {"s_andn1_wrexec_b64", s_andn1_wrexec_b64, false, [](u64 e, u64 s) { return ~s & e; }},
      {"s_andn2_wrexec_b64", s_andn2_wrexec_b64, false, [](u64 e, u64 s) { return s & ~e; }},
  };
  judge::Random random(22);
  for (const Case& c : cases)
    for (int n = 0; n < 6; ++n) {
      const u64 exec = n == 0 ? ~u64{0} : n == 1 ? 0 : random.next();
      const u64 operand = n < 2 ? ~u64{0} : n == 2 ? exec : n == 3 ? ~exec : random.next();
      judge::Buffer<u64> out(3);
      c.kernel<<<1, 1>>>(exec, operand, out.get());
      const auto got = out.read();
      const u64 after = c.operation(exec, operand);
      EXPECT_EQ(got[0], c.saves ? exec : after) << c.name << n;
      EXPECT_EQ(got[1], after) << c.name << n;
      EXPECT_EQ(got[2], after != 0) << c.name << n;
    }
}

/// A call goes to its label and keeps the address behind itself.
__global__ void call(u32* out) {
  u32 result = 0;
  DEVICE_CODE(asm volatile("s_mov_b32 %0, 1\n s_call_b64 s[20:21], function%=\n"
                           "s_add_u32 %0, %0, 100\n s_branch end%=\n"
                           "function%=: s_mul_i32 %0, %0, 7\n s_setpc_b64 s[20:21]\nend%=:" : "=&s"(
                               result)::"s20",
                           "s21", "scc");)
  out[0] = result;
}
TEST(Scalar, call) {
  judge::Buffer<u32> out(1);
  call<<<1, 1>>>(out.get());
  EXPECT_EQ(out.read()[0], 107u);
}

/// Loads of 16 dwords, and loads through a buffer descriptor, which end at its size: beyond it
/// there are zeros.
__global__ void scalar_loads(const u32* in, u32* out) {
  (void)in;
  typedef u32 Four __attribute__((ext_vector_type(4)));
  typedef u32 Eight __attribute__((ext_vector_type(8)));
  typedef u32 Sixteen __attribute__((ext_vector_type(16)));
  Sixteen plain{}, by16{};
  Eight by8{};
  Four by4{};
  u64 by2 = 0;
  u32 by1 = 0, beyond = 1;
  DEVICE_CODE(
      const auto address = uniform(reinterpret_cast<std::uintptr_t>(in));
      const Four descriptor = {static_cast<u32>(address), static_cast<u32>(address >> 32), 96 * 4,
                               0x00020000};
      asm volatile(
          "s_load_dwordx16 %0, %1, 0x20\n s_waitcnt lgkmcnt(0)" : "=&s"(plain) : "s"(address));
      asm volatile("s_buffer_load_dwordx16 %0, %4, 0x40\n s_buffer_load_dwordx8 %1, %4, 0x84\n"
                   "s_buffer_load_dwordx4 %2, %4, %5\n s_buffer_load_dwordx2 %3, %4, 0x8\n"
                   "s_waitcnt lgkmcnt(0)" : "=&s"(by16),
                   "=&s"(by8), "=&s"(by4), "=&s"(by2) : "s"(descriptor), "s"(48));
      asm volatile("s_buffer_load_dword %0, %2, 0x17c\n s_buffer_load_dword %1, %2, 0x180\n"
                   "s_waitcnt lgkmcnt(0)" : "=&s"(by1),
                   "=&s"(beyond) : "s"(descriptor));)
  for (int n = 0; n < 16; ++n) out[n] = plain[n];
  for (int n = 0; n < 16; ++n) out[16 + n] = by16[n];
  for (int n = 0; n < 8; ++n) out[32 + n] = by8[n];
  for (int n = 0; n < 4; ++n) out[40 + n] = by4[n];
  out[44] = static_cast<u32>(by2);
  out[45] = static_cast<u32>(by2 >> 32);
  out[46] = by1;
  out[47] = beyond;
}
TEST(Scalar, loads) {
  std::vector<u32> data;
  for (u32 n = 0; n < 128; ++n) data.push_back(1000 + n);
  judge::Buffer<u32> in(data), out(48);
  scalar_loads<<<1, 1>>>(in.get(), out.get());
  const auto got = out.read();
  for (u32 n = 0; n < 16; ++n) EXPECT_EQ(got[n], 1008 + n);
  for (u32 n = 0; n < 16; ++n) EXPECT_EQ(got[16 + n], 1016 + n);
  for (u32 n = 0; n < 8; ++n) EXPECT_EQ(got[32 + n], 1033 + n);
  for (u32 n = 0; n < 4; ++n) EXPECT_EQ(got[40 + n], 1012 + n);
  EXPECT_EQ(got[44], 1002u);
  EXPECT_EQ(got[45], 1003u);
  EXPECT_EQ(got[46], 1095u);
  EXPECT_EQ(got[47], 0u);
}

/// Loads of one to eight dwords.
__global__ void narrow_loads(const u32* in, u32* out) {
  (void)in;
  typedef u32 Four __attribute__((ext_vector_type(4)));
  typedef u32 Eight __attribute__((ext_vector_type(8)));
  Eight by8{};
  Four by4{};
  u64 by2 = 0;
  u32 by1 = 0;
  DEVICE_CODE(const auto address = uniform(reinterpret_cast<std::uintptr_t>(in));
              asm volatile("s_load_dwordx8 %0, %4, 0x20\n s_load_dwordx4 %1, %4, 0x44\n"
                           "s_load_dwordx2 %2, %4, 0x8\n s_load_dword %3, %4, 0x4\n"
                           "s_waitcnt lgkmcnt(0)" : "=&s"(by8),
                           "=&s"(by4), "=&s"(by2), "=&s"(by1) : "s"(address));)
  for (int n = 0; n < 8; ++n) out[n] = by8[n];
  for (int n = 0; n < 4; ++n) out[8 + n] = by4[n];
  out[12] = static_cast<u32>(by2);
  out[13] = static_cast<u32>(by2 >> 32);
  out[14] = by1;
}
TEST(Scalar, narrow_loads) {
  std::vector<u32> data;
  for (u32 n = 0; n < 32; ++n) data.push_back(0x80000000 + n);
  judge::Buffer<u32> in(data), out(15);
  narrow_loads<<<1, 1>>>(in.get(), out.get());
  const auto got = out.read();
  for (u32 n = 0; n < 8; ++n) EXPECT_EQ(got[n], 0x80000008 + n);
  for (u32 n = 0; n < 4; ++n) EXPECT_EQ(got[8 + n], 0x80000011 + n);
  EXPECT_EQ(got[12], 0x80000002);
  EXPECT_EQ(got[13], 0x80000003);
  EXPECT_EQ(got[14], 0x80000001);
}

/// Hints, cache maintenance and counters of the hardware change no register and no memory; the
/// clocks do not go backwards.
__global__ void without_effect(u32* out) {
  u32 kept = 0;
  u64 clock[4] = {};
  out[0] = 5;
  DEVICE_CODE(
      u32 before = 77;
      asm volatile("s_memtime %0\n s_memrealtime %1\n s_waitcnt lgkmcnt(0)" : "=&s"(clock[0]),
                   "=&s"(clock[1]));
      asm volatile(
          "s_mov_b32 m0, 0\n s_cmp_eq_u32 0, 0\n"
          "s_dcache_inv\n s_dcache_inv_vol\n s_dcache_wb\n s_dcache_wb_vol\n s_icache_inv\n"
          "buffer_inv sc1\n buffer_wbl2 sc1\n"
          "s_setprio 3\n s_sleep 1\n s_wakeup\n"
          "s_incperflevel 1\n s_decperflevel 1\n s_ttracedata\n s_sendmsg sendmsg(MSG_INTERRUPT)\n "
          "v_nop\n v_clrexcp\n"
          "s_setprio 0\n s_waitcnt vmcnt(0) lgkmcnt(0)\n s_cselect_b32 %0, %1, 0" : "=s"(
              kept) : "s"(before) : "scc",
          "memory");
      asm volatile("s_memtime %0\n s_memrealtime %1\n s_waitcnt lgkmcnt(0)" : "=&s"(clock[2]),
                   "=&s"(clock[3]));)
  out[1] = kept;
  out[2] = clock[2] >= clock[0] && clock[3] >= clock[1] && clock[0] != 0 && clock[1] != 0;
}
TEST(Scalar, without_effect) {
  judge::Buffer<u32> out(3);
  without_effect<<<1, 1>>>(out.get());
  EXPECT_EQ(out.read(), (std::vector<u32>{5, 77, 1}));
}
__global__ void ends_saved(u32* out) {
  out[0] = 1;
  DEVICE_CODE(asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)\n s_endpgm_saved" :: : "memory");)
  out[1] = 2;
}
TEST(Scalar, end_saved) {
  judge::Buffer<u32> out(2);
  ends_saved<<<1, 1>>>(out.get());
  EXPECT_EQ(out.read(), (std::vector<u32>{1, 0}));
}

/// M0's number is added to what the mode names: first the destination, then the source.
__global__ void indexed(u32* out) {
  u32 source = 0, destination = 0;
  DEVICE_CODE(
      asm volatile("v_mov_b32 v40, 1\n v_mov_b32 v41, 2\n v_mov_b32 v42, 3\n s_mov_b32 s20, 1\n"
                   "s_set_gpr_idx_on s20, gpr_idx(DST)\n v_mov_b32 v41, 7\n"  // to v42
                   "s_set_gpr_idx_mode gpr_idx(SRC0)\n v_mov_b32 %0, v40\n"   // from v41
                   "s_set_gpr_idx_off\n v_mov_b32 %1, v42" : "=&v"(source),
                   "=&v"(destination)::"v40", "v41", "v42", "s20");)
  out[0] = source;
  out[1] = destination;
}
TEST(Scalar, index_mode) {
  judge::Buffer<u32> out(2);
  indexed<<<1, 1>>>(out.get());
  EXPECT_EQ(out.read(), (std::vector<u32>{2, 7}));
}

/// Of the register that M0 counts to, a lane is written, and read.
__global__ void indexed_lanes(u32* out) {
  u32 value = 0, read = 0, first = 0;
  DEVICE_CODE(
      asm volatile("v_mov_b32 v40, 1\n v_mov_b32 v41, 2\n v_add_u32 v42, 100, %3\n"
                   "s_mov_b32 s20, 1\n s_mov_b32 s22, 5\n"
                   "s_set_gpr_idx_on s20, gpr_idx(DST)\n v_writelane_b32 v40, 7, s22\n"  // of v41
                   "s_set_gpr_idx_mode gpr_idx(SRC0)\n v_readlane_b32 %1, v41, s22\n"    // of v42
                   "v_readfirstlane_b32 %2, v41\n"
                   "s_set_gpr_idx_off\n v_add_u32 %0, v40, v41" : "=&v"(value),
                   "=&s"(read), "=&s"(first) : "v"(static_cast<u32>(threadIdx.x)) : "v40", "v41",
                   "v42", "s20", "s22");)
  out[threadIdx.x] = value;
  if (threadIdx.x == 0) out[64] = read, out[65] = first;
}
TEST(Scalar, index_mode_of_lanes) {
  judge::Buffer<u32> out(66);
  indexed_lanes<<<1, 64>>>(out.get());
  std::vector<u32> expected(66, 3);
  expected[5] = 8;
  expected[64] = 105;
  expected[65] = 100;
  EXPECT_EQ(out.read(), expected);
}

/// A trap is an error of the launch; nothing behind it runs.
__global__ void trapped(u32* out) {
  out[0] = 1;
  DEVICE_CODE(asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)\n s_trap 2" :: : "memory");)
  out[1] = 2;
}
TEST(Scalar, trap) {
  u32* out = nullptr;
  judge::check(hipMallocManaged(reinterpret_cast<void**>(&out), 8), "hipMallocManaged");
  out[0] = out[1] = 0;
  trapped<<<1, 1>>>(out);
  EXPECT_NE(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(out[1], 0u);
}

}  // namespace
