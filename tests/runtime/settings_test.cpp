// The environment variables, read from a made-up environment.
#include "runtime/base/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace margay::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Settings> read(std::map<std::string, std::string, std::less<>> variables) {
  return read_settings([&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

TEST(Settings, defaults_without_variables) {
  const auto settings = read({});
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->mfma, DeviceOptions{}.mfma);
  EXPECT_EQ(settings->threads, 0U);
  EXPECT_EQ(settings->gpu, &default_gpu());
  EXPECT_FALSE(settings->stats || settings->progress || settings->quiet);
}

TEST(Settings, empty_is_unset) {
  const auto settings = read({{"MARGAY_MFMA", ""}, {"MARGAY_THREADS", ""}, {"MARGAY_QUIET", ""}});
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->threads, 0U);
  EXPECT_EQ(settings->devices, 1U);
  EXPECT_EQ(settings->event_time, EventTime::host);
}

TEST(Settings, reads_each_value) {
  EXPECT_EQ(read({{"MARGAY_MFMA", "exact"}})->mfma, MfmaMode::exact);
  EXPECT_EQ(read({{"MARGAY_MFMA", "fma"}})->mfma, MfmaMode::fma);
  EXPECT_EQ(read({{"MARGAY_MFMA", "fast"}})->mfma, MfmaMode::fast);
  EXPECT_EQ(read({{"MARGAY_THREADS", "12"}})->threads, 12U);
  EXPECT_EQ(read({{"MARGAY_DEVICES", "8"}})->devices, 8U);
  EXPECT_EQ(read({{"MARGAY_EVENT_TIME", "host"}})->event_time, EventTime::host);
  EXPECT_EQ(read({{"MARGAY_EVENT_TIME", "modelled"}})->event_time, EventTime::modelled);
  EXPECT_EQ(read({{"MARGAY_EVENT_TIME", "modelled-sustained"}})->event_time,
            EventTime::modelled_sustained);
  EXPECT_EQ(read({{"MARGAY_HOST_LEVEL", "x86-64-v3"}})->host_level, "x86-64-v3");
  EXPECT_EQ(read({{"MARGAY_TARGET", "generic"}})->host_level, "generic") << "its former name";
  EXPECT_EQ(read({{"MARGAY_TARGET", "generic"}, {"MARGAY_HOST_LEVEL", "x86-64-v3"}})->host_level,
            "x86-64-v3");
  for (const Gpu& gpu : all_gpus())
    EXPECT_EQ(read({{"MARGAY_DEVICE", std::string(gpu.option)}})->gpu, &gpu);
  EXPECT_EQ(read({{"MARGAY_DEVICE", "MI300A"}})->gpu->name, "AMD Instinct MI300A");
  EXPECT_TRUE(read({{"MARGAY_STATS", "1"}})->stats);
  EXPECT_TRUE(read({{"MARGAY_PROGRESS", "1"}})->progress);
  EXPECT_TRUE(read({{"MARGAY_QUIET", "1"}})->quiet);
  EXPECT_FALSE(read({{"MARGAY_STATS", "0"}})->stats);
}

TEST(Settings, bad_values_are_errors_that_name_the_variable_and_what_it_takes) {
  const auto mode = read({{"MARGAY_MFMA", "exakt"}});
  ASSERT_FALSE(mode.has_value());
  EXPECT_EQ(mode.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(mode.error().what,
            "The environment variable MARGAY_MFMA is \"exakt\", which is not one of exact, fma or "
            "fast.");
  EXPECT_THAT(read({{"MARGAY_HOST_LEVEL", "avx2"}}).error().what,
              HasSubstr("one of generic, x86-64-v3 or x86-64-v4"));
  EXPECT_THAT(read({{"MARGAY_TARGET", "avx2"}}).error().hint, HasSubstr("Set MARGAY_HOST_LEVEL"));
  const auto device = read({{"MARGAY_DEVICE", "h100"}});
  ASSERT_FALSE(device.has_value());
  EXPECT_EQ(device.error().what,
            "The environment variable MARGAY_DEVICE is \"h100\", which is not one of " +
                gpu_options() + ".");
  EXPECT_THAT(read({{"MARGAY_DEVICE", "8"}}).error().hint, HasSubstr("MARGAY_DEVICES=8"));
  for (const char* threads : {"0", "-1", "two", "4 ", "99999", "1e3", "0x4"}) {
    const auto result = read({{"MARGAY_THREADS", threads}});
    ASSERT_FALSE(result.has_value()) << threads;
    EXPECT_THAT(result.error().what, HasSubstr("a number from 1 to 4096"));
  }
  EXPECT_THAT(read({{"MARGAY_DEVICES", "17"}}).error().what, HasSubstr("a number from 1 to 16"));
  EXPECT_THAT(
      read({{"MARGAY_EVENT_TIME", "gpu"}}).error().what,
      HasSubstr(
          "one of host, modelled, modelled-sustained, modelled-warm, modelled-warm-sustained"));
  for (const char* name : {"MARGAY_STATS", "MARGAY_PROGRESS", "MARGAY_QUIET"}) {
    const auto result = read({{name, "yes"}});
    ASSERT_FALSE(result.has_value()) << name;
    EXPECT_THAT(result.error().what, HasSubstr(name));
    EXPECT_THAT(result.error().hint, HasSubstr("0 or 1"));
  }
}

TEST(CheckSettings, nothing_is_checked_by_default) {
  const auto settings = read({{"MARGAY_CHECK", ""}, {"MARGAY_MUTATE", ""}});
  ASSERT_TRUE(settings.has_value());
  EXPECT_TRUE(settings->check.tools.none());
  EXPECT_EQ(settings->check.max_findings, 100U);
  EXPECT_FALSE(settings->check.adversarial || settings->check.leaks || settings->check.mutation);
  EXPECT_EQ(settings->check.json + settings->check.suppressions, "");
}

TEST(CheckSettings, reads_each_value) {
  EXPECT_TRUE(read({{"MARGAY_CHECK", "all"}})->check.tools.all());
  const check::ToolSet two = read({{"MARGAY_CHECK", "waitcheck,memcheck"}})->check.tools;
  EXPECT_THAT(check::names_of(two), testing::ElementsAre("memcheck", "waitcheck"));
  EXPECT_EQ(read({{"MARGAY_CHECK_JSON", "/tmp/%p.json"}})->check.json, "/tmp/%p.json");
  EXPECT_EQ(read({{"MARGAY_CHECK_MAX", "0"}})->check.max_findings, 0U);
  EXPECT_EQ(read({{"MARGAY_CHECK_SUPPRESSIONS", "s.txt"}})->check.suppressions, "s.txt");
  EXPECT_EQ(read({{"MARGAY_CHECK_ADVERSARIAL", "0"}})->check.adversarial, 0U);
  EXPECT_EQ(read({{"MARGAY_CHECK_ADVERSARIAL", "18446744073709551615"}})->check.adversarial,
            ~std::uint64_t{0});
  EXPECT_TRUE(read({{"MARGAY_CHECK_LEAKS", "1"}})->check.leaks);
}

TEST(CheckSettings, reads_a_mutation) {
  for (const char* text : {"_Z4gemmPf@1a40=bf800000", "_Z4gemmPf@0x1A40=0xbf800000"}) {
    const auto settings = read({{"MARGAY_MUTATE", text}});
    ASSERT_TRUE(settings.has_value()) << settings.error().text();
    ASSERT_TRUE(settings->check.mutation.has_value());
    EXPECT_EQ(settings->check.mutation->kernel, "_Z4gemmPf");
    EXPECT_EQ(settings->check.mutation->vaddr, 0x1a40U);
    EXPECT_THAT(settings->check.mutation->words, ElementsAre(0xbf800000U));
  }
  const auto both = read({{"MARGAY_MUTATE", "_Z4gemmPf@1a40=bf800000,bf800001"}});
  ASSERT_TRUE(both.has_value()) << both.error().text();
  EXPECT_THAT(both->check.mutation->words, ElementsAre(0xbf800000U, 0xbf800001U));
}

TEST(CheckSettings, bad_values_are_errors_that_name_the_variable) {
  EXPECT_THAT(read({{"MARGAY_CHECK", "memcheck,racechek"}}).error().what,
              HasSubstr("MARGAY_CHECK is \"memcheck,racechek\", which is not all, or some of "
                        "memcheck, racecheck, initcheck, synccheck, waitcheck"));
  EXPECT_THAT(read({{"MARGAY_CHECK", "memcheck,"}}).error().what, HasSubstr("MARGAY_CHECK"));
  for (const char* name : {"MARGAY_CHECK_MAX", "MARGAY_CHECK_ADVERSARIAL"}) {
    for (const char* value : {"-1", "ten", "1 ", "18446744073709551616"}) {
      const auto result = read({{name, value}});
      ASSERT_FALSE(result.has_value()) << name << "=" << value;
      EXPECT_THAT(result.error().what, HasSubstr(name));
    }
  }
  EXPECT_THAT(read({{"MARGAY_CHECK_LEAKS", "yes"}}).error().what, HasSubstr("MARGAY_CHECK_LEAKS"));
  for (const char* value :
       {"k", "k@1a40", "k=bf800000", "@1a40=bf800000", "k@=bf800000", "k@1a40=", "k@1g40=bf800000",
        "k@1a40=1bf800000", "k=1@2", "k@1a40=1,", "k@1a40=1,2,3"}) {
    const auto result = read({{"MARGAY_MUTATE", value}});
    ASSERT_FALSE(result.has_value()) << value;
    EXPECT_THAT(result.error().what, HasSubstr("KERNEL@VADDR=WORD"));
  }
}

}  // namespace
}  // namespace margay::runtime
