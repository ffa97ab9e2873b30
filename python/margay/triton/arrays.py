"""Arrays of NumPy, and of anything with DLPack, as arguments of Triton kernels."""

from margay import arrays


class Array:
    """What Triton asks of a tensor: its address and element type. `source` is the array itself."""

    def __init__(self, view):
        self.view = view
        self.source = view.source
        self.dtype = view.dtype
        self.shape = view.shape

    @classmethod
    def of(cls, array):
        """A scalar of NumPy has the array interface, too: it stays what it is."""
        if hasattr(array, "item") and getattr(array, "ndim", None) == 0 and not hasattr(array, "__setitem__"):
            return array.item()
        return cls(arrays.view("argument", array))

    def data_ptr(self):
        return self.view.address

    def element_size(self):
        return self.view.item

    def stride(self, axis=None):
        return self.view.strides if axis is None else self.view.strides[axis]

    def numel(self):
        return self.view.size

    # What @triton.autotune does to the tensors of reset_to_zero and restore_value.
    def zero_(self):
        self.source[...] = 0
        return self

    def clone(self):
        return self.source.copy()

    def copy_(self, other):
        self.source[...] = other
        return self
