#include "observe/profile/memory/footprint.h"

#include <algorithm>
#include <cmath>

namespace margay::profile {
namespace {

/// What probes add to the lines in `seen`.
struct New {
  double probes = 0, work = 0;  ///< How many they are, and what one has to do on average.
  double all = 0;               ///< Sum over the probes.
  double distinct = 0;          ///< Each line once.
  double largest = 0;           ///< Of one probe.
  double touched = 0;           ///< Sum over the probes, of new lines and others.
  double parts = 0;             ///< Sum of the parts of their lines that are not new ...
  double squares = 0;           ///< ... and of the squares of these parts.
  double largest_meeting = 0;   ///< Of one probe: new lines that one before it has.
  [[nodiscard]] double meetings() const { return all - distinct; }
};
/// Probes that have less to do say nothing about the others: most of it is what each workgroup does
/// once.
constexpr double kLeastWork = 0.5;
New new_lines(const LineSet& seen, const std::vector<ProbedLines>& probes) {
  New out;
  LineSet together, before;
  before.add(seen);
  for (const ProbedLines& probe : probes) {
    if (probe.work < kLeastWork) continue;
    ++out.probes;
    out.work += probe.work;
    const auto touched = static_cast<double>(probe.lines->count());
    if (touched == 0) continue;
    const auto added = static_cast<double>(probe.lines->count_without(seen));
    const double known = 1 - added / touched;
    out.all += added;
    out.largest = std::max(out.largest, added);
    out.touched += touched;
    out.parts += known;
    out.squares += known * known;
    const auto first = static_cast<double>(probe.lines->count_without(before));
    out.largest_meeting = std::max(out.largest_meeting, added - first);
    before.add(*probe.lines);
    together.add(*probe.lines);
  }
  if (out.probes != 0) out.work /= out.probes;
  out.distinct = static_cast<double>(together.count_without(seen));
  return out;
}

/// How many of `unseen` lines `draws` workgroups touch that take `each` of them by chance.
double drawn(double unseen, double each, double draws) {
  return unseen * (1 - std::pow(std::max(0.0, 1 - each / unseen), draws));
}

/// Whether probes meet line by line, as those that take lines at random do: many times, and none of
/// them much more often than the others. Those that read strips have all of one in common, or
/// nothing.
bool meets_by_chance(const New& found) {
  constexpr double kMany = 30, kEven = 4, kMore = 10;
  return found.meetings() >= kMany &&
         found.largest_meeting <= kEven * found.meetings() / found.probes + kMore;
}

/// Of a tensor whose lines workgroups take at random: all that the launch touches. Infinite unless
/// the sample has the same part of each probe's lines, and probes meet elsewhere as often as by
/// chance.
double at_random(double seen, const New& found, const SampleSize& size) {
  const double known = found.touched - found.all;
  constexpr double kEven = 1.3, kClose = 0.35;
  if (known <= 0 || found.squares * found.probes > kEven * found.parts * found.parts ||
      !meets_by_chance(found))
    return INFINITY;
  const double unseen = seen * found.all / known, each = found.all / found.probes;
  const double expected = found.all - drawn(unseen, each, found.probes);
  if (std::abs(found.meetings() - expected) > kClose * expected) return INFINITY;
  return seen + drawn(unseen, each, size.others / found.work);
}

/// Whether the tensor is alike everywhere: each part of it is touched by as many workgroups. A
/// tensor of which all touch one part, and each another one of its own, is not.
bool is_alike(double seen, const New& found) {
  const double known = found.touched - found.all;
  if (known <= 0) return false;
  // The sample has all that a probe touches, or nothing, as with the strips of a product; or most.
  constexpr double kAllOrNothing = 0.7, kMost = 0.5;
  if (found.squares < kAllOrNothing * found.parts && known < kMost * found.touched) return false;
  // Probes meet where the sample has not been as often as they would by chance.
  const double unseen = seen * found.all / known, each = found.all / found.probes;
  if (unseen <= 0) return true;
  constexpr double kChance = 3;
  return found.distinct <= drawn(unseen, each, found.probes) + kChance * found.largest;
}

/// The sample has seen as large a part of the lines as of all that workgroups touch: all of its
/// own, and of the others' what it has of the probes'.
double by_recapture(double seen, const New& found, const SampleSize& size) {
  const double known = (found.touched - found.all) / found.touched;
  const double all = size.watched + size.others;
  return seen * all / (size.watched + size.others * known);
}

/// Probes that meet each other say how much there is that the sample has not seen. Infinite if
/// they meet too rarely to say it.
double by_meetings(double seen, const New& found, const SampleSize& size) {
  constexpr double kFew = 2;
  if (found.meetings() < kFew * found.largest || found.largest == 0) return INFINITY;
  // As if they met once less: of a few meetings one more or less is chance, and what is said to
  // come from HBM is rather too much than too little.
  const double each = found.all / found.probes, distinct = found.distinct + found.largest;
  double least = distinct, most = 1e3 * found.all;
  for (int n = 0; n < 60; ++n) {
    const double unseen = std::sqrt(least * most);
    (drawn(unseen, each, found.probes) < distinct ? least : most) = unseen;
  }
  return seen + drawn(most, each, size.others / found.work);
}

}  // namespace

std::uint64_t end_of(const Selection& sample) {
  return sample.ranges().empty() ? 0 : sample.ranges().back().second + 1;
}

Probe probe_of(const MemoryStream& stream, const TensorLines& tensors) {
  Probe out{stream.workgroup, 0, std::vector<LineSet>(tensors.unnamed()),
            std::vector<LineSet>(tensors.unnamed())};
  TensorLines::Finder finder(tensors);
  using enum MemoryEvent::Kind;
  for (const MemoryEvent& event : stream.events) {
    if (event.argument_lines != 0) continue;
    const bool reads = event.kind == vector_read || event.kind == scalar_read;
    for (std::uint32_t n = 0; n < event.run_count; ++n) {
      const LineRun& run = stream.runs[event.first_run + n];
      for (std::uint32_t k = 0; k < run.count; ++k) {
        const std::uint64_t line = run.line + static_cast<std::uint64_t>(run.stride * k);
        const std::size_t tensor = finder.of_line(line);
        if (tensor == tensors.unnamed()) continue;
        const std::uint64_t number = tensors.number_of(tensor, line);
        if (reads) {
          out.read[tensor].add(number);
          continue;
        }
        if ((run.quarters & 3) != 0) out.written[tensor].add(2 * number);
        if ((run.quarters & 12) != 0) out.written[tensor].add(2 * number + 1);
      }
    }
  }
  return out;
}

double touched_by_all(const LineSet& seen, const std::vector<ProbedLines>& spread,
                      const std::vector<ProbedLines>& in_a_row, const SampleSize& size,
                      double most) {
  const auto count = static_cast<double>(seen.count());
  const double at_most = std::min(size.scale * count, most);
  double out = at_most;
  if (const New found = new_lines(seen, spread); found.touched != 0) {
    if (const double all = at_random(count, found, size); all < at_most) return all;
    if (is_alike(count, found)) out = std::min(out, by_recapture(count, found, size));
    out = std::min(out, by_meetings(count, found, size));
  }
  if (const New found = new_lines(seen, in_a_row); found.probes != 0) {
    // Those in a row may all share what the next one will not.
    const double each = std::max(found.distinct, found.touched / found.probes) / found.probes;
    out = std::min(out, count + size.others / found.work * each);
  }
  // What probes say has errors, and most tensors are read as a whole.
  constexpr double kWhole = 0.5;
  if (at_most == most && out > kWhole * most) return most;
  return std::max(out, std::min(count, most));
}

Footprint::Footprint(const Replay& replay, const TensorLines& tensors) {
  for (std::size_t n = 0; n < tensors.unnamed(); ++n) {
    const Touched touched = replay.touched(n);
    read_.push_back(static_cast<double>(touched.lines_read));
    written_.push_back(static_cast<double>(touched.sectors_written));
  }
}

Footprint::Footprint(const Replay& replay, const TensorLines& tensors,
                     const std::vector<Probe>& probes, const Selection& sample,
                     const SampleSize& size) {
  const std::uint64_t row = end_of(sample);
  for (std::size_t n = 0; n < tensors.unnamed(); ++n) {
    std::vector<ProbedLines> spread_read, row_read, spread_written, row_written;
    for (const Probe& probe : probes) {
      const auto instructions = static_cast<double>(probe.instructions);
      const double work = size.instructions > 0 ? instructions / size.instructions : 1;
      const bool in_a_row = probe.workgroup >= row && probe.workgroup < row + kProbesInARow;
      (in_a_row ? row_read : spread_read).push_back({&probe.read[n], work});
      (in_a_row ? row_written : spread_written).push_back({&probe.written[n], work});
    }
    const auto lines = static_cast<double>(tensors.lines(n));
    read_.push_back(touched_by_all(replay.lines_read(n), spread_read, row_read, size, lines));
    written_.push_back(
        touched_by_all(replay.sectors_written(n), spread_written, row_written, size, 2 * lines));
  }
}

}  // namespace margay::profile
