"""margay.load: compiling, the cache, importing, and what it says when something is wrong."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import PACKAGE, needs_margay
from margay import extension

import margay

pytestmark = needs_margay
KERNEL = pathlib.Path(__file__).parent / "kernel_module.cpp"
SEEDS = os.environ.get("MARGAY_KERNEL_COLLECTION", "")
RANDOM = np.random.default_rng(0)


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    os.environ["MARGAY_CACHE"] = str(folder)
    yield folder
    del os.environ["MARGAY_CACHE"]


@pytest.fixture
def compiled(monkeypatch):
    """The files that are compiled from here on."""
    files = []
    compile_one = extension._compile
    monkeypatch.setattr(
        extension, "_compile", lambda source, *rest: (files.append(source.name), compile_one(source, *rest))[1]
    )
    return files


# Without HIP and pybind11, which take seconds to compile.
PLAIN = """
#include <Python.h>
#ifndef VALUE
#define VALUE 0
#endif
#ifndef FLAG
#define FLAG 0
#endif
[[nodiscard]] static int number() { return VALUE; }
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "NAME"};
PyMODINIT_FUNC PyInit_NAME() {
  WARNED
  PyObject* module = PyModule_Create(&definition);
  PyModule_AddIntConstant(module, "value", number());
  PyModule_AddIntConstant(module, "flag", FLAG);
  return module;
}
"""


def plain(folder, name, warned=""):
    """A source file that was not edited just now: that would be compiled again."""
    source = folder / f"{name}.cpp"
    source.write_text(PLAIN.replace("NAME", name).replace("WARNED", warned))
    os.utime(source, (1, 1))
    return source


def load_plain(source, flags="", **options):
    return margay.load(source, flags=f"-x c++ {flags}", **options)


def numbers(*shape):
    return RANDOM.integers(-8, 9, shape).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Of the header that kernel_module.cpp includes; the same for all tests, to compile once."""
    return tmp_path_factory.mktemp("header")


def write(folder, factor):
    header = folder / "factor.h"
    header.write_text(f"#define FACTOR {factor}.0f\n")
    os.utime(header, (1, 1))  # an old file; a new one could have been edited while it was compiled
    return {"include": folder, "defines": {"EXTENT": 64}}


def result(module):
    a, b, c = numbers(64, 64), numbers(64, 64), np.zeros((64, 64), np.float32)
    module.dispatch_micro(margay.to_bfloat16(a), margay.to_bfloat16(b), c)
    assert (a @ b.T).any()
    [factor] = set(np.unique(c[a @ b.T != 0] / (a @ b.T)[a @ b.T != 0]))
    return factor


def test_a_kernel_is_compiled_once_and_again_when_a_header_changes(folder, compiled):
    options = write(folder, 2)
    module = margay.load(KERNEL, **options)
    assert result(module) == 2 and module.__doc__ == "tk_kernel python module"
    assert sys.modules["tk_kernel"] is module
    assert margay.load(str(KERNEL), **options) is module
    assert compiled == ["kernel_module.cpp"]
    # A header that only the device's pass includes.
    write(folder, 3)
    changed = margay.load(KERNEL, **options)
    assert compiled == ["kernel_module.cpp"] * 2
    assert (result(changed), result(module)) == (3, 2)
    assert sys.modules["tk_kernel"] is changed
    write(folder, 2)
    assert margay.load(KERNEL, **options) is module and sys.modules["tk_kernel"] is module
    assert len(compiled) == 2


WRONG_CALLS = {
    "too_few": (lambda a, b, c: (a, b), {}, TypeError,
                r"dispatch_micro: expected 3 arguments, got 2 \(Bfloat16Array, Bfloat16Array\)$"),
    "by_name": (lambda a, b, c: (a, b), {"c": 0}, TypeError,
                r"dispatch_micro: takes its arguments by position, not by name \(c\)$"),
    "not_contiguous": (lambda a, b, c: (a, b, c.T), {}, RuntimeError,
                       r"argument 3: Tensor must be contiguous, and this one of shape \(64, 64\) is not "
                       r"\(numpy.ascontiguousarray makes a copy that is\)"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_CALLS)
def test_a_wrong_call_is_refused_in_a_sentence(case, folder):
    choose, named, error, sentence = WRONG_CALLS[case]
    module = margay.load(KERNEL, **write(folder, 2))
    tensors = margay.to_bfloat16(numbers(64, 64)), margay.to_bfloat16(numbers(64, 64)), numbers(64, 64)
    with pytest.raises(error, match=sentence) as raised:
        module.dispatch_micro(*choose(*tensors), **named)
    assert len(str(raised.value)) < 200


def test_ctrl_c_stops_a_launch(folder):
    module = margay.load(KERNEL, **write(folder, 2))
    began = time.monotonic()
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        module.go_on(1 << 24)
    assert time.monotonic() - began < 60
    module.go_on(4)  # the device is none the worse


def test_a_read_only_array_may_be_read_and_not_written(folder):
    module = margay.load(KERNEL, **write(folder, 2))
    bits = [margay.to_bfloat16(numbers(64, 64)).bits for _ in range(2)]
    for array in bits:
        array.setflags(write=False)
    c = np.zeros((64, 64), np.float32)
    module.dispatch_micro(*bits, c)  # uint16 counts as bfloat16
    assert c.any()
    locked = np.zeros((64, 64), np.float32)
    locked.setflags(write=False)
    with pytest.raises(RuntimeError, match="dispatch_micro: argument 3: The kernel has written to this array, "
                                           "which is read-only"):
        module.dispatch_micro(*bits, locked)
    module.dispatch_micro(np.zeros((64, 64), np.uint16), np.zeros((64, 64), np.uint16), c)


def test_a_long_compilation_says_so(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(extension, "_SILENT", 0.001)
    load_plain(plain(tmp_path, "slow"))
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "margay: compiling slow.cpp, once ..."
    assert lines[1].startswith("margay: slow.cpp: ") and lines[1].endswith("kept for the next time")
    load_plain(tmp_path / "slow.cpp")
    assert capfd.readouterr().err == ""
    monkeypatch.setattr(extension, "_SILENT", 60)
    load_plain(plain(tmp_path, "quick"))
    assert capfd.readouterr().err == ""


def test_tensors_of_other_libraries(folder):
    module = margay.load(KERNEL, **write(folder, 2))
    a, b = numbers(64, 64), numbers(64, 64)
    bound = 0
    for convert in (of_torch, of_ml_dtypes):
        if tensors := convert(a, b, np.zeros((64, 64), np.float32)):
            module.dispatch_micro(*tensors)
            assert np.array_equal(np.asarray(tensors[2]), 2 * (a @ b.T))
            bound += 1
    if not bound:
        pytest.skip("neither torch nor ml_dtypes is installed")


def of_torch(a, b, c):
    try:
        import torch
    except ImportError:
        return None
    return [torch.from_numpy(a).to(torch.bfloat16), torch.from_numpy(b).to(torch.bfloat16), torch.from_numpy(c)]


def of_ml_dtypes(a, b, c):
    try:
        import ml_dtypes
    except ImportError:
        return None
    return [a.astype(ml_dtypes.bfloat16), b.astype(ml_dtypes.bfloat16), c]


def test_another_process_finds_it_compiled(folder):
    options = write(folder, 2)
    margay.load(KERNEL, **options)
    script = (
        "import margay\n"
        f"margay.load({str(KERNEL)!r}, include={str(folder)!r}, defines=['EXTENT=64'], verbose=True)\n"
        "import tk_kernel\n"
        "print(tk_kernel.dispatch_micro)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    # Not through `margay run`: the plain interpreter.
    environment.pop("LD_LIBRARY_PATH", None)
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert "dispatch_micro" in done.stdout and "is compiled already" in done.stderr, done.stderr


def test_each_option_makes_another_build(tmp_path, compiled, capfd, monkeypatch):
    monkeypatch.setattr(extension, "_SILENT", 600)  # also where the compiler takes its time
    source = plain(tmp_path, "options", "number();")
    assert load_plain(source, defines={"VALUE": 3}).value == 3
    assert load_plain(source, defines=["VALUE=4", "FLAG=1"]).flag == 1
    module = load_plain(source, defines={"VALUE": 5, "FLAG": True, "ABSENT": False, "EMPTY": None})
    assert (module.value, module.flag) == (5, 1)
    assert load_plain(source, defines={"VALUE": 5, "FLAG": False}).flag == 0
    assert load_plain(source, flags="-DVALUE=6 -DFLAG=7").flag == 7
    assert margay.load(source, flags=["-x", "c++", "-DVALUE=6", "-DFLAG=7"]).flag == 7
    assert len(compiled) == 5
    said = capfd.readouterr()
    assert said.out == said.err == ""
    load_plain(source, defines={"VALUE": 8}, verbose=True)
    said = capfd.readouterr().err
    assert "hipcc -shared -fPIC" in said and "warning: ignoring return" in said and "-DVALUE=8" in said


def test_include(tmp_path):
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a folder" / "value.h").write_text("#define VALUE 12\n")
    source = plain(tmp_path, "including")
    source.write_text('#include "value.h"\n' + source.read_text())
    for include in (tmp_path / "a folder", [str(tmp_path / "a folder")]):
        assert load_plain(source, include=include).value == 12
    os.utime(source, (1, 1))
    os.utime(tmp_path / "a folder" / "value.h", (1, 1))
    module = load_plain(source, include=tmp_path / "a folder")
    assert load_plain(source, include=tmp_path / "a folder") is module
    (tmp_path / "a folder" / "value.h").write_text("#define VALUE 13\n")
    assert load_plain(source, include=tmp_path / "a folder").value == 13


def test_a_file_that_is_edited_while_it_is_compiled_is_compiled_again(tmp_path, compiled):
    source = plain(tmp_path, "edited")
    os.utime(source, (1e10, 1e10))
    load_plain(source)
    load_plain(source)
    assert compiled == ["edited.cpp"] * 2


def test_a_damaged_cache_is_no_obstacle(tmp_path, compiled, cache):
    source = plain(tmp_path, "damaged")
    load_plain(source)
    for manifest in cache.glob("modules/*/builds.json"):
        manifest.write_text("{")
    load_plain(source)
    for built in cache.glob("modules/*/*/module.so"):
        built.unlink()
    load_plain(source)
    assert compiled == ["damaged.cpp"] * 3


def test_only_the_last_builds_are_kept(tmp_path, monkeypatch, cache):
    monkeypatch.setattr(extension, "_KEPT", 2)
    for value in range(3):
        source = plain(tmp_path, "kept", f"(void){value};")
        file = extension.build(source, tmp_path, flags="-x c++")
    assert file == tmp_path / file.name and file.exists()
    [folder] = {built.parents[1] for built in cache.glob(f"modules/*/*/{file.name}")}
    assert len(list(folder.glob("*/module.so"))) == 2


REFUSED = {
    "missing_brace": ("int f() {", margay.CompileError, r"does not compile:\n(.|\n)*error: expected '}'"),
    "no_module": ("int f() { return 1; }", ImportError, "no Python module: PYBIND11_MODULE"),
    "undefined": (
        'void missing(); extern "C" void* PyInit_undefined() { missing(); return 0; }',
        ImportError,
        "compiles, but cannot be imported: .*undefined symbol: _Z7missingv",
    ),
    "taken": (
        'extern "C" void* PyInit_json() { return 0; }',
        ImportError,
        "called json, and another .*json/__init__.py.*rename it",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, tmp_path):
    text, error, sentence = REFUSED[case]
    source = tmp_path / f"{case}.cpp"
    source.write_text(text)
    with pytest.raises(error, match=sentence) as raised:
        load_plain(source)
    assert source.name in str(raised.value)
    if case == "missing_brace":
        assert "error:" in raised.value.output and raised.value.command[1] == "hipcc"


def test_several_modules_in_one_file(tmp_path):
    source = plain(tmp_path, "one")
    source.write_text(source.read_text() + 'extern "C" PyObject* PyInit_two() { return PyInit_one(); }\n')
    with pytest.raises(ImportError, match="one.cpp defines several modules .one, two.: give load a name"):
        load_plain(source)
    assert load_plain(source, name="two") is sys.modules["two"]
    with pytest.raises(ImportError, match="defines no module three, but one, two"):
        load_plain(source, name="three")


def test_no_such_file():
    with pytest.raises(FileNotFoundError, match="there is no file nowhere.cpp to compile"):
        margay.load("nowhere.cpp")


def test_pybind11_is_missing(tmp_path):
    source = tmp_path / "k.cpp"
    source.write_text("#include <pybind11/pybind11.h>\n")
    with pytest.raises(margay.CompileError, match="install pybind11: the package pybind11-dev"):
        load_plain(source, "-nostdinc")


def test_a_cache_that_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MARGAY_CACHE", str(tmp_path / "file"))
    with pytest.raises(RuntimeError, match="cannot be kept in .*file/modules.*; set MARGAY_CACHE"):
        load_plain(plain(tmp_path, "homeless"))


def test_where_the_cache_is():
    where = {"MARGAY_CACHE": "/a", "XDG_CACHE_HOME": "/b"}
    assert str(extension.cache_directory(where)) == "/a"
    del where["MARGAY_CACHE"]
    assert str(extension.cache_directory(where)) == "/b/margay"
    assert extension.cache_directory({}) == pathlib.Path.home() / ".cache" / "margay"


def test_no_headers_of_python(monkeypatch, tmp_path):
    monkeypatch.setattr(extension.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(RuntimeError, match="Python's headers are not in .*install python3-dev"):
        load_plain(plain(tmp_path, "headless"))


def test_build_for_a_script_that_imports(tmp_path):
    source = plain(tmp_path, "script")
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    command = [sys.executable, "-m", "margay", "build"]
    options = [str(source), "-DVALUE=21", "--flags=-x c++"]

    def run(*words):
        return subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    done = run(*command, *options)
    assert done.stdout.startswith("script.") and done.stdout.endswith(".so\n"), done.stderr
    # The script knows nothing of Margay.
    done = run(sys.executable, "-c", "import script, sys; print(script.value, 'margay' in sys.modules)")
    assert done.stdout == "21 False\n", done.stderr
    done = run(*command, "nowhere.cpp")
    assert done.returncode == 1 and done.stderr == "margay: there is no file nowhere.cpp to compile\n"


# The collection is not part of the repository: kernels of other authors, next to the checkout if at all.
@pytest.mark.skipif(not SEEDS, reason="no collection of further kernels")
@pytest.mark.parametrize("seed, is_transposed, scalars", [("002-2", False, (1.0, 0.0)), ("003-1", True, ())])
def test_a_kernel_of_the_collection(seed, is_transposed, scalars, tmp_path):
    """As its author wrote it, but for the extent of 8192."""
    source = tmp_path / f"{seed}.cpp"
    text = (pathlib.Path(SEEDS) / f"{seed}.cpp").read_text()
    assert text.count("8192") == 3
    source.write_text(text.replace("8192", "256"))
    margay.load(source)
    import tk_kernel

    a, b, c = numbers(256, 256), numbers(256, 256), np.zeros((256, 256), np.float32)
    tk_kernel.dispatch_micro(margay.to_bfloat16(a), margay.to_bfloat16(b), c, *scalars)
    assert np.array_equal(c, a @ (b.T if is_transposed else b))
