"""What JAX does with AMD's libraries, done by XLA's own code instead: transforms, convolutions, linear algebra.

The virtual device has no hipFFT, MIOpen, hipSOLVER or hipSPARSE. For JAX's platform `rocm` these primitives are lowered
to operations of XLA, as JAX itself does for processors that lack such libraries. MARGAY_JAX_LIBRARIES=1 leaves JAX's
lowerings as they are; the libraries' substitutes refuse then.
"""

import functools
import os
import sys

_PLATFORM = "rocm"


def install():
    """Once for a process, before JAX compiles anything."""
    if os.environ.get("MARGAY_JAX_LIBRARIES", "0") == "1":
        return
    for replace in (_transforms, _convolutions, _triangles, _factors, _spectra, _tridiagonal):
        try:
            replace()
        except (ImportError, AttributeError, TypeError) as error:
            sys.stderr.write(f"margay: {replace.__name__[1:]} stay with AMD's libraries, in this version of JAX: {error}\n")


def _register(primitive, rule, instead_of):
    """`rule` of lowering is used from now on; stderr says so when it is used first."""
    from jax._src.interpreters import mlir

    @functools.wraps(rule)
    def said(context, *values, **parameters):
        _say_once(primitive.name, instead_of)
        return rule(context, *values, **parameters)

    mlir.register_lowering(primitive, said, platform=_PLATFORM)


def _function(function, multiple_results=False):
    from jax._src.interpreters import mlir

    return mlir.lower_fun(function, multiple_results=multiple_results)


_said = set()


def _say_once(name, instead_of):
    if instead_of in _said or os.environ.get("MARGAY_SUBSTITUTES") == "quiet":
        return
    _said.add(instead_of)
    sys.stderr.write(f"margay: {name} is computed by XLA's own kernels here, where the device would run those of {instead_of}\n")


def _transforms():
    from jax._src.lax import fft

    from margay.jax.fft import fft as own

    _register(fft.fft_p, _function(own), "hipFFT")


def _convolutions():
    from jax._src.lax import convolution

    from margay.jax.convolution import convolve

    _register(convolution.conv_general_dilated_p, _function(convolve), "MIOpen")


def _triangles():
    from jax._src.lax import linalg

    from margay.jax import factorizations

    _register(linalg.triangular_solve_p, _function(factorizations.triangular_solve), "rocBLAS")
    _register(linalg.cholesky_p, _function(factorizations.cholesky), "hipSOLVER")


def _factors():
    from jax._src.lax import linalg

    _register(linalg.lu_p, _function(linalg._lu_python, multiple_results=True), "hipSOLVER")
    _register(linalg.geqrf_p, linalg._geqrf_lowering_rule, "hipSOLVER")
    _register(linalg.householder_product_p, linalg._householder_product_lowering, "hipSOLVER")


def _spectra():
    from jax._src.lax import linalg
    from jax._src.tpu.linalg import eigh, svd

    def by_jacobi(context, operand, **parameters):
        parameters["algorithm"] = linalg.EighImplementation.JACOBI
        return eigh._eigh_tpu_lowering(context, operand, **parameters)

    def by_polar(context, operand, **parameters):
        parameters["algorithm"] = None
        return svd._svd_tpu_lowering_rule(context, operand, **parameters)

    _register(linalg.eigh_p, by_jacobi, "hipSOLVER")
    _register(linalg.svd_p, by_polar, "hipSOLVER")


def _tridiagonal():
    from jax._src.lax import linalg

    _register(linalg.tridiagonal_solve_p, _function(linalg._tridiagonal_solve_jax), "hipSPARSE")
