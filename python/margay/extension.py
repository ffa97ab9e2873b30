"""margay.load and margay.build: Python modules from HIP C++ files, compiled once.

The cache holds, per file and set of options, the last few builds, each with the content hash of every
file that went into it. A build is used again when all of them are as they were.
"""

import contextlib
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from types import ModuleType
from typing import Iterable, Optional, Union

from margay import library
from margay.types import Defines, Path

_SUFFIX = sysconfig.get_config_var("EXT_SUFFIX") or ".so"
_SILENT = 1.5  # seconds of compiling before anything is printed
_KEPT = 8  # builds of one file with one set of options
_ENVIRONMENT = (  # what else changes the compiler's result
    "HIPCC_COMPILE_FLAGS_APPEND", "HIPCC_LINK_FLAGS_APPEND", "HIP_CLANG_PATH", "CPATH", "CPLUS_INCLUDE_PATH",
)  # fmt: skip
_loaded = {}  # file: module


class CompileError(RuntimeError):
    """A file does not compile; `output` is what the compiler said, `command` what was run."""

    def __init__(self, source, command, output):
        super().__init__(f"{source} does not compile:\n{output.rstrip()}")
        self.command = command
        self.output = output


def load(
    source: Path,
    *,
    name: Optional[str] = None,
    defines: Defines = None,
    include: Union[Path, Iterable[Path]] = (),
    flags: Union[str, Iterable[str]] = (),
    verbose: bool = False,
) -> ModuleType:
    """Compiles a HIP C++ file that defines a Python module, and imports it.

    The file has a PYBIND11_MODULE (or another PyInit function); `import tk_kernel` works from then on
    as well. A second call compiles only if the file, a header or an option has changed.

    name: which module, when the file defines several. defines: {"N": 256} or ["N=256"], like -D.
    include: directories, like -I; those of the tile library, pybind11 and Python are there. flags:
    further arguments of the compiler, a list or one string. verbose: prints the command and the
    compiler's warnings. Raises CompileError with the compiler's output.
    """
    library.load()  # the HIP runtime that the module will find in this process
    file = _compiled(source, name, defines, include, flags, verbose)
    if file not in _loaded:
        _loaded[file] = _import(source, file)
    module = _loaded[file]
    sys.modules[file.name[: -len(_SUFFIX)]] = module  # for `import`; the latest of a name counts
    return module


def _import(source, file):
    name = file.name[: -len(_SUFFIX)]
    present = sys.modules.get(name)
    if present is not None and present not in _loaded.values():
        raise ImportError(
            f"{source}: its module is called {name}, and another module of that name is imported "
            f"already ({getattr(present, '__file__', None) or 'built in'}); rename it in PYBIND11_MODULE"
        )
    loader = importlib.machinery.ExtensionFileLoader(name, str(file))
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    try:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        raise ImportError(f"{source} compiles, but cannot be imported: {error}") from error
    return module


def build(
    source: Path,
    directory: Path = ".",
    *,
    name: Optional[str] = None,
    defines: Defines = None,
    include: Union[Path, Iterable[Path]] = (),
    flags: Union[str, Iterable[str]] = (),
    verbose: bool = False,
) -> pathlib.Path:
    """Compiles as `load` does and puts the module into a directory, for scripts that import it."""
    file = _compiled(source, name, defines, include, flags, verbose)
    target = pathlib.Path(directory) / file.name
    # Not over a file that a process may have mapped.
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        os.replace(shutil.copy2(file, pathlib.Path(work) / file.name), target)
    return target


def cache_directory(environment=os.environ):
    """MARGAY_CACHE, or margay in the user's cache directory."""
    if named := environment.get("MARGAY_CACHE"):
        return pathlib.Path(named)
    if base := environment.get("XDG_CACHE_HOME"):
        return pathlib.Path(base) / "margay"
    return pathlib.Path.home() / ".cache" / "margay"


def _compiled(source, name, defines, include, flags, verbose):
    """The module's file in the cache; compiled unless it is there."""
    source = pathlib.Path(source)
    if not source.is_file():
        raise FileNotFoundError(f"there is no file {source} to compile")
    source = source.resolve()
    installed = library.installed()
    command = [str(installed.tool), "hipcc", *_options(defines, include, flags), str(source)]
    place = cache_directory() / "modules" / _hash(_identity(installed, command))
    manifest = place / "builds.json"
    file = _unchanged(manifest)
    if file is None:
        file = _compile(source, command, place, manifest, verbose)
    elif verbose:
        print(f"margay: {source} is compiled already: {file.parent}", file=sys.stderr)
    return _module_in(source, file, name)


def _options(defines, include, flags):
    python = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(python, "Python.h")):
        raise RuntimeError(f"Python's headers are not in {python}: install python3-dev")
    if isinstance(flags, str):
        flags = shlex.split(flags)
    if isinstance(include, (str, os.PathLike)):
        include = [include]
    directories = [*map(os.path.abspath, include), python, *_pybind11()]
    return [
        "-shared", "-fPIC", "-std=c++20", "-DKITTENS_CDNA3",
        *(f"-D{define}" for define in _definitions(defines)),
        *(f"-I{directory}" for directory in directories),
        *map(str, flags),
    ]  # fmt: skip


def _definitions(defines):
    if not isinstance(defines, dict):
        return [defines] if isinstance(defines, str) else list(defines or ())
    words = []
    for key, value in defines.items():
        if value is None or value is True:
            words.append(key)
        elif value is not False:
            words.append(f"{key}={value}")
    return words


def _pybind11():
    """The directory of pip's pybind11; Debian's package is where compilers look anyway."""
    spec = importlib.util.find_spec("pybind11")
    folders = spec.submodule_search_locations if spec is not None else None
    return [os.path.join(folder, "include") for folder in folders or ()]


def _hash(value):
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:24]


def _identity(installed, command):
    """What the result depends on, except for the content of the files that the compiler reads."""
    config = subprocess.run(
        [installed.tool, "hipcc", "--print-config"], capture_output=True, text=True, check=False
    ).stdout
    pieces = [str(installed.tool)]
    for line in config.splitlines():
        path = line.split("  ")[-1].strip()
        if os.path.isfile(path) and not line.startswith("HIP runtime"):
            pieces.append(path)
    stamps = [(piece, os.stat(piece).st_size, os.stat(piece).st_mtime_ns) for piece in pieces]
    return [command, config, stamps, [os.environ.get(name) for name in _ENVIRONMENT]]


def _content_hash(path):
    try:
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return None


def _read(manifest):
    try:
        return json.loads(manifest.read_text())["builds"]
    except (OSError, ValueError, KeyError, TypeError):  # none yet, or damaged: compile afresh
        return []


def _unchanged(manifest):
    """The file of a build whose sources are as they were."""
    hashes = {}
    for one in _read(manifest):
        file = manifest.parent / one["module"]
        for path, expected in one["sources"].items():
            if path not in hashes:
                hashes[path] = _content_hash(path)
            if hashes[path] != expected:
                break
        else:
            if file.exists():
                return file
    return None


def _compile(source, command, place, manifest, verbose):
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RuntimeError(
            f"compiled modules cannot be kept in {place}: {error.strerror}; set MARGAY_CACHE to a directory "
            "that can be written"
        ) from error
    with tempfile.TemporaryDirectory(dir=place) as work, _progress(source, verbose):
        work, began = pathlib.Path(work), time.time_ns()
        output = _run([*command, *_depends(work / "host.d"), "-MD", "-o", f"{work}/module.so"], verbose)
        if output is not None:
            raise CompileError(source, command, output)
        # -MD covers only the host's pass; the device's may include other files.
        _run([*command, *_depends(work / "device.d"), "-M", "--cuda-device-only"], False)
        paths = {path for rule in work.glob("*.d") for path in _dependencies(rule.read_text())}
        sources = {path: _content_hash(path) for path in sorted(paths)}
        if any(os.stat(path).st_mtime_ns >= began for path in paths):
            sources["edited while it was compiled"] = str(began)  # so it will not be used again
        folder = place / _hash(sources)
        folder.mkdir(exist_ok=True)
        file = folder / "module.so"
        os.replace(work / "module.so", file)
        _record(manifest, {"module": f"{folder.name}/module.so", "sources": sources}, work)
    return file


@contextlib.contextmanager
def _progress(source, verbose):
    """Says that a compilation takes its time once it does, and when it is done."""
    if verbose:
        yield
        return
    said = threading.Event()

    def say():
        said.set()
        print(f"margay: compiling {source.name}, once ...", file=sys.stderr, flush=True)

    timer = threading.Timer(_SILENT, say)
    timer.daemon = True
    timer.start()
    began = time.monotonic()
    try:
        yield
    finally:
        timer.cancel()
        if said.is_set():
            took = time.monotonic() - began
            print(f"margay: {source.name}: {took:.0f} s; kept for the next time", file=sys.stderr, flush=True)


def _depends(file):
    return ["-MF", str(file), "-MT", "module"]


def _run(command, verbose):
    """What the compiler said if it failed, otherwise None."""
    if verbose:
        print(f"margay: {shlex.join(command)}", file=sys.stderr)
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode == 0:
        if verbose and done.stdout:
            print(done.stdout, end="", file=sys.stderr)
        return None
    hint = ""
    if "'pybind11/pybind11.h' file not found" in done.stdout:
        hint = "\ninstall pybind11: the package pybind11-dev, or `pip install pybind11`"
    return done.stdout + hint


def _record(manifest, build_made, work):
    builds = [one for one in _read(manifest) if one["module"] != build_made["module"]]
    builds.insert(0, build_made)
    for old in builds[_KEPT:]:
        shutil.rmtree(manifest.parent / os.path.dirname(old["module"]), ignore_errors=True)
    (work / "builds.json").write_text(json.dumps({"builds": builds[:_KEPT]}))
    os.replace(work / "builds.json", manifest)


def _dependencies(text):
    """The paths of a make rule, in which a space is written with a backslash and $ twice."""
    _, _, paths = text.replace("\\\n", " ").partition(":")
    words = re.findall(r"(?:\\.|[^\s\\])+", paths)
    return sorted({re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words})


def _module_in(source, file, name):
    """The same file under the name that its module needs."""
    names = {m.decode() for m in re.findall(rb"\0PyInit_(\w+)(?=\0)", file.read_bytes())}
    if name is None and len(names) != 1:
        found = f"several modules ({', '.join(sorted(names))}): give load a name" if names else (
            "no Python module: PYBIND11_MODULE(name, m) is missing"
        )
        raise ImportError(f"{source} defines {found}")
    if name is not None and name not in names:
        raise ImportError(f"{source} defines no module {name}, but {', '.join(sorted(names)) or 'none'}")
    named = file.with_name((name or names.pop()) + _SUFFIX)
    if not named.exists():
        try:
            os.link(file, named)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            shutil.copy2(file, named)
    return named
