#include "observe/check/waits/waits.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "exec/rows/row_table.h"

namespace margay::check {
namespace {

template <std::size_t n>
void set(std::array<std::uint64_t, n>& mask, unsigned bit) {
  mask[bit / 64] |= 1ull << (bit % 64);
}
template <std::size_t n>
void clear(std::array<std::uint64_t, n>& mask, unsigned bit) {
  mask[bit / 64] &= ~(1ull << (bit % 64));
}
template <std::size_t n>
[[nodiscard]] bool test(const std::array<std::uint64_t, n>& mask, unsigned bit) {
  return (mask[bit / 64] >> (bit % 64) & 1) != 0;
}
template <std::size_t n, typename F>
void for_each_bit(const std::array<std::uint64_t, n>& a, const std::array<std::uint64_t, n>& b,
                  F&& visit) {
  for (std::size_t word = 0; word < n; ++word)
    for (std::uint64_t rest = a[word] & b[word]; rest != 0; rest &= rest - 1)
      visit(static_cast<unsigned>(64 * word) + static_cast<unsigned>(std::countr_zero(rest)));
}

constexpr std::size_t kMostStores = 256;
/// The same for LDS instructions: more than 64 waits can prove complete.
constexpr std::size_t kMostLds = 1 << 12;
/// A kernel without barriers, or one that never releases anything, would make a long list; the
/// newest suffice: the waits that could be credited alone are among the last ones (WaitHistory).
void note(std::vector<Completion>& list, std::size_t most, const Completion& completion) {
  if (list.size() > most)
    list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(most / 2));
  list.push_back(completion);
}

/// The strictest credit of each site suffices.
void remember(std::vector<Credit>& credits, const Credit& credit) {
  for (Credit& known : credits)
    if (known.site == credit.site && known.counter == credit.counter && known.sole == credit.sole) {
      known.count = std::min(known.count, credit.count);
      return;
    }
  credits.push_back(credit);
}

}  // namespace

WaitTracker::WaitTracker(Reporter& reporter, SiteTable& sites, bool report)
    : reporter_(reporter), sites_(sites), report_(report) {}

void WaitTracker::begin(std::uint32_t wave, std::uint32_t accum_offset) {
  wave_ = wave;
  accum_offset_ = accum_offset;
  serial_ = 0;
  lds_step_ = direct_completed_ = 0;
  vm_.clear();
  lgkm_.clear();
  unordered_.clear();
  attention_ = pending_ = {};
  scalar_attention_ = scalar_pending_ = {};
  history_.clear();
  issued_ = {};
  lds_completed_list_.clear();
  direct_completed_list_.clear();
  published_.clear();
  published_alone_.clear();
  stores_completed_.clear();
}

// ---- Issue, wait, complete ------------------------------------------------------------------

Outstanding& WaitTracker::issue(const InstructionFacts& facts, std::uint64_t exec) {
  const CountedBy& counters = facts.counted;
  Outstanding* flight;
  if (!counters.in_order) {
    flight = &unordered_.emplace_back();
  } else {
    OutstandingRing& ring = counters.vm ? vm_ : lgkm_;
    // The hardware does not issue an instruction beyond its counter's range.
    if (ring.size() == (counters.vm ? kVmCapacity : kLgkmCapacity)) {
      complete(ring.oldest(), false);
      ring.pop();
    }
    flight = &ring.push();
  }
  flight->facts = &facts;
  flight->lanes = facts.use.ignores_exec ? ~0ull : exec;
  flight->serial = ++serial_;
  std::uint64_t& issued =
      issued_[static_cast<std::size_t>(counters.vm ? Counter::vm : Counter::lgkm)];
  flight->order = counters.in_order ? ++issued : issued;
  flight->lgkm_order = issued_[static_cast<std::size_t>(Counter::lgkm)];
  flight->lds_step = 0;
  flight->lds_count = 0;
  flight->learning.clear();
  flight->deferred.reset();
  flight->waits_vm = counters.vm;
  flight->waits_lgkm = counters.lgkm;
  for_each_bit(facts.use.writes, facts.use.writes, [&](unsigned row) {
    rows_[row] = {serial_, flight->lanes, &facts, false};
    set(pending_, row);
    set(attention_, row);
  });
  if (facts.counted.lgkm)
    for_each_bit(facts.use.scalar_writes, facts.use.scalar_writes, [&](unsigned index) {
      scalars_[index] = {serial_, ~0ull, &facts, false};
      set(scalar_pending_, index);
      set(scalar_attention_, index);
    });
  return *flight;
}

void WaitTracker::drain() {
  for_each_in_order([&](Outstanding& flight) { complete(flight, false); });
  vm_.clear();
  lgkm_.clear();
  unordered_.clear();
}

void WaitTracker::complete(Outstanding& flight, bool by_wait) {
  if (on_complete) on_complete(flight);
  const CountedBy& counters = flight.facts->counted;
  const Completion completion{by_wait ? history_.count() : 0, flight.order,
                              counters.vm ? Counter::vm : Counter::lgkm, counters.in_order};
  const RegisterUse& use = flight.facts->use;
  for_each_bit(use.writes, pending_, [&](unsigned row) {
    if (rows_[row].serial != flight.serial) return;  // a later load writes it as well
    clear(pending_, row);
    row_completions_[row] = completion;
    if (!by_wait) clear(attention_, row);
  });
  for_each_bit(use.scalar_writes, scalar_pending_, [&](unsigned index) {
    if (scalars_[index].serial != flight.serial) return;
    clear(scalar_pending_, index);
    scalar_completions_[index] = completion;
    if (!by_wait) clear(scalar_attention_, index);
  });
  if (flight.lds_step != 0 && counters.vm)
    direct_completed_ = std::max(direct_completed_, flight.lds_step);
  if (!by_wait) return;
  ++sites_.of(current_site_).completed;
  if (!counters.vm ||
      !counters.lgkm) {  // otherwise wait() has recorded each part when it was complete
    lds_part_completes(flight);
    store_completes(flight);
  }
}

void WaitTracker::lds_part_completes(const Outstanding& flight) {
  if (flight.lds_step == 0) return;
  const CountedBy& counters = flight.facts->counted;
  const bool by_lgkm = counters.lgkm;
  const Completion completion{history_.count(),
                              counters.vm && by_lgkm ? flight.lgkm_order : flight.order,
                              by_lgkm ? Counter::lgkm : Counter::vm, counters.in_order};
  note(lds_completed_list_, kMostLds, completion);
  if (!by_lgkm) note(direct_completed_list_, kMostLds, completion);
}

void WaitTracker::store_completes(const Outstanding& flight) {
  const CountedBy& counters = flight.facts->counted;
  if (!flight.facts->form.is_write || !counters.vm) return;
  note(stores_completed_, kMostStores,
       {history_.count(), flight.order, Counter::vm, counters.in_order});
}

void WaitTracker::wait(const InstructionFacts& facts) {
  ++sites_.of(facts.number).executions;
  current_site_ = facts.number;
  history_.add({facts.number, {facts.wait.vm, facts.wait.lgkm}, issued_});
  const auto drain = [&](OutstandingRing& ring, unsigned count) {
    while (ring.size() > count) {
      complete(ring.oldest(), true);
      ring.pop();
    }
  };
  if (facts.wait.vm < kVmCapacity) drain(vm_, facts.wait.vm);
  if (facts.wait.lgkm < kLgkmCapacity) drain(lgkm_, facts.wait.lgkm);
  if (facts.wait.vm != 0 && facts.wait.lgkm != 0) return;
  for (std::size_t n = 0; n < unordered_.size();) {
    Outstanding& flight = unordered_[n];
    if (flight.waits_vm && facts.wait.vm == 0) {
      flight.waits_vm = false;
      store_completes(flight);
    }
    if (flight.waits_lgkm && facts.wait.lgkm == 0) {
      flight.waits_lgkm = false;
      if (flight.facts->counted.vm) lds_part_completes(flight);
      if (flight.waits_vm && flight.lds_step != 0 && on_lds_complete) on_lds_complete(flight);
    }
    if (flight.waits_vm || flight.waits_lgkm) {
      ++n;
      continue;
    }
    complete(flight, true);
    unordered_.erase(unordered_.begin() + static_cast<std::ptrdiff_t>(n));
  }
}

std::uint32_t WaitTracker::lds_completed() const {
  std::uint32_t first = lds_step_ + 1;
  auto& self = const_cast<WaitTracker&>(*this);
  self.for_each_lds_in_flight(
      [&](const Outstanding& flight) { first = std::min(first, flight.lds_step); });
  return first - 1;
}

std::uint64_t WaitTracker::vm_completed() const {
  std::uint64_t first = serial_ + 1;
  auto& self = const_cast<WaitTracker&>(*this);
  if (vm_.size() != 0) first = self.vm_.oldest().serial;
  for (const Outstanding& flight : unordered_)
    if (flight.waits_vm || flight.facts->form.path == MemoryForm::Path::scalar)
      first = std::min(first, flight.serial);
  return first - 1;
}

void WaitTracker::open_barrier() {
  // Something may still rely on what an earlier barrier published, but then also on this barrier:
  // then a wait in between would have sufficed.
  std::vector<Sole> alone;
  const auto publish = [&](const Completion& completion) {
    const Credit credit = history_.credit(completion);
    if (credit.site == kNoSite) return;
    if (credit.sole)
      alone.push_back({completion, credit});
    else
      remember(published_, credit);
  };
  for (const Sole& earlier : published_alone_) publish(earlier.completion);
  for (const Completion& completion : lds_completed_list_) publish(completion);
  lds_completed_list_.clear();
  published_alone_.swap(alone);
}

void WaitTracker::barrier_was_needed(bool sole) {
  for (const Sole& alone : published_alone_) remember(published_, alone.credit);
  published_alone_.clear();
  for (Credit credit : published_) {
    credit.sole &= sole;
    sites_.needed(credit);
  }
  published_.clear();
}

void WaitTracker::release() {
  for (const Completion& completion : stores_completed_) needed(completion);
  stores_completed_.clear();
}

std::vector<Credit> WaitTracker::release_later() {
  std::vector<Credit> credits;
  for (const Completion& completion : stores_completed_)
    if (completion.wait != 0)
      if (const Credit credit = history_.credit(completion); credit.site != kNoSite)
        remember(credits, credit);
  stores_completed_.clear();
  return credits;
}

// ---- Registers ------------------------------------------------------------------------------

void WaitTracker::touch(const InstructionFacts& facts, std::uint64_t exec) {
  const bool all = facts.use.ignores_exec || facts.use.crosses_lanes;
  for_each_bit(facts.touched, attention_,
               [&](unsigned row) { settle_row(row, facts, all ? ~0ull : exec); });
  for_each_bit(facts.scalar_touched, scalar_attention_,
               [&](unsigned index) { settle_scalar(index, facts); });
}

void WaitTracker::settle_row(unsigned row, const InstructionFacts& facts, std::uint64_t exec) {
  if (!test(pending_, row)) {  // complete: something depends on the wait that proved it
    needed(row_completions_[row]);
    clear(attention_, row);
    return;
  }
  const Pending& pending = rows_[row];
  const std::uint64_t lanes = pending.lanes & exec;
  if (lanes == 0) return;
  const bool reads = contains(facts.use.reads, row);
  if (!reads) {
    // Instructions that complete in the same order may be appended.
    const CountedBy &theirs = pending.facts->counted, &own = facts.counted;
    if (theirs.in_order && own.in_order && theirs.vm == own.vm && theirs.lgkm == own.lgkm) return;
  }
  // Consequences of the first error are not reported.
  if (std::exchange(rows_[row].reported, true)) return;
  if (report_) report_early(pending, facts, lanes, reads, register_name(row, accum_offset_));
}

void WaitTracker::settle_scalar(unsigned index, const InstructionFacts& facts) {
  if (!test(scalar_pending_, index)) {
    needed(scalar_completions_[index]);
    clear(scalar_attention_, index);
    return;
  }
  const bool reads = contains(facts.use.scalar_reads, index);
  if (report_)
    report_early(scalars_[index], facts, 0, reads,
                 register_name(kFirstScalarRow + index, accum_offset_));
}

Statement WaitTracker::wait_for(const Pending& pending) {
  const CountedBy& counters = pending.facts->counted;
  if (!counters.in_order)
    return counters.vm ? say<Says::waits_for_both>() : say<Says::waits_for_lgkm>(0);
  OutstandingRing& ring = counters.vm ? vm_ : lgkm_;
  unsigned newer = 0;
  for (unsigned n = 0; n < ring.size(); ++n) newer += ring.at(n).serial > pending.serial;
  return counters.vm ? say<Says::waits_for_vm>(newer) : say<Says::waits_for_lgkm>(newer);
}

void WaitTracker::report_early(const Pending& pending, const InstructionFacts& facts,
                               std::uint64_t lanes, bool reads, const std::string& name) {
  const FindingKind kind = reads ? FindingKind::read_before_wait : FindingKind::write_before_wait;
  if (reporter_.repeat(kind, facts.vaddr, pending.facts->vaddr)) return;
  Finding f;
  f.kind = kind;
  f.message = say<Says::before_wait>(name, reads);
  const auto wave = static_cast<std::int32_t>(wave_);
  const std::int32_t lane = lanes == 0 ? kNoNumber : std::countr_zero(lanes);
  f.accesses = {reporter_.access(reads ? Role::read : Role::write, facts.vaddr, wave, lane),
                reporter_.access(Role::load, pending.facts->vaddr, wave)};
  f.detail = {wait_for(pending)};
  f.fix = Fix::tied_wait;
  reporter_.add(std::move(f));
}

}  // namespace margay::check
