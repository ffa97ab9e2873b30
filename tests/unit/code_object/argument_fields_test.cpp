// The pointers and integers in kernel parameters, against what the host compiler lays out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "code_object/code_object.h"
#include "inputs.h"
#include "inputs/parameters.h"

namespace margay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<ArgumentField> fields(std::string_view input, std::string_view kernel) {
  const CodeObject object = test::parsed(input);
  return object.argument_fields(*object.find_kernel(kernel));
}

/// "g.a.raw_ptr@16:8* short:2" for a pointer, "n@8:1u" or "n@8:4i" for an integer.
std::vector<std::string> as_text(const std::vector<ArgumentField>& fields) {
  std::vector<std::string> out;
  for (const ArgumentField& f : fields) {
    std::string text =
        f.path + "@" + std::to_string(f.offset_bytes) + ":" + std::to_string(f.size_bytes);
    if (f.kind == ArgumentField::Kind::integer) {
      text += f.is_signed ? "i" : "u";
    } else {
      text += "* " + f.pointee + ":" + std::to_string(f.pointee_bytes);
    }
    out.push_back(text);
  }
  return out;
}

std::string at(std::string_view path, std::size_t offset, std::string_view rest) {
  return std::string(path) + "@" + std::to_string(offset) + ":" + std::string(rest);
}

class ArgumentFields : public testing::TestWithParam<const char*> {};

TEST_P(ArgumentFields, LieWhereTheHostCompilerPutsThem) {
  const Everything e{};
  const auto offset = [&](const auto& member) {
    return static_cast<std::size_t>(reinterpret_cast<const char*>(&member) -
                                    reinterpret_cast<const char*>(&e));
  };
  const shapes::Kept<1>& a_rows = e.a;
  const shapes::Kept<2>& a_columns = e.a;
  const shapes::Kept<1>& b_rows = e.b;
  const shapes::Kept<2>& b_columns = e.b;
  const std::size_t x = sizeof(Everything);
  EXPECT_THAT(
      as_text(fields(GetParam(), "everything")),
      ElementsAre(at("all.a.value", offset(a_rows.value), "4i"),
                  at("all.a.value", offset(a_columns.value), "4i"),
                  at("all.a.address", offset(e.a.address), "8* short:2"),
                  at("all.b.value", offset(b_rows.value), "4i"),
                  at("all.b.value", offset(b_columns.value), "4i"),
                  at("all.b.address", offset(e.b.address), "8* float:4"),
                  at("all.inner[0].tag", offset(e.inner[0].tag), "1u"),
                  at("all.inner[0].table", offset(e.inner[0].table), "8* double:8"),
                  at("all.inner[1].tag", offset(e.inner[1].tag), "1u"),
                  at("all.inner[1].table", offset(e.inner[1].table), "8* double:8"),
                  at("all.anything", offset(e.anything), "8* :0"),
                  at("all.counts[0]", offset(e.counts[0][0]), "8i"),
                  at("all.counts[1]", offset(e.counts[0][1]), "8i"),
                  at("all.counts[2]", offset(e.counts[0][2]), "8i"),
                  at("all.counts[3]", offset(e.counts[1][0]), "8i"),
                  at("all.counts[4]", offset(e.counts[1][1]), "8i"),
                  at("all.counts[5]", offset(e.counts[1][2]), "8i"),
                  at("all.word.number", offset(e.word.number), "4u"),
                  at("all.nested", offset(e.nested), "8* Inner:16"),  // of a struct without a name
                  at("x", x, "8* float:4"), at("n", x + 8, "1u")));
}

TEST_P(ArgumentFields, NameTheTypesAround) {
  const auto all = fields(GetParam(), "everything");
  ASSERT_GT(all.size(), 8u);
  EXPECT_THAT(all[1].enclosing,
              ElementsAre("Everything", "shapes::Tensor<short, 4>", "shapes::Kept<2>"));
  EXPECT_THAT(all[2].enclosing, ElementsAre("Everything", "shapes::Tensor<short, 4>"));
  EXPECT_THAT(all[7].enclosing, ElementsAre("Everything", "Inner"));
  EXPECT_THAT(all.back().enclosing, IsEmpty());
}

TEST_P(ArgumentFields, StopAtPointers) {
  EXPECT_THAT(
      as_text(fields(GetParam(), "plain")),
      ElementsAre("out@0:8* int:4", "by_address@8:8* shapes::Tensor<int, 2>:16", "value@16:4i"));
}

TEST_P(ArgumentFields, MayBeAskedForAgain) {
  const CodeObject object = test::parsed(GetParam());
  for (const Kernel& kernel : object.kernels()) {
    const auto first = as_text(object.argument_fields(kernel));
    EXPECT_EQ(as_text(object.argument_fields(kernel)), first);
    EXPECT_FALSE(first.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(EveryForm, ArgumentFields,
                         testing::Values("parameters_dwarf4.hsaco", "parameters_dwarf5.hsaco"));

TEST(ArgumentFields, NeedTypes) {
  EXPECT_THAT(fields("parameters_lines.hsaco", "everything"), IsEmpty());
  EXPECT_THAT(fields("no_debug.hsaco", "saxpy"), IsEmpty());
}

}  // namespace
}  // namespace margay
