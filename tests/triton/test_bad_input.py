"""What cannot run says so in one sentence, and what is for torch's "cuda" alone runs where it can."""

# pylint: disable=missing-function-docstring

import subprocess
import sys

import pytest
import torch
import triton
import triton.language as tl

HAS_LIBRARY = hasattr(torch.library, "custom_op")


@triton.jit
def copy(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at))


@triton.jit
def not_a_power_of_two(x):
    tl.store(x + tl.arange(0, 100), 0)


@triton.jit
def with_a_type_that_gfx942_lacks(x):
    at = tl.arange(0, 64)
    tl.store(x + at, tl.load(x + at).to(tl.float8e4b15).to(tl.float32))


def sentence(error):
    return str(error.value)


def test_a_kernel_that_triton_refuses():
    x = torch.zeros(128, device="cuda")
    with pytest.raises(triton.CompilationError, match="must be a power of 2"):
        not_a_power_of_two[(1,)](x)


def test_a_type_that_the_device_lacks():
    x = torch.zeros(64, device="cuda")
    with pytest.raises(triton.CompilationError, match="fp8e4b15 not supported|target doesn.t provide conversion for this type"):
        with_a_type_that_gfx942_lacks[(1,)](x)


def test_a_tensor_on_no_device():
    x = torch.zeros(128, device="cuda")
    with pytest.raises(RuntimeError, match="argument x is a tensor on the device 'meta', which has no memory"):
        copy[(1,)](torch.empty(128, device="meta"), x, 128)
    copy[(1,)](x, x, 128)


def test_a_launch_that_the_device_refuses(capfd):
    x = torch.zeros(128, device="cuda")
    with pytest.raises(RuntimeError, match="invalid argument"):
        copy[(-1,)](x, x, 128)
    assert "the most that is possible is 2147483647" in capfd.readouterr().err
    copy[(1,)](x, x, 128)


def test_what_needs_a_compiler_for_cuda():
    extension = pytest.importorskip("torch.utils.cpp_extension")
    with pytest.raises(NotImplementedError, match="CUDA or HIP sources is for a real GPU and its compiler"):
        extension.load_inline("nothing", cpp_sources="", cuda_sources="__global__ void f() {}")
    if hasattr(torch.cuda, "_compile_kernel"):
        with pytest.raises(NotImplementedError, match="torch.cuda._compile_kernel is for a real GPU"):
            torch.cuda._compile_kernel("__global__ void f() {}", "f")


def test_what_needs_a_real_gpu():
    with pytest.raises(NotImplementedError, match="torch.cuda.CUDAGraph: torch's operations run on the CPU"):
        torch.cuda.CUDAGraph()
    with pytest.raises(NotImplementedError, match="'nccl' needs real GPUs"):
        torch.distributed.init_process_group("nccl")
    with pytest.raises(RuntimeError, match="there is no device cuda:5"):
        torch.zeros(3, device="cuda:5")


def test_an_operator_that_only_a_gpu_has(tmp_path, margay_tool, environment):
    if not hasattr(torch.ops.aten, "_flash_attention_forward"):
        pytest.skip("this torch has no such operator")
    program = tmp_path / "program.py"
    program.write_text(
        "import torch, triton\n"
        "x = torch.zeros(1, 8, 2, 16, device='cuda', dtype=torch.float16)\n"
        "torch.ops.aten._flash_attention_forward(x, x, x, None, None, 8, 8, 0.0, False, False)\n"
    )
    done = subprocess.run(
        [margay_tool, "run", "--", sys.executable, str(program)], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith("margay: torch's own kernels for CUDA are not here")


@pytest.mark.skipif(not HAS_LIBRARY, reason="this torch has no custom_op")
def test_operators_of_a_program_for_cuda():
    @torch.library.custom_op("margay_test::copied", mutates_args=(), device_types="cuda")
    def copied(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        copy[(1,)](x, out, x.numel())
        return out

    x = torch.rand(128, device="cuda")
    assert torch.equal(copied(x), x)

    library = torch.library.Library("margay_test", "FRAGMENT")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: 2 * x, "CUDA")
    library.impl("twice", lambda x: 3 * x, "CPU")
    assert torch.equal(torch.ops.margay_test.twice(x), 2 * x)


@pytest.mark.skipif(not HAS_LIBRARY, reason="this torch has no custom_op")
def test_an_operation_of_torch_that_a_program_replaces():
    library = torch.library.Library("aten", "IMPL")
    x = torch.rand(128, device="cuda")
    library.impl("erfinv", lambda x: x + 7, "CUDA")
    assert torch.equal(torch.erfinv(x), x + 7)
    library._destroy()
    assert not torch.equal(torch.erfinv(x), x + 7)


@pytest.mark.skipif(not HAS_LIBRARY, reason="this torch has no custom_op")
def test_an_operation_that_is_replaced_is_told_its_device():
    library, seen = torch.library.Library("aten", "IMPL"), []

    def zeros(size, *, dtype=None, layout=None, device=None, pin_memory=None):  # pylint: disable=unused-argument
        seen.append(device)
        return torch.full(size, 5.0, dtype=dtype, device=device)

    library.impl("zeros", zeros, "CUDA")
    x = torch.zeros(3, device="cuda")
    library._destroy()
    assert x.tolist() == [5, 5, 5] and seen == [torch.device("cuda", 0)]


def test_generators_of_philox():
    torch.manual_seed(1234)
    (generator,) = torch.cuda.default_generators
    seed, offset = generator.get_state().view(torch.int64)
    assert (int(seed), int(offset), generator.initial_seed()) == (1234, 0, 1234)
    generator.set_state(torch.tensor([-1, 8], dtype=torch.int64).view(torch.uint8))
    assert generator.initial_seed() == (1 << 64) - 1 and generator.get_offset() == 8
    assert generator.get_state().view(torch.int64).tolist() == [-1, 8]
    assert generator.device == torch.device("cuda", 0)
