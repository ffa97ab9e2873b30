#include "apps/fuzz/programs/shrink.h"

#include <algorithm>
#include <utility>

namespace margay::fuzz {

namespace {

using Kind = Expression::Kind;
using Block = std::vector<Statement>;

/// Programs compiled and run together: a compiler's start costs as much as several small programs.
constexpr std::size_t kTogether = 32;

/// Whether a block is valid without the loop around it.
bool needs_loop(const Block& block, std::uint32_t counter) {
  bool needs = false;
  Block copy = block;
  visit_block(copy, [&](const Expression& e) {
    needs = needs || (e.kind == Kind::variable && e.index == counter);
  });
  const auto jumps = [](const auto& self, const Block& inside) -> bool {
    return std::ranges::any_of(inside, [&](const Statement& s) {
      return s.kind == Statement::Kind::leave || s.kind == Statement::Kind::skip ||
             std::ranges::any_of(s.blocks, [&](const Block& b) { return self(self, b); });
    });
  };
  return needs || jumps(jumps, block);
}

bool has_jump(const Block& block) { return needs_loop(block, ~0u); }

/// All blocks of a program, outermost first.
std::vector<Block*> blocks_of(Program& program) {
  std::vector<Block*> out;
  const auto add = [&](const auto& self, Block& block) -> void {
    out.push_back(&block);
    for (Statement& s : block)
      for (Block& inner : s.blocks) self(self, inner);
  };
  add(add, program.body);
  for (Helper& h : program.helpers) add(add, h.body);
  return out;
}

std::vector<Expression*> expressions_of(Program& program) {
  std::vector<Expression*> out;
  const auto add = [&](Expression& e) { out.push_back(&e); };
  visit_block(program.body, add);
  for (Helper& h : program.helpers) {
    visit_expression(h.value, add);
    visit_block(h.body, add);
    for (Variable& v : h.variables) visit_expression(v.initial, add);
  }
  for (Variable& v : program.variables) visit_expression(v.initial, add);
  return out;
}

/// Possible replacements of one statement.
std::vector<Block> replacements(const Statement& s) {
  std::vector<Block> out = {{}};
  switch (s.kind) {
    case Statement::Kind::branch:
      out.push_back(s.blocks[0]);
      if (!s.blocks[1].empty()) {
        out.push_back(s.blocks[1]);
        Statement bare = s;
        bare.blocks[1].clear();
        out.push_back({bare});
      }
      break;
    case Statement::Kind::loop:
      if (!needs_loop(s.blocks[0], s.target)) out.push_back(s.blocks[0]);
      break;
    case Statement::Kind::choose:
      for (const Block& block : s.blocks)
        if (!has_jump(block)) out.push_back(block);
      for (std::size_t n = 0; n < s.blocks.size() && s.blocks.size() > 1; ++n) {
        Statement fewer = s;
        fewer.blocks.erase(fewer.blocks.begin() + static_cast<std::ptrdiff_t>(n));
        out.push_back({fewer});
      }
      break;
    default:
      break;
  }
  return out;
}

/// Possible replacements of one expression.
std::vector<Expression> replacements(const Expression& e) {
  std::vector<Expression> out;
  if (e.kind == Kind::constant) {
    for (const std::uint64_t bits : {0, 1})
      if (e.bits > bits) out.push_back({.kind = Kind::constant, .type = e.type, .bits = bits});
    return out;
  }
  out.push_back({.kind = Kind::constant, .type = e.type, .bits = 0});
  if (is_integer(e.type)) out.push_back({.kind = Kind::constant, .type = e.type, .bits = 1});
  for (const Expression& argument : e.arguments)
    if (argument.type == e.type) out.push_back(argument);
  // Grandchildren of the type, through conversions.
  for (const Expression& argument : e.arguments)
    for (const Expression& inner : argument.arguments)
      if (argument.type != e.type && inner.type == e.type) out.push_back(inner);
  return out;
}

void without_statements(const Program& program, std::vector<Program>& out) {
  Program original = program;
  const auto blocks = blocks_of(original);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t s = 0; s < blocks[b]->size(); ++s) {
      for (const Block& instead : replacements((*blocks[b])[s])) {
        Program candidate = program;
        Block& block = *blocks_of(candidate)[b];
        const auto at = block.erase(block.begin() + static_cast<std::ptrdiff_t>(s));
        block.insert(at, instead.begin(), instead.end());
        out.push_back(std::move(candidate));
      }
    }
    if (blocks[b]->size() < 3) continue;
    for (const bool first : {true, false}) {  // half a block at once
      Program candidate = program;
      Block& block = *blocks_of(candidate)[b];
      const auto middle = block.begin() + static_cast<std::ptrdiff_t>(block.size() / 2);
      first ? block.erase(block.begin(), middle) : block.erase(middle, block.end());
      out.push_back(std::move(candidate));
    }
  }
}

void with_simpler_expressions(const Program& program, std::vector<Program>& out) {
  Program original = program;
  const auto expressions = expressions_of(original);
  for (std::size_t n = 0; n < expressions.size(); ++n) {
    for (const Expression& instead : replacements(*expressions[n])) {
      Program candidate = program;
      *expressions_of(candidate)[n] = instead;
      out.push_back(std::move(candidate));
    }
  }
}

/// Removes arrays that are no longer used.
void drop_unused_arrays(Program& program) {
  for (std::size_t n = program.arrays.size(); n-- != 0;) {
    bool used = false;
    for (const Expression* e : expressions_of(program))
      used = used || (e->kind == Kind::element && e->index == n);
    const auto targets = [&](Statement& s) {
      return s.kind == Statement::Kind::store || s.kind == Statement::Kind::atomic ? &s.target
                                                                                   : nullptr;
    };
    for (Block* block : blocks_of(program))
      for (Statement& s : *block)
        if (const auto* target = targets(s)) used = used || *target == n;
    if (used) continue;
    program.arrays.erase(program.arrays.begin() + static_cast<std::ptrdiff_t>(n));
    for (Expression* e : expressions_of(program))
      if (e->kind == Kind::element && e->index > n) --e->index;
    for (Block* block : blocks_of(program))
      for (Statement& s : *block)
        if (auto* target = targets(s); target != nullptr && *target > n) --*target;
  }
}

void drop_unused_helpers(Program& program) {
  for (std::size_t n = program.helpers.size(); n-- != 0;) {
    bool used = false;
    for (const Expression* e : expressions_of(program))
      used = used || (e->kind == Kind::call && e->index == n) ||
             (e->kind == Kind::choice && (e->index == n || e->bits == n));
    if (used) continue;
    program.helpers.erase(program.helpers.begin() + static_cast<std::ptrdiff_t>(n));
    for (Expression* e : expressions_of(program)) {
      if ((e->kind == Kind::call || e->kind == Kind::choice) && e->index > n) --e->index;
      if (e->kind == Kind::choice && e->bits > n) --e->bits;
    }
  }
}

std::vector<Program> candidates_of(const Program& program) {
  std::vector<Program> out;
  for (std::size_t n = 0; n < program.results.size(); ++n) {
    Program candidate = program;
    candidate.results.erase(candidate.results.begin() + static_cast<std::ptrdiff_t>(n));
    out.push_back(std::move(candidate));
  }
  if (program.registers != 0) {
    Program candidate = program;
    candidate.registers = 0;
    out.push_back(std::move(candidate));
  }
  without_statements(program, out);
  with_simpler_expressions(program, out);
  for (Program& candidate : out) {
    drop_unused_arrays(candidate);
    drop_unused_helpers(candidate);
  }
  const std::size_t size = size_of(program);
  std::erase_if(out, [&](const Program& p) { return size_of(p) >= size; });
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t n = 0; n < out.size(); ++n) order.emplace_back(size_of(out[n]), n);
  std::ranges::sort(order);
  std::vector<Program> sorted;
  for (const auto& [size_here, n] : order) sorted.push_back(std::move(out[n]));
  return sorted;
}

}  // namespace

std::size_t size_of(const Program& program) {
  Program copy = program;
  std::size_t size = copy.results.size() + (copy.registers != 0 ? 1 : 0) + 4 * copy.arrays.size();
  for (const Expression* e : expressions_of(copy))
    size += e->kind == Kind::constant ? (e->bits == 0 ? 1 : e->bits == 1 ? 2 : 3) : 5;
  for (const Block* block : blocks_of(copy)) size += 2 + 4 * block->size();
  return size;
}

Result<Shrunk> shrink(const Program& failing, const StillFails& still_fails, unsigned limit) {
  Shrunk out{.program = failing};
  for (;;) {
    const std::vector<Program> candidates = candidates_of(out.program);
    bool smaller = false;
    for (std::size_t from = 0; from < candidates.size() && !smaller; from += kTogether) {
      const auto some =
          std::span(candidates).subspan(from, std::min(kTogether, candidates.size() - from));
      if (out.tried >= limit) return out;
      out.tried += static_cast<unsigned>(some.size());
      const std::vector<bool> fails = MARGAY_TRY(still_fails(some));
      const auto first = std::ranges::find(fails, true);  // they are in order of size
      if (first == fails.end()) continue;
      out.program = some[static_cast<std::size_t>(first - fails.begin())];
      ++out.steps;
      smaller = true;
    }
    if (!smaller) return out;
  }
}

}  // namespace margay::fuzz
