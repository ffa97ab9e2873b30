// Target names and e_flags; see target_id.h.
#include "code_object/elf/target_id.h"

#include <array>

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>

namespace margay::code_object {
namespace {

struct Machine {
  std::uint8_t flags;  ///< e_flags bits 7:0.
  std::string_view processor;
};

// LLVM, "User Guide for AMDGPU Backend", table "AMDGPU ELF e_flags": GFX9 and later, which covers
// code object v4 and later in practice. Only used to name an image's target.
// clang-format off
constexpr std::array kMachines = std::to_array<Machine>({
  {0x28, "gfx801"}, {0x2a, "gfx803"},
  {0x2c, "gfx900"}, {0x2d, "gfx902"}, {0x2e, "gfx904"}, {0x2f, "gfx906"}, {0x30, "gfx908"},
  {0x31, "gfx909"}, {0x32, "gfx90c"}, {0x3f, "gfx90a"}, {0x40, "gfx940"}, {0x4b, "gfx941"},
  {0x4c, "gfx942"}, {0x4f, "gfx950"},
  {0x33, "gfx1010"}, {0x34, "gfx1011"}, {0x35, "gfx1012"}, {0x42, "gfx1013"},
  {0x36, "gfx1030"}, {0x37, "gfx1031"}, {0x38, "gfx1032"}, {0x39, "gfx1033"}, {0x3e, "gfx1034"},
  {0x3d, "gfx1035"}, {0x45, "gfx1036"},
  {0x41, "gfx1100"}, {0x46, "gfx1101"}, {0x47, "gfx1102"}, {0x44, "gfx1103"},
  {0x43, "gfx1150"}, {0x4a, "gfx1151"}, {0x55, "gfx1152"},
  {0x48, "gfx1200"}, {0x4e, "gfx1201"},
  {0x51, "gfx9-generic"}, {0x52, "gfx10-1-generic"}, {0x53, "gfx10-3-generic"},
  {0x54, "gfx11-generic"}, {0x59, "gfx12-generic"}, {0x5f, "gfx9-4-generic"},
});
// clang-format on

/// Code object v4 keeps a feature in two bits: unsupported, any, off, on. A processor that does not
/// support a feature does not constrain it either.
Feature feature_from_bits(std::uint32_t bits) {
  return bits == 2 ? Feature::off : bits == 3 ? Feature::on : Feature::any;
}

}  // namespace

std::string TargetId::text() const {
  std::string out = processor;
  if (sramecc != Feature::any) out += sramecc == Feature::on ? ":sramecc+" : ":sramecc-";
  if (xnack != Feature::any) out += xnack == Feature::on ? ":xnack+" : ":xnack-";
  return out;
}

bool TargetId::runs_on(const Architecture& architecture) const {
  const auto opposite = [](Feature feature, bool on) {
    return feature != Feature::any && (feature == Feature::on) != on;
  };
  return processor == architecture.processor && !opposite(sramecc, architecture.sramecc) &&
         !opposite(xnack, architecture.xnack);
}

const Architecture* architecture_of(const TargetId& target) {
  for (const Architecture* const architecture : all_architectures())
    if (target.runs_on(*architecture)) return architecture;
  return nullptr;
}

bool TargetId::agrees_with(const TargetId& other) const {
  const auto opposite = [](Feature a, Feature b) {
    return a != Feature::any && b != Feature::any && a != b;
  };
  return processor == other.processor && !opposite(sramecc, other.sramecc) &&
         !opposite(xnack, other.xnack);
}

int TargetId::specificity() const {
  return (sramecc != Feature::any ? 1 : 0) + (xnack != Feature::any ? 1 : 0);
}

Result<TargetId> target_from_flags(std::uint32_t e_flags) {
  TargetId target;
  target.sramecc = feature_from_bits((e_flags & llvm::ELF::EF_AMDGPU_FEATURE_SRAMECC_V4) >> 10);
  target.xnack = feature_from_bits((e_flags & llvm::ELF::EF_AMDGPU_FEATURE_XNACK_V4) >> 8);
  const std::uint32_t machine = e_flags & llvm::ELF::EF_AMDGPU_MACH;
  for (const Machine& known : kMachines) {
    if (known.flags == machine) target.processor = known.processor;
  }
  if (target.processor.empty()) {
    return fail(ErrorCode::wrong_architecture,
                fmt::format("The code object is for an unknown AMD GPU (e_flags 0x{:x}).", e_flags),
                {},
                fmt::format("Compile it with --offload-arch={}.", default_gpu().arch().processor));
  }
  return target;
}

std::string_view target_in_triple(std::string_view triple) {
  constexpr std::string_view kBegin = "-gfx";
  if (triple.starts_with(kBegin.substr(1))) return triple;
  const std::size_t at = triple.rfind(kBegin);
  return at == std::string_view::npos ? std::string_view{} : triple.substr(at + 1);
}

Result<TargetId> target_from_text(std::string_view text) {
  TargetId target;
  const std::size_t colon = text.find(':');
  target.processor = text.substr(0, colon);
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon);
  bool valid = !target.processor.empty();
  while (valid && !rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view feature = rest.substr(0, rest.find(':'));
    rest.remove_prefix(feature.size());
    const std::string_view name = feature.substr(0, feature.size() - (feature.empty() ? 0 : 1));
    valid = feature.ends_with('+') || feature.ends_with('-');
    const Feature setting = feature.ends_with('+') ? Feature::on : Feature::off;
    if (name == "sramecc")
      target.sramecc = setting;
    else if (name == "xnack")
      target.xnack = setting;
    else
      valid = false;
  }
  if (!valid) {
    return fail(ErrorCode::invalid_image,
                fmt::format("\"{}\" is not an AMD GPU target name.", text.substr(0, 80)));
  }
  return target;
}

std::unexpected<Error> wrong_target(std::string_view found, const Architecture& wanted) {
  return fail(ErrorCode::wrong_architecture,
              fmt::format("The code object is for {}; the virtual device runs {} only.", found,
                          wanted.target_id),
              {}, fmt::format("Compile with --offload-arch={}.", wanted.processor));
}

}  // namespace margay::code_object
