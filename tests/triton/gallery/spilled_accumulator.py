import torch
import triton
import triton.language as tl


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, K, SIZE: tl.constexpr, BLOCK_K: tl.constexpr):
    at = tl.arange(0, SIZE)
    k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((SIZE, SIZE), tl.float32)
    for begin in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + at[:, None] * K + (begin + k)[None, :])
        b = tl.load(b_ptr + (begin + k)[:, None] * SIZE + at[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + at[:, None] * SIZE + at[None, :], acc)


a = torch.randn(256, 64, device="cuda", dtype=torch.float16)
b = torch.randn(64, 256, device="cuda", dtype=torch.float16)
c = torch.empty(256, 256, device="cuda")
# 65536 sums in two waves are 512 registers of each lane: as many as there are.
matmul[(1,)](a, b, c, 64, SIZE=256, BLOCK_K=32, num_warps=2)
