"""The Triton kernels of these tests."""

# pylint: disable=missing-function-docstring,invalid-name

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)


@triton.jit
def softmax(x_ptr, out_ptr, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * stride + at, e / tl.sum(e, 0), mask=at < columns)


@triton.jit
def layernorm(x_ptr, w_ptr, b_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=mask, other=0.0)
    mean = tl.sum(x, 0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / columns + eps)
    w = tl.load(w_ptr + at, mask=mask)
    b = tl.load(b_ptr + at, mask=mask)
    tl.store(out_ptr + row * columns + at, centred * scale * w + b, mask=mask)


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACC)
    for begin in range(0, K, BLOCK_K):
        inside = begin + k < K
        a = tl.load(
            a_ptr + rows[:, None] * stride_am + (begin + k)[None, :] * stride_ak,
            mask=(rows[:, None] < M) & inside[None, :], other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + (begin + k)[:, None] * stride_bk + columns[None, :] * stride_bn,
            mask=inside[:, None] & (columns[None, :] < N), other=0.0,
        )  # fmt: skip
        acc = tl.dot(a, b, acc, out_dtype=ACC)
    tl.store(
        c_ptr + rows[:, None] * stride_cm + columns[None, :] * stride_cn,
        acc.to(c_ptr.dtype.element_ty),
        mask=(rows[:, None] < M) & (columns[None, :] < N),
    )


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, length, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, DIM: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * length * DIM
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    d = tl.arange(0, DIM)
    q = tl.load(q_ptr + head + rows[:, None] * DIM + d[None, :], mask=rows[:, None] < length, other=0.0)
    largest = tl.full((BLOCK_M,), -1e30, tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, DIM), tl.float32)
    end = length
    if CAUSAL:
        end = tl.minimum(length, (tl.program_id(0) + 1) * BLOCK_M)
    for begin in range(0, end, BLOCK_N):
        at = begin + columns
        k = tl.load(k_ptr + head + at[:, None] * DIM + d[None, :], mask=at[:, None] < length, other=0.0)
        v = tl.load(v_ptr + head + at[:, None] * DIM + d[None, :], mask=at[:, None] < length, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        keep = at[None, :] < length
        if CAUSAL:
            keep = keep & (rows[:, None] >= at[None, :])
        s = tl.where(keep, s, -1e30)
        new = tl.maximum(largest, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(largest - new)
        total = total * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None] + tl.dot(p.to(v.dtype), v)
        largest = new
    tl.store(
        out_ptr + head + rows[:, None] * DIM + d[None, :], (acc / total[:, None]).to(out_ptr.dtype.element_ty),
        mask=rows[:, None] < length,
    )  # fmt: skip


@triton.jit
def count(x_ptr, bins_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.atomic_add(bins_ptr + tl.load(x_ptr + at, mask=mask, other=0), 1, mask=mask)


@triton.jit
def sort_rows(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.sort(tl.load(x_ptr + at)))


@triton.jit
def scan_rows(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.cumsum(tl.load(x_ptr + at), 0))


@triton.jit
def histogram(x_ptr, bins_ptr, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(bins_ptr + tl.arange(0, BINS), tl.histogram(tl.load(x_ptr + at), BINS))


@triton.jit
def uniform(out_ptr, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.rand(seed, at))


@triton.jit
def prints(x_ptr):
    tl.device_print("value", tl.load(x_ptr + tl.arange(0, 64)))


@triton.jit
def last_one_wins(x_ptr, out_ptr, BLOCK: tl.constexpr):
    """A bug: every program writes the same elements, each with other values."""
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + at)
    tl.store(out_ptr + at, x)


@triton.jit
def add_without_mask(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A bug: the last block reads and writes past the end."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at) + tl.load(y_ptr + at))


@triton.jit
def add_to_one(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.atomic_add(out_ptr, tl.sum(x, 0).to(out_ptr.dtype.element_ty))


@triton.jit
def double_in_place(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def inline_ptx(x_ptr):
    """For another device: ex2.approx is no AMD instruction."""
    at = x_ptr + tl.arange(0, 64)
    asm: tl.constexpr = "ex2.approx.f32 $0, $1;"
    tl.store(at, tl.inline_asm_elementwise(asm, "=r,r", [tl.load(at)], dtype=tl.float32, is_pure=True, pack=1))


@triton.jit
def double_all(table, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """Each row of the table is the address of a tensor and of its result."""
    x = tl.load(table + 2 * tl.program_id(0)).to(tl.pointer_type(tl.float32))
    out = tl.load(table + 2 * tl.program_id(0) + 1).to(tl.pointer_type(tl.float32))
    for begin in range(0, SIZE, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        tl.store(out + at, 2 * tl.load(x + at))


@triton.jit
def copy_integers(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at))
