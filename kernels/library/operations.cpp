// Adding a kernel's plan: its header, `visit` for its Problem, a line in kOperations and one in
// kernels().
#include "operations.h"

#include <cstring>
#include <vector>

#include "../attention/plan.h"
#include "../gemm/ladder.h"
#include "../gemm/plan.h"
#include "../layernorm/plan.h"
#include "../rotary/plan.h"
#include "../softmax/plan.h"
#include "fields.h"

namespace margay_kernels {
namespace {

constexpr const char* kGemm = "gemm_bf16.hsaco";
constexpr const char* kLadder = "gemm_ladder.hsaco";
constexpr const char* kAttention = "attention_bf16.hsaco";
constexpr const char* kSoftmax = "softmax.hsaco";
constexpr const char* kLayernorm = "layernorm_bf16.hsaco";
constexpr const char* kRotary = "rotary_bf16.hsaco";

// ---- The fields of each problem ---------------------------------------------------------------

void visit(Fields& field, margay_gemm::Problem& p) {
  using margay_gemm::Output;
  field("a", p.a);
  field("b", p.b);
  field("c", p.c);
  field("m", p.m);
  field("n", p.n);
  field("k", p.k);
  field("lda", p.lda);
  field("ldb", p.ldb);
  field("ldc", p.ldc);
  field("transpose_b", p.transpose_b);
  field("output", p.output, Words<Output>{{"f32", Output::kFloat}, {"bf16", Output::kBf16}});
  field("alpha", p.alpha);
  field("beta", p.beta);
}

template <typename Layout>
const Words<Layout>& layouts() {
  static const Words<Layout> words = {{"batch_sequence_heads", Layout::kBatchSequenceHeads},
                                      {"batch_heads_sequence", Layout::kBatchHeadsSequence}};
  return words;
}

void visit(Fields& field, margay_attention::Problem& p) {
  using margay_attention::Layout;
  field("q", p.q);
  field("k", p.k);
  field("v", p.v);
  field("o", p.o);
  field("lse", p.lse);
  field("batch", p.batch);
  field("heads", p.heads);
  field("kv_heads", p.kv_heads);
  field("q_len", p.q_len);
  field("kv_len", p.kv_len);
  field("dim", p.dim);
  field("scale", p.scale);
  field("causal", p.causal);
  Layout all = p.layout.q;
  field("layout", all, layouts<Layout>());
  p.layout = all;
  field("layout_q", p.layout.q, layouts<Layout>());
  field("layout_k", p.layout.k, layouts<Layout>());
  field("layout_v", p.layout.v, layouts<Layout>());
  field("layout_o", p.layout.o, layouts<Layout>());
}

void visit(Fields& field, margay_softmax::Problem& p) {
  using margay_softmax::Type;
  field("x", p.x);
  field("y", p.y);
  field("rows", p.rows);
  field("cols", p.cols);
  field("type", p.type, Words<Type>{{"f32", Type::kFloat}, {"bf16", Type::kBf16}});
}

void visit(Fields& field, margay_layernorm::Problem& p) {
  field("x", p.x);
  field("residual", p.residual);
  field("weight", p.weight);
  field("bias", p.bias);
  field("y", p.y);
  field("sum", p.sum);
  field("rows", p.rows);
  field("cols", p.cols);
  field("eps", p.eps);
}

void visit(Fields& field, margay_rotary::Problem& p) {
  field("x", p.x);
  field("cos", p.cos);
  field("sin", p.sin);
  field("y", p.y);
  field("batch", p.batch);
  field("heads", p.heads);
  field("length", p.length);
  field("dim", p.dim);
  field("table_rows", p.table_rows);
  field("position", p.position);
  field("layout", p.layout, layouts<margay_rotary::Layout>());
}

// ---- From a plan to a launch ------------------------------------------------------------------

template <typename Arguments>
std::string fill(const Plan<Arguments>& plan, const char* code_object,
                 margay_kernels_launch* launch) {
  static_assert(sizeof(Arguments) <= MARGAY_KERNELS_MAX_ARGUMENTS);
  *launch = {};
  if (!plan.refusal.empty() || plan.grid_x == 0) return plan.refusal;
  *launch = {.code_object = code_object,
             .kernel = plan.kernel,
             .grid = {plan.grid_x, plan.grid_y, plan.grid_z},
             .block = {plan.block_x, 1, 1},
             .dynamic_lds = plan.dynamic_lds,
             .arguments_size = sizeof(Arguments),
             .arguments = {}};
  std::memcpy(launch->arguments, &plan.arguments, sizeof(Arguments));
  return {};
}

/// Of an operation with one code object; the functions of its plan.h are found by its Problem.
template <typename Problem>
std::string plan_of(const Operation& operation, std::string_view text,
                    margay_kernels_launch* launch) {
  Fields fields(text);
  Problem problem;
  visit(fields, problem);
  if (std::string error = fields.error(operation.name); !error.empty()) return error;
  if (launch == nullptr) return refuse_extents(problem);
  return fill(plan(problem), operation.code_object, launch);
}

std::string plan_gemm(const Operation& operation, std::string_view text,
                      margay_kernels_launch* launch) {
  namespace ladder = margay_gemm::ladder;
  Fields fields(text);
  margay_gemm::Problem problem;
  int number = ladder::kFastLevel;
  visit(fields, problem);
  fields("level", number);
  if (std::string error = fields.error(operation.name); !error.empty()) return error;
  const ladder::Level* const level = ladder::find(number);
  if (level == nullptr && number != ladder::kFastLevel)
    return margay_kernels::text("level: expected 1 to ", ladder::kFastLevel, ", got ", number);
  if (launch == nullptr)
    return level != nullptr ? ladder::refuse_general_extents(*level, problem)
                            : refuse_extents(problem);
  return level != nullptr ? fill(ladder::plan_general(*level, problem), kLadder, launch)
                          : fill(plan(problem), operation.code_object, launch);
}

constexpr Operation kOperations[] = {
    {"gemm", kGemm, plan_gemm},
    {"attention", kAttention, plan_of<margay_attention::Problem>},
    {"softmax", kSoftmax, plan_of<margay_softmax::Problem>},
    {"layernorm", kLayernorm, plan_of<margay_layernorm::Problem>},
    {"rotary", kRotary, plan_of<margay_rotary::Problem>},
};

// ---- The list ---------------------------------------------------------------------------------

/// Adds the kernels of a table, which may be one of tables.
template <typename Arguments>
struct Lister {
  const char *operation, *code_object;
  std::vector<margay_kernels_kernel>& into;

  void operator()(const Kernel& kernel) const {
    into.push_back({operation, code_object, kernel.name, kernel.block_x, sizeof(Arguments)});
  }
  template <typename Entry, std::size_t kCount>
  void operator()(const Entry (&table)[kCount]) const {
    for (const Entry& entry : table) (*this)(entry);
  }
};

std::vector<margay_kernels_kernel> list() {
  namespace ladder = margay_gemm::ladder;
  std::vector<margay_kernels_kernel> all;
  Lister<margay_gemm::Arguments>{"gemm", kGemm, all}(margay_gemm::kKernels);
  for (const ladder::Level& level : ladder::kLevels)
    Lister<ladder::Arguments>{"gemm", kLadder, all}(Kernel{level.kernel, level.threads});
  Lister<margay_attention::Arguments>{"attention", kAttention, all}(margay_attention::kKernels);
  Lister<margay_softmax::Arguments>{"softmax", kSoftmax, all}(margay_softmax::kKernels);
  Lister<margay_layernorm::Arguments>{"layernorm", kLayernorm, all}(margay_layernorm::kKernels);
  Lister<margay_rotary::Arguments>{"rotary", kRotary, all}(margay_rotary::kKernels);
  return all;
}

std::vector<margay_kernels_level> list_levels() {
  namespace ladder = margay_gemm::ladder;
  std::vector<margay_kernels_level> all;
  for (const ladder::Level& level : ladder::kLevels)
    all.push_back({level.number, level.name, level.idea, level.block_m, level.block_n, level.step_k,
                   level.threads, !level.transpose_b, level.transpose_b});
  all.push_back({ladder::kFastLevel, "fast", "the kernel of `margay gemm`: any size",
                 margay_gemm::kBlockM, margay_gemm::kBlockN, margay_gemm::kStepK,
                 margay_gemm::kThreads, 1, 1});
  return all;
}

}  // namespace

std::span<const Operation> operations() { return kOperations; }

std::span<const margay_kernels_kernel> kernels() {
  static const std::vector<margay_kernels_kernel> all = list();
  return all;
}

std::span<const margay_kernels_level> levels() {
  static const std::vector<margay_kernels_level> all = list_levels();
  return all;
}

}  // namespace margay_kernels
