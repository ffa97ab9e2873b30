// The registrations by clang's generated constructors of the program's kernels and variables: the
// address that the host code uses for each, and its name in the embedded code object.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "runtime/module/module.h"

namespace margay::runtime {

class Registry {
 public:
  explicit Registry(CodeContext context) : context_(context) {}

  /// Takes a pointer to a bundle; the returned handle stays valid until remove_module().
  [[nodiscard]] void** add_module(const std::byte* bundle);
  void remove_module(void** handle);

  void add_function(void** handle, const void* host_address, std::string device_name);
  void add_variable(void** handle, const void* host_address, std::string device_name);
  /// Managed variables have separate memory; the host reaches it through `*pointer`.
  [[nodiscard]] Outcome add_managed_variable(void** handle, void** pointer,
                                             const void* initial_value, std::string device_name,
                                             std::size_t size_bytes);

  /// The kernel behind the address of a `__global__` function, on a device, or behind a
  /// hipFunction_t.
  [[nodiscard]] Answer<std::shared_ptr<Function>> function(const void* host_address,
                                                           unsigned device);
  /// The device variable behind the address of a `__device__` or `__constant__` variable.
  [[nodiscard]] Answer<Variable> variable(const void* host_address, unsigned device);
  /// The address of byte `offset` of a variable on the current device; fails unless `bytes` fit
  /// after it.
  [[nodiscard]] Answer<std::byte*> in_symbol(const void* symbol, std::size_t bytes,
                                             std::size_t offset);

 private:
  struct Entry {
    std::shared_ptr<Module> module;
    std::string device_name;
    // Functions only, after first use on a device.
    std::array<std::shared_ptr<Function>, kMaxDevices> resolved;
    Variable managed;  // managed variables only
  };

  const CodeContext context_;
  std::mutex mutex_;
  std::map<const void*, std::shared_ptr<Module>> modules_;
  std::unordered_map<const void*, Entry> functions_;
  std::unordered_map<const void*, Entry> variables_;
};

}  // namespace margay::runtime
