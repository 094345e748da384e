"""Exercise 09.5: a linear layer and a normalisation."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .arrays import judge, seeded

OWN_LAYERS = Step(
    "09.5",
    "layers",
    file="nn",
    minutes=15,
    hints=(
        "A layer makes its parameters in __init__, by parameter(array), and uses them in forward. What must the sizes"
        " of a weight be, so that x @ weight works for x of sizes (batch, inputs)?",
        "Linear: random.uniform(-bound, bound, (inputs, outputs)) with bound = inputs ** -0.5, and a bias of zeros."
        " LayerNorm works along the last dimension: x.mean(-1, True) keeps it, of size 1, so that it broadcasts.",
        "centred = x - x.mean(-1, True); centred / ((centred * centred).mean(-1, True) + 1e-5).sqrt() has variance 1;"
        " times weight (ones at first), plus bias (zeros at first).",
    ),
)
X = np.array([[1.0, 2.0, 6.0], [0.0, -1.0, 1.0]], np.float32)


@OWN_LAYERS.case("Linear computes x @ weight + bias", points=2, section="A module is a tree")
def _(mini: Any) -> None:
    layer = seeded(mini, lambda: mini.nn.Linear(3, 2))
    if getattr(getattr(layer, "weight", None), "sizes", None) != (3, 2) or layer.bias.sizes != (2,):
        why = "x has sizes (batch, inputs), and x @ weight must have (batch, outputs): the weight is (inputs, outputs)."
        raise WrongAnswer(f"Linear(3, 2): expected a weight of sizes (3, 2), a bias of (2,), got {layer!r:.60}", why)
    layer.bias = mini.nn.parameter([10.0, 20.0])
    wanted = X @ layer.weight.numpy() + np.array([10, 20])
    judge(
        "Linear(3, 2), bias 10, 20",
        partial(layer, mini.tensor.tensor(X)),
        wanted,
        "forward adds the bias to the product.",
    )


@OWN_LAYERS.case("Linear begins with small random weights, no bias", points=2, section="How to begin")
def _(mini: Any) -> None:
    layer = seeded(mini, lambda: mini.nn.Linear(400, 50))
    w, b = layer.weight.numpy(), layer.bias.numpy()
    facts = f"Linear(400, 50): weights from {w.min():.4f} to {w.max():.4f}, mean {w.mean():.4f}"
    wide = "The bound is inputs ** -0.5, the fan in: a unit adds up 400 products, and its size must not grow with them."
    if not 0.049 < abs(w).max() <= 0.0501 or abs(w.mean()) > 0.003 or w.std() < 0.02:
        raise WrongAnswer(f"{facts}; expected about -0.05 to 0.05, mean 0", wide)
    if b.any() or not layer.weight.requires_grad or not layer.bias.requires_grad:
        why = "Both are made by parameter(...), so that they are trained; the bias begins at zero."
        raise WrongAnswer("Linear(400, 50): expected weight and bias to require grad, and a bias of zeros", why)


@OWN_LAYERS.case(
    "LayerNorm: each row with mean 0 and variance 1", points=2, section="Two modes, and numbers that aren't trained"
)
def _(mini: Any) -> None:
    layer = mini.nn.LayerNorm(3)
    why = "Mean and variance are those of each row, the last dimension, with keepdim so that they broadcast."
    for x in (X, X.reshape(2, 1, 3), X * 1000):
        wanted = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        judge(f"LayerNorm(3) of {x.tolist()}", partial(layer, mini.tensor.tensor(x)), wanted, why)
    why = "1e-5 is added to the variance, under the root: a row of equal numbers must not be divided by 0."
    small = X[:1] * 0.001
    wanted = (small - small.mean(-1, keepdims=True)) / np.sqrt(small.var(-1, keepdims=True) + 1e-5)
    judge(f"LayerNorm(3) of {small.tolist()}", partial(layer, mini.tensor.tensor(small)), wanted, why)


@OWN_LAYERS.case("LayerNorm: then a scale and a shift", points=1, section="Two modes, and numbers that aren't trained")
def _(mini: Any) -> None:
    layer = mini.nn.LayerNorm(3)
    why = "The scale and the shift are parameters of their own, weight and bias, applied after dividing."
    if [name for name, _ in layer.named_parameters()] != ["weight", "bias"]:
        raise WrongAnswer("LayerNorm(3): expected the parameters weight and bias", why)
    layer.weight, layer.bias = mini.nn.parameter([1.0, 2.0, 3.0]), mini.nn.parameter([10.0, 0.0, 0.0])
    wanted = (X - X.mean(-1, keepdims=True)) / np.sqrt(X.var(-1, keepdims=True) + 1e-5) * [1, 2, 3] + [10, 0, 0]
    judge("LayerNorm(3), weight 1, 2, 3, bias 10, 0, 0", partial(layer, mini.tensor.tensor(X)), wanted, why)
