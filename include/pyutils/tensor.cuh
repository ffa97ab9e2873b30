// Python arrays as gl tensors: torch tensors, NumPy arrays and whatever else has
// __array_interface__, __cuda_array_interface__ or __dlpack__. Nothing is copied.
#pragma once

#include <pybind11/pybind11.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "../kittens.cuh"
#include "dlpack.cuh"

namespace kittens {
namespace py {
namespace detail {

[[noreturn]] inline void refuse(const std::string& where, const std::string& sentence) {
  throw std::runtime_error(where + sentence);
}

inline std::string type_name(const pybind11::object& object) {
  return pybind11::str(pybind11::type::of(object).attr("__name__"));
}

/// What is known of an array before it becomes a gl.
struct array_view {
  uint64_t pointer = 0;
  std::vector<int64_t> shape;
  std::string type;  // "float32", "bfloat16", ...
  bool contiguous = false;
  bool on_host = false;
  bool read_only = false;
  const char* remedy = "";  ///< What makes a contiguous copy.
};

inline std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "(";
  for (size_t n = 0; n < shape.size(); ++n) text += (n == 0 ? "" : ", ") + std::to_string(shape[n]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// Makes host arrays visible to the device for the time of a call, and keeps what owns them. On the
/// virtual device this only names the memory, so that an access past its end is found; a GPU pins
/// and maps it.
class host_memory {
 public:
  host_memory() = default;
  host_memory(const host_memory&) = delete;
  host_memory& operator=(const host_memory&) = delete;
  ~host_memory() {
    for (void* start : registered_) (void)hipHostUnregister(start);
  }

  void keep(pybind11::object owner) { owners_.push_back(std::move(owner)); }

  /// Remembers what an array holds that says it is read-only. A gl does not say which tensors a
  /// kernel writes, so that this shows only afterwards.
  void guard(const std::string& where, uint64_t address, size_t bytes) {
    guarded_.push_back({where, address, bytes, hash_of(address, bytes)});
  }
  /// Raises if the kernel has changed one of them.
  void check_guarded() const {
    for (const guarded& array : guarded_) {
      if (hash_of(array.address, array.bytes) != array.hash) {
        refuse(array.where,
               "The kernel has written to this array, which is read-only (its flag WRITEABLE is "
               "False)");
      }
    }
  }

  /// The device's address of host memory.
  uint64_t visible(const std::string& where, uint64_t address, size_t bytes) {
    if (bytes == 0) return address;
    void* start = reinterpret_cast<void*>(address);
    for (void* known : registered_) {
      if (known == start) return device_address(where, start);
    }
    const hipError_t status = hipHostRegister(start, bytes, hipHostRegisterMapped);
    if (status == hipSuccess) {
      registered_.push_back(start);
    } else if (status != hipErrorHostMemoryAlreadyRegistered) {
      refuse(where, std::string("The device cannot be given this host memory: ") +
                        hipGetErrorString(status));
    }
    return device_address(where, start);
  }

 private:
  struct guarded {
    std::string where;
    uint64_t address;
    size_t bytes;
    uint64_t hash;
  };
  /// Four sums side by side, each over every fourth word: as fast as memory.
  static uint64_t hash_of(uint64_t address, size_t bytes) {
    const auto* at = reinterpret_cast<const char*>(address);
    uint64_t sums[4] = {1, 2, 3, 4};
    const auto mix = [](uint64_t& sum, uint64_t word) {
      sum = (sum ^ word) * 0x9e3779b97f4a7c15;
      sum ^= sum >> 29;
    };
    for (; bytes >= 32; bytes -= 32, at += 32) {
      uint64_t words[4];
      std::memcpy(words, at, 32);
      for (int n = 0; n < 4; ++n) mix(sums[n], words[n]);
    }
    for (; bytes > 0; --bytes, ++at) mix(sums[bytes % 4], static_cast<unsigned char>(*at));
    for (int n = 1; n < 4; ++n) mix(sums[0], sums[n]);
    return sums[0];
  }

  static uint64_t device_address(const std::string& where, void* start) {
    void* mapped = nullptr;
    const hipError_t status = hipHostGetDevicePointer(&mapped, start, 0);
    if (status != hipSuccess) {
      refuse(where,
             std::string("This host memory has no device address: ") + hipGetErrorString(status));
    }
    return reinterpret_cast<uint64_t>(mapped);
  }
  std::vector<void*> registered_;
  std::vector<pybind11::object> owners_;
  std::vector<guarded> guarded_;
};

inline array_view view_torch(const pybind11::object& tensor) {
  array_view view;
  view.pointer = tensor.attr("data_ptr")().cast<uint64_t>();
  for (const auto size : tensor.attr("shape")) view.shape.push_back(size.cast<int64_t>());
  view.type = pybind11::str(tensor.attr("dtype"));
  if (view.type.starts_with("torch.")) view.type.erase(0, 6);
  view.contiguous = tensor.attr("is_contiguous")().cast<bool>();
  view.on_host = pybind11::str(tensor.attr("device").attr("type")).cast<std::string>() == "cpu";
  view.remedy = "tensor.contiguous()";
  return view;
}

/// The array interface (NumPy documentation, "The array interface protocol"): typestr gives the
/// type, and strides are absent for contiguous arrays. An extension type such as ml_dtypes'
/// bfloat16 shows as raw bytes there, so its name is taken from the dtype.
inline array_view view_interface(const pybind11::object& array, const char* attribute) {
  const pybind11::dict interface = array.attr(attribute);
  array_view view;
  view.remedy = "numpy.ascontiguousarray";
  view.on_host = std::string(attribute) == "__array_interface__";
  const auto data = interface["data"].cast<pybind11::tuple>();
  view.pointer = data[0].cast<uint64_t>();
  view.read_only = data[1].cast<bool>();
  for (const auto size : interface["shape"].cast<pybind11::tuple>()) {
    view.shape.push_back(size.cast<int64_t>());
  }
  const auto code = interface["typestr"].cast<std::string>();
  const std::pair<const char*, const char*> kTypes[] = {
      {"<f4", "float32"}, {"<f2", "float16"}, {"<u2", "uint16"}, {"|u1", "uint8"}, {"|b1", "bool"}};
  view.type = code;
  for (const auto& [typestr, type] : kTypes) {
    if (code == typestr) view.type = type;
  }
  if (pybind11::hasattr(array, "dtype") && pybind11::hasattr(array.attr("dtype"), "name")) {
    view.type = pybind11::str(array.attr("dtype").attr("name"));
  }
  view.contiguous = true;
  if (interface.contains("strides") && !interface["strides"].is_none()) {
    const auto strides = interface["strides"].cast<pybind11::tuple>();
    const int64_t item = std::stoll(code.substr(2));
    int64_t expected = item;
    for (size_t axis = view.shape.size(); axis-- > 0;) {
      if (view.shape[axis] != 1 && strides[axis].cast<int64_t>() != expected) {
        view.contiguous = false;
      }
      expected *= view.shape[axis];
    }
  }
  return view;
}

inline array_view view_dlpack(const pybind11::object& tensor, host_memory& host) {
  const pybind11::object capsule = tensor.attr("__dlpack__")();
  const dlpack_tensor& found = dlpack_of(capsule);
  array_view view;
  view.pointer = reinterpret_cast<uint64_t>(found.data) + found.byte_offset;
  view.shape.assign(found.shape, found.shape + found.ndim);
  view.type = dlpack_type(found);
  view.contiguous = dlpack_contiguous(found);
  view.remedy = "its library";
  view.on_host = dlpack_on_host(found);
  host.keep(capsule);
  return view;
}

template <typename T>
constexpr const char* type_of = "?";
template <>
inline constexpr const char* type_of<float> = "float32";
template <>
inline constexpr const char* type_of<half> = "float16";
template <>
inline constexpr const char* type_of<bf16> = "bfloat16";
template <>
inline constexpr const char* type_of<double> = "float64";
template <>
inline constexpr const char* type_of<int> = "int32";
template <>
inline constexpr const char* type_of<int8_t> = "int8";
template <>
inline constexpr const char* type_of<uint8_t> = "uint8";
template <>
inline constexpr const char* type_of<fp8e4m3> = "float8_e4m3fnuz";
template <>
inline constexpr const char* type_of<fp8e5m2> = "float8_e5m2fnuz";

/// NumPy has no type of its own for these, so their bits may come as unsigned numbers.
template <typename T>
constexpr const char* bits_of = nullptr;
template <>
inline constexpr const char* bits_of<bf16> = "uint16";
template <>
inline constexpr const char* bits_of<fp8e4m3> = "uint8";
template <>
inline constexpr const char* bits_of<fp8e5m2> = "uint8";
/// A mask: 0 or 1.
template <>
inline constexpr const char* bits_of<uint8_t> = "bool";

template <typename T>
void check_type(const std::string& where, const std::string& given) {
  if (given == type_of<T>) return;
  std::string expected = type_of<T>;
  if constexpr (bits_of<T> != nullptr) {
    if (given == bits_of<T>) return;
    expected += std::string(" (or ") + bits_of<T> + " with its bits)";
  }
  refuse(where, "Expected dtype " + expected + ", got " + given);
}

inline array_view view_of(const std::string& where, const pybind11::object& object,
                          host_memory& host) {
  if (pybind11::hasattr(object, "data_ptr") && pybind11::hasattr(object, "is_contiguous")) {
    return view_torch(object);
  }
  for (const char* interface : {"__cuda_array_interface__", "__array_interface__"}) {
    if (pybind11::hasattr(object, interface)) return view_interface(object, interface);
  }
  if (pybind11::hasattr(object, "__dlpack__")) return view_dlpack(object, host);
  refuse(where,
         "Expected a torch.Tensor, a NumPy array or an object with DLPack or __array_interface__, "
         "got " +
             type_name(object));
}

template <ducks::gl::all GL>
GL tensor_argument(const std::string& where, const pybind11::object& object, host_memory& host) {
  static_assert(
      !GL::is_strided,
      "kittens: tensors come from Python without strides; bind a gl without `strided` and "
      "take a view() of it in the kernel");
  using T = typename GL::T;
  const array_view view = view_of(where, object, host);
  check_type<T>(where, view.type);
  if (!view.contiguous) {
    refuse(where, "Tensor must be contiguous, and this one of shape " + shape_text(view.shape) +
                      " is not (" + view.remedy + " makes a copy that is)");
  }
  if (view.shape.size() > 4) {
    refuse(where, "Expected Tensor.ndim <= 4, got " + std::to_string(view.shape.size()));
  }

  size_t bytes = sizeof(T);
  int dims[4] = {1, 1, 1, 1};
  for (size_t i = 0; i < view.shape.size(); ++i) {
    if (view.shape[i] > std::numeric_limits<int>::max()) {
      refuse(where, "Every dimension must be below 2^31");
    }
    dims[4 - view.shape.size() + i] = static_cast<int>(view.shape[i]);
    bytes *= view.shape[i];
  }
  if (view.read_only && view.on_host) host.guard(where, view.pointer, bytes);
  const uint64_t pointer = view.on_host ? host.visible(where, view.pointer, bytes) : view.pointer;
  try {
    return make_gl<GL>(pointer, dims[0], dims[1], dims[2], dims[3]);
  } catch (const std::runtime_error& error) {
    refuse(where, error.what());
  }
}

}  // namespace detail
}  // namespace py
}  // namespace kittens
