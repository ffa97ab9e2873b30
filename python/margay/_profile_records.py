"""What a profile records: the fields of its JSON as classes.

Made by `cmake --build DIR --target profile_records_update` from src/report/profile/profile.h.
"""

from dataclasses import dataclass
from typing import Optional, Tuple


@dataclass(frozen=True)
class Resources:
    """What the compiler says that the kernel needs, and what fits on a compute unit (CU)."""

    vgprs: int  # per lane; architected and accumulation VGPRs together
    agprs: int  # of these, accumulation VGPRs
    sgprs: int  # per wave
    static_lds_bytes: int  # per workgroup
    dynamic_lds_bytes: int  # per workgroup
    scratch_bytes: int  # per lane
    vgpr_spills: int  # registers
    sgpr_spills: int  # registers
    code_bytes: int
    workgroups_per_cu: int
    waves_per_cu: int
    waves_per_simd: int
    limit: str  # what keeps more workgroups from a CU: "VGPRs", "LDS" ...
    next_step: str  # what one more workgroup per CU would take; may be empty


@dataclass(frozen=True)
class TensorFigures:
    """The traffic of the memory behind one pointer argument, in bytes, over all launches."""

    name: str  # "g.a"; "other memory" for what no argument points at
    type: str  # "kittens::gl<...>", or empty
    element: str  # "bf16", or empty
    element_bytes: int  # 0: not known
    shape: Optional[Tuple[int, int, int, int]]  # batch, depth, rows, columns
    bytes: int  # in the last launch, as far as is known
    read_bytes: int  # that active lanes asked for
    written_bytes: int  # by active lanes
    touched_read_bytes: int  # lines of 128 bytes, each counted once per launch
    touched_written_bytes: int  # sectors of 64 bytes, each counted once per launch
    l2_read_bytes: int  # between vL1D and L2
    l2_written_bytes: int
    fabric_read_bytes: int  # between L2 and memory
    fabric_written_bytes: int
    workgroup_read_bytes: int = 0  # lines, each counted once for each workgroup that reads it
    workgroup_used_bytes: int = 0  # what the workgroups use of these lines, in pieces of 32 bytes
    xcd_read_bytes: int = 0  # lines, each counted once for each XCD that reads it


@dataclass
class MemoryFigures:
    """What vector memory instructions asked for and where it was served."""

    lane_bytes: int = 0  # that active lanes asked for
    accesses: int = 0  # TCP_TOTAL_ACCESSES: thread requests after coalescing
    tag_accesses: int = 0  # TCP_TOTAL_CACHE_ACCESSES
    sector_bytes: int = 0  # 64 for each sector that an instruction touches
    least_sector_bytes: int = 0  # the same, if its lanes' bytes, each once, were side by side
    misaligned_sector_bytes: int = 0  # of what is more: rows begin or end inside a sector
    inactive_sector_bytes: int = 0  # lanes between are switched off
    least_tag_accesses: int = 0  # one for each four lanes
    lookup_cycles: int = 0  # that vL1D is busy with it, at 64 bytes a cycle
    l2_reads: int = 0  # of 128 bytes
    l2_writes: int = 0  # of 64 bytes; atomics as well
    l2_hits: int = 0
    l2_misses: int = 0
    fabric_read_bytes: int = 0


@dataclass(frozen=True)
class LdsUse:
    """The bank conflicts of one LDS instruction, over all its executions."""

    cycles: int  # that LDS is busy with it: SQ_LDS_IDX_ACTIVE
    conflict_cycles: int  # of these, lost to bank conflicts: SQ_LDS_BANK_CONFLICT
    address_cycles: int  # of these, lost to lanes' atomics on one dword: SQ_LDS_ADDR_CONFLICT
    conflicting: int  # executions with any bank conflict
    worst_ways: int  # most distinct dwords of one bank that were wanted at once; 1: no conflict
    worst_bank: int  # where that was
    worst_lanes: Tuple[int, ...]  # a lane for each of these dwords
    bank_dwords: Tuple[int, ...]  # dwords that each of the 32 banks served
    reached_bytes: int = 0  # of the workgroup's LDS, from its beginning to the last byte of a lane


@dataclass(frozen=True)
class SiteFigures:
    """What is counted of every instruction that ran."""

    vaddr: int  # in the code object's image
    text: str  # as the disassembler prints it
    function: str  # that the code belongs to, demangled
    executions: int  # by waves
    active_lanes: int  # summed over the executions
    issue_cycles: int  # that it takes from its waves: 4, MFMA all its passes
    flops: int  # operations of active lanes; MFMA: of the matrices
    is_read: bool
    is_write: bool
    is_atomic: bool
    is_scratch: bool
