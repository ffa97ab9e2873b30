import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def transpose(x_ptr, out_ptr, SIZE: gl.constexpr, rows: gl.constexpr, columns: gl.constexpr, lds: gl.constexpr):
    m = gl.arange(0, SIZE, layout=gl.SliceLayout(1, rows))
    n = gl.arange(0, SIZE, layout=gl.SliceLayout(0, rows))
    tile = gl.allocate_shared_memory(gl.float32, [SIZE, SIZE], lds)
    tile.store(gl.load(x_ptr + m[:, None] * SIZE + n[None, :]))
    gl.barrier()
    x = tile.load(columns)
    m = gl.arange(0, SIZE, layout=gl.SliceLayout(1, columns))
    n = gl.arange(0, SIZE, layout=gl.SliceLayout(0, columns))
    gl.store(out_ptr + n[None, :] * SIZE + m[:, None], x)


x = torch.rand(64, 64, device="cuda")
out = torch.empty_like(x)
rows = gl.BlockedLayout([1, 1], [1, 64], [4, 1], [1, 0])  # a wave reads a row of x
columns = gl.BlockedLayout([1, 1], [64, 1], [1, 4], [0, 1])  # and writes a column of it
plain = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])  # has to be swizzled: (1, 1, 32, [1, 0])
transpose[(1,)](x, out, 64, rows, columns, plain)
assert torch.equal(out, x.T)
