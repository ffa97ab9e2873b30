#include "../../include/margay/kernels.h"

#include <string>
#include <string_view>
#include <utility>

#include "operations.h"

namespace {

const char* said(std::string text) {
  static thread_local std::string kept;
  kept = std::move(text);
  return kept.empty() ? nullptr : kept.c_str();
}

const char* plan(const char* operation, const char* problem, margay_kernels_launch* launch) {
  std::string known;
  for (const margay_kernels::Operation& each : margay_kernels::operations()) {
    if (each.name == std::string_view(operation)) return said(each.plan(each, problem, launch));
    known += (known.empty() ? "" : ", ") + std::string(each.name);
  }
  return said("no such operation: " + std::string(operation) + "; there are " + known);
}

}  // namespace

int margay_kernels_version(void) { return MARGAY_KERNELS_VERSION; }

const margay_kernels_kernel* margay_kernels_list(size_t* count) {
  *count = margay_kernels::kernels().size();
  return margay_kernels::kernels().data();
}

const margay_kernels_level* margay_kernels_levels(size_t* count) {
  *count = margay_kernels::levels().size();
  return margay_kernels::levels().data();
}

const char* margay_kernels_plan(const char* operation, const char* problem,
                                margay_kernels_launch* launch) {
  return plan(operation, problem, launch);
}

const char* margay_kernels_check(const char* operation, const char* problem) {
  return plan(operation, problem, nullptr);
}
