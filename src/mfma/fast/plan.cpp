#include "mfma/fast/plan.h"

#include <algorithm>
#include <utility>

namespace margay::mfma_amx {
namespace {

constexpr int kSourceRows = 2, kResultRows = 4;
using Code = TileOp::Code;

/// One multiplication of the unit: one instruction's A and B, or two instructions' side by side.
struct Unit {
  std::int32_t a, second_a, b;
  bool is_double;
};

/// The instructions of a segment that accumulate in the same D.
struct Chain {
  MfmaStep first;
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

/// A segment of the run whose chains can each be executed at once, in the order in which they
/// begin: no instruction reads a D that another chain of the segment writes, or its own except as
/// C. (A register that an instruction reads and a later chain overwrites is read in time: that
/// chain comes later.)
class Segment {
 public:
  /// False when the step has to wait for the segment to end.
  bool add(const MfmaStep& step) {
    const bool own_c = !step.c_is_constant && step.c == step.d;
    const auto is_written = [&](std::int32_t first, int count) {
      return std::ranges::any_of(chains_, [&](const Chain& chain) {
        return first < chain.first.d + kResultRows && chain.first.d < first + count;
      });
    };
    if (is_written(step.a, kSourceRows) || is_written(step.b, kSourceRows)) return false;
    const auto chain = std::ranges::find(chains_, step.d, [](const Chain& c) { return c.first.d; });
    if (chain != chains_.end()) {
      if (!own_c) return false;
      chain->factors.emplace_back(step.a, step.b);
      return true;
    }
    if (is_written(step.d, kResultRows)) return false;
    if (!step.c_is_constant && is_written(step.c, kResultRows)) return false;
    chains_.push_back({step, {{step.a, step.b}}});
    return true;
  }
  [[nodiscard]] const std::vector<Chain>& chains() const { return chains_; }

 private:
  std::vector<Chain> chains_;
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
  /// Up to four chains, one per accumulator tile, unit by unit, so that shared operands are loaded
  /// once.
  void emit_block(std::span<const Chain> chains, const std::vector<std::vector<Unit>>& units) {
    for (std::size_t t = 0; t < chains.size(); ++t) {
      const MfmaStep& step = chains[t].first;
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
      // Transpositions come first while slots are free: the unit reads them back from the store
      // buffer only after they have drained.
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

Plan make_plan(std::span<const MfmaStep> steps) {
  Plan plan;
  Emitter emitter(plan);
  Segment segment;
  for (const MfmaStep& step : steps) {
    if (!segment.add(step)) {
      emitter.emit(segment);
      segment = Segment{};
      segment.add(step);
    }
  }
  emitter.emit(segment);
  return plan;
}

}  // namespace margay::mfma_amx
