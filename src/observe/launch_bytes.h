// What is asked and answered of a launch's memory and arguments between the processes that share
// it.
#pragma once

#include <tuple>

#include "base/bytes.h"
#include "base/error.h"
#include "exec/state/memory.h"
#include "observe/tensor_arguments.h"

namespace margay {

auto members(Is<Error> auto& error) { return std::tie(error.code, error.what, error.hint); }
auto members(Is<Allocation> auto& allocation) {
  return std::tie(allocation.range, allocation.serial, allocation.label, allocation.freed,
                  allocation.placement);
}
auto members(Is<TensorArgument> auto& tensor) {
  return std::tie(tensor.declared, tensor.name, tensor.offset, tensor.type, tensor.element,
                  tensor.range, tensor.memory_end, tensor.element_bytes, tensor.shape,
                  tensor.strided);
}

}  // namespace margay
