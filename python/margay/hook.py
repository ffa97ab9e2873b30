"""Lets Margay follow the import of `triton` and of JAX's plugin, in programs that know nothing of Margay.

`margay run` and its siblings install the hooks when Python starts (triton/site/sitecustomize.py), and
`pytest --margay-check` does. They import nothing: a program that imports neither is not touched, unless it asks
torch for a GPU where Triton is installed.
"""

import os
import sys


class WhenImported:
    """A finder that finds what the others find, and does something around the execution of `package`, once."""

    package = ""

    def around(self, execute, module):
        raise NotImplementedError

    def find_spec(self, name, path=None, target=None):
        if name != self.package:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return self._followed(spec)
        return None

    def _followed(self, spec):
        execute = getattr(spec.loader, "exec_module", None)
        if execute is None:
            return spec

        def exec_module(module):
            if self not in sys.meta_path:
                execute(module)
                return
            sys.meta_path.remove(self)
            self.around(execute, module)

        spec.loader.exec_module = exec_module
        return spec

    def install(self):
        if self.package in sys.modules:
            return
        if not any(type(finder).__name__ == type(self).__name__ for finder in sys.meta_path):
            sys.meta_path.insert(0, self)


class _WhenTritonIsImported(WhenImported):
    """Behind Triton's own import comes margay.triton's."""

    package = "triton"

    def around(self, execute, module):
        execute(module)
        if not _asked_by_torch():
            _activate()
        elif hasattr(module, "jit"):
            self._activate_at_the_first_kernel(module)

    @staticmethod
    def _activate_at_the_first_kernel(module):
        """The program's own import will only find the module that torch has imported."""
        original = module.jit

        def jit(*args, **kwargs):
            if not _asked_by_torch():
                module.jit = original
                _activate()
            return original(*args, **kwargs)

        jit.__doc__ = original.__doc__
        module.jit = jit


class _WhenTorchIsImported(WhenImported):
    """Programs ask for a GPU before they import the module that has the kernels: Triton is imported then."""

    package = "torch"

    def around(self, execute, module):
        execute(module)
        cuda = getattr(module, "cuda", None)
        for name in ("is_available", "device_count"):
            if callable(getattr(cuda, name, None)):
                self._ask(cuda, name, getattr(cuda, name))

    def _ask(self, cuda, name, original):
        def asked(*args, **kwargs):
            answer = original(*args, **kwargs)
            if answer or getattr(cuda, name) is not asked or _asker() in ("torch", "margay"):
                return answer
            setattr(cuda, name, original)
            try:
                import triton  # noqa: F401
            except ImportError:
                return answer
            _activate()  # nothing unless torch had imported Triton
            return getattr(cuda, name)(*args, **kwargs)

        asked.__name__, asked.__doc__ = name, original.__doc__
        setattr(cuda, name, asked)


class _WhenJaxLoadsItsPlugin(WhenImported):
    """Before the first part of JAX's ROCm plugin, the libraries that it links are loaded."""

    package = "jax_rocm7_plugin"

    def around(self, execute, module):
        _import_margay()
        try:
            from margay.jax.activation import prepare

            prepare()
        except (ImportError, RuntimeError) as error:
            sys.stderr.write("margay: JAX does not run on the virtual device: %s\n" % error)
        execute(module)


class _WhenJaxIsImported(WhenImported):
    """Without the plugin JAX takes the host's processor, and says nothing."""

    package = "jax"

    def around(self, execute, module):
        execute(module)
        from importlib.util import find_spec

        wanted = os.environ.get("JAX_PLATFORMS", "") or "rocm"
        if find_spec("jax_rocm7_plugin") is None and any(name in wanted for name in ("rocm", "gpu")):
            sys.stderr.write(
                "margay: JAX has no plugin for AMD's devices, so it does not use the virtual one: "
                "pip install jax-rocm7-plugin jax-rocm7-pjrt, of JAX's version\n"
            )


def _asked_by_torch():
    """Whether torch imports Triton for itself, for torch.compile: that is for a GPU of torch's own."""
    return _asker() == "torch"


def _asker():
    """The package that imports Triton or asks for a GPU."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(("importlib", "triton")) and frame.f_globals is not globals():
            return name.split(".")[0]
        frame = frame.f_back
    return ""


_activating = False


def is_activating():
    """Whether the hook imports margay.triton just now."""
    return _activating or getattr(sys.modules.get("margay_hook"), "_activating", False)


def _activate():
    global _activating  # pylint: disable=global-statement
    _activating = True
    try:
        _import_and_activate()
    finally:
        _activating = False


def _import_margay():
    try:
        import margay  # noqa: F401
    except ImportError:  # started by PYTHONPATH alone
        _import_from_here()


def _import_and_activate():
    _import_margay()
    try:
        from margay.triton import on_import
    except ImportError as error:
        sys.stderr.write("margay: Triton does not run on the virtual device: %s\n" % error)
        return
    on_import()


def _import_from_here():
    """Imports the package of this file, without making its neighbours importable: in the wheel's
    site-packages they are for another Python."""
    from importlib.util import module_from_spec, spec_from_file_location

    folder = os.path.dirname(os.path.abspath(__file__))
    place = os.path.join(folder, "__init__.py")
    spec = spec_from_file_location("margay", place, submodule_search_locations=[folder])
    module = module_from_spec(spec)
    sys.modules["margay"] = module
    spec.loader.exec_module(module)


def install():
    """Once for a process; MARGAY_TRITON=0 and MARGAY_JAX=0 leave the one or the other as it is."""
    for hook, variable in ((_WhenTritonIsImported(), "MARGAY_TRITON"), (_WhenJaxLoadsItsPlugin(), "MARGAY_JAX"),
                           (_WhenJaxIsImported(), "MARGAY_JAX")):
        if os.environ.get(variable, "1") != "0":
            hook.install()
    if os.environ.get("MARGAY_TRITON", "1") != "0" and os.environ.get("MARGAY_TORCH_CUDA", "1") != "0":
        _WhenTorchIsImported().install()
