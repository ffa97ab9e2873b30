// What a program says of the kernels that it is about to load: titles, names and shapes of their
// arguments, and the operations that they compute. For reports only.
//
// As JSON: {"kernels": [{"name": symbol, "title": text, "variant": text, "inputs": number,
//   "buffers": [{"name": text, "element": text, "element_bytes": number, "shape": [4 numbers]}],
//   "computes": [{"function": operation, "file": text, "line": number, "column": number}]}]}
// `buffers` are the pointers in the order of the kernel's arguments, first the `inputs`. A kernel
// that has fewer pointers writes outputs where inputs were: its inputs are named, no more.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "code_object/elf/kernel.h"

namespace margay::runtime {

class DescribedKernels {
 public:
  /// Replaces all descriptions; empty: there are none. Those that are malformed change nothing.
  [[nodiscard]] Status set(std::string_view json);
  /// The kernel with what was said of it; empty when nothing was.
  [[nodiscard]] std::optional<Kernel> described(const Kernel& kernel) const;

  struct Description {
    std::string title, variant;
    std::size_t inputs = 0;
    std::vector<KernelArgument> buffers;
    std::vector<SourceFrame> computes;
  };

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Description, std::less<>> kernels_;  // by symbol
};

}  // namespace margay::runtime
