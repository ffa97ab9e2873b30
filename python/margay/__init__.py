"""Margay from Python: a virtual MI325X for HIP kernels that Python programs launch.

    with margay.check() as report:
        launch_my_kernel()

watches every launch for memory errors, races, uninitialised reads, barriers and waits.

    with margay.profile() as p:
        launch_my_kernel()
    assert p.kernel("my_kernel").lds_bank_conflicts == 0

counts what its kernels do: instructions, bank conflicts, cache and memory traffic.
"""

from margay.checker import Access, CheckError, Finding, Frame, Report, Site, check
from margay.library import LibraryError
from margay.profiler import (
    KernelProfile,
    LdsUse,
    Line,
    MemoryTraffic,
    NotInProfile,
    Profile,
    ProfiledSite,
    Resources,
    Tensor,
    profile,
)

__all__ = [
    "Access",
    "CheckError",
    "Finding",
    "Frame",
    "KernelProfile",
    "LdsUse",
    "LibraryError",
    "Line",
    "MemoryTraffic",
    "NotInProfile",
    "Profile",
    "ProfiledSite",
    "Report",
    "Resources",
    "Site",
    "Tensor",
    "check",
    "profile",
]
