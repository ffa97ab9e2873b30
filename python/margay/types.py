"""What the functions of this package take, for type checkers."""

import os
from typing import Any, Iterable, Mapping, Union

#: A CPU tensor of torch, an array of NumPy (ml_dtypes' types included), margay.bfloat16, or anything
#: with DLPack or __array_interface__.
TensorLike = Any

#: A path as the functions of the standard library take it.
Path = Union[str, "os.PathLike[str]"]

#: Macros for the compiler: {"N": 256} or ["N=256"].
Defines = Union[None, str, Iterable[str], Mapping[str, Any]]

#: "float32", numpy.float32, torch.float32 and so on.
DType = Any
