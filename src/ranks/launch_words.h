// What a leader tells a worker of a device and of a launch.
#pragma once

#include <cstdint>
#include <string>

#include "exec/device/device_options.h"
#include "exec/state/memory.h"
#include "exec/workgroup/launch_setup.h"
#include "ranks/wire.h"

namespace margay::ranks {

/// Changes with the messages and with what results are.
inline constexpr std::uint32_t kProtocol = 5;

struct Hello {
  std::uint32_t protocol = kProtocol;
  std::string gpu;  ///< Gpu::option
  MfmaMode mfma = MfmaMode::exact;
  std::string level;        ///< Of the host's instruction set, empty for the best.
  std::string fast_method;  ///< How `fast` computes, if that is asked for.
  AddressRange arena;       ///< Of the device's memory.
  /// Seconds; a worker that says nothing for so long during a launch is taken as lost.
  std::uint32_t silence = 30;
};
struct LaunchWords {
  std::uint64_t number = 0;
  std::uint64_t module = 0;  ///< A number for the code object; the worker keeps them.
  std::uint64_t base_address = 0;
  std::uint32_t kernel = 0;  ///< Its index in the code object.
  Dim3 grid, block;
  std::uint32_t dynamic_lds_bytes = 0;
  std::uint32_t stack_bytes = 0;
  std::uint32_t device = 0;
  std::uint64_t visible_devices = 0;
  LaunchAddresses addresses;
  std::uint64_t stride = 0;  ///< Portions::stride
};
/// Portions [begin, end). None left: empty.
struct Chunk {
  std::uint64_t begin = 0, end = 0;
  bool abandon = false;  ///< Nothing of this launch is wanted any more.
};
/// What comes back besides the bytes.
struct Counts {
  std::uint64_t wave_instructions = 0, mfma_instructions = 0;
};

void encode(Writer& out, const Hello& hello);
/// Of another protocol no more than its number is read.
void decode(Reader& in, Hello& hello);

/// How `fast` multiplies on this host; the same words mean the same results.
[[nodiscard]] std::string fast_method(std::string_view level);

}  // namespace margay::ranks
