"""Prims on numbers of two bytes: their elements are computed in float32, and rounded where they go to memory.

A float16 or bfloat16 element that a loop computes and another operation in the same loop uses is not rounded in
between, so that x * y + z costs no more conversions than loads and stores. `config.emulate_precision_casts` asks for
the rounding after each operation, as eager execution does it. What a program compares, or converts itself, is always
rounded.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.printer import print_body
>>> from minitorch_compile.tensor.numerics.dtype import float16
>>> x = TensorBox.of(Buffer.contiguous("x", (4,), float16))
>>> double = in_float32(lambda graph, a, b: TensorBox(a.sizes, a.dtype, lambda ops, at:
...     ops.apply("add", a.load(ops, at), b.load(ops, at))), [float16])
>>> twofold = double(None, x, x)
>>> fourfold = double(None, twofold, twofold)
>>> print(print_body(fourfold.load, (4,)))
t0 = load(x, i0)
t1 = convert(t0, float32)
t2 = add(t1, t1)
t3 = add(t2, t2)
t4 = convert(t3, float16)

Source: `emulate_precision_casts` in `torch/_inductor/config.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile import config
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.inductor.ir.buffer import Ints, Position
from minitorch_compile.inductor.ir.handler import Handler, Number
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.table import ADAPTERS, Rule
from minitorch_compile.tensor.numerics.dtype import bfloat16, dtype, float16, float32

HALF = (float16, bfloat16)
# Prims that only move elements, and the one that converts them: they take numbers of any dtype as they are.
MOVE = frozenset({"transpose", "reshape", "broadcast_in_dim", "slice", "squeeze", "rev", "gather", "index"})
AS_THEY_ARE = MOVE | {"convert_element_type"}


def adapted(prim: str, rule: Rule, results: Sequence[dtype]) -> Rule:
    """The rule for a call that computes with, or makes, numbers of two bytes."""
    return rule if prim in AS_THEY_ARE else in_float32(rule, results)


ADAPTERS.update(dict.fromkeys(HALF, adapted))


def in_float32(rule: Rule, results: Sequence[dtype]) -> Rule:
    """The rule on float32 instead of numbers of two bytes; what it makes is rounded to the dtypes in `results`."""

    widen = widened if any(element in HALF for element in results) else rounded_and_widened

    def widened_rule(graph: Any, *arguments: Any) -> Any:
        made = rule(graph, *map_aggregate(arguments, lambda argument: _in_float32(argument, widen)))
        if isinstance(made, tuple):
            return tuple(_rounded(box, element) for box, element in zip(made, results, strict=True))
        return _rounded(made, results[0])

    return widened_rule


def _in_float32(argument: Any, widen: Callable[[TensorBox], TensorBox]) -> Any:
    if isinstance(argument, dtype):  # of what is created
        return float32 if argument in HALF else argument
    return widen(argument) if isinstance(argument, TensorBox) and argument.dtype in HALF else argument


def rounded_and_widened(x: TensorBox) -> TensorBox:
    """A box of 2-byte floats in float32, each element as it would be stored: for what compares or converts them."""
    box = TensorBox(x.sizes, float32, lambda ops, at: ops.convert(x.load(ops, at), float32), inputs=[x], operations=1)
    box.constant_value = x.constant_value
    return box


def widened(x: TensorBox) -> TensorBox:
    """A box of 2-byte floats in float32: not rounded, if its elements are computed where they are used."""

    def load(ops: Handler, at: Position) -> Any:
        if x.unrounded is not None and x.buffer is None:
            return x.unrounded.load(ops, at)
        return ops.convert(x.load(ops, at), float32)

    if x.in_float32 is None:
        x.in_float32 = TensorBox(x.sizes, float32, load, inputs=[x], operations=1)
        x.in_float32.constant_value = x.constant_value
    return x.in_float32


def _rounded(x: TensorBox, element: dtype) -> TensorBox:
    if element not in HALF:
        return x
    box = TensorBox(x.sizes, element, lambda ops, at: ops.convert(x.load(ops, at), element), inputs=[x], operations=1)
    if x.constant_value is not None:
        return constant(x.sizes, x.constant_value, element)
    if not config.emulate_precision_casts:
        box.unrounded = x
    return box


def constant(sizes: Ints, value: Number, element: dtype) -> TensorBox:
    """One number everywhere: it is rounded once and for all, here."""
    number = float(np.asarray(value).astype(element.numpy))
    box = TensorBox(sizes, element, lambda ops, at: ops.convert(ops.constant(number, float32), element))
    box.constant_value = number
    box.unrounded = TensorBox(sizes, float32, lambda ops, at: ops.constant(number, float32))
    return box
