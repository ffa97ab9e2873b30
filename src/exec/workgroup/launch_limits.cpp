// See launch_limits.h.
#include "exec/workgroup/launch_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "code_object/demangle.h"
#include "exec/workgroup/occupancy.h"

namespace margay {
namespace {

// Work-items of a grid per dimension: a dispatch packet holds them in 32 bits. Source: HSA Platform
// System Architecture Specification 1.2, 2.9.6, kernel dispatch packet.
constexpr std::uint64_t kMaxGridItems = std::numeric_limits<std::uint32_t>::max();

std::string text_of(const Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

struct Check {
  const Kernel& kernel;
  const LaunchSize& size;
  const Gpu& gpu;

  [[nodiscard]] std::string name() const { return code_object::demangled(kernel.name); }
  [[nodiscard]] const ComputeUnit& cu() const { return gpu.arch().cu; }
  [[nodiscard]] Occupancy occupied() const {
    return occupancy(gpu.arch(), kernel, static_cast<std::uint32_t>(size.block.count()),
                     static_cast<std::uint32_t>(size.dynamic_lds_bytes));
  }

  [[nodiscard]] std::optional<LimitBreach> grid() const;
  [[nodiscard]] std::optional<LimitBreach> lds() const;
  [[nodiscard]] std::optional<LimitBreach> block() const;
  [[nodiscard]] std::optional<LimitBreach> descriptor() const;
  [[nodiscard]] std::optional<LimitBreach> residents() const;
};

LimitBreach breach(LaunchLimit limit, std::string what, std::string hint = {},
                   ErrorCode code = ErrorCode::exceeds_limits) {
  return {limit, {code, std::move(what), {}, std::move(hint)}};
}

std::optional<LimitBreach> Check::grid() const {
  const std::uint64_t axes[3][2] = {
      {size.grid.x, size.block.x}, {size.grid.y, size.block.y}, {size.grid.z, size.block.z}};
  for (const auto& [groups, items] : axes)
    if (groups == 0 || items == 0)
      return breach(LaunchLimit::no_zero_dimension,
                    fmt::format("The launch of {} has a zero dimension: grid {}, block {}.", name(),
                                text_of(size.grid), text_of(size.block)),
                    "Skip the launch when there is no work, or round the grid up.",
                    ErrorCode::invalid_argument);
  std::uint64_t all_groups = 1;
  char axis = 'x';
  for (const auto& [groups, items] : axes) {
    if (groups * items > kMaxGridItems)
      return breach(LaunchLimit::grid_items,
                    fmt::format("The launch of {} has {} x {} work-items in {}; a dispatch packet "
                                "counts them in 32 bits, at most {}.",
                                name(), groups, items, axis, kMaxGridItems),
                    "Let each work-item do more, in a loop.");
    if (__builtin_mul_overflow(all_groups, groups, &all_groups))
      return breach(LaunchLimit::grid_items,
                    fmt::format("The launch of {} has a grid of {}: more than 2^64 workgroups.",
                                name(), text_of(size.grid)),
                    "Let each workgroup do more, in a loop.");
    ++axis;
  }
  return std::nullopt;
}

std::optional<LimitBreach> Check::lds() const {
  // The descriptor is what the workgroup gets, the metadata what the program is answered.
  const std::uint64_t fixed =
      std::max(kernel.lds_bytes, kernel.descriptor.group_segment_fixed_size);
  if (size.dynamic_lds_bytes <= cu().lds_bytes && fixed + size.dynamic_lds_bytes <= cu().lds_bytes)
    return std::nullopt;
  return breach(LaunchLimit::lds_bytes,
                fmt::format("The launch of {} needs {} bytes of LDS ({} static and {} dynamic); a "
                            "workgroup on {} has at most {}.",
                            name(), fixed + size.dynamic_lds_bytes, fixed, size.dynamic_lds_bytes,
                            gpu.name, cu().lds_bytes),
                "Use smaller tiles or fewer stages of the pipeline.");
}

std::optional<LimitBreach> Check::block() const {
  // Three 32-bit factors may overflow 64 bits: stop at the first product that is too large.
  std::uint64_t items = 1;
  for (const std::uint64_t n : {size.block.x, size.block.y, size.block.z})
    items = std::min<std::uint64_t>(items * n, kMaxGridItems);
  if (items > cu().max_workgroup_size)
    return breach(LaunchLimit::workgroup_items,
                  fmt::format("The launch of {} asks for a block of {}{} work-items; {} has at "
                              "most {} in a workgroup.",
                              name(), text_of(size.block),
                              // Of a product that was stopped at, no more is known.
                              items < kMaxGridItems ? fmt::format(" = {}", items) : ", too many",
                              gpu.name, cu().max_workgroup_size),
                  fmt::format("Use at most {} waves of {} work-items per block.",
                              cu().max_workgroup_size / gpu.arch().wavefront_size,
                              gpu.arch().wavefront_size));
  if (items > kernel.max_workgroup_size)
    return breach(LaunchLimit::launch_bounds,
                  fmt::format("The launch of {} asks for a block of {} = {} work-items, but the "
                              "kernel was compiled for at most {}.",
                              name(), text_of(size.block), items, kernel.max_workgroup_size),
                  fmt::format("Declare the kernel with __launch_bounds__({}), or launch smaller "
                              "blocks.",
                              items));
  return std::nullopt;
}

std::optional<LimitBreach> Check::descriptor() const {
  const KernelDescriptor& d = kernel.descriptor;
  if (d.unified_vgpr_count() > cu().vgprs_per_lane)
    return breach(LaunchLimit::vgprs,
                  fmt::format("The descriptor of {} asks for {} VGPRs; a lane of {} has {}.",
                              name(), d.unified_vgpr_count(), gpu.name, cu().vgprs_per_lane));
  // DEBUG_MODE of compute_pgm_rsrc1, the exception bits of compute_pgm_rsrc2.
  if ((d.compute_pgm_rsrc1 >> 22 & 1) != 0 || (d.compute_pgm_rsrc2 >> 24 & 0x7f) != 0)
    return breach(LaunchLimit::no_trap_handler,
                  fmt::format("The descriptor of {} enables exceptions or debugging, which would "
                              "go to a trap handler; the virtual device runs none.",
                              name()),
                  "Leave out the .amdhsa_exception_* directives.", ErrorCode::not_implemented);
  return std::nullopt;
}

std::optional<LimitBreach> Check::residents() const {
  if (!size.cooperative) return std::nullopt;
  const Occupancy fits = occupied();
  const std::uint64_t most = std::uint64_t{fits.workgroups_per_cu} * gpu.compute_units();
  if (size.grid.count() <= most) return std::nullopt;
  return breach(LaunchLimit::resident_grid,
                fmt::format("The cooperative launch of {} asks for {} workgroups, which all have "
                            "to be resident; {} has room for {} of them ({} on each of {} CUs, "
                            "limited by {}).",
                            name(), size.grid.count(), gpu.name, most, fits.workgroups_per_cu,
                            gpu.compute_units(), name_of(fits.limit)),
                "Launch no more than hipOccupancyMaxActiveBlocksPerMultiprocessor times the number "
                "of CUs, and let each workgroup do more.");
}

}  // namespace

std::optional<LimitBreach> broken_limit(const Kernel& kernel, const LaunchSize& size,
                                        const Gpu& gpu) {
  const Check check{kernel, size, gpu};
  if (auto broken = check.grid()) return broken;
  if (auto broken = check.lds()) return broken;
  if (auto broken = check.block()) return broken;
  if (auto broken = check.descriptor()) return broken;
  return check.residents();
}

Status check_limits(const LaunchRequest& r, const Gpu& gpu) {
  if (auto broken =
          broken_limit(*r.kernel, {r.grid, r.block, r.dynamic_lds_bytes, r.cooperative}, gpu))
    return std::unexpected(std::move(broken->error));
  return {};
}

std::uint64_t resident_limit(const LaunchRequest& r, const Gpu& gpu) {
  const LaunchSize size{r.grid, r.block, r.dynamic_lds_bytes, r.cooperative};
  const Occupancy fits = Check{*r.kernel, size, gpu}.occupied();
  return std::uint64_t{fits.workgroups_per_cu} * gpu.compute_units();
}

}  // namespace margay
