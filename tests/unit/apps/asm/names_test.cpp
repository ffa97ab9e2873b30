// Names that a user may type for a kernel.
#include "apps/asm/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace margay::assembly {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Names, OfAPlainFunction) {
  const FunctionName name = split_function_name("gemm_bf16");
  EXPECT_EQ(name.full, "gemm_bf16");
  EXPECT_EQ(name.plain, "gemm_bf16");
  EXPECT_THAT(parameter_types(name), IsEmpty());
}

TEST(Names, OfATemplate) {  // void ns::gemm<64, float>(int, std::pair<int, float>*)
  const FunctionName name = split_function_name("_ZN2ns4gemmILi64EfEEviPSt4pairIiT0_E");
  EXPECT_EQ(name.signature, "ns::gemm<64, float>(int, std::pair<int, float>*)");
  EXPECT_EQ(name.qualified, "ns::gemm<64, float>");
  EXPECT_EQ(name.unqualified, "gemm<64, float>");
  EXPECT_EQ(name.plain, "gemm");
  EXPECT_THAT(parameter_types(name), ElementsAre("int", "std::pair<int, float>*"));
}

TEST(Names, OfAMemberOfATemplate) {  // void ns::tile<int>::load<4>(float)
  const FunctionName name = split_function_name("_ZN2ns4tileIiE4loadILi4EEEvf");
  EXPECT_EQ(name.qualified, "ns::tile<int>::load<4>");
  EXPECT_EQ(name.plain, "load");
}

TEST(Names, OfAnUnnamedNamespace) {  // (anonymous namespace)::bounded(int*)
  const FunctionName name = split_function_name("_ZN12_GLOBAL__N_17boundedEPi");
  EXPECT_EQ(name.qualified, "(anonymous namespace)::bounded");
  EXPECT_EQ(name.plain, "bounded");
  EXPECT_THAT(parameter_types(name), ElementsAre("int*"));
}

TEST(Names, OfOperatorsAreNotTakenApart) {
  EXPECT_EQ(split_function_name("operator unsigned int").plain, "operator unsigned int");
  EXPECT_EQ(split_function_name("operator()").qualified, "operator()");
}

TEST(Names, EveryFormIsAccepted) {
  constexpr auto kSymbol = "_ZN2ns4gemmILi64EfEEviPSt4pairIiT0_E";
  for (const std::string_view word :
       {kSymbol, "void ns::gemm<64, float>(int, std::pair<int, float>*)",
        "ns::gemm<64, float>(int, std::pair<int, float>*)", "ns::gemm<64, float>",
        "gemm<64, float>", "gemm"}) {
    EXPECT_TRUE(is_called(kSymbol, word)) << word;
  }
  for (const std::string_view word : {"gem", "ns", "gemm<64>", ""}) {
    EXPECT_FALSE(is_called(kSymbol, word)) << word;
  }
}

}  // namespace
}  // namespace margay::assembly
