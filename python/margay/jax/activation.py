"""What JAX's ROCm plugin needs of the process: the libraries that it links, and a count of devices."""

import ctypes
import os
import re
import sys

from margay import hook, library
from margay.event_time import use_event_time
from margay.jax import described, lowerings
from margay.library import LibraryError

RUNTIME = "libamdhip64.so.7"  # as the plugin asks for it

# The plugin links all of them; what ours serve is in src/substitutes/README.md.
SUBSTITUTES = (
    "librocprofiler-sdk.so.1", "librccl.so.1", "libhipblaslt.so.1", "libhipblas.so.3",
    "libhipfft.so.0", "libMIOpen.so.1", "librocblas.so.5", "librocm_smi64.so.1", "librocsolver.so.0", "libhipsolver.so.1",
    "libhipsparse.so.4",
)  # fmt: skip

# Unless the user says otherwise: XLA would compile and run some twenty kernels for each matrix product.
AUTOTUNING = "--xla_gpu_autotune_level="
XLA_FLAGS = (AUTOTUNING + "0",)
# Kernels of XLA's in which devices wait for each other, in place of RCCL.
WITHOUT_WAITING_KERNELS = ("--xla_gpu_unsupported_use_all_reduce_one_shot_kernel=false",)

_prepared = False


def prepare():
    """Loads the libraries and makes JAX see the virtual device; once for a process, before JAX has a backend.

    Raises LibraryError if Margay's libraries are not to be found, RuntimeError if JAX has begun without them.
    """
    global _prepared  # pylint: disable=global-statement  # libraries are loaded once for a process
    if _prepared:
        return
    _refuse_if_late()
    runtime = library.load()
    home = os.path.dirname(os.path.realpath(runtime._name))
    folder = os.path.join(home, "margay", "substitutes")
    # In a build tree the runtime has this name by a link, which the dynamic linker does not take for one.
    named = folder if os.path.islink(os.path.join(home, RUNTIME)) else home
    for path in [os.path.join(named, RUNTIME), *(os.path.join(folder, name) for name in SUBSTITUTES)]:
        if not os.path.exists(path):
            raise LibraryError(f"there is no {path}: build Margay again (`./margay build` in the clone)")
        ctypes.CDLL(path, mode=os.RTLD_GLOBAL | os.RTLD_NOW)
    _add_xla_flags(os.environ, XLA_FLAGS)
    _choose_event_time(os.environ)
    _choose_allocator(os.environ)
    if _count_devices(runtime) > 1 and _runs_kernels_alone(os.environ):
        _add_xla_flags(os.environ, WITHOUT_WAITING_KERNELS)
    _BeforeItsBackend(runtime).install()
    _prepared = True


class _BeforeItsBackend(hook.WhenImported):
    """JAX imports the plugin's libraries while it is itself half imported. The plugin's own module comes when
    devices are looked for: then all of JAX is there, and nothing has been compiled."""

    package = "jax_plugins.xla_rocm7"

    def __init__(self, runtime):
        self._runtime = runtime

    def around(self, execute, module):
        lowerings.install()
        described.install(self._runtime)
        execute(module)


def _refuse_if_late():
    bridge = sys.modules.get("jax._src.xla_bridge")
    if bridge is not None and getattr(bridge, "_backends", None):
        raise RuntimeError("JAX has its devices already: import margay.jax before the first use of jax")


def _add_xla_flags(environment, flags):
    given = environment.get("XLA_FLAGS", "")
    added = [flag for flag in flags if flag.split("=", maxsplit=1)[0] not in given]
    environment["XLA_FLAGS"] = " ".join([*added, given]).strip()


def _choose_event_time(environment):
    """XLA's autotuner measures with events, and takes the kernel that was fastest: on the device, not on this host."""
    levels = re.findall(AUTOTUNING + r"(\d+)", environment["XLA_FLAGS"])
    if levels and int(levels[-1]) > 0 and "MARGAY_EVENT_TIME" not in environment:
        use_event_time("modelled")


def _choose_allocator(environment):
    """XLA takes three quarters of the device's memory at once: 200 GB that the host would have to map. Under the
    checker each buffer is an allocation of its own, so that reads and writes past its end are seen."""
    environment.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if environment.get("MARGAY_CHECK"):
        environment.setdefault("XLA_PYTHON_CLIENT_ALLOCATOR", "platform")


def _runs_kernels_alone(environment):
    """The checker, the profiler and the model of time run a launch to its end before the next one."""
    modelled = environment.get("MARGAY_EVENT_TIME", "host") != "host"
    return modelled or any(environment.get(name) for name in ("MARGAY_CHECK", "MARGAY_PROFILE"))


def _count_devices(runtime):
    """JAX counts GPUs by the files of the kernel's driver, of which the virtual device has none."""
    count = ctypes.c_int(0)
    runtime.hipGetDeviceCount(ctypes.byref(count))
    try:
        from jax._src import hardware_utils
    except ImportError as error:
        raise RuntimeError(f"JAX cannot be imported ({error}): pip install jax jax-rocm7-plugin jax-rocm7-pjrt") from error
    if not hasattr(hardware_utils, "num_available_amd_gpus"):
        raise RuntimeError("this version of JAX counts its GPUs in a way that Margay does not know")
    hardware_utils.num_available_amd_gpus = lambda stop_at=None: count.value
    return count.value
