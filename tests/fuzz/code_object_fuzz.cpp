// libFuzzer entry: any bytes through everything the code-object library does.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  margay::test::exercise({bytes, bytes + size});
  return 0;
}
