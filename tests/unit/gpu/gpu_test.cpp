// The machines: figures that data sheets and ROCm publish, written down a second time, and what has
// to hold for every machine that is added.
#include "gpu/gpu.h"
#include "gpu/gfx942/gfx942.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace margay {
namespace {

using testing::HasSubstr;

TEST(Gpus, AsPublished) {
  struct Published {
    const char* option;
    const char* name;
    std::uint32_t compute_units, xcds;
    std::uint64_t gib;
    double terabytes_per_second;
    std::uint32_t pci_device_id;
    bool is_apu;
  };
  // AMD's data sheets; rocprofiler-compute, mi_gpu_spec.yaml.
  constexpr Published kPublished[] = {
      {"mi325x", "AMD Instinct MI325X", 304, 8, 256, 6.0, 29861, false},
      {"mi300x", "AMD Instinct MI300X", 304, 8, 192, 5.3, 29857, false},
      {"mi300a", "AMD Instinct MI300A", 228, 6, 128, 5.3, 29856, true},
      {"mi308x", "AMD Instinct MI308X", 80, 4, 192, 5.3, 29858, false},
  };
  EXPECT_EQ(all_gpus().size(), std::size(kPublished)) << "add the new machine here";
  for (const Published& p : kPublished) {
    const auto found = find_gpu(p.option);
    ASSERT_TRUE(found) << p.option;
    const Gpu& gpu = **found;
    EXPECT_EQ(gpu.name, p.name);
    EXPECT_EQ(gpu.compute_units(), p.compute_units) << p.option;
    EXPECT_EQ(gpu.xcds, p.xcds) << p.option;
    EXPECT_EQ(gpu.memory_bytes, p.gib << 30) << p.option;
    EXPECT_DOUBLE_EQ(gpu.memory_bytes_per_second, p.terabytes_per_second * 1e12) << p.option;
    EXPECT_EQ(gpu.pci_device_id, p.pci_device_id) << p.option;
    EXPECT_EQ(gpu.is_apu, p.is_apu) << p.option;
  }
}

TEST(Gpus, TheDefaultIsAnMi325x) {
  EXPECT_EQ(default_gpu().option, "mi325x");
  EXPECT_EQ(default_gpu().short_name(), "MI325X");
  EXPECT_EQ(*find_gpu(""), &default_gpu());
}

TEST(Gpus, CapitalsDoNotCount) { EXPECT_EQ((*find_gpu("Mi300A"))->option, "mi300a"); }

TEST(Gpus, AnUnknownNameIsAnErrorWithTheList) {
  const auto gpu = find_gpu("mi300");
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.error().what, "there is no device \"mi300\"");
  for (const Gpu& known : all_gpus())
    EXPECT_THAT(gpu.error().hint, HasSubstr(std::string(known.option)));
  EXPECT_FALSE(find_gpu("mi300x "));
  EXPECT_EQ(gpu_named("mi300x"), nullptr);
}

TEST(Gpus, EveryMachineIsComplete) {
  std::set<std::string_view> options, names;
  for (const Gpu& gpu : all_gpus()) {
    SCOPED_TRACE(gpu.option);
    EXPECT_TRUE(options.insert(gpu.option).second);
    EXPECT_TRUE(names.insert(gpu.name).second);
    EXPECT_EQ(gpu_named(gpu.name), &gpu);
    EXPECT_GT(gpu.clock_khz, 0u);
    EXPECT_GT(gpu.memory_clock_khz, 0u);
    EXPECT_FALSE(gpu.memory_kind.empty());
    // Two CUs at most share an SQC, and the profiler notes them in 32 bits.
    EXPECT_LE(gpu.sqcs_per_xcd, gpu.cus_per_xcd);
    EXPECT_LE(gpu.cus_per_xcd, 2 * gpu.sqcs_per_xcd);
    EXPECT_LE(gpu.sqcs_per_xcd, 32u);
    EXPECT_LE(gpu.shader_engines_per_xcd, gpu.cus_per_xcd);
    // hipDeviceGetUuid has 16 characters, six of them for the name.
    EXPECT_LE(gpu.option.size(), 6u);
  }
}

// The profiler's address arithmetic is compiled for one line size, the executor for one wave size.
TEST(Architectures, ShareWhatCodeIsCompiledFor) {
  for (const Architecture* const a : all_architectures()) {
    EXPECT_EQ(a->wavefront_size, kGfx942.wavefront_size) << a->processor;
    EXPECT_EQ(a->caches.line_bytes, kGfx942.caches.line_bytes) << a->processor;
    EXPECT_EQ(a->caches.sector_bytes, kGfx942.caches.sector_bytes) << a->processor;
    EXPECT_EQ(a->caches.scalar_line_bytes, kGfx942.caches.scalar_line_bytes) << a->processor;
    EXPECT_EQ(a->caches.fetch_bytes, kGfx942.caches.fetch_bytes) << a->processor;
    EXPECT_EQ(a->caches.instruction_fill_bytes, kGfx942.caches.instruction_fill_bytes)
        << a->processor;
    EXPECT_EQ(a->cu.lds_banks, kGfx942.cu.lds_banks) << a->processor;
  }
}

// The tile library is compiled into programs that know no Gpu: its constants are the default's.
TEST(TileLibrary, HasTheDefaultsFigures) {
  std::ifstream file(MARGAY_TILE_CONFIG);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto constant = [&](const char* name) {
    std::smatch found;
    const std::regex line("constexpr int " + std::string(name) + " = (\\d+);");
    return std::regex_search(text, found, line) ? std::stoul(found[1]) : 0;
  };
  const ComputeUnit& cu = default_gpu().arch().cu;
  EXPECT_EQ(constant("NUM_XCDS"), default_gpu().xcds);
  EXPECT_EQ(constant("CUS_PER_XCD"), default_gpu().cus_per_xcd);
  EXPECT_EQ(constant("MAX_SHARED_MEMORY"), cu.lds_bytes);
}

}  // namespace
}  // namespace margay
