"""Exercise 16.5: a product, and what follows it block by block."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .own_programs import lowered

OWN_PRODUCT = Step(
    "16.5",
    "a product, and what follows it block by block",
    file="products",
    minutes=20,
    hints=(
        "A product is NumPy's: np.matmul(x, y, out=out), of Tensor(Storage(array, dtype), layout).numpy() for each.",
        "With an epilogue: for blocks of self.block rows of out, first np.matmul(x[low:high], y, out=out[low:high]),"
        " then the"
        " epilogue for just these rows.",
        "The epilogue counts in rows of its own kernel: if it has k times as many as out has, rows low to high of out"
        " are rows"
        " low * k to high * k of it. The last block may be shorter.",
    ),
)
SECTION = "While it's hot"
BLOCKS = (
    "A block of the product must still be in the cache when its epilogue runs: product, epilogue, product, epilogue."
)
LAST = "The last rows do not fill a block: they are rows all the same."
ROWS = "The epilogue's rows are its kernel's: kernel.rows // len(out) of them for each row of the product."
BUFFERS = "buffers: the product's own and its arguments', so that a plan of the memory knows what this step touches."


def run(mini: Any, sizes: tuple[int, int, int], per_row: int, block: int) -> tuple[list[Any], list[int], Any]:
    """Run a product with an epilogue that notes its part, and how many rows of the product are there by then."""
    rows, inner, columns = sizes
    lowering, (call,) = lowered(mini, lambda x, y: x @ y, [(rows, inner), (inner, columns)])
    step = mini.products.ProductStep(call)
    if set(step.buffers) != {call.buffer, *lowering.inputs}:
        raise WrongAnswer(f"buffers of a product: {[buffer.name for buffer in step.buffers]}", BUFFERS)
    x, y = [np.arange(1, buffer.sizes[0] * buffer.sizes[1] + 1, dtype=np.float32) for buffer in lowering.inputs]
    memory = {lowering.inputs[0]: x, lowering.inputs[1]: y, call.buffer: np.zeros(rows * columns, np.float32)}
    parts: list[Any] = []
    there: list[int] = []

    def run_part(memory: Any, low: int, high: int) -> None:
        parts.append((low, high))
        there.append(int((memory[call.buffer].reshape(rows, columns) != 0).all(1).sum()))

    if per_row:
        step.epilogue, step.block = (
            SimpleNamespace(rows=rows * per_row, run_part=run_part),
            block,
        )
    step.launch(None)(memory)
    expected = x.reshape(rows, inner) @ y.reshape(inner, columns)
    if not np.allclose(memory[call.buffer].reshape(rows, columns), expected):
        raise WrongAnswer(f"{rows} x {inner} times {inner} x {columns}: the product is wrong", LAST if per_row else "")
    return parts, there, expected


@OWN_PRODUCT.case("alone", points=1, section="BLAS without Python")
def _(mini: Any) -> None:
    run(mini, (3, 2, 4), 0, 64)
    lowering, (call,) = lowered(mini, lambda x, y: x @ y, [(2, 3, 4), (4, 5)])
    step = mini.products.ProductStep(call)
    x, y = np.arange(24, dtype=np.float32), np.arange(20, dtype=np.float32)
    out = np.zeros(30, np.float32)
    step.launch(None)({lowering.inputs[0]: x, lowering.inputs[1]: y, call.buffer: out})
    if not np.allclose(out.reshape(2, 3, 5), x.reshape(2, 3, 4) @ y.reshape(4, 5)):
        raise WrongAnswer("a batch of products, 2 x 3 x 4 times 4 x 5, is wrong", "np.matmul does batches by itself.")


@OWN_PRODUCT.case("with an epilogue", points=3, section=SECTION)
def _(mini: Any) -> None:
    for rows, block in ((4, 2), (5, 2), (3, 64)):
        parts, there, _ = run(mini, (rows, 2, 3), 1, block)
        expected = [(low, min(low + block, rows)) for low in range(0, rows, block)]
        what = f"{rows} rows in blocks of {block}"
        if [tuple(part or ()) for part in parts] != expected:
            raise WrongAnswer(
                f"{what}: the epilogue ran for {parts}, expected {expected}", LAST if len(parts) else BLOCKS
            )
        if there != [high for _, high in expected]:
            raise WrongAnswer(f"{what}: when the epilogue ran, {there} rows of the product were there", BLOCKS)
    parts, _, _ = run(mini, (4, 2, 3), 3, 2)
    if [tuple(part or ()) for part in parts] != [(0, 6), (6, 12)]:
        raise WrongAnswer(f"4 rows, a kernel of 12 rows, blocks of 2: the epilogue ran for {parts}", ROWS)
