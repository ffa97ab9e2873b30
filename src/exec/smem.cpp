// Scalar memory: loads through the constant cache, and the clocks.
// Source: MI300 ISA guide, section 12.6.
#include <chrono>
#include <cstring>

#include "exec/memory_model.h"
#include "exec/row_table.h"
#include "exec/rows.h"
#include "exec/wave.h"

namespace margay {
namespace {

std::uint64_t scalar_offset(const Wave& wave, const Instruction& i) {
  std::uint64_t offset = static_cast<std::uint64_t>(std::int64_t{i.offset});
  if (i.src[1].kind() != Source::kNone) offset += scalar_source(wave, i, 1);
  return offset;
}

template <int dwords>
const Instruction* scalar_load(Wave& wave, const Instruction& i) {
  // Scalar addresses ignore their low two bits.
  const std::uint64_t address = (wave.scalar64(i.src[0].index()) + scalar_offset(wave, i)) & ~3ull;
  if (!check_scalar_access(wave, i, address, 4 * dwords)) return nullptr;
  std::memcpy(&wave.s[i.sdst], reinterpret_cast<const void*>(address), 4 * dwords);
  return following(i);
}

/// Dwords beyond the buffer's end read 0.
template <int dwords>
const Instruction* scalar_buffer_load(Wave& wave, const Instruction& i) {
  const BufferResource r = buffer_resource(&wave.s[i.src[0].index()]);
  const std::uint64_t size =
      r.stride == 0 ? r.num_records : std::uint64_t{r.stride} * r.num_records;
  const std::uint64_t offset = scalar_offset(wave, i) & ~3ull;
  std::uint32_t value[dwords] = {};
  for (int d = 0; d < dwords; ++d) {
    const std::uint64_t at = offset + 4 * static_cast<std::uint64_t>(d);
    if (at + 4 > size) continue;
    if (!check_scalar_access(wave, i, r.base + at, 4)) return nullptr;
    std::memcpy(&value[d], reinterpret_cast<const void*>(r.base + at), 4);
  }
  std::memcpy(&wave.s[i.sdst], value, sizeof value);
  return following(i);
}

/// There is no model of time: both clocks are the host's, in 100 MHz ticks (s_memrealtime's rate on
/// the hardware) and in 2.1 GHz cycles.
std::uint64_t host_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}
const Instruction* memory_time(Wave& wave, const Instruction& i) {
  wave.set_scalar64(i.sdst, host_nanoseconds() * 21 / 10);
  return following(i);
}
const Instruction* memory_real_time(Wave& wave, const Instruction& i) {
  wave.set_scalar64(i.sdst, host_nanoseconds() / 10);
  return following(i);
}

void add(RowTable& table, std::string_view mnemonic, Handler handler, int dwords) {
  Row row;
  row.mnemonic = mnemonic;
  row.instruction_class = InstructionClass::smem;
  row.plain = handler;
  row.is_load = true;
  row.access_bytes = static_cast<std::uint16_t>(4 * dwords);
  row.registers = static_cast<std::uint8_t>(dwords);
  table.add(row);
}

}  // namespace

void add_scalar_memory_rows(RowTable& table) {
  add(table, "s_load_dword", scalar_load<1>, 1);
  add(table, "s_load_dwordx2", scalar_load<2>, 2);
  add(table, "s_load_dwordx4", scalar_load<4>, 4);
  add(table, "s_load_dwordx8", scalar_load<8>, 8);
  add(table, "s_load_dwordx16", scalar_load<16>, 16);
  add(table, "s_buffer_load_dword", scalar_buffer_load<1>, 1);
  add(table, "s_buffer_load_dwordx2", scalar_buffer_load<2>, 2);
  add(table, "s_buffer_load_dwordx4", scalar_buffer_load<4>, 4);
  add(table, "s_buffer_load_dwordx8", scalar_buffer_load<8>, 8);
  add(table, "s_buffer_load_dwordx16", scalar_buffer_load<16>, 16);
  add(table, "s_memtime", memory_time, 2);
  add(table, "s_memrealtime", memory_real_time, 2);
}

}  // namespace margay
