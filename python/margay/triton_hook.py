"""Lets `margay.triton` follow the import of `triton`, in programs that know nothing of Margay.

`margay run` and its siblings install the hook when Python starts (triton/site/sitecustomize.py), and
`pytest --margay-check` does. It imports nothing: a program that does not import `triton` is not touched.
"""

import os
import sys


class _WhenTritonIsImported:
    """A finder that finds what the others find; behind Triton's own import comes margay.triton's."""

    def find_spec(self, name, path=None, target=None):
        if name != "triton":
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
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                if not _asked_by_torch():
                    _activate()

        spec.loader.exec_module = exec_module
        return spec


def _asked_by_torch():
    """Whether torch imports Triton for itself, for torch.compile: that is for a GPU of torch's own."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(("importlib", "triton")) and frame.f_globals is not globals():
            return name.split(".")[0] == "torch"
        frame = frame.f_back
    return False


_activating = False


def is_activating():
    """Whether the hook imports margay.triton just now."""
    return _activating or getattr(sys.modules.get("margay_triton_hook"), "_activating", False)


def _activate():
    global _activating  # pylint: disable=global-statement
    _activating = True
    try:
        _import_and_activate()
    finally:
        _activating = False


def _import_and_activate():
    try:
        import margay  # noqa: F401
    except ImportError:  # started by PYTHONPATH alone
        _import_from_here()
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
    """Once for a process; not with MARGAY_TRITON=0, nor after the import of `triton`."""
    if os.environ.get("MARGAY_TRITON", "1") == "0" or "triton" in sys.modules:
        return
    if not any(type(finder).__name__ == _WhenTritonIsImported.__name__ for finder in sys.meta_path):
        sys.meta_path.insert(0, _WhenTritonIsImported())
