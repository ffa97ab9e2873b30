"""Gluon kernels for gfx942: layouts, LDS and barriers by hand, run and checked."""

# pylint: disable=missing-function-docstring,invalid-name

import margay
import pytest
import torch
import triton

gluon = pytest.importorskip("triton.experimental.gluon", reason="this Triton has no Gluon")
import triton.experimental.gluon.language as gl  # noqa: E402  # pylint: disable=wrong-import-position


@gluon.jit
def transpose(
    x_ptr, out_ptr, SIZE: gl.constexpr, blocked: gl.constexpr, turned: gl.constexpr, shared: gl.constexpr
):  # fmt: skip
    """Through LDS, so that both the loads and the stores are of neighbouring bytes."""
    rows = gl.arange(0, SIZE, layout=gl.SliceLayout(1, blocked))
    columns = gl.arange(0, SIZE, layout=gl.SliceLayout(0, blocked))
    x = gl.amd.cdna3.buffer_load(ptr=x_ptr, offsets=rows[:, None] * SIZE + columns[None, :])
    lds = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [SIZE, SIZE], shared)
    lds.store(x)
    gl.barrier()
    y = gl.permute(lds.load(turned), (1, 0))
    y = gl.convert_layout(y, blocked)
    gl.amd.cdna3.buffer_store(stored_value=y, ptr=out_ptr, offsets=rows[:, None] * SIZE + columns[None, :])


@gluon.jit
def matmul(
    a_ptr, b_ptr, c_ptr, K, M: gl.constexpr, N: gl.constexpr, BLOCK_K: gl.constexpr,
    of_a: gl.constexpr, of_b: gl.constexpr, mfma: gl.constexpr, shared: gl.constexpr,
):  # fmt: skip
    """One workgroup; the tiles of A and B go through LDS into the operands' layouts."""
    a_layout: gl.constexpr = gl.DotOperandLayout(operand_index=0, parent=mfma, k_width=4)
    b_layout: gl.constexpr = gl.DotOperandLayout(operand_index=1, parent=mfma, k_width=4)
    m = gl.arange(0, M, layout=gl.SliceLayout(1, of_a))
    k_of_a = gl.arange(0, BLOCK_K, layout=gl.SliceLayout(0, of_a))
    k_of_b = gl.arange(0, BLOCK_K, layout=gl.SliceLayout(1, of_b))
    n = gl.arange(0, N, layout=gl.SliceLayout(0, of_b))
    a_lds = gl.allocate_shared_memory(a_ptr.dtype.element_ty, [M, BLOCK_K], shared)
    b_lds = gl.allocate_shared_memory(b_ptr.dtype.element_ty, [BLOCK_K, N], shared)
    acc = gl.zeros([M, N], gl.float32, mfma)
    for begin in range(0, K, BLOCK_K):
        a_lds.store(gl.amd.cdna3.buffer_load(ptr=a_ptr, offsets=m[:, None] * K + (begin + k_of_a)[None, :]))
        b_lds.store(gl.amd.cdna3.buffer_load(ptr=b_ptr, offsets=(begin + k_of_b)[:, None] * N + n[None, :]))
        gl.barrier()
        acc = gl.amd.cdna3.mfma(a_lds.load(a_layout), b_lds.load(b_layout), acc)
        gl.barrier()
    c_m = gl.arange(0, M, layout=gl.SliceLayout(1, mfma))
    c_n = gl.arange(0, N, layout=gl.SliceLayout(0, mfma))
    gl.amd.cdna3.buffer_store(stored_value=acc, ptr=c_ptr, offsets=c_m[:, None] * N + c_n[None, :])


def test_transpose_through_lds():
    x = torch.randn(64, 64, device="cuda")
    out = torch.empty_like(x)
    blocked = gl.BlockedLayout([1, 4], [4, 16], [4, 1], [1, 0])
    turned = gl.BlockedLayout([4, 1], [16, 4], [1, 4], [0, 1])
    with margay.check() as report:
        transpose[(1,)](x, out, 64, blocked, turned, gl.SwizzledSharedLayout(4, 1, 16, [1, 0]), num_warps=4)
    assert torch.equal(out, x.T)
    assert report.launches == 1 and not report.findings


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_matmul_through_lds(kind):
    a, b = torch.randn(64, 128, device="cuda").to(kind), torch.randn(128, 64, device="cuda").to(kind)
    c = torch.empty(64, 64, device="cuda")
    of_a = gl.BlockedLayout([1, 8], [16, 4], [4, 1], [1, 0])
    of_b = gl.BlockedLayout([1, 8], [8, 8], [4, 1], [1, 0])
    mfma = gl.amd.AMDMFMALayout(version=3, instr_shape=[32, 32, 8], transposed=True, warps_per_cta=[2, 2])
    with margay.check() as report, margay.profile() as p:
        matmul[(1,)](
            a, b, c, 128, 64, 64, 32, of_a, of_b, mfma, gl.SwizzledSharedLayout(8, 1, 8, [1, 0]), num_warps=4
        )
    torch.testing.assert_close(c, a.float() @ b.float(), atol=1e-3, rtol=1e-4)
    assert not report.findings
    assert p.kernel("matmul")["SQ_INSTS_VALU_MFMA_F16" if kind == torch.float16 else "SQ_INSTS_VALU_MFMA_BF16"] > 0
    assert triton.runtime.driver.active.get_current_target().arch == "gfx942"
