"""Whether a pass kept a graph's meaning: both graphs are interpreted on the same made-up arguments, and compared.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> before = trace(lambda x: (x + 0.0,), [empty_fake((2,))])
>>> after = trace(lambda x: (x,), [empty_fake((2,))])
>>> check_pass("remove_zero", before, after)
Traceback (most recent call last):
RuntimeError: pass 'remove_zero' changed what the graph computes: output 0: the values differ: at (0,) it was 0.0 ...

Compared are values (to the last bit, or up to rounding where the pass says so), dtypes, sizes and strides, which
results share memory with each other or with an argument, and whether arguments were written to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.aot.passes.node_facts import has_known_sizes, tensor_of
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.interpreter import Interpreter
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor.grad_mode import no_grad
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import FLOATING
from minitorch_compile.tensor.tensor_base import TensorBase, from_parts

PRODUCTS = ("contraction", "convolution", "linalg")
# What a careless pass forgets: the sign of zero survives x * 1 but not x + 0, and infinity survives no x - x.
AWKWARD = (-0.0, 0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, 1e-30, -1e30)


def check_pass(name: str, before: GraphModule, after: GraphModule, exact: bool = True) -> None:
    """RuntimeError, with the first difference, if the graphs differ on some arguments.

    Graphs with sizes that are not known are not checked, nor are arguments on which the graph itself fails.
    """
    placeholders = before.graph.find_nodes(op="placeholder")
    if len(placeholders) != len(after.graph.find_nodes(op="placeholder")):
        raise RuntimeError(f"pass {name!r} changed the arguments of the graph: callers pass what they passed before")
    fakes = [x for x in map(tensor_of, placeholders) if x is not None and has_known_sizes(x)]
    if len(fakes) < len(placeholders):
        return
    has_products = any(getattr(node.target, "kind", None) in PRODUCTS for node in before.graph.nodes)
    exact = exact and not has_products  # BLAS adds in another order where memory lies otherwise
    for awkward in (False,) if has_products else (True, False):
        arguments = [_made_up(x, seed, awkward) for seed, x in enumerate(fakes)]
        try:
            expected = _outcome(before, arguments)
        except (RuntimeError, IndexError, ValueError):  # an index out of range, say: these arguments mean nothing to it
            continue
        difference = _difference(expected, _outcome(after, arguments), exact)
        if difference:
            raise RuntimeError(
                f"pass {name!r} changed what the graph computes: {difference}.\n"
                f"before: {before.graph.compact()}\nafter: {after.graph.compact()}"
            )


def _made_up(fake: TensorBase, seed: int, awkward: bool) -> TensorBase:
    """A tensor in the layout of `fake`: random numbers, or awkward ones again and again; whole numbers are 0 or 1."""
    rng = np.random.default_rng(seed)
    steps = ((size - 1) * stride for size, stride in zip(fake.sizes, fake.strides, strict=True))
    count = 1 + sum(steps) if numel(fake.sizes) else 0
    if fake.dtype.category != FLOATING or fake.dtype.is_complex:
        values: Any = rng.integers(0, 2, count)
    else:
        values = np.resize(np.roll(AWKWARD, -seed), count) if awkward else rng.standard_normal(count)
    storage = Storage(values.astype(fake.dtype.numpy))
    return from_parts(storage, 0, fake.sizes, fake.strides, fake.dtype, fake.device)


class _Outcome:
    """What a run leaves behind."""

    def __init__(self, results: list[TensorBase], arguments: Sequence[TensorBase]) -> None:
        self.results = results
        self.arguments = [x.array.copy() for x in arguments]
        storages = [x.storage for x in (*arguments, *results)]
        self.shares = [next(i for i, s in enumerate(storages) if s is each) for each in storages]


def _outcome(module: GraphModule, arguments: Sequence[TensorBase]) -> _Outcome:
    with no_grad(), np.errstate(all="ignore"):
        returned = Interpreter(module).run(*arguments)
    return _Outcome([x for x in tree_leaves(returned) if isinstance(x, TensorBase)], arguments)


def _difference(before: _Outcome, after: _Outcome, exact: bool) -> str:
    if len(before.results) != len(after.results):
        return f"it returned {len(before.results)} tensors and returns {len(after.results)}"
    for i, (old, new) in enumerate(zip(before.results, after.results, strict=True)):
        for what in ("dtype", "sizes", "strides"):
            if getattr(old, what) != getattr(new, what):
                return f"output {i}: {what} were {getattr(old, what)} and are {getattr(new, what)}"
        if text := _difference_in_values(old.array, new.array, exact):
            return f"output {i}: {text}"
    if before.shares != after.shares:
        return "other tensors among arguments and results share memory than before"
    if any(not _same_bits(x, y).all() for x, y in zip(before.arguments, after.arguments, strict=True)):
        return "an argument is overwritten otherwise than before"
    return ""


def _difference_in_values(old: Any, new: Any, exact: bool) -> str:
    same = _same_bits(old, new)
    if not exact and old.dtype.kind in "fc":
        tolerance = 64 * np.finfo(old.dtype).eps
        with np.errstate(all="ignore"):
            same |= np.abs(new - old) <= tolerance * (1 + np.maximum(np.abs(new), np.abs(old)))
    if same.all():
        return ""
    place = tuple(int(i) for i in np.argwhere(~same)[0])
    return f"the values differ: at {place} it was {old[place].item()!r} and is {new[place].item()!r}"


def _same_bits(x: Any, y: Any) -> Any:
    """Equal, with NaN equal to NaN, and -0.0 different from 0.0."""
    if x.dtype.kind not in "fc":
        return x == y
    return ((x == y) & (np.signbit(x.real) == np.signbit(y.real))) | ((x != x) & (y != y))
