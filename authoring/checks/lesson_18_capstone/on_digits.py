"""What the exercises of the capstone share: the digits, a training loop, and how many graphs a function became."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.on_mini import mini

BATCH, EPOCHS, RATE = 32, 15, 0.01
Array = np.ndarray[Any, Any]


@cache
def digits() -> tuple[Array, Array, Array, Array]:
    """Images to learn from and for the test, and the labels of both: as in the lesson."""
    found = load_digits()
    pixels = (found.images / 16).astype("float32")
    images, test, labels, test_labels = train_test_split(
        pixels, found.target, test_size=0.2, stratify=found.target, random_state=2
    )
    return images, test, labels, test_labels


def loss_of() -> Callable[[Any, Any, Any], Any]:
    """The loss of a model, in the package that is judged on: it is there while cases run."""
    cross_entropy = mini.nn.cross_entropy
    return lambda model, x, targets: cross_entropy(model(x), targets)


def batches() -> Iterator[tuple[Any, Any]]:
    """All epochs, in the same order each time."""
    images, _, labels, _ = digits()
    draw, whole = np.random.default_rng(1), len(images) // BATCH * BATCH
    for _ in range(EPOCHS):
        for batch in draw.permutation(len(images))[:whole].reshape(-1, BATCH):
            yield mini.tensor.from_numpy(images[batch]), mini.tensor.from_numpy(labels[batch])


def made(network: Callable[[], Any]) -> Any:
    """A new model, its weights the same each time."""
    mini.nn.random = np.random.default_rng(0)
    model = network()
    if not isinstance(model, mini.nn.Module):
        raise WrongAnswer(f"expected a class made from nn.Module, got {type(model).__name__}")
    return model


def trained(network: Callable[[], Any]) -> Any:
    """The model after training through the whole stack. WrongAnswer if it isn't one graph."""
    model, compiled = made(network), mini.front.compile(loss_of())
    optimizer, steps = mini.nn.Adam(model.parameters(), lr=RATE), EPOCHS * (len(digits()[0]) // BATCH)
    for step, (x, targets) in enumerate(batches()):
        optimizer.lr = RATE * (1 + np.cos(np.pi * step / steps)) / 2
        optimizer.zero_grad()
        compiled(model, x, targets).backward()
        optimizer.step()
    return model


def require_one_graph(network: Callable[[], Any]) -> None:

    region = mini.front.compile(loss_of(), "eager")
    region(made(network), *next(batches()))
    entries = region.entries()
    if len(entries) != 1:
        reasons = ", ".join(str(entry.reason) for entry in entries if entry.reason)
        raise WrongAnswer(
            f"the model became {len(entries)} graphs ({reasons})",
            "Everything in forward has to be known while tracing: nothing may ask a tensor for its numbers.",
        )


def percent(model: Any) -> float:
    """Of the images in the test."""
    scores = scores_of(model, digits()[1])
    return float(100 * (scores.argmax(1) == digits()[3]).mean())


def scores_of(model: Any, images: Array) -> Array:

    with mini.nn.no_grad():
        scores: Array = model(mini.tensor.from_numpy(np.ascontiguousarray(images))).numpy()
    if scores.shape != (len(images), 10):
        raise WrongAnswer(f"scores of {len(images)} images have shape {scores.shape}, expected ({len(images)}, 10)")
    return scores


def untrained_numbers(model: Any) -> int:
    """How many numbers want a gradient, but are in no place where `parameters` looks."""
    known = {id(parameter) for parameter in model.parameters()}
    return sum(each.numel() for each in _tensors_in(model, set()) if id(each) not in known)


def _tensors_in(value: Any, seen: set[int]) -> Iterator[Any]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if getattr(value, "requires_grad", False):
        yield value
    elif isinstance(value, (list, tuple, set, dict)):
        parts = itertools.chain(value, value.values()) if isinstance(value, dict) else value
        for part in parts:
            yield from _tensors_in(part, seen)
    elif hasattr(value, "named_parameters"):
        yield from _tensors_in(vars(value), seen)
