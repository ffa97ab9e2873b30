// The names of the element-wise operations and reductions, once: X(name) or X(name, operation),
// where the operation is the type in base_ops.cuh behind the name.
#pragma once

#define KITTENS_NULLARY_NAMES(X) X(zero) X(one) X(pos_infty) X(neg_infty)
// clang-format off
#define KITTENS_UNARY_NAMES(X)                                                                    \
  X(exp) X(exp2) X(log) X(log2) X(abs) X(relu) X(sqrt) X(rsqrt) X(reciprocal) X(tanh) X(sigmoid)  \
  X(sin) X(cos)
#define KITTENS_BINARY_NAMES(X)                                                                   \
  X(add, sum) X(sub, sub) X(mul, mul) X(div, div) X(max, max) X(min, min)                         \
  X(lt, lt) X(le, le) X(gt, gt) X(ge, ge) X(eq, eq) X(ne, ne)
// clang-format on
/// With a value per row or column: add_row, add_col and so on.
#define KITTENS_VECTOR_NAMES(X) X(add, sum) X(sub, sub) X(mul, mul) X(div, div)
#define KITTENS_REDUCTION_NAMES(X) X(max, max) X(min, min) X(sum, sum) X(prod, mul)
