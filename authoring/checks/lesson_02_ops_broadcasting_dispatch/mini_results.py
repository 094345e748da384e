"""How the steps of `mini.ops` are judged: a tensor that came is compared with NumPy's array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome


def judge(said: str, give: Callable[[], Any], wanted: Any, why: str) -> Any:
    """What `give` gives must be a tensor of the array's sizes, dtype and numbers."""
    return judge_tensor(said, outcome(give, ()), wanted, why)


def judge_tensor(said: str, got: Any, wanted: Any, why: str) -> Any:
    wanted = np.asarray(wanted)
    expected = f"{said}: expected {wanted.tolist()}, {wanted.dtype} of sizes {wanted.shape}"
    if not hasattr(got, "storage"):
        raise WrongAnswer(f"{expected}; got {got!r}", why)
    numbers = outcome(got.numpy, ())
    if not isinstance(numbers, np.ndarray):
        raise WrongAnswer(f"{expected}; reading its numbers gave {numbers!r}", why)
    same = numbers.shape == wanted.shape and got.sizes == wanted.shape and numbers.dtype == wanted.dtype
    exact = wanted.dtype.kind != "f"
    if not same or not (numbers.tolist() == wanted.tolist() if exact else close(numbers, wanted)):
        raise WrongAnswer(f"{expected}; got {numbers.tolist()}, {numbers.dtype} of sizes {numbers.shape}", why)
    return got


def float32s(numbers: Any) -> Any:
    return np.array(numbers, np.float32)


def close(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True))


def judge_fake(said: str, give: Callable[[], Any], sizes: Any, dtype: str, why: str) -> None:
    """What `give` gives must be a tensor without data, of these sizes."""
    got = outcome(give, ())
    expected = f"{said}: expected a fake of sizes {sizes}, {dtype}"
    if not getattr(got, "is_fake", False):
        raise WrongAnswer(f"{expected}; got {got!r}", why)
    if (got.sizes, str(got.dtype)) != (sizes, dtype):
        raise WrongAnswer(f"{expected}; got one of {got.sizes}, {got.dtype}", why)
