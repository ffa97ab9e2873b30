// Attribute forms; see forms.h.
#include "code_object/dwarf/forms.h"

#include <llvm/BinaryFormat/Dwarf.h>

namespace margay::code_object {

using namespace llvm::dwarf;

namespace {
constexpr unsigned kAddressBytes = 8;  // Code objects are 64-bit.
}

bool FormValue::is_address() const { return form == DW_FORM_addr || is_address_index(); }

bool FormValue::is_address_index() const {
  return form == DW_FORM_addrx || (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}

bool FormValue::is_string_index() const {
  return form == DW_FORM_strx || (form >= DW_FORM_strx1 && form <= DW_FORM_strx4);
}

bool FormValue::is_constant() const {
  switch (form) {
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8:
    case DW_FORM_udata:
    case DW_FORM_sdata:
    case DW_FORM_implicit_const:
      return true;
    default:
      return false;
  }
}

std::optional<FormValue> read_form(ByteReader& reader, std::uint16_t form,
                                   std::int64_t implicit_value, FormParameters parameters) {
  if (form == DW_FORM_indirect) {
    form = static_cast<std::uint16_t>(reader.read_uleb());
    // A chain of these would only waste time; an implicit constant has no value here.
    if (form == DW_FORM_indirect || form == DW_FORM_implicit_const) return std::nullopt;
  }
  FormValue out{.form = form};
  switch (form) {
    case DW_FORM_addr:
      out.value = reader.read_uint(kAddressBytes);
      break;
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_ref1:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      out.value = reader.read_uint(1);
      break;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      out.value = reader.read_uint(2);
      break;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      out.value = reader.read_uint(3);
      break;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
      out.value = reader.read_uint(4);
      break;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
      out.value = reader.read_uint(8);
      break;
    case DW_FORM_sdata:
      out.value = static_cast<std::uint64_t>(reader.read_sleb());
      break;
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
      out.value = reader.read_uleb();
      break;
    case DW_FORM_ref_addr:  // Address-sized in DWARF 2 only.
      out.value =
          reader.read_uint(parameters.version <= 2 ? kAddressBytes : parameters.offset_bytes);
      break;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
      out.value = reader.read_uint(parameters.offset_bytes);
      break;
    case DW_FORM_string:
      out.text = reader.read_c_string();
      break;
    case DW_FORM_flag_present:
      out.value = 1;
      break;
    case DW_FORM_implicit_const:
      out.value = static_cast<std::uint64_t>(implicit_value);
      break;
    case DW_FORM_data16:
      reader.skip(16);
      break;
    case DW_FORM_block1:
      reader.skip(reader.read_uint(1));
      break;
    case DW_FORM_block2:
      reader.skip(reader.read_uint(2));
      break;
    case DW_FORM_block4:
      reader.skip(reader.read_uint(4));
      break;
    case DW_FORM_block:
    case DW_FORM_exprloc:
      reader.skip(reader.read_uleb());
      break;
    default:
      return std::nullopt;
  }
  if (!reader.ok()) return std::nullopt;
  return out;
}

}  // namespace margay::code_object
