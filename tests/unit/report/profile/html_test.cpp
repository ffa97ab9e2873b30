// The page as text: what is embedded is the data, all of it, and nothing else gets in or out. How
// it looks and that its scripts run is for a browser.
#include "report/profile/page/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fake_profile.h"
#include "report/profile/analysis/lines.h"
#include "report/profile/analysis/metrics.h"
#include "report/profile/page/html_data.h"

namespace margay::profile {
namespace {

using testing::HasSubstr;
using testing::Not;

std::optional<std::vector<std::string>> read(const std::string& file) {
  if (file == fake::kUserFile)
    return std::vector<std::string>{"// see https://example.org </script>", "#include <x>",
                                    "int x;"};
  if (file == fake::kLibraryFile) return std::vector<std::string>{"a", "b", "c"};
  return std::nullopt;
}

std::vector<Advice> advise(const KernelProfile& kernel) {
  return {{"what of " + kernel.name, "why </script>", "fix", "effect", 1, 0}};
}

struct Page {
  std::string shell;  ///< Without the data.
  std::string data;
};
/// The page as a browser divides it: the element with the data ends at the first "</script".
Page divided(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(open) + open.size();
  const std::size_t end = html.find("</script", begin);
  return {html.substr(0, begin) + html.substr(end), html.substr(begin, end - begin)};
}

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Html, the_data_is_embedded_once_and_unchanged) {
  const Profile profile = fake::profile();
  const Page page = divided(html_of(profile, read, advise));
  EXPECT_EQ(Json::parse(page.data), page_data(profile, read, advise));
  EXPECT_EQ(occurrences(page.shell, "application/json"), 1U);
  EXPECT_THAT(page.shell, Not(HasSubstr("{{")));
  EXPECT_THAT(page.shell, HasSubstr("JSON.parse"));
}

TEST(Html, says_which_lds_no_instruction_reaches) {
  Profile profile = fake::profile();
  KernelProfile& kernel = profile.kernels.at(0);
  const auto said = [&] { return page_data(profile, read, advise)["kernels"][0]["unused_lds"]; };
  for (Site& site : kernel.sites) site.traits.loads_to_lds = false, site.lds.reset();
  kernel.resources.limit = "LDS";
  kernel.resources.static_lds_bytes = 65536;
  kernel.resources.dynamic_lds_bytes = 0;
  EXPECT_EQ(said(), "");
  kernel.sites.at(0).lds.emplace().reached_bytes = 16384;
  EXPECT_THAT(said(), HasSubstr("no LDS instruction went past the first 16384 of the 65536 bytes"));
  EXPECT_THAT(html_of(profile, read, advise), HasSubstr("kernel.unused_lds"));
}

TEST(Html, asks_nothing_of_the_network) {
  const std::string shell = divided(html_of(fake::profile(), read, advise)).shell;
  for (const char* reference :
       {"http://", "https://", "src=", "url(", "@import", "import(", "fetch(", "XMLHttpRequest"})
    EXPECT_THAT(shell, Not(HasSubstr(reference)));
  EXPECT_THAT(shell, HasSubstr("default-src 'none'"));
}

TEST(Html, modelled_time_is_in_the_data_if_there_is_one) {
  Profile profile = fake::profile();
  EXPECT_TRUE(page_data(profile, read, advise)["kernels"][0]["time"].is_null());
  KernelProfile& kernel = profile.kernels[0];
  timing::KernelTime& time = kernel.time.emplace();
  time.us_boost = 12.5;
  time.error_percent = 20;
  time.bound = timing::Bound::lds;
  time.sites.resize(kernel.sites.size());
  time.sites[0].latency = 640;
  const Json data = page_data(profile, read, advise)["kernels"][0]["time"];
  EXPECT_EQ(data["us_boost"], 12.5);
  EXPECT_EQ(data["error_percent"], 20);
  EXPECT_EQ(data["bound"], "LDS port");
  EXPECT_EQ(data["lines"][0]["latency"], 640);
  EXPECT_THAT(divided(html_of(profile, read, advise)).shell, HasSubstr("Modelled time"));
}

TEST(Html, hostile_names_stay_text) {
  Profile profile;
  profile.device = profile.schedule = profile.mfma = fake::kHostileName;
  profile.kernels = {fake::hostile()};
  const std::string html = html_of(profile, read, advise);
  EXPECT_EQ(occurrences(html, "<script"), 2U);
  EXPECT_EQ(occurrences(html, "</script"), 2U);
  EXPECT_EQ(occurrences(html, "<!--"), 0U);
  EXPECT_EQ(occurrences(html, "<img"), 0U);
  const Json data = Json::parse(divided(html).data);
  EXPECT_EQ(data["kernels"][0]["name"], fake::kHostileName);
  EXPECT_EQ(data["kernels"][0]["advice"][0]["why"], "why </script>");
}

TEST(Html, bytes_that_are_not_text_do_not_stop_it) {
  Profile profile = fake::profile();
  profile.kernels[1].sites[0].text = "v_mov\xff";
  const Json data = Json::parse(divided(html_of(profile, read)).data);
  EXPECT_EQ(data["kernels"][1]["sites"][0]["text"], "v_mov\xef\xbf\xbd");
}

TEST(Html, every_kernel_and_instruction_is_there) {
  const Profile profile = fake::profile();
  const Json data = Json::parse(divided(html_of(profile, read, advise)).data);
  ASSERT_EQ(data["kernels"].size(), profile.kernels.size());
  for (std::size_t k = 0; k < profile.kernels.size(); ++k) {
    const KernelProfile& kernel = profile.kernels[k];
    const Json& shown = data["kernels"][k];
    EXPECT_EQ(shown["name"], kernel.name);
    ASSERT_EQ(shown["sites"].size(), kernel.sites.size());
    for (std::size_t n = 0; n < kernel.sites.size(); ++n) {
      EXPECT_EQ(shown["sites"][n]["address"], kernel.sites[n].vaddr);
      EXPECT_EQ(shown["sites"][n]["text"], kernel.sites[n].text);
      EXPECT_EQ(shown["sites"][n]["n"], kernel.sites[n].executions);
      EXPECT_EQ(shown["sites"][n].contains("lds"), kernel.sites[n].lds.has_value());
      EXPECT_EQ(shown["sites"][n].contains("memory"), kernel.sites[n].memory.has_value());
    }
    ASSERT_EQ(shown["counters"].size(), kCounters);
    EXPECT_EQ(shown["metrics"].size(), metrics_of(kernel).size());
    EXPECT_EQ(shown["lines"].size(), lines_of(kernel).size());
    EXPECT_EQ(shown["tensors"].size(), kernel.tensors.size());
    ASSERT_EQ(shown["maps"].size(), kernel.maps.size());
    for (std::size_t n = 0; n < kernel.maps.size(); ++n)
      EXPECT_EQ(shown["maps"][n]["ranges"].size(), 4 * kernel.maps[n].ranges.size());
  }
}

TEST(Html, an_instruction_leads_to_its_lines) {
  const Json data = page_data(fake::profile(), read, {});
  const Json& kernel = data["kernels"][0];
  const auto& sites = kernel["sites"];
  const auto lds = std::ranges::find_if(sites, [](const Json& s) { return s.contains("lds"); });
  ASSERT_NE(lds, sites.end());
  const Json& chain = kernel["chains"][(*lds)["chain"].get<std::size_t>()];
  ASSERT_EQ(chain.size(), 2U);
  const Json& inner = kernel["frames"][chain[1].get<std::size_t>()];
  EXPECT_EQ(data["strings"][inner[0].get<std::size_t>()], fake::kLibraryFile);
  EXPECT_EQ(inner[1], 3);
  EXPECT_EQ(data["strings"][inner[3].get<std::size_t>()], "kittens::load<rt_bf<16, 16>>");
}

TEST(Html, lds_and_maps_keep_their_numbers) {
  const Json data = page_data(fake::profile(), read, {});
  const Json& kernel = data["kernels"][0];
  for (const Json& site : kernel["sites"])
    if (site.contains("lds") && site["lds"]["ways"] == 4) {
      EXPECT_EQ(site["lds"]["lanes"], Json({0, 4, 8, 12}));
      EXPECT_EQ(site["lds"]["banks"].size(), 32U);
    }
  const TouchedRange range = fake::gemm().maps[1].ranges[5];
  const Json& ranges = kernel["maps"][1]["ranges"];
  EXPECT_EQ(ranges[20], range.begin);
  EXPECT_EQ(ranges[21], range.bytes);
  EXPECT_EQ(ranges[22], range.readers);
  EXPECT_EQ(ranges[23], range.writers);
}

TEST(Html, source_text_is_embedded_and_missing_source_is_known) {
  const Json data = page_data(fake::profile(), read, {});
  const auto pieces = [&](const std::string& file) {
    for (std::size_t n = 0; n < data["strings"].size(); ++n)
      if (data["strings"][n] == file) return data["sources"][std::to_string(n)];
    return Json("not there");
  };
  EXPECT_EQ(pieces(fake::kUserFile)[0]["lines"].size(), 3U);
  EXPECT_TRUE(pieces(fake::kLostFile).is_null());
  const Json blind = page_data(fake::profile(), nullptr, {});
  for (const auto& [file, text] : blind["sources"].items()) EXPECT_TRUE(text.is_null());
}

TEST(Html, of_a_long_file_only_the_used_parts_are_embedded) {
  const std::vector<std::string> lines(5000, "x");
  const Json pieces = source_pieces(lines, {1, 40, 3000, 4999, 7000});
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0]["first"], 1);
  EXPECT_EQ(pieces[0]["lines"].size(), 65U);  // 1 ... 40 + 25
  EXPECT_EQ(pieces[1]["first"], 2975);
  EXPECT_EQ(pieces[1]["lines"].size(), 51U);
  EXPECT_EQ(pieces[2]["first"], 4974);
  EXPECT_EQ(pieces[2]["lines"].size(), 27U);
  EXPECT_EQ(source_pieces({}, {1}).size(), 0U);
}

TEST(Html, says_whether_there_is_advice) {
  const Profile profile = fake::profile();
  EXPECT_EQ(page_data(profile, read, {})["kernels"][0]["advised"], false);
  const Json advised = page_data(profile, read, advise)["kernels"][0];
  EXPECT_EQ(advised["advised"], true);
  EXPECT_EQ(advised["advice"][0]["what"], "what of " + profile.kernels[0].name);
}

TEST(Html, stays_small) {
  Profile profile = fake::profile();
  const std::size_t plain = html_of(profile, read).size();
  EXPECT_LT(plain, 250'000U);
  WaveMap& map = profile.kernels[0].maps.emplace_back();
  for (std::uint64_t n = 0; n < 100'000; ++n) map.ranges.push_back({n * 48, 16, 0xff, 0});
  EXPECT_LT(html_of(profile, read).size(), plain + 2'500'000U);
}

TEST(Html, a_profile_without_kernels_is_a_page) {
  const std::string html = html_of({}, read, advise);
  EXPECT_TRUE(Json::parse(divided(html).data)["kernels"].empty());
  EXPECT_THAT(html, HasSubstr("<title>Profile without kernels</title>"));
}

}  // namespace
}  // namespace margay::profile
