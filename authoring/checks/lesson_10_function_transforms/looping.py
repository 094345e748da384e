"""What the judges of vmap share: a layer's result against a loop over the examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer

from ..comparing import tried
from ..lesson_08_autograd.nudging import doubles

Sizes = tuple[int, ...]


def numbers(sizes: Sizes) -> np.ndarray:
    """Different ones, so that what is mixed up shows."""
    return np.sin(np.arange(1.0, 1 + np.prod(sizes, dtype=int))).reshape(sizes)


def judge_loop(
    mini: Any, text: str, f: Callable[..., Any], batched: list[Sizes], shared: list[Sizes], why: str
) -> None:
    """f of boxes of these sizes (the batch is in front), and of shared tensors, against a loop over the examples."""
    arrays, rest = [numbers(sizes) for sizes in batched], [doubles(mini, numbers(sizes)) for sizes in shared]
    shown = f"{text}, examples of {', '.join(str(sizes[1:]) for sizes in batched)}, {len(arrays[0])} of them"
    wanted = np.stack([f(*[doubles(mini, array[i]) for array in arrays], *rest).numpy() for i in range(len(arrays[0]))])
    with mini.transforms.Batch() as layer:
        out = tried(shown, why, f, *[mini.transforms.Box(layer, doubles(mini, array)) for array in arrays], *rest)
    if not isinstance(out, mini.transforms.Box):
        raise WrongAnswer(f"{shown}: got {out!r}", "The result is a box, too: there is one for each example.")
    if out.sizes != wanted.shape[1:]:
        raise WrongAnswer(f"{shown}: the box shows sizes {out.sizes}, an example's result has {wanted.shape[1:]}", why)
    if out.value.sizes != wanted.shape or not np.allclose(out.value.numpy(), wanted):
        inside = np.round(out.value.numpy(), 3).tolist()
        raise WrongAnswer(f"{shown}: a loop gives {np.round(wanted, 3).tolist()}, inside the box is {inside}", why)
