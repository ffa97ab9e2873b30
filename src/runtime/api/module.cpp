// See module.h; and the HIP calls that load code objects and find what is in them.
#include "runtime/module/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "code_object/demangle.h"
#include "runtime/process/runtime.h"
#include "runtime/stream/ordering.h"

namespace margay::runtime {
namespace {

std::string names_of_kernels(const CodeObject& object) {
  constexpr std::size_t kShown = 8;
  const std::span<const Kernel> kernels = object.kernels();
  if (kernels.empty()) return "It holds no kernels.";
  std::string text = "Its kernels are ";
  for (std::size_t i = 0; i < std::min(kernels.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + kernels[i].name;
  }
  if (kernels.size() > kShown) text += fmt::format(" and {} more", kernels.size() - kShown);
  return text + ".";
}

/// The code object or bundle that begins at `start`. Its length is not given; its own tables have
/// it, as far as there is memory.
Answer<std::span<const std::byte>> image_at(const std::byte* start) {
  Device* const device = MARGAY_TRY(Runtime::instance().device());
  const auto address = reinterpret_cast<std::uint64_t>(start);
  const AddressRange range = device->memory().readable_range(address);
  if (!range.contains(address, 1))
    return refuse(hipErrorInvalidValue, fmt::format("The image at {} is no memory of this process.",
                                                    static_cast<const void*>(start)));
  const std::size_t size = MARGAY_TRY(bundle_size({start, range.end - address}));
  return std::span(start, size);
}

}  // namespace

std::string readable_name(const std::string& symbol) { return code_object::demangled(symbol); }

Module::~Module() {
  for (const OnDevice& device : devices_)
    for (const auto& [name, function] : device.functions)
      Runtime::instance().functions().remove(function.get());
}

unsigned Module::device() const { return device_.value_or(Runtime::current_device()); }

Answer<std::shared_ptr<LoadedModule>> Module::loaded() {
  const unsigned device = this->device();
  const std::lock_guard lock(mutex_);
  if (failure_) return std::unexpected(*failure_);
  std::shared_ptr<LoadedModule>& loaded = devices_[device].loaded;
  if (loaded == nullptr) {
    Answer<std::shared_ptr<LoadedModule>> module = load_locked(device);
    if (!module) {
      failure_ = module.error();
      return module;
    }
    loaded = std::move(*module);
    image_ = {};  // of a module for one device: a bundle has none
  }
  return loaded;
}

Answer<std::shared_ptr<LoadedModule>> Module::load_locked(unsigned device) {
  std::span<const std::byte> bytes = image_;
  if (bundle_ != nullptr) bytes = MARGAY_TRY(image_at(bundle_));
  CodeObject object = MARGAY_TRY(
      CodeObject::parse(MARGAY_TRY(find_image(bytes, Runtime::instance().gpu().arch()))));
  std::shared_ptr<LoadedModule> module =
      MARGAY_TRY(Runtime::instance().load(std::move(object), device));
  for (const auto& [name, address] : managed_pointers_) {
    const Symbol* const symbol = module->object().find_symbol(name);
    // The compiler drops variables that no kernel uses.
    if (symbol == nullptr) continue;
    if (symbol->size_bytes != sizeof address) {
      return std::unexpected(Refusal(Error{
          ErrorCode::invalid_image,
          fmt::format("The managed variable {} should be a pointer of {} bytes in the code object, "
                      "but has {} bytes.",
                      name, sizeof address, symbol->size_bytes),
          {},
          "Compile the host and the device part of the program with the same compiler."}));
    }
    std::memcpy(reinterpret_cast<void*>(module->base_address() + symbol->vaddr), &address,
                sizeof address);
  }
  return module;
}

Answer<std::shared_ptr<Function>> Module::function(std::string_view name) {
  const std::shared_ptr<LoadedModule> module = MARGAY_TRY(loaded());
  const unsigned device = this->device();
  const std::lock_guard lock(mutex_);
  auto& functions = devices_[device].functions;
  if (const auto known = functions.find(name); known != functions.end()) return known->second;
  const Kernel* const kernel = module->object().find_kernel(name);
  if (kernel == nullptr) {
    return refuse(hipErrorNotFound,
                  fmt::format("The code object has no kernel named \"{}\".", name),
                  names_of_kernels(module->object()));
  }
  auto function = std::make_shared<Function>();
  function->name = name;
  function->readable = readable_name(kernel->name);
  function->module = module;
  function->kernel = kernel;
  function->device = device;
  Runtime::instance().functions().add(function);
  functions.emplace(name, function);
  return function;
}

Answer<Variable> Module::variable(std::string_view name) {
  const std::shared_ptr<LoadedModule> module = MARGAY_TRY(loaded());
  const Symbol* const symbol = module->object().find_symbol(name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::object) {
    return refuse(
        hipErrorNotFound, fmt::format("The code object has no variable named \"{}\".", name),
        "The compiler drops device variables that no kernel uses and static ones; mark it "
        "with __attribute__((used)) or drop `static`.");
  }
  return Variable{module->base_address() + symbol->vaddr, symbol->size_bytes};
}

void Module::add_managed_pointer(std::string name, std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  managed_pointers_.emplace(std::move(name), address);
}

namespace {

Answer<std::shared_ptr<ihipModule_t>> find_module(hipModule_t handle) {
  std::shared_ptr<ihipModule_t> module = Runtime::instance().modules().find(handle);
  if (module == nullptr) {
    return refuse(hipErrorInvalidHandle, "The module handle is not that of a loaded module.",
                  "Use the handle that hipModuleLoad gave, before hipModuleUnload.");
  }
  return module;
}

// Reads the code object now: a program that loads a module by hand wants to know at once that it
// is bad.
Outcome add_module(hipModule_t* out, std::shared_ptr<ihipModule_t> module) {
  MARGAY_TRY(module->loaded());
  *out = Runtime::instance().modules().add(std::move(module));
  return {};
}

Outcome load_file(hipModule_t* out, const char* path) {
  if (out == nullptr || path == nullptr) {
    return refuse(hipErrorInvalidValue, "The module or the file name is a null pointer.");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return refuse(hipErrorFileNotFound,
                  fmt::format("The file {} cannot be read: {}.", path, std::strerror(errno)));
  }
  std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) return refuse(hipErrorInvalidImage, fmt::format("The file {} is empty.", path));
  std::vector<std::byte> bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  Outcome outcome =
      add_module(out, std::make_shared<ihipModule_t>(std::move(bytes), Runtime::current_device()));
  if (!outcome && outcome.error().error.where.empty()) outcome.error().error.where = path;
  return outcome;
}

Outcome load_data(hipModule_t* out, const void* image) {
  if (out == nullptr || image == nullptr) {
    return refuse(hipErrorInvalidValue, "The module or the image is a null pointer.");
  }
  const auto bytes = MARGAY_TRY(image_at(static_cast<const std::byte*>(image)));
  return add_module(
      out, std::make_shared<ihipModule_t>(std::vector<std::byte>(bytes.begin(), bytes.end()),
                                          Runtime::current_device()));
}

}  // namespace
}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  return api(__func__, [&] { return load_file(module, path); });
}

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return api(__func__, [&] { return load_data(module, image); });
}

// The options steer a just-in-time compiler, which a code object for gfx942 does not need.
hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned int, hipJitOption*,
                               void**) {
  return api(__func__, [&] { return load_data(module, image); });
}

hipError_t hipModuleUnload(hipModule_t handle) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_TRY(find_module(handle));
    order_host_waits_for_all();
    Runtime::instance().modules().remove(handle);
    return {};
  });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t handle, const char* name) {
  return api(__func__, [&]() -> Outcome {
    if (function == nullptr || name == nullptr) {
      return refuse(hipErrorInvalidValue, "The function or its name is a null pointer.");
    }
    const auto module = MARGAY_TRY(find_module(handle));
    *function = MARGAY_TRY(module->function(name)).get();
    return {};
  });
}

hipError_t hipModuleGetFunctionCount(unsigned int* count, hipModule_t handle) {
  return api(__func__, [&]() -> Outcome {
    if (count == nullptr) return refuse(hipErrorInvalidValue, "The count is a null pointer.");
    const auto module = MARGAY_TRY(find_module(handle));
    *count = static_cast<unsigned>(MARGAY_TRY(module->loaded())->object().kernels().size());
    return {};
  });
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, std::size_t* bytes, hipModule_t handle,
                              const char* name) {
  return api(__func__, [&]() -> Outcome {
    if (name == nullptr) return refuse(hipErrorInvalidValue, "The name is a null pointer.");
    const auto module = MARGAY_TRY(find_module(handle));
    const Variable variable = MARGAY_TRY(module->variable(name));
    if (address != nullptr) *address = reinterpret_cast<hipDeviceptr_t>(variable.address);
    if (bytes != nullptr) *bytes = variable.size_bytes;
    return {};
  });
}

}  // extern "C"
