// Reports to JSON and back, and what malformed ones give.
#include "report/check/json.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sample.h"

namespace margay::check {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Json, has_the_documented_fields) {
  const json document = json::parse(json_of(sample_report()));
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["tools"], json({"memcheck", "racecheck"}));
  EXPECT_TRUE(document["adversarial"].is_null());
  EXPECT_EQ(document["launches"], 3);
  ASSERT_EQ(document["findings"].size(), 1U);
  ASSERT_EQ(document["advice"].size(), 1U);
  const json& finding = document["findings"][0];
  EXPECT_EQ(finding["tool"], "racecheck");
  EXPECT_EQ(finding["severity"], "error");
  EXPECT_EQ(finding["count"], 4096);
  const json& access = finding["accesses"][0];
  EXPECT_EQ(access["wave"], 3);
  EXPECT_EQ(access["vaddr"], 0x1a40);
  EXPECT_EQ(access["frames"][1]["line"], 310);
  EXPECT_TRUE(document["advice"][0]["accesses"][0]["wave"].is_null());
  EXPECT_EQ(document["sites"][1]["is_barrier"], true);
  EXPECT_EQ(document["summary"],
            json({{"errors", 1}, {"notes", 0}, {"advice", 1}, {"suppressed", 4}}));
}

TEST(Json, comes_back_the_same) {
  Report report = sample_report();
  report.adversarial = true;
  report.seed = ~std::uint64_t{0};
  report.findings[0].fix = Fix::stream_event;
  report.findings[0].fix_arguments = {"stream 1", "stream 2"};
  report.findings[0].fix_place = {"/src/gemm.cpp", 93, 3, 60};
  report.findings[0].others = {
      {FindingKind::read_after_write, sentence("another"), report.findings[0].accesses, 7}};
  report.findings[0].accesses[0].nearby = true;
  report.findings[0].accesses[1].vaddr = kNoVaddr;
  report.findings[0].accesses[1].pc = 0;
  report.findings[0].accesses[0].pc = 0xffff'ffff'ffff'fff0;
  report.findings[0].computes = {{"jit(step)/add", "/src/model.py", 7, 0}};
  const auto read = parse_report(json_of(report));
  ASSERT_TRUE(read.has_value()) << read.error().text();
  ASSERT_EQ(read->findings[0].computes.size(), 1U);
  EXPECT_EQ(read->findings[0].computes[0].file, "/src/model.py");
  EXPECT_EQ(read->findings[0].accesses[1].vaddr, kNoVaddr);
  EXPECT_EQ(read->findings[1].accesses[0].wave, kNoNumber);
  EXPECT_EQ(read->sites[0].loosest, (std::array<std::uint32_t, 2>{2, kNeverNeeded}));
  EXPECT_EQ(read->seed, report.seed);
  EXPECT_EQ(read->findings[0].fix, Fix::stream_event);
  EXPECT_EQ(read->findings[0].fix_arguments, report.findings[0].fix_arguments);
  EXPECT_EQ(read->findings[0].fix_place, report.findings[0].fix_place);
  ASSERT_EQ(read->findings[0].others.size(), 1U);
  EXPECT_EQ(read->findings[0].others[0].count, 7U);
  EXPECT_EQ(json_of(*read), json_of(report));
}

TEST(Json, of_earlier_versions_keep_their_hints) {
  json document = json::parse(json_of(sample_report()));
  document["findings"][0]["fix"].erase("arguments");
  EXPECT_EQ(json::parse(json_of(*parse_report(document.dump())))["findings"][0]["hint"],
            "put a barrier after gemm.cpp:93");
  document["findings"][0].erase("fix");
  EXPECT_EQ(json::parse(json_of(*parse_report(document.dump())))["findings"][0]["hint"],
            "put a barrier after gemm.cpp:93");
}

TEST(Json, what_a_launch_that_was_not_over_has_shown) {
  Report report = sample_report();
  EXPECT_FALSE(json::parse(json_of(report)).contains("in_launch"));
  report.in_launch = 1;
  const auto read = parse_report(json_of(report));
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->in_launch, 1u);
  json document = json::parse(json_of(report));
  document["in_launch"] = 99;
  EXPECT_EQ(parse_report(document.dump())->in_launch, 1u) << "no more than there are";
}

TEST(Json, bytes_that_are_not_text_do_not_stop_it) {
  Report report = sample_report();
  report.findings[0].kernel = "k\xff\xfe";
  EXPECT_TRUE(parse_report(json_of(report)).has_value());
}

TEST(Json, malformed_reports_are_errors_that_name_the_field) {
  const auto complaint = [](const json& document) {
    const auto read = parse_report(document.dump());
    return read ? std::string("(read)") : read.error().what;
  };
  const json good = json::parse(json_of(sample_report()));
  ASSERT_EQ(complaint(good), "(read)");

  json bad = good;
  bad["findings"][0]["accesses"][1].erase("role");
  EXPECT_THAT(complaint(bad), HasSubstr("findings[0].accesses[1].role is missing"));
  bad = good;
  bad["findings"][0]["tool"] = "lintcheck";
  EXPECT_THAT(complaint(bad), HasSubstr("findings[0].tool is \"lintcheck\", which is no tool"));
  bad = good;
  bad["findings"][0]["tool"] = "memcheck";
  EXPECT_THAT(complaint(bad), HasSubstr("findings[0].tool is string, not the tool that finds "
                                        "write-after-read"));
  bad = good;
  bad["findings"][0]["kind"] = "write-after-reed";
  EXPECT_THAT(complaint(bad), HasSubstr("\"write-after-reed\", which is no kind"));
  bad = good;
  bad["findings"][0]["count"] = -3;
  EXPECT_THAT(complaint(bad), HasSubstr("findings[0].count is -3, which is out of range"));
  bad = good;
  bad["findings"][0]["count"] = 1.5;
  EXPECT_THAT(complaint(bad), HasSubstr("findings[0].count is number, not an integer"));
  bad = good;
  bad["sites"][0]["word"] = 0x1'0000'0000;
  EXPECT_THAT(complaint(bad), HasSubstr("sites[0].word is 4294967296, which is out of range"));
  bad = good;
  bad["findings"][0]["accesses"][0]["workgroup"] = {0, 1};
  EXPECT_THAT(complaint(bad), HasSubstr("accesses[0].workgroup is array, not an array of three"));
  bad = good;
  bad["findings"] = "none";
  EXPECT_THAT(complaint(bad), HasSubstr("findings is string, not an array"));
  bad = good;
  bad["version"] = 2;
  EXPECT_THAT(complaint(bad), HasSubstr("version 2"));
  EXPECT_THAT(complaint(json::array()), HasSubstr("the document is array, not an object"));
  EXPECT_THAT(parse_report("").error().what, HasSubstr("not JSON"));
}

TEST(Json, no_prefix_of_a_report_is_a_report) {
  const std::string text = json_of(sample_report());
  for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
    EXPECT_FALSE(parse_report(std::string_view(text).substr(0, size)).has_value()) << size;
  }
}

TEST(Json, each_value_replaced_by_one_of_another_type_is_survived) {
  const json good = json::parse(json_of(sample_report())).flatten();
  int refused = 0;
  for (const auto& [pointer, value] : good.items()) {
    for (const json& other : {json(nullptr), json(-1), json("x"), json(json::object())}) {
      json document = good.unflatten();
      document[json::json_pointer(pointer)] = other;
      if (!parse_report(document.dump())) ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(Json, reads_the_recorded_report_that_the_python_tests_read) {
  const auto read = read_report(MARGAY_RECORDED_REPORT);
  ASSERT_TRUE(read.has_value()) << read.error().text();
  std::ifstream file(MARGAY_RECORDED_REPORT);
  EXPECT_EQ(json::parse(json_of(*read)), json::parse(file));
}

class ReportFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "margay-json-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::filesystem::path directory_;
};

TEST_F(ReportFile, the_name_may_hold_the_process_id) {
  ASSERT_TRUE(write_report(sample_report(), (directory_ / "r-%p.json").string()).has_value());
  const auto file = directory_ / ("r-" + std::to_string(getpid()) + ".json");
  const auto read = read_report(file.string());
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(json_of(*read), json_of(sample_report()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1)
      << "nothing else is left behind";
}

TEST_F(ReportFile, what_cannot_be_written_or_read_is_an_error_with_the_path) {
  const std::string path = (directory_ / "no" / "r.json").string();
  EXPECT_EQ(write_report(sample_report(), path).error().where, path);
  EXPECT_EQ(read_report(path).error().where, path);
  std::ofstream(directory_ / "cut.json") << R"({"version":1,"tools":[)";
  EXPECT_THAT(read_report((directory_ / "cut.json").string()).error().where, HasSubstr("cut.json"));
}

}  // namespace
}  // namespace margay::check
