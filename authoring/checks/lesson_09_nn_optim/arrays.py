"""What the steps of `mini.nn` share: a tensor that came is compared with NumPy's array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome


def judge(said: str, give: Callable[[], Any], wanted: Any, why: str) -> None:
    got, wanted = outcome(give, ()), np.asarray(wanted, np.float32)
    expected = f"{said}: expected {np.round(wanted, 4).tolist()}"
    if not hasattr(got, "storage"):
        raise WrongAnswer(f"{expected}; got {got!r}", why)
    numbers = got.numpy()
    if numbers.shape != wanted.shape:
        raise WrongAnswer(f"{said}: expected sizes {wanted.shape}, got {numbers.shape}", why)
    if not np.allclose(numbers, wanted, rtol=1e-3, atol=1e-5):
        raise WrongAnswer(f"{expected}; got {np.round(numbers, 4).tolist()}", why)


def seeded(mini: Any, give: Callable[[], Any]) -> Any:
    """What `give` gives with first weights that are the same each time."""
    before = mini.nn.random
    mini.nn.random = np.random.default_rng(0)
    try:
        return outcome(give, ())
    finally:
        mini.nn.random = before
