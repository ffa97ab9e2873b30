"""Tensors of every kind as views; bfloat16 without a library for it. No kernel runs."""

import ctypes

import numpy as np
import pytest
from margay import arrays, dlpack

import margay


def test_rounding_to_bfloat16():
    exact = np.array([0.0, -0.0, 1.0, -2.5, 3.3895314e38, 2.0**-133, np.inf, -np.inf], np.float32)
    assert np.array_equal(margay.to_bfloat16(exact).float(), exact)
    step = 2.0**-7  # from one number to the next, between 1 and 2
    for value, rounded in [
        (1 + 0.49 * step, 1),
        (1 + 0.51 * step, 1 + step),
        (1 + 0.5 * step, 1),  # ties go to the even one
        (1 + 1.5 * step, 1 + 2 * step),
        (-1 - 1.5 * step, -1 - 2 * step),
        (3.4e38, np.inf),
    ]:
        assert margay.to_bfloat16(value).float() == rounded, value
    odd_nan = np.array([0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)
    assert np.isnan(margay.to_bfloat16(odd_nan).float()).all()


def test_rounding_as_torch_does():
    torch = pytest.importorskip("torch")
    bits = np.random.default_rng(0).integers(0, 2**32, 100000, np.uint32)
    values = bits.view(np.float32)[~np.isnan(bits.view(np.float32))]
    expected = torch.from_numpy(values).to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)
    assert np.array_equal(margay.to_bfloat16(values).bits, expected)


def test_bits_have_to_be_uint16():
    with pytest.raises(TypeError, match="bits: expected a NumPy array of uint16 .*got dtype float32"):
        margay.bfloat16(np.zeros(3, np.float32))
    with pytest.raises(TypeError, match="got list"):
        margay.bfloat16([1, 2])


def test_numpy():
    array = np.zeros((4, 6), np.float32)[1:, ::2]
    found = arrays.view("x", array)
    assert (found.address, found.shape, found.strides) == (array.ctypes.data, (3, 3), (6, 2))
    assert found.dtype == "float32" and found.kind == "numpy" and not found.is_contiguous
    copy = arrays.contiguous(found)
    assert copy.strides == (3, 1) and copy.address != found.address
    assert found.span == (array.ctypes.data, (2 * 6 + 2 * 2 + 1) * 4)


def test_negative_strides():
    array = np.arange(6, dtype=np.float32)[::-1]
    found = arrays.view("x", array)
    assert found.strides == (-1,) and found.span == (array.ctypes.data - 20, 24)
    copy = arrays.contiguous(found).source
    assert np.array_equal(copy.view(np.float32), [5, 4, 3, 2, 1, 0])


def test_declared_bits():
    found = arrays.view("x", margay.bfloat16(np.zeros((2, 3), np.uint16)).T)
    assert (found.dtype, found.kind, found.shape, found.strides) == ("bfloat16", "bfloat16", (3, 2), (1, 3))


def test_refused():
    for given, sentence in [
        ([1.0], "x: expected a torch.Tensor, a NumPy array or an object with DLPack .*got list"),
        (np.zeros(2, ">f4"), "x: its bytes are in the other order"),
        (np.zeros(2, np.complex64), "x: dtype complex64 is not one that kernels know"),
        (np.zeros(2, "V3"), "x: dtype void24 is not one"),
        (np.zeros(4, [("a", "u1"), ("b", "<f4")])["b"], "x: its strides are not multiples"),
    ]:
        with pytest.raises(TypeError, match=sentence):
            arrays.view("x", given)


class OnlyDlpack:
    """An object of a library that has nothing but DLPack."""

    def __init__(self, inner, device=None):
        self.inner = inner
        self.device = device

    def __dlpack__(self):
        return self.inner.__dlpack__()

    def __dlpack_device__(self):
        return self.device or self.inner.__dlpack_device__()


def test_dlpack():
    array = np.arange(12, dtype=np.float16).reshape(3, 4)[:, 1:3]
    found = arrays.view("x", OnlyDlpack(array))
    assert (found.address, found.shape, found.strides) == (array.ctypes.data, (3, 2), (4, 1))
    assert found.dtype == "float16" and found.kind == "other"
    values = (ctypes.c_uint16 * 2).from_address(found.address + 8)
    assert np.array_equal(np.array(values).view(np.float16), [5, 6])


def test_dlpack_without_strides():
    """dlpack.h allows a null pointer for contiguous tensors; NumPy and torch never send one."""
    shape = (ctypes.c_int64 * 3)(2, 3, 4)
    tensor = dlpack._Tensor(data=4096, device_type=1, ndim=3, code=2, bits=32, lanes=1, shape=shape)
    tensor.byte_offset = 8
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

    class Library:
        def __dlpack__(self):
            return new(ctypes.addressof(tensor), b"dltensor", None)

        def __dlpack_device__(self):
            return (1, 0)

    found = dlpack.read("x", Library())
    assert (found.address, found.strides, found.dtype) == (4104, (12, 4, 1), "float32")


def test_dlpack_of_a_gpu_is_refused():
    with pytest.raises(TypeError, match="x: expected host memory.*device type 10"):
        arrays.view("x", OnlyDlpack(np.zeros(2), device=(10, 0)))


def test_dlpack_keeps_the_memory_alive():
    array = np.zeros(1000)
    found = arrays.view("x", OnlyDlpack(array))
    import sys

    held = sys.getrefcount(array)
    del found
    assert sys.getrefcount(array) == held - 1


def test_torch():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4).to(torch.bfloat16)[:, 1:].transpose(1, 2)
    found = arrays.view("x", tensor)
    assert (found.address, found.shape, found.strides) == (tensor.data_ptr(), (2, 4, 2), (12, 1, 4))
    assert found.dtype == "bfloat16" and found.kind == "torch"
    by_dlpack = arrays.view("x", OnlyDlpack(tensor))
    assert (by_dlpack.address, by_dlpack.strides, by_dlpack.dtype) == (found.address, found.strides, found.dtype)
    swapped = found.at(24 // 2, (4, 2), (1, 4))  # the second matrix alone
    assert torch.equal(arrays.contiguous(swapped).source, tensor[1].contiguous())


def test_torch_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="x: expected a CPU tensor.* on meta"):
        arrays.view("x", torch.empty(2, device="meta"))
    with pytest.raises(TypeError, match="x: expected a dense tensor"):
        arrays.view("x", torch.eye(2).to_sparse())
    weight = torch.zeros(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"x: requires a gradient.*x\.detach\(\)"):
        arrays.view("x", weight)
    with torch.no_grad():
        assert arrays.view("x", weight).dtype == "float32"


def test_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name in ("bfloat16", "float8_e4m3fnuz", "float8_e5m2fnuz"):
        array = np.zeros((2, 3), getattr(ml_dtypes, name))
        assert arrays.view("x", array).dtype == name
    result = arrays.empty_like_kind(arrays.view("x", np.zeros(1, ml_dtypes.bfloat16)), (2,), "bfloat16")
    assert result.dtype == ml_dtypes.bfloat16


def test_names_of_dtypes():
    names = ["float32", np.float32, np.dtype("float32"), np.zeros(1, np.float32).dtype]
    assert {arrays.dtype_name(name) for name in names} == {"float32"}
    torch = pytest.importorskip("torch")
    assert arrays.dtype_name(torch.bfloat16) == "bfloat16"
