"""A training step of a small transformer, on the device that JAX chooses and on the host's processor: prints the
greatest difference of the loss and of the gradients, relative."""

import sys

import jax
import jax.numpy as jnp
import numpy as np

LAYERS, WIDTH, HEADS, TOKENS, WORDS = 2, 128, 4, 128, 64


def weights(key):
    def matrix(rows, columns):
        nonlocal key
        key, own = jax.random.split(key)
        return np.asarray(jax.random.normal(own, (rows, columns))) / np.sqrt(rows)

    layers = [{"qkv": matrix(WIDTH, 3 * WIDTH), "out": matrix(WIDTH, WIDTH), "up": matrix(WIDTH, 4 * WIDTH),
               "down": matrix(4 * WIDTH, WIDTH)} for _ in range(LAYERS)]  # fmt: skip
    return {"embedding": matrix(WORDS, WIDTH), "layers": layers}


def normal(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def attention(x, qkv, out):
    q, k, v = jnp.split((x @ qkv).reshape(TOKENS, 3 * HEADS, -1).transpose(1, 0, 2), 3)
    scores = jnp.einsum("hqd,hkd->hqk", q, k) / np.sqrt(WIDTH // HEADS)
    scores = jnp.where(jnp.tril(jnp.ones((TOKENS, TOKENS), bool)), scores, -1e30)
    y = jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores), v)
    return y.transpose(1, 0, 2).reshape(TOKENS, WIDTH) @ out


def loss(parameters, tokens):
    x = parameters["embedding"][tokens[:-1]]
    for layer in parameters["layers"]:
        x = x + attention(normal(x), layer["qkv"], layer["out"])
        x = x + jax.nn.gelu(normal(x) @ layer["up"]) @ layer["down"]
    logits = normal(x) @ parameters["embedding"].T
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[1:, None], 1).mean()


def main():
    key = jax.random.key(0)
    tokens = np.asarray(jax.random.randint(key, (TOKENS + 1,), 0, WORDS))
    parameters = weights(key)
    step = jax.jit(jax.value_and_grad(loss))
    results = []
    devices = [jax.devices()[0]] + ([jax.devices("cpu")[0]] if "--alone" not in sys.argv else [])
    for device in devices:
        with jax.default_matmul_precision("highest"):
            here = jax.device_put((parameters, tokens), device)
            results.append([np.asarray(leaf, "f8") for leaf in jax.tree.leaves(step(*here))])
    print("devices", *(device.platform for device in devices), "loss", results[0][0])
    if len(results) == 2:
        print("difference", max(abs(a - b).max() / abs(b).max() for a, b in zip(*results)))


main()
