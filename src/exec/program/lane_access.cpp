#include "exec/program/lane_access.h"

#include "exec/state/extra.h"

namespace margay {

MemoryForm memory_form(const Instruction& i) {
  MemoryForm form;
  if (i.row == nullptr) return form;
  const MemoryTraits& traits = i.row->memory;
  form.path = traits.path;
  if (form.path == MemoryPath::none) return form;
  form.is_atomic = i.row->is_atomic;
  form.is_read = i.row->is_load || i.row->is_atomic;
  form.is_write = i.row->is_store || i.row->is_atomic;
  form.bytes = traits.bytes;
  form.offset_unit = traits.offset_unit;
  form.to_lds = traits.to_lds ||
                (form.path == MemoryPath::buffer && form.is_read && (i.extra & extra::kToLds) != 0);
  form.agent_scope =
      i.row->instruction_class == InstructionClass::vmem && (i.extra & extra::kSc1) != 0;
  return form;
}

void add_direct_access(const Wave& wave, const Instruction& i, LaneAccesses& out) {
  MemoryForm form;
  form.is_write = true;
  form.bytes = 4;
  LaneAccess& access = out.append(form, MemorySpace::lds);
  access.to_lds = true;
  const std::uint32_t base = direct_address(wave, i);
  for (std::uint32_t lane = 0; lane < kWaveLanes; ++lane) access.at[lane] = base + 4 * lane;
  access.active = wave.exec();
}

void scalar_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                     LaneAccesses& out) {
  const ScalarAddress address = scalar_address(wave, i);
  LaneAccess& access = out.append(form, MemorySpace::global);
  access.at[0] = address.at;
  access.end = address.end;
  access.active = address.has(0, form.bytes) ? 1 : 0;  // clamped: nothing beyond the end
}

}  // namespace margay
