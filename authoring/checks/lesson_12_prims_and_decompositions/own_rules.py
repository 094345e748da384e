"""Exercise 12.5: rules that hold for every dtype, and for great numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

OWN_RULES = Step(
    "12.5",
    "the rules of your own stack",
    file="prims",
    minutes=15,
    hints=(
        "Each value of DECOMPOSITIONS is a function that takes what its op takes: (x, y) for sub, (x, sizes) for "
        "view. It calls methods of the tensor, and may call ops that have a rule themselves.",
        "x - y is x + y * -1. Write it with + and *, which work for numbers, too: in x - 2 the 2 has to stay a number.",
        "sigmoid is 1 / (1 + (-x).exp()), relu is x.maximum(0); view is ops.regroup(x, sizes); clone and detach are x.",
    ),
)
RULES = "Rules, and a mode that applies them"
DTYPE = (
    "The result has another dtype: in x - 2 and -x a number has to stay a number, which never changes a tensor's dtype."
)


def compare(mini: Any, name: str, arrays: list[Any], why: str) -> None:
    """The rule of an op against NumPy's kernel of the op."""
    op = mini.ops.OPS[name]
    rule = mini.prims.DECOMPOSITIONS.get(op)
    if rule is None:
        raise WrongAnswer(
            f"{name} has no rule in DECOMPOSITIONS", "The table has seven, one for each op that is no prim."
        )
    args = [mini.tensor.from_numpy(a) if isinstance(a, np.ndarray) else a for a in arrays]
    expected = op.kernel(*arrays) if name != "view" else arrays[0].reshape(arrays[1])
    call = f"{name}({', '.join(str(a.tolist()) if isinstance(a, np.ndarray) else str(a) for a in arrays)})"
    with np.errstate(all="ignore"):
        got = rule(*args)
    if not isinstance(got, mini.tensor.Tensor):
        raise WrongAnswer(f"the rule of {call} gave {got!r}", "A rule gives the tensor that its op gives.")
    sizes, dtype = (expected.shape, expected.dtype) if name == "view" else op.shape(*args)
    if got.sizes != sizes:
        raise WrongAnswer(f"the rule of {call}: expected sizes {sizes}, got {got.sizes}", why)
    if got.dtype != dtype:
        raise WrongAnswer(f"the rule of {call}: expected {dtype}, got {got.dtype}", DTYPE)
    if not np.allclose(got.numpy(), expected, rtol=1e-5, atol=1e-6, equal_nan=True):
        raise WrongAnswer(f"the rule of {call}: expected {expected.tolist()}, got {got.tolist()}", why)


def row(*numbers: float, dtype: str = "float32") -> Any:
    return np.array(numbers, dtype)


@OWN_RULES.case("element by element", points=1, section=RULES)
def _(mini: Any) -> None:
    x, whole = row(-2.5, 0.0, 3.0), row(-2, 0, 5, dtype="int32")
    why = "Compare it with the op's definition, number by number."
    compare(mini, "clone", [x], why)
    compare(mini, "detach", [x], why)
    for array in (x, whole):
        compare(mini, "neg", [array], why)
        compare(mini, "relu", [array], "relu is the greater one of x and 0.")
        compare(mini, "sigmoid", [array], "sigmoid is 1 / (1 + e^-x).")
    compare(
        mini,
        "sigmoid",
        [row(-200, 200)],
        "e^200 is inf in float32, and 1 / (1 + inf) is 0: e^-x, not e^x, is right here.",
    )


@OWN_RULES.case("differences", points=1, section=RULES)
def _(mini: Any) -> None:
    x, whole = row(-2.5, 0.0, 3.0), row(-2, 0, 5, dtype="int32")
    for pair in ([x, row(1, 2, 3)], [x, 2], [2.5, x], [whole, 2], [whole, 2.5], [whole, x]):
        compare(mini, "sub", pair, "x - y is x and y times -1, added up.")


@OWN_RULES.case("other sizes", points=1, section=RULES)
def _(mini: Any) -> None:
    x = np.arange(6, dtype="float32").reshape(2, 3)
    compare(mini, "view", [x, (3, 2)], "regroup gives the same elements in the same order.")


@OWN_RULES.case("they come to an end", points=1, section="A machine with fourteen instructions")
def _(mini: Any) -> None:
    def prims_of(name: str, above: tuple[str, ...]) -> None:
        op = mini.ops.OPS[name]
        rule = mini.prims.DECOMPOSITIONS.get(op)
        if rule is None:
            return
        if name in above:
            raise WrongAnswer(
                f"the rule of {name} needs {name}: {' -> '.join((*above, name))}", "A rule may not call its own op."
            )
        x = mini.tensor.fake((2, 3))
        more = {"sub": (x,), "view": ((3, 2),)}.get(name, ())
        with mini.graph.Record() as record:
            rule(*[record.input(arg) if isinstance(arg, mini.tensor.Tensor) else arg for arg in (x, *more)])
        for node in record.graph.nodes:
            prims_of(node.op.name, (*above, name))

    for name in ("sub", "neg", "sigmoid", "relu", "clone", "detach", "view"):
        prims_of(name, ())
