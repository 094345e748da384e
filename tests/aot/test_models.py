"""Small models trained for a few steps, plainly and compiled: losses and parameters stay the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile.nn.functional as F
from minitorch_compile.tensor import Tensor, from_numpy, no_grad
from tests.aot.compare import BACKENDS, compiled, sample

Model = Callable[..., Tensor]


@pytest.fixture(params=BACKENDS.values(), ids=BACKENDS.keys())
def backend(request):
    return request.param


def parameter(*sizes: int, seed: int) -> Tensor:
    scale = 1 / np.sqrt(sizes[-1] if len(sizes) > 1 else 10)
    return from_numpy(np.random.default_rng(seed).normal(size=sizes) * scale).requires_grad_()


def parameters(*shapes: tuple[int, ...]) -> list[Tensor]:
    return [parameter(*shape, seed=i) for i, shape in enumerate(shapes)]


def integers(high: int, *sizes: int) -> Tensor:
    return from_numpy(np.random.default_rng(9).integers(0, high, sizes))


# ------------------------------------------------------------------------------------------ the models

MLP_SHAPES = [(16, 8), (16,), (16, 16), (16,), (4, 16), (4,)]


def mlp(x, target, w1, b1, w2, b2, w3, b3):
    x = F.relu(F.linear(x, w1, b1))
    x = F.tanh(F.linear(x, w2, b2))
    return F.cross_entropy(F.linear(x, w3, b3), target)


CNN_SHAPES = [(4, 1, 3, 3), (4,), (4,), (4,), (8, 4, 3, 3), (8,), (5, 32), (5,)]


def cnn(x, target, w1, b1, scale, shift, w2, b2, w3, b3):
    x = F.relu(F.batch_norm(F.conv2d(x, w1, b1, padding=1), None, None, scale, shift, training=True))
    x = F.max_pool2d(x, 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, w2, b2, padding=1)), 2)
    return F.cross_entropy(F.linear(x.flatten(1), w3, b3), target)


WIDTH, HEADS, VOCABULARY, CONTEXT = 12, 3, 11, 6
BLOCK_SHAPES = [
    (WIDTH,), (WIDTH,), (3 * WIDTH, WIDTH), (3 * WIDTH,), (WIDTH, WIDTH), (WIDTH,),
    (WIDTH,), (WIDTH,), (4 * WIDTH, WIDTH), (4 * WIDTH,), (WIDTH, 4 * WIDTH), (WIDTH,),
]  # fmt: skip
GPT_SHAPES = [(VOCABULARY, WIDTH), (CONTEXT, WIDTH), *BLOCK_SHAPES, *BLOCK_SHAPES, (WIDTH,), (WIDTH,)]


def attention(x, w_qkv, b_qkv, w_out, b_out):
    batch, length, width = x.shape
    q, k, v = (
        part.view(batch, length, HEADS, width // HEADS).transpose(1, 2)
        for part in F.linear(x, w_qkv, b_qkv).split(width, 2)
    )
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return F.linear(mixed.transpose(1, 2).contiguous().view(batch, length, width), w_out, b_out)


def block(x, scale1, shift1, w_qkv, b_qkv, w_out, b_out, scale2, shift2, w_up, b_up, w_down, b_down):
    x = x + attention(F.layer_norm(x, (WIDTH,), scale1, shift1), w_qkv, b_qkv, w_out, b_out)
    return x + F.linear(F.gelu(F.linear(F.layer_norm(x, (WIDTH,), scale2, shift2), w_up, b_up)), w_down, b_down)


def gpt(tokens, target, tokens_table, places_table, *rest):
    x = F.embedding(tokens, tokens_table) + places_table[: tokens.shape[1]]
    for start in (0, 12):
        x = block(x, *rest[start : start + 12])
    logits = F.layer_norm(x, (WIDTH,), *rest[24:]) @ tokens_table.t()
    return F.cross_entropy(logits.view(-1, VOCABULARY), target.view(-1))


MODELS: dict[str, tuple[Model, list[tuple[int, ...]], Callable[[], list[Tensor]]]] = {
    "mlp": (mlp, MLP_SHAPES, lambda: [sample(10, 8, requires_grad=False), integers(4, 10)]),
    "cnn": (cnn, CNN_SHAPES, lambda: [sample(6, 1, 8, 8, requires_grad=False), integers(5, 6)]),
    "gpt": (gpt, GPT_SHAPES, lambda: [integers(VOCABULARY, 3, CONTEXT), integers(VOCABULARY, 3, CONTEXT)]),
}


def train(
    model: Model, shapes: list[tuple[int, ...]], data: list[Tensor], steps: int = 4
) -> tuple[list[float], list[Any]]:
    weights, losses = parameters(*shapes), []
    for _ in range(steps):
        loss = model(*data, *weights)
        loss.backward()
        losses.append(loss.item())
        with no_grad():
            for w in weights:
                w.sub_(w.grad * 0.1)
                w.grad = None
    return losses, [w.detach().array for w in weights]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.heavy
def test_training_compiled_is_training(name, backend):
    model, shapes, data = MODELS[name]
    expected, expected_weights = train(model, shapes, data())
    actual, weights = train(compiled(model, backend), shapes, data())
    assert expected[-1] < expected[0]
    np.testing.assert_allclose(actual, expected, rtol=1e-9)
    for got, want in zip(weights, expected_weights, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-10)
