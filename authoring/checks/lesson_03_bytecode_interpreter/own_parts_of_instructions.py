"""Exercise 03.3: what stands for an instruction of this Python, whichever Python it is."""

from __future__ import annotations

import operator
from types import SimpleNamespace
from typing import Any

from minitorch_compile.course.checking.step import Step

from ..comparing import attempt, expect

OWN_PARTS = Step(
    "03.3",
    "one language for all Pythons",
    file="interpreter",
    minutes=20,
    hints=(
        "It is a list of questions, each with its `return`. Ask first what is in MEANS; the last line is [(op, arg)].",
        "Cut _FORWARD and _BACKWARD out of the name first. `first or second` is COPY 1,"
        " POP_JUMP_IF_TRUE, POP_TOP; `a in b` has b on top, and operator.contains wants it first: SWAP 2.",
        'Of two in one: op.split("_FAST") is ["STORE", "_LOAD", ""], and zip ends with the shorter one. Of'
        " a function: the bits 8, 4, 2, 1 in this order, those that are in inst.arg, which may be None.",
    ),
)
SECTION, HOOKS = "Four dialects, one language", "The package's interpreter"


def raw(opname: str, arg: Any = None, argval: Any = None, argrepr: str = "") -> Any:
    """An instruction as `dis` gives it."""
    return SimpleNamespace(opname=opname, arg=arg, argval=arg if argval is None else argval, argrepr=argrepr)


def parts(mini: Any, inst: Any, expected: list[tuple[str, Any]], why: str) -> None:
    got = attempt(mini.interpreter.parts, inst)
    expect(f"parts of {inst.opname} {inst.argrepr or inst.argval!r}", expected, got, why)


@OWN_PARTS.case("those that mean nothing, and those that are the same", points=1, section=SECTION)
def _(mini: Any) -> None:
    parts(mini, raw("CACHE"), [], "It is in MEANS: nothing stands for it.")
    parts(mini, raw("RETURN_VALUE"), [("RETURN_VALUE", None)], "Whatever needs no rule stays, with its argval.")
    parts(mini, raw("LOAD_CONST", 1, 2.5), [("LOAD_CONST", 2.5)], "The operand is argval, the constant itself.")
    parts(mini, raw("LOAD_FAST_CHECK", 0, "x"), [("LOAD_FAST", "x")], "SAME has names for the same thing.")
    parts(mini, raw("UNARY_NOT"), [("APPLY", (operator.not_, 1))], "It is in MEANS.")
    both: list[tuple[str, Any]] = [("LOAD_CONST", 3), ("RETURN_VALUE", None)]
    parts(mini, raw("RETURN_CONST", 1, 3), both, "3.12 has one instruction for two: load the constant, return it.")
    null = ("LOAD_CONST", mini.interpreter.NULL)
    four = [("LOAD_FAST", "x"), null, ("STORE_FAST", "x"), ("POP_TOP", None)]
    why = "Load the slot's value, which must be there; store NULL, which empties the slot; pop the value."
    parts(mini, raw("DELETE_FAST", 0, "x"), four, why)


@OWN_PARTS.case("operators are all APPLY", points=1, section=HOOKS)
def _(mini: Any) -> None:
    why = "BINARY_OP finds its function in BINARY by arg, COMPARE_OP in COMPARE by argval."
    parts(mini, raw("BINARY_OP", 10, 10, "-"), [("APPLY", (operator.sub, 2))], why)
    parts(mini, raw("BINARY_OP", 13, 13, "+="), [("APPLY", (operator.iadd, 2))], why)
    parts(mini, raw("COMPARE_OP", 0, "<", "<"), [("APPLY", (operator.lt, 2))], why)
    is_, is_not = [("APPLY", (operator.is_, 2))], [("APPLY", (operator.is_not, 2))]
    parts(mini, raw("IS_OP", 0, 0), is_, "The operand says whether it is `is not`.")
    parts(mini, raw("IS_OP", 1, 1), is_not, "The operand says whether it is `is not`.")
    contains: list[tuple[str, Any]] = [("SWAP", 2), ("APPLY", (operator.contains, 2))]
    why = "`a in b` has pushed b last, and operator.contains(b, a) wants it first: swap them."
    parts(mini, raw("CONTAINS_OP", 0, 0), contains, why)
    why = "`not in`: the same, and then operator.not_."
    parts(mini, raw("CONTAINS_OP", 1, 1), [*contains, ("APPLY", (operator.not_, 1))], why)
    plus = [("APPLY", (operator.pos, 1))]
    parts(mini, raw("CALL_INTRINSIC_1", 5, 5), plus, "INTRINSIC says what the numbers mean.")


@OWN_PARTS.case("jumps", points=1, section=SECTION)
def _(mini: Any) -> None:
    why = "Which way a jump goes is no matter, when its operand is the target."
    for name, op in (
        ("JUMP_FORWARD", "JUMP"),
        ("JUMP_BACKWARD", "JUMP"),
        ("POP_JUMP_FORWARD_IF_NOT_NONE", "POP_JUMP_IF_NOT_NONE"),
        ("POP_JUMP_BACKWARD_IF_FALSE", "POP_JUMP_IF_FALSE"),
    ):
        parts(mini, raw(name, 3, 40), [(op, 40)], why)
    why = (
        "It jumps *or* pops: if the value is taken it stays. So copy it, let the jump have the copy, and pop the other."
    )
    for way in ("TRUE", "FALSE"):
        three = [("COPY", 1), (f"POP_JUMP_IF_{way}", 40), ("POP_TOP", None)]
        parts(mini, raw(f"JUMP_IF_{way}_OR_POP", 3, 40), three, why)


@OWN_PARTS.case("two in one, calls, functions", points=2, section=SECTION)
def _(mini: Any) -> None:
    why = "Two instructions on slots, the first one first; each has its own name."
    for first, second in (("STORE", "LOAD"), ("LOAD", "LOAD"), ("STORE", "STORE")):
        two = [(f"{first}_FAST", "a"), (f"{second}_FAST", "b")]
        parts(mini, raw(f"{first}_FAST_{second}_FAST", 1, ("a", "b"), "a, b"), two, why)
    null = ("LOAD_CONST", mini.interpreter.NULL)
    why = "It is not about to be called: nothing is added."
    parts(mini, raw("LOAD_GLOBAL", 0, "f", "f"), [("LOAD_GLOBAL", "f")], why)
    parts(mini, raw("LOAD_ATTR", 0, "NULL", "NULL"), [("LOAD_ATTR", "NULL")], why)
    parts(mini, raw("LOAD_CONST", 0, "a + b", "'a + b'"), [("LOAD_CONST", "a + b")], why)
    why = "The NULL lies where argrepr says, for another instruction may come between: in `f.g(x=1)` it is LOAD_ATTR g."
    parts(mini, raw("LOAD_GLOBAL", 1, "f", "NULL + f"), [null, ("LOAD_GLOBAL", "f")], why)
    parts(mini, raw("LOAD_GLOBAL", 1, "f", "f + NULL"), [("LOAD_GLOBAL", "f"), null], why)
    why = "A method is bound at once, so its second place is empty: a NULL behind it."
    parts(mini, raw("LOAD_METHOD", 1, "strip", "strip"), [("LOAD_ATTR", "strip"), null], why)
    parts(mini, raw("LOAD_ATTR", 1, "strip", "NULL|self + strip"), [("LOAD_ATTR", "strip"), null], why)
    why = "Closure, annotations, defaults for keywords, defaults: the one pushed last is taken first, and that is 8."
    for arg, bits in ((None, ()), (0, ()), (1, (1,)), (13, (8, 4, 1)), (15, (8, 4, 2, 1))):
        expected = [("MAKE_FUNCTION", None), *[("SET_FUNCTION_ATTRIBUTE", bit) for bit in bits]]
        parts(mini, raw("MAKE_FUNCTION", arg), expected, why)
