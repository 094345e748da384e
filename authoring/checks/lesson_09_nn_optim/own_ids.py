"""Exercise 09.6: numbers that name things: embedding and loss by one-hot rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .arrays import judge, seeded

OWN_IDS = Step(
    "09.6",
    "ids: embedding and loss",
    file="nn",
    minutes=12,
    hints=(
        "Your stack can't index with a tensor, and needn't: a product with a row of zeros and one 1 takes out a row."
        " How do you compare each id with 0, 1, ..., count - 1 at once?",
        "ids as a column, ids.reshape(*ids.shape, 1), broadcasts with ops.iota((count,), 0, 'int64') to sizes (...,"
        " count). .eq gives bools, .to('float32') numbers.",
        "cross_entropy: logits.log_softmax(-1) times the one-hot rows has one number left in each row. Their sum,"
        " negative, over targets.numel().",
    ),
)
SECTION = "Ten digits"


@OWN_IDS.case("one_hot", points=1, section=SECTION)
def _(mini: Any) -> None:
    for ids in ([0, 2, 1], [[1, 1], [0, 2]], [], 2):
        array = np.array(ids, np.int64)
        why = "Each id becomes a row of `count` numbers: sizes (*ids.shape, count), a 1 in the id's place, float32."
        wanted = np.eye(3, dtype=np.float32)[array]
        judge(f"one_hot({ids}, 3)", partial(mini.nn.one_hot, mini.tensor.from_numpy(array), 3), wanted, why)
    got = mini.nn.one_hot(mini.tensor.tensor([1]), 2).dtype
    if str(got) != "float32":
        raise WrongAnswer(
            f"one_hot: expected float32, got {got}", "Rows of bools can't be multiplied with weights: .to('float32')."
        )


@OWN_IDS.case("Embedding takes rows, and has a gradient", points=2, section=SECTION)
def _(mini: Any) -> None:
    layer = seeded(mini, lambda: mini.nn.Embedding(5, 3))
    if [(name, p.sizes) for name, p in layer.named_parameters()] != [("weight", (5, 3))]:
        raise WrongAnswer("Embedding(5, 3): expected one parameter, weight, of sizes (5, 3)", "A row for each id.")
    ids = np.array([[0, 4], [2, 2]])
    why = "The id's row of the weight: one_hot(ids, count) @ weight."
    wanted = layer.weight.numpy()[ids]
    judge("Embedding(5, 3) of [[0, 4], [2, 2]]", partial(layer, mini.tensor.from_numpy(ids)), wanted, why)
    layer(mini.tensor.from_numpy(ids)).sum().backward()
    counts = np.array([1, 0, 2, 0, 1])[:, None] * np.ones((1, 3))
    why = "A row's gradient is added up over all places that took it; a row that nobody took has zeros."
    judge("the gradient of the sum of [[0, 4], [2, 2]]", lambda: layer.weight.grad, counts, why)
    size = float(seeded(mini, lambda: mini.nn.Embedding(100, 50)).weight.numpy().std())
    if not 0.018 < size < 0.022:
        why = "random.normal(0, 0.02, (count, size)): small, so that at first all ids look nearly alike."
        raise WrongAnswer(f"Embedding(100, 50): expected weights with deviation 0.02, got {size:.3f}", why)


@OWN_IDS.case("cross_entropy", points=2, section=SECTION)
def _(mini: Any) -> None:
    for logits, targets in (
        ([[0.0, 0.0]], [1]),
        ([[2.0, 0.0, -1.0], [0.0, 1.0, 0.0]], [0, 2]),
        ([[[1.0, 3.0], [0.0, 0.0]]], [[1, 0]]),
        ([[1000.0, 0.0]], [1]),
    ):
        x, t = np.array(logits), np.array(targets)
        shares = x - x.max(-1, keepdims=True)
        shares = shares - np.log(np.exp(shares).sum(-1, keepdims=True))
        wanted = -np.take_along_axis(shares, t[..., None], -1).mean()
        why = "For each target -log(softmax) at its place; then the mean over all targets."
        if np.abs(x).max() > 100:
            why = "log(softmax(x)) is -inf where a share is too small for a float: log_softmax isn't."
        arguments = mini.tensor.tensor(x.astype(np.float32)), mini.tensor.from_numpy(t)
        judge(f"cross_entropy({logits}, {targets})", partial(mini.nn.cross_entropy, *arguments), wanted, why)
