// The table of the kernels of a program that has many.
#include "report/profile/kernel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/profile/text/text.h"

namespace margay::profile {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<KernelProfile> kernels(std::size_t count) {
  std::vector<KernelProfile> all(count);
  for (std::size_t n = 0; n < count; ++n) {
    KernelProfile& k = all[n];
    k.name = "kernel_" + std::to_string(n);
    k.grid = k.workgroup = {1, 1, 1};
    k.launches = 1;
    k.launches_seen = n + 1;
    k.resources.limit = "wave slots";
    k.resources.workgroups_per_cu = 1;
    k.resources.waves_per_cu = 1;
  }
  return all;
}

std::vector<KernelCost> costs_of(const std::vector<KernelProfile>& all) {
  std::vector<KernelCost> costs;
  for (std::size_t n = 0; n < all.size(); ++n)
    costs.push_back({&all[n], 1e-6 * static_cast<double>(n + 1), {}});
  return costs;
}

TEST(KernelTable, is_by_cost_and_names_operations) {
  auto all = kernels(3);
  all[1].computes = {{"jit(step)/add", "/src/model.py", 7, 0}};
  EXPECT_EQ(kernel_table(costs_of(all), "at least", {.directory = "/src"}, false),
            "    at least  share  launches  kernel\n"
            "        3 us   50 %         3  kernel_2\n"
            "        2 us   33 %         2  kernel_1  jit(step)/add at model.py:7\n"
            "        1 us   17 %         1  kernel_0\n");
}

TEST(KernelTable, tells_launches_of_one_kernel_apart_by_their_sizes) {
  auto all = kernels(3);
  all[2].name = all[1].name;
  all[2].grid = {16, 4, 1};
  all[2].workgroup = {256, 1, 1};
  EXPECT_EQ(kernel_table(costs_of(all), "modelled", {}, false),
            "    modelled  share  launches  kernel\n"
            "        3 us   50 %         3  kernel_1, 16x4x1 of 256x1x1\n"
            "        2 us   33 %         2  kernel_1, 1x1x1 of 1x1x1\n"
            "        1 us   17 %         1  kernel_0\n");
}

TEST(KernelTable, tells_kernels_of_one_template_apart_by_their_arguments) {
  auto all = kernels(2);
  const std::string rest = ", std::integral_constant<unsigned int, 256u>>(float*, int)";
  all[0].name = "void (anonymous namespace)::scale<float, 8u" + rest;
  all[1].name = "void (anonymous namespace)::scale<float, 16u" + rest;
  const std::string said = kernel_table(costs_of(all), "in all", {}, false);
  EXPECT_THAT(said, HasSubstr("scale<float, 8u, std::integral_constant<unsigned int, 256u>>\n"));
  EXPECT_THAT(said, HasSubstr("scale<float, 16u, std::integral_constant<unsigned int, 256u>>\n"));
}

TEST(KernelTable, says_what_it_leaves_out) {
  const auto all = kernels(40);
  const std::string some = kernel_table(costs_of(all), "at least", {}, false);
  EXPECT_THAT(some, HasSubstr("kernel_39\n"));
  EXPECT_THAT(some, Not(HasSubstr("kernel_9\n")));
  EXPECT_THAT(some, HasSubstr("       55 us    7 %  10 kernels more (--full lists them)\n"));
  const std::string full = kernel_table(costs_of(all), "at least", {}, true);
  EXPECT_THAT(full, HasSubstr("kernel_0\n"));
  EXPECT_THAT(full, Not(HasSubstr("--full")));
}

TEST(KernelTable, stands_alone_where_there_are_many) {
  Profile few, many;
  few.kernels = kernels(kKernelsInDetail);
  many.kernels = kernels(kKernelsInDetail + 1);
  EXPECT_THAT(text_of(few, TextStyle{}), HasSubstr("1 launch of 1 x 1 x 1 workgroups"));
  EXPECT_THAT(text_of(many, TextStyle{}), Not(HasSubstr("1 launch of 1 x 1 x 1 workgroups")));
  EXPECT_THAT(text_of(many, TextStyle{}), HasSubstr("9 kernels (--kernel NAME shows one)\n"));
  TextStyle style;
  style.full = true;
  EXPECT_THAT(text_of(many, style), HasSubstr("1 launch of 1 x 1 x 1 workgroups"));
}

}  // namespace
}  // namespace margay::profile
