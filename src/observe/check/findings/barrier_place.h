// The position of a missing barrier: between two accesses in one function, on all paths from the
// earlier to the later one, and not in a branch that only some waves take.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "observe/source_text.h"
#include "report/check/finding.h"

namespace margay::check {

/// Source files, each read once.
class SourceFiles {
 public:
  /// Null when it cannot be read.
  [[nodiscard]] const SourceText* find(const std::string& path);
  /// For tests: the text of a file that does not exist.
  void add(const std::string& path, std::string text);

 private:
  std::map<std::string, std::optional<SourceText>> files_;
};

/// Sets the fix_place of the errors whose fix is a barrier: the fewest places that fix all of them,
/// each in as few loops as possible. `barriers` are the executed barriers of the kernel, as call
/// chains (code_object/call_chain.h) like those of the accesses.
struct BarrierChain {
  std::vector<SourceFrame> frames;
  std::uint32_t called = 0;
};
void place_barriers(std::span<Finding> findings, std::span<const BarrierChain> barriers,
                    SourceFiles& files);

}  // namespace margay::check
