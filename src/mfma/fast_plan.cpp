#include "mfma/fast_plan.h"

#include <algorithm>
#include <utility>

namespace margay::mfma_amx {
namespace {

constexpr int kSourceRows = 2, kResultRows = 4;
using Code = TileOp::Code;

struct Rows {
  std::int32_t first;
  int count;
  [[nodiscard]] bool overlaps(const Rows& other) const {
    return first < other.first + other.count && other.first < first + count;
  }
};

/// One multiplication of the unit: one instruction's A and B, or two instructions' side by side.
struct Unit {
  std::int32_t a, second_a, b;
  bool is_double;
};

/// The instructions of a segment that accumulate in the same D.
struct Chain {
  Step first;
  std::vector<std::pair<std::int32_t, std::int32_t>> factors;  // A and B, in order

  [[nodiscard]] std::vector<Unit> units() const {
    std::vector<Unit> units;
    for (std::size_t n = 0; n < factors.size(); ++n) {
      const auto [a, b] = factors[n];
      if (n + 1 < factors.size()) {
        const auto [next_a, next_b] = factors[n + 1];
        if (next_b == b + kSourceRows || b == next_b + kSourceRows) {
          // The order of k is free, so the lower B registers come first.
          if (next_b > b)
            units.push_back({a, next_a, b, true});
          else
            units.push_back({next_a, a, next_b, true});
          ++n;
          continue;
        }
      }
      units.push_back({a, 0, b, false});
    }
    return units;
  }
};

/// A stretch of the run in which no D is another instruction's A or B (or C, other than its own
/// chain's), so that the chains can be reordered freely.
class Segment {
 public:
  /// False when the step has to wait for the segment to end.
  bool add(const Step& step) {
    const Rows d{step.d, kResultRows}, a{step.a, kSourceRows}, b{step.b, kSourceRows},
        c{step.c, kResultRows};
    const auto overlaps_any = [](const std::vector<Rows>& list, const Rows& rows) {
      return std::ranges::any_of(list, [&](const Rows& other) { return other.overlaps(rows); });
    };
    const bool own_c = !step.c_is_constant && step.c == step.d;
    const auto chain =
        std::ranges::find_if(chains_, [&](const Chain& other) { return other.first.d == step.d; });
    if (overlaps_any(written_, a) || overlaps_any(written_, b) || overlaps_any(read_, d))
      return false;
    if (!step.c_is_constant && !own_c && overlaps_any(written_, c)) return false;
    if (chain != chains_.end()) {
      if (!own_c) return false;
      chain->factors.emplace_back(step.a, step.b);
    } else {
      if (overlaps_any(written_, d)) return false;
      // An instruction may overlap its own operands, but a chain that starts so cannot go on.
      if (d.overlaps(a) || d.overlaps(b) || (!step.c_is_constant && !own_c && d.overlaps(c))) {
        if (!chains_.empty()) return false;
        closed_ = true;
      }
      chains_.push_back({step, {{step.a, step.b}}});
      written_.push_back(d);
      if (!step.c_is_constant && !own_c) read_.push_back(c);
    }
    read_.push_back(a);
    read_.push_back(b);
    return true;
  }
  /// Whether nothing may be added any more.
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] const std::vector<Chain>& chains() const { return chains_; }

 private:
  std::vector<Chain> chains_;
  std::vector<Rows> written_, read_;
  bool closed_ = false;
};

class Emitter {
 public:
  explicit Emitter(Plan& plan) : plan_(plan) {}

  void emit(const Segment& segment) {
    slots_.clear();
    next_slot_ = 0;
    loaded_a_ = loaded_b_ = kNothing;
    const std::vector<Chain>& chains = segment.chains();
    for (std::size_t first = 0; first < chains.size();) {
      std::vector<std::vector<Unit>> units;
      while (units.size() < kAccumulators && first + units.size() < chains.size()) {
        units.push_back(chains[first + units.size()].units());
        if (units.back().size() != units.front().size()) {
          units.pop_back();
          break;
        }
      }
      emit_block(std::span(chains).subspan(first, units.size()), units);
      first += units.size();
    }
    plan_.ops.insert(plan_.ops.end(), prologue_.begin(), prologue_.end());
    plan_.ops.insert(plan_.ops.end(), body_.begin(), body_.end());
    prologue_.clear();
    body_.clear();
  }

 private:
  /// Up to four chains, one per accumulator tile, unit by unit, so that what they share is loaded
  /// once.
  void emit_block(std::span<const Chain> chains, const std::vector<std::vector<Unit>>& units) {
    for (std::size_t t = 0; t < chains.size(); ++t) {
      const Step& step = chains[t].first;
      const auto tile = static_cast<std::uint8_t>(t);
      if (step.c_is_constant) {
        body_.push_back({.code = Code::splat_c,
                         .tile = tile,
                         .row = static_cast<std::int32_t>(plan_.constants.size())});
        plan_.constants.push_back(step.c_constant);
      } else {
        body_.push_back({.code = Code::load_c, .tile = tile, .row = step.c});
      }
    }
    for (std::size_t u = 0; u < units.front().size(); ++u)
      for (std::size_t t = 0; t < chains.size(); ++t) {
        const Unit& unit = units[t][u];
        load_a(unit);
        load_b(unit);
        body_.push_back({.code = unit.is_double ? Code::multiply2 : Code::multiply,
                         .tile = static_cast<std::uint8_t>(t)});
      }
    for (std::size_t t = 0; t < chains.size(); ++t)
      body_.push_back(
          {.code = Code::store, .tile = static_cast<std::uint8_t>(t), .row = chains[t].first.d});
  }

  struct Key {
    std::int32_t a, second_a;
    int kind;  // 0: nothing, 1: one instruction's, 2: two
    bool operator==(const Key&) const = default;
  };
  static constexpr Key kNothing = {0, 0, 0};

  void load_a(const Unit& unit) {
    const Key key{unit.a, unit.second_a, unit.is_double ? 2 : 1};
    if (key == loaded_a_) return;
    auto found = std::ranges::find(slots_, key, &std::pair<Key, std::uint8_t>::first);
    if (found == slots_.end()) {
      // Transpositions go before everything as long as slots last: the unit reads them back from
      // the store buffer only after they have drained.
      const bool reused = next_slot_ >= kScratchSlots;
      const auto slot = static_cast<std::uint8_t>(next_slot_++ % kScratchSlots);
      std::erase_if(slots_, [&](const auto& entry) { return entry.second == slot; });
      auto& to = reused ? body_ : prologue_;
      to.push_back({.code = Code::transpose, .tile = 0, .slot = slot, .row = unit.a});
      if (unit.is_double)
        to.push_back({.code = Code::transpose, .tile = 1, .slot = slot, .row = unit.second_a});
      slots_.emplace_back(key, slot);
      found = slots_.end() - 1;
    }
    body_.push_back({.code = unit.is_double ? Code::load_a2 : Code::load_a, .slot = found->second});
    loaded_a_ = key;
  }

  void load_b(const Unit& unit) {
    const Key key{unit.b, 0, unit.is_double ? 2 : 1};
    if (key == loaded_b_) return;
    body_.push_back({.code = unit.is_double ? Code::load_b2 : Code::load_b, .row = unit.b});
    loaded_b_ = key;
  }

  Plan& plan_;
  std::vector<TileOp> prologue_, body_;
  std::vector<std::pair<Key, std::uint8_t>> slots_;
  int next_slot_ = 0;
  Key loaded_a_ = kNothing, loaded_b_ = kNothing;
};

}  // namespace

Plan make_plan(std::span<const Step> steps) {
  Plan plan;
  Emitter emitter(plan);
  Segment segment;
  for (const Step& step : steps) {
    if (segment.closed() || !segment.add(step)) {
      emitter.emit(segment);
      segment = Segment{};
      segment.add(step);
    }
  }
  emitter.emit(segment);
  return plan;
}

}  // namespace margay::mfma_amx
