// Readable names, and names made to exhaust the memory.
#include "code_object/demangle.h"

#include <gtest/gtest.h>

namespace margay::code_object {
namespace {

TEST(Demangle, GivesReadableNames) {
  EXPECT_EQ(demangled("_Z5tiledILi256EEvPil"), "void tiled<256>(int*, long)");
  EXPECT_EQ(demangled("_ZN7kittens4gemmIJfdiEEEvDpPKT_"),
            "void kittens::gemm<float, double, int>(float const*, double const*, int const*)");
  EXPECT_EQ(demangled("_ZN2ck3runIZNS_4mainEvEUlT_E_EEvS2_"),
            "void ck::run<ck::main()::'lambda'(auto)>(ck::main()::'lambda'(auto))");
}

TEST(Demangle, LeavesOtherNamesAlone) {
  EXPECT_EQ(demangled("saxpy"), "saxpy");
  EXPECT_EQ(demangled(""), "");
  EXPECT_EQ(demangled("_Z"), "_Z");
  EXPECT_EQ(demangled("_Zwhatever"), "_Zwhatever");
}

/// A<A<...>, A<...>> nested `depth` deep, each level written as two references to the one before:
/// the text doubles with each level.
std::string doubling_name(unsigned depth) {
  std::string name = "_Z1f1AIiiE";
  for (unsigned level = 0; level < depth; ++level) {
    const std::string reference =
        std::string("S") + "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[level] + "_";
    name += "S_I" + reference + reference + "E";
  }
  return name;
}

TEST(Demangle, DoesNotPrintNamesThatExplode) {
  EXPECT_TRUE(
      demangled(doubling_name(3)).starts_with("f(A<int, int>, A<A<int, int>, A<int, int>>"));
  const std::string hostile = doubling_name(36);
  EXPECT_EQ(demangled(hostile), hostile);
}

TEST(Demangle, DoesNotPrintPacksThatExplode) {
  // f<int, ... 1000 times>(g<g<g<T...>...>...>...): each level repeats the whole pack.
  const auto nested = [](unsigned elements) {
    return "_Z1fIJ" + std::string(elements, 'i') + "EEvDp1gIDp1gIDp1gIDpT_EEE";
  };
  EXPECT_TRUE(demangled(nested(2)).starts_with("void f<int, int>(g<g<g<int, int>"));
  EXPECT_EQ(demangled(nested(1000)), nested(1000));
}

TEST(Demangle, SurvivesDeepNesting) {
  const std::string legal = "_Z1f" + std::string(8000, 'P') + "i";
  EXPECT_FALSE(demangled(legal).empty());
  const std::string too_long = "_Z1f" + std::string(1'000'000, 'P') + "i";
  EXPECT_EQ(demangled(too_long), too_long);
}

}  // namespace
}  // namespace margay::code_object
