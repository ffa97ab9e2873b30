#include "mfma/fast/plan.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "mfma/fast/chains.h"

namespace margay::mfma_amx {
namespace {

using Code = TileOp::Code;

/// A or B of a unit that is put into a scratch slot.
struct Operand {
  bool is_a;
  bool is_double;
  std::int32_t row, second_row;
  bool operator==(const Operand&) const = default;
};

/// For instructions of 16x16. A unit's multiplication needs its A and B in tiles of their own, and
/// loading them takes as long as multiplying, so that chains that have A or B in common are
/// executed together, a multiplication of each in turn, and the common operand is loaded once. The
/// unit waits for what has just been stored, and the host can have many instructions on the way:
/// operands are put into their slots some multiplications before, and results are stored behind the
/// next chains' multiplications where that leaves them a tile.
class Emitter {
 public:
  Emitter(Plan& plan, Types types) : plan_(plan), types_(types) {}

  void emit(const Segment& segment) {
    std::vector<TileOp> to_store;
    std::uint8_t next_tile = 0;
    for (const Group& group : groups_of(segment)) {
      std::vector<std::uint8_t> tiles;
      for (const Member& member : group) {
        const std::uint8_t tile = tiles.emplace_back(next_tile++ % kAccumulators);
        const auto waiting = std::ranges::find(to_store, tile, &TileOp::tile);
        if (waiting != to_store.end()) {
          body_.push_back({*waiting});
          to_store.erase(waiting);
        }
        body_.push_back({c_op(member.chain.first, tile)});
      }
      for (std::size_t unit = 0; unit < group.front().units.size(); ++unit) {
        multiply_each(group, unit, tiles);
        for (std::size_t n = 0; n < group.size(); ++n)
          for (const auto& [row, count] : group[n].chain.left)
            if (count == group[n].units[unit].end) body_.push_back({store_op(row, tiles[n])});
      }
      for (const TileOp& op : to_store) body_.push_back({op});
      to_store.clear();
      for (std::size_t n = 0; n < group.size(); ++n)
        to_store.push_back(store_op(group[n].chain.d, tiles[n]));
    }
    for (const TileOp& op : to_store) body_.push_back({op});
    put_together();
  }

 private:
  struct Member {
    Chain chain;
    std::vector<Unit> units;
  };
  /// Chains, as many as there are accumulators at most, that have all A or all B in common.
  using Group = std::vector<Member>;

  /// An op of the run, or a multiplication whose operands' slots are not known yet.
  struct Entry {
    TileOp op;
    std::optional<Operand> a = {}, b = {};  // without: not a multiplication; B is not in scratch
  };

  [[nodiscard]] std::vector<Group> groups_of(const Segment& segment) const {
    std::vector<Member> waiting;
    for (Chain& chain : segment.chains()) {
      std::vector<Unit> units = chain.units(!types_.are_converted());
      waiting.push_back({std::move(chain), std::move(units)});
    }
    std::vector<Group> groups;
    while (!waiting.empty()) {
      const std::vector<std::size_t> with_a = companions(segment, waiting, &Unit::has_same_a);
      const std::vector<std::size_t> with_b = companions(segment, waiting, &Unit::has_same_b);
      Group& group = groups.emplace_back();
      for (const std::size_t n : with_b.size() >= with_a.size() ? with_b : with_a)
        group.push_back(std::exchange(waiting[n], {}));
      std::erase_if(waiting, [](const Member& member) { return member.units.empty(); });
    }
    return groups;
  }
  /// The numbers of the first of those that wait, and of others that can be executed with it.
  [[nodiscard]] static std::vector<std::size_t> companions(const Segment& segment,
                                                           const std::vector<Member>& waiting,
                                                           bool (Unit::*has_same)(const Unit&)
                                                               const) {
    std::vector<std::size_t> out = {0};
    const Member& first = waiting.front();
    // Its sums' earlier places are written between multiplications.
    if (!first.chain.left.empty()) return out;
    for (std::size_t n = 1; n < waiting.size() && out.size() < kAccumulators; ++n) {
      const Member& other = waiting[n];
      if (!other.chain.left.empty() ||
          !std::ranges::equal(first.units, other.units,
                              [&](const Unit& x, const Unit& y) { return (x.*has_same)(y); }))
        continue;
      // Those that stay behind must not read what it writes.
      bool is_free = true;
      for (std::size_t passed = 1; passed < n && is_free; ++passed)
        is_free = std::ranges::find(out, passed) != out.end() ||
                  !segment.is_before(waiting[passed].chain, other.chain);
      if (is_free) out.push_back(n);
    }
    return out;
  }

  [[nodiscard]] TileOp c_op(const MfmaStep& step, std::uint8_t tile) {
    if (!step.c_is_constant) return {.code = Code::load_c, .tile = tile, .row = step.c};
    return {.code = Code::splat_c, .tile = tile, .row = number(step.c_constant)};
  }
  [[nodiscard]] static TileOp store_op(std::int32_t row, std::uint8_t tile) {
    return {.code = Code::store, .tile = tile, .row = row};
  }
  void multiply_each(const Group& group, std::size_t unit, std::span<const std::uint8_t> tiles) {
    for (std::size_t n = 0; n < group.size(); ++n) multiply(group[n].units[unit], tiles[n]);
    if (!types_.are_split()) return;
    for (std::size_t n = 0; n < group.size(); ++n) {
      multiply(group[n].units[unit], tiles[n]);
      body_.back().op.code = Code::multiply_split;
    }
  }
  void multiply(const Unit& unit, std::uint8_t tile) {
    const auto operand = [&](bool is_a) {
      return is_a ? Operand{true, unit.is_double, unit.a, unit.second_a}
                  : Operand{false, unit.is_double, unit.b, unit.second_b};
    };
    if (types_.are_converted() || (unit.is_double && !unit.has_adjacent_b()))
      body_.push_back(
          {{.code = Code::multiply_copied, .tile = tile}, operand(true), operand(false)});
    else
      body_.push_back({{.code = unit.is_double ? Code::multiply_two : Code::multiply,
                        .tile = tile,
                        .row = unit.b},
                       operand(true)});
  }

  /// Multiplications between the one before which an operand is put into its slot and its own.
  static constexpr std::size_t kAhead = 2;
  static_assert(2 * (kAhead + 1) < kOperands);

  [[nodiscard]] std::size_t slots_of_operand() const { return types_.are_split() ? 2 : 1; }

  /// The body's ops, with operands put into slots kAhead multiplications before their own.
  void put_together() {
    std::vector<std::size_t> multiplications;  // in the body
    for (std::size_t n = 0; n < body_.size(); ++n)
      if (body_[n].a) multiplications.push_back(n);
    slots_.assign(kOperands, {});
    std::size_t ready = 0, reached = 0;
    TileOp before{.code = Code::store};  // the multiplication, once there is one
    for (const Entry& entry : body_) {
      if (!entry.a) {
        plan_.ops.push_back(entry.op);
        continue;
      }
      for (; ready < std::min(multiplications.size(), reached + 1 + kAhead); ++ready) {
        Entry& next = body_[multiplications[ready]];
        next.op.slot = slot_of(*next.a, ready, reached, multiplications);
        if (next.b) next.op.row = slot_of(*next.b, ready, reached, multiplications);
      }
      plan_.ops.push_back(entry.op);
      plan_.ops.back().code = less_loads(entry.op, before);
      before = entry.op;
      ++reached;
    }
    body_.clear();
  }
  /// How to multiply when the tiles have what `before` left in them.
  [[nodiscard]] static Code less_loads(const TileOp& op, const TileOp& before) {
    if (op.code != before.code || op.code == Code::multiply) return op.code;
    const bool is_second = op.code == Code::multiply_split;
    if (op.row == before.row)
      return is_second ? Code::multiply_split_same_b : Code::multiply_same_b;
    if (op.slot != before.slot) return op.code;
    if (is_second) return Code::multiply_split_same_a;
    return op.code == Code::multiply_two ? Code::multiply_two_same_a : Code::multiply_copied_same_a;
  }

  struct Slot {
    std::optional<Operand> has;
    std::size_t last_use = 0, next_use = kNever;  // numbers of multiplications
  };
  static constexpr std::size_t kNever = ~std::size_t{0};

  /// The slot with multiplication number n's operand, which is put there unless it is. All before
  /// number `reached` are done. What is never used again makes room first, and of that what was
  /// used last: few slots stay in the host's nearest cache.
  [[nodiscard]] std::uint8_t slot_of(const Operand& operand, std::size_t n, std::size_t reached,
                                     const std::vector<std::size_t>& multiplications) {
    auto slot = std::ranges::find(slots_, std::optional(operand), &Slot::has);
    const bool is_new = slot == slots_.end();
    if (is_new)
      slot = std::ranges::max_element(slots_, {}, [&](const Slot& other) {
        const bool is_free = !other.has || other.last_use < reached;
        return std::tuple(is_free, other.next_use, other.last_use);
      });
    *slot = {operand, n, next_use(operand, n + 1, multiplications)};
    const auto number = static_cast<std::uint8_t>(static_cast<std::size_t>(slot - slots_.begin()) *
                                                  slots_of_operand());
    if (is_new) plan_.ops.push_back(put_op(operand, number));
    return number;
  }
  [[nodiscard]] std::size_t next_use(const Operand& operand, std::size_t from,
                                     const std::vector<std::size_t>& multiplications) const {
    for (std::size_t n = from; n < multiplications.size(); ++n) {
      const Entry& entry = body_[multiplications[n]];
      if (entry.a == operand || entry.b == operand) return n;
    }
    return kNever;
  }
  [[nodiscard]] TileOp put_op(const Operand& operand, std::uint8_t slot) {
    if (types_.are_converted())
      return {.code = operand.is_a ? Code::convert_a : Code::convert_b,
              .slot = slot,
              .type = operand.is_a ? types_.a : types_.b,
              .row = operand.row};
    if (!operand.is_double) return {.code = Code::transpose, .slot = slot, .row = operand.row};
    return {.code = operand.is_a ? Code::transpose_two : Code::copy_two,
            .slot = slot,
            .row = numbers(operand.row, operand.second_row)};
  }

  [[nodiscard]] std::int32_t number(std::uint32_t value) {
    plan_.numbers.push_back(value);
    return static_cast<std::int32_t>(plan_.numbers.size() - 1);
  }
  [[nodiscard]] std::int32_t numbers(std::int32_t first, std::int32_t second) {
    const std::int32_t at = number(static_cast<std::uint32_t>(first));
    (void)number(static_cast<std::uint32_t>(second));
    return at;
  }

  Plan& plan_;
  Types types_;
  std::vector<Entry> body_;
  std::vector<Slot> slots_;
};

/// Scratch slots by what they have, those that are not needed for the longest time being used
/// again.
class Slots {
 public:
  /// The instructions' first registers of A or B.
  using Key = std::vector<std::int32_t>;
  struct Found {
    std::uint8_t slot;
    bool is_new;
  };

  /// Half of them, from `first` on, `each` at a time.
  Slots(int first, int each)
      : first_(first), each_(each), kept_(static_cast<std::size_t>(kOperands / 2 / each)) {}

  [[nodiscard]] Found find(const Key& key) {
    const auto known = std::ranges::find(kept_, key, &Kept::key);
    const auto at = known != kept_.end() ? known : std::ranges::min_element(kept_, {}, &Kept::used);
    const bool is_new = known == kept_.end();
    *at = {key, ++time_};
    return {static_cast<std::uint8_t>(first_ + each_ * (at - kept_.begin())), is_new};
  }

 private:
  struct Kept {
    Key key;
    std::uint64_t used = 0;
  };
  int first_, each_;
  std::vector<Kept> kept_;
  std::uint64_t time_ = 0;
};

/// For instructions of 32x32, chain by chain, in each up to kPacked instructions at a time.
class WideEmitter {
 public:
  WideEmitter(Plan& plan, Types types) : plan_(plan), types_(types) {}

  void emit(const Segment& segment) {
    a_ = Slots(0, kSlotsOfPacked);
    b_ = Slots(kOperands / 2, kSlotsOfPacked);
    for (const Chain& chain : segment.chains()) emit_chain(chain);
  }

 private:
  /// The slots with the A or B of up to kPacked instructions.
  [[nodiscard]] std::uint8_t packed(Code code, Type type, const std::vector<std::int32_t>& rows,
                                    Slots& slots) {
    const auto [slot, is_new] = slots.find(rows);
    if (!is_new) return slot;
    if (rows.size() < at_once()) plan_.ops.push_back({.code = Code::clear_packed, .slot = slot});
    for (std::size_t k = 0; k < rows.size(); ++k)
      plan_.ops.push_back({.code = code,
                           .tile = static_cast<std::uint8_t>(k * (kPacked / at_once())),
                           .slot = slot,
                           .type = type,
                           .row = rows[k]});
    return slot;
  }

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
      } while (n < chain.factors.size() && a.size() < at_once() && !chain.is_left_after(n));
      const bool converts = types_.are_converted();
      const std::uint8_t of_a =
          packed(converts ? Code::pack_converted_a : Code::pack_a, types_.a, a, a_);
      const std::uint8_t of_b =
          packed(converts ? Code::pack_converted_b : Code::pack_b, types_.b, b, b_);
      ops.push_back({.code = Code::multiply_wide, .tile = of_b, .slot = of_a});
      for (const auto& [row, count] : chain.left)
        if (count == n) ops.push_back({.code = Code::store_wide, .row = row});
    }
    ops.push_back({.code = Code::store_wide, .row = chain.d});
  }

  /// Instructions of one multiplication.
  [[nodiscard]] std::size_t at_once() const {
    if (types_.are_split()) return kPacked / 4;
    return types_.are_converted() ? kPacked / 2 : kPacked;
  }

  static constexpr int kSlotsOfPacked = 2;

  Plan& plan_;
  Types types_;
  Slots a_{0, kSlotsOfPacked}, b_{kOperands / 2, kSlotsOfPacked};
};

template <typename Emitter>
Plan plan_with(Types types, std::span<const MfmaStep> steps, int result_rows) {
  Plan plan;
  Emitter emitter(plan, types);
  Segment segment(result_rows);
  for (const MfmaStep& step : steps) {
    if (!segment.add(step)) {
      emitter.emit(segment);
      segment = Segment(result_rows);
      (void)segment.add(step);  // which an empty one takes
    }
  }
  emitter.emit(segment);
  return plan;
}

}  // namespace

Plan make_plan(Types types, Size size, std::span<const MfmaStep> steps) {
  return size == Size::one ? plan_with<Emitter>(types, steps, 4)
                           : plan_with<WideEmitter>(types, steps, 16);
}

}  // namespace margay::mfma_amx
