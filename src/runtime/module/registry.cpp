// See registry.h.
#include "runtime/module/registry.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace margay::runtime {

void** Registry::add_module(const std::byte* bundle) {
  auto module = std::make_shared<Module>(context_, bundle);
  const void* const handle = module.get();
  const std::lock_guard lock(mutex_);
  modules_.emplace(handle, std::move(module));
  return static_cast<void**>(const_cast<void*>(handle));
}

void Registry::remove_module(void** handle) {
  const std::lock_guard lock(mutex_);
  const auto found = modules_.find(handle);
  if (found == modules_.end()) return;
  const auto in_module = [&](const auto& entry) { return entry.second.module == found->second; };
  std::erase_if(functions_, in_module);
  std::erase_if(variables_, in_module);
  modules_.erase(found);
}

void Registry::add_function(void** handle, const void* host_address, std::string device_name) {
  const std::lock_guard lock(mutex_);
  const auto module = modules_.find(handle);
  if (module == modules_.end()) return;
  functions_[host_address] = Entry{module->second, std::move(device_name), {}, {}};
}

void Registry::add_variable(void** handle, const void* host_address, std::string device_name) {
  const std::lock_guard lock(mutex_);
  const auto module = modules_.find(handle);
  if (module == modules_.end()) return;
  variables_[host_address] = Entry{module->second, std::move(device_name), {}, {}};
}

Outcome Registry::add_managed_variable(void** handle, void** pointer, const void* initial_value,
                                       std::string device_name, std::size_t size_bytes) {
  // The host may read the variable before its first HIP call, so its memory is made here.
  Device* const device = MARGAY_TRY(context_.devices.get());
  void* const memory = MARGAY_TRY(device->memory().allocate(
      size_bytes, "managed variable " + device_name, {.device = 0, .shared = true}));
  std::memcpy(memory, initial_value, size_bytes);
  *pointer = memory;
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  const std::lock_guard lock(mutex_);
  const auto module = modules_.find(handle);
  if (module == modules_.end()) return {};
  module->second->add_managed_pointer(device_name, address);
  variables_[pointer] = Entry{module->second, std::move(device_name), {}, {address, size_bytes}};
  return {};
}

Answer<std::shared_ptr<Function>> Registry::function(const void* host_address, unsigned device) {
  std::shared_ptr<Module> module;
  std::string name;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = functions_.find(host_address); found != functions_.end()) {
      if (const auto& function = found->second.resolved[device]) return function;
      module = found->second.module;
      name = found->second.device_name;
    }
  }
  if (module == nullptr) {
    if (auto function = context_.functions.find(host_address)) return function;
    return refuse(
        hipErrorInvalidDeviceFunction,
        fmt::format("The address {} is not that of a __global__ function of this program.",
                    host_address),
        "Pass the kernel itself; link its object file with the HIP compiler so that it is "
        "registered.");
  }
  // Loading may take long and may call back here (managed variables): the lock is not held.
  std::shared_ptr<Function> function = MARGAY_TRY(module->function(name, device));
  const std::lock_guard lock(mutex_);
  if (const auto found = functions_.find(host_address); found != functions_.end()) {
    found->second.resolved[device] = function;
  }
  return function;
}

Answer<Variable> Registry::variable(const void* host_address, unsigned device) {
  std::shared_ptr<Module> module;
  std::string name;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = variables_.find(host_address); found != variables_.end()) {
      if (found->second.managed.address != 0) return found->second.managed;
      module = found->second.module;
      name = found->second.device_name;
    }
  }
  if (module == nullptr) {
    return refuse(hipErrorInvalidSymbol,
                  fmt::format("The address {} is not that of a __device__ or __constant__ variable "
                              "of this program.",
                              host_address),
                  "Pass the variable itself, as HIP_SYMBOL(name).");
  }
  return module->variable(name, device);
}

Answer<std::byte*> Registry::in_symbol(const void* symbol, std::size_t bytes, std::size_t offset) {
  const Variable found = MARGAY_TRY(variable(symbol, Devices::current()));
  if (offset > found.size_bytes || bytes > found.size_bytes - offset) {
    return refuse(hipErrorInvalidValue,
                  fmt::format("{} bytes at offset {} do not fit the device variable, which has {} "
                              "bytes.",
                              bytes, offset, found.size_bytes));
  }
  return reinterpret_cast<std::byte*>(found.address) + offset;
}

}  // namespace margay::runtime
