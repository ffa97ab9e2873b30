// MUBUF and MTBUF with conversion: buffer_load_format_*, buffer_store_format_* (format and order of
// components from the descriptor), tbuffer_* (format from the instruction).
#include <bit>
#include <cstring>
#include <string>

#include "exec/instructions/all_rows.h"
#include "exec/program/buffer_format.h"
#include "exec/program/format_access.h"
#include "exec/program/lane_access.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"

namespace margay {
namespace {

/// The placement of components in registers: one each, two each, or one in the upper half of one.
enum class Packing : std::uint8_t { whole, d16, d16_high };

/// dst_sel of X, Y, Z and W: 0 and 1 are these numbers, 4 to 7 the element's components.
struct Selection {
  std::uint8_t of[4] = {4, 5, 6, 7};
};
constexpr std::uint8_t kSelectOne = 1, kSelectFirst = 4;

class FormatAccess {
 public:
  FormatAccess(Wave& wave, const Instruction& i, unsigned components, Packing packing)
      : wave_(wave), i_(i), components_(components), packing_(packing) {}

  /// False when the wave has stopped.
  [[nodiscard]] bool begin() {
    format_ = buffer_format(wave_, i_);
    const BufferResource r = buffer_resource(wave_, i_);
    if (!check_buffer(wave_, i_, r, format_.bytes())) return false;
    const bool unbound = r.data_format == 0;  // and the rest of it
    if (!unbound && !format_.exists())
      return stop("data format " + std::to_string(format_.data) + " with number format " +
                  std::to_string(static_cast<unsigned>(format_.number)) + " does not exist");
    if (!unbound && !is_typed() && !take_selection()) return false;
    const unsigned bytes = unbound ? 1 : format_.bytes();
    if (wave_.accesses != nullptr && !unbound)
      lanes_ = wave_.accesses->access[0];
    else
      buffer_addresses(wave_, i_, r, bytes, lanes_);
    return lanes_.active == 0 || check_global_slow(wave_, i_, lanes_, bytes);
  }

  const Instruction* load() {
    for (std::uint64_t rest = lanes_.out_of_range; rest != 0; rest &= rest - 1)
      put(std::countr_zero(rest), FormatRegisters{});
    for (std::uint64_t rest = lanes_.active; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      FormatRegisters value;
      if (const FormatProblem problem = decode_element(format_, at(lane), is_d16(), value);
          !problem.empty())
        return problem_in(lane, problem);
      put(lane, value);
    }
    return following(i_);
  }

  const Instruction* load_to_lds() {
    const std::uint32_t base = direct_lane(wave_, i_);
    for (std::uint64_t rest = lanes_.active | lanes_.out_of_range; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      FormatRegisters value;
      if (lanes_.active >> lane & 1)
        if (const FormatProblem problem = decode_element(format_, at(lane), false, value);
            !problem.empty())
          return problem_in(lane, problem);
      const std::uint32_t selected = select(0, value);
      const std::uint32_t to = base + 4 * static_cast<std::uint32_t>(lane);
      if (fits(to, 4, wave_.group->lds_bytes)) std::memcpy(wave_.group->lds + to, &selected, 4);
    }
    return following(i_);
  }

  const Instruction* store() {
    std::uint8_t source[4] = {};
    for (unsigned n = 0; n < format_.components(); ++n)
      if (!source_of(n, source[n])) return nullptr;
    for (std::uint64_t rest = lanes_.active; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      FormatRegisters value;
      for (unsigned n = 0; n < format_.components(); ++n) value.component[n] = get(lane, source[n]);
      std::uint8_t element[16];
      if (const FormatProblem problem = encode_element(format_, value, is_d16(), element);
          !problem.empty())
        return problem_in(lane, problem);
      std::memcpy(at(lane), element, format_.bytes());
    }
    return following(i_);
  }

 private:
  [[nodiscard]] bool is_d16() const { return packing_ != Packing::whole; }
  [[nodiscard]] bool is_typed() const { return i_.row->memory.typed; }
  [[nodiscard]] std::uint8_t* at(int lane) const {
    return reinterpret_cast<std::uint8_t*>(lanes_.at[lane]);  // guest addresses are host addresses
  }
  bool stop(std::string what) {
    (void)wave_.fault(i_, {ErrorCode::not_implemented, std::move(what)});
    return false;
  }
  const Instruction* problem_in(int lane, FormatProblem problem) {
    Error error{ErrorCode::not_implemented, std::string(problem)};
    error.where = "lane " + std::to_string(lane);
    return wave_.fault(i_, std::move(error));
  }

  [[nodiscard]] bool take_selection() {
    const std::uint32_t word = wave_.s[i_.src[1].index() + 3];
    for (unsigned n = 0; n < 4; ++n) {
      selection_.of[n] = static_cast<std::uint8_t>(word >> (3 * n) & 7);
      if (selection_.of[n] == 2 || selection_.of[n] == 3)
        return stop("dst_sel " + std::to_string(selection_.of[n]) + " is reserved");
    }
    return true;
  }
  /// Component n of the registers, of an element's components. Those that the format lacks are 0:
  /// the guide documents this for the identity (X000, XY00 ...), and the same is assumed for
  /// dst_sel.
  [[nodiscard]] std::uint32_t select(unsigned n, const FormatRegisters& value) const {
    const std::uint8_t choice = selection_.of[n];
    if (choice >= kSelectFirst) return value.component[choice - kSelectFirst];
    return choice == kSelectOne ? format_one(format_, is_d16()) : 0;
  }
  /// Which component of the registers component n of memory comes from: the one whose dst_sel
  /// names it.
  [[nodiscard]] bool source_of(unsigned n, std::uint8_t& source) {
    unsigned found = 0;
    for (unsigned from = 0; from < components_; ++from) {
      if (selection_.of[from] != kSelectFirst + n) continue;
      source = static_cast<std::uint8_t>(from);
      ++found;
    }
    if (found == 1) return true;
    return stop(std::string("what a store of fewer components than the format has, or with a "
                            "dst_sel that ") +
                (found == 0 ? "leaves one out" : "names one twice") + ", writes is not documented");
  }

  void put(int lane, const FormatRegisters& value) {
    std::uint32_t* const row = wave_.row(i_.dst) + lane;
    if (packing_ == Packing::whole) {
      for (unsigned n = 0; n < components_; ++n) row[n * kWaveLanes] = select(n, value);
      return;
    }
    // Memory has ECC: the part of a register that is not loaded becomes 0. [MI300 ISA guide, 9.1.6]
    for (unsigned n = 0; n < components_; n += 2) {
      const std::uint32_t low = select(n, value);
      const std::uint32_t high = n + 1 < components_ ? select(n + 1, value) : 0;
      row[n / 2 * kWaveLanes] = packing_ == Packing::d16_high ? low << 16 : low | high << 16;
    }
  }
  [[nodiscard]] std::uint32_t get(int lane, unsigned n) const {
    const std::uint32_t* const row = wave_.row(i_.dst) + lane;
    if (packing_ == Packing::whole) return row[n * kWaveLanes];
    const std::uint32_t pair = row[n / 2 * kWaveLanes];
    return packing_ == Packing::d16_high || n % 2 != 0 ? pair >> 16 : pair & 0xffff;
  }

  Wave& wave_;
  const Instruction& i_;
  const unsigned components_;
  const Packing packing_;
  BufferFormat format_;
  Selection selection_;
  LaneAddresses lanes_;
};

template <unsigned components, Packing packing, bool is_store>
const Instruction* run_formatted(Wave& wave, const Instruction& i) {
  FormatAccess access(wave, i, components, packing);
  if (!access.begin()) return nullptr;
  if (is_store) return access.store();
  return i.extra & extra::kToLds ? access.load_to_lds() : access.load();
}

/// An access has as many bytes as the format, so that the descriptor is looked at first.
void format_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                     LaneAccesses& out) {
  const BufferFormat format = buffer_format(wave, i);
  // Otherwise it is unbound, or the instruction will stop.
  if (format.exists() && format.bytes() != 0) {
    LaneAccess& access = out.append(form, MemorySpace::global);
    access.bytes = static_cast<std::uint16_t>(format.bytes());
    buffer_addresses(wave, i, buffer_resource(wave, i), access.bytes, access);
  }
  if (form.to_lds) add_direct_access(wave, i, out);
}

template <unsigned components, Packing packing>
void add(RowTable& table, bool typed, std::string_view suffix) {
  const auto add_one = [&](std::string_view direction, Handler handler, bool is_store) {
    Row row;
    row.mnemonic = interned((typed ? "tbuffer_" : "buffer_") + std::string(direction) + "_format_" +
                            std::string(suffix));
    row.instruction_class = InstructionClass::vmem;
    row.plain = handler;
    constexpr unsigned registers = packing == Packing::whole ? components : (components + 1) / 2;
    row.registers = registers;
    row.memory.path = MemoryPath::buffer;
    row.memory.accesses = format_accesses;
    row.memory.bytes = 4 * registers;  // the real ones are the format's: format_access.h
    row.memory.formatted = true;
    row.memory.typed = typed;
    row.is_load = !is_store;
    row.is_store = is_store;
    table.add(row);
  };
  add_one("load", run_formatted<components, packing, false>, false);
  add_one("store", run_formatted<components, packing, true>, true);
}

}  // namespace

BufferFormat buffer_format(const Wave& wave, const Instruction& i) {
  if (i.row->memory.typed)
    return {extra::data_format(i.extra),
            static_cast<BufferFormat::Number>(extra::number_format(i.extra))};
  const std::uint32_t word = wave.s[i.src[1].index() + 3];
  return {static_cast<std::uint8_t>(word >> 15 & 15),
          static_cast<BufferFormat::Number>(word >> 12 & 7)};
}

void add_format_rows(RowTable& table) {
  for (const bool typed : {false, true}) {
    add<1, Packing::whole>(table, typed, "x");
    add<2, Packing::whole>(table, typed, "xy");
    add<3, Packing::whole>(table, typed, "xyz");
    add<4, Packing::whole>(table, typed, "xyzw");
    add<1, Packing::d16>(table, typed, "d16_x");
    add<2, Packing::d16>(table, typed, "d16_xy");
    add<3, Packing::d16>(table, typed, "d16_xyz");
    add<4, Packing::d16>(table, typed, "d16_xyzw");
  }
  add<1, Packing::d16_high>(table, false, "d16_hi_x");
}

}  // namespace margay
