// Reads DLPack capsules: tensors of any library that has __dlpack__, without that library. The
// structures are those of dlpack.h 0.8, whose layout is its interface.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kittens {
namespace py {
namespace detail {

struct dlpack_tensor {
  void* data;
  int32_t device_type;
  int32_t device_id;
  int32_t ndim;
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;  // in elements; null for contiguous tensors
  uint64_t byte_offset;
};
static_assert(sizeof(dlpack_tensor) == 48 && offsetof(dlpack_tensor, shape) == 24);

/// "float32", "bfloat16", ... as NumPy and torch call it.
inline std::string dlpack_type(const dlpack_tensor& tensor) {
  const std::string bits = std::to_string(tensor.bits);
  if (tensor.lanes != 1) return std::to_string(tensor.lanes) + " lanes";
  switch (tensor.code) {
    case 0:
      return "int" + bits;
    case 1:
      return "uint" + bits;
    case 2:
      return "float" + bits;
    case 4:
      return "bfloat" + bits;
    case 6:
      return "bool";
    default:
      return "DLPack type code " + std::to_string(tensor.code);
  }
}

inline bool dlpack_contiguous(const dlpack_tensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t expected = 1;
  for (int axis = tensor.ndim; axis-- > 0;) {
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected) return false;
    expected *= tensor.shape[axis];
  }
  return true;
}

/// kDLCPU; a GPU's memory, and the host's as a GPU's library allocates it, have other numbers.
inline bool dlpack_on_host(const dlpack_tensor& tensor) { return tensor.device_type == 1; }

/// The capsule is not consumed: it owns the memory for as long as it lives.
inline const dlpack_tensor& dlpack_of(const pybind11::object& capsule) {
  const auto* tensor =
      static_cast<const dlpack_tensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (tensor == nullptr) throw pybind11::error_already_set();
  return *tensor;
}

}  // namespace detail
}  // namespace py
}  // namespace kittens
