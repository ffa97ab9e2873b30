// See module.h.
#include "runtime/module/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "code_object/bundle/bundle_size.h"
#include "code_object/bundle/find_image.h"
#include "runtime/base/names.h"

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

}  // namespace

Answer<std::span<const std::byte>> image_at(Devices& devices, const std::byte* start) {
  Device* const device = MARGAY_TRY(devices.get());
  const auto address = reinterpret_cast<std::uint64_t>(start);
  const AddressRange range = device->memory().readable_range(address);
  if (!range.contains(address, 1))
    return refuse(hipErrorInvalidValue, fmt::format("The image at {} is no memory of this process.",
                                                    static_cast<const void*>(start)));
  const std::size_t size = MARGAY_TRY(bundle_size({start, range.end - address}));
  return std::span(start, size);
}

Module::~Module() {
  for (const OnDevice& device : devices_)
    for (const auto& [name, function] : device.functions) context_.functions.remove(function.get());
  if (managed_here_.empty()) return;
  if (const auto device = context_.devices.get())
    for (const auto& [name, variable] : managed_here_)
      (void)(*device)->memory().free(reinterpret_cast<void*>(variable.address));
}

Answer<std::shared_ptr<LoadedModule>> Module::loaded(unsigned device) {
  device = device_.value_or(device);
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
    image_ = {};  // of a module for one device: none for a bundle
  }
  return loaded;
}

// The compiler makes of a managed variable `x` a pointer of that name, and `x.managed` with its
// initial value.
Outcome Module::make_managed_variables(const LoadedModule& module) {
  constexpr std::string_view kSuffix = ".managed";
  for (const Symbol& value : module.object().symbols()) {
    if (!value.name.ends_with(kSuffix)) continue;
    const std::string name = value.name.substr(0, value.name.size() - kSuffix.size());
    const Symbol* const pointer = module.object().find_symbol(name);
    if (pointer == nullptr || pointer->size_bytes != sizeof(std::uint64_t) ||
        managed_pointers_.contains(name) || managed_here_.contains(name))
      continue;
    Device* const device = MARGAY_TRY(context_.devices.get());
    void* const memory = MARGAY_TRY(device->memory().allocate(
        value.size_bytes, "managed variable " + name, {.device = 0, .shared = true}));
    const auto on_device = [&](const Symbol& symbol) {
      return reinterpret_cast<void*>(module.base_address() + symbol.vaddr);
    };
    std::memcpy(memory, on_device(value), value.size_bytes);
    const auto address = reinterpret_cast<std::uint64_t>(memory);
    std::memcpy(on_device(*pointer), &address, sizeof address);
    managed_here_.emplace(name, Variable{address, value.size_bytes});
  }
  return {};
}

Answer<std::shared_ptr<LoadedModule>> Module::load_locked(unsigned device) {
  std::span<const std::byte> bytes = image_;
  if (bundle_ != nullptr) bytes = MARGAY_TRY(image_at(context_.devices, bundle_));
  CodeObject object =
      MARGAY_TRY(CodeObject::parse(MARGAY_TRY(find_image(bytes, context_.devices.gpu().arch()))));
  std::shared_ptr<LoadedModule> module =
      MARGAY_TRY(context_.devices.load(std::move(object), device));
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
  if (bundle_ == nullptr) MARGAY_CHECK(make_managed_variables(*module));
  return module;
}

Answer<std::shared_ptr<Function>> Module::function(std::string_view name, unsigned device) {
  device = device_.value_or(device);
  const std::shared_ptr<LoadedModule> module = MARGAY_TRY(loaded(device));
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
  if ((function->described = context_.described.described(*kernel)))
    function->kernel = &*function->described;
  context_.functions.add(function);
  functions.emplace(name, function);
  return function;
}

Answer<Variable> Module::variable(std::string_view name, unsigned device) {
  const std::shared_ptr<LoadedModule> module = MARGAY_TRY(loaded(device));
  {
    const std::lock_guard lock(mutex_);
    if (const auto managed = managed_here_.find(name); managed != managed_here_.end())
      return managed->second;
  }
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

}  // namespace margay::runtime
