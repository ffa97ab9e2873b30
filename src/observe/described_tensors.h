// The tensors that a program has described to Margay (kittens::gl does): their addresses and
// shapes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/state/memory.h"

namespace margay {

/// A tensor as the program described it.
struct Tensor {
  AddressRange range;
  std::array<std::uint64_t, 4> shape = {};  ///< Batch, depth, rows, columns.
  std::uint32_t element_bytes = 0;
};

class DescribedTensors {
 public:
  void describe(const Tensor& tensor);
  [[nodiscard]] std::vector<Tensor> all() const;
  /// The described tensor that holds `address`; or else, with `near`, the one that ends nearest
  /// below it.
  [[nodiscard]] const Tensor* at(std::uint64_t address, bool near = false) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<Tensor>> tensors_;  // by first address
};

}  // namespace margay
