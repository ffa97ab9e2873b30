// hipBLASLt. Source of the names: its public headers, ROCm 7.
#define MARGAY_LIBRARY "hipBLASLt"
#define MARGAY_STATUS 7  // HIPBLAS_STATUS_NOT_SUPPORTED
#include "substitutes/refuse.h"

#include <cstdint>
#include <cstring>

#include "substitutes/gemm.h"
#include "substitutes/handle.h"

namespace {

using namespace margay::substitutes;  // NOLINT: the exported functions below are its C face
using margay::blas::GemmArguments;

constexpr int kSuccess = 0, kInvalidValue = 3, kExecutionFailed = 6;

// hipDataType
Element element_of(int type) {
  switch (type) {
    case 0:
      return Element::f32;
    case 1:
      return Element::f64;
    case 2:
      return Element::f16;
    case 3:
      return Element::i8;
    case 4:
      return Element::c64;
    case 5:
      return Element::c128;
    case 10:
      return Element::i32;
    case 14:
      return Element::bf16;
    default:
      return Element::other;
  }
}

struct Layout {
  Element element;
  std::uint64_t rows, columns;
  std::int64_t ld, stride;
  std::int32_t batch, order;
};

// hipblasLtMatmulDescAttributes_t
enum Attribute { kOperationA = 0, kOperationB = 1, kEpilogue = 2, kBias = 3, kPointerMode = 13 };

struct Description {
  Element scale;
  std::int32_t operation_a = 111, operation_b = 111;  // HIPBLAS_OP_N
  std::uint32_t epilogue = 1;                         // HIPBLASLT_EPILOGUE_DEFAULT
  const void* bias = nullptr;
  bool has_more = false;  ///< Something was set that is not served: scales, a second output.
};

constexpr std::uint32_t kPlain = 1, kRelu = 2, kAddsBias = 4;

template <typename T>
bool take(T& to, const void* from, std::size_t size) {
  if (from == nullptr || size < sizeof(T)) return false;
  std::memcpy(&to, from, sizeof(T));
  return true;
}

int operation(std::int32_t hipblas) {
  return hipblas == 111   ? GemmArguments::kAsIs
         : hipblas == 112 ? GemmArguments::kTransposed
                          : GemmArguments::kConjugate;
}

/// The kernel; empty where the product is not served.
std::string_view kernel_for(const Description& d, const Layout& a, const Layout& b, const Layout& c,
                            const Layout& out) {
  const bool plain_epilogue = d.epilogue == kPlain || (d.epilogue & ~(kRelu | kAddsBias)) == 0;
  const bool is_complex = a.element == Element::c64 || a.element == Element::c128;
  if (d.has_more || !plain_epilogue || (is_complex && (d.epilogue & kRelu) != 0)) return {};
  for (const Layout* one : {&a, &b, &c, &out})
    if (one->order != 0) return {};
  return gemm_kernel(a.element, b.element, c.element, out.element);
}

void read_scalar(double (&to)[2], const void* from, Element scale) {
  to[0] = to[1] = 0;
  float single[2] = {};
  switch (scale) {
    case Element::f64:
      std::memcpy(to, from, sizeof(double));
      return;
    case Element::c128:
      std::memcpy(to, from, sizeof to);
      return;
    case Element::c64:
      std::memcpy(single, from, sizeof single);
      break;
    case Element::i32: {
      std::int32_t whole = 0;
      std::memcpy(&whole, from, sizeof whole);
      to[0] = whole;
      return;
    }
    default:
      std::memcpy(single, from, sizeof(float));
  }
  to[0] = single[0];
  to[1] = single[1];
}

/// hipblasLtMatmulHeuristicResult_t
struct Heuristic {
  struct {
    std::uint8_t data[16];
    std::size_t most_workspace;
  } algorithm;
  std::size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

}  // namespace

extern "C" {

MARGAY_EXPORT int hipblasLtCreate(Handle** handle) { return Handle::create(handle); }
MARGAY_EXPORT int hipblasLtDestroy(Handle* handle) { return Handle::destroy(handle); }

MARGAY_EXPORT int hipblasLtMatrixLayoutCreate(Layout** out, int type, std::uint64_t rows,
                                              std::uint64_t columns, std::int64_t ld) {
  *out = new Layout{element_of(type), rows, columns, ld, 0, 1, 0};
  return kSuccess;
}
MARGAY_EXPORT int hipblasLtMatrixLayoutDestroy(const Layout* layout) {
  delete layout;
  return kSuccess;
}
MARGAY_EXPORT int hipblasLtMatrixLayoutSetAttribute(Layout* layout, int attribute, const void* from,
                                                    std::size_t size) {
  bool taken = false;
  std::uint32_t type = 0;
  switch (attribute) {  // hipblasLtMatrixLayoutAttribute_t
    case 0:
      taken = take(layout->batch, from, size);
      break;
    case 1:
      taken = take(layout->stride, from, size);
      break;
    case 2:
      if ((taken = take(type, from, size))) layout->element = element_of(static_cast<int>(type));
      break;
    case 3:
      taken = take(layout->order, from, size);
      break;
    case 4:
      taken = take(layout->rows, from, size);
      break;
    case 5:
      taken = take(layout->columns, from, size);
      break;
    case 6:
      taken = take(layout->ld, from, size);
      break;
    default:
      break;
  }
  return taken ? kSuccess : kInvalidValue;
}

MARGAY_EXPORT int hipblasLtMatmulDescCreate(Description** out, int /*compute*/, int scale) {
  *out = new Description{.scale = element_of(scale)};
  return kSuccess;
}
MARGAY_EXPORT int hipblasLtMatmulDescDestroy(const Description* description) {
  delete description;
  return kSuccess;
}
MARGAY_EXPORT int hipblasLtMatmulDescSetAttribute(Description* description, int attribute,
                                                  const void* from, std::size_t size) {
  std::int32_t mode = 0;
  switch (attribute) {
    case kOperationA:
      return take(description->operation_a, from, size) ? kSuccess : kInvalidValue;
    case kOperationB:
      return take(description->operation_b, from, size) ? kSuccess : kInvalidValue;
    case kEpilogue:
      return take(description->epilogue, from, size) ? kSuccess : kInvalidValue;
    case kBias:
      return take(description->bias, from, size) ? kSuccess : kInvalidValue;
    case kPointerMode:
      if (!take(mode, from, size)) return kInvalidValue;
      description->has_more |= mode != 0;
      return kSuccess;
    default:  // refused where the product is asked for, with all that was set
      description->has_more = true;
      return kSuccess;
  }
}

MARGAY_EXPORT int hipblasLtMatmulPreferenceCreate(Handle** preference) {
  return Handle::create(preference);
}
MARGAY_EXPORT int hipblasLtMatmulPreferenceDestroy(Handle* preference) {
  return Handle::destroy(preference);
}
MARGAY_EXPORT int hipblasLtMatmulPreferenceSetAttribute(Handle* /*preference*/, int /*attribute*/,
                                                        const void* /*from*/,
                                                        std::size_t /*size*/) {
  return kSuccess;  // limits of workspace, of which none is used
}

/// One algorithm: ours.
MARGAY_EXPORT int hipblasLtMatmulAlgoGetHeuristic(Handle* /*handle*/, const Description* d,
                                                  const Layout* a, const Layout* b, const Layout* c,
                                                  const Layout* out, Handle* /*preference*/,
                                                  int wanted, Heuristic* results, int* count) {
  *count = 0;
  if (wanted < 1) return kInvalidValue;
  if (kernel_for(*d, *a, *b, *c, *out).empty()) {
    say_once(MARGAY_LIBRARY, "hipblasLtMatmul with these types, scales or epilogue");
    return MARGAY_STATUS;
  }
  results[0] = {};
  results[0].waves = 1;
  *count = 1;
  return kSuccess;
}

MARGAY_EXPORT int hipblasLtMatmul(Handle* /*handle*/, const Description* d, const void* alpha,
                                  const void* a, const Layout* layout_a, const void* b,
                                  const Layout* layout_b, const void* beta, const void* c,
                                  const Layout* layout_c, void* out, const Layout* layout_out,
                                  const void* /*algorithm*/, void* /*workspace*/,
                                  std::size_t /*workspace_bytes*/, void* stream) {
  const std::string_view kernel = kernel_for(*d, *layout_a, *layout_b, *layout_c, *layout_out);
  if (kernel.empty()) {
    say_once(MARGAY_LIBRARY, "hipblasLtMatmul with these types, scales or epilogue");
    return MARGAY_STATUS;
  }
  GemmArguments g{};
  g.a = a;
  g.b = b;
  g.c = c;
  g.d = out;
  g.bias = (d->epilogue & kAddsBias) != 0 ? d->bias : nullptr;
  g.relu = d->epilogue != kPlain && (d->epilogue & kRelu) != 0 ? 1 : 0;
  g.op_a = operation(d->operation_a);
  g.op_b = operation(d->operation_b);
  g.m = static_cast<long>(layout_out->rows);
  g.n = static_cast<long>(layout_out->columns);
  g.k = static_cast<long>(g.op_a == GemmArguments::kAsIs ? layout_a->columns : layout_a->rows);
  g.lda = layout_a->ld;
  g.ldb = layout_b->ld;
  g.ldc = layout_c->ld;
  g.ldd = layout_out->ld;
  g.stride_a = layout_a->stride;
  g.stride_b = layout_b->stride;
  g.stride_c = layout_c->stride;
  g.stride_d = layout_out->stride;
  read_scalar(g.alpha, alpha, d->scale);
  read_scalar(g.beta, beta, d->scale);
  return launch_gemm(kernel, g, layout_out->batch, stream) ? kSuccess : kExecutionFailed;
}

}  // extern "C"

// The C++ interface, hipblaslt_ext: for groups of products, which XLA does not ask for.
MARGAY_UNREACHABLE(0, "_ZN13hipblaslt_ext10GemmInputs4setAEPKv")
MARGAY_UNREACHABLE(1, "_ZN13hipblaslt_ext10GemmInputs4setBEPKv")
MARGAY_UNREACHABLE(2, "_ZN13hipblaslt_ext10GemmInputs4setCEPKv")
MARGAY_UNREACHABLE(3, "_ZN13hipblaslt_ext10GemmInputs4setDEPKv")
MARGAY_UNREACHABLE(4, "_ZN13hipblaslt_ext10GemmInputs7setBetaEPKv")
MARGAY_UNREACHABLE(5, "_ZN13hipblaslt_ext10GemmInputs7setBiasEPKv")
MARGAY_UNREACHABLE(6, "_ZN13hipblaslt_ext10GemmInputs8setAlphaEPKv")
MARGAY_UNREACHABLE(7, "_ZN13hipblaslt_ext10GemmInputsC1Ev")
MARGAY_UNREACHABLE(8, "_ZN13hipblaslt_ext10GemmInputsD1Ev")
MARGAY_UNREACHABLE(
    9,
    "_ZN13hipblaslt_ext11GroupedGemm10setProblemERSt6vectorIlSaIlEES4_S4_S4_S4_S4_S4_S4_S4_S4_S4_"
    "S4_RS1_INS_12GemmEpilogueESaIS5_EERS1_INS_10GemmInputsESaIS9_EERNS_15GemmProblemTypeE")
MARGAY_UNREACHABLE(10, "_ZN13hipblaslt_ext11GroupedGemm15getProblemTypesEv")
MARGAY_UNREACHABLE(11, "_ZN13hipblaslt_ext11GroupedGemm37getDefaultValueForDeviceUserArgumentsEPv")
MARGAY_UNREACHABLE(12, "_ZN13hipblaslt_ext11GroupedGemm3runEPvP12ihipStream_t")
MARGAY_UNREACHABLE(13,
                   "_ZN13hipblaslt_ext11GroupedGemmC1EPv18hipblasOperation_tS2_11hipDataTypeS3_S3_"
                   "S3_20hipblasComputeType_t")
MARGAY_UNREACHABLE(
    14,
    "_ZN13hipblaslt_ext11getAllAlgosEPvNS_8GemmTypeE18hipblasOperation_tS2_11hipDataTypeS3_S3_S3_"
    "20hipblasComputeType_tRSt6vectorI33_hipblasLtMatmulHeuristicResult_tSaIS6_EE")
MARGAY_UNREACHABLE(15, "_ZN13hipblaslt_ext12GemmEpilogue15setBiasDataTypeE11hipDataType")
MARGAY_UNREACHABLE(16, "_ZN13hipblaslt_ext12GemmEpilogue7setModeE19hipblasLtEpilogue_t")
MARGAY_UNREACHABLE(17, "_ZN13hipblaslt_ext12GemmEpilogueC1Ev")
MARGAY_UNREACHABLE(18, "_ZN13hipblaslt_ext12GemmEpilogueD1Ev")
MARGAY_UNREACHABLE(
    19, "_ZN13hipblaslt_ext12GemmInstance10initializeERK22_hipblasLtMatmulAlgo_tPvbP12ihipStream_t")
MARGAY_UNREACHABLE(20,
                   "_ZN13hipblaslt_ext12GemmInstance15isAlgoSupportedER22_hipblasLtMatmulAlgo_tRm")
MARGAY_UNREACHABLE(21, "_ZN13hipblaslt_ext12GemmInstance20setMaxWorkspaceBytesEm")
MARGAY_UNREACHABLE(22,
                   "_ZN13hipblaslt_ext15GemmProblemTypeC1E18hipblasOperation_tS1_11hipDataTypeS2_"
                   "S2_S2_20hipblasComputeType_t")
MARGAY_UNREACHABLE(23, "_ZN13hipblaslt_ext15GemmProblemTypeC1ERKS0_")
MARGAY_UNREACHABLE(24, "_ZN13hipblaslt_ext15GemmProblemTypeD1Ev")
MARGAY_UNREACHABLE(25, "_ZN13hipblaslt_ext16getIndexFromAlgoER22_hipblasLtMatmulAlgo_t")
MARGAY_UNREACHABLE(26, "_ZNK13hipblaslt_ext15GemmProblemType14getTypeComputeEv")
MARGAY_UNREACHABLE(27, "_ZNK13hipblaslt_ext15GemmProblemType6getOpAEv")
MARGAY_UNREACHABLE(28, "_ZNK13hipblaslt_ext15GemmProblemType6getOpBEv")
MARGAY_UNREACHABLE(29, "_ZNK13hipblaslt_ext15GemmProblemType8getTypeAEv")
MARGAY_UNREACHABLE(30, "_ZNK13hipblaslt_ext15GemmProblemType8getTypeBEv")
MARGAY_UNREACHABLE(31, "_ZNK13hipblaslt_ext15GemmProblemType8getTypeCEv")
MARGAY_UNREACHABLE(32, "_ZNK13hipblaslt_ext15GemmProblemType8getTypeDEv")
