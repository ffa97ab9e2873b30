"""Where Margay's parts lie: the tool, the HIP runtime, the tile library, the compiled kernels.

A build tree and an installation have the same shape:

    PREFIX/bin/margay, PREFIX/lib/libamdhip64.so, PREFIX/lib/libmargay_kernels.so, PREFIX/lib/margay/kernels,
    PREFIX/include/margay

In the wheel PREFIX is the folder _home of this package.
"""

import pathlib
import shutil
from dataclasses import dataclass

RUNTIME = "libamdhip64.so"
IN_PACKAGE = pathlib.Path(__file__).resolve().parent / "_home"
HOW = (
    "Start Python with `margay run -- python3 ...`, or set MARGAY_HOME to the directory that holds "
    f"Margay's lib/{RUNTIME} (or to a clone in which `./margay build` ran), or put `margay` on PATH."
)


class LibraryError(RuntimeError):
    """Margay, or a part of it, is not to be found or used; the text says what to do."""


@dataclass(frozen=True)
class Installation:
    """A place that may hold Margay; `part` says in words when something is missing from it."""

    prefix: pathlib.Path

    @property
    def tool(self):
        return self.part("bin/margay", "its tool")

    @property
    def kernels(self):
        return self.part("lib/margay/kernels", "its compiled kernels")

    def part(self, path, what):
        place = self.prefix / path
        if not place.exists():
            raise LibraryError(
                f"This Margay lacks {what}: there is no {place}. Build it (`./margay build` in the clone), or "
                "set MARGAY_HOME to another one."
            )
        return place


def named(environment):
    """The prefixes that MARGAY_HOME may mean."""
    home = environment.get("MARGAY_HOME")
    return [pathlib.Path(home), pathlib.Path(home) / "build" / "release"] if home else []


def neighbours(environment):
    """The prefixes that nobody named: in this package, this package's clone, and where PATH has `margay`."""
    # This file in a clone: python/margay/installation.py.
    prefixes = [IN_PACKAGE, pathlib.Path(__file__).resolve().parents[2] / "build" / "release"]
    if found := shutil.which("margay", path=environment.get("PATH", "")):
        folder = pathlib.Path(found).resolve().parent
        # The tool in PREFIX/bin, or the launcher in a clone.
        prefixes += [folder.parent, folder / "build" / "release"]
    return prefixes


def of_library(path):
    """The installation that a libamdhip64 belongs to."""
    return Installation(pathlib.Path(path).resolve().parent.parent)
