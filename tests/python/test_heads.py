"""margay.attention and margay.rotary on the virtual device, against NumPy in double precision."""

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


def reference(q, k, v, causal, scale):
    heads, kv_heads = q.shape[1], k.shape[1]
    k, v = (np.repeat(each, heads // kv_heads, axis=1) for each in (k, v))
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) * scale
    q_len, kv_len = scores.shape[2:]
    if causal:
        hidden = np.arange(kv_len)[None, :] > np.arange(q_len)[:, None] + kv_len - q_len
        scores = np.where(hidden, -np.inf, scores)
    with np.errstate(invalid="ignore", divide="ignore"):
        largest = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
        weights = np.where(np.isinf(scores), 0, np.exp(scores - largest))
        total = weights.sum(-1, keepdims=True)
        out = np.einsum("bhqk,bhkd->bhqd", np.where(total > 0, weights / total, 0), v)
        lse = np.where(total > 0, largest + np.log(total), -np.inf)[..., 0]
    return out, lse


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "batch, heads, kv_heads, q_len, kv_len, dim",
    [(1, 2, 2, 128, 128, 64), (2, 4, 1, 100, 130, 64), (1, 2, 1, 70, 40, 128), (1, 1, 1, 1, 200, 128)],
)
def test_attention(batch, heads, kv_heads, q_len, kv_len, dim, causal):
    q, k, v = (
        numbers(batch, count, length, dim)
        for count, length in ((heads, q_len), (kv_heads, kv_len), (kv_heads, kv_len))
    )
    out, lse = margay.attention(bf16(q), bf16(k), bf16(v), causal=causal, return_lse=True)
    want, want_lse = reference(q, k, v, causal, dim**-0.5)
    # Weights are rounded to bfloat16 before the product, the result after it.
    assert np.abs(as_float(out) - want).max() < 2**-7 * np.abs(v).max()
    seen = np.isfinite(want_lse)
    assert np.abs(lse[seen] - want_lse[seen]).max(initial=0) < 1e-4
    assert np.all(np.isneginf(lse[~seen]))


def test_attention_of_torch_tensors():
    torch = pytest.importorskip("torch")
    x = numbers(2, 50, 3, 4, 64)
    q, k, v = (torch.from_numpy(x).bfloat16()[:, :, i].transpose(1, 2) for i in range(3))
    out, lse = margay.attention(q, k, v, causal=True, return_lse=True)
    assert out.dtype == torch.bfloat16 and lse.dtype == torch.float32
    want, want_lse = reference(*(x[:, :, i].transpose(0, 2, 1, 3) for i in range(3)), True, 0.125)
    assert np.abs(out.double().numpy() - want).max() < 2**-7 * np.abs(x).max()
    assert np.abs(lse.double().numpy() - want_lse).max() < 1e-4


def test_scale_and_memory_in_the_other_order():
    q, k, v = (numbers(2, 33, heads, 64) for heads in (4, 2, 2))
    turned = [each.transpose(0, 2, 1, 3) for each in (q, k, v)]
    in_place = [margay.bfloat16(np.asarray(bf16(each)).transpose(0, 2, 1, 3)) for each in (q, k, v)]
    out = margay.attention(*in_place, scale=0.25)
    assert out.shape == (2, 4, 33, 64)
    want, _ = reference(*turned, False, 0.25)
    assert np.abs(as_float(out) - want).max() < 2**-7 * np.abs(v).max()
    # One of them in the other order, and one that is dense in neither.
    every_second = margay.bfloat16(np.repeat(np.asarray(in_place[2]), 2, axis=2)[:, :, ::2])
    mixed = margay.attention(in_place[0], bf16(turned[1]), every_second, scale=0.25)
    assert np.array_equal(mixed, out)
    assert np.array_equal(
        margay.attention(in_place[0], bf16(turned[1]), in_place[2], scale=0.25), out
    )


def test_attention_refuses_in_words():
    q = bf16(numbers(1, 2, 8, 64))
    for arguments, sentence in [
        ((q, q, bf16(numbers(1, 2, 9, 64))), "k and v: expected the same shape"),
        ((bf16(numbers(1, 2, 8, 32)),) * 3, "its last dimension is 32"),
        ((q, bf16(numbers(2, 2, 8, 64)), bf16(numbers(2, 2, 8, 64))), "q and k do not fit"),
        ((bf16(numbers(1, 3, 8, 64)), q, q), "k: has 2 heads, which does not divide q's 3"),
        ((bf16(numbers(2, 8, 64)), q, q), "expected (batch, heads, length, dim)"),
    ]:
        with pytest.raises(ValueError) as error:
            margay.attention(*arguments)
        assert sentence in str(error.value)
    with pytest.raises(TypeError, match="q: expected dtype bfloat16, got float64"):
        margay.attention(numbers(1, 2, 8, 64), q, q)
    with pytest.raises(ValueError, match="scale"):
        margay.attention(q, q, q, scale=-1)


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    low, high = x[..., :half], x[..., half:]
    return np.concatenate([low * cos - high * sin, high * cos + low * sin], axis=-1)


def tables(positions, dim):
    """cos and sin as bfloat16, and as the numbers that those are."""
    angles = np.outer(np.arange(positions), 10000.0 ** (-2 * np.arange(dim // 2) / dim))
    rounded = [bf16(np.cos(angles)), bf16(np.sin(angles))]
    return rounded, [as_float(each) for each in rounded]


def assert_near(bits, want):
    assert np.all(np.abs(as_float(bits) - want) <= 2**-8 * np.abs(want) + 1e-6)


@pytest.mark.parametrize(
    "batch, count, length, dim, position",
    [(1, 1, 64, 64, 0), (2, 3, 70, 128, 0), (1, 10, 5, 64, 90), (2, 9, 1, 128, 7)],
)
def test_rotary(batch, count, length, dim, position):
    x = numbers(batch, count, length, dim)
    given, exact = tables(position + length, dim)
    out = margay.rotary(bf16(x), *given, position=position)
    assert out.shape == x.shape
    assert_near(out, rotated(x, *(each[position:] for each in exact)))


def test_rotary_in_the_other_order_and_of_a_view():
    x = numbers(2, 33, 4, 64)
    given, exact = tables(50, 64)
    want = rotated(x.transpose(0, 2, 1, 3), *(each[:33] for each in exact))
    out = margay.rotary(margay.bfloat16(np.asarray(bf16(x)).transpose(0, 2, 1, 3)), *given)
    assert_near(out, want)
    assert out.bits.strides == (33 * 4 * 64 * 2, 64 * 2, 4 * 64 * 2, 2)
    # Every second head of twice as many, and tables that are columns of wider ones.
    wide = [margay.bfloat16(np.repeat(np.asarray(each), 2, axis=1)[:, ::2]) for each in given]
    every_second = margay.bfloat16(np.repeat(np.asarray(bf16(x)), 2, 2)[:, :, ::2].transpose(0, 2, 1, 3))
    again = margay.rotary(every_second, *wide)
    assert np.array_equal(np.asarray(again), np.asarray(out))
    # On an odd address.
    memory = np.empty(x.size + 1, np.uint16)[1:]
    memory[:] = np.asarray(bf16(x)).ravel()
    shifted = margay.bfloat16(memory.reshape(2, 33, 4, 64).transpose(0, 2, 1, 3))
    assert np.array_equal(np.asarray(margay.rotary(shifted, *given)), np.asarray(out))


def test_rotary_of_torch_tensors():
    torch = pytest.importorskip("torch")
    x = numbers(2, 20, 3, 64)
    given, exact = tables(20, 64)
    turned = torch.from_numpy(x).bfloat16().transpose(1, 2)
    out = margay.rotary(turned, *(torch.from_numpy(each).bfloat16() for each in exact))
    assert out.dtype == torch.bfloat16 and out.stride() == turned.stride()
    want = rotated(x.transpose(0, 2, 1, 3), *exact)
    assert np.all(np.abs(out.double().numpy() - want) <= 2**-8 * np.abs(want) + 1e-6)


def test_rotary_refuses_in_words():
    x = bf16(numbers(1, 2, 8, 64))
    (cos, sin), _ = tables(8, 64)
    for arguments, sentence in [
        ((bf16(numbers(2, 8, 64)), cos, sin), "x: expected (batch, heads, length, dim), got shape"),
        ((bf16(numbers(1, 2, 8, 96)), cos, sin), "x: its last dimension is 96"),
        ((x, cos, bf16(numbers(8, 64))), "sin: expected (positions, 32), got shape (8, 64)"),
        ((x, bf16(numbers(7, 32)), sin), "cos: only 7 positions; x needs those from 0 to 7"),
        ((bf16(np.zeros((65536, 1, 0, 64))), cos, sin), "x: its batch must not exceed 65535"),
        ((bf16(np.zeros((0, 262145, 1, 64))), cos, sin), "x: heads times dim must not exceed"),
    ]:
        with pytest.raises(ValueError) as error:
            margay.rotary(*arguments)
        assert sentence in str(error.value)
    with pytest.raises(ValueError, match="cos: only 8 positions; x needs those from 1 to 8"):
        margay.rotary(x, cos, sin, position=1)
    with pytest.raises(ValueError, match="position: must not be negative, got -1"):
        margay.rotary(x, cos, sin, position=-1)
    with pytest.raises(TypeError, match="cos: expected dtype bfloat16, got float32"):
        margay.rotary(x, cos.float(), sin)
    assert margay.rotary(bf16(numbers(1, 0, 8, 64)), cos, sin).shape == (1, 0, 8, 64)


def test_the_checker_finds_nothing():
    given, _ = tables(70, 64)
    q, k = (bf16(numbers(2, count, 70, 64)) for count in (4, 2))
    turned = margay.bfloat16(np.asarray(bf16(numbers(2, 70, 2, 64))).transpose(0, 2, 1, 3))
    with margay.check() as report:
        margay.attention(margay.rotary(q, *given), margay.rotary(turned, *given), k, causal=True)
    assert report.launches == 3 and not report.errors
