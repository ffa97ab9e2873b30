// Code objects as HIP sees them: modules, functions and device variables. A module embedded in a
// program by clang is only parsed when something in it is used, so that a program with many kernels
// starts in milliseconds.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/device/device.h"
#include "runtime/base/errors.h"
#include "runtime/base/handle_table.h"
#include "runtime/base/settings.h"
#include "runtime/device/devices.h"
#include "runtime/module/described_kernels.h"

/// What a hipFunction_t points to: a kernel of a loaded module and what the program set on it.
struct ihipModuleSymbol_t {
  std::string name;
  std::shared_ptr<margay::LoadedModule> module;
  const margay::Kernel* kernel = nullptr;
  /// With the names that the program gave it, if it did so before the first launch; then `kernel`
  /// points to it.
  std::optional<margay::Kernel> described;
  std::string readable;  ///< Its readable_name(), cached because each launch may print it.
  unsigned device = 0;   ///< On which the module was loaded.
  std::atomic<std::uint32_t> max_dynamic_lds_bytes = 0;  ///< Set by hipFuncSetAttribute.
  std::atomic<int> preferred_lds_carveout = -1;          ///< In percent; -1 is no preference.
};

namespace margay::runtime {

using Function = ihipModuleSymbol_t;

/// A range of device memory that a named variable of a module occupies.
struct Variable {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
};

/// The dependencies of loading modules.
struct CodeContext {
  Devices& devices;
  HandleTable<Function>& functions;  ///< Every kernel returned to the program.
  const DescribedKernels& described;
};

/// The code object or bundle that begins at `start`. Its length is not given; its own tables have
/// it, limited by the mapped memory.
[[nodiscard]] Answer<std::span<const std::byte>> image_at(Devices& devices, const std::byte* start);

class Module {
 public:
  /// The bundle that clang embedded in the program; read at first use on each device.
  Module(CodeContext context, const std::byte* bundle) : context_(context), bundle_(bundle) {}
  /// A plain code object or bundle whose size is known, for one device.
  Module(CodeContext context, std::vector<std::byte> image, unsigned device)
      : context_(context), image_(std::move(image)), device_(device) {}
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // `device`: the device for a bundle; a plain code object has its own.

  /// Parses the code object and places it in the memory of the device, the first time it is called.
  [[nodiscard]] Answer<std::shared_ptr<LoadedModule>> loaded(unsigned device);
  [[nodiscard]] Answer<std::shared_ptr<Function>> function(std::string_view name, unsigned device);
  [[nodiscard]] Answer<Variable> variable(std::string_view name, unsigned device);

  /// Declares that the device variable `name` is a pointer to managed memory at `address`; it is
  /// filled in when the module is loaded.
  void add_managed_pointer(std::string name, std::uint64_t address);

 private:
  struct OnDevice {
    std::shared_ptr<LoadedModule> loaded;
    std::map<std::string, std::shared_ptr<Function>, std::less<>> functions;
  };
  [[nodiscard]] Answer<std::shared_ptr<LoadedModule>> load_locked(unsigned device);
  /// Makes the managed variables of a code object that no host code registers.
  [[nodiscard]] Outcome make_managed_variables(const LoadedModule& module);

  const CodeContext context_;
  std::mutex mutex_;
  const std::byte* bundle_ = nullptr;
  std::vector<std::byte> image_;
  const std::optional<unsigned> device_;
  std::array<OnDevice, kMaxDevices> devices_;
  std::optional<Refusal> failure_;  // an invalid image is reported for each use, but read only once
  std::map<std::string, std::uint64_t, std::less<>> managed_pointers_;
  std::map<std::string, Variable, std::less<>> managed_here_;  // of a module that the program loads
};

}  // namespace margay::runtime

/// What a hipModule_t points to.
struct ihipModule_t : margay::runtime::Module {
  using Module::Module;
};
