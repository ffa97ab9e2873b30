// The paths from one access to another follow the structure of the source: straight on, and around
// each loop that contains both, unless a return, break or continue leads away from them. A path is
// a sequence of gaps, the positions before the statements that it passes; a barrier is missing in
// the gaps that cut all paths without one.
#include "observe/check/findings/barrier_place.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace margay::check {
namespace {

using Kind = SourceNode::Kind;

// ---- Positions in one function ----------------------------------------------------------------

/// A call chain from the kernel inwards.
std::vector<SourceFrame> outermost_first(const std::vector<SourceFrame>& frames,
                                         std::uint32_t called) {
  const std::size_t inner = std::min<std::size_t>(std::size_t{called} + 1, frames.size());
  std::vector<SourceFrame> chain(frames.rbegin(),
                                 frames.rend() - static_cast<std::ptrdiff_t>(inner));
  chain.insert(chain.end(), frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(inner));
  return chain;
}

bool same_function(const SourceFrame& a, const SourceFrame& b) {
  return a.function == b.function && a.file == b.file;
}

bool same_place(const SourceFrame& a, const SourceFrame& b) {
  return same_function(a, b) && a.line == b.line && a.column == b.column;
}

/// A function that contains both accesses, directly or through calls.
struct Level {
  SourceFrame earlier, later;
};

/// The kernel first. The user's own functions only: barriers are not added to libraries.
std::vector<Level> common_levels(const Access& earlier, const Access& later) {
  const auto user_part = [](const Access& access) {
    auto chain = outermost_first(access.frames, access.called);
    const std::size_t library =
        chain.empty() ? 0 : std::min<std::size_t>(access.called, chain.size() - 1);
    chain.resize(chain.size() - library);
    return chain;
  };
  const auto a = user_part(earlier), b = user_part(later);
  std::vector<Level> levels;
  for (std::size_t n = 0; n < std::min(a.size(), b.size()) && same_function(a[n], b[n]); ++n) {
    if (a[n].line == 0 || b[n].line == 0) break;
    levels.push_back({a[n], b[n]});
    if (!same_place(a[n], b[n])) break;
  }
  return levels;
}

// ---- Ways -------------------------------------------------------------------------------------

/// A list of statements and an index into it.
struct Step {
  const SourceNode* node;
  std::size_t index;
};
using Steps = std::vector<Step>;

Steps steps_to(const SourceNode& root, SourcePosition at) {
  Steps steps;
  for (const SourceNode* node = &root; node != nullptr;) {
    const SourceNode* next = nullptr;
    for (std::size_t n = 0; n < node->children.size(); ++n) {
      const SourceNode& child = node->children[n];
      const bool inside = at.column != 0 ? child.contains(at)
                                         : child.begin.line <= at.line && at.line <= child.end.line;
      if (!inside) continue;
      steps.push_back({node, n});
      next = &child;
      break;
    }
    node = next;
  }
  return steps;
}

bool are_same(const Steps& a, const Steps& b) {
  return std::ranges::equal(
      a, b, [](const Step& x, const Step& y) { return x.node == y.node && x.index == y.index; });
}

/// The gaps from `first` to `last`, both included; gap n is in front of statement n.
struct Stretch {
  const SourceNode* list;
  std::size_t first, last;
  bool is_conditional;  ///< Inside a branch that the other access is not in.
};

struct Way {
  std::vector<Stretch> stretches;
  bool is_around = false;  ///< A loop, to its next iteration.
};

/// How control continues after a statement, given its steps.
struct Departure {
  std::vector<bool> passes_rest;  ///< Of the list.
  std::vector<bool> turns;        ///< Whether the path goes around the loop.
};

using Jump = SourceNode::Jump;

/// The first jump in the list from statement `from` on.
Jump jump_of(const SourceNode& list, std::size_t from) {
  if (!list.is_list()) return Jump::none;
  for (std::size_t n = from; n < list.children.size(); ++n)
    if (list.children[n].jump != Jump::none) return list.children[n].jump;
  return Jump::none;
}

Departure departure_from(const Steps& steps) {
  Departure departure{std::vector<bool>(steps.size(), true), std::vector<bool>(steps.size(), true)};
  for (std::size_t n = steps.size(); n-- > 0;) {
    const Jump jump = jump_of(*steps[n].node, steps[n].index);
    if (jump == Jump::none) continue;
    const Kind target = jump == Jump::out_of_function ? Kind::statement : Kind::loop;
    std::size_t left = n;
    while (left > 0 && steps[left].node->kind != target) --left;
    for (std::size_t k = left; k <= n; ++k) {
      if (k < n) departure.passes_rest[k] = false;
      if (jump != Jump::to_next_turn) departure.turns[k] = false;
    }
    n = left;
  }
  return departure;
}

/// `departure` if the path goes to the ends of the lists; null: from their beginnings.
void add_below(Way& way, const Steps& steps, std::size_t from, const Departure* departure) {
  const bool to_end = departure != nullptr;
  bool is_conditional = false;
  for (std::size_t n = from; n < steps.size(); ++n) {
    const SourceNode& node = *steps[n].node;
    is_conditional |= node.kind == Kind::arm;
    if (!node.is_list() || (to_end && !departure->passes_rest[n])) continue;
    if (to_end)
      way.stretches.push_back({&node, steps[n].index + 1, node.children.size(), is_conditional});
    else
      way.stretches.push_back({&node, 0, steps[n].index, is_conditional});
  }
}

std::vector<Way> ways_between(const Steps& earlier, const Steps& later) {
  std::size_t parting = 0;  // the first list in which they are in different statements
  while (parting < std::min(earlier.size(), later.size()) &&
         earlier[parting].index == later[parting].index)
    ++parting;
  const Departure departure = departure_from(earlier);
  std::vector<Way> ways;
  const auto complete = [&](Way way, std::size_t turn) {
    add_below(way, earlier, turn + 1, &departure);
    add_below(way, later, turn + 1, nullptr);
    ways.push_back(std::move(way));
  };
  const bool they_part = parting < std::min(earlier.size(), later.size());
  if (they_part && earlier[parting].node->is_list() && departure.passes_rest[parting] &&
      earlier[parting].index < later[parting].index)
    complete({.stretches = {{earlier[parting].node, earlier[parting].index + 1,
                             later[parting].index, false}}},
             parting);
  const std::size_t shared = they_part ? parting + 1 : std::min(earlier.size(), later.size());
  for (std::size_t n = 0; n < shared; ++n) {
    const SourceNode& node = *earlier[n].node;
    if (node.kind != Kind::loop || !departure.turns[n]) continue;
    Way way{.stretches = {{&node, 0, later[n].index, false}}, .is_around = true};
    if (departure.passes_rest[n])
      way.stretches.push_back({&node, earlier[n].index + 1, node.children.size(), false});
    complete(std::move(way), n);
  }
  return ways;
}

/// Whether the path passes the statement.
bool passes(const Way& way, const Steps& barrier) {
  for (std::size_t n = 0; n < barrier.size(); ++n) {
    const bool on_the_way = std::ranges::any_of(way.stretches, [&](const Stretch& stretch) {
      return stretch.list == barrier[n].node && stretch.first <= barrier[n].index &&
             barrier[n].index < stretch.last;
    });
    if (!on_the_way) continue;
    return std::none_of(barrier.begin() + static_cast<std::ptrdiff_t>(n) + 1, barrier.end(),
                        [](const Step& step) { return step.node->kind == Kind::arm; });
  }
  return false;
}

struct Gap {
  const SourceNode* list;
  std::size_t index;

  friend auto operator<=>(const Gap&, const Gap&) = default;
};

/// Whether some of the waves that execute the statement may not continue after it.
bool may_jump(const SourceNode& node, bool is_in_inner_loop = false) {
  if (node.jump == Jump::out_of_function) return true;
  if (node.jump != Jump::none) return !is_in_inner_loop;
  if (node.kind == Kind::statement) return false;  // a jump in a lambda stays in it
  return std::ranges::any_of(node.children, [&](const SourceNode& child) {
    return may_jump(child, is_in_inner_loop || node.kind == Kind::loop);
  });
}

/// None after a statement on the path that some waves may not return from.
std::set<Gap> gaps_of(const Way& way) {
  std::set<Gap> gaps;
  for (const Stretch& stretch : way.stretches) {
    if (stretch.is_conditional) continue;
    if (stretch.list->kind != Kind::block && stretch.list->close.line == 0) continue;
    for (std::size_t n = stretch.first; n <= stretch.last; ++n) {
      gaps.insert({stretch.list, n});
      if (n < stretch.last && may_jump(stretch.list->children[n])) break;
    }
  }
  return gaps;
}

bool is_cut(const Way& way, const std::vector<Steps>& barriers) {
  return std::ranges::any_of(barriers, [&](const Steps& b) { return passes(way, b); });
}

/// The gaps that cut every path without a barrier.
std::set<Gap> cuts(std::vector<Way> ways, const std::vector<Steps>& barriers) {
  std::vector<Way> open;
  std::ranges::copy_if(ways, std::back_inserter(open),
                       [&](const Way& way) { return !is_cut(way, barriers); });
  if (open.empty()) open = std::move(ways);
  if (open.empty()) return {};
  std::set<Gap> common = gaps_of(open.front());
  for (const Way& way : open) {
    const std::set<Gap> others = gaps_of(way);
    std::erase_if(common, [&](const Gap& gap) { return !others.contains(gap); });
  }
  return common;
}

// ---- Choosing ---------------------------------------------------------------------------------

/// The paths of one finding in one file.
struct Candidates {
  Finding* finding;
  std::string file;
  std::set<Gap> gaps;
  bool called_in_branch = false;  ///< By a function further out.
  bool same_turn = false;  ///< Different iterations of the loop around both are ordered; accesses
                           ///< of one iteration are not.
};

/// Whether all paths around loops are cut, with at least one such path, and the straight path is
/// not.
bool only_straight_is_open(const std::vector<Way>& ways, const std::vector<Steps>& barriers) {
  return ways.size() > 1 && !ways.front().is_around && !is_cut(ways.front(), barriers) &&
         std::all_of(ways.begin() + 1, ways.end(),
                     [&](const Way& way) { return is_cut(way, barriers); });
}

unsigned loops_around(const SourceNode& root, const SourceNode* list) {
  unsigned loops = 0;
  for (const Step& step : steps_to(root, list->begin)) {
    if (step.node->kind == Kind::loop) ++loops;
    if (step.node == list) return loops;
  }
  return loops + (list->kind == Kind::loop ? 1 : 0);
}

/// Whether only waves get there for which a condition holds.
bool has_arm(const Steps& steps) {
  return std::ranges::any_of(steps, [](const Step& step) { return step.node->kind == Kind::arm; });
}

bool is_in_arm(const SourceNode& root, const Gap& gap) {
  return gap.list->kind == Kind::arm || has_arm(steps_to(root, gap.list->begin));
}

SourcePosition position_of(const Gap& gap) {
  return gap.index < gap.list->children.size() ? gap.list->children[gap.index].begin
                                               : gap.list->close;
}

FixPlace place_of(const std::string& file, const Gap& gap) {
  const SourcePosition at = position_of(gap);
  const bool is_end = gap.index == gap.list->children.size() && gap.list->kind == Kind::loop;
  return {file, at.line, at.column, is_end ? gap.list->begin.line : 0};
}

/// `no_way` becomes true if the functions are known and no path leads from one to the other.
Candidates candidates_of(Finding& finding, const Access& earlier, const Access& later,
                         std::span<const BarrierChain> barriers, SourceFiles& files, bool& no_way) {
  Candidates found;
  found.finding = &finding;
  const auto levels = common_levels(earlier, later);
  no_way = !levels.empty();
  // Innermost first: further out both are in the same call, and only the loops around it matter.
  for (auto level = levels.rbegin(); level != levels.rend() && found.gaps.empty(); ++level) {
    const SourceText* const source = files.find(level->earlier.file);
    no_way &= source != nullptr;
    if (source == nullptr) continue;
    const auto steps = [&](const SourceFrame& frame) {
      return steps_to(source->root, {frame.line, frame.column});
    };
    std::vector<Steps> barrier_steps;
    for (const BarrierChain& chain : barriers)
      for (const SourceFrame& frame : outermost_first(chain.frames, chain.called))
        if (same_function(frame, level->earlier) && frame.line != 0)
          barrier_steps.push_back(steps(frame));
    const Steps from = steps(level->earlier), to = steps(level->later);
    std::vector<Way> ways = ways_between(from, to);
    // Every turn of the loops around the statement ends at a barrier: it races with itself.
    if (level == levels.rbegin() && !ways.empty() && are_same(from, to) &&
        std::ranges::all_of(ways, [&](const Way& way) { return is_cut(way, barrier_steps); }))
      return found;
    no_way &= ways.empty();
    found.same_turn = only_straight_is_open(ways, barrier_steps);
    found.file = level->earlier.file;
    found.called_in_branch =
        std::any_of(levels.begin(), std::prev(level.base()), [&](const Level& outer) {
          const SourceText* const caller = files.find(outer.earlier.file);
          return caller != nullptr &&
                 has_arm(steps_to(caller->root, {outer.earlier.line, outer.earlier.column}));
        });
    found.gaps = cuts(std::move(ways), barrier_steps);
  }
  return found;
}

/// Whether each wave executes both accesses in one statement. No barrier fits between them there.
bool in_one_statement(const Access& a, const Access& b, SourceFiles& files) {
  const auto levels = common_levels(a, b);
  const SourceText* const source =
      levels.empty() ? nullptr : files.find(levels.back().earlier.file);
  if (source == nullptr) return false;
  const auto steps = [&](const SourceFrame& frame) {
    return steps_to(source->root, {frame.line, frame.column});
  };
  return are_same(steps(levels.back().earlier), steps(levels.back().later));
}

/// Of accesses that no path leads from one to the other.
Fix fix_without_barrier(const Access& a, const Access& b, SourceFiles& files) {
  const auto is = [](const Access& access, Role role) { return access.role == role; };
  if (!in_one_statement(a, b, files)) return Fix::hand_over;
  if (is(a, Role::write) && is(b, Role::write)) return Fix::own_bytes;
  const bool reads_and_writes =
      (is(a, Role::read) && is(b, Role::write)) || (is(a, Role::write) && is(b, Role::read));
  return reads_and_writes ? Fix::split_statement : Fix::hand_over;
}

/// The progress of the waves suggests which access comes first in the program; if no path leads
/// from that one to the other, the order is reversed. If no path leads back either, waves take
/// different branches, and no barrier is on the paths of both.
Candidates candidates_of(Finding& finding, std::span<const BarrierChain> barriers,
                         SourceFiles& files) {
  bool no_way = false, no_way_back = false;
  const Access &later = finding.accesses[0], &earlier = finding.accesses[1];
  Candidates found = candidates_of(finding, earlier, later, barriers, files, no_way);
  if (!found.gaps.empty() || !no_way) return found;
  found = candidates_of(finding, later, earlier, barriers, files, no_way_back);
  if (no_way_back) finding.fix = fix_without_barrier(earlier, later, files);
  return found;
}

/// The criteria for a gap: the number of findings it fixes, few loops around it, the end of a loop
/// (which reads as "all waves are done"), and otherwise closeness to the later access.
auto merit(const Gap& gap, const SourceNode& root, std::size_t covered) {
  const bool is_end = gap.index == gap.list->children.size() && gap.list->kind == Kind::loop;
  return std::make_tuple(covered, -static_cast<int>(loops_around(root, gap.list)), is_end,
                         position_of(gap));
}

}  // namespace

const SourceText* SourceFiles::find(const std::string& path) {
  const auto [at, fresh] = files_.try_emplace(path);
  if (fresh) at->second = read_source(path);
  return at->second ? &*at->second : nullptr;
}

void SourceFiles::add(const std::string& path, std::string text) {
  SourceNode root = parse_source(text);
  files_[path] = SourceText{std::move(text), std::move(root)};
}

void place_barriers(std::span<Finding> findings, std::span<const BarrierChain> barriers,
                    SourceFiles& files) {
  std::vector<Candidates> open;
  for (Finding& finding : findings) {
    if (finding.fix != Fix::barrier || finding.accesses.size() < 2) continue;
    Candidates candidates = candidates_of(finding, barriers, files);
    if (!candidates.gaps.empty()) open.push_back(std::move(candidates));
  }
  while (!open.empty()) {
    std::map<std::pair<std::string, Gap>, std::size_t> coverage;
    for (const Candidates& one : open)
      for (const Gap& gap : one.gaps) ++coverage[{one.file, gap}];
    const auto best = std::ranges::max_element(coverage, {}, [&](const auto& entry) {
      return merit(entry.first.second, files.find(entry.first.first)->root, entry.second);
    });
    const auto [file, gap] = best->first;
    std::erase_if(open, [&](const Candidates& one) {
      if (one.file != file || !one.gaps.contains(gap)) return false;
      one.finding->fix_place = place_of(file, gap);
      if (one.same_turn && one.finding->moves)
        one.finding->fix = Fix::stage;
      else if (one.called_in_branch || is_in_arm(files.find(file)->root, gap))
        one.finding->fix = Fix::branch_barrier;
      return true;
    });
  }
}

}  // namespace margay::check
