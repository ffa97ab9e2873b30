#include "apps/fuzz/runner/run.h"

#include <dlfcn.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "apps/fuzz/programs/judge.h"
#include "apps/fuzz/programs/print.h"
#include "code_object/code_object.h"

namespace margay::fuzz {

namespace {

/// The kernels' arguments, as laid out by the compiler: in order, each at a multiple of its size.
struct KernelArguments {
  const void* in;
  void* out;
  void* arrays;
  std::uint32_t ua;
  std::int32_t ub;
  std::uint64_t uc;
  std::int64_t ud;
  float ue;
  double uf;
  std::uint32_t ug;
  std::int32_t uh;
};
using HostFunction = void (*)(std::uint32_t lane, const void* in, void* out, void* arrays,
                              std::uint32_t ua, std::int32_t ub, std::uint64_t uc, std::int64_t ud,
                              float ue, double uf, std::uint32_t ug, std::int32_t uh);

KernelArguments arguments_for(const Inputs& inputs) {
  const auto& u = inputs.uniforms;
  KernelArguments out{};
  out.ua = static_cast<std::uint32_t>(u[0]);
  out.ub = static_cast<std::int32_t>(u[1]);
  out.uc = u[2];
  out.ud = static_cast<std::int64_t>(u[3]);
  out.ue = std::bit_cast<float>(static_cast<std::uint32_t>(u[4]));
  out.uf = std::bit_cast<double>(u[5]);
  out.ug = static_cast<std::uint32_t>(u[6]);
  out.uh = static_cast<std::int32_t>(u[7]);
  return out;
}

/// A shared library, closed with this.
class Library {
 public:
  explicit Library(const std::filesystem::path& path)
      : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  [[nodiscard]] bool open() const { return handle_ != nullptr; }
  [[nodiscard]] void* find(const std::string& name) const { return dlsym(handle_, name.c_str()); }

 private:
  void* handle_;
};

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t index) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + 8 * index, 8);
  return word;
}

}  // namespace

Inputs::Inputs(std::uint64_t seed) : columns(kInputBytes) {
  Random random(derived_seed(seed, 1));
  for (unsigned t = 0; t < kScalarTypes; ++t) {
    const unsigned bytes = info(static_cast<Type>(t)).bits / 8;
    for (unsigned i = 0; i < kItems * kColumns; ++i) {
      const std::uint64_t value = interesting_value(static_cast<Type>(t), random);
      std::memcpy(columns.data() + input_offset(t) + i * bytes, &value, bytes);
    }
  }
  for (const UniformArgument& argument : kUniformArguments)
    uniforms.push_back(interesting_value(argument.type, random));
}

std::uint64_t Inputs::value(Type type, unsigned column, unsigned item) const {
  std::uint64_t out = 0;
  const unsigned bytes = info(type).bits / 8;
  std::memcpy(
      &out,
      columns.data() + input_offset(static_cast<unsigned>(type)) + (column * kItems + item) * bytes,
      bytes);
  return out;
}

Runner::Runner(RunnerSettings settings, Compiler compiler, std::unique_ptr<Device> device)
    : settings_(std::move(settings)),
      compiler_(std::move(compiler)),
      device_(std::move(device)),
      host_out_(kItems * kSlots * 8),
      host_arrays_(kGlobalArrays * kGlobalArrayBytes) {}

Result<Runner> Runner::create(RunnerSettings settings) {
  Compiler compiler = MARGAY_TRY(Compiler::create(settings.directory));
  DeviceOptions options;
  options.threads = 1;
  auto device = MARGAY_TRY(Device::create(std::move(options)));
  Runner out(std::move(settings), std::move(compiler), std::move(device));
  MARGAY_CHECK(out.allocate());
  return out;
}

Status Runner::allocate() {
  const auto take = [&](std::size_t bytes, const char* label) -> Result<std::span<std::byte>> {
    void* const at = MARGAY_TRY(device_->memory().allocate(bytes, label));
    return std::span(static_cast<std::byte*>(at), bytes);
  };
  in_ = MARGAY_TRY(take(kInputBytes, "in"));
  out_ = MARGAY_TRY(take(host_out_.size(), "out"));
  arrays_ = MARGAY_TRY(take(host_arrays_.size(), "mem"));
  return {};
}

Result<std::shared_ptr<LoadedModule>> Runner::load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> chars((std::istreambuf_iterator<char>(file)),
                                std::istreambuf_iterator<char>());
  std::vector<std::byte> bytes(chars.size());
  std::memcpy(bytes.data(), chars.data(), chars.size());
  if (settings_.tamper) settings_.tamper(bytes);
  return device_->load(MARGAY_TRY(CodeObject::parse(std::move(bytes))));
}

Result<std::vector<Outcome>> Runner::run(std::span<const Program> programs,
                                         const BuildOptions& options) {
  const Compiled compiled = MARGAY_TRY(compiler_.compile("programs", print_all(programs), options));
  const Library library(compiled.host);
  if (!library.open()) return fail(ErrorCode::system, dlerror(), compiled.host.string());
  LaunchRequest request;
  request.module = MARGAY_TRY(load(compiled.device));
  request.block = {kItems, 1, 1};
  std::vector<Outcome> out;
  for (std::size_t n = 0; n < programs.size(); ++n) {
    const std::string name = fmt::format("k{}", n);
    request.kernel = request.module->object().find_kernel(name);
    void* const function = library.find(name);
    if (request.kernel == nullptr || function == nullptr)
      return fail(ErrorCode::not_found, "a compiled program lacks the function " + name);
    out.push_back(run_one(programs[n], request, function));
  }
  return out;
}

Outcome Runner::run_one(const Program& program, LaunchRequest& request, void* host_function) {
  const Inputs inputs(program.seed);
  KernelArguments arguments = arguments_for(inputs);
  const auto function = reinterpret_cast<HostFunction>(host_function);
  std::ranges::fill(host_out_, std::byte{0});
  std::ranges::fill(host_arrays_, std::byte{0});
  std::ranges::fill(out_, std::byte{0});
  std::ranges::fill(arrays_, std::byte{0});
  std::ranges::copy(inputs.columns, in_.begin());
  for (unsigned item = 0; item < kItems; ++item)
    function(item, inputs.columns.data(), host_out_.data(), host_arrays_.data(), arguments.ua,
             arguments.ub, arguments.uc, arguments.ud, arguments.ue, arguments.uf, arguments.ug,
             arguments.uh);
  arguments.in = in_.data();
  arguments.out = out_.data();
  arguments.arrays = arrays_.data();
  request.arguments = std::as_bytes(std::span(&arguments, 1))
                          .first(offsetof(KernelArguments, uh) + sizeof arguments.uh);
  Outcome outcome;
  const auto report = device_->launch(request, settings_.coverage ? coverage_.get() : nullptr);
  if (!report) {
    outcome.device_error = report.error();
    return outcome;
  }
  wave_instructions_ += report->wave_instructions;
  outcome.difference = compare(program);
  return outcome;
}

std::optional<Difference> Runner::compare(const Program& program) const {
  for (unsigned item = 0; item < kItems; ++item) {
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      const std::size_t at = std::size_t{item} * kSlots + slot;
      const std::uint64_t device = word_at(out_, at), host = word_at(host_out_, at);
      if (slot >= kFirstApproximateSlot && (slot - kFirstApproximateSlot) % 2 == 0) {
        const std::uint64_t function = word_at(host_out_, at + 1);
        if (function == 0 || function != word_at(out_, at + 1)) continue;  // compared below
        const auto which = static_cast<unsigned>(function - 1);
        if (!approximation_holds(which, device, host))
          return Difference{
              item,
              fmt::format("{} (the host's is the argument, f64)", kApproximations[which].name),
              device, host};
        continue;
      }
      if (device == host) continue;
      std::string what = "what the atomics returned";
      if (slot < program.results.size()) {
        const std::uint32_t v = program.results[slot];
        what = fmt::format("v{} ({})", v, info(program.variables[v].type).name);
      } else if (slot >= kFirstApproximateSlot) {
        what = "whether an approximation ran";
      }
      return Difference{item, what, device, host};
    }
  }
  for (std::size_t at = 0; at < host_arrays_.size() / 8; ++at)
    if (word_at(arrays_, at) != word_at(host_arrays_, at))
      return Difference{0, fmt::format("global memory at byte {}", 8 * at), word_at(arrays_, at),
                        word_at(host_arrays_, at)};
  return std::nullopt;
}

}  // namespace margay::fuzz
