// Which workgroups of a launch the model of time sees.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/workgroup/launch_request.h"
#include "gpu/gpu.h"
#include "report/profile/selection.h"

namespace margay::profile {

/// What the model of time sees of a launch: all workgroups if one XCD has room for them, else those
/// of the first XCD, until it has been filled once, and twice if that is a small part of the
/// launch. XCDs get workgroups in turn, so that the first one's are as good as any.
[[nodiscard]] Selection time_sample(const Gpu& gpu, const LaunchRequest& request);

/// Workgroups outside of the sample of which only the memory that they touch is noted
/// (memory/footprint.h), in ascending order: some that are spread over the launch, and those that
/// follow the sample.
[[nodiscard]] std::vector<std::uint64_t> probes_of(const Gpu& gpu, const LaunchRequest& request);

/// The workgroups that have to run so that the time of the launch can be modelled: those that the
/// model watches, and some of the others, which say how much the rest has to do. Null: all.
[[nodiscard]] std::shared_ptr<const std::vector<std::uint64_t>> workgroups_to_time(
    const Gpu& gpu, const LaunchRequest& request);

}  // namespace margay::profile
