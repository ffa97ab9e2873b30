// A generated program: a small typed tree. generate.h makes it, print.h turns it into C++ and
// shrink.h reduces it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "apps/fuzz/programs/types.h"

namespace margay::fuzz {

/// Work-items of each launch, one workgroup: a full wave and one with half of its lanes.
inline constexpr unsigned kItems = 96;
/// Inputs of each scalar type per work-item.
inline constexpr unsigned kColumns = 4;
/// Elements of an array, per work-item.
inline constexpr unsigned kElements = 8;
/// 64-bit results per work-item: variables, then what atomics returned, then approximations.
inline constexpr unsigned kSlots = 20;
/// Arrays in global memory per program, and the bytes of one.
inline constexpr unsigned kGlobalArrays = 2;
inline constexpr unsigned kGlobalArrayBytes = kItems * kElements * 16;

/// The arguments that are the same for all work-items.
struct UniformArgument {
  Type type;
  std::string_view name;
};
inline constexpr auto kUniformArguments = std::to_array<UniformArgument>({
    {Type::u32, "ua"},
    {Type::i32, "ub"},
    {Type::u64, "uc"},
    {Type::i64, "ud"},
    {Type::f32, "ue"},
    {Type::f64, "uf"},
    {Type::u32, "ug"},
    {Type::i32, "uh"},
});

/// Instructions whose results are approximate, so that nothing may depend on them: each work-item
/// stores them, and they are compared with f64 on the host.
struct Approximation {
  std::string_view name;
  Type type;
};
inline constexpr auto kApproximations = std::to_array<Approximation>({
    {"rcp", Type::f32},
    {"rsq", Type::f32},
    {"sqrt", Type::f32},
    {"exp2", Type::f32},
    {"log2", Type::f32},
    {"sin", Type::f32},
    {"cos", Type::f32},
    {"rcp", Type::f16},
    {"rsq", Type::f16},
    {"sqrt", Type::f16},
    {"rcp", Type::f64},
    {"rsq", Type::f64},
});
/// The last slots of a work-item's results are for these: two each, result and function.
inline constexpr unsigned kApproximateSlots = 4;
inline constexpr unsigned kFirstApproximateSlot = kSlots - 2 * kApproximateSlots;
inline constexpr unsigned kAtomicSlot = kFirstApproximateSlot - 1;

struct Expression {
  enum class Kind : std::uint8_t {
    constant,  ///< `bits`, of a scalar type, or the same in each element of a vector.
    variable,  ///< `index` into the function's variables.
    input,     ///< `index`: the column; one argument: whose (u32), or none: the work-item's own.
    uniform,   ///< `index` into kUniformArguments.
    rule,      ///< `index` into rules().
    element,   ///< `index` into the program's arrays; the argument is the subscript (u32).
    call,      ///< `index` into the program's helpers.
    choice,  ///< The same through a pointer: helper `index` or `bits`, as the first argument says.
  };
  Kind kind = Kind::constant;
  Type type = Type::u32;
  std::uint32_t index = 0;
  std::uint64_t bits = 0;
  std::vector<Expression> arguments = {};
  bool operator==(const Expression&) const = default;
};

struct Statement {
  enum class Kind : std::uint8_t {
    assign,       ///< Variable `target` = expressions[0].
    store,        ///< Array `target` at expressions[0] = expressions[1].
    atomic,       ///< Array `target` at expressions[0]: operation `detail` & 7 with expressions[1];
                  ///< detail & 8: what was there before is a result.
    approximate,  ///< Result slot `target`: function `detail` of expressions[0].
    branch,       ///< if expressions[0] blocks[0] else blocks[1], which may be empty.
    loop,         ///< Variable `target` counts to expressions[0] & 7; `detail`: how it is written.
    choose,       ///< switch on expressions[0]; bit n of `detail`: case n falls through.
    leave,        ///< break.
    skip,         ///< continue.
    finish,       ///< return, with the results as they are.
  };
  Kind kind = Kind::assign;
  std::uint32_t target = 0;
  std::uint32_t detail = 0;
  std::vector<Expression> expressions = {};
  std::vector<std::vector<Statement>> blocks = {};
};

struct Variable {
  enum class Role : std::uint8_t { local, counter, parameter };
  Type type = Type::u32;
  Role role = Role::local;
  bool uniform = false;  ///< Begins as the same value in all work-items.
  Expression initial = {};
};

struct Array {
  enum class Place : std::uint8_t { registers, lds, global };
  Type type = Type::u32;
  Place place = Place::registers;
  bool flat = false;  ///< Through a generic pointer.
};

/// A function that is not inlined. It sees its parameters, which come first, and locals.
struct Helper {
  Type result = Type::u32;
  bool recursive = false;  ///< Its first parameter (u32) counts the calls of itself.
  std::vector<Variable> variables = {};
  std::vector<Statement> body = {};
  Expression value = {};
};

struct Program {
  std::uint64_t seed = 0;  ///< Inputs and uniform arguments derive from it.
  std::vector<Variable> variables = {};
  std::vector<Array> arrays = {};
  std::vector<Helper> helpers = {};
  std::vector<Statement> body = {};
  std::vector<std::uint32_t> results = {};  ///< Variables that are compared at the end.
  unsigned registers = 0;  ///< Not 0: the most VGPRs the compiler may use, so that it spills.
};

/// Calls visit(expression) for each expression of the program, parents first. The visitor may
/// change what it is given.
template <typename Visit>
void visit_expression(Expression& expression, Visit&& visit) {
  visit(expression);
  for (Expression& argument : expression.arguments) visit_expression(argument, visit);
}

template <typename Visit>
void visit_block(std::vector<Statement>& block, Visit&& visit) {
  for (Statement& statement : block) {
    for (Expression& expression : statement.expressions) visit_expression(expression, visit);
    for (auto& inner : statement.blocks) visit_block(inner, visit);
  }
}

}  // namespace margay::fuzz
