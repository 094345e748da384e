"""Exercise 12.6: the layer below which there are prims only."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

OWN_LAYER = Step(
    "12.6",
    "a layer of prims",
    file="prims",
    minutes=15,
    hints=(
        "While a layer's call runs, the layer is off the stack: what it calls is seen by those below it only. To "
        "see what a rule"
        " calls, enter it again: with self: ...",
        "self.known is a dictionary. Its key is the op, and for each argument its id if it is a Tensor, else its "
        "repr; its value"
        " is the result together with the arguments.",
        "call: build the key; if it is not in self.known, put (self.compute(op, args), args) there; give the first "
        "of the two."
        " compute: op(*args) if op has no rule, else with self: return self.rules[op](*args).",
    ),
)
RULES, SWEEPING = "Rules, and a mode that applies them", "Sweeping up"


def below(mini: Any, program: Any, x: Any) -> tuple[Any, list[str]]:
    """What a program gives above the layer, and the names of the ops that come out below it."""
    with mini.graph.Record() as record:
        value = record.input(x)
        with mini.prims.Decompose():
            outputs = outcome(program, (value,))
    return outputs, [node.op.name for node in record.graph.nodes if node.op != "constant"]


@OWN_LAYER.case("a prim passes, an op is replaced", points=1, section=RULES)
def _(mini: Any) -> None:
    x = mini.tensor.fake((3,))
    for program, text, expected in (
        (lambda x: x.exp(), "x.exp()", ["exp"]),
        (lambda x: -x, "-x", ["mul"]),
        (lambda x: x.relu() + 1, "x.relu() + 1", ["maximum", "add"]),
    ):
        _, names = below(mini, program, x)
        if names != expected:
            raise WrongAnswer(
                f"{text}: expected {expected} below the layer, got {names}", "An op that has a rule never passes."
            )


@OWN_LAYER.case("what a rule calls has rules, too", points=1, section=RULES)
def _(mini: Any) -> None:
    _, names = below(mini, lambda x: x.sigmoid(), mini.tensor.fake((3,)))
    if names != ["mul", "exp", "add", "div"]:
        why = (
            "Its rule calls neg, which has a rule itself. While a layer's call runs it is off the stack: enter it"
            " again."
        )
        raise WrongAnswer(f"x.sigmoid(): expected mul, exp, add, div below the layer, got {', '.join(names)}", why)


@OWN_LAYER.case("once", points=1, section=SWEEPING)
def _(mini: Any) -> None:
    x = mini.tensor.fake((3,))
    _, names = below(mini, lambda x: x.exp() + x.exp() * x.exp(), x)
    if names.count("exp") != 1:
        why = "Keep each result under its op and arguments, and give it again."
        raise WrongAnswer(f"x.exp() + x.exp() * x.exp(): expected one exp, got {names.count('exp')}", why)
    _, names = below(mini, lambda x: x.exp() + x.sin(), x)
    if names != ["exp", "sin", "add"]:
        raise WrongAnswer(
            f"x.exp() + x.sin(): expected exp, sin, add, got {', '.join(names)}", "Another op of x is another value."
        )


@OWN_LAYER.case("equal, but not the same", points=1, section=SWEEPING)
def _(mini: Any) -> None:
    why = "1 == 1.0 == True and 0.0 == -0.0, and a dictionary takes them for one key. Their repr differs."
    x = mini.tensor.tensor([1, 2], "int64")
    with mini.prims.Decompose():
        kinds = [str((x * n).dtype) for n in (1, 1.0, True)]
        ends = [(1.0 / (x * zero)).tolist()[0] for zero in (0.0, -0.0)]
    if kinds != ["int64", "float32", "int64"]:
        raise WrongAnswer(
            f"x * 1, x * 1.0 and x * True of int64: expected int64, float32, int64, got {', '.join(kinds)}", why
        )
    if ends != [float("inf"), float("-inf")]:
        raise WrongAnswer(f"1 / (x * 0.0) and 1 / (x * -0.0): expected inf and -inf, got {ends}", why)


@OWN_LAYER.case("arguments that are gone", points=1, section=SWEEPING)
def _(mini: Any) -> None:
    ops = mini.ops
    with mini.prims.Decompose():
        for number in range(100):
            x = mini.tensor.tensor([float(number)])
            got = ops.add(x, 1).item()
            del x
            if got != number + 1:
                why = (
                    "An id is free again when its tensor dies, and the next one gets it. Keep the arguments with "
                    "the result."
                )
                raise WrongAnswer(f"[{number}.] + 1: expected {number + 1}.0, got {got}", why)
