"""Exercise 13.10: element by element, broadcast and of one dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .index_values import variables
from .run_loops import at

OWN_POINTWISE = Step(
    "13.10",
    "element by element",
    file="loops",
    minutes=25,
    hints=(
        "broadcast: the last index belongs to the last size. Of the index take the last len(sizes) ones; where the "
        "size is 1, the"
        " element is number 0, Index().",
        "common is ops.promote of the arguments, a fake((), dtype) for each box and numbers as they are; without "
        "the first for"
        " where. If op.floats and common is no floating point, it is value.dtype.",
        "For each argument: a box gives arg.at(h, broadcast(index, arg.sizes)), and if arg.dtype is not the wanted "
        "one, h.call('to',"
        " [element], wanted, [arg.dtype]); a number gives h.value(arg, wanted). Last: h.call(op.name, values, "
        "value.dtype, wanted).",
    ),
)
SECTION = "Lowering, rule by rule"


@OWN_POINTWISE.case("broadcasting", points=1, section=SECTION)
def _(mini: Any) -> None:
    i, j, k = variables(mini)
    for sizes, expected in (
        ((4, 8, 3), "(i, j, k)"),
        ((3,), "(k,)"),
        ((8, 1), "(j, 0)"),
        ((1, 8, 3), "(0, j, k)"),
        ((), "()"),
    ):
        got = mini.loops.broadcast((i, j, k), sizes)
        if str(got) != expected:
            why = (
                "Sizes are aligned at the right. A dimension of size 1 has element 0 only; one that is missing "
                "has no index."
            )
            raise WrongAnswer(f"index (i, j, k) in sizes {sizes}: expected {expected}, got {got}", why)


def judge(mini: Any, op: Any, arrays: list[Any], said: str, why: str) -> None:
    """Each element against NumPy's kernel of the op."""
    tensors = [mini.tensor.from_numpy(a) if isinstance(a, np.ndarray) else a for a in arrays]
    sizes, dtype = op.shape(*tensors)
    with np.errstate(all="ignore"):
        expected = np.asarray(op.kernel(*arrays)).astype(dtype)
    memory, args = {}, []
    for a in arrays:
        if isinstance(a, np.ndarray):
            layout = mini.tensor.Layout.dense(a.shape)
            buffer = mini.loops.Buffer("x", a.shape, a.dtype, layout)
            memory[buffer] = a.reshape(-1)
        args.append(mini.loops.stored(buffer, layout) if isinstance(a, np.ndarray) else a)
    value = mini.tensor.fake(sizes, dtype)
    for index in np.ndindex(sizes):
        try:
            got = at(mini, memory, lambda h, i: mini.loops.pointwise(h, i, op, value, args), index)
        except TypeError as error:
            raise WrongAnswer(f"{said}: {error}", why) from None
        if (
            not isinstance(got, np.generic)
            or got.dtype != dtype
            or not np.isclose(got, expected[index], equal_nan=True)
        ):
            raise WrongAnswer(f"{said}, element {index}: expected {expected[index]!r}, got {got!r}", why)


@OWN_POINTWISE.case("values", points=1, section=SECTION)
def _(mini: Any) -> None:
    x, row = np.array([[1.5, -2.0], [0.5, 4.0]], "float32"), np.array([10.0, 20.0], "float32")
    ops = mini.ops
    judge(mini, ops.add, [x, row], "x + row", "The same index for all, less what is broadcast.")
    judge(mini, ops.mul, [x, 2], "x * 2", "A number is a value of the common dtype.")
    judge(mini, ops.tanh, [x], "tanh(x)", "One argument, one call.")


@OWN_POINTWISE.case("dtypes", points=2, section=SECTION)
def _(mini: Any) -> None:
    x, whole = np.array([1.5, 2.0], "float32"), np.array([1, 3], "int32")
    ops = mini.ops
    mixed = "Both are made to the common dtype first: h.call('to', [element], wanted, [what it is])."
    judge(mini, ops.add, [x, whole], "float32 + int32", mixed)
    judge(mini, ops.add, [whole, 2.5], "int32 + 2.5", mixed)
    judge(
        mini,
        ops.lt,
        [x, 1.75],
        "x < 1.75",
        "The result is a boolean, but floats are compared: a number gets the common dtype.",
    )
    judge(
        mini,
        ops.div,
        [whole, 2],
        "int32 / 2",
        "An op with floats=True computes in floating point: value.dtype, if common is none.",
    )
    judge(
        mini,
        ops.exp,
        [whole],
        "exp(int32)",
        "An op with floats=True computes in floating point: value.dtype, if common is none.",
    )

    why = "An op with floats=True computes in floating point: its arguments are made to value.dtype, if common is none."
    expected = [("to", ["int32"]), ("exp", ["float32"])]
    if (got := promised(mini, ops.exp, ["int32"])) != expected:
        raise WrongAnswer(f"exp of an int32: expected {expected}, got {got}", why)
    rules = "NumPy's rules aren't ours: ops.promote makes an int32 and 2.5 a float32, np.result_type a float64."
    expected = [("to", ["int32"]), ("add", ["float32", "float32"])]
    if (got := promised(mini, ops.add, ["int32", 2.5])) != expected:
        raise WrongAnswer(f"an int32 + 2.5: expected {expected}, got {got}", rules)


def promised(mini: Any, op: Any, args: list[str | float]) -> list[Any]:
    """The calls for boxes of these dtypes and plain numbers, with the dtypes that their arguments are said to have."""
    calls: list[Any] = []

    class Listing(mini.loops.Text):
        def call(self, op: str, args: Any, dtype: Any, dtypes: Any) -> str:
            calls.append((op, [str(np.dtype(kind)) for kind in dtypes]))
            return op

    box = lambda dtype: mini.loops.Box((), np.dtype(dtype), lambda h, index: "x")
    boxes = [box(arg) if isinstance(arg, str) else arg for arg in args]
    Listing(lambda h, index: mini.loops.pointwise(h, index, op, mini.tensor.fake(()), boxes), ())
    return calls


@OWN_POINTWISE.case("where, and to", points=1, section=SECTION)
def _(mini: Any) -> None:
    x, condition = np.array([1.5, 2.0], "float32"), np.array([True, False])
    ops = mini.ops
    why = "The condition stays a boolean, and has no say in the dtype of the others."
    judge(mini, ops.where, [condition, x, 7], "where(c, x, 7)", why)
    judge(mini, ops.where, [condition, 1, 2], "where(c, 1, 2)", why)
    expected = [("where", ["bool", "float32", "float32"])]
    if (got := promised(mini, ops.where, ["bool", "float32", "float32"])) != expected:
        raise WrongAnswer(f"where(c, x, y): expected {expected}, got {got}", why)
    judge(
        mini,
        ops.to_,
        [x, np.dtype("int64")],
        "x.to(int64)",
        "h.call('to', [element], value.dtype, [the box's dtype]).",
    )
