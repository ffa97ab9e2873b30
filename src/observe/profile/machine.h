// The shape of the device as the profiler's caches and schedule see it: MI325X (and MI300X).
//
// Sources: AMD CDNA 3 white paper (sizes, lines, ways of L2, what two CUs share); ROCm GPU hardware
// specifications; rocprofiler-compute's MI300X sample data (20 SQCs per XCD, 64-byte writes from
// vL1D to L2, 128-byte reads, 64-byte instruction requests, uniform use of the L2 channels by
// consecutive lines).
#pragma once

#include <cstdint>

namespace margay::profile {

inline constexpr std::uint32_t kXcds = 8;
inline constexpr std::uint32_t kCusPerXcd = 38;
inline constexpr std::uint32_t kShaderEnginesPerXcd = 4;
inline constexpr std::uint32_t kSqcsPerXcd = 20;  ///< L1I and sL1D; most are shared by two CUs.

inline constexpr std::uint32_t kLineBytes = 128;   ///< vL1D and L2.
inline constexpr std::uint32_t kSectorBytes = 64;  ///< What vL1D writes to L2.
inline constexpr std::uint32_t kScalarLineBytes = 64;
inline constexpr std::uint32_t kFetchBytes = 32;  ///< One instruction fetch.
/// What one L1I miss brings in, by requests of kSectorBytes: the vcopy run made four per miss, and
/// one miss covered its 120 bytes of code.
inline constexpr std::uint32_t kInstructionFillBytes = 256;

inline constexpr std::uint32_t kVectorCacheBytes = 32 * 1024;
/// Not published for CDNA3. Latency steps up sharply at 32 KiB (RRZE gpu-benches), as it does with
/// many ways and least-recently-used replacement.
inline constexpr std::uint32_t kVectorCacheWays = 64;
inline constexpr std::uint32_t kScalarCacheBytes = 16 * 1024;
inline constexpr std::uint32_t kScalarCacheWays = 4;  ///< As in earlier GCN devices.
inline constexpr std::uint32_t kInstructionCacheBytes = 64 * 1024;
inline constexpr std::uint32_t kL2Channels = 16;  ///< Per XCD.
inline constexpr std::uint32_t kL2ChannelBytes = 256 * 1024;
inline constexpr std::uint32_t kL2Ways = 16;
// Which line lies where in L2 is a hash that is not published ("evenly", says rocprofiler-compute);
// ours folds the address (cache.h).

/// Peak rates, all per clock of the shader engines at 2.1 GHz. White paper; where a measurement
/// says otherwise it is named in docs/prof.md.
inline constexpr double kClockHz = 2.1e9;
inline constexpr double kL2BytesPerClock = 128.0 * kL2Channels * kXcds;
inline constexpr double kVectorCacheBytesPerClock = 64;  ///< Per CU; measured 61 (RRZE).
inline constexpr double kLdsBytesPerClock = 128;         ///< Per CU.
inline constexpr double kMemoryBytesPerSecond = 6.0e12;  ///< MI325X.

}  // namespace margay::profile
