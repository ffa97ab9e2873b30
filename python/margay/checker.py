"""Checks kernel launches from Python: `margay.check`, and what it reports."""

import json
import os
from dataclasses import dataclass, field
from typing import Iterable, List, Optional, Tuple, Union

from margay import display, library

_VERSION = 1
_PREFIX = "========= "


@dataclass(frozen=True)
class Frame:
    """A source line."""

    function: str
    file: str
    line: int
    column: int

    def __str__(self):
        file = os.path.relpath(self.file) if _is_below(self.file, os.getcwd()) else self.file
        place = f"{file}:{self.line}"
        return f"{place} in {short_function(self.function)}" if self.function else place


@dataclass(frozen=True)
class Access:
    """One instruction's part in a finding. What is not known is None or empty."""

    role: str
    wave: Optional[int]
    lane: Optional[int]
    workgroup: Tuple[int, int, int]
    instruction: str
    pc: Optional[int]
    vaddr: Optional[int]
    function: str
    function_offset: int
    frames: List[Frame]
    called: int  # how many frames after the first it called; those behind are its callers
    nearby: bool  # the frames are those of an instruction shortly before: this one has no line

    @property
    def place(self):
        """The source line, or the offset in the function where there is none."""
        if self.frames and self.frames[0].line:
            return f"{'near ' if self.nearby else ''}{self.frames[0]}"
        if self.vaddr is None:
            return ""
        return f"{short_function(self.function)}+{self.function_offset:#x}"

    def __str__(self):
        who = [f"wave {self.wave}"] if self.wave is not None else []
        who += [f"lane {self.lane}"] if self.lane is not None else []
        x, y, z = self.workgroup
        by = f"{' '.join(who)}, workgroup ({x},{y},{z})" if who else ""
        return "  ".join(filter(None, [self.role, self.place, self.instruction, by]))

    @property
    def folded(self):
        """What the line calls and what called it, a line each."""
        called = self.frames[1 : self.called + 1]
        callers = [str(frame) for frame in self.frames[self.called + 1 :] if frame.line]
        lines = []
        if called and called[0].function:
            frames = f" ({len(called)} frames)" if len(called) > 1 else ""
            lines.append(f"-> {short_function(called[0].function)}{frames}")
        if callers:
            lines.append("<- " + " <- ".join(callers))
        return lines


@dataclass(frozen=True)
class Occurrence:
    """Further instructions in which the cause of a finding showed."""

    kind: str
    message: str
    count: int
    accesses: List[Access]


@dataclass(frozen=True)
class FixPlace:
    """In front of what stands at this line and column the fix has to be put. `end_of_loop` is the
    line of a loop's keyword where the place is the end of its body."""

    file: str
    line: int
    column: int
    end_of_loop: Optional[int]


@dataclass(frozen=True)
class Fix:
    """What kind of change puts a finding right, where, if that is known, and the names in it."""

    kind: str
    place: Optional[FixPlace]
    arguments: Tuple[str, ...] = ()  # the streams of a stream-event, say


@dataclass(frozen=True)
class Finding:
    """One mistake (or piece of advice), which happened `count` times."""

    tool: str
    kind: str
    severity: str
    message: str
    kernel: str
    launch: int
    count: int
    accesses: List[Access]
    detail: List[str]
    hint: str
    fix: Fix
    others: List[Occurrence]

    def __str__(self):
        if self.severity == "advice":
            line = f"{_PREFIX}{self.tool}: {self.message}"
            for access in self.accesses[:1]:
                if access.instruction not in self.message:
                    line += f": {access.instruction}"
                line += f"   {access.place}" if access.place else ""
            return line
        note = " (note)" if self.severity == "note" else ""
        lines = [f"{self.tool}{note}: {self.message}"]
        for access in self.accesses:
            lines.append(f"  {access}")
            lines += [f"    {line}" for line in access.folded]
        lines += [f"  {line}" for line in self.detail]
        if self.hint:
            lines.append(f"  fix: {self.hint}")
        if self.others:
            what = "pairs of instructions" if len(self.accesses) > 1 else "instructions"
            lines.append(f"  {len(self.others) + 1} {what} in all")
        circumstances = [f"kernel {short_function(self.kernel)}"] if self.kernel else []
        circumstances += [f"launch {self.launch}"] if self.launch else []
        circumstances += [f"seen {self.count} times"] if self.count > 1 else []
        if circumstances:
            lines.append("  " + ", ".join(circumstances))
        return "\n".join(_PREFIX + line for line in lines)


@dataclass(frozen=True)
class Site:
    """A wait, barrier or fence that ran: how often, and how often something depended on it."""

    kernel: str
    vaddr: int
    word: int
    is_barrier: bool
    executions: int
    ordered: int
    instruction: str
    frames: List[Frame]
    is_fence: bool = False


@dataclass
class Report:
    """What the checker has to say. `margay.check` fills it in when its block ends."""

    tools: List[str] = field(default_factory=list)
    adversarial: Optional[int] = None
    launches: int = 0
    findings: List[Finding] = field(default_factory=list)  # errors and notes
    advice: List[Finding] = field(default_factory=list)
    sites: List[Site] = field(default_factory=list)
    suppressed: int = 0

    @classmethod
    def from_json(cls, text):
        """Reads the JSON that `margay check --json` writes. ValueError when it is something else."""
        try:
            document = json.loads(text)
            if document["version"] != _VERSION:
                raise ValueError(f"the report has version {document['version']}, not {_VERSION}")
            return cls(
                tools=list(document["tools"]),
                adversarial=document["adversarial"],
                launches=document["launches"],
                findings=[_finding(f) for f in document["findings"]],
                advice=[_finding(f) for f in document["advice"]],
                sites=[_site(s) for s in document["sites"]],
                suppressed=document["summary"]["suppressed"],
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"the report is malformed: {error!r}") from error

    @property
    def errors(self):
        return [f for f in self.findings if f.severity == "error"]

    @property
    def notes(self):
        return [f for f in self.findings if f.severity == "note"]

    @property
    def summary(self):
        """One line, as `margay check` prints it at the end."""
        if not self.launches and not self.findings:
            return f"{_PREFIX}margay check: no kernel was launched"
        parts = [_counted(len(self.errors), "error") if self.errors else "no errors"]
        parts += [_counted(len(self.notes), "note")] if self.notes else []
        if self.advice:
            parts.append(_counted(len(self.advice), "piece of advice", "pieces of advice"))
        parts += [f"{self.suppressed} suppressed"] if self.suppressed else []
        seed = f", adversarial seed {self.adversarial}" if self.adversarial is not None else ""
        return f"{_PREFIX}margay check: {', '.join(parts)} ({', '.join(self.tools)}){seed}"

    def __str__(self):
        return "\n".join([*map(str, self.findings), *map(str, self.advice), self.summary])

    def _repr_html_(self):
        return display.preformatted(str(self))


class CheckError(AssertionError):
    """The checker found errors; `report` has them, and the text shows them."""

    def __init__(self, report):
        super().__init__("margay check found errors\n" + str(report))
        self.report = report


class check:  # pylint: disable=invalid-name  # reads as a function: with margay.check():
    """Watches all kernel launches of the block.

    tools: "all", or names with commas between or in a list: memcheck, racecheck, initcheck,
    synccheck, waitcheck. adversarial: a seed; results then arrive as late as the ISA allows.
    Errors raise CheckError when the block ends, unless raise_on_error is false. An exception that
    the block itself raises goes on; the report is filled in all the same.
    """

    def __init__(
        self,
        tools: Union[str, Iterable[str]] = "all",
        adversarial: Optional[int] = None,
        raise_on_error: bool = True,
    ) -> None:
        self._tools = tools if isinstance(tools, str) else ",".join(tools)
        self._adversarial = adversarial
        self._raise_on_error = raise_on_error
        self._library = None
        self.report = Report()

    def __enter__(self) -> Report:
        self.report = Report()
        self._library = library.load()
        options = f"tools={self._tools}"
        if self._adversarial is not None:
            options += f";adversarial={int(self._adversarial)}"
        if self._library.margayCheckBegin(options.encode()) != 0:
            reason = (self._library.margayCheckError() or b"no reason was given").decode()
            raise ValueError(f"margay.check cannot begin: {reason}")
        return self.report

    def __exit__(self, kind, error, traceback) -> bool:
        text = self._library.margayCheckEnd()
        if text is None:
            reason = (self._library.margayCheckError() or b"no reason was given").decode()
            raise RuntimeError(f"margay.check gave no report: {reason}") from error
        # The object that the block holds becomes the finished one.
        vars(self.report).update(vars(Report.from_json(text.decode())))
        if kind is None and self._raise_on_error and self.report.errors:
            raise CheckError(self.report)
        return False


def short_function(name):
    """A demangled name without return type, parameters, unnamed namespaces and long template arguments."""
    name = name.replace("(anonymous namespace)::", "")
    if "operator" in name:  # it may hold any of the signs that are looked for
        return name
    anonymous, sign = "(anonymous namespace)", "\0"
    short = bare = ""
    depth = 0  # of template arguments
    for c in name.replace(anonymous, sign):
        if depth == 0 and c == "(":
            break
        if depth == 0 and c == " ":  # what came before is the return type
            short = bare = ""
            continue
        short += c
        if depth == 0:
            bare += "<...>" if c == "<" else c
        depth += (c == "<") - (c == ">")
    return (short if len(short) <= 48 else bare).replace(sign, anonymous)


def _is_below(path, directory):
    return os.path.isabs(path) and path.startswith(directory.rstrip("/") + "/")


def _counted(number, word, plural=None):
    return f"1 {word}" if number == 1 else f"{number} {plural or word + 's'}"


def _frames(document):
    return [Frame(f["function"], f["file"], f["line"], f["column"]) for f in document]


def _access(document):
    known = {name: document[name] for name in Access.__dataclass_fields__}
    known["workgroup"] = tuple(document["workgroup"])
    known["frames"] = _frames(document["frames"])
    return Access(**known)


def _finding(document):
    known = {name: document[name] for name in Finding.__dataclass_fields__}
    known["accesses"] = [_access(a) for a in document["accesses"]]
    place = document["fix"]["place"]
    known["fix"] = Fix(
        document["fix"]["kind"],
        FixPlace(**place) if place else None,
        tuple(document["fix"].get("arguments", ())),
    )
    known["others"] = [
        Occurrence(**{**other, "accesses": [_access(a) for a in other["accesses"]]})
        for other in document["others"]
    ]
    return Finding(**known)


def _site(document):
    known = {name: document[name] for name in Site.__dataclass_fields__ if name != "is_fence"}
    known["is_fence"] = document.get("is_fence", False)  # reports of before do not have it
    known["frames"] = _frames(document["frames"])
    return Site(**known)
