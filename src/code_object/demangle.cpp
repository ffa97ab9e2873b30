// LLVM's Itanium demangler behind a guard. A mangled name refers back to its own parts, so that
// each ten characters can double the text: one of 250 characters prints as 537 MB (measured). The
// demangler builds its tree first, in space proportional to the name; here the length of the text
// is computed from that tree before anything is printed.
#include "code_object/demangle.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory_resource>
#include <type_traits>
#include <unordered_map>

#include <llvm/Demangle/ItaniumDemangle.h>

namespace margay::code_object {
namespace {

using namespace llvm::itanium_demangle;

// The demangler recurses with the nesting of the name. The longest kernel names of template
// libraries (Composable Kernel) have a few thousand characters.
constexpr std::size_t kMaxMangledChars = 8192;
constexpr std::uint64_t kMaxTextChars = std::uint64_t{1} << 20;
/// Brackets, spaces and keywords around the parts of a node, generously.
constexpr std::uint64_t kCharsPerNode = 48;

/// What the parser requires of an allocator. Nodes need no destructor. (LLVM's BumpPtrAllocator
/// would, in a build with AddressSanitizer, replace the copy inside LLVM's uninstrumented libraries
/// and cause false reports.)
class NodeAllocator {
 public:
  void reset() { memory_.release(); }
  template <typename T, typename... Args>
  T* makeNode(Args&&... args) {
    return new (memory_.allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  void* allocateNodeArray(std::size_t count) {
    longest_array_ = std::max(longest_array_, count);
    return memory_.allocate(sizeof(Node*) * count, alignof(Node*));
  }
  [[nodiscard]] std::size_t longest_array() const { return longest_array_; }

 private:
  std::pmr::monotonic_buffer_resource memory_;
  std::size_t longest_array_ = 1;
};

struct Parser : ManglingParser<NodeAllocator> {
  using ManglingParser::ManglingParser;
  [[nodiscard]] std::uint64_t longest_array() const { return ASTAllocator.longest_array(); }
};

/// An upper bound of the text's length, up to kMaxTextChars.
class TextLength {
 public:
  explicit TextLength(std::uint64_t longest_pack) : longest_pack_(longest_pack) {}

  std::uint64_t of(const Node* node) {
    if (node == nullptr) return 0;
    // Zero while the node is being visited ends the cycles that forward references can make; the
    // printer breaks them as well.
    const auto [known, added] = lengths_.emplace(node, 0);
    if (!added) return known->second;
    std::uint64_t length = kCharsPerNode;
    node->visit([&](const auto* concrete) { length = saturated(length + parts(concrete)); });
    return lengths_[node] = length;
  }

 private:
  static std::uint64_t saturated(std::uint64_t length) { return std::min(length, kMaxTextChars); }

  template <typename T>
  std::uint64_t parts(const T* node) {
    if constexpr (std::is_same_v<T, ForwardTemplateReference>) {
      return of(node->Ref);
    } else {
      std::uint64_t sum = 0;
      node->match([&](const auto&... part) { ((sum = saturated(sum + length_of(part))), ...); });
      // An expansion prints its pattern once for each element of a pack.
      if constexpr (std::is_same_v<T, ParameterPackExpansion>) sum = saturated(sum * longest_pack_);
      return sum;
    }
  }

  template <typename Part>
  std::uint64_t length_of(const Part& part) {
    if constexpr (std::is_convertible_v<Part, const Node*>) {
      return of(part);
    } else if constexpr (std::is_same_v<Part, NodeArray>) {
      std::uint64_t sum = 0;
      for (const Node* element : part) sum = saturated(sum + of(element) + 2);
      return sum;
    } else if constexpr (std::is_convertible_v<Part, std::string_view>) {
      return std::string_view(part).size();
    } else {
      return 0;  // Flags and numbers: in kCharsPerNode.
    }
  }

  std::uint64_t longest_pack_;
  std::unordered_map<const Node*, std::uint64_t> lengths_;
};

}  // namespace

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z") || name.size() > kMaxMangledChars) return std::string(name);
  Parser parser(name.data(), name.data() + name.size());
  const Node* tree = parser.parse();
  if (tree == nullptr || TextLength(parser.longest_array()).of(tree) >= kMaxTextChars) {
    return std::string(name);
  }
  OutputBuffer text;
  tree->print(text);
  std::string out(text.getBuffer(), text.getCurrentPosition());
  std::free(text.getBuffer());
  return out;
}

}  // namespace margay::code_object
