"""Exercise 01.9: tensors made of lists, of arrays, and of nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

OWN_FACTORIES = Step(
    "01.9",
    "where tensors come from",
    file="tensor",
    minutes=12,
    hints=(
        "Write from_numpy first: a storage is flat, so the array must become one line. When is that line the array's"
        " own memory? When not?",
        "np.ascontiguousarray(array) is the array itself if it is dense, row by row, and a copy otherwise; reshape(-1)"
        " then makes it flat. The layout is Layout.dense(array.shape).",
        "tensor: np.array(data, dtype) always copies. If that gave float64, no dtype was asked for and data wasn't an"
        " array, it becomes float32. fake: a Storage whose data is None.",
    ),
)
SECTION = "A tensor is a line"
SHARING = "One line, many readers"
ONE_DIMENSION = (
    "A number has no dimension: its sizes are (). np.ascontiguousarray makes (1,) of it: take the shape before that."
)


def judge(said: str, got: Any, sizes: Any, dtype: Any, numbers: Any, why: str) -> None:
    if not hasattr(got, "tolist"):
        raise WrongAnswer(f"{said}: expected a tensor, got {got!r}", why)
    found = (got.sizes, str(got.dtype), outcome(got.tolist, ()))
    if found != (sizes, dtype, numbers):
        why = ONE_DIMENSION if (sizes, got.sizes) == ((), (1,)) else why
        raise WrongAnswer(f"{said}: expected sizes, dtype, numbers {(sizes, dtype, numbers)}, got {found}", why)


@OWN_FACTORIES.case("tensor: numbers and lists", points=2, section=SECTION)
def _(mini: Any) -> None:
    tensor = mini.tensor.tensor
    default = "A Python float names no width. Float32 is the default; only an array, or dtype=, can ask for float64."
    rows: list[tuple[str, Any, Any, Any, str]] = [
        ("tensor([1, 2])", [1, 2], (2,), "int64", "Integers are int64."),
        ("tensor([0.5, 2])", [0.5, 2.0], (2,), "float32", default),
        ("tensor(0.5)", 0.5, (), "float32", default),
        ("tensor([True])", [True], (1,), "bool", "True and False are bool."),
        ("tensor([[1, 2], [3, 4]])", [[1, 2], [3, 4]], (2, 2), "int64", "Nested lists are rows."),
        ("tensor([])", [], (0,), "float32", default),
    ]
    for said, data, sizes, dtype, why in rows:
        judge(said, outcome(tensor, (data,)), sizes, dtype, data, why)


@OWN_FACTORIES.case("tensor: a dtype that is asked for, or that an array has, stays", points=1, section=SECTION)
def _(mini: Any) -> None:
    tensor = mini.tensor.tensor
    why = "Float32 is for floats of which nothing is known. Here float64 was said: by dtype=, or by the array."
    judge("tensor([0.5], dtype='float64')", outcome(tensor, ([0.5], "float64")), (1,), "float64", [0.5], why)
    judge("tensor(np.array([0.5]))", outcome(tensor, (np.array([0.5]),)), (1,), "float64", [0.5], why)
    judge("tensor([1], dtype='float32')", outcome(tensor, ([1], "float32")), (1,), "float32", [1.0], why)
    for x, expected in ((tensor([1.0]), False), (tensor([1.0], requires_grad=True), True)):
        if x.requires_grad is not expected:
            why = "requires_grad is handed on, and False if nobody asks."
            raise WrongAnswer(f"requires_grad: expected {expected}, got {x.requires_grad!r}", why)


@OWN_FACTORIES.case("tensor copies, from_numpy shares", points=1, section=SHARING)
def _(mini: Any) -> None:
    array = np.arange(6.0).reshape(2, 3)
    copied, shared = mini.tensor.tensor(array), mini.tensor.from_numpy(array)
    array[1, 0] = 100
    if copied.tolist()[1][0] == 100:
        why = "tensor copies, so that later changes of the array are not seen: np.array copies, np.asarray doesn't."
        raise WrongAnswer("x = tensor(array), then array[1, 0] = 100: expected 3.0 in x still, got 100.0", why)
    if shared.tolist()[1][0] != 100:
        why = "from_numpy shares: a dense array's memory is the storage. Copy only where it isn't dense."
        raise WrongAnswer("x = from_numpy(array), then array[1, 0] = 100: expected 100.0 in x, got 3.0", why)


@OWN_FACTORIES.case("from_numpy: arrays that are not one dense line", points=1, section=SHARING)
def _(mini: Any) -> None:
    a = np.arange(6)
    arrays = {"a[::2]": a[::2], "a.reshape(2, 3).T": a.reshape(2, 3).T, "a[::-1]": a[::-1], "a[4:]": a[4:]}
    arrays |= {"np.array(5)": np.array(5), "a[:0]": a[:0], "np.broadcast_to(a[:1], (3,))": np.broadcast_to(a[:1], (3,))}
    why = "The storage must be flat and without gaps, since the layout is dense; NumPy's reshape(-1) alone keeps gaps."
    for said, array in arrays.items():
        got = outcome(mini.tensor.from_numpy, (array,))
        given = "" if array.ndim == 0 else ", a = np.arange(6)"
        judge(f"from_numpy({said}){given}", got, array.shape, "int64", array.tolist(), why)


@OWN_FACTORIES.case("fake: sizes without memory", points=1, section=SECTION)
def _(mini: Any) -> None:
    for sizes, arguments, dtype in (
        ((2, 3), (), "float32"),
        ((), ("int64",), "int64"),
        ((10**6, 10**6), (), "float32"),
    ):
        got = outcome(mini.tensor.fake, (sizes, *arguments))
        data = getattr(getattr(got, "storage", None), "data", "no storage")
        if data is not None or got.sizes != sizes or str(got.dtype) != dtype:
            why = "A fake is for asking about shapes: its storage has a dtype and no data at all, not even zeros."
            raise WrongAnswer(f"fake({sizes}): expected a tensor whose storage has no data, got {got!r:.60}", why)
