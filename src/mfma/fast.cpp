#include "mfma/fast.h"

#include <array>
#include <vector>

#include "mfma/fast_plan.h"
#include "mfma/prepare.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace margay {

#if defined(__x86_64__)

namespace mfma_x86_bf16 {
extern const MfmaTable kFastTable;
}

namespace {

constexpr std::string_view kAmxMnemonic = "v_mfma_f32_16x16x16_bf16";
constexpr std::ptrdiff_t kRowWords = 64;

/// Whether the CPU has AMX with bf16 and the kernel lets this process use it. Linux wants each
/// process to ask first (Documentation/arch/x86/xstate.rst).
bool amx_usable() {
  static const bool usable = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24;  // leaf 7, EDX
    if ((d & (kAmxBf16 | kAmxTile)) != (kAmxBf16 | kAmxTile)) return false;
    constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return usable;
}

/// D overlapping C elsewhere is no trouble here: all of C is read before D is written.
void run_amx(const MfmaOperands& op) { mfma_amx::run(op); }

/// Where an instruction's operands stand relative to the run's first D, in dwords, two to a word;
/// and C's constant. A run is the same run again, for any wave, when its places are the same.
struct Place {
  std::uint64_t d_a, b_c, constant;
};
constexpr std::int64_t kLimit = 1 << 20;  // dwords: far beyond any register file
constexpr std::int64_t kNoC = 2 * kLimit;

/// Sets bits in `out_of_range` when an operand is too far away to be of the same register file.
[[gnu::always_inline]] inline Place place_of(const MfmaOperands& op, const std::uint32_t* base,
                                             std::uint64_t& out_of_range) {
  const auto distance = [&](const std::uint32_t* row) {
    const std::int64_t dwords = row - base;
    out_of_range |=
        static_cast<std::uint64_t>(dwords + kLimit) & ~static_cast<std::uint64_t>(2 * kLimit - 1);
    return static_cast<std::uint64_t>(dwords) << 32 >> 32;
  };
  const std::uint64_t c = op.c ? distance(op.c) : kNoC;
  return {distance(op.d) | distance(op.a) << 32, distance(op.b) | c << 32,
          op.c ? 0 : op.c_constant};
}

/// Plans are made once per run of instructions and thread.
class PlanCache {
 public:
  /// Null when the operands are not all of one register file.
  const mfma_amx::Plan* find(const MfmaOperands* ops, std::size_t count) {
    const std::uint32_t* const base = ops[0].d;
    std::uint64_t out_of_range = 0;
    const Place first = place_of(ops[0], base, out_of_range),
                last = place_of(ops[count - 1], base, out_of_range);
    const std::uint64_t hash =
        (first.d_a + first.b_c * 3 + last.d_a * 5 + last.b_c * 7 + count) * 0x9e3779b97f4a7c15;
    Entry& entry = entries_[hash >> 57];
    std::uint64_t different = entry.places.size() ^ count;
    for (std::size_t n = 0; n < count && n < entry.places.size(); ++n) {
      const Place place = place_of(ops[n], base, out_of_range);
      const Place& known = entry.places[n];
      different |=
          (place.d_a ^ known.d_a) | (place.b_c ^ known.b_c) | (place.constant ^ known.constant);
    }
    if (__builtin_expect((different | out_of_range) != 0, 0) && !make(entry, ops, count))
      return nullptr;
    return &entry.plan;
  }

 private:
  struct Entry {
    std::vector<Place> places;
    mfma_amx::Plan plan;
  };

  static bool make(Entry& entry, const MfmaOperands* ops, std::size_t count) {
    entry = {};
    std::vector<mfma_amx::Step> steps;
    std::uint64_t unusable = 0;
    for (std::size_t n = 0; n < count; ++n) {
      entry.places.push_back(place_of(ops[n], ops[0].d, unusable));
      const auto row = [&](const std::uint32_t* rows) {
        const std::ptrdiff_t dwords = rows ? rows - ops[0].d : 0;
        if (dwords % kRowWords != 0) unusable = 1;
        return static_cast<std::int32_t>(dwords / kRowWords);
      };
      steps.push_back({row(ops[n].d), row(ops[n].a), row(ops[n].b), row(ops[n].c),
                       ops[n].c == nullptr, ops[n].c_constant});
    }
    if (unusable)
      entry.places.clear();
    else
      entry.plan = mfma_amx::make_plan(steps);
    return unusable == 0;
  }

  std::array<Entry, 128> entries_;  // by the upper 7 bits of a hash
};

void run_amx_group(const MfmaOperands* ops, std::size_t count) {
  thread_local PlanCache cache;
  const mfma_amx::Plan* const plan = count > 1 ? cache.find(ops, count) : nullptr;
  if (plan)
    mfma_amx::run_ops(plan->ops.data(), plan->ops.size(), plan->constants.data(), ops[0].d);
  else
    for (std::size_t n = 0; n < count; ++n) run_amx(ops[n]);
}

}  // namespace

std::vector<FastMethod> fast_mfma_methods(std::size_t index) {
  std::vector<FastMethod> methods;
  if (kMfmaShapes[index].mnemonic == kAmxMnemonic && amx_usable())
    methods.push_back({"AMX bf16", {run_amx, run_amx_group}});
  const MfmaKernel pairs = mfma_x86_bf16::kFastTable.kernels[index];
  if (pairs.run && __builtin_cpu_supports("avx512bf16")) {
    // VDPBF16PS does two products where VFMADDPS does one; but the CPUs that have AMX do it at less
    // than half the rate (measured: 32x32x8 in 207 ns, as fma in 142 ns).
    if (amx_usable()) methods.push_back({"as fma", {}});
    methods.push_back({"AVX-512 BF16", pairs});
  }
  methods.push_back({"as fma", {}});
  return methods;
}

void mfma_thread_begin() {
  if (amx_usable()) mfma_amx::begin();
}
void mfma_thread_end() {
  if (amx_usable()) mfma_amx::end();
}

#else

std::vector<FastMethod> fast_mfma_methods(std::size_t) { return {{"as fma", {}}}; }
void mfma_thread_begin() {}
void mfma_thread_end() {}

#endif

}  // namespace margay
