"""What XLA's text of an optimised module says of its kernels: operations, lines of the program, buffers.

Only what reports show is read. A line that is not understood is left out: a kernel then keeps the name that its code
object has. Source of the form: XLA's own printer, as `compiled.as_text()` gives it.
"""

import re
from dataclasses import dataclass, field

_HEADER = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{$")
_INSTRUCTION = re.compile(r"^\s+(ROOT )?%?([\w.\-]+) = ")
_SHAPE = re.compile(r"(\w+)\[([\d,]*)\](?:\{([\d,]*)[^}]*\})?")
_OPERAND = re.compile(r"%([\w.\-]+)")
_CALLED = re.compile(r"\bcalls=%?([\w.\-]+)")
_APPLIED = re.compile(r"\bto_apply=%?([\w.\-]+)")
_METADATA = re.compile(r"\bmetadata=\{((?:[^{}\"]|\"(?:[^\"\\]|\\.)*\")*)\}")
_OP_NAME = re.compile(r'op_name="((?:[^"\\]|\\.)*)"')
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_FILE = re.compile(r'source_file="((?:[^"\\]|\\.)*)"')
_LINE = re.compile(r"source_line=(\d+)")
_TABLE_ROW = re.compile(r"^(\d+) (?:\"(.*)\"|\{(.*)\})$")

_BYTES = {"pred": 1, "c64": 8, "c128": 16, "bf16": 2}
_NO_KERNEL = {"parameter", "constant", "bitcast", "get-tuple-element", "tuple", "while", "conditional", "call"}
_OTHERS = 12  # operations of a fusion that are kept


@dataclass(frozen=True)
class Operation:
    """An operation of JAX and the line of the program that asks for it; line 0: not known."""

    name: str
    file: str = ""
    line: int = 0

    def as_frame(self):
        return {"function": self.name, "file": self.file, "line": self.line, "column": 0}


@dataclass(frozen=True)
class Buffer:
    """A pointer of a kernel; the shape in the order of memory, zeros where it is not known."""

    name: str
    element: str = ""
    element_bytes: int = 0
    shape: tuple = (0, 0, 0, 0)

    def as_json(self):
        return {"name": self.name, "element": self.element, "element_bytes": self.element_bytes,
                "shape": list(self.shape)}  # fmt: skip


@dataclass
class Instruction:
    """One line of a computation."""

    name: str
    type: str
    opcode: str
    operands: list
    rest: str
    is_root: bool
    operation: Operation
    number: str  # of a parameter


@dataclass
class _Computation:
    is_entry: bool
    instructions: dict = field(default_factory=dict)

    @property
    def root(self):
        return next((i for i in self.instructions.values() if i.is_root), None)


@dataclass(frozen=True)
class KernelText:
    """What is said of the kernel of one of `names`; the first `inputs` of `buffers` are read."""

    names: tuple
    inputs: int
    buffers: tuple
    computes: tuple


class Module:
    """An optimised module."""

    def __init__(self, text):
        lines = text.splitlines()
        self.name = lines[0].split()[1].rstrip(",") if lines and lines[0].startswith("HloModule") else ""
        self._files, self._functions, self._locations, self._frames = {}, {}, {}, {}
        self._computations = {}
        self._read(lines)

    def kernels(self):
        """A KernelText for each instruction that may have a kernel of its own."""
        inner = set()
        for computation in self._computations.values():
            for instruction in computation.instructions.values():
                called = [_APPLIED.search(instruction.rest)]
                if instruction.opcode == "fusion":
                    called.append(_CALLED.search(instruction.rest))
                if instruction.opcode != "call":
                    inner.update(match[1] for match in called if match)
        for name, computation in self._computations.items():
            if name in inner:
                continue
            for instruction in computation.instructions.values():
                if instruction.opcode not in _NO_KERNEL:
                    yield self._kernel(computation, instruction)

    def _kernel(self, computation, instruction):
        fused = self._fused(instruction)
        root = fused.root if fused else None
        # A sort is copied to its outputs first, and has its own name there; its kernels work on the outputs.
        sorts = "sort" in (instruction.opcode, root and root.opcode)
        inputs = [] if sorts else list(self._inputs(computation, instruction))
        outputs = list(_outputs(computation, instruction))
        names = [instruction.name, *([root.name] if root else [])]
        return KernelText(tuple(re.sub(r"\W", "_", name) for name in names), len(inputs), tuple(inputs + outputs),
                          tuple(self._operations(instruction)))  # fmt: skip

    def _fused(self, instruction):
        called = _CALLED.search(instruction.rest)
        return self._computations.get(called[1]) if called else None

    def _inputs(self, computation, instruction):
        """Each buffer once: XLA passes one pointer for operands that are one slice of memory."""
        seen = set()
        for operand in instruction.operands:
            source = _behind_bitcasts(computation, operand)
            if source is None or source.name in seen:
                continue
            seen.add(source.name)
            yield _buffer(_name_of(computation, source), source.type)

    def _operations(self, instruction):
        """Its own first; then what was fused with it, each line of the program once."""
        if instruction.operation.name or instruction.operation.line:
            yield instruction.operation
        fused = self._fused(instruction)
        seen, count = {instruction.operation}, 0
        for other in reversed(fused.instructions.values() if fused else ()):
            if other.operation.line and other.operation not in seen and count < _OTHERS:
                seen.add(other.operation)
                count += 1
                yield other.operation

    # ---- Reading -------------------------------------------------------------------------------

    def _read(self, lines):
        tables = {"FileNames": self._files, "FunctionNames": self._functions, "FileLocations": self._locations,
                  "StackFrames": self._frames}  # fmt: skip
        table, computation = None, None
        for line in lines[1:]:
            if line in tables:
                table = tables[line]
            elif table is not None and (row := _TABLE_ROW.match(line)):
                table[int(row[1])] = row[2] if row[2] is not None else _numbers(row[3])
            elif header := _HEADER.match(line):
                table = None
                computation = self._computations[header[2]] = _Computation(bool(header[1]))
            elif line.startswith("}"):
                computation = None
            elif computation is not None and (instruction := self._instruction(line)):
                computation.instructions[instruction.name] = instruction

    def _instruction(self, line):
        match = _INSTRUCTION.match(line)
        if match is None:
            return None
        rest = line[match.end() :]
        end = _closing(rest, 0) + 1 if rest.startswith("(") else rest.find(" ")
        shape, rest = rest[:end], rest[end:].lstrip()
        opening = rest.find("(")
        if end <= 0 or opening <= 0:
            return None
        closing = _closing(rest, opening)
        return Instruction(match[2], shape, rest[:opening], _OPERAND.findall(rest[opening:closing]), rest[closing + 1 :],
                           bool(match[1]), self._operation(rest[closing + 1 :]), rest[opening + 1 : closing])  # fmt: skip

    def _operation(self, attributes):
        metadata = _METADATA.search(attributes)
        if metadata is None:
            return Operation("")
        name = _OP_NAME.search(metadata[1])
        name = name[1].split(";")[0].replace("\\'", "'").replace('\\"', '"') if name else ""
        if frame := _FRAME.search(metadata[1]):
            location = self._locations.get(self._frames.get(int(frame[1]), {}).get("file_location_id"), {})
            return Operation(name, self._files.get(location.get("file_name_id"), ""), location.get("line", 0))
        file, line = _FILE.search(metadata[1]), _LINE.search(metadata[1])
        return Operation(name, file[1] if file else "", int(line[1]) if line else 0)


def _numbers(text):
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", text)}


def _closing(text, opening):
    """Where the parenthesis at `opening` is closed; the end of the text if it is not."""
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return place
    return len(text)


def _behind_bitcasts(computation, name):
    instruction = computation.instructions.get(name)
    while instruction is not None and instruction.opcode == "bitcast" and instruction.operands:
        instruction = computation.instructions.get(instruction.operands[0])
    return instruction


def _name_of(computation, instruction):
    """As the program knows it, where it does: a parameter's name or number; else that of the instruction."""
    if instruction.opcode != "parameter" or not computation.is_entry:
        return instruction.name
    return instruction.operation.name or f"argument {instruction.number}"


def _outputs(computation, instruction):
    parts = _SHAPE.findall(instruction.type)
    name = _result_name(computation, instruction)
    for number, part in enumerate(parts):
        text = f"{part[0]}[{part[1]}]{{{part[2]}}}"
        yield _buffer(name if len(parts) == 1 else f"{name}.{number}", text)


def _result_name(computation, instruction):
    """"result" of the function or "result[1]", where the kernel writes that."""
    root = computation.root
    if not computation.is_entry or root is None:
        return instruction.name
    if root is instruction:
        return "result"
    if root.opcode == "tuple":
        for number, operand in enumerate(root.operands):
            if _behind_bitcasts(computation, operand) is instruction:
                return f"result[{number}]"
    return "result" if _behind_bitcasts(computation, root.name) is instruction else instruction.name


def _buffer(name, text):
    shapes = _SHAPE.findall(text)
    if len(shapes) != 1:
        return Buffer(name)
    element, extents, order = shapes[0]
    size = _element_bytes(element)
    shape = [int(extent) for extent in extents.split(",") if extent]
    minor_first = [int(axis) for axis in order.split(",") if axis]
    if sorted(minor_first) == list(range(len(shape))):
        shape = [shape[axis] for axis in reversed(minor_first)]
    if size == 0 or 0 in shape:
        return Buffer(name, element)
    leading = 1
    for extent in shape[:-3]:
        leading *= extent
    shape = shape[-3:]
    return Buffer(name, element, size, (leading, *(1,) * (3 - len(shape)), *shape))


def _element_bytes(element):
    """0: not whole bytes, or not known."""
    if element in _BYTES:
        return _BYTES[element]
    match = re.match(r"[sfu](\d+)(?:e\w+)?$", element)
    bits = int(match[1]) if match else 0
    return bits // 8 if bits % 8 == 0 else 0
