import torch
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, 2 * x)  # the mask is missing


x = torch.rand(1000, device="cuda")
out = torch.empty_like(x)
scale[(4,)](x, out, 1000, BLOCK=256)
