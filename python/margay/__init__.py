"""Margay from Python: a virtual MI325X for HIP kernels that Python programs launch.

    with margay.check() as report:
        launch_my_kernel()

watches every launch for memory errors, races, uninitialised reads, barriers and waits.
"""

from margay.checker import Access, CheckError, Finding, Frame, Report, Site, check
from margay.library import LibraryError

__all__ = [
    "Access",
    "CheckError",
    "Finding",
    "Frame",
    "LibraryError",
    "Report",
    "Site",
    "check",
]
