"""How long a kernel would take on the device, by the model of time: `margay.profile(time=True)`.

Every figure is modelled, none is measured; docs/time.md says how far it can be trusted.
"""

from dataclasses import dataclass, field
from typing import Dict, List, Optional


@dataclass(frozen=True)
class LineTime:
    """One source line, or one instruction: cycles, summed over the waves that were replayed."""

    file: str  # empty without line tables
    line: int
    text: str  # of one instruction; empty for a line
    hits: int  # executions
    latency: float  # cycles from when it could have issued to when the wave goes on
    stalls: Dict[str, float]  # of these, waiting; by AMD's names of PC sampling: "WAITCNT" ...
    exposed: float = 0  # of the stalls, while its SIMD did nothing; the others are hidden
    lost: float = 0  # idle cycles of SIMDs, divided among the waves that wait
    flight: float = 0  # of accesses to memory and LDS: from issue until they are done
    unhidden: float = 0  # of that: exposed in waits for them, wherever the waits are


@dataclass(frozen=True)
class ModelledTime:
    """The time of a kernel's first launch of one size. Its error is about `error_percent`."""

    cycles: float  # at boost clock, launch included
    us_boost: float  # of a short kernel, at the highest clock
    us_sustained: float  # of one that runs for seconds, at the clock that the device's power allows
    boost_ghz: float
    sustained_ghz: float
    error_percent: float
    bound: str  # what limits it: "matrix unit", "HBM", "latency" ...
    launch_us: float  # of these, the launch and the write-back
    tail_us: float  # of these, compute units being idle while the last workgroups run
    sample_length: float  # instructions of a workgroup that was watched, to those of one of the launch
    issue: float  # cycles of waves in which they issued
    stalls: Dict[str, float]  # cycles in which they waited, by reason
    busy: Dict[str, float]  # part of the time that each unit works, 0 to 1
    # Parts of the SIMDs' time: "work", "idle" (all waves wait), "empty" (no wave); and matrix work and memory
    # accesses in "both", only "matrix", only "memory", "neither".
    simds: Dict[str, float] = field(default_factory=dict)
    simd_cycles: float = 0  # that these are parts of
    write_back_us: float = 0  # of launch_us, what L2 writes back when the last workgroup has ended
    warm: bool = False  # its caches had what a launch like it left there
    waves_per_simd: float = 0
    occupancy: List[float] = field(default_factory=list, repr=False)  # waves of a SIMD, over equal parts of
    occupancy_cycles: float = 0  # what was replayed
    flops: float = 0  # operations on numbers
    tflops_boost: Optional[float] = None  # None: it does none
    tflops_sustained: Optional[float] = None
    lines: List[LineTime] = field(default_factory=list, repr=False)  # those that take most come first
    instructions: List[LineTime] = field(default_factory=list, repr=False)  # by address

    def __str__(self):
        rates = ""
        if self.tflops_boost is not None:
            rates = f"{self.tflops_boost:,.3g} TFLOP/s ({self.tflops_sustained:,.3g} sustained), "
        return (
            f"modelled: {self.us_boost:,.4g} us at {self.boost_ghz:.2f} GHz, {self.us_sustained:,.4g} us "
            f"sustained at {self.sustained_ghz:.2f} GHz, error about {self.error_percent:.0f} %\n"
            f"{rates}bound by {self.bound}"
        )


_SUMS = ("exposed", "lost", "flight", "unhidden")


def from_json(document, sites):
    """Out of a kernel's "time", or None. `sites`: the kernel's, as `ProfiledSite`."""
    if document is None:
        return None
    instructions = [_instruction(time, site) for time, site in zip(document["sites"], sites)]
    fields = ModelledTime.__dataclass_fields__
    return ModelledTime(
        **{name: document[name] for name in fields if name in document},
        lines=_lines(instructions),
        instructions=instructions,
    )


def _instruction(time, site):
    frame = site.frames[0] if site.frames and site.frames[0].line else None
    return LineTime(
        file=frame.file if frame else "",
        line=frame.line if frame else 0,
        text=site.text,
        hits=time["hits"],
        latency=time["latency"],
        stalls=dict(time["stalls"]),
        **{name: time.get(name, 0) for name in _SUMS},
    )


def _lines(instructions):
    lines = {}
    for one in instructions:
        lines.setdefault((one.file, one.line), []).append(one)
    sums = []
    for (file, line), members in lines.items():
        stalls = {}
        for member in members:
            for reason, cycles in member.stalls.items():
                stalls[reason] = stalls.get(reason, 0) + cycles
        hits, latency = sum(m.hits for m in members), sum(m.latency for m in members)
        others = {name: sum(getattr(m, name) for m in members) for name in _SUMS}
        sums.append(LineTime(file, line, "", hits, latency, stalls, **others))
    return sorted(sums, key=lambda one: -one.latency)
