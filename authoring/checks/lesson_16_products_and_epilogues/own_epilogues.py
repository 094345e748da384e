"""Exercise 16.6: which kernels may run block by block after a product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .own_programs import product_and_kernel

OWN_EPILOGUES = Step(
    "16.6",
    "what may be an epilogue",
    file="products",
    minutes=20,
    hints=(
        "A kernel may follow if each of its rows needs nothing of the product but what belongs to that row: then a"
        " block of rows"
        " is enough for it.",
        "If the kernel has `rows` rows, then row r has the elements r * size to r * size + size - 1 of the product,"
        " where"
        " size = numel(out.sizes) // rows. loop.reads(group.rows) says at which index each loop reads which buffer.",
        "row = flatten((i0, i1, ...), group.rows), an Index of the kernel's variables; (index - row * size).bounds()"
        " are the least"
        " and the greatest distance from the row's beginning: 0 <= low and high < size, for all reads of out.",
    ),
)
SECTION = "While it's hot"
WHOLE = "This kernel reads elements of other rows, which are not there yet when a block's epilogue runs."
NONE = "It reads nothing of this product: there is nothing to keep in the cache."
TAKEN = "The product has an epilogue already, and keeps one."
MATRICES = "Only a product of two matrices is cut into blocks of rows here: a batch is left alone."
OWN = "Each row of this kernel reads only its own row of the product, or its own part of one: it may follow."


def cases() -> list[tuple[str, Callable[..., Any], list[tuple[int, ...]], bool, str]]:
    two: list[tuple[int, ...]] = [(4, 3), (3, 6)]
    return [
        ("(x @ y).tanh()", lambda x, y: (x @ y).tanh(), two, True, OWN),
        ("(x @ y).softmax(1)", lambda x, y: (x @ y).softmax(1), two, True, OWN),
        ("(x @ y).sum(1)", lambda x, y: (x @ y).sum(1), two, True, OWN),
        ("(x @ y).sum(0)", lambda x, y: (x @ y).sum(0), two, False, WHOLE),
        ("(x @ y).softmax(0)", lambda x, y: (x @ y).softmax(0), two, False, WHOLE),
        ("(x @ y) + (x @ y).t()", lambda x, y: (z := x @ y) + z.t(), [(4, 3), (3, 4)], False, WHOLE),
        ("(x @ y)[1:] + 1", lambda x, y: (x @ y)[1:] + 1, two, False, WHOLE),
        ("x @ y of batches, + 1", lambda x, y: x @ y + 1, [(2, 4, 3), (2, 3, 6)], False, MATRICES),
        ("a product without rows", lambda x, y: x @ y + 1, [(0, 3), (3, 6)], False, MATRICES),
    ]


@OWN_EPILOGUES.case("rows of their own", points=2, section=SECTION)
def _(mini: Any) -> None:
    for name, program, shapes, expected, why in cases():
        product, kernel = product_and_kernel(mini, program, shapes)
        got = bool(product.takes(kernel))
        if got is not expected:
            raise WrongAnswer(f"{name}, kernel {kernel}: takes gives {got}, expected {expected}", why)


@OWN_EPILOGUES.case("others", points=1, section=SECTION)
def _(mini: Any) -> None:
    product, kernel = product_and_kernel(mini, lambda x, y: (x @ y).tanh(), [(4, 3), (3, 6)])
    _, stranger = product_and_kernel(mini, lambda x, y: (x @ y).tanh(), [(4, 3), (3, 6)])
    if product.takes(stranger):
        raise WrongAnswer("a kernel that reads another product is taken", NONE)
    if product.takes(product):
        raise WrongAnswer("a product is taken as an epilogue", "Only a Kernel has rows to run block by block.")
    product.epilogue = kernel
    if product.takes(kernel):
        raise WrongAnswer("a second epilogue is taken", TAKEN)
