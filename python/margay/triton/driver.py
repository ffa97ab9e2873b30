"""Triton's driver for the virtual device: Triton's own AMD driver, without the need for torch."""

import ctypes
import functools
import os
import subprocess

from triton.backends.amd import driver as amd
from triton.backends.compiler import GPUTarget

from margay import devices
from margay.triton import arguments, deferral, digest, effects, hip, without_c
from margay.triton.benchmark import do_bench_candidate


class Driver(amd.HIPDriver):
    """Compiles for the processor of the virtual device and launches there."""

    def __init__(self):  # pylint: disable=super-init-not-called  # it would need torch with ROCm
        self.utils = _utils()
        self.launcher_cls = Launcher
        self.get_current_device = hip.current_device
        self.set_current_device = hip.set_device
        self.get_current_stream = hip.current_stream
        self.get_device_capability = hip.capability
        self._cleared = None

    @staticmethod
    def is_active():
        return True

    def get_current_target(self):
        arch = self._properties["arch"].split(":")[0]
        return GPUTarget("hip", os.environ.get("TRITON_OVERRIDE_ARCH", arch), self._properties["warpSize"])

    @functools.cached_property
    def _properties(self):
        return self.utils.get_device_properties(0)

    def get_active_torch_device(self):
        torch = _torch("get_active_torch_device")
        from margay.triton import torch_cuda

        name = f"cuda:{self.get_current_device()}" if torch_cuda.is_installed() else "cpu"
        return torch.device(name)

    def get_device_interface(self):
        from margay.triton import cuda_module

        return cuda_module

    def get_benchmarker(self):
        return do_bench_candidate

    def get_empty_cache_for_benchmark(self):
        """The caches are cold in every modelled launch: one byte stands for what clears them."""
        return bytearray(1)

    def clear_cache(self, cache):
        cache[:] = b"\0"

    def allocate_default_profile_scratch(self, size, alignment, stream):
        return _torch("a profiled kernel").zeros(size, dtype=_torch("a profiled kernel").int8)


class Launcher(amd.HIPLauncher):
    """Triton's launcher; the watchers of the launch get the arguments' names and the tensors' shapes."""

    def __init__(self, src, metadata):
        super().__init__(src, metadata)
        self._described = arguments.Described(src, metadata)

    def __call__(self, grid_x, grid_y, grid_z, stream, function, *rest):
        # The last ones are the kernel's; before them come metadata and two hooks.
        metadata, kernel_arguments = rest[:4], rest[4:]
        self._described.tell(function, kernel_arguments)
        arguments = (grid_x, grid_y, grid_z, stream, function, *metadata, *kernel_arguments)
        digest.tell(self, kernel_arguments)
        if deferral.launch(self, super().__call__, arguments):
            return
        if deferral.is_open():  # what waited may have written what is read
            digest.tell(self, kernel_arguments)
        try:
            super().__call__(*arguments)
        except SystemError as error:  # Triton's C part calls hooks after a launch that failed, too
            if isinstance(error.__cause__, RuntimeError):
                raise error.__cause__ from None
            raise

    def effects(self):
        """What the kernel does to what its arguments point at (effects.Effects); None where it is not known."""
        return effects.of_kernel(self._described.variant, self._described.name)

    def kinds(self):
        """The types of all parameters, as Triton's signatures have them."""
        return self._described.kinds


def make():
    """The driver; a sentence where Triton's own C part does not compile."""
    amd._get_path_to_hip_runtime_dylib.cache_clear()
    return Driver()


def _utils():
    if without_c.is_needed():
        for name in ("PyKernelArg", "PyTDMDescriptor", "ARG_CONSTEXPR", "ARG_KERNEL", "ARG_TUPLE"):
            setattr(amd, name, getattr(without_c, name))
        return without_c.Utilities()
    try:
        return amd.HIPUtils()
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise RuntimeError(
            f"Triton compiles a small C file for its launcher, and that failed: {error}. "
            "MARGAY_TRITON_WITHOUT_C=1 does without; CC names the compiler."
        ) from error


def _torch(what):
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"{what} of Triton's driver needs torch: pip install torch") from error
    return torch


def device():
    """What the virtual device is called and how large it is."""
    return devices.device()


__all__ = ["Driver", "Launcher", "ctypes", "device", "make"]
