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
    EXPECT_TRUE(is_wanted(symbol, name));
    EXPECT_TRUE(is_wanted(symbol, report::short_function(name))) << name;
    EXPECT_TRUE(is_wanted(symbol, symbol));
    EXPECT_FALSE(is_wanted(symbol, name + "x"));
    EXPECT_FALSE(is_wanted(symbol, "other"));
  }
}

}  // namespace
}  // namespace margay::profile
