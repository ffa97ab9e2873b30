"""Profiles kernel launches from Python: `margay.profile`, and what it measures.

    with margay.profile() as p:
        launch_my_kernel()
    k = p.kernel("micro_tk")
    assert k.lds_bank_conflicts == 0 and k.coalescing == 1.0
    print(k)

Everything is counted: the numbers are those that the hardware counters of a device would show, summed over the
device and over all launches of a kernel of one size. With `margay.profile(time=True)` a kernel also has `time`, how long
it would take on the device by a model (docs/time.md).
"""

import json
import os
import subprocess
import tempfile
from dataclasses import MISSING, dataclass, field
from typing import Dict, List, Optional, Tuple, Union

from margay import display, library, modelled, profile_text
from margay._profile_records import LdsUse, MemoryFigures, Resources, SiteFigures, TensorFigures
from margay.checker import Frame, short_function
from margay.modelled import ModelledTime
from margay.profile_text import nearest

_VERSION = 1


class NotInProfile(KeyError):
    """A kernel, metric or counter that the profile does not have; the text says what it has."""

    def __str__(self):  # KeyError shows the repr of its argument, which hides line breaks
        return str(self.args[0])


class Tensor(TensorFigures):
    """The traffic of the memory behind one pointer argument, in bytes, over all launches."""

    @property
    def fetched_from_memory(self):
        """How often what is read came from memory: fabric_read_bytes / touched_read_bytes.

        1.0 is the least for data that is not in L2 when the kernel begins. None if nothing is read.
        """
        return _ratio(self.fabric_read_bytes, self.touched_read_bytes)

    @property
    def fetched_from_l2(self):
        """How often what is read came from L2: l2_read_bytes / touched_read_bytes."""
        return _ratio(self.l2_read_bytes, self.touched_read_bytes)

    @property
    def asked_for(self):
        """How often lanes asked for what is read: read_bytes / touched_read_bytes."""
        return _ratio(self.read_bytes, self.touched_read_bytes)

    @property
    def written_to_memory(self):
        """How often what is written went there: fabric_written_bytes / touched_written_bytes."""
        return _ratio(self.fabric_written_bytes, self.touched_written_bytes)


class MemoryTraffic(MemoryFigures):
    """What vector memory instructions asked for and where it was served."""

    @property
    def coalescing(self):
        """least_sector_bytes / sector_bytes: 1.0 when the lanes' bytes fill the sectors."""
        return _ratio(self.least_sector_bytes, self.sector_bytes)

    def __iadd__(self, other):
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


@dataclass(frozen=True)
class ProfiledSite(SiteFigures):
    """One instruction of the kernel that ran at least once."""

    instruction_class: str = ""  # "VALU", "MFMA", "LDS" ...
    frames: List[Frame] = field(default_factory=list)  # the source line, then what it is inlined in and calls
    lds: Optional[LdsUse] = None
    memory: Optional[MemoryTraffic] = None
    tensor: Optional[int] = None  # index into the kernel's tensors, if it touches one


@dataclass(frozen=True)
class Limit:
    """What the kernel keeps busy, or waits for, longest: str(limit) is two sentences."""

    part: str  # "memory", "vector ALU", "load latency" ...
    what: str
    meaning: str

    def __str__(self) -> str:
        return f"{self.what}\n{self.meaning}".strip()


@dataclass(frozen=True)
class Advice:
    """What would make the kernel faster: str(advice) is all that there is to say."""

    what: str
    why: str
    fix: str
    effect: str
    gain: float  # the share of the least time that it saves at most

    def __str__(self) -> str:
        fix = f"fix: {self.fix}" if self.fix else ""
        return "\n".join(part for part in (self.what, self.why, fix, self.effect) if part)


@dataclass
class Line:
    """All instructions of one source line together. Without line tables `file` is empty."""

    file: str
    line: int
    function: str
    instructions: int = 0  # executions by waves
    issue_cycles: int = 0  # cycles that they take from their waves: an order of cost
    flops: int = 0
    lds_cycles: int = 0
    lds_conflict_cycles: int = 0  # of these, lost to bank conflicts
    memory: MemoryTraffic = field(default_factory=MemoryTraffic)
    sites: List[ProfiledSite] = field(default_factory=list)

    @property
    def place(self):
        """file:line, or the function where there are no line tables."""
        frame = Frame(self.function, self.file, self.line, 0)
        return str(frame) if self.line else "(no source line)"


@dataclass
class KernelProfile:
    """All launches of one kernel with one grid, workgroup and LDS size.

    Metrics (`k.coalescing`, `k.lds_bank_conflicts`) and counters (`k["SQ_WAVES"]`) are attributes
    and items alike; counters go with or without their "_sum". The value of a metric that divides by
    zero is None. docs/prof.md lists their names and units.
    """

    name: str  # demangled
    symbol: str
    grid: Tuple[int, int, int]  # in workgroups
    workgroup: Tuple[int, int, int]  # in work-items
    launches: int
    failed_launches: int  # of these; their counters end where they failed
    instructions_warm: bool  # L1I held the code when the first of them began
    host_seconds: float  # what profiling took on this host; says nothing of a GPU
    resources: Resources
    counters: Dict[str, int]
    metrics: Dict[str, Optional[float]]
    xcds: List[Dict[str, int]]  # the TCC_ counters of each die
    tensors: List[Tensor]
    sites: List[ProfiledSite]  # by address
    launches_seen: int = 0  # with those that were not chosen to be counted
    sampled_workgroups: int = 0  # 0: all; else the counts are scaled up from so many
    limit: Optional[Limit] = None
    advice: List[Advice] = field(default_factory=list)  # the one that saves most first
    time: Optional[ModelledTime] = None  # modelled, of the first launch; only with time=True

    def __getitem__(self, name):
        for values, key in (
            (self.counters, name),
            (self.counters, f"{name}_sum"),
            (self.metrics, name),
        ):
            if key in values:
                return values[key]
        raise NotInProfile(
            f'there is no counter or metric "{name}"; did you mean '
            + nearest(name, [*self.metrics, *self.counters])
            + "?"
        )

    def __getattr__(self, name):
        if name.startswith("_") or name in self.__dataclass_fields__:
            raise AttributeError(name)  # copy and pickle ask before there are values
        try:
            return self[name]
        except NotInProfile as error:
            raise AttributeError(str(error)) from None

    def __dir__(self):
        return [*super().__dir__(), *self.metrics, *self.counters]

    def tensor(self, name):
        """The tensor of that name ("g.a")."""
        found = [t for t in self.tensors if t.name == name]
        if len(found) != 1:
            names = ", ".join(t.name for t in self.tensors) or "none"
            raise NotInProfile(f'there is no tensor "{name}"; there are: {names}')
        return found[0]

    def lines(self):
        """Totals of each source line (`Line`), the one with most issue cycles first."""
        lines = {}
        for site in self.sites:
            frame = site.frames[0] if site.frames and site.frames[0].line else Frame("", "", 0, 0)
            key = (frame.file, frame.line)
            line = lines.setdefault(key, Line(frame.file, frame.line, frame.function))
            line.instructions += site.executions
            line.issue_cycles += site.issue_cycles
            line.flops += site.flops
            if site.lds:
                line.lds_cycles += site.lds.cycles
                line.lds_conflict_cycles += site.lds.conflict_cycles
            if site.memory:
                line.memory += site.memory
            line.sites.append(site)
        return sorted(lines.values(), key=lambda each: (-each.issue_cycles, each.file, each.line))

    def __str__(self):
        return profile_text.kernel_text(self)

    def _repr_html_(self):
        return display.preformatted(str(self))

    def __repr__(self):
        return f"<KernelProfile {profile_text.title(self)}>"


@dataclass
class Profile:
    """What ran in the block. `margay.profile` fills it in when its block ends."""

    device: str = ""
    schedule: str = ""  # for which order of workgroups and waves the cache counters hold
    mfma: str = ""  # how MFMA rounded: exact, fma or fast
    kernels: List[KernelProfile] = field(default_factory=list)  # in the order of their first launch
    document: dict = field(default_factory=dict, repr=False, compare=False)  # the JSON

    @classmethod
    def from_json(cls, text):
        """Reads the JSON that `margay prof --json` writes. ValueError when it is something else."""
        try:
            document = json.loads(text)
            if document["version"] != _VERSION:
                raise ValueError(f"the profile has version {document['version']}, not {_VERSION}")
            frames = [
                Frame(f["function"], f["file"], f["line"], f["column"]) for f in document["frames"]
            ]
            return cls(
                device=document["device"],
                schedule=document["schedule"],
                mfma=document["mfma"],
                kernels=[_kernel(k, frames) for k in document["kernels"]],
                document=document,
            )
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"the profile is malformed: {error!r}") from error

    @classmethod
    def load(cls, path):
        """Reads a file that `to_json` or `margay prof --json` wrote."""
        with open(path, encoding="utf-8") as file:
            return cls.from_json(file.read())

    def to_json(self, path):
        """Writes everything, for `margay prof`, `margay compare` and `margay.Profile.load`."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.document, file, separators=(",", ":"))
            file.write("\n")

    def to_html(self, path):
        """Writes the report of `margay prof --html`: one page with everything, no network needed."""
        with tempfile.TemporaryDirectory() as folder:
            document = os.path.join(folder, "profile.json")
            self.to_json(document)
            done = subprocess.run(
                [library.installed().tool, "prof", "--from", document, "--html", os.fspath(path), "--quiet"],
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode != 0:
            raise OSError(f"the page was not written: {done.stderr.strip()}")

    def kernel(self, name="", grid=None, workgroup=None):
        """The kernel whose name, in full or as reports print it, contains `name`.

        Launches of different sizes are separate entries: grid (in workgroups) and workgroup (in
        work-items) choose one, as a number or a tuple. A name that is a kernel's whole name, with
        or without parameters, comes before others that contain it.
        """
        fitting = [
            k
            for k in self.kernels
            if (name in k.name or name in short_function(k.name))
            and (grid is None or k.grid == _extent(grid))
            and (workgroup is None or k.workgroup == _extent(workgroup))
        ]
        named = [k for k in fitting if name in (k.name, k.symbol, k.name.split("(")[0], short_function(k.name))]
        found = named or fitting
        if len(found) == 1:
            return found[0]
        if not self.kernels:
            raise NotInProfile(f'there is no kernel "{name}": no kernel was launched')
        sizes = "" if grid is None else f" with grid {_extent(grid)}"
        sizes += "" if workgroup is None else f" with workgroup {_extent(workgroup)}"
        if not found:
            raise NotInProfile(
                f'no kernel that ran has "{name}" in its name{sizes}; there are:\n'
                + _listed(self.kernels)
            )
        raise NotInProfile(
            f'{len(found)} kernels or launch sizes fit "{name}"{sizes}; choose with more of the '
            "name, grid= or workgroup=:\n" + _listed(found)
        )

    def __str__(self):
        if not self.kernels:
            return "no kernel was launched"
        return "\n\n".join(map(str, self.kernels))

    def _repr_html_(self):
        return display.preformatted(str(self))


class profile:  # pylint: disable=invalid-name  # reads as a function: with margay.profile():
    """Profiles all kernel launches of the block.

    kernel: only launches of kernels whose demangled name contains this; the others run unwatched.
    launches: only these launches of each kernel: 3, or "1,4-6".
    workgroups: only a sample of each launch's workgroups, 64 (the first) or "100-163"; counts are
    scaled up from it. All workgroups run.
    trace: of so many workgroups per launch, record what each wave did (in `document`, `to_json`).
    time: model how long each kernel takes (`KernelProfile.time`). Only the first launch of each kernel and size is
    counted then, and of a large grid a sample of its workgroups; it takes several times as long.
    Profiles do not nest; within margay.check, and under pytest --margay-check, the same run is checked and
    profiled. An exception that the block raises goes on; the profile is filled in all the same.
    """

    def __init__(
        self,
        kernel: Optional[str] = None,
        trace: int = 0,
        launches: Union[int, str, None] = None,
        workgroups: Union[int, str, None] = None,
        time: bool = False,
    ) -> None:
        if kernel is not None and ";" in kernel:
            raise ValueError(f"a kernel's name has no semicolon: {kernel!r}")
        self._options = f"trace={int(trace)}" + (f";kernel={kernel}" if kernel else "")
        self._options += "" if launches is None else f";launches={launches}"
        self._options += "" if workgroups is None else f";workgroups={workgroups}"
        self._options += ";time=1" if time else ""
        self._library = None
        self.profile = Profile()

    def __enter__(self) -> Profile:
        self._library = library.load_profiler()
        if self._library.margayProfileBegin(self._options.encode()) != 0:
            raise ValueError(f"margay.profile cannot begin: {self._reason()}")
        self.profile = Profile()
        return self.profile

    def __exit__(self, kind, error, traceback) -> bool:
        text = self._library.margayProfileEnd()
        if text is None:
            raise RuntimeError(f"margay.profile measured nothing: {self._reason()}") from error
        # The object that the block holds becomes the finished one.
        vars(self.profile).update(vars(Profile.from_json(text.decode())))
        return False

    def _reason(self):
        return (self._library.margayProfileError() or b"no reason was given").decode()


def _ratio(above, below):
    return above / below if below else None


def _extent(size):
    """A launch size as three numbers: 64 is (64, 1, 1)."""
    numbers = (size,) if isinstance(size, int) else tuple(size)
    return numbers + (1,) * (3 - len(numbers))


def _listed(kernels):
    # Whole names: kernels may differ only in their template arguments.
    return "\n".join(f"  {k.name}, {profile_text.size(k)}" for k in kernels)


def _fields(kind, document, **converted):
    fields = kind.__dataclass_fields__.values()
    known = {
        f.name: document[f.name]
        for f in fields
        if f.name not in converted and (f.name in document or not _has_default(f))
    }
    return kind(**known, **converted)


def _has_default(of):
    """What profiles of earlier versions may lack."""
    return of.default is not MISSING or of.default_factory is not MISSING


def _tensor(document):
    shape = document["shape"]
    return _fields(Tensor, document, shape=None if shape is None else tuple(shape))


def _lds(document):
    return _fields(
        LdsUse,
        document,
        worst_lanes=tuple(document["worst_lanes"]),
        bank_dwords=tuple(document["bank_dwords"]),
    )


def _site(document, frames):
    lds, memory = document["lds"], document["memory"]
    return _fields(
        ProfiledSite,
        document,
        instruction_class=document["class"],
        frames=[frames[n] for n in document["frames"]],
        lds=None if lds is None else _lds(lds),
        memory=None if memory is None else _fields(MemoryTraffic, memory),
    )


def _kernel(document, frames):
    sites = [_site(s, frames) for s in document["sites"]]
    return _fields(
        KernelProfile,
        document,
        grid=tuple(document["grid"]),
        workgroup=tuple(document["workgroup"]),
        resources=_fields(Resources, document["resources"]),
        counters=dict(document["counters"]),
        metrics=dict(document["metrics"]),
        tensors=[_tensor(t) for t in document["tensors"]],
        sites=sites,
        time=modelled.from_json(document.get("time"), sites),
        limit=_fields(Limit, document["limit"]) if "limit" in document else None,
        advice=[_fields(Advice, a) for a in document.get("advice", [])],
    )
