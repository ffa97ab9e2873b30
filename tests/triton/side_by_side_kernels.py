"""Triton kernels that do what those of kernels/ do, in the style of Triton's tutorials, for
tools/triton_side_by_side.py: bfloat16 in and out, float32 inside."""

# pylint: disable=missing-function-docstring,invalid-name

import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, out_ptr, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, 0))
    result = (e / tl.sum(e, 0)).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + row * stride + at, result, mask=at < columns)


@triton.jit
def layernorm(x_ptr, w_ptr, b_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, 0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / columns + eps)
    w = tl.load(w_ptr + at, mask=mask).to(tl.float32)
    b = tl.load(b_ptr + at, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * columns + at, (centred * scale * w + b).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def gemm(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    """Blocks of C in groups of GROUP_M rows, so that neighbours in time share B in L2. M, N and K are
    multiples of the blocks."""
    block = tl.program_id(0)
    blocks_m, blocks_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * blocks_n
    first = block // in_group * GROUP_M
    height = min(blocks_m - first, GROUP_M)
    rows = (first + block % in_group % height) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = block % in_group // height * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a = a_ptr + rows[:, None] * stride_am + k[None, :] * stride_ak
    b = b_ptr + k[:, None] * stride_bk + columns[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, K, BLOCK_K):
        acc = tl.dot(tl.load(a), tl.load(b), acc)
        a += BLOCK_K * stride_ak
        b += BLOCK_K * stride_bk
    c = c_ptr + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(c, acc.to(c_ptr.dtype.element_ty))


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, length, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, DIM: tl.constexpr,
):  # fmt: skip
    """Not causal; the length is a multiple of the blocks."""
    head = tl.program_id(1) * length * DIM
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    d = tl.arange(0, DIM)
    q = tl.load(q_ptr + head + rows[:, None] * DIM + d[None, :])
    largest = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, DIM), tl.float32)
    scale *= 1.4426950408889634  # exp2 is one instruction
    for begin in range(0, length, BLOCK_N):
        at = begin + columns
        k = tl.load(k_ptr + head + at[None, :] * DIM + d[:, None])
        s = tl.dot(q, k) * scale
        new = tl.maximum(largest, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        shrink = tl.exp2(largest - new)
        total = total * shrink + tl.sum(p, 1)
        v = tl.load(v_ptr + head + at[:, None] * DIM + d[None, :])
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        largest = new
    tl.store(out_ptr + head + rows[:, None] * DIM + d[None, :], (acc / total[:, None]).to(out_ptr.dtype.element_ty))
