// Chooses kernels by instruction, mode and host.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/host_level.h"
#include "mfma/fast/fast.h"
#include "mfma/instructions/rows_meet.h"
#include "mfma/kernels/prepare.h"
#include "mfma/mfma.h"

namespace margay {

#define MARGAY_MFMA_LEVEL(level)      \
  namespace level {                   \
  extern const MfmaTable kFmaTable;   \
  extern const MfmaTable kExactTable; \
  }
MARGAY_MFMA_LEVEL(mfma_generic)
MARGAY_MFMA_LEVEL(mfma_x86_v3)
MARGAY_MFMA_LEVEL(mfma_x86_v4)
#undef MARGAY_MFMA_LEVEL

namespace {

struct Level {
  std::string_view name;
  const MfmaTable* fma;
  const MfmaTable* exact;
};

/// Those of this build, best first.
constexpr Level kLevels[] = {
#if defined(MARGAY_LEVEL_X86_V4)
    {"x86-64-v4", &mfma_x86_v4::kFmaTable, &mfma_x86_v4::kExactTable},
#endif
#if defined(MARGAY_LEVEL_X86_V3)
    {"x86-64-v3", &mfma_x86_v3::kFmaTable, &mfma_x86_v3::kExactTable},
#endif
#if defined(MARGAY_LEVEL_GENERIC)
    {"generic", &mfma_generic::kFmaTable, &mfma_generic::kExactTable},
#endif
};

const Level* find_level(std::string_view name) {
  for (const Level& level : kLevels)
    if ((name.empty() || level.name == name) && host_has(level.name)) return &level;
  return nullptr;
}

std::size_t index_of(const MfmaShape& shape) {
  return static_cast<std::size_t>(&shape - kMfmaShapes);
}

/// AMX, AVX-512 BF16 and VNNI belong to the v4 level: selecting a lower level simulates a host
/// without them.
bool may_use_host_units(const Level& level) { return level.name == "x86-64-v4"; }

constexpr std::ptrdiff_t kRowDwords = 64;

class OneByOne final : public MfmaRun {
 public:
  OneByOne(MfmaFunction run, std::span<const MfmaStep> steps)
      : run_(run), steps_(steps.begin(), steps.end()) {}
  void execute(std::uint32_t* rows) const override {
    for (const MfmaStep& step : steps_) run_(operands_of(step, rows));
  }

 private:
  MfmaFunction run_;
  std::vector<MfmaStep> steps_;
};

/// A run that keeps the last A and some B as they were converted.
class KeepsConverted final : public MfmaRun {
 public:
  KeepsConverted(const MfmaShape& shape, const MfmaParts& parts, std::span<const MfmaStep> steps)
      : parts_(parts) {
    if (parts.convert_b != nullptr)
      slots_.resize(std::clamp<std::size_t>(kSlotDwords / parts.b_dwords, 1, 16));
    std::int32_t kept = kNothing;
    for (const MfmaStep& step : steps) {
      const auto overwrites = [&](std::int32_t first, int rows) {
        return rows_meet(step.d, shape.d_registers, first, rows);
      };
      const auto [slot, is_new] = slot_of(step.b);
      steps_.push_back({step, step.a != kept, is_new, slot});
      kept = overwrites(step.a, shape.a_registers) ? kNothing : step.a;
      for (Slot& other : slots_)
        if (overwrites(other.b, shape.b_registers)) other.b = kNothing;
    }
  }
  void execute(std::uint32_t* rows) const override {
    alignas(64) std::uint32_t a[MfmaParts::kLargest];
    alignas(64) std::uint32_t b[std::max(kSlotDwords, MfmaParts::kLargest)];
    for (const Step& step : steps_) {
      const MfmaOperands operands = operands_of(step.step, rows);
      std::uint32_t* const of_b = b + step.b_slot * parts_.b_dwords;
      if (step.converts_a) parts_.convert_a(operands.a, a);
      if (step.converts_b) parts_.convert_b(operands.b, of_b);
      parts_.multiply(a, of_b, operands);
    }
  }

  /// Whether the parts of a kernel can do it.
  [[nodiscard]] static bool can_do(const MfmaShape& shape, const MfmaStep& step) {
    const auto size = static_cast<std::int32_t>(shape.d_registers);
    const bool is_shifted =
        !step.c_is_constant && step.c != step.d && step.c < step.d + size && step.d < step.c + size;
    return (step.cbsz | step.abid | step.blgp) == 0 && !is_shifted;
  }

 private:
  static constexpr std::int32_t kNothing = -1000;
  static constexpr std::size_t kSlotDwords = 6144;  // 24 KB of a first-level cache of 32 or 48
  struct Step {
    MfmaStep step;
    bool converts_a, converts_b;
    std::size_t b_slot;
  };
  struct Slot {
    std::int32_t b = kNothing;
    std::size_t used = 0;  // after how many steps
  };

  /// The slot for B, and whether it has to be converted: that which has it, or was used least
  /// recently.
  std::pair<std::size_t, bool> slot_of(std::int32_t b) {
    if (slots_.empty()) return {0, false};
    auto slot = std::ranges::find(slots_, b, &Slot::b);
    const bool is_new = slot == slots_.end();
    if (is_new) slot = std::ranges::min_element(slots_, {}, &Slot::used);
    *slot = {b, steps_.size() + 1};
    return {static_cast<std::size_t>(slot - slots_.begin()), is_new};
  }

  MfmaParts parts_;
  std::vector<Step> steps_;
  std::vector<Slot> slots_;  // as of the step that is added
};

}  // namespace

const MfmaShape* find_mfma_shape(std::string_view mnemonic) {
  auto found = std::ranges::find(kMfmaShapes, mnemonic, &MfmaShape::mnemonic);
  if (found == std::end(kMfmaShapes))
    found = std::ranges::find(kMfmaShapes, mnemonic, &MfmaShape::old_mnemonic);
  return found == std::end(kMfmaShapes) ? nullptr : &*found;
}

bool mfma_modifiers_valid(const MfmaShape& shape, unsigned cbsz, unsigned abid, unsigned blgp) {
  if (blgp > 7) return false;
  switch (shape.modifiers) {
    case MfmaModifiers::none:
      return cbsz == 0 && abid == 0 && blgp == 0;
    case MfmaModifiers::blgp:
    case MfmaModifiers::negate:
      return cbsz == 0 && abid == 0;
    case MfmaModifiers::cbsz_abid_blgp:
      return cbsz < 8 && 1u << cbsz <= shape.blocks && abid < 1u << cbsz;
    case MfmaModifiers::index_set:
      // The guide names CBSZ[1:0] and ABID[1:0], for 8-bit types ABID[0].
      return cbsz < 4 && abid < (mfma_type_bytes(shape.a) == 1 ? 2 : 4) && blgp == 0;
  }
  return false;
}

MfmaOperands operands_of(const MfmaStep& step, std::uint32_t* rows) {
  const auto at = [&](std::int32_t row) { return rows + std::ptrdiff_t{row} * kRowDwords; };
  return {.d = at(step.d),
          .a = at(step.a),
          .b = at(step.b),
          .c = step.c_is_constant ? nullptr : at(step.c),
          .c_constant = step.c_constant,
          .cbsz = step.cbsz,
          .abid = step.abid,
          .blgp = step.blgp};
}

std::unique_ptr<const MfmaRun> prepare_mfma_run(const MfmaShape& shape, const MfmaKernel& kernel,
                                                std::span<const MfmaStep> steps) {
  if (kernel.prepare != nullptr) return kernel.prepare(steps);
  if (kernel.parts.multiply != nullptr && std::ranges::all_of(steps, [&](const MfmaStep& s) {
        return KeepsConverted::can_do(shape, s);
      }))
    return std::make_unique<KeepsConverted>(shape, kernel.parts, steps);
  return std::make_unique<OneByOne>(kernel.run, steps);
}

MfmaKernel mfma_kernel(const MfmaShape& shape, MfmaMode mode, std::string_view level_name) {
  const Level* const level = find_level(level_name);
  if (!level) return {};
  const std::size_t index = index_of(shape);
  if (may_use_host_units(*level))
    if (const MfmaKernel kernel = vnni_kernel(index, mode); kernel.run) return kernel;
  if (mode == MfmaMode::fast && may_use_host_units(*level))
    if (MfmaKernel kernel = fast_mfma_methods(index).front().kernel; kernel.run || kernel.prepare) {
      if (!kernel.run) kernel.run = level->fma->kernels[index].run;
      return kernel;
    }
  if (mode == MfmaMode::exact && level->exact->kernels[index].run)
    return level->exact->kernels[index];
  return level->fma->kernels[index];
}

const MfmaShape* find_smfmac_shape(std::string_view mnemonic) {
  const auto found = std::ranges::find(kSmfmacShapes, mnemonic, &MfmaShape::mnemonic);
  return found == std::end(kSmfmacShapes) ? nullptr : &*found;
}

// Source: MI300 ISA guide, section 7.4: a CBSZ other than 0 means the first set.
std::uint8_t smfmac_index_shift(const MfmaShape& shape, unsigned cbsz, unsigned abid) {
  return static_cast<std::uint8_t>(cbsz != 0 ? 0 : abid * 2 * smfmac_kept_per_lane(shape));
}

int smfmac_bad_index_lane(const MfmaShape& shape, const SmfmacOperands& operands) {
  for (int lane = 0; lane < 64; ++lane)
    for (int pair = 0; pair < smfmac_kept_per_lane(shape) / 2; ++pair) {
      const std::uint32_t bits = operands.index[lane] >> (operands.index_shift + 4 * pair);
      if ((bits & 3) >= (bits >> 2 & 3)) return lane;
    }
  return -1;
}

SmfmacFunction smfmac_kernel(const MfmaShape& shape, MfmaMode mode, std::string_view level_name) {
  const Level* const level = find_level(level_name);
  if (!level) return nullptr;
  const auto index = static_cast<std::size_t>(&shape - kSmfmacShapes);
  const SmfmacFunction exact = level->exact->sparse[index];
  return mode == MfmaMode::exact && exact ? exact : level->fma->sparse[index];
}

std::vector<std::string_view> mfma_levels() {
  std::vector<std::string_view> names;
  for (const Level& level : kLevels)
    if (host_has(level.name)) names.push_back(level.name);
  return names;
}

std::string_view mfma_fast_method(const MfmaShape& shape, std::string_view level_name) {
  const Level* const level = find_level(level_name);
  if (!level || !may_use_host_units(*level)) return "as fma";
  return fast_mfma_methods(index_of(shape)).front().name;
}

void mfma_thread_begin() { fast_mfma_thread_begin(); }
void mfma_thread_end() { fast_mfma_thread_end(); }

}  // namespace margay
