// The wait states of gfx942.
//
// The rules are facts from two sources: the MI300 ISA guide (4.5; tables 11 and 37 of required
// software wait states) and LLVM 19's GCNHazardRecognizer for gfx940. Where they differ the smaller
// requirement applies, so that nothing a compiler emits is reported; each such place is marked.
//
// Two rules give notes instead of errors, because kernels that AMD ships for MI300X break them and
// give correct results:
// - M0 before a load to LDS. LLVM's checkReadM0Hazards pads it (table 11: one wait state); ck_tile
//   (composable_kernel, core/arch/utility.hpp: m0_set_with_memory, m0_inc_with_memory) writes M0 in
//   one inline assembly statement and loads in the next, with nothing between, in its attention
//   kernels.
// - a mask written by v_cmp before v_cndmask. According to LLVM, gfx940 has no interlock for
//   scalars that the VALU writes and reads (GCNSubtarget::hasVDecCoExecHazard); table 11 requires
//   two wait states where the VALU reads them as a constant and none where they are a carry-in,
//   which is similar to a mask. AITER's assembly for gfx942 has the two next to each other in its
//   main loops.
// Matrix results that the VALU reads too early are not tolerated, although AITER's main loops have
// these as well: the same on gfx950 is known to give wrong results (facebookexperimental/triton,
// pull request 3168).
#pragma once

#include "gpu/gfx942/matrix.h"
#include "gpu/wait_states.h"

namespace margay::wait_states {

// clang-format off
inline constexpr Rule kGfx942List[] = {
    // ---- Read by matrix instructions
    {.hazard = Hazard::exec_before_matrix, .producer = kValu, .consumer = kMfma, .link = Link::exec, .states = 4},
    {.hazard = Hazard::valu_to_matrix, .producer = kValu, .consumer = kMfma, .except_producer = kDot, .link = Link::source, .states = 2},

    {.hazard = Hazard::matrix_to_ab, .producer = kDgemm, .consumer = kMfma, .producer_passes = 8, .link = Link::source, .sources = kSourceA | kSourceB, .states = 11, .latest_only = true},
    {.hazard = Hazard::matrix_to_ab, .producer = kDgemm, .consumer = kMfma, .link = Link::source, .sources = kSourceA | kSourceB, .states = 6, .latest_only = true},
    {.hazard = Hazard::matrix_to_ab, .producer = kXdl, .consumer = kMfma, .link = Link::source, .sources = kSourceA | kSourceB, .plus_passes = true, .states = 3, .latest_only = true},
    {.hazard = Hazard::matrix_to_ab, .producer = kMfma, .consumer = kMfma, .link = Link::source, .sources = kSourceA | kSourceB, .plus_passes = true, .states = 2, .latest_only = true},

    {.hazard = Hazard::matrix_to_c, .producer = kDgemm, .consumer = kDgemm, .producer_passes = 4, .consumer_passes = 4, .link = Link::same_c, .states = 4, .latest_only = true},
    {.hazard = Hazard::matrix_to_c, .producer = kMfma, .consumer = kMfma, .producer_passes = 2, .link = Link::same_c, .states = 2, .latest_only = true},
    {.hazard = Hazard::matrix_to_c, .producer = kMfma, .consumer = kMfma, .link = Link::same_c, .states = 0, .latest_only = true},
    {.hazard = Hazard::matrix_to_c, .producer = kDgemm, .consumer = kXdl, .link = Link::source, .sources = kSourceC, .states = 0, .latest_only = true},
    {.hazard = Hazard::matrix_to_c, .producer = kDgemm, .consumer = kMfma, .producer_passes = 8, .link = Link::source, .sources = kSourceC, .states = 9, .latest_only = true},
    {.hazard = Hazard::matrix_to_c, .producer = kDgemm, .consumer = kMfma, .link = Link::source, .sources = kSourceC, .states = 4, .latest_only = true},
    {.hazard = Hazard::matrix_to_c, .producer = kXdl, .consumer = kMfma, .link = Link::source, .sources = kSourceC, .plus_passes = true, .states = 1, .latest_only = true},
    {.hazard = Hazard::matrix_to_c, .producer = kMfma, .consumer = kXdl, .link = Link::source, .sources = kSourceC, .states = 0, .latest_only = true},
    {.hazard = Hazard::matrix_to_c, .producer = kMfma, .consumer = kMfma, .link = Link::source, .sources = kSourceC, .plus_passes = true, .states = 0, .latest_only = true},

    {.hazard = Hazard::matrix_to_indices, .producer = kDgemm, .consumer = kMfma, .producer_passes = 8, .link = Link::source, .sources = kSourceIndices, .states = 11, .latest_only = true},
    {.hazard = Hazard::matrix_to_indices, .producer = kDgemm, .consumer = kMfma, .link = Link::source, .sources = kSourceIndices, .states = 6, .latest_only = true},
    {.hazard = Hazard::matrix_to_indices, .producer = kXdl, .consumer = kMfma, .link = Link::source, .sources = kSourceIndices, .plus_passes = true, .states = 3, .latest_only = true},
    {.hazard = Hazard::matrix_to_indices, .producer = kMfma, .consumer = kMfma, .link = Link::source, .sources = kSourceIndices, .plus_passes = true, .states = 2, .latest_only = true},

    // ---- Matrix and dot-product results read by the VALU, vector memory and LDS
    {.hazard = Hazard::matrix_to_memory, .producer = kDgemm, .consumer = kVmem | kLds, .producer_passes = 8, .link = Link::source, .states = 18, .latest_only = true},
    {.hazard = Hazard::matrix_to_memory, .producer = kDgemm, .consumer = kVmem | kLds, .link = Link::source, .states = 9, .latest_only = true},
    {.hazard = Hazard::matrix_to_memory, .producer = kXdl, .consumer = kVmem | kLds, .link = Link::source, .plus_passes = true, .states = 3, .latest_only = true},
    {.hazard = Hazard::matrix_to_memory, .producer = kMfma, .consumer = kVmem | kLds, .link = Link::source, .plus_passes = true, .states = 2, .latest_only = true},

    {.hazard = Hazard::matrix_to_valu, .producer = kDgemm, .consumer = kValu, .producer_passes = 8, .link = Link::source, .states = 11, .latest_only = true},
    {.hazard = Hazard::matrix_to_valu, .producer = kDgemm, .consumer = kValu, .link = Link::source, .states = 6, .latest_only = true},
    {.hazard = Hazard::matrix_to_valu, .producer = kXdl, .consumer = kValu, .link = Link::source, .plus_passes = true, .states = 3, .latest_only = true},
    {.hazard = Hazard::matrix_to_valu, .producer = kMfma, .consumer = kValu, .link = Link::source, .plus_passes = true, .states = 2, .latest_only = true},

    {.hazard = Hazard::dot_result_read, .producer = kDot, .consumer = kValu | kVmem | kLds, .link = Link::source, .sources = kSourceC, .same_row = true, .states = 0, .latest_only = true},
    {.hazard = Hazard::dot_result_read, .producer = kDot, .consumer = kValu | kVmem | kLds, .link = Link::source, .states = 3, .latest_only = true},

    // ---- Overwritten by the VALU. LLVM also keeps loads from overwriting these registers too
    // early; the guide does not require it.
    {.hazard = Hazard::matrix_result_overwritten, .producer = kDgemm, .consumer = kValu, .producer_passes = 8, .link = Link::result, .states = 11, .latest_only = true},
    {.hazard = Hazard::matrix_result_overwritten, .producer = kDgemm, .consumer = kValu, .link = Link::result, .states = 6, .latest_only = true},
    {.hazard = Hazard::matrix_result_overwritten, .producer = kXdl, .consumer = kValu, .link = Link::result, .plus_passes = true, .states = 3, .latest_only = true},
    {.hazard = Hazard::matrix_result_overwritten, .producer = kMfma, .consumer = kValu, .link = Link::result, .plus_passes = true, .states = 2, .latest_only = true},

    {.hazard = Hazard::dot_result_overwritten, .producer = kDot, .consumer = kValu, .link = Link::result, .same_row = true, .states = 0, .latest_only = true},
    {.hazard = Hazard::dot_result_overwritten, .producer = kDot, .consumer = kValu, .link = Link::result, .states = 3, .latest_only = true},

    {.hazard = Hazard::matrix_c_overwritten, .producer = kXdl, .consumer = kValu, .link = Link::c, .plus_passes = true, .states = -1, .latest_only = true},
    {.hazard = Hazard::f64_matrix_before_fma, .producer = kDgemm, .consumer = kFma64, .states = 2},

    // ---- Consumers on the VALU, matrix instructions included
    {.hazard = Hazard::transcendental_to_other, .producer = kTranscendental, .consumer = kValu | kMfma, .except_consumer = kTranscendental, .link = Link::source, .states = 1},
    {.hazard = Hazard::part_result_read, .producer = kPartialWrite, .consumer = kValu | kMfma, .link = Link::source, .states = 1},
    {.hazard = Hazard::valu_to_readlane, .producer = kValu | kMfma, .consumer = kReadsLane, .link = Link::source, .states = 1},
    // LLVM waits for any kind of producer here; the guide names the VALU. Only the first source is permuted.
    {.hazard = Hazard::valu_to_dpp, .producer = kValu | kMfma, .consumer = kDpp, .link = Link::source, .sources = kSourceA, .states = 2},
    {.hazard = Hazard::valu_to_dpp, .producer = kValu | kMfma, .consumer = kDpp, .link = Link::source, .states = 2, .is_tolerated = true},
    {.hazard = Hazard::store_data_overwritten, .producer = kWideStore, .consumer = kValu | kMfma, .link = Link::store_data, .states = 2},

    // ---- Scalar registers that the VALU writes
    {.hazard = Hazard::valu_scalar_to_valu, .producer = kValu, .consumer = kValu, .link = Link::scalar, .states = 2, .is_tolerated = true},
    {.hazard = Hazard::valu_mask_selects, .producer = kValu, .consumer = kValu, .link = Link::selecting_mask, .states = 2, .is_tolerated = true},
    {.hazard = Hazard::valu_scalar_selects_lane, .producer = kValu, .consumer = kValu, .link = Link::lane_number, .states = 4},
    {.hazard = Hazard::vcc_to_div_fmas, .producer = kValu, .consumer = kDivFmas, .link = Link::vcc, .states = 4},
    {.hazard = Hazard::exec_before_dpp, .producer = kValu, .consumer = kDpp, .link = Link::exec, .states = 5},
    {.hazard = Hazard::exec_before_lane_move, .producer = kValu, .consumer = kReadsLane | kWritesLane, .link = Link::exec, .states = 4},
    {.hazard = Hazard::valu_scalar_to_memory, .producer = kValu, .consumer = kVmem, .link = Link::scalar, .states = 5},

    // ---- State of the wave
    {.hazard = Hazard::hardware_register_set, .producer = kSetRegister, .consumer = kSetRegister | kGetRegister, .link = Link::hardware_register, .states = 2},
    {.hazard = Hazard::m0_to_load, .producer = kSalu, .consumer = kLoadToLds, .link = Link::m0, .states = 1, .is_tolerated = true},
    {.hazard = Hazard::m0_to_message, .producer = kSalu, .consumer = kMessage, .link = Link::m0, .states = 1},
};
// clang-format on

inline constexpr Rules kGfx942{kGfx942List, 16};
static_assert(kGfx942.longest == 19);

}  // namespace margay::wait_states
