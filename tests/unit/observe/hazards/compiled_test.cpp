// Compiled kernels have no hazards: every function from top to bottom, and across every branch.
#include <gtest/gtest.h>

#include "code_object/bundle/find_image.h"
#include "code_object/code_object.h"
#include "exec/rows/row_table.h"
#include "gpu/gfx942/gfx942.h"
#include "listing.h"
#include "report/check/hazard_text.h"

namespace margay::check::hazard_test {
namespace {

struct Function {
  std::string name;
  Listing listing;
  std::vector<HazardMemo> memos;
};

/// Wait states from which on nothing matters.
constexpr unsigned kReach = kGfx942.wait_rules.longest + 1;

class Walk {
 public:
  explicit Walk(Function& function) : function_(function) {}
  std::size_t steps = 0;

  void from_top_to_bottom() {
    window_.reset();
    for (std::size_t n = 0; n < function_.listing.size(); ++n) {
      step(n);
      if (leaves(n)) window_.reset();
    }
  }
  /// Up to a branch that is taken, and on from its target.
  void across(std::size_t branch) {
    const Listing& listing = function_.listing;
    const std::int64_t target =
        std::int64_t{listing.instructions[branch].vaddr} + listing.instructions[branch].offset;
    window_.reset();
    std::size_t first = branch;
    while (first > 0 && branch - first < kReach && !leaves(first - 1)) --first;
    for (std::size_t n = first; n <= branch; ++n) step(n);
    for (std::size_t n = 0, count = 0; n < listing.size() && count < kReach; ++n) {
      if (std::int64_t{listing.instructions[n].vaddr} < target) continue;
      step(n);
      if (leaves(n)) break;
      ++count;
    }
  }

 private:
  void step(std::size_t n) {
    const Listing& listing = function_.listing;
    ++steps;
    const auto found = window_.step(listing.instructions[n], listing.facts[n], function_.memos[n]);
    if (found)
      ADD_FAILURE() << function_.name << ": " << listing.text[n] << " at "
                    << listing.instructions[n].vaddr << ": " << hazard_text(found->hazard) << " ("
                    << register_name(found->row, 256) << "), needs " << found->needed << ", has "
                    << found->had;
  }
  [[nodiscard]] bool leaves(std::size_t n) const {
    const std::string& text = function_.listing.text[n];
    return text.starts_with("s_branch") || text.starts_with("s_endpgm") ||
           text.starts_with("s_setpc");
  }

  Function& function_;
  CheckedPaths checked_;
  HazardWindow window_{kGfx942.wait_rules, checked_};
};

TEST(HazardsInCompiledCode, ThereAreNone) {
  const auto decoder = isa::Decoder::create(kGfx942);
  ASSERT_TRUE(decoder);
  std::size_t steps = 0, branches = 0, matrix = 0;
  for (const char* path : {MARGAY_HAZARD_COMPILED}) {
    const auto image_file = find_image(read_file(path), kGfx942);
    ASSERT_TRUE(image_file) << path;
    const auto object = CodeObject::parse(*image_file);
    ASSERT_TRUE(object) << path;
    std::vector<std::byte> image(object->image_bytes());
    ASSERT_TRUE(object->load(image, 0x10000));
    for (const Symbol& symbol : object->symbols()) {
      if (symbol.kind != Symbol::Kind::function) continue;
      Function function{symbol.name, {}, {}};
      function.listing = decode(
          **decoder, std::span(image).subspan(symbol.vaddr, symbol.size_bytes), symbol.vaddr);
      function.memos.resize(function.listing.size());
      Walk walk(function);
      walk.from_top_to_bottom();
      for (std::size_t n = 0; n < function.listing.size(); ++n) {
        const Row* row = function.listing.instructions[n].row;
        ASSERT_NE(row, nullptr) << function.listing.text[n];
        matrix += row->instruction_class == InstructionClass::mfma;
        if (!is_relative_branch(*row)) continue;
        walk.across(n);
        ++branches;
      }
      steps += walk.steps;
    }
  }
  EXPECT_GT(steps, 1000u);
  EXPECT_GT(branches, 10u);
  EXPECT_GT(matrix, 100u);
}

}  // namespace
}  // namespace margay::check::hazard_test
