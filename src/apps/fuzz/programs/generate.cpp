#include "apps/fuzz/programs/generate.h"

#include <algorithm>
#include <utility>

#include "apps/fuzz/programs/rules.h"

namespace margay::fuzz {

namespace {

using Kind = Expression::Kind;

/// What may be used at one point of a function.
struct Scope {
  std::vector<Variable>* variables = nullptr;
  std::vector<std::uint32_t> visible = {};  ///< Variables that can be read here.
  bool in_helper = false;
  bool uniform = false;  ///< Prefer what is the same for all work-items: scalar instructions.
  unsigned loops = 0;    ///< How many are around this place.
  bool breakable = false;
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) { program_.seed = seed; }
  Program make();

 private:
  Type any_type();
  Expression constant(Type type);
  Expression input(Type type);
  Expression leaf(Type type, const Scope& scope);
  Expression expression(Type type, unsigned depth, const Scope& scope);
  Expression from_place(Type type, unsigned depth, const Scope& scope);
  Expression reduced(Type type, const Scope& scope);

  Statement assignment(const Scope& scope);
  Statement statement(unsigned depth, Scope& scope);
  Statement loop(unsigned depth, Scope& scope);
  Statement choose(unsigned depth, const Scope& scope);
  Statement to_array(const Scope& scope);
  std::vector<Statement> block(unsigned depth, unsigned count, Scope scope);

  void make_arrays();
  void make_helpers();
  void make_locals(Scope& scope, unsigned count);
  Helper make_helper(bool recursive);

  Random random_;
  Program program_;
  std::vector<Type> favourites_;  // a program uses few types
};

Type Generator::any_type() {
  if (random_.chance(75))
    return favourites_[random_.below(static_cast<unsigned>(favourites_.size()))];
  return static_cast<Type>(random_.below(kTypes));
}

Expression Generator::constant(Type type) {
  return {
      .kind = Kind::constant, .type = type, .bits = interesting_value(info(type).element, random_)};
}

/// The nearest existing scalar inputs; vectors are made of scalars.
Expression Generator::input(Type type) {
  return {.kind = Kind::input, .type = type, .index = random_.below(kColumns)};
}

Expression Generator::leaf(Type type, const Scope& scope) {
  std::vector<std::uint32_t> fitting;
  for (const std::uint32_t v : scope.visible) {
    const Variable& variable = (*scope.variables)[v];
    if (variable.type == type && (!scope.uniform || variable.uniform)) fitting.push_back(v);
  }
  if (!fitting.empty() && !random_.chance(15))
    return {.kind = Kind::variable,
            .type = type,
            .index = fitting[random_.below(static_cast<unsigned>(fitting.size()))]};
  if (scope.in_helper || random_.chance(40)) return constant(type);
  if (scope.uniform || random_.chance(25)) {
    for (unsigned tries = 0; tries < 4; ++tries) {
      const auto n = random_.below(static_cast<unsigned>(kUniformArguments.size()));
      if (kUniformArguments[n].type == type)
        return {.kind = Kind::uniform, .type = type, .index = n};
    }
    if (scope.uniform) return constant(type);
  }
  if (is_vector(type)) return constant(type);
  return input(type);
}

/// An array's element, another work-item's input, or a helper's result.
Expression Generator::from_place(Type type, unsigned depth, const Scope& scope) {
  if (scope.in_helper || scope.uniform) return leaf(type, scope);
  std::vector<Expression> options;
  for (std::uint32_t a = 0; a < program_.arrays.size(); ++a)
    if (program_.arrays[a].type == type)
      options.push_back({.kind = Kind::element, .type = type, .index = a});
  for (std::uint32_t h = 0; h < program_.helpers.size(); ++h)
    if (program_.helpers[h].result == type)
      options.push_back({.kind = Kind::call, .type = type, .index = h});
  if (!is_vector(type) && type != Type::b1)
    options.push_back({.kind = Kind::input, .type = type, .index = random_.below(kColumns)});
  if (options.empty()) return leaf(type, scope);
  Expression chosen = options[random_.below(static_cast<unsigned>(options.size()))];
  if (chosen.kind != Kind::call) {
    chosen.arguments.push_back(expression(Type::u32, depth, scope));
    return chosen;
  }
  const Helper* helper = &program_.helpers[chosen.index];
  // Two helpers in a row with one signature are the two targets of a pointer.
  if (chosen.index + 1 < program_.helpers.size() && !helper->recursive && random_.chance(50)) {
    chosen.kind = Kind::choice;
    chosen.bits = chosen.index + 1;
    const auto same = [](const Helper& a, const Helper& b) {
      std::vector<Type> x{a.result}, y{b.result};
      for (const Variable& v : a.variables)
        if (v.role == Variable::Role::parameter) x.push_back(v.type);
      for (const Variable& v : b.variables)
        if (v.role == Variable::Role::parameter) y.push_back(v.type);
      return x == y && !a.recursive && !b.recursive;
    };
    if (same(*helper, program_.helpers[chosen.index + 1]))
      chosen.arguments.push_back(expression(Type::b1, depth, scope));
    else
      chosen.kind = Kind::call;
  }
  for (const Variable& v : helper->variables)
    if (v.role == Variable::Role::parameter)
      chosen.arguments.push_back(expression(v.type, depth, scope));
  return chosen;
}

Expression Generator::expression(Type type, unsigned depth, const Scope& scope) {
  if (depth == 0 || random_.chance(12)) return leaf(type, scope);
  if (random_.chance(12)) return from_place(type, depth - 1, scope);
  Expression out{.kind = Kind::rule, .type = type, .index = random_rule(type, random_)};
  for (const Type argument : rules()[out.index].arguments)
    out.arguments.push_back(expression(argument, depth - 1, scope));
  return out;
}

Statement Generator::assignment(const Scope& scope) {
  std::vector<std::uint32_t> locals;
  for (const std::uint32_t v : scope.visible)
    if ((*scope.variables)[v].role == Variable::Role::local) locals.push_back(v);
  const std::uint32_t target = locals[random_.below(static_cast<unsigned>(locals.size()))];
  Scope here = scope;
  here.uniform = (*scope.variables)[target].uniform;
  return {.kind = Statement::Kind::assign,
          .target = target,
          .expressions = {expression((*scope.variables)[target].type, 1 + random_.below(3), here)}};
}

Statement Generator::to_array(const Scope& scope) {
  const auto target = random_.below(static_cast<unsigned>(program_.arrays.size()));
  const Array& array = program_.arrays[target];
  Statement out{.kind = Statement::Kind::store, .target = target};
  out.expressions.push_back(expression(Type::u32, 2, scope));
  out.expressions.push_back(expression(array.type, 2, scope));
  const bool shared = array.place != Array::Place::registers;
  if (shared && is_integer(array.type) && !is_vector(array.type) && info(array.type).bits >= 32 &&
      random_.chance(60)) {
    out.kind = Statement::Kind::atomic;
    out.detail = random_.below(16);
  }
  return out;
}

Statement Generator::loop(unsigned depth, Scope& scope) {
  Statement out{.kind = Statement::Kind::loop, .detail = random_.below(3)};
  Scope head = scope;
  head.uniform = random_.chance(40);
  out.expressions.push_back(expression(Type::u32, 1 + random_.below(2), head));
  out.target = static_cast<std::uint32_t>(scope.variables->size());
  scope.variables->push_back(
      {.type = Type::u32, .role = Variable::Role::counter, .uniform = head.uniform});
  Scope inner = scope;
  inner.visible.push_back(out.target);
  inner.loops += 1;
  inner.breakable = true;
  out.blocks.push_back(block(depth - 1, 1 + random_.below(3), inner));
  return out;
}

Statement Generator::choose(unsigned depth, const Scope& scope) {
  Statement out{.kind = Statement::Kind::choose, .detail = random_.below(16)};
  Scope head = scope;
  head.uniform = random_.chance(30);
  out.expressions.push_back(expression(Type::u32, 2, head));
  const unsigned cases = 2 + random_.below(4);
  for (unsigned n = 0; n < cases; ++n)
    out.blocks.push_back(block(depth - 1, 1 + random_.below(2), scope));
  return out;
}

Statement Generator::statement(unsigned depth, Scope& scope) {
  const unsigned kind = random_.below(100);
  if (depth == 0 || kind < 45) {
    if (!scope.in_helper && !program_.arrays.empty() && random_.chance(25)) return to_array(scope);
    return assignment(scope);
  }
  if (kind < 70) {
    Statement out{.kind = Statement::Kind::branch};
    Scope head = scope;
    head.uniform = random_.chance(25);
    out.expressions.push_back(expression(Type::b1, 1 + random_.below(3), head));
    out.blocks.push_back(block(depth - 1, 1 + random_.below(3), scope));
    out.blocks.push_back(random_.chance(50) ? block(depth - 1, 1 + random_.below(3), scope)
                                            : std::vector<Statement>{});
    return out;
  }
  if (kind < 85 && scope.loops < 2) return loop(depth, scope);
  if (kind < 92) return choose(depth, scope);
  if (scope.breakable && random_.chance(60)) {
    Statement out{.kind = Statement::Kind::branch};
    out.expressions.push_back(expression(Type::b1, 2, scope));
    const auto leave = random_.chance(50) ? Statement::Kind::leave : Statement::Kind::skip;
    out.blocks.push_back({Statement{.kind = leave}});
    out.blocks.emplace_back();
    return out;
  }
  if (!scope.in_helper && random_.chance(50)) {
    Statement out{.kind = Statement::Kind::branch};
    out.expressions.push_back(expression(Type::b1, 2, scope));
    out.blocks.push_back({Statement{.kind = Statement::Kind::finish}});
    out.blocks.emplace_back();
    return out;
  }
  if (!scope.in_helper && random_.chance(70)) {
    Statement out{.kind = Statement::Kind::approximate, .target = random_.below(kApproximateSlots)};
    out.detail = random_.below(static_cast<unsigned>(kApproximations.size()));
    out.expressions.push_back(expression(kApproximations[out.detail].type, 2, scope));
    return out;
  }
  return assignment(scope);
}

std::vector<Statement> Generator::block(unsigned depth, unsigned count, Scope scope) {
  std::vector<Statement> out;
  for (unsigned n = 0; n < count; ++n) out.push_back(statement(depth, scope));
  return out;
}

void Generator::make_arrays() {
  constexpr std::array kPlaces = {Array::Place::registers, Array::Place::lds, Array::Place::global};
  unsigned in_global = 0;
  for (unsigned n = random_.below(4); n != 0; --n) {
    Array array{.type = any_type(), .place = kPlaces[random_.below(3)], .flat = random_.chance(20)};
    if (array.type == Type::b1) array.type = Type::u8;
    if (array.place == Array::Place::global && ++in_global > kGlobalArrays) continue;
    program_.arrays.push_back(array);
  }
}

Helper Generator::make_helper(bool recursive) {
  Helper out{.result = any_type(), .recursive = recursive};
  Scope scope{.variables = &out.variables, .in_helper = true};
  const auto parameter = [&](Type type) {
    scope.visible.push_back(static_cast<std::uint32_t>(out.variables.size()));
    out.variables.push_back({.type = type, .role = Variable::Role::parameter});
  };
  if (recursive) parameter(Type::u32);
  parameter(out.result);
  for (unsigned n = random_.below(3); n != 0; --n) parameter(any_type());
  const std::size_t parameters = out.variables.size();
  for (unsigned n = 1 + random_.below(2); n != 0; --n) {
    Variable local{.type = any_type()};
    local.initial = expression(local.type, 2, scope);
    out.variables.push_back(std::move(local));
  }
  for (std::size_t v = parameters; v < out.variables.size(); ++v)
    scope.visible.push_back(static_cast<std::uint32_t>(v));
  out.body = block(2, 1 + random_.below(3), scope);
  out.value = expression(out.result, 2, scope);
  return out;
}

void Generator::make_helpers() {
  const unsigned count = random_.chance(35) ? 1 + random_.below(2) : 0;
  for (unsigned n = 0; n < count; ++n) {
    const bool recursive = random_.chance(15);
    program_.helpers.push_back(make_helper(recursive));
    if (recursive || !random_.chance(30)) continue;
    // A second helper with the same signature, selected through a pointer.
    Helper twin = program_.helpers.back();
    Scope scope{.variables = &twin.variables, .in_helper = true};
    for (std::uint32_t v = 0; v < twin.variables.size(); ++v)
      if (twin.variables[v].role == Variable::Role::parameter) scope.visible.push_back(v);
    twin.body.clear();
    twin.value = expression(twin.result, 3, scope);
    std::erase_if(twin.variables,
                  [](const Variable& v) { return v.role != Variable::Role::parameter; });
    program_.helpers.push_back(std::move(twin));
  }
}

void Generator::make_locals(Scope& scope, unsigned count) {
  for (unsigned n = 0; n < count; ++n) {
    Variable local{.type = any_type(), .uniform = random_.chance(30)};
    Scope here = scope;
    here.uniform = local.uniform;
    local.initial = is_vector(local.type) || local.type == Type::b1
                        ? expression(local.type, 2, here)
                        : leaf(local.type, here);
    scope.visible.push_back(static_cast<std::uint32_t>(program_.variables.size()));
    program_.results.push_back(static_cast<std::uint32_t>(program_.variables.size()));
    program_.variables.push_back(std::move(local));
  }
}

Program Generator::make() {
  for (unsigned n = 2 + random_.below(4); n != 0; --n)
    favourites_.push_back(static_cast<Type>(random_.below(kTypes)));
  if (random_.chance(8)) program_.registers = 16 + 8 * random_.below(4);
  make_helpers();
  Scope scope{.variables = &program_.variables};
  make_locals(scope, 2 + random_.below(5));
  make_arrays();
  program_.body = block(2, 2 + random_.below(5), scope);
  return std::move(program_);
}

}  // namespace

Program generate(std::uint64_t seed) { return Generator(seed).make(); }

}  // namespace margay::fuzz
