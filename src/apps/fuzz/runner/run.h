// Runs programs on the virtual device and on the host, and compares.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/fuzz/programs/program.h"
#include "apps/fuzz/runner/build.h"
#include "apps/fuzz/runner/coverage.h"
#include "base/error.h"
#include "exec/device/device.h"

namespace margay::fuzz {

/// The first result in which the two sides differ.
struct Difference {
  unsigned item = 0;
  std::string what;  ///< "v3 (u32)", "array a0, element 2"
  std::uint64_t device = 0, host = 0;
};

struct Outcome {
  std::optional<Difference> difference;
  std::optional<Error> device_error;  ///< The launch failed.
  bool compiled = true;               ///< False: the compiler crashed, nothing ran.
  [[nodiscard]] bool passed() const { return !difference && !device_error; }
};

/// The inputs of one program: a function of its seed.
struct Inputs {
  explicit Inputs(std::uint64_t seed);
  std::vector<std::byte> columns;
  std::vector<std::uint64_t> uniforms;  ///< As kUniformArguments.
  /// Value `column` of a scalar type for a work-item.
  [[nodiscard]] std::uint64_t value(Type type, unsigned column, unsigned item) const;
};

struct RunnerSettings {
  std::filesystem::path directory;  ///< For sources and compiled files.
  bool coverage = false;            ///< Record which instructions run.
  /// Lets a test break the device: called with each code object before it is loaded.
  std::function<void(std::vector<std::byte>&)> tamper = {};
};

class Runner {
 public:
  [[nodiscard]] static Result<Runner> create(RunnerSettings settings);

  /// Compiles the programs as one source and runs each. Fails when the compiler does.
  [[nodiscard]] Result<std::vector<Outcome>> run(std::span<const Program> programs,
                                                 const BuildOptions& options);
  [[nodiscard]] const Compiler& compiler() const { return compiler_; }
  [[nodiscard]] std::uint64_t wave_instructions() const { return wave_instructions_; }
  /// Empty unless requested.
  [[nodiscard]] Executions executions() const { return coverage_->executions(); }

 private:
  Runner(RunnerSettings settings, Compiler compiler, std::unique_ptr<Device> device);
  [[nodiscard]] Status allocate();
  [[nodiscard]] Result<std::shared_ptr<LoadedModule>> load(const std::filesystem::path& path);
  [[nodiscard]] Outcome run_one(const Program& program, LaunchRequest& request,
                                void* host_function);
  [[nodiscard]] std::optional<Difference> compare(const Program& program) const;

  RunnerSettings settings_;
  Compiler compiler_;
  std::unique_ptr<Device> device_;
  // Device memory; for the host there is a copy of it.
  std::span<std::byte> in_, out_, arrays_;
  std::vector<std::byte> host_out_, host_arrays_;
  std::uint64_t wave_instructions_ = 0;
  std::unique_ptr<Coverage> coverage_ = std::make_unique<Coverage>();
};

}  // namespace margay::fuzz
