"""JAX on the virtual device: importing this package before `jax` makes JAX's own ROCm plugin find it.

    import margay.jax
    import jax

`pip install jax jax-rocm7-plugin jax-rocm7-pjrt` is what it needs; ROCm is not. Under
`margay run -- python3 program.py` the program does not import it.
"""

from margay.jax.activation import prepare

__all__ = ["prepare"]

prepare()
