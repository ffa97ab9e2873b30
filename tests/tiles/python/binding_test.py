"""The Python binding of kernels: what it accepts, what it refuses and how it says so.

Run by ctest through `margay run`, with the folder of the compiled module as the first argument.
"""

import sys
import unittest

import numpy as np

sys.path.insert(0, sys.argv.pop(1))
import binding  # noqa: E402  (the path comes first)


def to_bf16(values):
    """The bits of float32 values, which must be exact in bfloat16."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    assert not np.any(bits & 0xFFFF)
    return (bits >> 16).astype(np.uint16)


VALUES = (np.arange(32 * 64) % 251 - 125).reshape(32, 64).astype(np.float32)


class Tensor:
    """The part of torch.Tensor that the binding uses, over a NumPy array."""

    def __init__(self, array, dtype, device="cpu"):
        self.array = array
        self.dtype = dtype
        self.shape = array.shape
        self.device = type("device", (), {"type": device})()

    def data_ptr(self):
        return self.array.ctypes.data

    def is_contiguous(self):
        return self.array.flags.c_contiguous


class Interface:
    """An object with nothing but the array interface."""

    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self.keep = array


class Dlpack:
    """An object with nothing but DLPack; what it hands out is a copy that only the capsule holds."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self):
        return self.array.copy(order="K").__dlpack__()


class OutOfReach:
    """A tensor of a library that has no memory to give."""

    def __dlpack__(self):
        raise BufferError("not here")


class BindingTest(unittest.TestCase):
    def setUp(self):
        self.given = to_bf16(VALUES)
        self.out = np.full((32, 64), np.nan, np.float32)

    def check(self, scale):
        np.testing.assert_array_equal(self.out, VALUES * scale)

    def refuse(self, sentence, *arguments, error=RuntimeError, function=None):
        with self.assertRaisesRegex(error, sentence):
            (function or binding.scaled)(*arguments)

    def test_kernel_and_function(self):
        binding.scaled(self.given, self.out, 2.0)
        self.check(2)
        binding.dispatch(self.given, self.out, 0.5)
        self.check(0.5)

    def test_members_that_are_not_bound_are_zero(self):
        binding.without_scale(self.given, self.out)
        self.check(0)

    def test_shape_is_padded_on_the_left(self):
        binding.scaled(self.given.reshape(1, 1, 32, 64), self.out.reshape(1, 32, 64), 1.0)
        self.check(1)

    def test_torch_tensor(self):
        binding.scaled(Tensor(self.given, "torch.bfloat16"), Tensor(self.out, "torch.float32"), 3.0)
        self.check(3)

    def test_tensor_on_a_gpu_is_passed_as_it_is(self):
        given = Tensor(self.given, "torch.bfloat16", "cuda")
        binding.scaled(given, Tensor(self.out, "torch.float32", "cuda"), 3.0)
        self.check(3)

    def test_array_interface(self):
        binding.scaled(Interface(self.given), Interface(self.out), 1.0)
        self.check(1)

    def test_dlpack(self):
        ones = np.ones(64, np.uint8)
        sums = np.zeros(64, np.int32)
        # So large that the system takes it back at once when nothing holds it any more.
        large = np.arange(2.0**20)
        for doubles in (large, large.reshape(1, 1, -1)):
            binding.add_all(ones, ones, ones.astype(np.int8), Dlpack(doubles), sums)
        np.testing.assert_array_equal(sums, 2 * (1001001 + np.arange(64)))
        bits = self.given.view()
        binding.scaled(bits, type("Out", (), {"__dlpack__": self.out.__dlpack__})(), 2.0)
        self.check(2)

    def test_refused_dlpack(self):
        rows = np.zeros((64, 32), np.float32).T
        self.refuse("argument 2: Tensor must be contiguous", self.given, Dlpack(rows), 1.0)
        self.refuse("argument 2: Expected dtype float32, got float64", self.given,
                    Dlpack(np.zeros((32, 64))), 1.0)
        self.refuse("argument 2: Expected dtype float32, got int16", self.given,
                    Dlpack(np.zeros((32, 64), np.int16)), 1.0)
        self.refuse("not here", OutOfReach(), self.out, 1.0, error=BufferError)

    def test_types(self):
        sums = np.full(4, 7, np.int32)
        bits = [np.array(row, np.uint8) for row in ([1, 2, 3, 255], [5, 6, 7, 8])]
        rest = [np.array([-1, 0, 1, 2], np.int8), np.array([10.0, 20, 30, 40])]
        raw = [row.astype(int) for row in (*bits, *rest)]
        expected = 7 + raw[0] + 1000 * raw[1] + 1000000 * raw[2] + raw[3]
        binding.add_all(*bits, *rest, sums)
        np.testing.assert_array_equal(sums, expected)
        named = [Tensor(bits[0], "torch.float8_e4m3fnuz"), Tensor(bits[1], "torch.float8_e5m2fnuz")]
        binding.add_all(*named, *rest, sums)
        np.testing.assert_array_equal(sums, 2 * expected - 7)
        refuse = lambda sentence, *given: self.refuse(sentence, *given, function=binding.add_all)
        refuse(r"argument 1: Expected dtype float8_e4m3fnuz \(or uint8 with its bits\), got float8_e5m2fnuz",
               named[1], named[1], *rest, sums)
        refuse(r"argument 2: Expected dtype float8_e5m2fnuz .* got int8", named[0],
               bits[1].view(np.int8), *rest, sums)
        refuse("argument 3: Expected dtype int8, got uint8", *bits, bits[0], rest[1], sums)
        refuse("argument 4: Expected dtype float64, got float32", *bits, rest[0],
               rest[1].astype(np.float32), sums)
        refuse("argument 5: Expected dtype int32, got uint32", *bits, *rest, sums.view(np.uint32))

    def test_masks(self):
        values = np.arange(64, dtype=np.float32)
        keep = values % 3 == 0
        for mask in (keep, keep.astype(np.uint8)):
            kept = values.copy()
            binding.keep_masked(mask, kept)
            np.testing.assert_array_equal(kept, np.where(keep, values, -1))
        self.refuse(r"argument 1: Expected dtype uint8 \(or bool with its bits\), got int8",
                    keep.astype(np.int8), values, function=binding.keep_masked)

    def test_extension_type_is_known_by_its_name(self):
        class Array(Interface):  # what an array of ml_dtypes.bfloat16 shows
            def __init__(self, array):
                super().__init__(array)
                self.__array_interface__ = dict(array.__array_interface__, typestr="<V2")
                self.dtype = type("dtype", (), {"name": "bfloat16"})()

        binding.scaled(Array(self.given), self.out, 1.0)
        self.check(1)

    def test_slices_of_one_array(self):
        halves = self.given[:16], self.given[16:]
        for i, half in enumerate(halves):
            binding.scaled(half, self.out[16 * i:16 * i + 16], 1.0)
        self.check(1)

    def test_refused_type(self):
        self.refuse(r"scaled: argument 2: Expected dtype float32, got float64",
                    self.given, self.out.astype(np.float64), 1.0)
        self.refuse(r"argument 1: Expected dtype bfloat16 \(or uint16 with its bits\), got float16",
                    self.given.astype(np.float16), self.out, 1.0)
        self.refuse(r"argument 1: Expected dtype bfloat16 .* got float32",
                    Tensor(VALUES, "torch.float32"), self.out, 1.0)

    def test_refused_object(self):
        self.refuse("argument 1: Expected a torch.Tensor, a NumPy array or an object with DLPack .* got list",
                    [1, 2], self.out, 1.0)
        self.refuse("argument 3: expected float, got str", self.given, self.out, "two",
                    error=TypeError)
        with self.assertRaises(TypeError):
            binding.scaled(self.given, self.out)

    def test_refused_strides(self):
        self.refuse("argument 1: Tensor must be contiguous", self.given[:, ::2], self.out, 1.0)
        self.refuse("argument 2: Tensor must be contiguous", self.given, self.out.T, 1.0)

    def test_refused_shape(self):
        self.refuse("argument 1: Expected Tensor.ndim <= 4, got 5",
                    self.given.reshape(1, 1, 1, 32, 64), self.out, 1.0)
        self.refuse("argument 1: Column dimension mismatch", self.given.reshape(64, 32), self.out,
                    1.0)

    def test_launch_error(self):
        self.refuse("bad_grid: hipErrorInvalid", self.given, self.out, function=binding.bad_grid)
        binding.scaled(self.given, self.out, 1.0)  # the next call starts clean
        self.check(1)

    def test_members_out_of_order(self):
        self.refuse("wrong: the bound members must be the first members of the struct", binding,
                    function=binding.bind_out_of_order)
        self.refuse("wrong: the bound members must be the first members of the struct", binding,
                    function=binding.bind_with_a_gap)

    def test_zz_kernel_error(self):
        # Last: after an illegal access the device refuses everything, as a GPU does.
        self.refuse("past_the_end: hipError", self.given, self.out, function=binding.past_the_end)


if __name__ == "__main__":
    unittest.main()
