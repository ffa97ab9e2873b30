"""Python reads this at its start under `margay run`, which puts this folder on PYTHONPATH: it installs
margay/hook.py and runs the sitecustomize that it hides."""

import os
import sys


def _load(name, path):
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(name, path)
    module = module_from_spec(spec)
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module


def _run_the_hidden_one(here):
    from importlib.machinery import PathFinder

    others = [place for place in sys.path if os.path.realpath(place or ".") != here]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.origin is not None:
        _load("sitecustomize", spec.origin)


_HERE = os.path.dirname(os.path.realpath(__file__))
_load("margay_hook", os.path.join(_HERE, "..", "..", "hook.py")).install()
_run_the_hidden_one(_HERE)
