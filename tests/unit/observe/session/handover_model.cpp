#include "handover_model.h"

#include <algorithm>
#include <array>
#include <istream>
#include <map>
#include <sstream>

namespace margay::check {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Rule::count)> kNames = {
    "barriers",
    "ended-waves",
    "polls",
    "returned-values",
    "release-sequences",
    "stores-begin-anew",
    "failures-are-reads",
    "releases-by-value",
    "lds-when-complete",
    "global-when-issued",
    "global-when-complete",
    "plain-stores-stay",
    "write-backs",
    "write-backs-complete",
    "write-backs-of-agent",
    "invalidations",
    "invalidations-of-agent",
    "atomics-do-not-race",
    "workgroup-scope",
    "agent-scope",
};

constexpr int kAnyGroup = -1;
constexpr std::size_t kRecords = 3072 / 4;  // random_sync.py

[[nodiscard]] std::uint32_t record_in(HandoverModel::Results results, int record) {
  return results[kRecords + static_cast<std::size_t>(record)];
}

}  // namespace

std::string_view rule_name(Rule rule) { return kNames[static_cast<std::size_t>(rule)]; }

// ---- Reading --------------------------------------------------------------------------------

HandoverModel::HandoverModel(std::istream& lines) {
  for (std::string line; lines.peek() != 'k' && std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    read(kind, words);
  }
}

HandoverModel::Guard HandoverModel::read_guard(std::istream& words) {
  std::string text;
  words >> text;
  if (text == "-") return {};
  const std::size_t equals = text.find('=');
  const std::string value = text.substr(equals + 1);
  return {std::stoi(text.substr(0, equals)),
          value == "*" ? 0 : static_cast<std::uint32_t>(std::stoul(value))};
}

void HandoverModel::read(const std::string& kind, std::istream& words) {
  if (kind == "nodes") {
    for (int group; words >> group;) groups_.push_back(group);
  } else if (kind == "edges") {
    Edges& edges = edges_.emplace_back();
    words >> edges.kind;
    for (int from, to; words >> from >> to;) edges.pairs.emplace_back(from, to);
  } else if (kind == "access") {
    Access& a = accesses_.emplace_back();
    int wave = 0;
    words >> a.mark >> a.group >> wave >> a.space >> a.write >> a.scope >> a.issue >> a.done >>
        a.release;
    a.wave = std::to_string(a.group) + "_" + std::to_string(wave);
    a.guard = read_guard(words);
    for (std::size_t begin = 0, end = 0; words >> begin;) {
      words.ignore();  // the colon
      words >> end;
      words.ignore();
      for (; begin < end; ++begin) a.bytes.set(begin);
    }
  } else if (kind == "inv") {
    Invalidation& inv = invalidations_.emplace_back();
    words >> inv.node >> inv.agent;
    inv.guard = read_guard(words);
  } else if (kind == "wb") {
    WriteBack& wb = write_backs_.emplace_back();
    words >> wb.issue >> wb.done >> wb.agent;
    wb.guard = read_guard(words);
  } else if (kind == "poll") {
    Poll& poll = polls_.emplace_back();
    words >> poll.scope >> poll.node;
    for (int post; words >> post;) poll.posts.push_back(post);
  } else if (kind == "atomic") {
    Atomic& a = atomics_.emplace_back();
    std::string operation;
    words >> a.access >> a.word >> operation >> a.operand >> a.other >> a.record >> a.node;
    a.operation = operation == "add"    ? Operation::add
                  : operation == "swap" ? Operation::swap
                  : operation == "cas"  ? Operation::cas
                                        : Operation::store;
  }
}

// ---- What happened --------------------------------------------------------------------------

bool HandoverModel::Guard::holds(Results results) const {
  if (record == kNone) return true;
  const std::uint32_t returned = record_in(results, record);
  return value == 0 ? returned != 0 : returned == value;
}

HandoverModel::Outcome HandoverModel::outcome(Results results) const {
  Outcome out;
  for (const Atomic& a : atomics_) {
    if (a.record == kNone || record_in(results, a.record) == 0) continue;
    ++out.returned;
    out.failed += a.operation == Operation::cas &&
                  record_in(results, a.record) - 256 != static_cast<std::uint32_t>(a.other);
  }
  return out;
}

/// One run of the kernel, by some rules.
class HandoverModel::Run {
 public:
  Run(const HandoverModel& model, Results results, Rules left_out)
      : m_(model), results_(results), left_out_(left_out), next_(model.groups_.size()) {
    for (const Edges& edges : m_.edges_) {
      if (edges.kind == "barrier" && !is(Rule::barriers)) continue;
      if (edges.kind == "ended" && !(is(Rule::barriers) && is(Rule::ended_waves))) continue;
      for (const auto& [from, to] : edges.pairs) edge(from, to);
    }
    if (is(Rule::polls))
      for (const Poll& poll : m_.polls_)
        for (const int post : poll.posts) hand_over(m_.accesses_[post], poll.scope, poll.node);
    if (is(Rule::returned_values)) add_returned_values();
  }

  [[nodiscard]] bool race(const Access& x, const Access& y) {
    const bool same = x.group == y.group;
    if (x.wave == y.wave || x.space != y.space || !(x.write || y.write) ||
        (x.space == "lds" && !same) || (x.bytes & y.bytes).none())
      return false;
    const int enough = !is(Rule::workgroup_scope) ? 2 : same || !is(Rule::agent_scope) ? 1 : 2;
    if (is(Rule::atomics_do_not_race) && x.scope >= enough && y.scope >= enough) return false;
    return !ordered(x, y) && !ordered(y, x);
  }

 private:
  using Nodes = std::vector<bool>;

  [[nodiscard]] bool is(Rule rule) const { return !left_out_[static_cast<std::size_t>(rule)]; }
  void edge(int from, int to) { next_[from].push_back(to); }
  /// From a release to `node`, which has read what it left with a `scope`.
  void hand_over(const Access& release, int scope, int node) {
    const bool same = m_.groups_[node] == release.group;
    if (same || !is(Rule::agent_scope) || (release.scope == 2 && scope == 2))
      edge(release.release, node);
  }

  /// What an atomic that ran did to its word.
  struct Change {
    const Atomic* atomic = nullptr;
    int old = kNone, fresh = kNone;  // kNone: not known, nothing
  };
  void add_returned_values() {
    std::map<std::string, std::vector<Change>> words;
    for (const Atomic& a : m_.atomics_)
      if (m_.accesses_[a.access].guard.holds(results_)) words[a.word].push_back(change(a));
    for (auto& [word, changes] : words) {
      find_the_missing(changes);
      for (const Change& reader : changes)
        if (reader.atomic->node != kNone) acquire(changes, reader);
    }
  }
  [[nodiscard]] Change change(const Atomic& a) const {
    if (a.operation == Operation::store) return {&a, kNone, a.operand};
    const int old =
        a.record != kNone ? static_cast<int>(record_in(results_, a.record)) - 256 : a.other;
    if (a.operation == Operation::swap) return {&a, old, a.operand};
    if (a.operation == Operation::cas) return {&a, old, old == a.other ? a.operand : kNone};
    return {&a, old, old == kNone ? kNone : old + a.operand};
  }
  /// An addition of 1 that returned nothing found what no other one found.
  static void find_the_missing(std::vector<Change>& changes) {
    for (Change& one : changes) {
      if (one.atomic->operation != Operation::add || one.old != kNone) continue;
      one.old = 0;
      while (std::ranges::count(changes, one.old, &Change::old) > 1) ++one.old;
      one.fresh = one.old + 1;
    }
  }
  /// Back from what `reader` found, over what atomics made it of.
  void acquire(const std::vector<Change>& changes, const Change& reader) {
    // Not longer than there are changes: without a rule the way back may be a circle.
    int value = reader.old;
    for (std::size_t n = 0; n < changes.size(); ++n) {
      const auto by = std::ranges::find_if(
          changes, [&](const Change& c) { return c.fresh == value && c.fresh != kNone; });
      if (!is(Rule::failures_are_reads))
        for (const Change& c : changes)
          if (c.fresh == kNone && c.old == value && c.atomic != reader.atomic)
            hand_over(m_.accesses_[c.atomic->access], 2, reader.atomic->node);
      if (by == changes.end()) return;
      hand_over(m_.accesses_[by->atomic->access], 2, reader.atomic->node);
      if (!is(Rule::release_sequences)) return;
      if (by->atomic->operation == Operation::store) {
        if (is(Rule::stores_begin_anew)) return;
        value = hidden(changes);
      } else {
        value = by->old;
      }
    }
  }

  /// What the word held before its store: nothing found it there, nor is it there at the end.
  [[nodiscard]] int hidden(const std::vector<Change>& changes) const {
    const std::string& word = changes.front().atomic->word;
    const auto at = std::stoul(word.substr(word.find('.') + 1)) / 4;
    std::vector<int> values = {0};
    for (const Change& c : changes) values.push_back(c.fresh);
    for (const int value : values)
      if (value != kNone && value != static_cast<int>(results_[at]) &&
          std::ranges::find(changes, value, &Change::old) == changes.end())
        return value;
    return 0;
  }

  /// All nodes on paths from `starts`; in one workgroup unless it is kAnyGroup.
  [[nodiscard]] Nodes reach(const std::vector<int>& starts, int group) const {
    Nodes seen(next_.size());
    std::vector<int> todo;
    for (const int start : starts) {
      if (seen[start]) continue;
      seen[start] = true;
      todo.push_back(start);
    }
    while (!todo.empty()) {
      const int at = todo.back();
      todo.pop_back();
      for (const int node : next_[at]) {
        if (seen[node] || (group != kAnyGroup && m_.groups_[node] != group)) continue;
        seen[node] = true;
        todo.push_back(node);
      }
    }
    return seen;
  }

  /// Where the effect of `x` is certain for accesses of its workgroup, or of others.
  [[nodiscard]] std::vector<int> starts(const Access& x, bool same) const {
    std::vector<int> out;
    if (x.space == "lds") {
      out.push_back(is(Rule::lds_when_complete) ? x.done : x.issue);
    } else if (same) {
      out.push_back(is(Rule::global_when_issued) ? x.issue : x.done);
    } else {
      const Nodes from_issue = reach({x.issue}, x.group);
      if (is(Rule::write_backs))
        for (const WriteBack& wb : m_.write_backs_)
          if (from_issue[wb.issue] && wb.guard.holds(results_) &&
              (wb.agent || !is(Rule::write_backs_of_agent)))
            out.push_back(is(Rule::write_backs_complete) ? wb.done : wb.issue);
      if (x.scope == 2 || !x.write || !is(Rule::plain_stores_stay))
        out.push_back(is(Rule::global_when_complete) ? x.done : x.issue);
    }
    if (is(Rule::releases_by_value)) out.push_back(x.release);
    std::erase(out, kNone);
    return out;
  }

  /// x before y.
  [[nodiscard]] bool ordered(const Access& x, const Access& y) const {
    const bool same = x.group == y.group;
    const Nodes seen = reach(starts(x, same), same ? x.group : kAnyGroup);
    if (same || y.write || y.scope == 2 || !is(Rule::invalidations)) return seen[y.issue];
    std::vector<int> invalidations;
    for (const Invalidation& inv : m_.invalidations_)
      if (seen[inv.node] && m_.groups_[inv.node] == y.group && inv.guard.holds(results_) &&
          (inv.agent || !is(Rule::invalidations_of_agent)))
        invalidations.push_back(inv.node);
    return reach(invalidations, y.group)[y.issue];
  }

  const HandoverModel& m_;
  const Results results_;
  const Rules left_out_;
  std::vector<std::vector<int>> next_;
};

HandoverModel::Pairs HandoverModel::races(Results results, Rules left_out) const {
  std::vector<const Access*> ran;
  for (const Access& access : accesses_)
    if (access.guard.holds(results)) ran.push_back(&access);
  Run run(*this, results, left_out);
  Pairs out;
  for (std::size_t n = 0; n < ran.size(); ++n)
    for (std::size_t k = n + 1; k < ran.size(); ++k)
      if (run.race(*ran[n], *ran[k])) out.emplace(ran[n]->mark, ran[k]->mark);
  return out;
}

}  // namespace margay::check
