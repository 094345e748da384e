"""Exercise 02.4: the family of ops that work element by element, and its rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import must_raise
from .mini_results import float32s, judge, judge_fake

OWN_POINTWISE = Step(
    "02.4",
    "pointwise ops",
    file="ops",
    minutes=20,
    hints=(
        "shape answers two questions. Sizes: broadcast_sizes of all arguments, where a plain number counts as ()."
        " Dtype: that of the row if it has one, otherwise promote of the arguments, and then a look at `floats`.",
        "`floats` lifts what isn't a float to float32, and leaves float64 alone. `where` promotes args[1:]: its"
        " condition is no value. NumPy's names: subtract, multiply, true_divide, negative, equal, less, where, copy.",
        "sizes = broadcast_sizes(*[arg.sizes if isinstance(arg, Tensor) else () for arg in args]). The rows: add ="
        " Pointwise('add', np.add), div with floats=True, eq and lt with dtype=np.bool_.",
    ),
)
SECTION = "Broadcasting: sizes that stretch"
PROMOTION = "Promotion: which type comes out"
KERNEL = "An op is a kernel and a promise"
X = np.array([-2.0, -0.5, 0.0, 1.5], np.float32)
Y = np.array([0.5, 1.0, 2.0, 1.5], np.float32)
UNARY: dict[str, Any] = {
    "neg": np.negative,
    "exp": np.exp,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.where(x > 0, x, np.float32(0)),
    "clone": lambda x: x,
    "detach": lambda x: x,
}
BINARY: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "maximum": np.maximum,
    "eq": np.equal,
    "lt": np.less,
}


@OWN_POINTWISE.case("what each row computes", points=3, section=KERNEL)
def _(mini: Any) -> None:
    ops, from_numpy = mini.ops, mini.tensor.from_numpy
    for name, oracle in UNARY.items():
        why = f"The row of {name} has another kernel, or does not say what dtype it gives."
        if name == "relu":
            why = "relu keeps what is above 0 and makes the rest 0."
        judge(f"{name}({X.tolist()})", partial(getattr(ops, name), from_numpy(X)), oracle(X), why)
    ends = float32s([-np.inf, np.inf])
    infinite = "Of what is not above 0 relu makes 0, also of -inf: take the greater one, for -inf * 0 is NaN."
    judge("relu([-inf, inf])", partial(ops.relu, from_numpy(ends)), float32s([0, np.inf]), infinite)
    if ops.detach is ops.clone:
        raise WrongAnswer("detach is clone", "They compute the same, and are two ops: lesson 08 derives the one only.")
    for name in ("log", "sqrt"):
        why = f"The row of {name} has another kernel."
        judge(f"{name}({Y.tolist()})", partial(getattr(ops, name), from_numpy(Y)), getattr(np, name)(Y), why)
    for name, binary in BINARY.items():
        why = f"The row of {name} has another kernel, or its operands are exchanged."
        if name in ("eq", "lt"):
            why = f"{name} gives bools whatever goes in, and only `less` for lt: its row says dtype=np.bool_."
        said = f"{name}({X.tolist()}, {Y.tolist()})"
        judge(said, partial(getattr(ops, name), from_numpy(X), from_numpy(Y)), binary(X, Y), why)
    why = "where(condition, x, y) takes x where the condition holds, y elsewhere."
    chosen = np.where(X < Y, X, Y)
    judge("where(x < y, x, y)", lambda: ops.where(from_numpy(X < Y), from_numpy(X), from_numpy(Y)), chosen, why)


@OWN_POINTWISE.case("sizes broadcast, and numbers have none", points=2, section=SECTION)
def _(mini: Any) -> None:
    add, from_numpy, fake = mini.ops.add, mini.tensor.from_numpy, mini.tensor.fake
    why = "The sizes are those that all tensors among the arguments stretch to, not those of the first one."
    rows, column = X, Y.reshape(4, 1)
    judge_fake("add(fake((4,)), fake((3, 1)))", lambda: add(fake((4,)), fake((3, 1))), (3, 4), "float32", why)
    judge("add of sizes (4,) and (4, 1)", lambda: add(from_numpy(rows), from_numpy(column)), rows + column, why)
    number = "A plain number has no dimensions: its sizes are (), on either side."
    judge_fake("add(2, fake((4,)))", lambda: add(2, fake((4,))), (4,), "float32", number)
    judge_fake("add(fake((4,)), 2)", lambda: add(fake((4,)), 2), (4,), "float32", number)
    three = "where has three arguments, and all of them stretch."
    where = mini.ops.where
    said = "where(fake((3, 1), bool), fake((4,)), 0)"
    judge_fake(said, lambda: where(fake((3, 1), "bool"), fake((4,)), 0), (3, 4), "float32", three)
    must_raise(
        "add(fake((3,)), fake((4,)))", "These do not stretch.", lambda: add(fake((3,)), fake((4,))), kind=RuntimeError
    )


@OWN_POINTWISE.case("dtypes: promoted, at least floats, or said by the row", points=2, section=PROMOTION)
def _(mini: Any) -> None:
    ops, fake = mini.ops, mini.tensor.fake
    floats = "Some ops have no integer results: with floats=True, what would be an integer becomes float32."
    wide = "float64 is a float already: `floats` lifts integers and bools only."
    promoted = "The dtype is what `promote` makes of the arguments."
    condition = "The condition of where decides which value, and has no say in its dtype."
    rows: list[tuple[str, Any, str, str]] = [
        ("add(int32, 2.5)", lambda: ops.add(fake((2,), "int32"), 2.5), "float32", promoted),
        ("mul(int32, int32)", lambda: ops.mul(fake((2,), "int32"), fake((2,), "int32")), "int32", promoted),
        ("div(int64, 2)", lambda: ops.div(fake((2,), "int64"), 2), "float32", floats),
        ("exp(bool)", lambda: ops.exp(fake((2,), "bool")), "float32", floats),
        ("sigmoid(int64)", lambda: ops.sigmoid(fake((2,), "int64")), "float32", floats),
        ("exp(float64)", lambda: ops.exp(fake((2,), "float64")), "float64", wide),
        ("div(float64, 2)", lambda: ops.div(fake((2,), "float64"), 2), "float64", wide),
        ("relu(int64)", lambda: ops.relu(fake((2,), "int64")), "int64", promoted),
    ]  # fmt: skip
    chosen = [fake((2,), t) for t in ("int64", "bool", "bool")]
    rows.append(("where(int64, bool, bool)", lambda: ops.where(*chosen), "bool", condition))
    for said, give, dtype, why in rows:
        judge_fake(said, give, (2,), dtype, why)
    judge("div([1, 2], 2)", lambda: ops.div(mini.tensor.tensor([1, 2]), 2), float32s([0.5, 1]), floats)
    x = mini.tensor.tensor([1.0])
    if np.shares_memory(ops.clone(x).numpy(), x.numpy()):
        raise WrongAnswer("clone(x) has x's memory: expected its own", "clone copies: its kernel is np.copy.")
