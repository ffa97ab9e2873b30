"""torch's "cuda" as programs use it, with CPU tensors behind it."""

# pylint: disable=missing-function-docstring

import math

import kernels
import margay
import pytest
import torch
import triton
from margay.triton import hip, said


def test_device():
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1 and torch.cuda.current_device() == 0
    assert "MI3" in torch.cuda.get_device_name() and torch.version.hip and torch.version.cuda is None
    properties = torch.cuda.get_device_properties("cuda")
    assert properties.gcnArchName.startswith("gfx942") and properties.multi_processor_count == 304
    assert torch.cuda.get_device_capability() == (9, 4)
    assert triton.runtime.driver.active.get_active_torch_device() == torch.device("cuda", 0)


def test_tensors_say_cuda():
    for x in (
        torch.zeros(2, device="cuda"), torch.ones(2).cuda(), torch.ones(2).to("cuda:0"), torch.empty((2,), device=0),
        torch.zeros_like(torch.ones(2, device="cuda")), torch.ones(2, device="cuda").new_zeros(3),
        torch.tensor([1.0], device=torch.device("cuda")),
    ):  # fmt: skip
        assert x.is_cuda and x.device == torch.device("cuda", 0) and x.get_device() == 0


def test_moving_copies():
    host = torch.ones(4)
    device = host.cuda()
    device[0] = 5
    assert host[0] == 1
    back = device.cpu()
    back[1] = 7
    assert device[1] == 1
    assert device.cuda() is device  # it is there already
    there = torch.as_tensor(host, device="cuda")
    there[2] = 9
    assert host[2] == 1


def test_dtype_and_device_together():
    x = torch.ones(4).to("cuda", torch.float16)
    assert x.dtype == torch.float16 and x.is_cuda
    assert torch.ones(4).to(torch.float64).dtype == torch.float64
    assert torch.ones(4).to(x).dtype == torch.float16
    assert x.to(device="cpu", dtype=torch.float32).dtype == torch.float32


def test_modules_and_gradients():
    layer = torch.nn.Linear(4, 3).cuda()
    assert all(p.is_cuda and p.is_leaf and p.requires_grad for p in layer.parameters())
    x = torch.randn(5, 4, device="cuda", requires_grad=True)
    layer(x).sum().backward()
    torch.testing.assert_close(x.grad, layer.weight.sum(0).expand(5, 4))


def test_autograd_function_runs_kernels_in_backward():
    class Twice(torch.autograd.Function):
        """x + x by a kernel, and so its gradient."""

        @staticmethod
        def forward(ctx, x):
            return Twice.add(x)

        @staticmethod
        def backward(ctx, gradient):
            assert gradient.is_cuda
            return Twice.add(gradient.contiguous())

        @staticmethod
        def add(x):
            out = torch.empty(x.shape, device="cuda")
            kernels.add[(1,)](x, x, out, x.numel(), BLOCK=128)
            return out

    x = torch.randn(100, device="cuda", requires_grad=True)
    Twice.apply(x).sum().backward()
    assert torch.equal(x.grad, torch.full((100,), 2.0, device="cuda"))


def test_streams_and_events():
    x, out = torch.ones(128, device="cuda"), torch.empty(128, device="cuda")
    stream = torch.cuda.Stream()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        assert torch.cuda.current_stream() == stream
        begin.record()
        kernels.add[(1,)](x, x, out, 128, BLOCK=128)
        end.record()
    assert torch.cuda.current_stream() != stream
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    assert end.query() and out[5] == 2
    time = begin.elapsed_time(end)
    if hip.events_are_modelled():
        assert 0 < time < 0.1  # never the host's
    else:
        assert math.isnan(time)


def test_random_numbers_and_generators():
    torch.cuda.manual_seed(7)
    a = torch.rand(4, device="cuda")
    torch.manual_seed(7)
    assert torch.equal(a, torch.rand(4, device="cuda"))
    generator = torch.Generator(device="cuda")
    assert isinstance(generator, torch.Generator)
    torch.rand(4, device="cuda", generator=generator)


@pytest.mark.skipif(not hasattr(torch.device, "__enter__"), reason="torch before 2.0 has no default devices")
def test_default_device():
    with torch.device("cuda"):
        assert torch.zeros(2).is_cuda


def test_save_and_load(tmp_path):
    torch.save(torch.ones(3, device="cuda"), tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt", map_location="cuda").is_cuda


@pytest.mark.parametrize(
    "use, words",
    [
        (lambda: torch.zeros(2, device="cuda:3"), "there is no device cuda:3"),
        (lambda: torch.cuda.set_device(5), "there is no device 5"),
        (torch.cuda.CUDAGraph, "cannot be recorded"),
        (lambda: torch.cuda.Event(interprocess=True), "other processes"),
        (lambda: torch.distributed.init_process_group("nccl"), "'nccl' needs real GPUs; 'gloo' works"),
    ],
)
def test_what_there_is_not_is_said(use, words):
    with pytest.raises((RuntimeError, NotImplementedError), match=words):
        use()


def test_tensor_on_no_device():
    x = torch.empty(4, device="meta")
    with pytest.raises(RuntimeError, match="argument x_ptr is a tensor on the device 'meta'"):
        kernels.add[(1,)](x, x, x, 4, BLOCK=64)


def test_norms_of_halves_add_up_in_float32():
    x = torch.randn(2000, 64, device="cuda", dtype=torch.float16)
    weight = torch.ones(64, device="cuda", dtype=torch.float16, requires_grad=True)
    torch.nn.functional.layer_norm(x, (64,), weight).sum().backward()
    wide = weight.detach().double().requires_grad_()
    torch.nn.functional.layer_norm(x.double(), (64,), wide).sum().backward()
    assert (weight.grad.double() - wide.grad).abs().max() < 0.06


def test_shipped_kernels_take_its_tensors():
    x = torch.randn(3, 100, device="cuda", dtype=torch.bfloat16)
    y = margay.softmax(x)
    assert y.is_cuda
    torch.testing.assert_close(y.float(), torch.softmax(x.float(), 1), atol=4e-3, rtol=1e-2)
    with pytest.raises(TypeError, match="got one on meta"):
        margay.softmax(torch.empty(3, 100, device="meta", dtype=torch.bfloat16))


@pytest.mark.skipif(not hasattr(torch, "compile"), reason="torch 1.13 has no torch.compile")
def test_torch_compile_leaves_functions_as_they_are(capsys, monkeypatch):
    monkeypatch.setattr(said, "_said", set())
    monkeypatch.delenv("MARGAY_QUIET", raising=False)

    @torch.compile(mode="max-autotune")
    def twice(x):
        return 2 * x

    assert torch.equal(torch.compile(twice)(torch.ones(4, device="cuda")), torch.full((4,), 2.0))
    assert capsys.readouterr().err.count("torch.compile compiles nothing here") == 1


def test_what_code_of_torch_compile_takes_from_torch():
    from torch._C import _cuda_getCurrentRawStream

    assert _cuda_getCurrentRawStream(0) == 0
    with torch.cuda.stream(torch.cuda.Stream()):
        assert _cuda_getCurrentRawStream(0) == torch.cuda.current_stream().cuda_stream != 0
    assert torch.cuda._exchange_device(0) == 0 == torch.cuda._maybe_exchange_device(-1)
    guards = pytest.importorskip("torch._C._dynamo", reason="needs torch 2").guards
    x = guards._empty_strided_cuda((3, 5), (1, 3), torch.bfloat16)
    assert x.is_cuda and x.shape == (3, 5) and x.stride() == (1, 3) and x.dtype == torch.bfloat16


def test_what_the_compiler_refuses_is_a_sentence():
    x = torch.ones(128, device="cuda")
    with pytest.raises(Exception, match="range must be a power of 2"):
        kernels.add[(1,)](x, x, x, 100, BLOCK=100)
    with pytest.raises(Exception, match="threads, Required: 4096, Hardware limit: 1024"):
        kernels.add[(1,)](x, x, x, 100, BLOCK=128, num_warps=64)
    # Triton 3.9 refuses it where it is assembled, 3.7 and 3.8 where what was not assembled is linked.
    with pytest.raises(RuntimeError, match="assembler rejected|failed to link"):
        kernels.inline_ptx[(1,)](x)


@pytest.mark.skipif(not hasattr(torch, "get_autocast_dtype"), reason="this torch has no autocast of a device")
def test_autocast_is_that_of_a_gpu():
    x = torch.randn(8, 16, device="cuda")
    weight = torch.randn(16, 16, device="cuda", requires_grad=True)
    with torch.autocast("cuda"):
        assert torch.is_autocast_enabled() and torch.get_autocast_dtype("cuda") == torch.float16
        y = x @ weight
        assert y.dtype == torch.float16 and torch.relu(y).dtype == torch.float16
        functional = torch.nn.functional
        for wide in (torch.softmax(y, 1), functional.layer_norm(y, (16,)), y.sum(), y**2, functional.mse_loss(y, x)):
            assert wide.dtype == torch.float32
        with torch.autocast("cuda", enabled=False):
            assert not torch.is_autocast_enabled()
            assert y.sum().dtype == torch.float16 and (x @ weight).dtype == torch.float32
        for kind in (torch.bfloat16, torch.float32):
            with torch.autocast("cuda", dtype=kind):
                assert (y @ y.T).dtype == kind and torch.get_autocast_dtype("cuda") == kind
    y.sum().backward()
    assert weight.grad.dtype == torch.float32
    assert not torch.is_autocast_enabled() and torch.exp(y).dtype == torch.float16
    with torch.autocast("cpu"):
        assert (x @ weight).dtype == torch.bfloat16 and not torch.is_autocast_enabled("cuda")
