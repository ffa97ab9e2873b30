// The names by which a user may select kernels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace margay::assembly {

/// The parts of a demangled function name "void ns::gemm<64, float>(int)".
struct FunctionName {
  std::string full;         ///< As demangled.
  std::string signature;    ///< "ns::gemm<64, float>(int)"
  std::string qualified;    ///< "ns::gemm<64, float>"
  std::string unqualified;  ///< "gemm<64, float>"
  std::string plain;        ///< "gemm"
};
/// `symbol` may be mangled or not. An operator's name is not split: all parts are the whole name.
[[nodiscard]] FunctionName split_function_name(std::string_view symbol);

/// The parameter types of a demangled name: {"int", "float const*"}. Empty when there is no list.
[[nodiscard]] std::vector<std::string> parameter_types(const FunctionName& name);

/// True when `word` is the symbol, or one of the names above, of the function `symbol`.
[[nodiscard]] bool is_called(std::string_view symbol, std::string_view word);

}  // namespace margay::assembly
