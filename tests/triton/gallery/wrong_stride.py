import torch
import triton
import triton.language as tl


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, K, stride_a, stride_b, stride_c, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for begin in range(0, K, BLOCK):
        k = begin + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + row[:, None] * stride_a + k[None, :])
        b = tl.load(b_ptr + k[:, None] * stride_b + column[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + row[:, None] * stride_c + column[None, :], acc)


a = torch.randn(64, 128, device="cuda", dtype=torch.float16)
b = torch.randn(128, 32, device="cuda", dtype=torch.float16)
c = torch.empty(64, 32, device="cuda")
matmul[(2, 1)](a, b, c, 128, a.stride(0), a.stride(0), c.stride(0), BLOCK=32)  # b has another stride
