#include "timing/launch/schedule.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace margay::timing {
namespace {

template <typename T>
using Earliest = std::priority_queue<T, std::vector<T>, std::greater<>>;

/// What all of its workgroups together do is in `speeds`. An older one goes first: the others get
/// what it leaves.
class Unit {
 public:
  explicit Unit(const Speeds& speeds) : speeds_(speeds) {}

  [[nodiscard]] std::size_t resident() const { return left_.size(); }
  void begin(double now, double work) {
    catch_up(now);
    left_.push_back(work);
  }
  void end_first(double now) {
    catch_up(now);
    left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(first_to_end().first));
  }
  /// When its first workgroup ends, if no other one begins; it has one.
  [[nodiscard]] double next_end() const { return at_ + first_to_end().second; }

 private:
  [[nodiscard]] double speed(std::size_t place) const {
    return speeds_[place] - (place == 0 ? 0 : speeds_[place - 1]);
  }
  /// Its place, and in how long.
  [[nodiscard]] std::pair<std::size_t, double> first_to_end() const {
    std::pair<std::size_t, double> out{0, left_[0] / speed(0)};
    for (std::size_t n = 1; n < left_.size(); ++n)
      if (left_[n] < out.second * speed(n)) out = {n, left_[n] / speed(n)};
    return out;
  }
  void catch_up(double now) {
    for (std::size_t n = 0; n < left_.size(); ++n)
      left_[n] = std::max(0.0, left_[n] - (now - at_) * speed(n));
    at_ = now;
  }

  const Speeds& speeds_;
  double at_ = 0;
  std::vector<double> left_;  // to do at that time, of the oldest one first
};

struct Event {
  double time = 0;
  std::uint32_t unit = 0;
  std::uint32_t version = 0;  // others are out of date
  friend bool operator>(const Event& a, const Event& b) {
    return a.time != b.time ? a.time > b.time : a.unit > b.unit;
  }
};

/// Of workgroups `first`, `first` + `step` ... on `count` units.
double makespan_of_some(std::span<const std::uint32_t> work, std::size_t first, std::size_t step,
                        std::size_t count, const Speeds& speeds) {
  std::vector<Unit> units(count, Unit(speeds));
  std::vector<std::uint32_t> versions(units.size());
  Earliest<Event> ends;
  double now = 0;
  const auto expect = [&](std::uint32_t unit) {
    ++versions[unit];
    if (units[unit].resident() != 0) ends.push({units[unit].next_end(), unit, versions[unit]});
  };
  const auto end_one = [&] {
    const Event event = ends.top();
    ends.pop();
    if (event.version != versions[event.unit]) return;
    now = event.time;
    units[event.unit].end_first(now);
    expect(event.unit);
  };
  for (std::size_t next = first; next < work.size();) {
    const auto unit = std::ranges::min_element(units, {}, &Unit::resident);
    if (unit->resident() == speeds.size()) {
      end_one();
      continue;
    }
    unit->begin(now, work[next]);
    expect(static_cast<std::uint32_t>(unit - units.begin()));
    next += step;
  }
  while (!ends.empty()) end_one();
  return now;
}

}  // namespace

double makespan(std::span<const std::uint32_t> work, const Gpu& gpu, const Speeds& speeds) {
  double last = 0;
  for (std::uint32_t xcd = 0; xcd < gpu.xcds; ++xcd)
    last = std::max(last, makespan_of_some(work, xcd, gpu.xcds, gpu.cus_per_xcd, speeds));
  return last;
}

double makespan_of_one(std::span<const std::uint32_t> work, const Speeds& speeds) {
  return makespan_of_some(work, 0, 1, 1, speeds);
}

}  // namespace margay::timing
