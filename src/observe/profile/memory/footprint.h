// How much memory a whole launch touches, from a sample of its workgroups.
//
// The sample is of one XCD, and says how often its workgroups share lines with each other. Whether
// other workgroups share them, too, is seen from a few probes: workgroups of which only the lines
// are noted. Some are spread over the launch, and say how much of a tensor the sample has seen; the
// others follow the sample one after the other, and say how much each of them adds to what those
// before it have touched.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "observe/profile/memory/memory_stream.h"
#include "observe/profile/memory/replay.h"
#include "observe/profile/memory/tensor_lines.h"
#include "report/profile/selection.h"
#include "timing/recording.h"

namespace margay::profile {

/// How many workgroups behind the sample are probes.
inline constexpr std::uint64_t kProbesInARow = 16;
/// The workgroup behind the last one of `sample`, which is not of all workgroups.
[[nodiscard]] std::uint64_t end_of(const Selection& sample);

/// What one workgroup touches, by tensor except the unnamed one: lines that it reads, sectors that
/// it writes.
struct Probe {
  std::uint64_t workgroup = 0;
  std::uint64_t instructions = 0;  ///< That it executed.
  std::vector<LineSet> read, written;
  /// With the work of its memory instructions if it had an XCD for itself; null: too long.
  std::shared_ptr<timing::WorkgroupRecording> recording = nullptr;
};
[[nodiscard]] Probe probe_of(const MemoryStream& stream, const TensorLines& tensors);

/// Of the workgroups that were watched.
struct SampleSize {
  double scale = 1;     ///< Of the launch's work to theirs.
  double watched = 0;   ///< Of them, those that have work.
  double others = 0;    ///< As many workgroups of the launch have work and are not among them.
  double has_work = 0;  ///< Instructions of a workgroup that does not end at once.
};
/// Lines or sectors that the launch touches, if the sample touches `seen`, and the tensor has
/// `most`. `spread` and `in_a_row`: what the two kinds of probes touch.
[[nodiscard]] double touched_by_all(const LineSet& seen, const std::vector<const LineSet*>& spread,
                                    const std::vector<const LineSet*>& in_a_row,
                                    const SampleSize& size, double most);

/// Of a launch.
class Footprint {
 public:
  /// Of a launch that was watched as a whole: what it touched.
  Footprint(const Replay& replay, const TensorLines& tensors);
  /// Of a sample.
  Footprint(const Replay& replay, const TensorLines& tensors, const std::vector<Probe>& probes,
            const Selection& sample, const SampleSize& size);

  /// By tensor, except the unnamed one.
  [[nodiscard]] double lines_read(std::size_t tensor) const { return read_[tensor]; }
  [[nodiscard]] double sectors_written(std::size_t tensor) const { return written_[tensor]; }

 private:
  std::vector<double> read_, written_;
};

}  // namespace margay::profile
