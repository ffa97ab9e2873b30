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
  double scale = 1;    ///< Of the launch's work to theirs.
  double watched = 0;  ///< Of them, those that have work.
  double others = 0;   ///< As many more of them, on average, would have the work of the launch.
  double instructions = 0;  ///< Of one of them, on average; 0: not known.
};
/// What a probe touches of a tensor.
struct ProbedLines {
  const LineSet* lines;
  double work = 1;  ///< Instructions of the probe to those of a workgroup of the sample.
};
/// Lines or sectors that the launch touches, if the sample touches `seen`, and the tensor has
/// `most`. `spread` and `in_a_row`: the two kinds of probes. What workgroups touch is taken to go
/// with what they have to do: sequences and rows have many lengths.
[[nodiscard]] double touched_by_all(const LineSet& seen, const std::vector<ProbedLines>& spread,
                                    const std::vector<ProbedLines>& in_a_row,
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
