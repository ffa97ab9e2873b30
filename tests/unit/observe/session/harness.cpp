#include "harness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

namespace margay::check {
namespace {

std::string without_edges(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

Listing::Listing(const std::string& base) {
  std::ifstream expected(base + ".expected");
  for (std::string line; std::getline(expected, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "kernel") {
      ListedKernel& kernel = kernels_.emplace_back();
      words >> kernel.name >> kernel.waves >> kernel.grid >> kernel.initcheck;
      continue;
    }
    std::string rest;
    std::getline(words, rest);
    const std::size_t bar = rest.find('|');
    kernels_.back().expected.push_back(
        {without_edges(rest.substr(0, bar)),
         bar == rest.npos ? "" : without_edges(rest.substr(bar + 1))});
  }
  std::ifstream symbols(base + ".symbols");
  std::string address, type, name;
  while (symbols >> address >> type >> name) {
    const std::size_t dot = name.find('.');
    if (dot == name.npos || name.ends_with(".kd")) continue;
    const std::uint64_t vaddr = std::stoull(address, nullptr, 16);
    vaddr_[name] = vaddr;
    // Two marks of one instruction are equivalent: the alphabetically first is used.
    mark_.try_emplace({name.substr(0, dot), vaddr}, name.substr(dot + 1));
  }
}

const Listing& Listing::instance() {
  static const Listing listing(MARGAY_SESSION_KERNELS);
  return listing;
}

const ListedKernel& Listing::kernel(std::string_view name) const {
  return *std::ranges::find(kernels_, name, &ListedKernel::name);
}

std::uint64_t Listing::mark(const std::string& kernel, const std::string& mark) const {
  return vaddr_.at(kernel + "." + mark);
}

std::string Listing::told(const Finding& finding) const {
  std::string text = fmt::format("{} {} {}", tool_name(finding.tool()),
                                 severity_name(finding.severity), kind_name(finding.kind));
  for (const Access& access : finding.accesses) {
    const auto mark = mark_.find({finding.kernel, access.vaddr});
    text +=
        fmt::format(" {}:{}", mark == mark_.end() ? access.instruction : mark->second, access.wave);
    const std::uint32_t workgroup = access.workgroup[0];
    if (access.lane != kNoNumber || workgroup != 0) text += fmt::format(".{}", access.lane);
    // A race between workgroups names both.
    if (workgroup != 0 || finding.message.says() == Says::workgroups_race)
      text += fmt::format(".{}", workgroup);
  }
  return text + fmt::format(" x{}", finding.count);
}

CheckConfig everything() {
  CheckConfig config;
  config.tools.set();
  return config;
}

CheckConfig tools_for(const ListedKernel& kernel) {
  CheckConfig config = everything();
  config.tools.set(index_of(Tool::initcheck), kernel.initcheck);
  return config;
}

Bench::Bench(unsigned threads, CheckConfig config, const std::string& code_object)
    : session_(config, {}) {
  load({.threads = threads}, code_object);
}
Bench::Bench(unsigned threads, CheckConfig config, std::chrono::milliseconds patience)
    : session_(config, {}) {
  load({.patience = patience, .threads = threads}, MARGAY_SESSION_KERNELS ".hsaco");
}

void Bench::load(const DeviceOptions& options, const std::string& code_object) {
  auto device = Device::create(options);
  ASSERT_TRUE(device) << device.error().text();
  device_ = std::move(*device);
  std::ifstream file(code_object, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)),
                                std::istreambuf_iterator<char>());
  std::vector<std::byte> image(bytes.size());
  std::memcpy(image.data(), bytes.data(), bytes.size());
  auto object = CodeObject::parse(std::move(image));
  ASSERT_TRUE(object) << object.error().text();
  auto module = device_->load(std::move(*object));
  ASSERT_TRUE(module) << module.error().text();
  module_ = std::move(*module);
  const auto allocate = [&](std::size_t size) {
    const auto block = device_->memory().allocate(size, "hipMalloc");
    return block ? static_cast<std::uint32_t*>(*block) : nullptr;
  };
  results_ = allocate(kResultBytes);
  unwritten_ = allocate(kUnwrittenBytes);
  small_ = allocate(kSmallBytes);
  ASSERT_NE(small_, nullptr);
}

Session::Checked Bench::launch(const ListedKernel& kernel, std::uint8_t unwritten_byte) {
  std::memset(results_, 0, kResultBytes);
  std::memset(unwritten_, unwritten_byte, kUnwrittenBytes);
  for (std::uint32_t n = 0; n < kSmallBytes / 4; ++n) small_[n] = n + 1;
  const auto unwritten = reinterpret_cast<std::uint64_t>(unwritten_);
  session_.memory().freed(unwritten);
  session_.memory().allocated(unwritten, kUnwrittenBytes);
  const std::array<std::uint32_t*, 3> pointers = {results_, unwritten_, small_};
  std::array<std::byte, sizeof pointers> packed;
  std::memcpy(packed.data(), pointers.data(), sizeof pointers);
  LaunchRequest request;
  request.module = module_;
  request.kernel = module_->object().find_kernel(kernel.name);
  EXPECT_NE(request.kernel, nullptr) << kernel.name;
  request.grid = {kernel.grid, 1, 1};
  request.block = {64 * kernel.waves, 1, 1};
  request.arguments = packed;
  return session_.launch(*device_, request);
}

}  // namespace margay::check
