"""Operators and extensions of programs that are for torch's "cuda": what runs here, and a sentence for what cannot."""

import functools
import sys

from margay.hook import WhenImported
from margay.triton import hip

# Behind "cuda" are CPU tensors, so that kernels which a program registers for one are those of the other.
_KEYS = {"CUDA": "CPU", "AutogradCUDA": "AutogradCPU"}
_ON_CPU_ONLY = (
    "torch's own kernels for CUDA are not here: its operations run on the CPU, and this one has no version for it. "
    "Kernels of Triton and of HIP run on the virtual device"
)
_NO_COMPILER = (
    "{} is for a real GPU and its compiler: torch extensions with C++ sources alone build, and `margay hipcc` "
    "compiles kernels for the virtual device"
)


def replace(torch):
    """Registers operators for "cuda" where they are found, and says what needs a real GPU."""
    _registrations(torch)
    _WhenExtensionsAreBuilt().install()
    if hasattr(torch.cuda, "_compile_kernel"):
        torch.cuda._compile_kernel = _refused("torch.cuda._compile_kernel")
    _explain()


def _registrations(torch):
    library = getattr(getattr(torch, "library", None), "Library", None)
    if library is None:
        return
    impl, of_cuda = library.impl, set()

    @functools.wraps(impl)
    def replaced(self, op_name, fn, dispatch_key="", **options):
        key = dispatch_key or self.dispatch_key
        operator = (self.ns, str(op_name).rsplit("::", maxsplit=1)[-1], _KEYS.get(key, key))
        if key in _KEYS:
            of_cuda.add(operator)
            if callable(fn) and fn is not getattr(torch.library, "fallthrough_kernel", None):
                fn = _with_its_device(torch, fn)
        elif operator in of_cuda:
            return None  # all tensors say that they are on "cuda"
        return impl(self, op_name, fn, _KEYS.get(key, dispatch_key), **options)

    library.impl = replaced


def _with_its_device(torch, function):
    """torch passes the device of the tensors that are behind "cuda" on; the program knows it by that name."""

    def named(value):
        is_behind = isinstance(value, torch.device) and value.type == "cpu"
        return torch.device("cuda", hip.current_device()) if is_behind else value

    @functools.wraps(function)
    def replaced(*args, **kwargs):
        return function(*map(named, args), **{name: named(value) for name, value in kwargs.items()})

    return replaced


def _refused(what):
    def refuse(*_, **__):
        raise NotImplementedError(_NO_COMPILER.format(what))

    return refuse


class _WhenExtensionsAreBuilt(WhenImported):
    package = "torch.utils.cpp_extension"

    def install(self):
        if self.package in sys.modules:
            self._replace(sys.modules[self.package])
        else:
            super().install()

    def around(self, execute, module):
        execute(module)
        self._replace(module)

    @staticmethod
    def _replace(module):
        # One of these is the first that a build with such sources asks. A compiler may be there: nothing of what it
        # makes would find its device.
        for name in ("_get_cuda_arch_flags", "_get_rocm_arch_flags", "_join_cuda_home", "_join_rocm_home"):
            if hasattr(module, name):
                setattr(module, name, _refused("a torch extension with CUDA or HIP sources"))


def _explain():
    """A sentence behind torch's own, when it ends the program, that an operator is not for CPU tensors."""
    show = sys.excepthook

    def hook(kind, error, traceback):
        show(kind, error, traceback)
        if issubclass(kind, NotImplementedError) and "from the 'CPU' backend" in str(error):
            print(f"margay: {_ON_CPU_ONLY}", file=sys.stderr)

    sys.excepthook = hook
