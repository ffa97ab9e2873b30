// Memory that belongs to graphs: it has its address from the moment its node is made, as on a
// device, and exists until the last graph that holds the node is gone; the node itself does nothing
// when the graph runs.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <set>

#include "runtime/base/work.h"
#include "runtime/memory/allocator.h"

namespace margay::runtime {

/// Safe to use from several threads.
class GraphMemory {
 public:
  explicit GraphMemory(Allocator& allocator) : allocator_(allocator) {}

  /// The work of a node that allocates memory; returns the address at once.
  [[nodiscard]] Answer<Work> allocation(void** out, std::size_t bytes,
                                        std::shared_ptr<ihipMemPoolHandle_t> pool);
  /// The work of a node that frees memory.
  [[nodiscard]] Work release(void* pointer);

 private:
  /// One allocation.
  class Block {
   public:
    Block(GraphMemory& owner, void* pointer);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

   private:
    GraphMemory& owner_;
    void* const pointer_;
  };
  [[nodiscard]] bool owns(const void* pointer) const;

  Allocator& allocator_;
  mutable std::mutex mutex_;
  std::set<const void*> blocks_;
};

}  // namespace margay::runtime
