#include "exec/program/lane_access.h"

#include <bit>

#include "exec/program/format_access.h"
#include "exec/program/memory_model.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"

namespace margay {
namespace {

using Path = MemoryForm::Path;

const std::uint32_t* row_of(const Wave& wave, unsigned index) {
  return wave.v + std::size_t{index} * kWaveLanes;
}

LaneAccess& next(LaneAccesses& out, const MemoryForm& form, MemorySpace space) {
  LaneAccess& access = out.access[out.count++];
  access.space = space;
  access.is_read = form.is_read;
  access.is_write = form.is_write;
  access.is_atomic = form.is_atomic;
  access.to_lds = false;
  access.bytes = form.bytes;
  return access;
}

void add_ds(const Wave& wave, const Instruction& i, const MemoryForm& form, std::uint32_t offset,
            LaneAccesses& out) {
  LaneAccess& access = next(out, form, MemorySpace::lds);
  if (i.row->address_from_m0) {
    const std::uint32_t base = (wave.s[kM0Index] & 0xffff) + offset;
    access.active = wave.exec();
    for (std::uint32_t lane = 0; lane < kWaveLanes; ++lane)
      access.at[lane] = base + (form.is_atomic ? 0 : 4 * lane);
    // The counter of append and consume is accessed once for the wave.
    if (form.is_atomic) access.active &= ~access.active + 1;
    return;
  }
  const std::uint32_t* const address = row_of(wave, i.src[0].index());
  for (int lane = 0; lane < kWaveLanes; ++lane)
    access.at[lane] = static_cast<std::uint32_t>(address[lane] + offset);
  if (const std::uint32_t mask = i.row->memory.address_mask; mask != ~0u)
    for (std::uint64_t& at : access.at) at &= mask;
  access.active = wave.exec();
}

void add_global(const Wave& wave, const Instruction& i, const MemoryForm& form, LaneAccesses& out) {
  LaneAccess& access = next(out, form, MemorySpace::global);
  const std::uint32_t* const low = row_of(wave, i.src[0].index());
  const auto offset = static_cast<std::uint64_t>(std::int64_t{i.offset});
  if (i.src[2].kind() == Source::kScalar) {
    const std::uint64_t base = wave.scalar64(i.src[2].index()) + offset;
    for (int lane = 0; lane < kWaveLanes; ++lane) access.at[lane] = base + low[lane];
  } else {
    const std::uint32_t* const high = low + kWaveLanes;
    for (int lane = 0; lane < kWaveLanes; ++lane)
      access.at[lane] = (low[lane] | std::uint64_t{high[lane]} << 32) + offset;
  }
  access.active = wave.exec();
}

/// Splits the one access of a flat instruction by the aperture of each lane's address.
void split_flat(LaneAccesses& out) {
  LaneAccess& global = out.access[0];
  std::uint64_t masks[2] = {};
  for (std::uint64_t rest = global.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const auto high = static_cast<std::uint32_t>(global.at[lane] >> 32);
    if (high == kSharedApertureHigh) masks[0] |= 1ull << lane;
    if (high == kPrivateApertureHigh) masks[1] |= 1ull << lane;
  }
  for (int n = 0; n < 2; ++n) {
    if (masks[n] == 0) continue;
    LaneAccess& part = out.access[out.count++];
    part = global;
    part.space = n == 0 ? MemorySpace::lds : MemorySpace::scratch;
    part.active = masks[n];
    for (std::uint64_t& at : part.at) at &= 0xffff'ffff;
  }
  global.active &= ~(masks[0] | masks[1]);
  if (global.active == 0) {
    for (std::uint32_t n = 1; n < out.count; ++n) out.access[n - 1] = out.access[n];
    --out.count;
  }
}

void add_scratch(const Wave& wave, const Instruction& i, const MemoryForm& form,
                 LaneAccesses& out) {
  LaneAccess& access = next(out, form, MemorySpace::scratch);
  std::uint32_t uniform = static_cast<std::uint32_t>(i.offset);
  if (i.src[2].kind() == Source::kScalar) uniform += wave.s[i.src[2].index()];
  const std::uint32_t* const offsets =
      i.extra & extra::kScratchVaddr ? row_of(wave, i.src[0].index()) : nullptr;
  for (int lane = 0; lane < kWaveLanes; ++lane)
    access.at[lane] =
        static_cast<std::uint32_t>(uniform + (offsets != nullptr ? offsets[lane] : 0));
  access.active = wave.exec();
}

void add_buffer(const Wave& wave, const Instruction& i, const MemoryForm& form, LaneAccesses& out) {
  LaneAccess& access = next(out, form, MemorySpace::global);
  if (i.extra & extra::kFormatted) {
    const BufferFormat format = buffer_format(wave, i);
    access.bytes = static_cast<std::uint16_t>(format.exists() ? format.bytes() : 0);
    if (access.bytes == 0) {  // unbound, or the instruction will stop
      --out.count;
      return;
    }
  }
  margay::LaneAddresses lanes;
  buffer_addresses(wave, i, access.bytes, lanes);
  for (int lane = 0; lane < kWaveLanes; ++lane) access.at[lane] = lanes.at[lane];
  access.active = lanes.active;
}

/// The LDS half of a direct load, or of a direct store. Lanes out of a buffer's range write 0.
void add_direct(const Wave& wave, const Instruction& i, bool is_load, LaneAccesses& out) {
  LaneAccess& access = out.access[out.count++];
  access.space = MemorySpace::lds;
  access.is_read = !is_load;
  access.is_write = access.to_lds = is_load;
  access.is_atomic = false;
  access.bytes = 4;
  const std::uint32_t base = (wave.s[kM0Index] & 0x3fffcu) + static_cast<std::uint32_t>(i.offset);
  for (std::uint32_t lane = 0; lane < kWaveLanes; ++lane) access.at[lane] = base + 4 * lane;
  access.active = wave.exec();
}

void add_scalar(const Wave& wave, const Instruction& i, const MemoryForm& form, LaneAccesses& out) {
  std::uint64_t offset = scalar_offset(wave, i);
  LaneAccess& access = next(out, form, MemorySpace::global);
  access.active = 1;
  if (i.row->memory.scalar_buffer) {
    const BufferResource r = buffer_resource(&wave.s[i.src[0].index()]);
    const std::uint64_t size =
        r.stride == 0 ? r.num_records : std::uint64_t{r.stride} * r.num_records;
    offset &= ~3ull;
    access.at[0] = r.base + offset;
    if (offset + form.bytes > size) --out.count;  // clamped: nothing beyond the end
  } else {
    access.at[0] = (wave.scalar64(i.src[0].index()) + offset) & ~3ull;
  }
}

}  // namespace

MemoryForm memory_form(const Instruction& i) {
  MemoryForm form;
  if (i.row == nullptr) return form;
  const MemoryTraits& traits = i.row->memory;
  form.path = traits.path;
  if (form.path == Path::none) return form;
  form.is_atomic = i.row->is_atomic;
  form.is_read = i.row->is_load || i.row->is_atomic;
  form.is_write = i.row->is_store || i.row->is_atomic;
  form.bytes = traits.bytes;
  form.offset_unit = traits.offset_unit;
  form.to_lds = traits.to_lds ||
                (form.path == Path::buffer && form.is_read && (i.extra & extra::kToLds) != 0);
  form.agent_scope =
      i.row->instruction_class == InstructionClass::vmem && (i.extra & extra::kSc1) != 0;
  return form;
}

void lane_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                   LaneAccesses& out) {
  out.count = 0;
  switch (form.path) {
    case Path::none:
      return;
    case Path::ds:
      return add_ds(wave, i, form, static_cast<std::uint32_t>(i.offset), out);
    case Path::ds_two:
      add_ds(wave, i, form, extra::ds_offset0(i.extra) * form.offset_unit, out);
      return add_ds(wave, i, form, extra::ds_offset1(i.extra) * form.offset_unit, out);
    case Path::global:
      add_global(wave, i, form, out);
      break;
    case Path::flat:
      add_global(wave, i, form, out);
      return split_flat(out);
    case Path::scratch:
      add_scratch(wave, i, form, out);
      break;
    case Path::buffer:
      add_buffer(wave, i, form, out);
      if (form.is_write && (i.extra & extra::kToLds) != 0) add_direct(wave, i, false, out);
      break;
    case Path::scalar:
      return add_scalar(wave, i, form, out);
  }
  if (form.to_lds) add_direct(wave, i, true, out);
}

}  // namespace margay
