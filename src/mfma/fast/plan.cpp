#include "mfma/fast/plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "mfma/instructions/rows_meet.h"

namespace margay::mfma_amx {
namespace {

constexpr int kSourceRows = 2;
using Code = TileOp::Code;

/// One multiplication of the unit: one instruction's A and B, or two instructions'.
struct Unit {
  std::int32_t a, second_a, b, second_b;
  std::size_t end;  // the number of its chain's factors up to it
  bool is_double;

  [[nodiscard]] bool has_adjacent_b() const { return second_b == b + kSourceRows; }
};

/// The instructions of a segment of which each has the D of the one before as its C.
struct Chain {
  MfmaStep first;
  std::int32_t d;          // where the sum is now,
  bool only_next_reads_d;  // and whether its next step alone reads it there
  std::vector<std::pair<std::int32_t, std::int32_t>> factors;  // A and B, in order
  /// Where it was before, unless another chain's sum has that place now, and after how many
  /// factors.
  std::vector<std::pair<std::int32_t, std::size_t>> left;

  /// Of two instructions each where `in_pairs` and there are two.
  [[nodiscard]] std::vector<Unit> units(bool in_pairs) const {
    std::vector<Unit> units;
    for (std::size_t n = 0; n < factors.size(); ++n) {
      auto [a, b] = factors[n];
      if (!in_pairs || n + 1 == factors.size() || is_left_after(n + 1)) {
        units.push_back({a, 0, b, 0, n + 1, false});
        continue;
      }
      ++n;
      auto [next_a, next_b] = factors[n];
      // The order of k is free, so the lower B registers come first.
      if (next_b < b) {
        std::swap(a, next_a);
        std::swap(b, next_b);
      }
      units.push_back({a, next_a, b, next_b, n + 1, true});
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
        chain->only_next_reads_d = step.only_next_reads_d;
        chain->factors.emplace_back(step.a, step.b);
        return true;
      }
      if (is_written(step.c, result_rows_)) return false;
    }
    if (is_written(step.d, result_rows_)) return false;
    chains_.push_back({step, step.d, step.only_next_reads_d, {{step.a, step.b}}, {}});
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
    const auto reads = [&](const Chain& reader, std::int32_t rows) {
      return (!reader.first.c_is_constant &&
              rows_meet(rows, result_rows_, reader.first.c, result_rows_)) ||
             multiplies(reader, rows);
    };
    const auto is_before = [&](const Chain& reader, const Chain& writer) {
      return reads(reader, writer.d) || std::ranges::any_of(writer.left, [&](const auto& place) {
               return reads(reader, place.first);
             });
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
    if (!chain.only_next_reads_d) chain.left.emplace_back(from, chain.factors.size());
    return true;
  }

  int result_rows_;
  std::vector<Chain> chains_;
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

  /// Half of all, from `first` on, `each` at a time.
  Slots(int first, int each)
      : first_(first), each_(each), kept_(static_cast<std::size_t>(kScratchSlots / 2 / each)) {}

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

/// Chain by chain. The unit waits for what has just been stored, and the host can have many
/// instructions on the way, so that operands are put into their slots some multiplications before,
/// and a chain's result is stored behind the next chain's multiplications.
class Emitter {
 public:
  Emitter(Plan& plan, Types types) : plan_(plan), types_(types) {}

  void emit(const Segment& segment) {
    a_ = Slots(0, 1);
    b_ = Slots(kScratchSlots / 2, 1);
    std::vector<TileOp> to_store;
    std::size_t number = 0;
    for (const Chain& chain : segment.chains()) {
      const auto tile = static_cast<std::uint8_t>(number++ % kAccumulators);
      body_.push_back({c_op(chain.first, tile)});
      for (const Unit& unit : chain.units(!types_.are_converted())) {
        body_.push_back({multiply_op(unit, tile)});
        for (const auto& [row, count] : chain.left)
          if (count == unit.end) body_.push_back({store_op(row, tile)});
      }
      body_.insert(body_.end(), to_store.begin(), to_store.end());
      to_store = {store_op(chain.d, tile)};
    }
    body_.insert(body_.end(), to_store.begin(), to_store.end());
    put_together();
  }

 private:
  /// Multiplications between the one before which an operand is put into its slot and its own: less
  /// than there are slots of A or B.
  static constexpr std::size_t kAhead = 4;
  static_assert(kAhead + 1 < kScratchSlots / 2);

  [[nodiscard]] TileOp c_op(const MfmaStep& step, std::uint8_t tile) {
    if (!step.c_is_constant) return {.code = Code::load_c, .tile = tile, .row = step.c};
    return {.code = Code::splat_c, .tile = tile, .row = number(step.c_constant)};
  }
  [[nodiscard]] static TileOp store_op(std::int32_t row, std::uint8_t tile) {
    return {.code = Code::store, .tile = tile, .row = row};
  }
  /// Its operands' slots are filled by prologues_, which has one entry for each multiplication.
  [[nodiscard]] TileOp multiply_op(const Unit& unit, std::uint8_t tile) {
    std::vector<TileOp>& prologue = prologues_.emplace_back();
    const auto [a, is_new_a] =
        a_.find(unit.is_double ? Slots::Key{unit.a, unit.second_a} : Slots::Key{unit.a});
    if (is_new_a && unit.is_double)
      prologue.push_back(
          {.code = Code::transpose_two, .slot = a, .row = numbers(unit.a, unit.second_a)});
    else if (is_new_a)
      prologue.push_back({.code = types_.are_converted() ? Code::convert_a : Code::transpose,
                          .slot = a,
                          .type = types_.a,
                          .row = unit.a});
    if (types_.are_converted()) {
      const auto [b, is_new_b] = b_.find({unit.b});
      if (is_new_b)
        prologue.push_back({.code = Code::convert_b, .slot = b, .type = types_.b, .row = unit.b});
      return {.code = Code::multiply_copied, .tile = tile, .slot = a, .row = b};
    }
    if (!unit.is_double) return {.code = Code::multiply, .tile = tile, .slot = a, .row = unit.b};
    if (unit.has_adjacent_b())
      return {.code = Code::multiply_two, .tile = tile, .slot = a, .row = unit.b};
    const auto [b, is_new_b] = b_.find({unit.b, unit.second_b});
    if (is_new_b)
      prologue.push_back(
          {.code = Code::copy_two, .slot = b, .row = numbers(unit.b, unit.second_b)});
    return {.code = Code::multiply_copied, .tile = tile, .slot = a, .row = b};
  }

  [[nodiscard]] static bool multiplies(const TileOp& op) {
    return op.code == Code::multiply || op.code == Code::multiply_two ||
           op.code == Code::multiply_copied;
  }
  /// The body's ops, each prologue kAhead multiplications before its own.
  void put_together() {
    std::size_t ready = 0, reached = 0;
    for (const TileOp& op : body_) {
      if (multiplies(op)) {
        ++reached;
        for (; ready < std::min(prologues_.size(), reached + kAhead); ++ready)
          plan_.ops.insert(plan_.ops.end(), prologues_[ready].begin(), prologues_[ready].end());
      }
      plan_.ops.push_back(op);
    }
    body_.clear();
    prologues_.clear();
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
  std::vector<TileOp> body_;
  std::vector<std::vector<TileOp>> prologues_;
  Slots a_{0, 1}, b_{kScratchSlots / 2, 1};
};

/// For instructions of 32x32, chain by chain, in each up to kPacked instructions at a time.
class WideEmitter {
 public:
  WideEmitter(Plan& plan, Types types) : plan_(plan), types_(types) {}

  void emit(const Segment& segment) {
    a_ = Slots(0, kSlotsOfPacked);
    b_ = Slots(kScratchSlots / 2, kSlotsOfPacked);
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
    return types_.are_converted() ? kPacked / 2 : kPacked;
  }

  static constexpr int kSlotsOfPacked = 2;

  Plan& plan_;
  Types types_;
  Slots a_{0, kSlotsOfPacked}, b_{kScratchSlots / 2, kSlotsOfPacked};
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
      segment.add(step);
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
