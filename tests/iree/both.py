"""both.py MLIR INPUTS: compiles a program for gfx942 and for the host's processor, runs both with the inputs (a .npz)
and prints the greatest difference of their results, relative to the greatest result."""

import pathlib
import sys

import numpy as np
from iree import compiler, runtime

GPU = ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"]
CPU = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]


def main():
    source = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    inputs = list(np.load(sys.argv[2]).values())
    results = []
    for driver, options in (("hip", GPU), ("local-task", CPU)):
        image = compiler.compile_str(source, input_type="auto", extra_args=options)
        module = runtime.load_vm_flatbuffer(image, driver=driver)
        function = getattr(module, next(name for name in module.vm_module.function_names if not name.startswith("__") and
                                        not name.endswith("$async")))  # fmt: skip
        results.append(np.asarray(function(*inputs).to_host(), "f8"))
    there, here = results
    print("difference", np.abs(there - here).max() / max(np.abs(here).max(), 1e-30), "of", here.shape)


main()
