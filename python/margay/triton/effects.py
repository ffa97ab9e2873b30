"""Which arguments a compiled kernel reads and writes, from what LLVM has proved about them."""

import functools
import re
from dataclasses import dataclass

from triton.runtime.cache import get_cache_manager

_DEFINED = re.compile(r"^define amdgpu_kernel void @[^(]*\((.*)\) [^()]*(?:#\d+)", re.MULTILINE)
_CALLED = re.compile(r"\bcall\b[^@\n]*@([\w.$]+)\(")
# What reaches memory of no argument, waits for other workgroups, or is more than an effect on memory.
_REFUSED = re.compile(
    r"\b(?:"
    + "|".join((
        r"inttoptr\b(?!.* to ptr addrspace\(3\))", r"(?:load|store) (?:volatile|atomic)\b", "atomicrmw", "cmpxchg",
        r"\.atomic\.", r"load (?:<\d+ x )?ptr\b", r"asm sideeffect\b[^\n]*(?:global_|buffer_|flat_)",
    ))
    + ")"
)  # fmt: skip


@dataclass(frozen=True)
class Effects:
    """For each argument of the kernel, in order: "read" or "write" of a pointer ("write" may read, too), "" of others."""

    arguments: tuple


def of_ir(text):
    """The Effects of the kernel in LLVM's IR; None where something else may be written, or where workgroups may
    depend on each other."""
    if _REFUSED.search(text) or any(not name.startswith("llvm.") for name in _CALLED.findall(text)):
        return None
    defined = _DEFINED.search(text)
    if defined is None:
        return None
    arguments = []
    for argument in _split(defined.group(1)):
        words = argument.replace("(", " ").split()
        if not argument.startswith("ptr"):
            arguments.append("")
        elif "readnone" in words:
            arguments.append("none")
        elif "captures(none)" not in argument and "nocapture" not in words:
            return None  # it may be kept and written by another way
        else:
            arguments.append("read" if "readonly" in words else "write")
    return Effects(tuple(arguments))


def _split(text):
    """At commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for n, letter in enumerate(text):
        if letter in "(<[{":
            depth += 1
        elif letter in ")>]}":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[begin:n].strip())
            begin = n + 1
    return [*parts, text[begin:].strip()] if text[begin:].strip() else parts


@functools.lru_cache(maxsize=None)
def of_kernel(hash_, name):
    """The Effects of a kernel that Triton's cache has; None where they are not known."""
    path = get_cache_manager(hash_).get_file(f"{name}.llir")
    if path is None:
        return None
    with open(path, encoding="utf-8") as file:
        return of_ir(file.read())
