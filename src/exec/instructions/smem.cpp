// Scalar memory: loads, stores and atomics through the scalar data cache, its control, the clocks.
// Source: MI300 ISA guide, chapter 8 and section 12.6.
//
// Stores reach memory at once: s_dcache_wb does nothing, and s_dcache_discard finds its line
// already written back, which the hardware may do at any time.
#include <chrono>
#include <cstring>
#include <string>

#include "exec/instructions/all_rows.h"
#include "exec/instructions/atomics.h"
#include "exec/program/lane_access.h"
#include "exec/program/program.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"
#include "exec/state/wave.h"

namespace margay {
namespace {

/// What the stream has computed for watchers, or computed now.
ScalarAddress address_of(const Wave& wave, const Instruction& i) {
  if (wave.accesses == nullptr) return scalar_address(wave, i);
  return {.at = wave.accesses->access[0].at[0], .end = wave.accesses->access[0].end};
}

template <int dwords>
const Instruction* scalar_load(Wave& wave, const Instruction& i) {
  const std::uint64_t address = address_of(wave, i).at;
  if (!check_scalar_access(wave, i, address, 4 * dwords)) return nullptr;
  std::memcpy(&wave.s[i.sdst], reinterpret_cast<const void*>(address), 4 * dwords);
  return following(i);
}

/// Dwords beyond the buffer's end read 0.
template <int dwords>
const Instruction* scalar_buffer_load(Wave& wave, const Instruction& i) {
  const ScalarAddress buffer = address_of(wave, i);
  std::uint32_t value[dwords] = {};
  for (int d = 0; d < dwords; ++d) {
    const std::uint64_t offset = 4 * static_cast<std::uint64_t>(d);
    if (!buffer.has(offset, 4)) continue;
    if (!check_scalar_access(wave, i, buffer.at + offset, 4)) return nullptr;
    std::memcpy(&value[d], reinterpret_cast<const void*>(buffer.at + offset), 4);
  }
  std::memcpy(&wave.s[i.sdst], value, sizeof value);
  return following(i);
}

template <int dwords>
const Instruction* scalar_store(Wave& wave, const Instruction& i) {
  const std::uint64_t address = address_of(wave, i).at;
  if (!check_scalar_access(wave, i, address, 4 * dwords)) return nullptr;
  std::memcpy(reinterpret_cast<void*>(address), &wave.s[i.src[2].index()], 4 * dwords);
  return following(i);
}

/// Dwords beyond the buffer's end are dropped.
template <int dwords>
const Instruction* scalar_buffer_store(Wave& wave, const Instruction& i) {
  const ScalarAddress buffer = address_of(wave, i);
  for (unsigned d = 0; d < dwords; ++d) {
    const std::uint64_t offset = std::uint64_t{4} * d;
    if (!buffer.has(offset, 4)) continue;
    if (!check_scalar_access(wave, i, buffer.at + offset, 4)) return nullptr;
    std::memcpy(reinterpret_cast<void*>(buffer.at + offset), &wave.s[i.src[2].index() + d], 4);
  }
  return following(i);
}

// ---- Atomics ----------------------------------------------------------------------------------

/// The data, then the value it is compared with.
struct CompareSwap {};

template <typename T>
T scalar_value(const Wave& wave, unsigned index) {
  T value;
  std::memcpy(&value, &wave.s[index], sizeof value);
  return value;
}
/// One access for the wave; with GLC the old value replaces the data.
template <typename Operation, typename T>
const Instruction* scalar_atomic(Wave& wave, const Instruction& i) {
  const ScalarAddress where = address_of(wave, i);
  const std::uint64_t address = where.at;
  T old{};  // the result of an atomic beyond a buffer's end, which is not performed
  if (where.has(0, sizeof(T))) {
    if (!check_scalar_access(wave, i, address, sizeof(T))) return nullptr;
    if (address % sizeof(T) != 0)
      return wave.fault(i, {ErrorCode::illegal_address,
                            "a misaligned atomic: its address must be a multiple of " +
                                std::to_string(sizeof(T))});
    auto* const at = reinterpret_cast<std::uint8_t*>(address);
    const unsigned data = i.src[2].index();
    if constexpr (std::is_same_v<Operation, CompareSwap>)
      old = atomic::compare_exchange(at, scalar_value<T>(wave, data + sizeof(T) / 4),
                                     scalar_value<T>(wave, data));
    else
      old = atomic::exchange<Operation, T>(at, scalar_value<T>(wave, data));
  }
  if (i.extra & extra::kSc0) std::memcpy(&wave.s[i.sdst], &old, sizeof old);
  return following(i);
}

/// For cache lines and address translations, which are not modelled.
const Instruction* cache_hint(Wave&, const Instruction& i) { return following(i); }

// ---- Clocks -----------------------------------------------------------------------------------

/// Time is not modelled: both clocks are the host's, in 100 MHz ticks (s_memrealtime's rate on the
/// hardware) and in cycles of the compute units' clock.
std::uint64_t host_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}
std::uint64_t cycles(const Gpu& gpu) {
  constexpr std::uint64_t kPerMillisecond = 1'000'000;
  const std::uint64_t now = host_nanoseconds();
  // In two parts: the product would overflow 64 bits after hours.
  return now / kPerMillisecond * gpu.clock_khz +
         now % kPerMillisecond * gpu.clock_khz / kPerMillisecond;
}
const Instruction* memory_time(Wave& wave, const Instruction& i) {
  wave.set_scalar64(i.sdst, cycles(wave.group->program->gpu()));
  return following(i);
}
const Instruction* memory_real_time(Wave& wave, const Instruction& i) {
  wave.set_scalar64(i.sdst, host_nanoseconds() / 10);
  return following(i);
}

// ---- The list -----------------------------------------------------------------------------------

Row scalar_row(std::string_view mnemonic, Handler handler, std::size_t bytes,
               std::size_t registers) {
  Row row;
  row.mnemonic = mnemonic;
  row.instruction_class = InstructionClass::smem;
  row.plain = handler;
  if (bytes != 0) {
    row.memory.path = MemoryPath::scalar;
    row.memory.accesses = scalar_accesses;
  }
  row.memory.bytes = static_cast<std::uint16_t>(bytes);
  row.registers = static_cast<std::uint8_t>(registers);
  return row;
}
/// The kind of an address's base.
enum class Base : std::uint8_t { address, descriptor, scratch };

void add_access(RowTable& table, std::string mnemonic, Handler handler, unsigned dwords, Base base,
                bool is_store) {
  Row row = scalar_row(interned(std::move(mnemonic)), handler, std::size_t{4} * dwords, dwords);
  row.is_load = !is_store;
  row.is_store = is_store;
  row.memory.scalar_buffer = base == Base::descriptor;
  row.memory.scalar_scratch = base == Base::scratch;
  table.add(row);
}
void add_hint(RowTable& table, std::string_view mnemonic, Base base) {
  Row row = scalar_row(mnemonic, cache_hint, 0, 0);
  row.source_count = 2;  // an address; no data
  row.memory.scalar_buffer = base == Base::descriptor;
  table.add(row);
}
void add_clock(RowTable& table, std::string_view mnemonic, Handler handler) {
  Row row = scalar_row(mnemonic, handler, 0, 2);
  row.is_load = true;
  row.hardware = Effect::reads;
  table.add(row);
}

template <int dwords>
void add_sizes(RowTable& table, const std::string& suffix) {
  using enum Base;
  add_access(table, "s_load_dword" + suffix, scalar_load<dwords>, dwords, address, false);
  add_access(table, "s_buffer_load_dword" + suffix, scalar_buffer_load<dwords>, dwords, descriptor,
             false);
  if constexpr (dwords <= 4) {
    add_access(table, "s_scratch_load_dword" + suffix, scalar_load<dwords>, dwords, scratch, false);
    add_access(table, "s_store_dword" + suffix, scalar_store<dwords>, dwords, address, true);
    add_access(table, "s_buffer_store_dword" + suffix, scalar_buffer_store<dwords>, dwords,
               descriptor, true);
    add_access(table, "s_scratch_store_dword" + suffix, scalar_store<dwords>, dwords, scratch,
               true);
  }
}

template <typename Operation, typename T, bool is_buffer>
void add_atomic(RowTable& table, const std::string& operation) {
  constexpr bool compares = std::is_same_v<Operation, CompareSwap>;
  Row row = scalar_row(interned(std::string(is_buffer ? "s_buffer" : "s") + "_atomic_" + operation +
                                (sizeof(T) == 8 ? "_x2" : "")),
                       scalar_atomic<Operation, T>, sizeof(T), sizeof(T) / 4 * (compares ? 2 : 1));
  row.is_atomic = true;
  row.memory.scalar_buffer = is_buffer;
  row.memory.swaps = std::is_same_v<Operation, atomic::Swap>;
  table.add(row);
}
template <typename Operation, typename Narrow = std::uint32_t, typename Wide = std::uint64_t>
void add_atomics(RowTable& table, const std::string& operation) {
  add_atomic<Operation, Narrow, false>(table, operation);
  add_atomic<Operation, Wide, false>(table, operation);
  add_atomic<Operation, Narrow, true>(table, operation);
  add_atomic<Operation, Wide, true>(table, operation);
}

}  // namespace

void add_scalar_memory_rows(RowTable& table) {
  add_sizes<1>(table, "");
  add_sizes<2>(table, "x2");
  add_sizes<4>(table, "x4");
  add_sizes<8>(table, "x8");
  add_sizes<16>(table, "x16");
  add_atomics<atomic::Swap>(table, "swap");
  add_atomics<CompareSwap>(table, "cmpswap");
  add_atomics<atomic::Add>(table, "add");
  add_atomics<atomic::Sub>(table, "sub");
  add_atomics<atomic::Min, std::int32_t, std::int64_t>(table, "smin");
  add_atomics<atomic::Min>(table, "umin");
  add_atomics<atomic::Max, std::int32_t, std::int64_t>(table, "smax");
  add_atomics<atomic::Max>(table, "umax");
  add_atomics<atomic::And>(table, "and");
  add_atomics<atomic::Or>(table, "or");
  add_atomics<atomic::Xor>(table, "xor");
  add_atomics<atomic::Increment>(table, "inc");
  add_atomics<atomic::Decrement>(table, "dec");
  add_hint(table, "s_dcache_discard", Base::address);
  add_hint(table, "s_dcache_discard_x2", Base::address);
  add_hint(table, "s_atc_probe", Base::address);
  add_hint(table, "s_atc_probe_buffer", Base::descriptor);
  add_clock(table, "s_memtime", memory_time);
  add_clock(table, "s_memrealtime", memory_real_time);
}

}  // namespace margay
