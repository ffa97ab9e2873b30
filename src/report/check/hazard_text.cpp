#include "report/check/hazard_text.h"

namespace margay::check {

std::string_view hazard_text(wait_states::Hazard hazard) {
  using wait_states::Hazard;
  switch (hazard) {
    case Hazard::exec_before_matrix:
      return "EXEC written by the VALU before a matrix instruction";
    case Hazard::valu_to_matrix:
      return "a VALU result is read by a matrix instruction";
    case Hazard::matrix_to_ab:
      return "a matrix result is read as A or B by another matrix instruction";
    case Hazard::matrix_to_c:
      return "a matrix result is read as C by another matrix instruction";
    case Hazard::matrix_to_indices:
      return "a matrix result is read as sparse indices by another matrix instruction";
    case Hazard::matrix_to_memory:
      return "a matrix result is read by a memory instruction";
    case Hazard::matrix_to_valu:
      return "a matrix result is read by the VALU";
    case Hazard::dot_result_read:
      return "a dot product's result is read";
    case Hazard::matrix_result_overwritten:
      return "a matrix result is overwritten by the VALU";
    case Hazard::dot_result_overwritten:
      return "a dot product's result is overwritten";
    case Hazard::matrix_c_overwritten:
      return "C of a matrix instruction is overwritten by the VALU";
    case Hazard::f64_matrix_before_fma:
      return "an f64 matrix instruction before v_fma_f64";
    case Hazard::transcendental_to_other:
      return "a transcendental result is read by another kind of instruction";
    case Hazard::part_result_read:
      return "a result that SDWA or op_sel placed in part of a register is read";
    case Hazard::valu_to_readlane:
      return "a VALU result is read by v_readlane";
    case Hazard::valu_to_dpp:
      return "a VALU result is read by DPP";
    case Hazard::store_data_overwritten:
      return "data of a store wider than 64 bits is overwritten by the VALU";
    case Hazard::valu_scalar_to_valu:
      return "a scalar register written by the VALU is read by the VALU";
    case Hazard::valu_mask_selects:
      return "a mask written by the VALU selects lanes' values";
    case Hazard::valu_scalar_selects_lane:
      return "a scalar register written by the VALU selects a lane";
    case Hazard::vcc_to_div_fmas:
      return "VCC written by the VALU is read by v_div_fmas";
    case Hazard::exec_before_dpp:
      return "EXEC written by the VALU before DPP";
    case Hazard::exec_before_lane_move:
      return "EXEC written by the VALU before v_readlane or v_writelane";
    case Hazard::valu_scalar_to_memory:
      return "a scalar register written by the VALU is read by vector memory";
    case Hazard::hardware_register_set:
      return "a hardware register is used after s_setreg";
    case Hazard::m0_to_load:
    case Hazard::m0_to_message:
      return "M0 written by the SALU is used by a load to LDS or a message";
  }
  return {};
}

}  // namespace margay::check
