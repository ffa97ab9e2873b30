#include "mfma/fast/plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "mfma/instructions/rows_meet.h"

namespace margay::mfma_amx {
namespace {

constexpr int kSourceRows = 2;
using Code = TileOp::Code;

/// One multiplication of the unit: one instruction's A and B, or two instructions' side by side.
struct Unit {
  std::int32_t a, second_a, b;
  std::size_t end;  // the number of its chain's factors up to it
  bool is_double;
};

/// The instructions of a segment of which each has the D of the one before as its C.
struct Chain {
  MfmaStep first;
  std::int32_t d;                                              // where the sum is now
  std::vector<std::pair<std::int32_t, std::int32_t>> factors;  // A and B, in order
  /// Where it was before, unless another chain's sum has that place now, and after how many
  /// factors.
  std::vector<std::pair<std::int32_t, std::size_t>> left;

  [[nodiscard]] std::vector<Unit> units() const {
    std::vector<Unit> units;
    for (std::size_t n = 0; n < factors.size(); ++n) {
      const auto [a, b] = factors[n];
      if (n + 1 < factors.size() && !is_left_after(n + 1)) {
        const auto [next_a, next_b] = factors[n + 1];
        if (next_b == b + kSourceRows || b == next_b + kSourceRows) {
          // The order of k is free, so the lower B registers come first.
          if (next_b > b)
            units.push_back({a, next_a, b, n + 2, true});
          else
            units.push_back({next_a, a, next_b, n + 2, true});
          ++n;
          continue;
        }
      }
      units.push_back({a, 0, b, n + 1, false});
    }
    return units;
  }
  [[nodiscard]] bool is_left_after(std::size_t count) const {
    return std::ranges::any_of(left, [&](const auto& place) { return place.second == count; });
  }
};

/// A segment of the run whose chains can each be executed at once: no instruction reads a D that
/// another chain of the segment writes, or its own except as C. A chain comes before those that
/// overwrite what it reads.
class Segment {
 public:
  explicit Segment(int result_rows) : result_rows_(result_rows) {}

  /// False when the step has to wait for the segment to end.
  bool add(const MfmaStep& step) {
    if (is_written(step.a, kSourceRows) || is_written(step.b, kSourceRows)) return false;
    if (!step.c_is_constant) {
      const auto chain = std::ranges::find(chains_, step.c, &Chain::d);
      if (chain != chains_.end()) {
        if (step.d != step.c && !move(*chain, step.d)) return false;
        chain->factors.emplace_back(step.a, step.b);
        return true;
      }
      if (is_written(step.c, result_rows_)) return false;
    }
    if (is_written(step.d, result_rows_)) return false;
    chains_.push_back({step, step.d, {{step.a, step.b}}, {}});
    return true;
  }
  /// In the order in which they are to be executed.
  [[nodiscard]] std::vector<Chain> chains() const {
    std::vector<Chain> out;
    const auto numbers = order();
    for (const std::size_t n : numbers.value()) out.push_back(chains_[n]);
    return out;
  }

 private:
  [[nodiscard]] bool is_written(std::int32_t first, int count) const {
    return std::ranges::any_of(chains_, [&](const Chain& chain) {
      return rows_meet(first, count, chain.d, result_rows_) ||
             std::ranges::any_of(chain.left, [&](const auto& place) {
               return rows_meet(first, count, place.first, result_rows_);
             });
    });
  }
  [[nodiscard]] bool multiplies(const Chain& chain, std::int32_t rows) const {
    return std::ranges::any_of(chain.factors, [&](const auto& factors) {
      return rows_meet(rows, result_rows_, factors.first, kSourceRows) ||
             rows_meet(rows, result_rows_, factors.second, kSourceRows);
    });
  }
  /// Numbers of chains, each behind those that read what it writes in the end, or else in the order
  /// in which they begin. None: there is no such order.
  [[nodiscard]] std::optional<std::vector<std::size_t>> order() const {
    const auto is_before = [&](const Chain& reader, const Chain& writer) {
      return (!reader.first.c_is_constant &&
              rows_meet(writer.d, result_rows_, reader.first.c, result_rows_)) ||
             multiplies(reader, writer.d);
    };
    std::vector<std::size_t> out;
    std::vector<bool> is_out(chains_.size());
    while (out.size() < chains_.size()) {
      const std::size_t before = out.size();
      for (std::size_t n = 0; n < chains_.size(); ++n) {
        if (is_out[n]) continue;
        bool is_next = true;
        for (std::size_t other = 0; other < chains_.size() && is_next; ++other)
          is_next = other == n || is_out[other] || !is_before(chains_[other], chains_[n]);
        if (!is_next) continue;
        out.push_back(n);
        is_out[n] = true;
      }
      if (out.size() == before) return std::nullopt;
    }
    return out;
  }
  /// The chain's sum goes on at `to`, as compilers do with the accumulators of a loop. False: it
  /// cannot.
  bool move(Chain& chain, std::int32_t to) {
    for (const Chain& other : chains_) {
      if (rows_meet(to, result_rows_, other.d, result_rows_)) return false;
      // What it leaves is written while other chains of its block go on.
      if (multiplies(other, chain.d)) return false;
      for (const auto& [place, count] : other.left)
        if (place != to && rows_meet(to, result_rows_, place, result_rows_)) return false;
    }
    const std::int32_t from = std::exchange(chain.d, to);
    if (!order()) {
      chain.d = from;
      return false;
    }
    for (Chain& other : chains_)
      std::erase_if(other.left, [&](const auto& place) { return place.first == to; });
    chain.left.emplace_back(from, chain.factors.size());
    return true;
  }

  int result_rows_;
  std::vector<Chain> chains_;
};

class Emitter {
 public:
  explicit Emitter(Plan& plan) : plan_(plan) {}

  void emit(const Segment& segment) {
    slots_.clear();
    next_slot_ = 0;
    loaded_a_ = loaded_b_ = kNothing;
    const std::vector<Chain> chains = segment.chains();
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
    const bool four = chains.size() == kAccumulators;
    if (four && std::ranges::none_of(chains, [](const Chain& c) { return c.first.c_is_constant; }))
      emit_four(Code::load_four, chains, [](const Chain& c) { return c.first.c; });
    else
      for (std::size_t t = 0; t < chains.size(); ++t) emit_c(chains[t].first, t);
    for (std::size_t u = 0; u < units.front().size(); ++u) {
      const auto shares_a = [&](const std::vector<Unit>& of) {
        return !of[u].is_double && of[u].a == units[0][u].a;
      };
      if (four && std::ranges::all_of(units, shares_a)) {
        const std::uint8_t slot = slot_of(units[0][u]);
        emit_four(
            Code::multiply_four, units, [&](const std::vector<Unit>& of) { return of[u].b; }, slot);
        loaded_a_ = loaded_b_ = kNothing;
      } else {
        for (std::size_t t = 0; t < chains.size(); ++t) emit_unit(units[t][u], t);
      }
      for (std::size_t t = 0; t < chains.size(); ++t)
        for (const auto& [row, count] : chains[t].left)
          if (count == units[t][u].end) emit_store(row, t);
    }
    if (four)
      emit_four(Code::store_four, chains, [](const Chain& c) { return c.d; });
    else
      for (std::size_t t = 0; t < chains.size(); ++t) emit_store(chains[t].d, t);
  }

  /// An op for all four tiles, with the rows of what they are for.
  void emit_four(Code code, const auto& tiles, auto&& row_of, std::uint8_t slot = 0) {
    body_.push_back(
        {.code = code, .slot = slot, .row = static_cast<std::int32_t>(plan_.numbers.size())});
    for (const auto& tile : tiles)
      plan_.numbers.push_back(static_cast<std::uint32_t>(row_of(tile)));
  }
  void emit_c(const MfmaStep& step, std::size_t tile) {
    if (step.c_is_constant) {
      body_.push_back({.code = Code::splat_c,
                       .tile = static_cast<std::uint8_t>(tile),
                       .row = static_cast<std::int32_t>(plan_.numbers.size())});
      plan_.numbers.push_back(step.c_constant);
    } else {
      body_.push_back(
          {.code = Code::load_c, .tile = static_cast<std::uint8_t>(tile), .row = step.c});
    }
  }
  void emit_unit(const Unit& unit, std::size_t tile) {
    load_a(unit);
    load_b(unit);
    body_.push_back({.code = unit.is_double ? Code::multiply2 : Code::multiply,
                     .tile = static_cast<std::uint8_t>(tile)});
  }
  void emit_store(std::int32_t row, std::size_t tile) {
    body_.push_back({.code = Code::store, .tile = static_cast<std::uint8_t>(tile), .row = row});
  }

  struct Key {
    std::int32_t a, second_a;
    int kind;  // 0: nothing, 1: one instruction's, 2: two
    bool operator==(const Key&) const = default;
  };
  static constexpr Key kNothing = {0, 0, 0};

  [[nodiscard]] static Key key_of(const Unit& unit) {
    return {unit.a, unit.second_a, unit.is_double ? 2 : 1};
  }
  /// The scratch slot with its A, transposed.
  std::uint8_t slot_of(const Unit& unit) {
    const Key key = key_of(unit);
    const auto found = std::ranges::find(slots_, key, &std::pair<Key, std::uint8_t>::first);
    if (found != slots_.end()) return found->second;
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
    return slot;
  }
  void load_a(const Unit& unit) {
    const Key key = key_of(unit);
    if (key == loaded_a_) return;
    body_.push_back({.code = unit.is_double ? Code::load_a2 : Code::load_a, .slot = slot_of(unit)});
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

/// For instructions of 32x32, chain by chain, in each four instructions at a time.
class WideEmitter {
 public:
  explicit WideEmitter(Plan& plan) : plan_(plan) {}

  void emit(const Segment& segment) {
    packed_a_ = Packed(Code::pack_a, 0);
    packed_b_ = Packed(Code::pack_b, kScratchSlots / 2);
    for (const Chain& chain : segment.chains()) emit_chain(chain);
  }

 private:
  /// The A or B of up to kPacked instructions, by their registers, in slots of their own.
  class Packed {
   public:
    Packed(Code code, int first_slot) : code_(code), first_slot_(first_slot) {}

    std::uint8_t slot_of(const std::vector<std::int32_t>& rows, std::vector<TileOp>& ops) {
      const auto found = std::ranges::find(kept_, rows);
      if (found != kept_.end()) return slot(found - kept_.begin());
      const std::size_t n = next_++ % kKept;
      if (kept_.size() <= n) kept_.resize(n + 1);
      kept_[n] = rows;
      const std::uint8_t to = slot(static_cast<std::ptrdiff_t>(n));
      if (rows.size() < kPacked) ops.push_back({.code = Code::clear_packed, .slot = to});
      for (std::size_t k = 0; k < rows.size(); ++k)
        ops.push_back(
            {.code = code_, .tile = static_cast<std::uint8_t>(k), .slot = to, .row = rows[k]});
      return to;
    }

   private:
    static constexpr std::size_t kKept = kScratchSlots / 4;  // of two slots, for half of them
    [[nodiscard]] std::uint8_t slot(std::ptrdiff_t n) const {
      return static_cast<std::uint8_t>(first_slot_ + 2 * n);
    }
    Code code_;
    int first_slot_;
    std::vector<std::vector<std::int32_t>> kept_;
    std::size_t next_ = 0;
  };

  void emit_chain(const Chain& chain) {
    std::vector<TileOp>& ops = plan_.ops;
    if (chain.first.c_is_constant) {
      ops.push_back(
          {.code = Code::splat_wide, .row = static_cast<std::int32_t>(plan_.numbers.size())});
      plan_.numbers.push_back(chain.first.c_constant);
    } else {
      ops.push_back({.code = Code::load_wide, .row = chain.first.c});
    }
    for (std::size_t n = 0; n < chain.factors.size();) {
      std::vector<std::int32_t> a, b;
      do {
        a.push_back(chain.factors[n].first);
        b.push_back(chain.factors[n].second);
        ++n;
      } while (n < chain.factors.size() && a.size() < kPacked && !chain.is_left_after(n));
      const std::uint8_t of_a = packed_a_.slot_of(a, ops), of_b = packed_b_.slot_of(b, ops);
      ops.push_back({.code = Code::multiply_wide, .tile = of_b, .slot = of_a});
      for (const auto& [row, count] : chain.left)
        if (count == n) ops.push_back({.code = Code::store_wide, .row = row});
    }
    ops.push_back({.code = Code::store_wide, .row = chain.d});
  }

  Plan& plan_;
  Packed packed_a_{Code::pack_a, 0}, packed_b_{Code::pack_b, 0};
};

template <typename Emitter>
Plan plan_with(std::span<const MfmaStep> steps, int result_rows) {
  Plan plan;
  Emitter emitter(plan);
  Segment segment(result_rows);
  for (const MfmaStep& step : steps) {
    if (!segment.add(step)) {
      emitter.emit(segment);
      segment = Segment(result_rows);
      segment.add(step);
    }
  }
  emitter.emit(segment);
  return plan;
}

}  // namespace

Plan make_plan(Size size, std::span<const MfmaStep> steps) {
  return size == Size::one ? plan_with<Emitter>(steps, 4) : plan_with<WideEmitter>(steps, 16);
}

}  // namespace margay::mfma_amx
