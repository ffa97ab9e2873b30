// Which kernels `--kernel NAME` means.
#include "observe/profile/session.h"

#include <gtest/gtest.h>

#include "code_object/demangle.h"
#include "report/words.h"

namespace margay::profile {
namespace {

TEST(IsWanted, takes_a_name_as_any_report_prints_it) {
  // Of a template with a generic lambda, which demanglers spell in different ways, and of a name
  // that reports print without its template arguments.
  for (const std::string symbol : {"_ZN2ck3runIZNS_4mainEvEUlT_E_EEvS2_", "_Z5tiledILi256EEvPil",
                                   "_Z4gemmI1aIiE1bILi1EEEvT_T0_", "saxpy"}) {
    const std::string name = code_object::demangled(symbol);
    Kernel kernel;
    kernel.name = symbol;
    EXPECT_TRUE(is_wanted(kernel, name));
    EXPECT_TRUE(is_wanted(kernel, report::short_function(name))) << name;
    EXPECT_TRUE(is_wanted(kernel, symbol));
    EXPECT_FALSE(is_wanted(kernel, name + "x"));
    EXPECT_FALSE(is_wanted(kernel, "other"));
  }
}

TEST(IsWanted, takes_a_title_an_operation_and_a_line) {
  Kernel kernel;
  kernel.name = "loop_add_fusion";
  kernel.title = "jit_step/loop_add_fusion";
  kernel.computes = {{"jit(step)/add", "/src/model.py", 7, 0}, {"jit(step)/mul", "", 0, 0}};
  for (const char* wanted :
       {"jit_step", "loop_add", "step)/add", "jit(step)/mul", "model.py:7", "/src/model.py:7"})
    EXPECT_TRUE(is_wanted(kernel, wanted)) << wanted;
  for (const char* wanted : {"jit_other", "model.py:8", "odel.py:7", "jit(step)/sub"})
    EXPECT_FALSE(is_wanted(kernel, wanted)) << wanted;
}

}  // namespace
}  // namespace margay::profile
