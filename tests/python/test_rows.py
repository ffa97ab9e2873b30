"""margay.softmax and margay.layernorm on the virtual device, against NumPy in double precision."""

import numpy as np
import pytest
from conftest import needs_margay

import margay

pytestmark = needs_margay
RANDOM = np.random.default_rng(0)


def bf16(values):
    return margay.to_bfloat16(np.asarray(values, np.float32))


def numbers(*shape):
    """Values that bfloat16 holds exactly."""
    return np.asarray(RANDOM.integers(-64, 65, shape) / 32, np.float64)


def as_float(bits):
    return np.asarray(np.asarray(bits, np.uint32) << 16).view(np.float32).astype(np.float64)


@pytest.mark.parametrize("shape", [(3, 5), (7, 1000), (2, 3, 3000), (2, 5000), (1, 1), (0, 4)])
def test_softmax(shape):
    x = numbers(*shape)
    weights = np.exp(x - x.max(-1, keepdims=True, initial=-np.inf))
    want = weights / weights.sum(-1, keepdims=True)
    got = margay.softmax(x.astype(np.float32))
    assert got.dtype == np.float32 and got.shape == shape
    assert np.abs(got - want).max(initial=0) < 1e-6
    rounded = as_float(margay.softmax(bf16(x)))
    assert np.all(np.abs(rounded - want) <= 2**-8 * want + 1e-9)


def test_softmax_of_a_view_and_refusals():
    x = numbers(8, 12).astype(np.float32)
    want = margay.softmax(np.ascontiguousarray(x[::2, 1::3]))
    assert np.array_equal(margay.softmax(x[::2, 1::3]), want)
    with pytest.raises(TypeError, match="x: expected dtype bfloat16 or float32, got int64"):
        margay.softmax(np.arange(3))


def test_softmax_of_torch_tensors():
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(numbers(3, 4, 1500))
    for dtype, slack in [(torch.float32, 1e-6), (torch.bfloat16, 2**-8)]:
        out = margay.softmax(x.to(dtype))
        want = torch.softmax(x, -1)
        assert out.dtype == dtype and torch.all((out.double() - want).abs() <= slack * want + 1e-9)


def normalised(s, weight=1.0, bias=0.0, eps=1e-5):
    centred = s - s.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) * weight + bias


def assert_near(got, want):
    assert np.all(np.abs(got - want) <= 2**-8 * np.abs(want) + 1e-4)


@pytest.mark.parametrize("shape", [(3, 5), (7, 1000), (2, 3, 3000), (2, 8192), (1, 2000), (4,)])
def test_layernorm(shape):
    x, residual, weight, bias = numbers(*shape), numbers(*shape), numbers(shape[-1]), numbers(shape[-1])
    out, total = margay.layernorm(
        bf16(x), bf16(weight), bf16(bias), residual=bf16(residual), eps=0.25, return_sum=True
    )
    assert out.shape == total.shape == shape
    assert np.array_equal(total.float(), bf16(x + residual).float())
    assert_near(as_float(out), normalised(x + residual, weight, bias, 0.25))


def test_each_operand_of_layernorm_is_optional():
    x, residual, weight, bias = numbers(3, 70), numbers(3, 70), numbers(70), numbers(70)
    assert_near(as_float(margay.layernorm(bf16(x))), normalised(x))
    assert_near(as_float(margay.layernorm(bf16(x), bf16(weight))), normalised(x, weight))
    assert_near(as_float(margay.layernorm(bf16(x), bias=bf16(bias))), normalised(x, 1, bias))
    assert_near(as_float(margay.layernorm(bf16(x), residual=bf16(residual))), normalised(x + residual))
    out, total = margay.layernorm(bf16(x), return_sum=True)
    assert np.array_equal(total.float(), x)
    assert_near(as_float(out), normalised(x))


def test_layernorm_of_views():
    x, weight = bf16(numbers(8, 12)), bf16(numbers(8))
    out = margay.layernorm(x[::2, 1::3], weight[::2], residual=x[1::2, ::3])
    dense = [bf16(each.float().copy()) for each in (x[::2, 1::3], weight[::2], x[1::2, ::3])]
    assert np.array_equal(out, margay.layernorm(dense[0], dense[1], residual=dense[2]))


def test_layernorm_of_torch_tensors():
    torch = pytest.importorskip("torch")
    x, weight, bias = (torch.from_numpy(each) for each in (numbers(2, 6, 768), numbers(768), numbers(768)))
    out, total = margay.layernorm(*(each.bfloat16() for each in (x, weight, bias)), return_sum=True)
    want = torch.nn.functional.layer_norm(x, (768,), weight, bias)
    assert torch.equal(total, x.bfloat16()) and out.dtype == torch.bfloat16
    assert_near(out.double().numpy(), want.numpy())


def test_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = numbers(3, 70).astype(ml_dtypes.bfloat16)
    assert margay.softmax(x).dtype == margay.layernorm(x).dtype == ml_dtypes.bfloat16
    assert_near(margay.layernorm(x).astype(np.float64), normalised(x.astype(np.float64)))


def test_layernorm_refuses_in_words():
    x = bf16(numbers(2, 8))
    for arguments, named, sentence in [
        ((x, bf16(numbers(7))), {}, "weight: expected shape (8,), got (7,)"),
        ((x, None, bf16(numbers(1, 8))), {}, "bias: expected shape (8,), got (1, 8)"),
        ((x,), {"residual": bf16(numbers(1, 8))}, "residual: expected shape (2, 8), got (1, 8)"),
        ((x,), {"eps": -1}, "eps: must not be negative, got -1"),
        ((bf16(numbers(1, 8193)),), {}, "x: its rows have 8193 elements; the kernel's limit is 8192"),
        ((bf16(np.zeros((8388608, 1))),), {}, "x: its 8388608 rows are too many for one launch"),
        ((margay.bfloat16(np.zeros((), np.uint16)),), {}, "x: expected at least 1 dimension"),
    ]:
        with pytest.raises(ValueError) as error:
            margay.layernorm(*arguments, **named)
        assert sentence in str(error.value)
    with pytest.raises(TypeError, match="x: expected dtype bfloat16, got float32 .margay.to_bfloat16"):
        margay.layernorm(np.zeros((2, 8), np.float32))
    assert margay.layernorm(bf16(numbers(0, 8))).shape == (0, 8)


def test_the_checker_finds_nothing():
    x, weight = bf16(numbers(3, 1500)), bf16(numbers(1500))
    with margay.check() as report:
        margay.softmax(x)
        margay.layernorm(x, weight, weight, residual=x, return_sum=True)
    assert report.launches == 2 and not report.errors
