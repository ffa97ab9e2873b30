"""Reports call XLA's kernels by the operation of JAX, the line of the program and the buffers.

XLA loads the code of a compiled function when the function first runs, and gives the kernels of all functions the same
few names (`loop_add_fusion`). So what the runtime is told before that first run belongs to the kernels that are loaded
in it.
"""

import ctypes
import functools
import itertools
import json
import sys
import threading
import weakref

from margay.jax import hlo

_WAIT = 1.0  # seconds; another function's first run that takes longer may be waiting for this one

_lock = threading.Lock()
_numbers = itertools.count(1)
_begun = weakref.WeakSet()
_failed = False


def install(runtime):
    """Once for a process, after jax was imported and before it runs anything."""
    if not hasattr(runtime, "margayDescribeLoads"):
        return
    tell = runtime.margayDescribeLoads
    tell.argtypes, tell.restype = [ctypes.c_char_p], ctypes.c_int
    try:
        from jax._src.interpreters import pxla

        run = pxla.ExecuteReplicated.__call__
    except (ImportError, AttributeError) as error:
        _say(error)
        return

    @functools.wraps(run)
    def described(self, *args):
        if self in _begun:
            return run(self, *args)
        _begun.add(self)
        return _first_run(tell, run, self, args)

    pxla.ExecuteReplicated.__call__ = described


def _first_run(tell, run, function, args):
    if not _lock.acquire(timeout=_WAIT):  # pylint: disable=consider-using-with  # it may fail
        return run(function, *args)
    try:
        text = _description(function)
        if text is None:
            return run(function, *args)
        tell(text)
        try:
            results = run(function, *args)
            _wait(results)
            return results
        finally:
            tell(None)
    finally:
        _lock.release()


def _wait(results):
    import jax

    try:
        jax.block_until_ready(results)
    except Exception:  # pylint: disable=broad-exception-caught  # the program gets it where it uses them
        pass


def _description(function):
    """For margayDescribeLoads; None where XLA does not say."""
    try:
        kernels = []
        for text in function.xla_executable.hlo_modules():
            module = hlo.Module(text.to_string())
            variant = f"{module.name}#{next(_numbers)}"
            kernels += [_as_json(module.name, variant, name, kernel) for kernel in module.kernels() for name in kernel.names]
        return json.dumps({"kernels": kernels}).encode()
    except Exception as error:  # pylint: disable=broad-exception-caught  # reports go without names then
        _say(error)
        return None


def _as_json(module, variant, name, kernel):
    return {
        "name": name,
        "title": f"{module}/{name}",
        "variant": variant,
        "inputs": kernel.inputs,
        "buffers": [buffer.as_json() for buffer in kernel.buffers],
        "computes": [operation.as_frame() for operation in kernel.computes],
    }


def _say(error):
    global _failed  # pylint: disable=global-statement  # it is said once
    if not _failed:
        sys.stderr.write(f"margay: reports do not name the operations of JAX: {type(error).__name__}: {error}\n")
    _failed = True
