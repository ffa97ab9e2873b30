// Calls kernels from Python: binds a kernel, or a host function that launches one, whose argument
// is a struct of gl tensors and plain values.
//
//   PYBIND11_MODULE(tk_kernel, m) {
//     py::bind_kernel<kernel>(m, "kernel", &Globals::a, &Globals::b);
//     py::bind_function<dispatch>(m, "dispatch", &Globals::a, &Globals::b);
//   }
//
// Python then calls tk_kernel.kernel(a, b) with torch tensors or arrays; results are written in
// place. Every call waits for the device and raises RuntimeError if the launch or the kernel
// failed.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "../kittens.cuh"
#include "tensor.cuh"

namespace kittens {
namespace py {
namespace detail {

/// Raises HIP's pending or asynchronous error, if there is one.
inline void check_device(const std::string& name, hipError_t status) {
  if (status == hipSuccess) status = hipGetLastError();
  if (status == hipSuccess) status = hipDeviceSynchronize();
  if (status == hipSuccess) return;
  (void)hipGetLastError();  // it is reported here; the next call starts clean
  {
    // What Ctrl-C stopped is a KeyboardInterrupt.
    const pybind11::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
  }
  throw std::runtime_error(name + ": " + hipGetErrorName(status) + ": " +
                           hipGetErrorString(status));
}

/// The struct is built by aggregate initialisation in the order of the pointers, so they must be
/// its first members, in order and without a gap. A wrong order would bind silently: refuse it.
template <typename Globals, typename... Members>
void check_members(const std::string& name, Members Globals::*... members) {
  alignas(Globals) static const char storage[sizeof(Globals)] = {};
  const auto* globals = reinterpret_cast<const Globals*>(storage);
  size_t end = 0;
  const auto in_place = [&](const void* member, size_t size, size_t alignment) {
    const size_t expected = (end + alignment - 1) / alignment * alignment;
    const size_t offset = static_cast<const char*>(member) - storage;
    end = offset + size;
    return offset == expected;
  };
  const bool ordered = (in_place(&(globals->*members), sizeof(Members), alignof(Members)) && ...);
  if (!ordered) {
    throw std::runtime_error(name +
                             ": the bound members must be the first members of the struct, in the "
                             "order of their declaration");
  }
}

template <typename Member>
Member from_object(const std::string& name, int position, const pybind11::object& object,
                   host_memory& host) {
  const std::string where = name + ": argument " + std::to_string(position + 1) + ": ";
  if constexpr (ducks::gl::all<Member>) {
    return tensor_argument<Member>(where, object, host);
  } else {
    try {
      return object.cast<Member>();
    } catch (const pybind11::cast_error&) {
      throw pybind11::type_error(where + "expected " + pybind11::type_id<Member>() + ", got " +
                                 type_name(object));
    }
  }
}

template <typename Globals, typename... Members, size_t... positions>
Globals globals_of(const std::string& name, host_memory& host, std::index_sequence<positions...>,
                   const pybind11::args& objects) {
  return Globals{
      from_object<Members>(name, static_cast<int>(positions), objects[positions], host)...};
}

/// pybind11's own message about a wrong call prints every argument, whole arrays among them.
inline void check_call(const std::string& name, size_t expected, const pybind11::args& objects,
                       const pybind11::kwargs& named) {
  if (!named.empty()) {
    throw pybind11::type_error(name + ": takes its arguments by position, not by name (" +
                               std::string(pybind11::str(named.begin()->first)) + ")");
  }
  if (objects.size() == expected) return;
  std::string given;
  for (const auto object : objects) {
    given += (given.empty() ? "" : ", ") +
             type_name(pybind11::reinterpret_borrow<pybind11::object>(object));
  }
  throw pybind11::type_error(
      name + ": expected " + std::to_string(expected) + " argument" + (expected == 1 ? "" : "s") +
      ", got " + std::to_string(objects.size()) + (given.empty() ? "" : " (" + given + ")"));
}

/// Defines a function of as many positional arguments as there are members; `run` gets the struct.
template <typename Run, typename Globals, typename... Members>
void define(pybind11::module_& m, const char* name, Run run, Members Globals::*... members) {
  check_members<Globals>(name, members...);
  m.def(name, [run, name = std::string(name)](const pybind11::args& objects,
                                              const pybind11::kwargs& named) {
    check_call(name, sizeof...(Members), objects, named);
    host_memory host;
    Globals globals =
        globals_of<Globals, Members...>(name, host, std::index_sequence_for<Members...>{}, objects);
    (void)hipGetLastError();  // an older error is not this call's
    const pybind11::gil_scoped_release release;
    check_device(name, run(globals));
    host.check_guarded();
  });
}

}  // namespace detail

/// kernel<<<globals.grid(), globals.block(), globals.dynamic_shared_memory()>>>(globals); the last
/// one is optional.
template <auto kernel, typename Globals, typename... Members>
void bind_kernel(pybind11::module_& m, const char* name, Members Globals::*... members) {
  const auto run = [](Globals& globals) {
    size_t shared_bytes = 0;
    if constexpr (requires { globals.dynamic_shared_memory(); }) {
      shared_bytes = globals.dynamic_shared_memory();
      const hipError_t status =
          hipFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                              hipFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
      if (status != hipSuccess) return status;
    }
    kernel<<<globals.grid(), globals.block(), shared_bytes>>>(globals);
    return hipSuccess;
  };
  detail::define(m, name, run, members...);
}

/// function(globals), by value.
template <auto function, typename Globals, typename... Members>
void bind_function(pybind11::module_& m, const char* name, Members Globals::*... members) {
  const auto run = [](Globals& globals) {
    function(globals);
    return hipSuccess;
  };
  detail::define(m, name, run, members...);
}

}  // namespace py
}  // namespace kittens
